#include "trace/csv.h"

#include <algorithm>

#include "trace/amount.h"
#include "trace/wrong.h"

namespace pondage::trace {

namespace {

constexpr std::size_t kColumns = 200;

std::string_view Trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

Table::Table(std::string_view text, char separator) : rest_(text), separator_(separator) {
  if (rest_.starts_with("\xEF\xBB\xBF")) rest_.remove_prefix(3);
  const std::string_view header = NextLine();
  if (!Split(header) || Trim(header).empty()) GiveUp("line 1: there is no line of column names");
  names_.reserve(cells_.size());
  for (std::size_t i = 0; i < cells_.size(); ++i) columns_.emplace(cells_[i], i);
  names_.resize(cells_.size());
  for (const auto& [name, index] : columns_) names_[index] = name;
}

std::size_t Table::Column(std::string_view name) const {
  const auto found = columns_.find(name);
  if (found == columns_.end()) GiveUp("line 1: there is no column {}", name);
  return found->second;
}

bool Table::Next() {
  while (!rest_.empty()) {
    const std::string_view line = NextLine();
    if (Trim(line).empty()) continue;
    if (!Split(line)) GiveUp("line {}: a quote is never closed", line_);
    if (cells_.size() != names_.size()) {
      GiveUp("line {}: {} cells under {} column names", line_, cells_.size(), names_.size());
    }
    return true;
  }
  return false;
}

std::int64_t Table::Whole(std::size_t column, std::int64_t low, std::int64_t high) const {
  const auto value = trace::Whole(cells_[column]);
  if (!value || *value < low || *value > high) {
    Bad(column, fmt::format("a whole number from {} to {}", low, high));
  }
  return *value;
}

std::int64_t Table::Decimal(std::size_t column, std::int64_t scale) const {
  const auto value = trace::Decimal(cells_[column], scale);
  if (!value) Bad(column, "a number");
  return *value;
}

base::Millis Table::Length(std::size_t column, std::int64_t unit_ms) const {
  const auto value = trace::Decimal(cells_[column], unit_ms);
  // A hundred years: sums of GPU-time stay far inside int64.
  if (!value || *value < 0 || *value > 3'155'760'000'000) Bad(column, "a length of time");
  return {*value};
}

base::Instant Table::Moment(std::size_t column) const {
  const auto value = trace::Moment(cells_[column]);
  if (!value) Bad(column, "a time such as 2017-10-09 07:01:55");
  return *value;
}

void Table::Bad(std::size_t column, std::string_view wanted) const {
  GiveUp("line {}, column {}: \"{}\" is not {}", line_, names_[column],
         cells_[column].substr(0, 80), wanted);
}

std::string_view Table::NextLine() {
  const auto end = std::min(rest_.find('\n'), rest_.size());
  std::string_view line = rest_.substr(0, end);
  rest_.remove_prefix(std::min(end + 1, rest_.size()));
  ++line_;
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// False: a quote is never closed.
bool Table::Split(std::string_view line) {
  cells_.clear();
  while (true) {
    std::string cell;
    if (Trim(line).starts_with('"')) {
      line.remove_prefix(line.find('"') + 1);
      for (;; line.remove_prefix(1)) {
        if (line.empty()) return false;
        if (line.front() != '"') {
          cell += line.front();
        } else if (line.substr(1).starts_with('"')) {
          cell += '"';
          line.remove_prefix(1);
        } else {
          break;
        }
      }
    }
    const auto end = std::min(line.find(separator_), line.size());
    if (!line.starts_with('"')) cell = Trim(line.substr(0, end));
    cells_.push_back(std::move(cell));
    if (end == line.size()) return true;
    if (cells_.size() == kColumns) GiveUp("line {}: more than {} columns", line_, kColumns);
    line.remove_prefix(end + 1);
  }
}

}  // namespace pondage::trace
