#include "api/meta.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "api/table.h"
#include "manifest/names.h"
#include "manifest/object.h"

namespace pondage::api {

namespace json = boost::json;
using job::FieldError;
using job::FieldErrorKind;
using manifest::Kind;

namespace {

constexpr std::size_t kAnnotationBytes = 262'144;
constexpr std::string_view kKept[] = {
    "uid",        "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
    "generation", "selfLink"};

FieldError Wrong(std::string path, std::string message) {
  return {FieldErrorKind::kInvalid, std::move(path), std::move(message)};
}

std::string Quoted(const json::value& value) {
  return json::serialize(value);
}

void CheckName(const Kind& kind, const std::string& name, std::vector<FieldError>& errors) {
  if (name.empty()) {
    errors.push_back({FieldErrorKind::kRequired, "metadata.name",
                      "Required value: name or generateName is required"});
  } else if (kind.plural == "namespaces" || kind.plural == "queues") {
    if (!manifest::IsDns1123Label(name)) {
      errors.push_back(
          Wrong("metadata.name",
                fmt::format("Invalid value: \"{}\": a lowercase RFC 1123 label has at most "
                            "63 lower case letters, digits and '-', and begins and ends "
                            "with a letter or digit",
                            name)));
    }
  } else if (kind.plural == "services") {
    if (!manifest::IsDns1035Label(name)) {
      errors.push_back(
          Wrong("metadata.name",
                fmt::format("Invalid value: \"{}\": a DNS-1035 label has at most 63 lower "
                            "case letters, digits and '-', begins with a letter and ends "
                            "with a letter or digit",
                            name)));
    }
  } else if (!manifest::IsDns1123Subdomain(name)) {
    errors.push_back(Wrong(
        "metadata.name", fmt::format("Invalid value: \"{}\": a lowercase RFC 1123 subdomain has at "
                                     "most 253 lower case letters, digits, '-' and '.', and begins "
                                     "and ends with a letter or digit",
                                     name)));
  }
}

void CheckLabels(const json::object& labels, std::vector<FieldError>& errors) {
  for (const auto& [key, value] : labels) {
    const std::string_view name = key;
    if (!manifest::IsLabelKey(name)) {
      errors.push_back(
          Wrong("metadata.labels",
                fmt::format("Invalid value: \"{}\": a label key is [prefix/]name", name)));
    }
    if (!manifest::IsLabelValue(value.get_string())) {
      errors.push_back(
          Wrong("metadata.labels",
                fmt::format("Invalid value: {}: a label value has at most 63 letters, "
                            "digits, '-', '_' and '.', and begins and ends with a letter "
                            "or digit",
                            Quoted(value))));
    }
  }
}

void CheckAnnotations(const json::object& annotations, std::vector<FieldError>& errors) {
  std::size_t bytes = 0;
  for (const auto& [key, value] : annotations) {
    bytes += key.size() + value.get_string().size();
    if (!manifest::IsLabelKey(key)) {
      errors.push_back(
          Wrong("metadata.annotations",
                fmt::format("Invalid value: \"{}\": an annotation key is [prefix/]name",
                            std::string_view(key))));
    }
  }
  if (bytes > kAnnotationBytes) {
    errors.push_back({FieldErrorKind::kTooLong, "metadata.annotations",
                      "Too long: may not be more than 262144 bytes"});
  }
}

void CheckOwners(const json::object& metadata, std::vector<FieldError>& errors) {
  const json::value* owners = metadata.if_contains("ownerReferences");
  if (!owners || !owners->is_array()) return;
  int controllers = 0;
  for (std::size_t i = 0; i < owners->get_array().size(); ++i) {
    const auto* owner = owners->get_array()[i].if_object();
    for (const std::string_view key : {"apiVersion", "kind", "name", "uid"}) {
      if (owner && !TextAt(*owner, key).empty()) continue;
      errors.push_back({FieldErrorKind::kRequired,
                        fmt::format("metadata.ownerReferences[{}].{}", i, key), "Required value"});
    }
    const json::value* controller = owner ? owner->if_contains("controller") : nullptr;
    if (controller && controller->is_bool() && controller->get_bool()) ++controllers;
  }
  if (controllers > 1) {
    errors.push_back(Wrong("metadata.ownerReferences",
                           "Invalid value: only one reference can have controller set to true"));
  }
}

// The shapes that everything after it relies on: 400, as a decoder would say.
Outcome<void> CheckShapes(const json::object& metadata, const Kind& kind) {
  const auto bad = [&](std::string_view path, std::string_view wanted) {
    return Refuse(
        BadRequest(fmt::format("{} in version \"{}\" cannot be handled as a {}: metadata.{} "
                               "must be {}",
                               kind.kind, kind.version, kind.kind, path, wanted)));
  };
  for (const std::string_view key :
       {"name", "namespace", "generateName", "uid", "resourceVersion"}) {
    const json::value* value = metadata.if_contains(key);
    if (value && !value->is_null() && !value->is_string()) return bad(key, "a string");
  }
  for (const std::string_view key : {"labels", "annotations"}) {
    const json::value* map = metadata.if_contains(key);
    if (!map || map->is_null()) continue;
    if (!map->is_object()) return bad(key, "a map of strings");
    for (const auto& [name, value] : map->get_object()) {
      if (!value.is_string()) return bad(key, "a map of strings");
    }
  }
  for (const std::string_view key : {"finalizers", "ownerReferences"}) {
    const json::value* list = metadata.if_contains(key);
    if (list && !list->is_null() && !list->is_array()) return bad(key, "a list");
  }
  return {};
}

// Nulls say "not there"; typed clients choke on them.
void DropNulls(json::object& metadata) {
  for (auto at = metadata.begin(); at != metadata.end();) {
    at = at->value().is_null() ? metadata.erase(at) : at + 1;
  }
}

Outcome<void> CheckMetadata(const Route& route, const json::object& metadata) {
  std::vector<FieldError> errors;
  const std::string name = TextAt(metadata, "name");
  CheckName(*route.kind, name, errors);
  if (const auto* labels = metadata.if_contains("labels"))
    CheckLabels(labels->get_object(), errors);
  if (const auto* notes = metadata.if_contains("annotations")) {
    CheckAnnotations(notes->get_object(), errors);
  }
  CheckOwners(metadata, errors);
  if (!errors.empty()) return Refuse(Invalid(*route.kind, name, errors));
  return {};
}

Outcome<void> PlaceInNamespace(json::object& metadata, const Route& route) {
  const std::string space = TextAt(metadata, "namespace");
  if (!route.kind->namespaced) {
    metadata.erase("namespace");
    return {};
  }
  if (!space.empty() && space != route.space) {
    return Refuse(BadRequest(fmt::format(
        "the namespace of the provided object does not match the namespace sent on the request: "
        "\"{}\", \"{}\"",
        space, route.space)));
  }
  metadata["namespace"] = route.space;
  return {};
}

// Name and namespace first, as people read it.
void Reorder(json::object& metadata) {
  json::object ordered;
  for (const std::string_view key :
       {"name", "namespace", "uid", "generation", "creationTimestamp"}) {
    if (auto* value = metadata.if_contains(key)) ordered[key] = std::move(*value);
  }
  for (auto& [key, value] : metadata) {
    if (!ordered.contains(key)) ordered[key] = std::move(value);
  }
  metadata = std::move(ordered);
}

bool SpecChanged(const json::object& object, const json::object& old) {
  const auto same = [&](const json::object& one, const json::object& other) {
    return std::ranges::all_of(one, [&](const auto& member) {
      const std::string_view key = member.key();
      if (key == "metadata" || key == "status") return true;
      const json::value* value = other.if_contains(key);
      return value && *value == member.value();
    });
  };
  return !same(object, old) || !same(old, object);
}

}  // namespace

json::object& MetadataOf(json::object& object) {
  json::value& metadata = object["metadata"];
  if (!metadata.is_object()) metadata = json::object();
  return metadata.get_object();
}

Outcome<void> PrepareCreate(json::object& object, const Route& route, base::Instant now,
                            std::string_view uid, std::string_view random_tail) {
  json::object& metadata = MetadataOf(object);
  if (const auto fine = CheckShapes(metadata, *route.kind); !fine) return fine;
  DropNulls(metadata);
  if (!TextAt(metadata, "resourceVersion").empty()) {
    return Refuse(BadRequest("resourceVersion should not be set on objects to be created"));
  }
  if (const auto fine = PlaceInNamespace(metadata, route); !fine) return fine;
  for (const std::string_view key : kKept) metadata.erase(key);
  metadata.erase("managedFields");
  metadata.erase("resourceVersion");
  std::string name = TextAt(metadata, "name");
  if (const std::string prefix = TextAt(metadata, "generateName");
      name.empty() && !prefix.empty()) {
    name = prefix.substr(0, 58) + std::string(random_tail);
    metadata["name"] = name;
  }
  metadata["uid"] = uid;
  if (route.kind->custom) metadata["generation"] = 1;
  metadata["creationTimestamp"] = manifest::FormatTime(now);
  Reorder(metadata);
  return CheckMetadata(route, metadata);
}

Outcome<void> PrepareUpdate(json::object& object, const json::object& old, const Route& route,
                            bool is_patch) {
  json::object& metadata = MetadataOf(object);
  if (const auto fine = CheckShapes(metadata, *route.kind); !fine) return fine;
  DropNulls(metadata);
  const std::string name = TextAt(metadata, "name");
  if (name != route.name) {
    return Refuse(BadRequest(fmt::format(
        "the name of the object ({}) does not match the name on the URL ({})", name, route.name)));
  }
  if (const auto fine = PlaceInNamespace(metadata, route); !fine) return fine;
  const std::string uid = TextAt(metadata, "uid"), old_uid = TextAt(old, "metadata.uid");
  if (!uid.empty() && uid != old_uid) {
    if (is_patch) {
      return Refuse(Invalid(
          *route.kind, name,
          {Wrong("metadata.uid", fmt::format("Invalid value: \"{}\": field is immutable", uid))}));
    }
    return Refuse(
        Conflict(*route.kind, name,
                 fmt::format("Precondition failed: UID in precondition: {}, UID in object "
                             "meta: {}",
                             uid, old_uid)));
  }
  const json::object& old_metadata = old.at("metadata").as_object();
  for (const std::string_view key : kKept) {
    metadata.erase(key);
    if (const json::value* value = old_metadata.if_contains(key)) metadata[key] = *value;
  }
  metadata.erase("managedFields");
  metadata.erase("resourceVersion");
  const json::value* generation = old_metadata.if_contains("generation");
  if (generation && generation->is_int64() && SpecChanged(object, old)) {
    metadata["generation"] = generation->get_int64() + 1;
  }
  Reorder(metadata);
  return CheckMetadata(route, metadata);
}

Outcome<std::optional<port::Revision>> TakeRevision(json::object& object) {
  json::object& metadata = MetadataOf(object);
  const json::value* value = metadata.if_contains("resourceVersion");
  if (!value || value->is_null()) return std::nullopt;
  if (!value->is_string()) return Refuse(BadRequest("metadata.resourceVersion must be a string"));
  const std::string text(value->get_string());
  metadata.erase("resourceVersion");
  if (text.empty() || text == "0") return std::nullopt;
  port::Revision revision = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), revision);
  if (error != std::errc() || end != text.data() + text.size() || revision < 0) {
    return Refuse(BadRequest(fmt::format("invalid resource version: \"{}\"", text)));
  }
  return revision;
}

std::string UuidFrom(std::string random_hex) {
  REQUIRE(random_hex.size() == 32);
  random_hex[12] = '4';
  random_hex[16] = "89ab"[random_hex[16] % 4];
  for (const std::size_t at : {8U, 13U, 18U, 23U}) random_hex.insert(at, 1, '-');
  return random_hex;
}

std::string NameTail(std::string_view random_hex) {
  constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  REQUIRE(random_hex.size() >= 20);
  std::string tail;
  for (int i = 0; i < 5; ++i) {
    unsigned number = 0;
    std::from_chars(random_hex.data() + 4 * i, random_hex.data() + 4 * i + 4, number, 16);
    tail.push_back(kAlphabet[number % kAlphabet.size()]);
  }
  return tail;
}

port::Change ChangeOf(const Kind& kind, const json::object& object) {
  manifest::Packed packed = manifest::Pack(object);
  port::Change change;
  change.key = {std::string(kind.storage), TextAt(object, "metadata.namespace"),
                TextAt(object, "metadata.name")};
  change.uid = TextAt(object, "metadata.uid");
  change.body = std::move(packed.body);
  change.splice = packed.splice;
  change.facets = manifest::Facets(object, {kind.fields.begin(), kind.fields.end()});
  return change;
}

}  // namespace pondage::api
