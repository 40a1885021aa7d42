#include "api/remove.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <memory>
#include <mutex>

#include "api/admit.h"
#include "api/body.h"
#include "api/read.h"
#include "api/render.h"
#include "api/select.h"
#include "api/table.h"

namespace pondage::api {

namespace json = boost::json;
using manifest::Kind;

namespace {

struct Options {
  std::optional<base::Millis> grace;
  bool orphan = false;
  bool dry_run = false;
  std::optional<port::Revision> revision;
  std::string uid;
};

// Whether all that an object owns is gone before it goes: programs before their TFJob and their
// Pod, what is in a namespace before the namespace.
bool GoesLast(const Kind& kind) {
  return kind.kind == "TFJob" || kind.kind == "Pod" || kind.kind == "Namespace";
}

Outcome<void> DecodePropagation(const Kind& kind, const json::object& from, Options& options) {
  const std::string policy = TextAt(from, "propagationPolicy");
  const json::value* orphan = from.if_contains("orphanDependents");
  const bool says = orphan && orphan->is_bool();
  if (!policy.empty() && says) {
    return Refuse(
        Unprocessable("DeleteOptions is invalid: propagationPolicy: Invalid value: "
                      "orphanDependents and propagationPolicy cannot be both set"));
  }
  const bool foreground = policy == "Foreground" && GoesLast(kind);
  if (!policy.empty() && policy != "Background" && policy != "Orphan" && !foreground) {
    return Refuse(Unprocessable(fmt::format(
        "DeleteOptions is invalid: propagationPolicy: Unsupported value: \"{}\": supported values: "
        "\"Background\", \"Orphan\"{}",
        policy, GoesLast(kind) ? ", \"Foreground\"" : "")));
  }
  options.orphan = policy == "Orphan" || (says && orphan->get_bool());
  return {};
}

Outcome<Options> OptionsOf(const Kind& kind, const Request& request, const json::object& from) {
  Options options;
  const auto dry_run = DryRun(request);
  if (!dry_run) return Refuse(dry_run.error());
  options.dry_run = *dry_run;
  if (const json::value* list = from.if_contains("dryRun"); list && list->is_array()) {
    for (const auto& value : list->get_array()) {
      if (value != json::value("All")) {
        return Refuse(
            Unprocessable("DeleteOptions is invalid: dryRun: Unsupported value: supported "
                          "values: \"All\""));
      }
      options.dry_run = true;
    }
  }
  if (const json::value* grace = from.if_contains("gracePeriodSeconds");
      grace && grace->is_int64()) {
    const std::int64_t seconds = grace->get_int64();
    options.grace =
        base::SecondsLong(seconds < 0 ? 1 : std::min<std::int64_t>(seconds, 86'400 * 365));
  }
  if (const auto fine = DecodePropagation(kind, from, options); !fine) return Refuse(fine.error());
  options.uid = TextAt(from, "preconditions.uid");
  if (const std::string text = TextAt(from, "preconditions.resourceVersion"); !text.empty()) {
    port::Revision revision = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), revision);
    if (error != std::errc() || end != text.data() + text.size()) {
      return Refuse(BadRequest(fmt::format("invalid resource version: \"{}\"", text)));
    }
    options.revision = revision;
  }
  return options;
}

port::Write WriteOf(const port::Key& key, const Options& options, const Request& request) {
  port::Write write;
  write.op = port::Write::Op::kDelete;
  write.change.key = key;
  write.expected = options.revision;
  write.expected_uid = options.uid;
  write.dry_run = options.dry_run;
  write.grace = options.grace;
  write.orphan = options.orphan;
  write.user = request.identity.name;
  return write;
}

bool AnswersObject(const Kind& kind) {
  return kind.kind == "Pod" || kind.kind == "Service" || kind.kind == "ServiceAccount" ||
         kind.kind == "Namespace";
}

Response Deleted(const Kind& kind, const port::Written& written, const std::string& name) {
  if (!written.gone || AnswersObject(kind)) {
    Response response;
    response.body = ObjectText(written.object) + "\n";
    return response;
  }
  return JsonResponse(SuccessStatus(kind, name, written.object.uid));
}

// All deletions of a collection; the last one to be answered answers the client.
struct Sweep {
  Sweep(const Kind& of, Reply to) : kind(of), reply(std::move(to)) {}
  const Kind& kind;
  Reply reply;
  port::Revision revision = 0;
  std::vector<port::Object> objects;
  std::atomic<std::size_t> left{0};
  std::mutex mutex;
  std::optional<Problem> problem;
};

void FinishSweep(const Sweep& sweep) {
  if (sweep.problem) return sweep.reply(ToResponse(*sweep.problem));
  Response response;
  response.body = fmt::format(
      R"({{"kind":"{}List","apiVersion":"{}","metadata":{{"resourceVersion":"{}"}},"items":[)",
      sweep.kind.kind, ApiVersionOf(sweep.kind), sweep.revision);
  for (std::size_t i = 0; i < sweep.objects.size(); ++i) {
    if (i > 0) response.body.push_back(',');
    AppendObject(response.body, sweep.objects[i]);
  }
  response.body.append("]}\n");
  sweep.reply(std::move(response));
}

}  // namespace

void Delete(Request request, Route route, const World& world, Reply reply) {
  const auto document = DecodeDeleteOptions(request);
  if (!document) return reply(ToResponse(document.error()));
  const auto options = OptionsOf(*route.kind, request, *document);
  if (!options) return reply(ToResponse(options.error()));
  if (const auto fine = AdmitDeletion(route); !fine) return reply(ToResponse(fine.error()));
  world.writer.Submit(
      WriteOf(KeyOf(route), *options, request),
      [route, reply = std::move(reply)](const base::Result<port::Written>& written) {
        if (!written) {
          return reply(ToResponse(FromError(written.error(), *route.kind, route.name)));
        }
        reply(Deleted(*route.kind, *written, route.name));
      });
}

void DeleteCollection(Request request, Route route, const World& world, Reply reply) {
  const auto document = DecodeDeleteOptions(request);
  if (!document) return reply(ToResponse(document.error()));
  const auto options = OptionsOf(*route.kind, request, *document);
  if (!options) return reply(ToResponse(options.error()));
  const auto selection = Selection::Of(request, *route.kind);
  if (!selection) return reply(ToResponse(selection.error()));
  auto listing = world.store.List({.kind = std::string(route.kind->storage),
                                   .space = route.space,
                                   .facet = selection->Facet()});
  if (!listing) return reply(ToResponse(FromError(listing.error(), *route.kind, "")));
  auto sweep = std::make_shared<Sweep>(*route.kind, std::move(reply));
  sweep->revision = listing->revision;
  for (auto& object : listing->objects) {
    if (!selection->Matches(*object.facets)) continue;
    Route one = route;
    one.name = object.key.name;
    if (const auto fine = AdmitDeletion(one); !fine) return sweep->reply(ToResponse(fine.error()));
    sweep->objects.push_back(std::move(object));
  }
  if (sweep->objects.empty()) return FinishSweep(*sweep);
  sweep->left = sweep->objects.size();
  for (const port::Object& object : sweep->objects) {
    world.writer.Submit(
        WriteOf(object.key, *options, request),
        [sweep, name = object.key.name](const base::Result<port::Written>& written) {
          // One that is gone already is what was asked for.
          if (!written && written.error().kind != base::Kind::kNotFound) {
            const std::lock_guard lock(sweep->mutex);
            sweep->problem = FromError(written.error(), sweep->kind, name);
          }
          if (--sweep->left == 0) FinishSweep(*sweep);
        });
  }
}

void Evict(Request request, Route route, const World& world, Reply reply) {
  static const Kind kEviction = [] {
    Kind kind;
    kind.group = "policy";
    kind.version = "v1";
    kind.kind = "Eviction";
    return kind;
  }();
  auto eviction = DecodeObject(request, kEviction);
  if (!eviction) return reply(ToResponse(eviction.error()));
  const std::string name = TextAt(*eviction, "metadata.name");
  if (!name.empty() && name != route.name) {
    return reply(ToResponse(BadRequest("name in URL does not match name in Eviction object")));
  }
  json::object from;
  if (const json::value* given = eviction->if_contains("deleteOptions");
      given && given->is_object()) {
    from = given->get_object();
  }
  const auto options = OptionsOf(*route.kind, request, from);
  if (!options) return reply(ToResponse(options.error()));
  world.writer.Submit(
      WriteOf(KeyOf(route), *options, request),
      [route, reply = std::move(reply)](const base::Result<port::Written>& written) {
        if (!written) {
          return reply(ToResponse(FromError(written.error(), *route.kind, route.name)));
        }
        reply(JsonResponse(json::object{{"kind", "Status"},
                                        {"apiVersion", "v1"},
                                        {"metadata", json::object()},
                                        {"status", "Success"},
                                        {"code", 201}},
                           201));
      });
}

}  // namespace pondage::api
