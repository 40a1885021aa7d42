#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "manifest/names.h"
#include "manifest/object.h"
#include "manifest/trouble.h"

namespace pondage::manifest {

namespace {

using Operator = Requirement::Operator;

constexpr std::string_view kSpace = " \t\r\n";
constexpr std::string_view kMarks = "=!<>(), \t\r\n";

std::unexpected<base::Error> Refuse(std::string_view text, std::string_view why) {
  return base::Fail(
      base::Kind::kInvalid, kSelectorId, "",
      fmt::format("unable to parse requirement {}: {}", Shown(boost::json::value(text)), why));
}

// Words and marks of a label selector.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) { SkipSpace(); }

  bool done() const { return rest_.empty(); }
  bool Take(std::string_view mark) {
    if (!rest_.starts_with(mark)) return false;
    rest_.remove_prefix(mark.size());
    SkipSpace();
    return true;
  }
  std::string Word() {
    const auto end = std::min(rest_.find_first_of(kMarks), rest_.size());
    std::string word(rest_.substr(0, end));
    rest_.remove_prefix(end);
    SkipSpace();
    return word;
  }

 private:
  void SkipSpace() { rest_.remove_prefix(std::min(rest_.find_first_not_of(kSpace), rest_.size())); }

  std::string_view rest_;
};

// "(a,b,)": an empty word between commas is the empty value.
bool TakeSet(Scanner& scan, std::vector<std::string>& values) {
  if (!scan.Take("(")) return false;
  if (scan.Take(")")) return true;
  do {
    values.push_back(scan.Word());
  } while (scan.Take(","));
  return scan.Take(")");
}

bool TakeOperator(Scanner& scan, Requirement& need) {
  if (scan.done() || scan.Take(",")) {
    need.op = Operator::kExists;
    return true;
  }
  if (scan.Take("==") || scan.Take("=")) {
    need.op = Operator::kIn;
  } else if (scan.Take("!=")) {
    need.op = Operator::kNotIn;
  } else if (scan.Take(">")) {
    need.op = Operator::kGreater;
  } else if (scan.Take("<")) {
    need.op = Operator::kLess;
  } else {
    const std::string word = scan.Word();
    if (word != "in" && word != "notin") return false;
    need.op = word == "in" ? Operator::kIn : Operator::kNotIn;
    return TakeSet(scan, need.values) && (scan.done() || scan.Take(","));
  }
  need.values.push_back(scan.Word());
  return scan.done() || scan.Take(",");
}

bool IsInteger(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), value);
  return error == std::errc() && end == text.end();
}

std::string_view Doubt(const Requirement& need) {
  if (!IsLabelKey(need.key)) return "the key is no label name";
  const bool set = need.op == Operator::kIn || need.op == Operator::kNotIn;
  if (set && need.values.empty()) return "the set of in and notin cannot be empty";
  for (const std::string& value : need.values) {
    const bool ordered = need.op == Operator::kGreater || need.op == Operator::kLess;
    if (ordered && !IsInteger(value)) return "< and > compare whole numbers";
    if (!IsLabelValue(value)) return "a value is no label value";
  }
  return {};
}

}  // namespace

base::Result<std::vector<Requirement>> ParseLabelSelector(std::string_view text) {
  std::vector<Requirement> needs;
  Scanner scan(text);
  while (!scan.done()) {
    Requirement need;
    if (scan.Take("!")) {
      need.op = Operator::kAbsent;
      need.key = scan.Word();
      if (!scan.done() && !scan.Take(",")) return Refuse(text, "a comma was expected");
    } else {
      need.key = scan.Word();
      if (!TakeOperator(scan, need)) return Refuse(text, "an operator or a comma was expected");
    }
    if (const auto doubt = Doubt(need); !doubt.empty()) return Refuse(text, doubt);
    std::ranges::sort(need.values);
    needs.push_back(std::move(need));
  }
  return needs;
}

bool Matches(const std::vector<Requirement>& needs,
             const std::map<std::string, std::string>& labels) {
  const auto number = [](const std::string& text, std::int64_t& value) {
    return std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc();
  };
  return std::ranges::all_of(needs, [&](const Requirement& need) {
    const auto label = labels.find(need.key);
    const bool has = label != labels.end();
    const bool listed = has && std::ranges::find(need.values, label->second) != need.values.end();
    std::int64_t have = 0;
    std::int64_t bound = 0;
    switch (need.op) {
      case Operator::kExists:
        return has;
      case Operator::kAbsent:
        return !has;
      case Operator::kIn:
        return listed;
      case Operator::kNotIn:
        return !listed;
      case Operator::kGreater:
      case Operator::kLess:
        if (!has || !number(label->second, have) || !number(need.values.front(), bound))
          return false;
        return need.op == Operator::kGreater ? have > bound : have < bound;
    }
    return false;
  });
}

base::Result<std::vector<FieldRequirement>> ParseFieldSelector(std::string_view text) {
  std::vector<FieldRequirement> needs;
  std::size_t at = 0;
  // One character of a term; a backslash takes the next one as it is.
  while (at < text.size()) {
    FieldRequirement need;
    while (at < text.size() && text[at] != '=' && text[at] != '!' && text[at] != ',') {
      need.path += text[at++];
    }
    if (at == text.size() && need.path.empty()) break;
    const std::string_view rest = text.substr(at);
    need.equal = !rest.starts_with("!=");
    const std::size_t width = rest.starts_with("==") || rest.starts_with("!=") ? 2 : 1;
    if (need.path.empty() || rest.empty() || (width == 1 && rest.front() != '=')) {
      return base::Fail(
          base::Kind::kInvalid, kSelectorId, "",
          fmt::format("invalid field selector: {}: a term is name=value or name!=value",
                      Shown(boost::json::value(text))));
    }
    at += width;
    for (; at < text.size() && text[at] != ','; ++at) {
      if (text[at] == '\\' && ++at == text.size()) {
        return base::Fail(base::Kind::kInvalid, kSelectorId, "",
                          "invalid field selector: nothing follows the last backslash");
      }
      need.value += text[at];
    }
    ++at;
    needs.push_back(std::move(need));
  }
  return needs;
}

}  // namespace pondage::manifest
