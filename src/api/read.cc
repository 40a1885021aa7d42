#include "api/read.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "api/pager.h"
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

// The list as it goes out: head, items one by one, tail. Whether more follow behind a limit is
// known only at the end, so metadata stands behind the items then.
class ListStream : public Stream {
 public:
  ListStream(const Kind& kind, Pager pager, std::size_t limit, Presentation presentation,
             base::Instant now)
      : kind_(kind),
        pager_(std::move(pager)),
        limit_(limit),
        presentation_(std::move(presentation)),
        now_(now) {}

  Next Fill(std::string& out) override {
    out.reserve(kPieceBytes + (16 << 10));
    if (!std::exchange(begun_, true)) AppendHead(out);
    while (out.size() < kPieceBytes) {
      auto object = pager_.Next();
      if (!object) return Next::kBroken;
      if (!*object) {
        AppendTail(out, "", 0);
        return Next::kEnd;
      }
      if (limit_ > 0 && sent_ == limit_) {
        AppendTail(out, Encode({pager_.revision(), last_.space, last_.name}),
                   pager_.Counts() ? pager_.Remaining() + 1 : 0);
        return Next::kEnd;
      }
      if (sent_++ > 0) out.push_back(',');
      AppendItem(out, **object);
      last_ = std::move((*object)->key);
    }
    return Next::kMore;
  }

 private:
  void AppendHead(std::string& out) {
    const Form& form = presentation_.form;
    switch (form.shape) {
      case Form::Shape::kTable:
        out +=
            fmt::format(R"({{"kind":"Table","apiVersion":"meta.k8s.io/{}","columnDefinitions":{},)",
                        form.version, json::serialize(ColumnDefinitions(kind_)));
        break;
      case Form::Shape::kPartial:
        out += fmt::format(R"({{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/{}",)",
                           form.version);
        break;
      case Form::Shape::kWhole:
        out += fmt::format(R"({{"kind":"{}List","apiVersion":"{}{}{}",)", kind_.kind, kind_.group,
                           kind_.group.empty() ? "" : "/", kind_.version);
    }
    if (limit_ == 0) AppendMetadata(out, "", 0).append(",");
    out.append(form.shape == Form::Shape::kTable ? R"("rows":[)" : R"("items":[)");
  }

  std::string& AppendMetadata(std::string& out, const std::string& continuation,
                              std::size_t remaining) {
    json::object metadata{{"resourceVersion", std::to_string(pager_.revision())}};
    if (!continuation.empty()) metadata["continue"] = continuation;
    if (remaining > 0) metadata["remainingItemCount"] = remaining;
    return out.append(R"("metadata":)").append(json::serialize(metadata));
  }

  void AppendTail(std::string& out, const std::string& continuation, std::size_t remaining) {
    out.push_back(']');
    if (limit_ > 0) {
      out.push_back(',');
      AppendMetadata(out, continuation, remaining);
    }
    out.append("}\n");
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
  Pager pager_;
  const std::size_t limit_;  // 0: none
  const Presentation presentation_;
  const base::Instant now_;
  port::Key last_;
  std::size_t sent_ = 0;
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
    wanted.query.count = wanted.limit > 0;
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

Outcome<Pager> PagerOf(const Wanted& wanted, Selection selection, const Kind& kind,
                       const World& world) {
  Pager pager(world.store, wanted.query, std::move(selection));
  const auto begun = pager.Begin();
  if (begun) return pager;
  if (begun.error().kind == base::Kind::kExpired && wanted.query.at != 0) {
    return Refuse(Expired(
        fmt::format("too old resource version: {} ({})", wanted.query.at, world.store.Oldest())));
  }
  return Refuse(FromError(begun.error(), kind, ""));
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
  auto selection = Selection::Of(request, *route.kind);
  if (!selection) return ToResponse(selection.error());
  const auto wanted = WantedOf(request, route, world);
  if (!wanted) return ToResponse(wanted.error());
  auto pager = PagerOf(*wanted, *std::move(selection), *route.kind, world);
  if (!pager) return ToResponse(pager.error());
  Response response;
  response.stream = std::make_unique<ListStream>(*route.kind, *std::move(pager), wanted->limit,
                                                 *std::move(presentation), world.now());
  return response;
}

}  // namespace pondage::api
