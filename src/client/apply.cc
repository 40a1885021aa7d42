#include "client/apply.h"

#include "client/manifest_file.h"

namespace pondage::client {
namespace {

// The merge patch (RFC 7386) that leads from `live` to what `wanted` says, and takes away what only
// `last` said. An empty object: nothing to do.
json::object Difference(const json::object& wanted, const json::object& live,
                        const json::object& last, int depth) {
  json::object patch;
  for (const auto& [key, value] : wanted) {
    const json::value* present = live.if_contains(key);
    if (present != nullptr && *present == value) continue;
    if (present == nullptr || !present->is_object() || !value.is_object() || depth > 60) {
      patch[key] = value;
      continue;
    }
    const json::value* before = last.if_contains(key);
    json::object inner =
        Difference(value.get_object(), present->get_object(),
                   before != nullptr && before->is_object() ? before->get_object() : json::object(),
                   depth + 1);
    if (!inner.empty()) patch[key] = std::move(inner);
  }
  for (const auto& [key, value] : last) {
    if (!wanted.contains(key) && live.contains(key)) patch[key] = nullptr;
  }
  return patch;
}

// The manifest as text, remembered on the object itself.
void Remember(json::object& object, const std::string& text) {
  if (!object.contains("metadata")) object["metadata"] = json::object();
  json::object& metadata = object["metadata"].as_object();
  if (!metadata.contains("annotations") || !metadata["annotations"].is_object()) {
    metadata["annotations"] = json::object();
  }
  metadata["annotations"].as_object()[kLastApplied] = text + "\n";
}

}  // namespace

base::Result<Applied> ApplyObject(Client& client, json::object object, const std::string& space,
                                  bool dry_run) {
  TRY(const ObjectPlace place, PlaceOf(object, space));
  const std::string query = dry_run ? "?dryRun=All" : "";
  const std::string text = json::serialize(object);
  auto live = client.Get(place.object_path);
  if (!live) {
    if (live.error().kind != base::Kind::kNotFound) return std::unexpected(live.error());
    Remember(object, text);
    TRY_DO(client.Post(place.list_path + query, object));
    return Applied{place.shown, "created"};
  }
  json::object last;
  const std::string remembered = Text(*live, {"metadata", "annotations", kLastApplied});
  if (auto parsed = ParseReply(remembered, "annotation"); parsed && parsed->is_object()) {
    last = parsed->get_object();
  }
  json::object patch = Difference(object, live->as_object(), last, 0);
  if (patch.empty()) return Applied{place.shown, "unchanged"};
  Remember(patch, text);
  TRY_DO(client.MergePatch(place.object_path + query, patch));
  return Applied{place.shown, "changed"};
}

}  // namespace pondage::client
