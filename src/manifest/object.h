// What is the same in every Kubernetes object: metadata, quantities, times, YAML and JSON.
//
// Pure; decoders have bounds (depth, size, aliases) and never throw.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/instant.h"
#include "base/quantity.h"
#include "base/result.h"

namespace pondage::manifest {

// One JSON text; duplicate keys, depth over 100 and trailing bytes are kInvalid. Integers stay
// exact.
base::Result<boost::json::value> ParseJson(std::string_view bytes);

// All documents of a YAML (or JSON) stream, as JSON; `kind: List` is taken apart. At most
// `max_bytes` of input, 10,000 alias expansions, depth 100.
base::Result<std::vector<boost::json::object>> ParseManifests(std::string_view bytes,
                                                              std::size_t max_bytes = 3 << 20);

// Kubernetes quantities: "2", "500m", "1.5Gi", 3, 1e3. Negative ones and
// those above 2^63 - 1 units are kInvalid; fractions of the unit are rounded up.
base::Result<std::int64_t> ParseWhole(const boost::json::value& quantity);  // rounded up
base::Result<base::MilliCpu> ParseCpu(const boost::json::value& quantity);
base::Result<base::Bytes> ParseBytes(const boost::json::value& quantity);

std::string FormatTime(base::Instant at);       // RFC 3339, UTC, whole seconds
std::string FormatMilliTime(base::Instant at);  // with three decimals
std::string FormatMicroTime(base::Instant at);  // with six
base::Result<base::Instant> ParseTime(std::string_view text);
// "90s", "10m", "1h30m", "1.5h", "500ms": at most a hundred years.
base::Result<base::Millis> ParseDuration(std::string_view text);

// Label selectors in the text form of the API ("a=b,c in (d,e),!f"): matched against the labels.
struct Requirement {
  enum class Operator : std::uint8_t { kExists, kAbsent, kIn, kNotIn, kGreater, kLess };
  std::string key;
  Operator op = Operator::kExists;
  std::vector<std::string> values;
};
base::Result<std::vector<Requirement>> ParseLabelSelector(std::string_view text);
bool Matches(const std::vector<Requirement>& needs,
             const std::map<std::string, std::string>& labels);
struct FieldRequirement {
  std::string path;
  bool equal = true;
  std::string value;
};
base::Result<std::vector<FieldRequirement>> ParseFieldSelector(std::string_view text);

// Text form for storage: JSON without metadata.resourceVersion, `splice` behind `"metadata":{`.
// Requires that metadata is an object with at least one other member.
struct Packed {
  std::string body;
  std::uint32_t splice = 0;
};
Packed Pack(const boost::json::object& object);

// Whether metadata.deletionTimestamp stands in a stored object; false too when it is no JSON.
bool IsBeingDeleted(std::string_view body);

// metadata.ownerReferences; what is no reference is left out.
struct Owner {
  std::string group, kind, name, uid;
};
std::vector<Owner> OwnersOf(const boost::json::object& object);

// Facet lines (port::Object::facets) of an object: its labels, owners, metadata.name/namespace and
// the fields named in `field_paths` ("spec.nodeName").
std::string Facets(const boost::json::object& object, const std::vector<std::string>& field_paths);

}  // namespace pondage::manifest
