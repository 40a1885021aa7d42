#include "manifest/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "base/assert.h"
#include "manifest/trouble.h"

namespace pondage::manifest {

namespace json = boost::json;

namespace {

constexpr std::size_t kMostFindings = 100;

// Words of a text, apart at white space. Lines that go on begin with a space.
class Words {
 public:
  explicit Words(std::string_view text) : rest_(text) {}

  // False at the end. `begins` says that the word begins a message.
  bool Next(std::string_view& word, bool& begins) {
    const auto start = rest_.find_first_not_of(" \n");
    if (start == std::string_view::npos) return false;
    begins = start == 0 ? first_ : rest_[start - 1] == '\n';
    first_ = false;
    rest_.remove_prefix(start);
    const auto end = std::min(rest_.find_first_of(" \n"), rest_.size());
    word = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return true;
  }

 private:
  std::string_view rest_;
  bool first_ = true;
};

using Table = std::map<std::string_view, Message>;

// name ':' number flags type
Field ParseField(std::string_view word, std::string_view& type) {
  Field field;
  const auto colon = word.find(':');
  REQUIRE(colon != std::string_view::npos);
  field.name = word.substr(0, colon);
  word.remove_prefix(colon + 1);
  const auto [end, error] = std::from_chars(word.begin(), word.end(), field.number);
  REQUIRE(error == std::errc());
  word.remove_prefix(static_cast<std::size_t>(end - word.begin()));
  for (; !word.empty(); word.remove_prefix(1)) {
    switch (word.front()) {
      case '?':
        field.pointer = true;
        continue;
      case '!':
        field.always = true;
        continue;
      case '*':
        field.list = true;
        continue;
      case '%':
        field.map = true;
        continue;
      case '<':
        field.inlined = true;
        continue;
      default:
        break;
    }
    break;
  }
  type = word;
  return field;
}

Table MakeTable() {
  Table table;
  std::vector<std::pair<std::string_view, std::vector<std::string_view>>> rows;
  Words words(FieldTable());
  std::string_view word;
  bool begins = false;
  while (words.Next(word, begins)) {
    if (begins) {
      rows.push_back({word, {}});
      table[word].name = word;
    } else {
      rows.back().second.push_back(word);
    }
  }
  for (const auto& [name, fields] : rows) {
    Message& message = table.at(name);
    for (const std::string_view text : fields) {
      std::string_view type;
      Field field = ParseField(text, type);
      if (type.size() == 1) {
        field.scalar = type.front();
      } else {
        const auto found = table.find(type);
        REQUIRE(found != table.end());
        field.message = &found->second;
      }
      message.fields.push_back(field);
    }
  }
  return table;
}

const char* Wanted(char scalar) {
  switch (scalar) {
    case 's':
    case 'y':
    case 't':
    case 'u':
      return "a string";
    case 'i':
      return "a whole number";
    case 'b':
      return "true or false";
    case 'q':
      return "a quantity";
    case 'x':
      return "a whole number or a string";
    default:
      return "a value";
  }
}

bool HasType(char scalar, const json::value& value) {
  switch (scalar) {
    case 's':
    case 'y':
    case 't':
    case 'u':
      return value.is_string();
    case 'i':
      return WholeNumber(value).has_value();
    case 'b':
      return value.is_bool();
    case 'q':
      return value.is_string() || value.is_number();
    case 'x':
      return value.is_string() || WholeNumber(value).has_value();
    default:
      return true;
  }
}

std::string Joined(const std::string& path, std::string_view member) {
  return path.empty() ? std::string(member) : fmt::format("{}.{}", path, member);
}

// What a walk tells of: members without a field, values of another type.
class Visitor {
 public:
  virtual ~Visitor() = default;
  virtual void Unknown(const std::string& path) = 0;
  virtual void Wrong(const std::string& path, std::string_view wanted, const json::value& got) = 0;
  virtual bool full() const = 0;
};

void VisitObject(const Message& message, const json::object& object, const std::string& path,
                 Visitor& visitor);

void VisitOne(const Field& field, const json::value& value, const std::string& path,
              Visitor& visitor) {
  if (value.is_null()) return;
  if (field.message == nullptr) {
    if (!HasType(field.scalar, value)) visitor.Wrong(path, Wanted(field.scalar), value);
  } else if (const json::object* object = value.if_object()) {
    VisitObject(*field.message, *object, path, visitor);
  } else {
    visitor.Wrong(path, "an object", value);
  }
}

void VisitMember(const Field& field, const json::value& value, const std::string& path,
                 Visitor& visitor) {
  if (value.is_null()) return;
  if (field.list) {
    const json::array* list = value.if_array();
    if (list == nullptr) return visitor.Wrong(path, "a list", value);
    for (std::size_t i = 0; i < list->size(); ++i) {
      VisitOne(field, (*list)[i], fmt::format("{}[{}]", path, i), visitor);
    }
  } else if (field.map) {
    const json::object* map = value.if_object();
    if (map == nullptr) return visitor.Wrong(path, "an object", value);
    for (const auto& [key, one] : *map) VisitOne(field, one, Joined(path, key), visitor);
  } else {
    VisitOne(field, value, path, visitor);
  }
}

void VisitObject(const Message& message, const json::object& object, const std::string& path,
                 Visitor& visitor) {
  for (const auto& [key, value] : object) {
    if (visitor.full()) return;
    const Field* field = message.Find(key);
    if (field != nullptr) {
      VisitMember(*field, value, Joined(path, key), visitor);
    } else if (!value.is_null()) {
      visitor.Unknown(Joined(path, key));
    }
  }
}

class FindUnknown final : public Visitor {
 public:
  void Unknown(const std::string& path) override { paths.push_back(path); }
  void Wrong(const std::string&, std::string_view, const json::value&) override {}
  bool full() const override { return paths.size() >= kMostFindings; }

  std::vector<std::string> paths;
};

class FindWrong final : public Visitor {
 public:
  void Unknown(const std::string&) override {}
  void Wrong(const std::string& path, std::string_view wanted, const json::value& got) override {
    errors.push_back({job::FieldErrorKind::kInvalid, path,
                      fmt::format("Invalid value: {}: must be {}", Shown(got), wanted)});
  }
  bool full() const override { return errors.size() >= kMostFindings; }

  std::vector<job::FieldError> errors;
};

void PruneObject(const Message& message, json::object& object);

void PruneMember(const Field& field, json::value& value) {
  if (field.message == nullptr) return;
  const auto one = [&field](json::value& element) {
    if (json::object* object = element.if_object()) PruneObject(*field.message, *object);
  };
  if (json::array* list = field.list ? value.if_array() : nullptr) {
    for (json::value& element : *list) one(element);
  } else if (json::object* map = field.map ? value.if_object() : nullptr) {
    for (auto& member : *map) one(member.value());
  } else {
    one(value);
  }
}

void PruneObject(const Message& message, json::object& object) {
  json::object kept;
  for (auto& member : object) {
    const Field* field = message.Find(member.key());
    if (field == nullptr) continue;
    PruneMember(*field, member.value());
    kept.emplace(member.key(), std::move(member.value()));
  }
  object = std::move(kept);
}

}  // namespace

const Field* Message::Find(std::string_view member) const {
  for (const Field& field : fields) {
    if (!field.inlined) {
      if (field.name == member) return &field;
    } else if (const Field* inner = field.message->Find(member)) {
      return inner;
    }
  }
  return nullptr;
}

const Field* Message::FindNumber(int number) const {
  const auto found = std::ranges::find(fields, number, &Field::number);
  return found == fields.end() || number == 0 ? nullptr : &*found;
}

const Message* FindMessage(std::string_view name) {
  static const Table table = MakeTable();
  const auto found = table.find(name);
  return found == table.end() ? nullptr : &found->second;
}

std::vector<std::string> UnknownFields(std::string_view kind, const json::object& object) {
  FindUnknown found;
  if (const Message* message = FindMessage(kind)) VisitObject(*message, object, "", found);
  return std::move(found.paths);
}

void Prune(std::string_view kind, json::object& object) {
  if (const Message* message = FindMessage(kind)) PruneObject(*message, object);
}

std::vector<job::FieldError> WrongTypes(std::string_view kind, const json::object& object) {
  FindWrong found;
  if (const Message* message = FindMessage(kind)) VisitObject(*message, object, "", found);
  return std::move(found.errors);
}

}  // namespace pondage::manifest
