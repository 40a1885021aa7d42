#include "api/render.h"

#include <charconv>

namespace pondage::api {

namespace json = boost::json;

namespace {

void AppendRevision(std::string& out, port::Revision revision, bool more) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, revision).ptr;
  out.append(R"("resourceVersion":")").append(digits, end).append(more ? R"(",)" : R"(")");
}

// Index of the '}' that closes the object whose inside begins at `from`.
std::size_t Closing(std::string_view text, std::size_t from) {
  int depth = 1;
  bool quoted = false;
  for (std::size_t i = from; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
      continue;
    }
    if (c == '"') quoted = true;
    if (c == '{') ++depth;
    if (c == '}' && --depth == 0) return i;
  }
  return text.size();
}

}  // namespace

void AppendObject(std::string& out, const port::Object& object) {
  const std::string_view body = *object.body;
  out.append(body.substr(0, object.splice));
  AppendRevision(out, object.revision, body.size() > object.splice && body[object.splice] != '}');
  out.append(body.substr(object.splice));
}

std::string ObjectText(const port::Object& object) {
  std::string text;
  text.reserve(object.body->size() + 40);
  AppendObject(text, object);
  return text;
}

void AppendMetadata(std::string& out, const port::Object& object) {
  const std::string_view body = *object.body;
  const std::size_t end = Closing(body, object.splice);
  AppendRevision(out, object.revision, end > object.splice);
  out.append(body.substr(object.splice, end - object.splice));
}

void AppendPartial(std::string& out, const port::Object& object, std::string_view version) {
  out.append(R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/)").append(version);
  out.append(R"(","metadata":{)");
  AppendMetadata(out, object);
  out.append("}}");
}

void AppendQuoted(std::string& out, std::string_view text) {
  out.append(json::serialize(json::string_view(text.data(), text.size())));
}

json::object Parsed(const port::Object& object) {
  boost::system::error_code error;
  json::value value = json::parse(ObjectText(object), error);
  REQUIRE(!error && value.is_object());
  return std::move(value.get_object());
}

}  // namespace pondage::api
