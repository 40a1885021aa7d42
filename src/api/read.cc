#include "api/read.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "api/render.h"
#include "api/select.h"

namespace pondage::api {

namespace json = boost::json;
using manifest::Kind;

namespace {

constexpr std::size_t kPieceBytes = 128 << 10;

std::optional<std::int64_t> Number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

// A page's continuation: which state, and the last key that was handed out.
struct Continuation {
  port::Revision revision = 0;
  std::string space, name;
};

std::string Encode(const Continuation& token) {
  return fmt::format("1/{}/{}/{}", token.revision, token.space, token.name);
}

std::optional<Continuation> Decode(std::string_view text) {
  if (!text.starts_with("1/")) return std::nullopt;
  text.remove_prefix(2);
  const auto first = text.find('/');
  const auto second = first == std::string_view::npos ? first : text.find('/', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const auto revision = Number(text.substr(0, first));
  if (!revision || *revision == 0) return std::nullopt;
  return Continuation{*revision, std::string(text.substr(first + 1, second - first - 1)),
                      std::string(text.substr(second + 1))};
}

struct Page {
  port::Listing listing;
  std::string continuation;
};

// The list as it goes out: head, items one by one, tail.
class ListStream : public Stream {
 public:
  ListStream(const Kind& kind, Page page, Presentation presentation, base::Instant now)
      : kind_(kind), page_(std::move(page)), presentation_(std::move(presentation)), now_(now) {}

  Next Fill(std::string& out) override {
    out.reserve(kPieceBytes + (16 << 10));
    if (next_ == 0 && !begun_) {
      AppendHead(out);
      begun_ = true;
    }
    auto& objects = page_.listing.objects;
    while (next_ < objects.size() && out.size() < kPieceBytes) {
      if (next_ > 0) out.push_back(',');
      AppendItem(out, objects[next_]);
      objects[next_++].body.reset();
    }
    if (next_ < objects.size()) return Next::kMore;
    out.append("]}\n");
    return Next::kEnd;
  }

 private:
  void AppendHead(std::string& out) {
    json::object metadata{{"resourceVersion", std::to_string(page_.listing.revision)}};
    if (!page_.continuation.empty()) metadata["continue"] = page_.continuation;
    if (page_.listing.remaining > 0) metadata["remainingItemCount"] = page_.listing.remaining;
    const std::string metadata_text = json::serialize(metadata);
    const Form& form = presentation_.form;
    switch (form.shape) {
      case Form::Shape::kTable:
        out += fmt::format(
            R"({{"kind":"Table","apiVersion":"meta.k8s.io/{}","metadata":{},"columnDefinitions":{},)"
            R"("rows":[)",
            form.version, metadata_text, json::serialize(ColumnDefinitions(kind_)));
        return;
      case Form::Shape::kPartial:
        out += fmt::format(
            R"({{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/{}","metadata":{},)"
            R"("items":[)",
            form.version, metadata_text);
        return;
      case Form::Shape::kWhole:
        out += fmt::format(R"({{"kind":"{}List","apiVersion":"{}{}{}","metadata":{},"items":[)",
                           kind_.kind, kind_.group, kind_.group.empty() ? "" : "/", kind_.version,
                           metadata_text);
    }
  }

  void AppendItem(std::string& out, const port::Object& object) {
    switch (presentation_.form.shape) {
      case Form::Shape::kTable:
        return AppendRow(out, kind_, object, presentation_.include, presentation_.form.version,
                         now_);
      case Form::Shape::kPartial:
        return AppendPartial(out, object, presentation_.form.version);
      case Form::Shape::kWhole:
        return AppendObject(out, object);
    }
  }

  const Kind& kind_;
  Page page_;
  const Presentation presentation_;
  const base::Instant now_;
  std::size_t next_ = 0;
  bool begun_ = false;
};

struct Wanted {
  port::ListQuery query;
  std::size_t limit = 0;
};

Problem ContinueExpired() {
  return Expired(
      "The provided continue parameter is too old to display a consistent list result. You can "
      "start "
      "a new list without the continue parameter.");
}

// Which state and from where, by the rules of resourceVersion and continue.
Outcome<Wanted> WantedOf(const Request& request, const Route& route, const World& world) {
  Wanted wanted;
  wanted.query.kind = route.kind->storage;
  wanted.query.space = route.space;
  if (const std::string limit = request.query.Get("limit"); !limit.empty()) {
    const auto number = Number(limit);
    if (!number) return Refuse(BadRequest(fmt::format("invalid limit: \"{}\"", limit)));
    wanted.limit = static_cast<std::size_t>(*number);
  }
  if (request.query.Has("sendInitialEvents")) {
    return Refuse(
        Unprocessable("ListOptions.meta.k8s.io \"\" is invalid: sendInitialEvents: Forbidden: "
                      "sendInitialEvents is forbidden for list"));
  }
  auto revision = RevisionOf(request);
  if (!revision) return Refuse(revision.error());
  const std::string match = request.query.Get("resourceVersionMatch");
  const std::string token = request.query.Get("continue");
  if (!token.empty()) {
    if (!match.empty()) {
      return Refuse(Unprocessable("resourceVersionMatch is forbidden when continue is provided"));
    }
    const auto continuation = Decode(token);
    if (!continuation) return Refuse(BadRequest("continue key is not valid"));
    if (*revision) {
      return Refuse(BadRequest("specifying resource version is not allowed when using continue"));
    }
    if (continuation->revision < world.store.Oldest()) return Refuse(ContinueExpired());
    wanted.query.at = continuation->revision;
    wanted.query.after_space = continuation->space;
    wanted.query.after_name = continuation->name;
    return wanted;
  }
  if (!match.empty() && match != "Exact" && match != "NotOlderThan") {
    return Refuse(Unprocessable(
        fmt::format("resourceVersionMatch: Unsupported value: \"{}\": supported values: \"Exact\", "
                    "\"NotOlderThan\"",
                    match)));
  }
  if (!match.empty() && request.query.Get("resourceVersion").empty()) {
    return Refuse(
        Unprocessable("resourceVersionMatch is forbidden unless resourceVersion is provided"));
  }
  if (match == "Exact" && !*revision) {
    return Refuse(
        Unprocessable("resourceVersionMatch \"Exact\" is forbidden for resourceVersion \"0\""));
  }
  if (*revision && **revision > world.store.Newest()) {
    return Refuse(TooLargeRevision(**revision, world.store.Newest()));
  }
  if (*revision && (match == "Exact" || (match.empty() && wanted.limit > 0))) {
    wanted.query.at = **revision;
  }
  return wanted;
}

Outcome<Page> Fetch(const Wanted& wanted, const Selection& selection, const Kind& kind,
                    const World& world) {
  Page page;
  port::ListQuery query = wanted.query;
  query.facet = selection.Facet();
  // Without a second look the store counts for us; else all that may match are looked at.
  const bool exact = selection.Empty() || selection.FacetSuffices();
  if (exact) query.limit = wanted.limit;
  auto listing = world.store.List(query);
  if (!listing) {
    if (listing.error().kind == base::Kind::kExpired && query.at != 0) {
      return Refuse(Expired(
          fmt::format("too old resource version: {} ({})", query.at, world.store.Oldest())));
    }
    return Refuse(FromError(listing.error(), kind, ""));
  }
  page.listing = *std::move(listing);
  auto& objects = page.listing.objects;
  bool more = page.listing.more;
  if (!exact) {
    std::erase_if(objects,
                  [&](const port::Object& object) { return !selection.Matches(*object.facets); });
    more = wanted.limit > 0 && objects.size() > wanted.limit;
    if (more) objects.resize(wanted.limit);
  }
  if (more && !objects.empty()) {
    page.continuation =
        Encode({page.listing.revision, objects.back().key.space, objects.back().key.name});
  }
  if (!selection.Empty()) page.listing.remaining = 0;
  return page;
}

}  // namespace

Problem TooLargeRevision(port::Revision asked, port::Revision newest) {
  Problem problem;
  problem.code = 504;
  problem.reason = "Timeout";
  problem.message =
      fmt::format("Timeout: Too large resource version: {}, current: {}", asked, newest);
  problem.causes.push_back({"ResourceVersionTooLarge", "Too large resource version", ""});
  problem.retry_after_s = 1;
  return problem;
}

Outcome<std::optional<port::Revision>> RevisionOf(const Request& request) {
  const std::string text = request.query.Get("resourceVersion");
  if (text.empty()) return std::nullopt;
  const auto number = Number(text);
  if (!number) {
    return Refuse(BadRequest(fmt::format(
        "invalid resource version: strconv.ParseUint: parsing \"{}\": invalid syntax", text)));
  }
  if (*number == 0) return std::nullopt;
  return *number;
}

Outcome<Presentation> PresentationOf(const Request& request) {
  const auto form = Negotiate(request.accept);
  if (!form) return Refuse(NotAcceptable());
  Presentation presentation{*form, IncludeObject::kMetadata};
  const std::string include = request.query.Get("includeObject");
  if (include == "Object") presentation.include = IncludeObject::kObject;
  if (include == "None") presentation.include = IncludeObject::kNone;
  if (!include.empty() && include != "Object" && include != "None" && include != "Metadata") {
    return Refuse(BadRequest(fmt::format("unrecognized includeObject value: \"{}\"", include)));
  }
  return presentation;
}

port::Key KeyOf(const Route& route) {
  return {std::string(route.kind->storage), route.kind->namespaced ? route.space : "", route.name};
}

Response Present(const Kind& kind, const port::Object& object, const Presentation& presentation,
                 base::Instant now, int status) {
  Response response;
  response.status = status;
  if (presentation.form.shape == Form::Shape::kWhole) {
    response.body = ObjectText(object);
  } else if (presentation.form.shape == Form::Shape::kPartial) {
    AppendPartial(response.body, object, presentation.form.version);
  } else {
    response.body = fmt::format(
        R"({{"kind":"Table","apiVersion":"meta.k8s.io/{}","metadata":{{"resourceVersion":"{}"}},)"
        R"("columnDefinitions":{},"rows":[)",
        presentation.form.version, object.revision, json::serialize(ColumnDefinitions(kind)));
    AppendRow(response.body, kind, object, presentation.include, presentation.form.version, now);
    response.body.append("]}");
  }
  response.body.push_back('\n');
  return response;
}

Response Get(const Request& request, const Route& route, const World& world) {
  const auto presentation = PresentationOf(request);
  if (!presentation) return ToResponse(presentation.error());
  const auto revision = RevisionOf(request);
  if (!revision) return ToResponse(revision.error());
  const auto object = world.store.Get(KeyOf(route));
  if (!object) return ToResponse(FromError(object.error(), *route.kind, route.name));
  if (*revision && **revision > world.store.Newest()) {
    return ToResponse(TooLargeRevision(**revision, world.store.Newest()));
  }
  return Present(*route.kind, *object, *presentation, world.now());
}

Response List(const Request& request, const Route& route, const World& world) {
  auto presentation = PresentationOf(request);
  if (!presentation) return ToResponse(presentation.error());
  const auto selection = Selection::Of(request, *route.kind);
  if (!selection) return ToResponse(selection.error());
  const auto wanted = WantedOf(request, route, world);
  if (!wanted) return ToResponse(wanted.error());
  auto page = Fetch(*wanted, *selection, *route.kind, world);
  if (!page) return ToResponse(page.error());
  Response response;
  response.stream = std::make_unique<ListStream>(*route.kind, *std::move(page),
                                                 *std::move(presentation), world.now());
  return response;
}

}  // namespace pondage::api
