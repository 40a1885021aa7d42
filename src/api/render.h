// Stored bytes as a client sees them: the revision spliced in, whole or only the metadata.
//
// Pure.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "port/store.h"

namespace pondage::api {

// The whole object with its resourceVersion.
void AppendObject(std::string& out, const port::Object& object);
std::string ObjectText(const port::Object& object);
// What stands between the braces of its metadata, resourceVersion included.
void AppendMetadata(std::string& out, const port::Object& object);
// A PartialObjectMetadata of meta.k8s.io/<version>.
void AppendPartial(std::string& out, const port::Object& object, std::string_view version);
void AppendQuoted(std::string& out, std::string_view text);

// Its JSON as a value, resourceVersion included; the bytes of the store are trusted to be JSON.
boost::json::object Parsed(const port::Object& object);

}  // namespace pondage::api
