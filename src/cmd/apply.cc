// apply, delete and rerun: whole objects sent to the server.
#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <iostream>
#include <iterator>

#include "client/kube.h"
#include "client/manifest_file.h"
#include "cmd/context.h"
#include "cmd/mains.h"
#include "manifest/kinds.h"
#include "session/follow.h"
#include "terminal/ask.h"
#include "terminal/text.h"
#include "terminal/trouble.h"
#include "view/job_view.h"

namespace pondage::cmd {
namespace {

using base::Fail;
using base::Kind;

// What `apply` last sent, so that a field taken out of the file is taken out of the object, too.
// The name is kubectl's: both can work on the same object in turn.
constexpr const char* kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

// The merge patch (RFC 7386) that leads from `live` to what `wanted` says, and takes away what only
// `last` said. An empty object: nothing to do.
json::object Difference(const json::object& wanted, const json::object& live,
                        const json::object& last, int depth) {
  json::object patch;
  for (const auto& [key, value] : wanted) {
    const json::value* present = live.if_contains(key);
    if (present != nullptr && *present == value) continue;
    if (present == nullptr || !present->is_object() || !value.is_object() || depth > 60) {
      patch[key] = value;
      continue;
    }
    const json::value* before = last.if_contains(key);
    json::object inner =
        Difference(value.get_object(), present->get_object(),
                   before != nullptr && before->is_object() ? before->get_object() : json::object(),
                   depth + 1);
    if (!inner.empty()) patch[key] = std::move(inner);
  }
  for (const auto& [key, value] : last) {
    if (!wanted.contains(key) && live.contains(key)) patch[key] = nullptr;
  }
  return patch;
}

struct Applied {
  std::string what;  // "tfjob/mnist"
  const char* did;   // "created", "changed", "unchanged"
};

base::Result<Applied> ApplyOne(client::Client& client, json::object object,
                               const std::string& space, bool dry_run) {
  TRY(const client::ObjectPlace place, client::PlaceOf(object, space));
  const std::string query = dry_run ? "?dryRun=All" : "";
  const std::string text = json::serialize(object);
  auto live = client.Get(place.object_path);
  if (!live) {
    if (live.error().kind != Kind::kNotFound) return std::unexpected(live.error());
    if (!object.contains("metadata")) object["metadata"] = json::object();
    json::object& metadata = object["metadata"].as_object();
    if (!metadata.contains("annotations") || !metadata["annotations"].is_object()) {
      metadata["annotations"] = json::object();
    }
    metadata["annotations"].as_object()[kLastApplied] = text + "\n";
    TRY_DO(client.Post(place.list_path + query, object));
    return Applied{place.shown, "created"};
  }
  json::object last;
  const std::string remembered = client::Text(*live, {"metadata", "annotations", kLastApplied});
  if (auto parsed = client::ParseReply(remembered, "annotation"); parsed && parsed->is_object()) {
    last = parsed->get_object();
  }
  json::object patch = Difference(object, live->as_object(), last, 0);
  if (patch.empty()) return Applied{place.shown, "unchanged"};
  if (!patch.contains("metadata")) patch["metadata"] = json::object();
  json::object& metadata = patch["metadata"].as_object();
  if (!metadata.contains("annotations") || !metadata["annotations"].is_object()) {
    metadata["annotations"] = json::object();
  }
  metadata["annotations"].as_object()[kLastApplied] = text + "\n";
  TRY_DO(client.MergePatch(place.object_path + query, patch));
  return Applied{place.shown, "changed"};
}

const char* DidWord(const terminal::Screen& screen, std::string_view did) {
  if (did == "created") return screen.Pick("created", "已创建");
  if (did == "changed") return screen.Pick("changed", "已修改");
  return screen.Pick("unchanged", "无变化");
}

}  // namespace

base::Result<int> ApplyMain(Context& context) {
  const grammar::Invocation& line = context.line();
  if (!line.Has("filename")) {
    return Fail(Kind::kInvalid, "PND-C002", "", "apply needs -f FILE (- is stdin)");
  }
  TRY(client::Client * client, context.Server());
  TRY(const std::string space, context.Space());
  std::string followed;
  std::string followed_space = space;
  for (const std::string& file : line.Values("filename")) {
    TRY(auto objects, client::ReadManifests(file));
    for (json::object& object : objects) {
      const bool is_job = client::Text(object, {"kind"}) == "TFJob";
      const std::string name = client::Text(object, {"metadata", "name"});
      const std::string own_space = client::Text(object, {"metadata", "namespace"});
      TRY(const Applied applied, ApplyOne(*client, std::move(object), space, line.Has("dry-run")));
      context.NoteWarnings();
      if (is_job && followed.empty()) {
        followed = name;
        if (!own_space.empty()) followed_space = own_space;
      }
      if (context.screen().format == terminal::Format::kName) {
        context.Print(applied.what + "\n");
      } else if (context.screen().format == terminal::Format::kJson) {
        context.Print(
            json::serialize(json::object{{"name", applied.what}, {"result", applied.did}}) + "\n");
      } else {
        context.Print(
            fmt::format("{} {}{}\n", applied.what, DidWord(context.screen(), applied.did),
                        line.Has("dry-run") ? context.screen().Pick(" (dry run)", " (演练)") : ""));
      }
    }
  }
  if (!line.Has("follow") || line.Has("dry-run") || followed.empty()) return terminal::kDone;
  return session::FollowJob(*client, context.screen(), followed_space, followed);
}

namespace {

base::Result<void> DeleteOne(Context& context, client::Client& client, const std::string& list_path,
                             const std::string& name, const std::string& shown) {
  json::object options{{"propagationPolicy", "Background"}};
  if (context.line().Has("now")) options["gracePeriodSeconds"] = 0;
  TRY_DO(client.Delete(list_path + "/" + client::PercentEncode(name), options));
  context.Print(fmt::format("{} {}\n", shown, context.screen().Pick("deleted", "已删除")));
  return {};
}

}  // namespace

base::Result<int> DeleteMain(Context& context) {
  const grammar::Invocation& line = context.line();
  if (line.words.empty() && !line.Has("filename")) {
    return Fail(Kind::kInvalid, "PND-C002", "", "delete needs names of jobs, or -f FILE");
  }
  TRY(client::Client * client, context.Server());
  TRY(const std::string space, context.Space());
  std::vector<std::string> running;
  for (const std::string& name : line.words) {
    TRY(const json::value object, client->Get(client::TfJobPath(space, name)));
    const view::JobView job = view::ViewJob(object);
    if (job.state == view::JobState::kRunning || job.state == view::JobState::kStarting)
      running.push_back(name);
  }
  if (!running.empty() && context.screen().in_is_terminal && context.screen().err_is_terminal &&
      !line.Has("yes")) {
    TRY(const bool sure, terminal::Ask(context.screen(),
                                       fmt::format(fmt::runtime(context.screen().Pick(
                                                       "{} is running; delete it with its logs?",
                                                       "{} 正在运行; 连同日志一起删除?")),
                                                   terminal::Join(running, ", ")),
                                       false));
    if (!sure) return terminal::kNegative;
  }
  for (const std::string& name : line.words) {
    TRY_DO(DeleteOne(context, *client, client::TfJobPath(space), name, "tfjob/" + name));
  }
  for (const std::string& file : line.Values("filename")) {
    TRY(const auto objects, client::ReadManifests(file));
    for (const json::object& object : objects) {
      TRY(const client::ObjectPlace place, client::PlaceOf(object, space));
      TRY_DO(DeleteOne(context, *client, place.list_path,
                       client::Text(object, {"metadata", "name"}), place.shown));
    }
  }
  return terminal::kDone;
}

base::Result<int> RerunMain(Context& context) {
  TRY(client::Client * client, context.Server());
  TRY(const std::string space, context.Space());
  const std::string& old = context.line().words[0];
  TRY(const json::value object, client->Get(client::TfJobPath(space, old)));
  json::object again{{"apiVersion", "kubeflow.org/v1"},
                     {"kind", "TFJob"},
                     {"spec", *client::Find(object, {"spec"})}};
  json::object metadata{{"namespace", space}};
  json::object annotations = client::Members(object, {"metadata", "annotations"});
  annotations.erase(kLastApplied);
  annotations.erase("pondage.dev/idempotency-key");
  annotations["pondage.dev/rerun-of"] = old;
  metadata["annotations"] = std::move(annotations);
  if (const auto& labels = client::Members(object, {"metadata", "labels"}); !labels.empty())
    metadata["labels"] = labels;
  if (json::value* policy = again["spec"].as_object().if_contains("runPolicy");
      policy != nullptr && policy->is_object()) {
    policy->as_object()["suspend"] = false;
  }
  const std::string stem = client::NumberlessStem(old);
  TRY(const auto present, client::ListAll(*client, client::TfJobPath(space)));
  std::string name = context.line().Value("name");
  const bool chosen = !name.empty();
  if (!chosen) name = client::NextName(stem, present);
  for (int attempt = 0;; ++attempt) {
    metadata["name"] = name;
    again["metadata"] = metadata;
    auto made = client->Post(client::TfJobPath(space), again);
    if (made) break;
    if (chosen || made.error().kind != Kind::kAlreadyExists || attempt > 20)
      return std::unexpected(made.error());
    name = fmt::format("{}-{}", stem, client::NumberOf(name) + 1);
  }
  context.NoteWarnings();
  context.Print(name + "\n");
  context.Note(fmt::format(fmt::runtime(context.screen().Pick("now: pondage logs -f {}\n",
                                                              "接下来: pondage logs -f {}\n")),
                           name));
  return terminal::kDone;
}

}  // namespace pondage::cmd
