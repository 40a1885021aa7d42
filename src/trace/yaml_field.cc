#include "trace/yaml_field.h"

#include <fmt/ranges.h>

#include "base/utf8.h"
#include "trace/amount.h"

namespace pondage::trace {

namespace {

// As long as the name of a label in Kubernetes. YAML itself takes none over 1,024.
constexpr std::size_t kLongestName = 253 + 1 + 63;

}  // namespace

Field Field::Root(std::string_view text) {
  if (!base::IsUtf8(text)) GiveUp("not UTF-8: the whole file must be text");
  YAML::Node node;
  try {
    node = YAML::Load(std::string(text));
  } catch (const YAML::Exception& broken) {
    GiveUp("line {}: {}", broken.mark.line + 1, broken.msg);
  } catch (const std::exception& broken) {
    GiveUp("not YAML: {}", broken.what());
  }
  if (!node.IsMap()) GiveUp("line 1: a map with fleet and jobs is wanted");
  return Field(node, "", 1);
}

int Field::Line() const {
  const int line = node_.IsDefined() ? node_.Mark().line : -1;
  return line < 0 ? line_ : line + 1;
}

void Field::Bad(std::string_view why) const {
  if (path_.empty()) GiveUp("line {}: {}", Line(), why);
  GiveUp("line {}: {}: {}", Line(), path_, why);
}

void Field::NotA(std::string_view wanted) const {
  if (!Present()) Bad(fmt::format("missing, {} is wanted", wanted));
  if (!node_.IsScalar()) Bad(fmt::format("not {}", wanted));
  Bad(fmt::format("\"{}\" is not {}", node_.Scalar().substr(0, 80), wanted));
}

Field Field::At(const std::string& key) {
  if (!node_.IsMap()) NotA("a map");
  asked_.insert(key);
  std::string path = path_.empty() ? key : path_ + "." + key;
  const YAML::Node& map = node_;  // looking up must not insert
  // Bounded look-up by hand: keys of a hostile file may be maps.
  for (const auto& entry : map) {
    if (entry.first.IsScalar() && entry.first.Scalar() == key) {
      return Field(entry.second, std::move(path), Line());
    }
  }
  return Field(YAML::Node(YAML::NodeType::Undefined), std::move(path), Line());
}

void Field::NothingElse() const {
  std::set<std::string> seen;
  for (const auto& entry : node_) {
    const bool known = entry.first.IsScalar() && asked_.contains(entry.first.Scalar());
    const Field field(entry.first, path_, Line());
    const std::string key = entry.first.IsScalar() ? entry.first.Scalar().substr(0, 80) : "?";
    if (!known)
      field.Bad(fmt::format("unknown field \"{}\"; known: {}", key, fmt::join(asked_, " ")));
    if (!seen.insert(key).second) field.Bad(fmt::format("\"{}\" stands here twice", key));
  }
}

std::vector<Field> Field::List() const {
  std::vector<Field> fields;
  if (!Present()) return fields;
  if (!node_.IsSequence()) NotA("a list");
  for (std::size_t i = 0; i < node_.size(); ++i) {
    fields.push_back(Field(node_[i], fmt::format("{}[{}]", path_, i), Line()));
  }
  return fields;
}

std::vector<std::pair<std::string, Field>> Field::Entries() const {
  std::vector<std::pair<std::string, Field>> entries;
  if (!Present()) return entries;
  if (!node_.IsMap()) NotA("a map");
  std::set<std::string> seen;
  for (const auto& entry : node_) {
    if (!entry.first.IsScalar()) NotA("a map of names");
    const std::string key = entry.first.Scalar();
    if (key.empty() || key.size() > kLongestName) {
      Bad(fmt::format("\"{}\" is no name: 1 to {} bytes are wanted", key.substr(0, 80),
                      kLongestName));
    }
    if (!seen.insert(key).second) Bad(fmt::format("\"{}\" stands here twice", key.substr(0, 80)));
    entries.emplace_back(key, Field(entry.second, path_ + "." + key, Line()));
  }
  return entries;
}

std::vector<std::string> Field::Texts() const {
  if (!Present()) return {};
  if (node_.IsScalar()) return {Scalar()};
  std::vector<std::string> texts;
  for (const Field& field : List()) texts.push_back(field.Scalar());
  return texts;
}

std::string Field::Scalar() const {
  if (!Present() || !node_.IsScalar()) NotA("a text");
  return node_.Scalar();
}

std::string Field::Text(std::string otherwise) const {
  return Present() ? Scalar() : std::move(otherwise);
}

std::int64_t Field::Whole(std::int64_t low, std::int64_t high, std::int64_t otherwise) const {
  if (!Present()) return otherwise;
  const auto value = node_.IsScalar() ? trace::Whole(node_.Scalar()) : std::nullopt;
  if (!value || *value < low || *value > high) {
    NotA(fmt::format("a whole number from {} to {}", low, high));
  }
  return *value;
}

bool Field::Flag(bool otherwise) const {
  if (!Present()) return otherwise;
  const std::string text = Scalar();
  if (text != "true" && text != "false") NotA("true or false");
  return text == "true";
}

std::int64_t Field::Number(std::int64_t scale, std::int64_t low, std::int64_t high,
                           std::int64_t otherwise) const {
  if (!Present()) return otherwise;
  const auto value = node_.IsScalar() ? Decimal(node_.Scalar(), scale) : std::nullopt;
  if (!value || *value < low || *value > high) {
    NotA(fmt::format("a number from {:g} to {:g}",
                     static_cast<double>(low) / static_cast<double>(scale),
                     static_cast<double>(high) / static_cast<double>(scale)));
  }
  return *value;
}

std::optional<base::Millis> Field::MaybeLength() const {
  if (!Present()) return std::nullopt;
  const auto length = node_.IsScalar() ? trace::Length(node_.Scalar()) : std::nullopt;
  if (!length || *length > kLongest) NotA("a length of time such as 90s, 30m, 1h30m or 2d");
  return length;
}

base::Millis Field::Length(base::Millis otherwise) const {
  return MaybeLength().value_or(otherwise);
}

base::Bytes Field::Size() const {
  if (!Present()) return {};
  const auto size = node_.IsScalar() ? trace::Size(node_.Scalar()) : std::nullopt;
  if (!size) NotA("a size such as 64Gi");
  return *size;
}

std::optional<base::Instant> Field::MaybeMoment() const {
  if (!Present()) return std::nullopt;
  const auto moment = node_.IsScalar() ? Moment(node_.Scalar()) : std::nullopt;
  if (!moment) NotA("a time such as 2017-10-01 or 2017-10-01 08:00:00");
  return moment;
}

}  // namespace pondage::trace
