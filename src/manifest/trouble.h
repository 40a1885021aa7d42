// Errors of this room, with their frozen ids, and typed look-ups that say the path of what is
// wrong.
//
// Pure. A Reader looks at one JSON object: absent and null read as absent; the first value of a
// wrong type is kept in the Trouble and all later look-ups go on with defaults, so a decoder reads
// straight through and asks once at its end.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace pondage::manifest {

inline constexpr const char* kSyntaxId = "PND-M001";    // not JSON or YAML
inline constexpr const char* kBoundId = "PND-M002";     // too large, too deep, too many aliases
inline constexpr const char* kTypeId = "PND-M003";      // a field of the wrong type or out of range
inline constexpr const char* kQuantityId = "PND-M004";  // not a quantity
inline constexpr const char* kTimeId = "PND-M005";      // not a time
inline constexpr const char* kSelectorId = "PND-M006";  // not a selector
inline constexpr const char* kProgramId = "PND-M007";   // a Pod that says nothing to run
inline constexpr const char* kReferenceId = "PND-M008";  // a ConfigMap, Secret or key is missing
inline constexpr const char* kProtobufId = "PND-M009";   // not a protobuf message that is known

class Trouble {
 public:
  void Say(std::string_view path, std::string_view what);
  bool Any() const { return error_.has_value(); }
  // Requires Any().
  std::unexpected<base::Error> Fail() const;

 private:
  std::optional<base::Error> error_;
};

class Reader {
 public:
  // `at` may be null (absent), else must be an object.
  Reader(const boost::json::value* at, std::string path, Trouble& trouble);
  Reader(const boost::json::object& object, std::string path, Trouble& trouble);

  bool Present() const { return object_ != nullptr; }
  bool Has(std::string_view key) const { return Find(key) != nullptr; }
  // nullptr when absent or null.
  const boost::json::value* Find(std::string_view key) const;
  const boost::json::object* raw() const { return object_; }
  const std::string& path() const { return path_; }
  std::string PathOf(std::string_view key) const;

  std::string Text(std::string_view key) const;
  std::optional<std::string> MaybeText(std::string_view key) const;
  bool Flag(std::string_view key, bool otherwise = false) const;
  std::optional<std::int64_t> Int(std::string_view key, std::int64_t low, std::int64_t high) const;
  std::optional<std::int32_t> Int32(std::string_view key) const;
  Reader Object(std::string_view key) const;
  // Calls `each(value, path)` for the elements of a list.
  template <class Each>
  void List(std::string_view key, Each each) const {
    const boost::json::array* array = Array(key);
    if (array == nullptr) return;
    for (std::size_t i = 0; i < array->size(); ++i) {
      each((*array)[i], PathOf(key) + "[" + std::to_string(i) + "]");
    }
  }
  // Calls `each(reader)` for the elements of a list of objects.
  template <class Each>
  void Objects(std::string_view key, Each each) const {
    List(key, [&](const boost::json::value& value, std::string path) {
      each(Reader(&value, std::move(path), *trouble_));
    });
  }
  std::map<std::string, std::string> Texts(std::string_view key) const;  // map of strings

  Trouble& trouble() const { return *trouble_; }

 private:
  const boost::json::array* Array(std::string_view key) const;
  void Wrong(std::string_view key, std::string_view wanted, const boost::json::value& got) const;

  const boost::json::object* object_ = nullptr;
  std::string path_;
  Trouble* trouble_;
};

// A whole number: an integer, or a floating-point number without a fraction that is one exactly.
std::optional<std::int64_t> WholeNumber(const boost::json::value& value);

// The value for messages: `"text"`, `12`, `an object`; at most 80 bytes of it.
std::string Shown(const boost::json::value& value);

}  // namespace pondage::manifest
