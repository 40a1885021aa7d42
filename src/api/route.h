// From a path and method to what is asked of which kind: the attributes that authorization judges.
//
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "api/request.h"
#include "manifest/kinds.h"

namespace pondage::api {

enum class Verb : std::uint8_t {
  kGet,
  kList,
  kWatch,
  kCreate,
  kUpdate,
  kPatch,
  kDelete,
  kDeleteCollection
};
std::string_view VerbName(Verb verb);

// A path of a resource. `kind` is null when the group or the resource is not served.
struct Route {
  const manifest::Kind* kind = nullptr;
  std::string group, version, resource;
  std::string space;        // empty: all namespaces, or cluster scope
  std::string name;         // empty: the collection
  std::string subresource;  // "status", "log"
  Verb verb = Verb::kGet;
};

// None: not a path below /api/v1 or /apis/G/V that names a resource.
std::optional<Route> RouteOf(const Request& request);

// Reviews have no stored objects: not in the table of kinds, served all the same.
const manifest::Kind* FindReview(std::string_view group, std::string_view plural);
std::span<const manifest::Kind> Reviews();

}  // namespace pondage::api
