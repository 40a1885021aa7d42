// What the server does to metadata: sets its own fields on create, keeps them on update.
//
// Pure: time and new uids are handed in.
#pragma once

#include <boost/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "api/problem.h"
#include "api/route.h"
#include "base/instant.h"
#include "port/store.h"

namespace pondage::api {

// The metadata of an object; made empty when it has none or something else.
boost::json::object& MetadataOf(boost::json::object& object);

// Checks what a client sent, wipes what is the server's. The name is in it afterwards
// (`random_tail` ends a generateName).
Outcome<void> PrepareCreate(boost::json::object& object, const Route& route, base::Instant now,
                            std::string_view uid, std::string_view random_tail);

// Keeps what an update may not change; generation counts changes of what is neither metadata nor
// status. `is_patch` decides the code of a foreign uid.
Outcome<void> PrepareUpdate(boost::json::object& object, const boost::json::object& old,
                            const Route& route, bool is_patch);

// metadata.resourceVersion that the client sent, taken out; none: it sent none.
Outcome<std::optional<port::Revision>> TakeRevision(boost::json::object& object);

// "a1b2..": version 4 of RFC 9562, from 32 hexadecimal digits.
std::string UuidFrom(std::string random_hex);
// Five characters for a generated name, from random bytes.
std::string NameTail(std::string_view random_hex);

// The change that stores it.
port::Change ChangeOf(const manifest::Kind& kind, const boost::json::object& object);

}  // namespace pondage::api
