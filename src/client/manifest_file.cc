#include "client/manifest_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <iostream>
#include <iterator>

#include "client/client.h"
#include "client/kubeconfig.h"
#include "manifest/kinds.h"
#include "manifest/object.h"

namespace pondage::client {

using base::Fail;
using base::Kind;

base::Result<std::vector<json::object>> ReadManifests(const std::string& file) {
  std::string bytes;
  if (file == "-") {
    bytes.assign(std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>());
  } else {
    auto read = ReadWholeFile(file);
    if (!read) return Fail(Kind::kInvalid, "PND-C010", "", fmt::format("cannot read {}", file));
    bytes = *std::move(read);
  }
  auto objects = manifest::ParseManifests(bytes);
  if (!objects) {
    base::Error error = objects.error();
    error.message += "\nin " + (file == "-" ? std::string("stdin") : file);
    if (error.id.empty()) error.id = "PND-C010";
    return std::unexpected(std::move(error));
  }
  if (objects->empty())
    return Fail(Kind::kInvalid, "PND-C010", "", fmt::format("{} holds no object", file));
  return objects;
}

base::Result<ObjectPlace> PlaceOf(const json::object& object, const std::string& space) {
  const std::string version = Text(object, {"apiVersion"});
  const std::string kind = Text(object, {"kind"});
  const std::string name = Text(object, {"metadata", "name"});
  if (version.empty() || kind.empty()) {
    return Fail(Kind::kInvalid, "PND-C010", "", "an object has no apiVersion or no kind");
  }
  const std::size_t slash = version.find('/');
  const std::string group = slash == std::string::npos ? "" : version.substr(0, slash);
  const manifest::Kind* known = manifest::FindKindByName(group, kind);
  if (known == nullptr) {
    return Fail(Kind::kInvalid, "PND-C009", "",
                fmt::format("the server has no kind {} in {}", kind, version));
  }
  if (name.empty()) {
    return Fail(Kind::kInvalid, "PND-C010", "", fmt::format("a {} has no metadata.name", kind));
  }
  std::string own = Text(object, {"metadata", "namespace"});
  if (own.empty()) own = space;
  ObjectPlace place;
  place.list_path = slash == std::string::npos ? "/api/" + version : "/apis/" + version;
  if (known->namespaced) place.list_path += "/namespaces/" + PercentEncode(own);
  place.list_path += "/" + std::string(known->plural);
  place.object_path = place.list_path + "/" + PercentEncode(name);
  place.shown = fmt::format("{}/{}", known->singular, name);
  return place;
}

std::string NumberlessStem(std::string_view name) {
  const std::size_t dash = name.rfind('-');
  const bool numbered = dash != std::string_view::npos && dash + 1 < name.size() && dash > 0 &&
                        name.size() - dash <= 7 &&
                        name.find_first_not_of("0123456789", dash + 1) == std::string_view::npos;
  return std::string(numbered ? name.substr(0, dash) : name);
}

int NumberOf(std::string_view name) {
  const std::string stem = NumberlessStem(name);
  return stem.size() == name.size() ? 0 : std::stoi(std::string(name.substr(stem.size() + 1)));
}

std::string NextName(const std::string& stem, const std::vector<json::value>& jobs) {
  int last = 0;
  for (const json::value& job : jobs) {
    const std::string name = Text(job, {"metadata", "name"});
    if (NumberlessStem(name) == stem) last = std::max(last, NumberOf(name));
  }
  return fmt::format("{}-{}", stem, last + 1);
}

base::Result<std::string> UnderFreeName(std::string name, bool chosen, const Offer& offer) {
  constexpr int kMostNames = 50;
  const std::string stem = NumberlessStem(name);
  for (int tries = 1;; ++tries) {
    auto accepted = offer(name);
    if (accepted) return name;
    const bool taken = accepted.error().kind == base::Kind::kAlreadyExists;
    if (!taken || chosen || tries == kMostNames) return std::unexpected(accepted.error());
    name = fmt::format("{}-{}", stem, NumberOf(name) + 1);
  }
}

}  // namespace pondage::client
