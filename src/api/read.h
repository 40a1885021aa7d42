// Reads: one object, or a list in pages, in the form that the client accepts.
//
// Any thread; never waits for a commit. A list streams the stored bytes.
#pragma once

#include "api/media.h"
#include "api/problem.h"
#include "api/request.h"
#include "api/response.h"
#include "api/route.h"
#include "api/table.h"
#include "api/world.h"

namespace pondage::api {

// The form that the request asks for and how table rows carry their object.
struct Presentation {
  Form form;
  IncludeObject include = IncludeObject::kMetadata;
};
Outcome<Presentation> PresentationOf(const Request& request);

port::Key KeyOf(const Route& route);

// One object in that form.
Response Present(const manifest::Kind& kind, const port::Object& object,
                 const Presentation& presentation, base::Instant now, int status = 200);

Response Get(const Request& request, const Route& route, const World& world);
Response List(const Request& request, const Route& route, const World& world);

// A revision in a query; none when absent or "0"; 400 when it is no number.
Outcome<std::optional<port::Revision>> RevisionOf(const Request& request);
Problem TooLargeRevision(port::Revision asked, port::Revision newest);

}  // namespace pondage::api
