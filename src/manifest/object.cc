#include "manifest/object.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"

namespace pondage::manifest {

namespace json = boost::json;

namespace {

// The value at a dotted path as a field selector compares it: text of a scalar, "" when absent.
std::string FieldText(const json::object& object, std::string_view path) {
  const json::object* at = &object;
  while (true) {
    const auto dot = path.find('.');
    const json::value* value = at->if_contains(path.substr(0, dot));
    if (value == nullptr || value->is_null()) return "";
    if (dot == std::string_view::npos) {
      if (value->is_string()) return std::string(value->get_string());
      return value->is_primitive() ? json::serialize(*value) : "";
    }
    at = value->if_object();
    if (at == nullptr) return "";
    path.remove_prefix(dot + 1);
  }
}

const json::object* ObjectAt(const json::object& object, std::string_view key) {
  const json::value* value = object.if_contains(key);
  return value == nullptr ? nullptr : value->if_object();
}

}  // namespace

Packed Pack(const json::object& object) {
  const json::object* metadata = ObjectAt(object, "metadata");
  REQUIRE(metadata != nullptr);
  std::string members;
  for (const auto& [key, value] : *metadata) {
    if (key == "resourceVersion") continue;
    if (!members.empty()) members += ',';
    members += json::serialize(key);
    members += ':';
    members += json::serialize(value);
  }
  REQUIRE(!members.empty());  // the version is spliced in with a comma behind it
  Packed packed;
  packed.body = "{";
  for (const auto& [key, value] : object) {
    if (packed.body.size() > 1) packed.body += ',';
    packed.body += json::serialize(key);
    packed.body += ':';
    if (key != "metadata") {
      packed.body += json::serialize(value);
      continue;
    }
    packed.body += '{';
    packed.splice = static_cast<std::uint32_t>(packed.body.size());
    packed.body += members;
    packed.body += '}';
  }
  packed.body += '}';
  return packed;
}

bool IsBeingDeleted(std::string_view body) {
  if (!body.contains("\"deletionTimestamp\"")) return false;  // most are not: no parsing
  const auto object = ParseJson(body);
  const json::object* metadata =
      object && object->is_object() ? ObjectAt(object->get_object(), "metadata") : nullptr;
  return metadata != nullptr && metadata->contains("deletionTimestamp");
}

std::vector<Owner> OwnersOf(const json::object& object) {
  const json::object* metadata = ObjectAt(object, "metadata");
  const json::value* owners =
      metadata == nullptr ? nullptr : metadata->if_contains("ownerReferences");
  std::vector<Owner> found;
  if (owners == nullptr || !owners->is_array()) return found;
  for (const json::value& owner : owners->get_array()) {
    if (!owner.is_object()) continue;
    const std::string version = FieldText(owner.get_object(), "apiVersion");
    const auto slash = version.find('/');
    found.push_back({.group = slash == std::string::npos ? "" : version.substr(0, slash),
                     .kind = FieldText(owner.get_object(), "kind"),
                     .name = FieldText(owner.get_object(), "name"),
                     .uid = FieldText(owner.get_object(), "uid")});
  }
  return found;
}

std::string Facets(const json::object& object, const std::vector<std::string>& field_paths) {
  std::vector<std::string> lines;
  const auto add = [&lines](std::string line) {
    // A line break would forge another line; nothing that may be selected holds one.
    if (line.find('\n') == std::string::npos) lines.push_back(std::move(line));
  };
  if (const json::object* metadata = ObjectAt(object, "metadata")) {
    if (const json::object* labels = ObjectAt(*metadata, "labels")) {
      for (const auto& [key, value] : *labels) {
        if (value.is_string()) {
          add(fmt::format("l:{}={}", std::string_view(key), std::string_view(value.get_string())));
        }
      }
    }
    const json::value* owners = metadata->if_contains("ownerReferences");
    if (owners != nullptr && owners->is_array()) {
      for (const json::value& owner : owners->get_array()) {
        if (owner.is_object()) add("o:" + FieldText(owner.get_object(), "uid"));
      }
    }
  }
  add("f:metadata.name=" + FieldText(object, "metadata.name"));
  add("f:metadata.namespace=" + FieldText(object, "metadata.namespace"));
  for (const std::string& path : field_paths) add("f:" + path + "=" + FieldText(object, path));
  std::ranges::sort(lines);
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  std::string text;
  for (const std::string& line : lines) {
    text += line;
    text += '\n';
  }
  return text;
}

}  // namespace pondage::manifest
