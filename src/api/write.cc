#include "api/write.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "api/admit.h"
#include "api/body.h"
#include "api/fields.h"
#include "api/meta.h"
#include "api/patch.h"
#include "api/read.h"
#include "api/render.h"
#include "manifest/object.h"

namespace pondage::api {

namespace json = boost::json;
using manifest::Kind;

namespace {

constexpr int kTries = 6;
constexpr std::string_view kJsonPatch = "application/json-patch+json";
constexpr std::string_view kMergePatch = "application/merge-patch+json";
constexpr std::string_view kStrategicPatch = "application/strategic-merge-patch+json";
constexpr std::string_view kApplyPatch = "application/apply-patch+yaml";

// One write of a client, until it is answered.
struct Task {
  Request request;
  Route route;
  const World& world;
  Reply reply;
  Presentation presentation;
  bool dry_run = false;
  FieldValidation validation = FieldValidation::kWarn;
  Warnings warnings;
  int tries = 0;
};
using TaskPtr = std::shared_ptr<Task>;

// Clients bound what they read of a header: warnings are at most so long together. Where they would
// be longer each is cut short, and some find no room.
Warnings Bounded(const Warnings& warnings) {
  constexpr std::size_t kTogether = 4 << 10;
  constexpr std::size_t kEach = 256;
  std::size_t size = 0;
  for (const std::string& text : warnings) size += text.size();
  if (size <= kTogether) return warnings;
  Warnings told;
  size = 0;
  for (const std::string& text : warnings) {
    std::size_t end = std::min(text.size(), kEach);
    while (end < text.size() && (text[end] & 0xC0) == 0x80) --end;  // not within a character
    std::string start = text.substr(0, end);
    size += start.size();
    if (size > kTogether) break;
    told.push_back(std::move(start));
  }
  if (told.size() < warnings.size()) told.emplace_back("more warnings are left out");
  return told;
}

void Answer(const Task& task, const port::Object& object, int status) {
  Response response =
      Present(*task.route.kind, object, task.presentation, task.world.now(), status);
  for (std::string text : Bounded(task.warnings)) {
    for (std::size_t at = 0; (at = text.find_first_of("\"\\", at)) != std::string::npos; at += 2) {
      text.insert(at, 1, '\\');
    }
    response.headers.emplace_back("Warning", fmt::format("299 - \"{}\"", text));
  }
  task.reply(std::move(response));
}

// The parts of a request that every write has. Null: it was refused.
TaskPtr Begin(Request request, Route route, const World& world, Reply reply) {
  auto presentation = PresentationOf(request);
  const auto dry_run = DryRun(request);
  const auto validation = FieldValidationOf(request);
  std::optional<Problem> problem;
  if (!presentation) problem = presentation.error();
  if (!dry_run) problem = dry_run.error();
  if (!validation) problem = validation.error();
  if (problem) {
    reply(ToResponse(*problem));
    return nullptr;
  }
  return std::make_shared<Task>(Task{.request = std::move(request),
                                     .route = std::move(route),
                                     .world = world,
                                     .reply = std::move(reply),
                                     .presentation = *std::move(presentation),
                                     .dry_run = *dry_run,
                                     .validation = *validation,
                                     .warnings = {}});
}

void Fail(const Task& task, const Problem& problem) {
  task.reply(ToResponse(problem));
}

Outcome<void> Validated(Task& task, json::object& object, const json::object* old) {
  auto unknown =
      CheckFields(*task.route.kind, object, old, task.validation, task.route.verb == Verb::kPatch);
  if (!unknown) return Refuse(unknown.error());
  task.warnings = *std::move(unknown);
  auto warnings = Admit(*task.route.kind, object, old, task.world);
  if (!warnings) return Refuse(warnings.error());
  task.warnings.insert(task.warnings.end(), warnings->begin(), warnings->end());
  if (task.route.kind->kind == "TFJob") {
    ClaimUser(object, old, task.request.identity, task.warnings);
  }
  return {};
}

port::Write WriteOf(const Task& task, port::Write::Op op, const json::object& object) {
  port::Write write;
  write.op = op;
  write.change = ChangeOf(*task.route.kind, object);
  write.dry_run = task.dry_run;
  write.user = task.request.identity.name;
  return write;
}

// --- create ---

// What comes with a namespace: its default ServiceAccount, as clients expect.
port::Change ServiceAccountOf(const World& world, const std::string& space) {
  const Kind& kind = *manifest::FindKind("", "serviceaccounts");
  Route route;
  route.kind = &kind;
  route.space = space;
  json::object account{
      {"apiVersion", "v1"}, {"kind", kind.kind}, {"metadata", {{"name", "default"}}}};
  const auto fine = PrepareCreate(account, route, world.now(), UuidFrom(RandomHex(16)), "");
  PROMISE(fine);
  return ChangeOf(kind, account);
}

Outcome<json::object> NewObject(Task& task) {
  if (task.world.admit_new) {
    if (const auto taken = task.world.admit_new(); !taken)
      return Refuse(FromError(taken.error(), *task.route.kind, task.route.name));
  }
  auto object = DecodeObject(task.request, *task.route.kind);
  if (!object) return Refuse(object.error());
  if (task.route.kind->has_status) object->erase("status");
  const std::string random = RandomHex(16);
  if (auto fine = PrepareCreate(*object, task.route, task.world.now(), UuidFrom(RandomHex(16)),
                                NameTail(random + random));
      !fine) {
    return Refuse(fine.error());
  }
  const std::string name(object->at("metadata").at("name").as_string());
  if (auto fine = AdmitCreation(task.route, name); !fine) return Refuse(fine.error());
  if (auto fine = AdmitNamespace(task.route, task.world); !fine) return Refuse(fine.error());
  if (auto fine = Validated(task, *object, nullptr); !fine) return Refuse(fine.error());
  return object;
}

void TryCreate(const TaskPtr& task) {
  task->warnings.clear();
  auto object = NewObject(*task);
  if (!object) return Fail(*task, object.error());
  const bool generated = object->at("metadata").as_object().contains("generateName");
  task->route.name = std::string(object->at("metadata").at("name").as_string());
  port::Write write = WriteOf(*task, port::Write::Op::kCreate, *object);
  if (task->route.kind->kind == "Namespace") {
    write.with.push_back(ServiceAccountOf(task->world, task->route.name));
  }
  task->world.writer.Submit(std::move(write), [task,
                                               generated](base::Result<port::Written> written) {
    if (written) return Answer(*task, written->object, 201);
    if (generated && written.error().kind == base::Kind::kAlreadyExists && ++task->tries < kTries) {
      return task->world.post([task] { TryCreate(task); });
    }
    Problem problem = FromError(written.error(), *task->route.kind, task->route.name);
    if (generated && problem.code == 409) problem.retry_after_s = 1;
    Fail(*task, problem);
  });
}

// --- replace and patch ---

// What the object becomes, from what it is; with the revision that the client insists on.
struct Updated {
  json::object object;
  std::optional<port::Revision> insists;
};

Outcome<Updated> Replaced(Task& task) {
  auto object = DecodeObject(task.request, *task.route.kind);
  if (!object) return Refuse(object.error());
  auto revision = TakeRevision(*object);
  if (!revision) return Refuse(revision.error());
  const bool needed = task.route.kind->custom || task.route.kind->plural == "leases";
  if (needed && !*revision) {
    return Refuse(Invalid(*task.route.kind, task.route.name,
                          {{job::FieldErrorKind::kInvalid, "metadata.resourceVersion",
                            "Invalid value: 0x0: must be specified for an update"}}));
  }
  return Updated{*std::move(object), *revision};
}

Outcome<json::value> PatchDocument(const Task& task) {
  auto patch = manifest::ParseJson(task.request.body);
  if (!patch) return Refuse(BadRequest("error decoding patch: " + patch.error().message));
  return *std::move(patch);
}

Outcome<Updated> Patched(Task& task, const port::Object& stored, const json::object& old) {
  auto patch = PatchDocument(task);
  if (!patch) return Refuse(patch.error());
  const std::string& type = task.request.content_type;
  Updated updated;
  if (type == kJsonPatch) {
    auto result = JsonPatch(old, *patch);
    if (!result) return Refuse(result.error());
    if (!result->is_object()) return Refuse(BadRequest("the patch leaves no object"));
    updated.object = std::move(result->get_object());
  } else {
    if (!patch->is_object()) return Refuse(BadRequest("the patch is no JSON object"));
    if (type == kMergePatch) {
      updated.object = MergePatch(old, *patch).as_object();
    } else {
      auto result = StrategicMerge(*task.route.kind, old, patch->get_object());
      if (!result) return Refuse(result.error());
      updated.object = *std::move(result);
    }
  }
  // The old revision stood in `old`: only another one is the client's.
  auto revision = TakeRevision(updated.object);
  if (!revision) return Refuse(revision.error());
  if (*revision && **revision != stored.revision) updated.insists = *revision;
  const bool says = patch->is_object() && patch->get_object().contains("metadata") &&
                    patch->get_object().at("metadata").is_object() &&
                    patch->get_object().at("metadata").get_object().contains("resourceVersion");
  if (says && *revision) updated.insists = *revision;
  return updated;
}

Outcome<void> CheckKind(const Kind& kind, const json::object& object) {
  const json::value* version = object.if_contains("apiVersion");
  const json::value* name = object.if_contains("kind");
  if (version && name && *version == json::value(ApiVersionOf(kind)) &&
      *name == json::value(kind.kind)) {
    return {};
  }
  return Refuse(BadRequest("apiVersion and kind of an object do not change"));
}

// Only the status of a write to /status counts, and never that of any other.
void SplitStatus(const Task& task, json::object& object, const json::object& old) {
  if (!task.route.kind->has_status) return;
  if (task.route.subresource == "status") {
    json::object whole = old;
    if (json::value* status = object.if_contains("status")) {
      whole["status"] = std::move(*status);
    } else {
      whole.erase("status");
    }
    object = std::move(whole);
    object.at("metadata").as_object().erase("resourceVersion");
    return;
  }
  if (const json::value* status = old.if_contains("status")) {
    object["status"] = *status;
  } else {
    object.erase("status");
  }
}

bool HasFinalizers(const json::object& object) {
  const auto* list = object.at("metadata").as_object().if_contains("finalizers");
  return list && list->is_array() && !list->get_array().empty();
}

void TryUpdate(const TaskPtr& task);

void OnUpdated(const TaskPtr& task, bool retry, base::Result<port::Written> written) {
  if (!written && retry && written.error().kind == base::Kind::kConflict &&
      ++task->tries < kTries) {
    return task->world.post([task] { TryUpdate(task); });
  }
  if (!written) return Fail(*task, FromError(written.error(), *task->route.kind, task->route.name));
  Answer(*task, written->object, 200);
}

Outcome<Updated> Update(Task& task, const port::Object& stored, const json::object& old) {
  const bool is_patch = task.route.verb == Verb::kPatch;
  auto updated = is_patch ? Patched(task, stored, old) : Replaced(task);
  if (!updated) return updated;
  if (updated->insists && *updated->insists != stored.revision) {
    return Refuse(Moved(*task.route.kind, task.route.name));
  }
  if (auto fine = CheckKind(*task.route.kind, updated->object); !fine) return Refuse(fine.error());
  SplitStatus(task, updated->object, old);
  if (auto fine = PrepareUpdate(updated->object, old, task.route, is_patch); !fine) {
    return Refuse(fine.error());
  }
  if (task.route.subresource == "status") return updated;
  const json::value* deleting = old.at("metadata").as_object().if_contains("deletionTimestamp");
  if (deleting && HasFinalizers(updated->object) && !HasFinalizers(old)) {
    return Refuse(Invalid(*task.route.kind, task.route.name,
                          {{job::FieldErrorKind::kForbidden, "metadata.finalizers",
                            "Forbidden: no new finalizers can be added if the object is being "
                            "deleted"}}));
  }
  if (auto fine = Validated(task, updated->object, &old); !fine) return Refuse(fine.error());
  return updated;
}

void TryUpdate(const TaskPtr& task) {
  task->warnings.clear();
  const auto stored = task->world.store.Get(KeyOf(task->route));
  if (!stored) return Fail(*task, FromError(stored.error(), *task->route.kind, task->route.name));
  const json::object old = Parsed(*stored);
  auto updated = Update(*task, *stored, old);
  if (!updated) return Fail(*task, updated.error());
  json::object before = old;
  before.at("metadata").as_object().erase("resourceVersion");
  if (updated->object == before) return Answer(*task, *stored, 200);  // nothing changes
  port::Write write = WriteOf(*task, port::Write::Op::kReplace, updated->object);
  write.expected = stored->revision;
  write.expected_uid = stored->uid;
  write.status_only = task->route.subresource == "status";
  const bool retry = !updated->insists;
  task->world.writer.Submit(std::move(write), [task, retry](base::Result<port::Written> written) {
    OnUpdated(task, retry, std::move(written));
  });
}

Outcome<void> CheckPatchType(const Request& request, const Kind& kind) {
  const std::string& type = request.content_type;
  if (type == kApplyPatch) {
    return Refuse(
        UnsupportedMedia("server-side apply is not supported by this server yet: use client-side "
                         "apply (kubectl apply "
                         "without --server-side), or a merge patch"));
  }
  if (type == kJsonPatch || type == kMergePatch || (type == kStrategicPatch && !kind.custom))
    return {};
  return Refuse(UnsupportedMedia(fmt::format(
      "the body of the request was in an unknown format - accepted media types include: {}, {}{}{}",
      kJsonPatch, kMergePatch, kind.custom ? "" : ", ", kind.custom ? "" : kStrategicPatch)));
}

}  // namespace

void Create(Request request, Route route, const World& world, Reply reply) {
  if (const TaskPtr task = Begin(std::move(request), std::move(route), world, std::move(reply))) {
    TryCreate(task);
  }
}

void Replace(Request request, Route route, const World& world, Reply reply) {
  if (const TaskPtr task = Begin(std::move(request), std::move(route), world, std::move(reply))) {
    if (task->route.subresource == "status") {
      if (const auto fine = AdmitStatus(task->route); !fine) return Fail(*task, fine.error());
    }
    TryUpdate(task);
  }
}

void Patch(Request request, Route route, const World& world, Reply reply) {
  const TaskPtr task = Begin(std::move(request), std::move(route), world, std::move(reply));
  if (!task) return;
  if (const auto fine = CheckPatchType(task->request, *task->route.kind); !fine) {
    return Fail(*task, fine.error());
  }
  if (task->request.query.Has("force")) {
    return Fail(*task,
                Unprocessable("PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden: may "
                              "not be specified for non-apply patch"));
  }
  if (task->route.subresource == "status") {
    if (const auto fine = AdmitStatus(task->route); !fine) return Fail(*task, fine.error());
  }
  TryUpdate(task);
}

}  // namespace pondage::api
