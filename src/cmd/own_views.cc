#include "cmd/own_views.h"

#include <boost/json.hpp>

#include "agent/reach.h"
#include "api/problem.h"
#include "api/promises.h"
#include "manifest/object.h"
#include "shim/files.h"

namespace pondage::cmd {
namespace {

namespace json = boost::json;

api::Response Trouble(const base::Error& error) {
  const auto status = [&error] {
    switch (error.kind) {
      case base::Kind::kNotFound:
        return 404;
      case base::Kind::kAlreadyExists:
      case base::Kind::kConflict:
        return 409;
      case base::Kind::kForbidden:
        return 403;
      case base::Kind::kInvalid:
        return 422;
      default:
        return 503;
    }
  }();
  std::string message = error.message;
  if (!error.object.empty()) {
    const bool goes_on = message.starts_with("is ") || message.starts_with("has ");
    message = error.object + (goes_on ? " " : ": ") + message;
  }
  if (!error.id.empty()) message += " (" + error.id + ")";
  return {.status = status,
          .body = json::serialize(json::object{{"kind", "Status"},
                                               {"apiVersion", "v1"},
                                               {"metadata", json::object{}},
                                               {"status", "Failure"},
                                               {"message", message},
                                               {"code", status}})};
}

api::Response Json(const json::value& value, int status = 200) {
  return {.status = status, .body = json::serialize(value)};
}

json::object Shown(const agent::Environment& environment) {
  return {{"image", environment.image},
          {"path", environment.prefix},
          {"python", environment.python},
          {"tensorflow", environment.tensorflow},
          {"keras", environment.keras}};
}

// A member of the request's JSON body.
base::Result<std::string> Asked(const api::Request& request, std::string_view name) {
  TRY(const json::value body, manifest::ParseJson(request.body));
  const auto* text = body.is_object() ? body.get_object().if_contains(name) : nullptr;
  if (text == nullptr || !text->is_string() || text->get_string().empty()) {
    return base::Fail(base::Kind::kInvalid, "PND-A012", "",
                      "the body lacks the text \"" + std::string(name) + "\"");
  }
  return std::string(text->get_string());
}

}  // namespace

bool OwnViews::Answer(const api::Request& request, const api::Reply& reply) {
  const bool adds = request.method == "POST";
  if (request.path == "/pondage/v1/info" && request.method == "GET") {
    reply(Info(request));
  } else if (request.path == "/pondage/v1/environments" && adds) {
    Later(probes_, reply, [this, request] { return AddEnvironment(request); });
  } else if (request.path == "/pondage/v1/environments") {
    reply(Environments(request));
  } else if (request.path == "/pondage/v1/backup" && adds) {
    Later(backups_, reply, [this, request] { return Backup(request); });
  } else {
    return false;
  }
  return true;
}

void OwnViews::Later(Lane& lane, const api::Reply& reply, std::function<api::Response()> work) {
  const auto posted = lane.Post([reply, work = std::move(work)](bool ending) {
    const auto stopping =
        base::Error{base::Kind::kUnavailable, "PND-A029", "", "the server is stopping"};
    reply(ending ? Trouble(stopping) : work());
  });
  if (!posted) reply(Trouble(posted.error()));
}

void OwnViews::End() {
  probes_.End();
  backups_.End();
}

api::Response OwnViews::Info(const api::Request& request) const {
  const auto free = store_.FreeBytes();
  const bool all = request.identity.admin;  // their sentences name objects of everybody
  const std::vector<std::string> nothing;
  json::value served;  // null: nothing serves the image that was asked for
  if (const std::string image = request.query.Get("image"); !image.empty()) {
    if (const auto environment = environments_.For(image)) served = agent::TextOf(*environment);
  }
  return Json({{"version", PONDAGE_VERSION},
               {"servedBy", std::move(served)},
               {"dataDir", data_dir_},
               {"bootId", shim::BootId()},
               {"url", url_},
               {"user", request.identity.name},
               {"freeBytes", free ? json::value(free->value) : json::value(nullptr)},
               {"limitsNotEnforced", not_limited_},
               {"promises", json::value_from(all ? api::BrokenPromises(store_) : nothing)},
               {"damage", json::value_from(all ? store_.Damage() : nothing)},
               {"unreadable", json::value_from(all ? unreadable_() : nothing)}});
}

api::Response OwnViews::Environments(const api::Request& request) {
  if (request.method == "GET") {
    const auto known = environments_.List();
    if (!known) return Trouble(known.error());
    json::array shown;
    for (const agent::Environment& environment : *known) shown.push_back(Shown(environment));
    return Json({{"environments", std::move(shown)}});
  }
  if (request.method == "DELETE") {
    const auto removed = environments_.Remove(request.query.Get("image"));
    return removed ? Json({{"removed", request.query.Get("image")}}) : Trouble(removed.error());
  }
  return {.status = 405, .body = "{}"};
}

api::Response OwnViews::AddEnvironment(const api::Request& request) {
  const auto image = Asked(request, "image");
  const auto path = Asked(request, "path");
  if (!image) return Trouble(image.error());
  if (!path) return Trouble(path.error());
  if (const auto may = MayServe(*path); !may) return Trouble(may.error());
  const auto added = environments_.Add(*image, *path);
  return added ? Json(Shown(*added), 201) : Trouble(added.error());
}

// An environment that no job could start is not taken.
base::Result<void> OwnViews::MayServe(const std::string& prefix) const {
  if (!run_as_) return {};
  TRY(const std::string usable, environments_.WithPython(prefix));
  return agent::MayExecuteAs(*run_as_, usable + "/bin/python");
}

api::Response OwnViews::Backup(const api::Request& request) const {
  const auto path = Asked(request, "path");
  if (!path) return Trouble(path.error());
  const auto done = store_.Backup(*path);
  return done ? Json({{"path", *path}}) : Trouble(done.error());
}

}  // namespace pondage::cmd
