// A table of text with named columns: CSV, or Slurm's lines split at '|'.
//
// Used inside the readers; throws Wrong with line and column name. The text outlives the table.
// Quoted cells ("a,b", "" for a quote) are understood on one line.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/instant.h"
#include "base/quantity.h"

namespace pondage::trace {

class Table {
 public:
  Table(std::string_view text, char separator);

  bool Has(std::string_view column) const { return columns_.contains(column); }
  // Requires nothing: a column that is not there is the file's mistake.
  std::size_t Column(std::string_view name) const;

  // The next row, if any. Empty lines are skipped.
  bool Next();
  int line() const { return line_; }

  std::string_view Text(std::size_t column) const { return cells_[column]; }
  std::int64_t Whole(std::size_t column, std::int64_t low, std::int64_t high) const;
  std::int64_t Decimal(std::size_t column, std::int64_t scale) const;
  // A length of time whose unit is `unit_ms`; not negative.
  base::Millis Length(std::size_t column, std::int64_t unit_ms) const;
  base::Instant Moment(std::size_t column) const;

  [[noreturn]] void Bad(std::size_t column, std::string_view wanted) const;

 private:
  bool Split(std::string_view line);
  std::string_view NextLine();

  std::string_view rest_;
  char separator_;
  int line_ = 0;
  std::map<std::string, std::size_t, std::less<>> columns_;
  std::vector<std::string_view> names_;
  std::vector<std::string> cells_;
};

}  // namespace pondage::trace
