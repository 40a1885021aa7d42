// Objects as rows of a meta.k8s.io Table: the columns of their kind, with ages and texts that the
// server renders.
//
// Pure: `now` is handed in.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/instant.h"
#include "manifest/kinds.h"
#include "port/store.h"

namespace pondage::api {

enum class IncludeObject : std::uint8_t { kNone, kMetadata, kObject };

boost::json::array ColumnDefinitions(const manifest::Kind& kind);
boost::json::array Cells(const manifest::Kind& kind, const boost::json::object& object,
                         base::Instant now);
// `{"cells":[..],"object":{..}}`
void AppendRow(std::string& out, const manifest::Kind& kind, const port::Object& object,
               IncludeObject include, std::string_view version, base::Instant now);

// "5m", "2h3m", "3d"; kubectl's short form of a length of time.
std::string ShortLength(base::Millis length);
// The age of an RFC 3339 time; "<unknown>" when there is none.
std::string Age(const boost::json::value* time, base::Instant now);

// A simple path ("spec.nodeName", "status.conditions[-1:].type") into an object; null: nothing
// there.
const boost::json::value* At(const boost::json::object& object, std::string_view path);
// The string there; empty when there is none.
std::string TextAt(const boost::json::object& object, std::string_view path);

}  // namespace pondage::api
