#include <optional>
#include <string>

#include "api/media.h"
#include "api/request.h"
#include "base/assert.h"
#include "targets.h"

namespace pondage::fuzz {

void HttpTarget(std::string_view input) {
  const std::optional<api::Request> request = api::MakeRequest("GET", input);
  if (!request) return;
  PROMISE(request->path.starts_with('/'));
  PROMISE(request->path == "/" || !request->path.ends_with('/'));
  // The query in a spelling of our own must be read as the same one.
  const std::size_t mark = input.find('?');
  if (mark == std::string_view::npos) return;
  const auto query = api::Query::Parse(input.substr(mark + 1));
  for (const char* name : {"watch", "limit", "labelSelector", "continue", ""}) {
    if (query) PROMISE(query->All(name) == request->query.All(name));
    PROMISE(request->query.Has(name) == !request->query.All(name).empty());
  }
}

void AcceptHeader(std::string_view input) {
  for (const api::MediaRange& range : api::ParseAccept(input)) {
    for (const char c : range.type) PROMISE(c < 'A' || c > 'Z');
  }
  (void)api::Negotiate(input);
}

}  // namespace pondage::fuzz
