#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <set>
#include <system_error>

#include "client/apply.h"
#include "client/create.h"
#include "client/kube.h"
#include "client/manifest_file.h"
#include "cmd/context.h"
#include "cmd/mains.h"
#include "manifest/annotations.h"
#include "phrase/phrase.h"
#include "submission/work_copy.h"
#include "terminal/trouble.h"

namespace pondage::cmd {
namespace {

namespace fs = std::filesystem;

using manifest::kWorkDir;

// The images of a job by tag: what they stand for may have changed. One with a digest may not, and
// a replica that names its interpreter itself runs with that one.
std::set<std::string> TagsOf(const json::value& job) {
  std::set<std::string> tags;
  for (const auto& [role, spec] : client::Members(job, {"spec", "tfReplicaSpecs"})) {
    if (client::Find(spec, {"template", "metadata", "annotations", "pondage.dev/environment"}))
      continue;
    for (const json::value& container : client::Items(spec, {"template", "spec", "containers"})) {
      const std::string image = client::Text(container, {"image"});
      if (client::Text(container, {"name"}) == "tensorflow" && !image.contains('@'))
        tags.insert(image);
    }
  }
  return tags;
}

// Under --same-digest each tag is served by what served it when the job was bound, or PND-E006;
// without, a warning tells what is different.
base::Result<void> CheckServed(Context& context, client::Client& client, const json::value& job) {
  const terminal::Screen& screen = context.screen();
  const bool same = context.line().Has("same-digest");
  for (const std::string& image : TagsOf(job)) {
    const std::string then = client::Text(job, {"status", "pondage", "environments", image});
    if (then.empty() && !same) continue;
    TRY(const json::value info,
        client.Get("/pondage/v1/info?image=" + client::PercentEncode(image)));
    const std::string now = client::Text(info, {"servedBy"});
    if (!then.empty() && now == then) continue;
    const std::string text = phrase::Fill(
        screen.Pick("image {image} is served by {now}; when job {job} ran, by {then}",
                    "镜像 {image} 现在对应 {now}; 作业 {job} 运行时对应 {then}"),
        {{"image", image},
         {"job", client::Text(job, {"metadata", "name"})},
         {"now", now.empty() ? screen.Pick("nothing", "无") : now},
         {"then", then.empty() ? screen.Pick("what was not recorded", "未记录的环境") : then}});
    if (same) return base::Fail(base::Kind::kForbidden, "PND-E006", "", text);
    context.Warn(text);
  }
  return {};
}

// Where the job runs, if that is a working copy of the pool's. Empty: it is not.
base::Result<fs::path> CopyOf(client::Client& client, const json::value& job) {
  const fs::path copy = client::Text(job, {"metadata", "annotations", kWorkDir});
  if (copy.empty()) return copy;
  TRY(const json::value info, client.Get("/pondage/v1/info"));
  const std::string folder = submission::CopiesOf(client::Text(info, {"dataDir"}));
  return copy.parent_path() == folder ? copy : fs::path();
}

// The job of another account, or a pool on another machine: why its copy cannot be copied from
// here. Empty: it can.
std::string WhyNotHere(const fs::path& copy) {
  std::error_code error;
  const fs::directory_iterator reads(copy, error);
  if (error) return fmt::format("cannot read {}: {}", copy.string(), error.message());
  const std::string folder = copy.parent_path().string();
  if (access(folder.c_str(), W_OK | X_OK) == 0) return "";
  return fmt::format("cannot write in {}: {}", folder,
                     std::error_code(errno, std::generic_category()).message());
}

void TellShared(Context& context, const std::string& old, const std::string& why) {
  const terminal::Screen& screen = context.screen();
  const std::string text = phrase::Fill(
      screen.Pick("the new job runs in the working copy of {old}, and deleting {old} takes it away",
                  "新作业在 {old} 的工作副本中运行, 删除 {old} 会一并删除该副本"),
      {{"old", old}});
  context.Warn(why.empty() ? text : why + "; " + text);
}

// The new job gets a copy of what lies in the old one's working copy now, which goes with the old
// one. Nothing where it runs elsewhere: in a directory of the user's own, or in the old copy, where
// that was asked for or cannot be read from here.
base::Result<std::unique_ptr<submission::WorkCopy>> CopyOfCopy(Context& context,
                                                               client::Client& client,
                                                               const json::value& job) {
  std::unique_ptr<submission::WorkCopy> copy;
  TRY(const fs::path old, CopyOf(client, job));
  if (old.empty()) return copy;
  const std::string name = client::Text(job, {"metadata", "name"});
  const bool asked = context.line().Has("share-copy");
  const std::string why = asked ? "" : WhyNotHere(old);
  if (asked || !why.empty()) {
    TellShared(context, name, why);
    return copy;
  }
  TRY(const auto limit, context.line().Size("copy-limit"));
  TRY(auto plan, submission::PlanCopyOfCopy(old.string(), limit.value_or(submission::kCopyLimit)));
  copy = std::make_unique<submission::WorkCopy>(
      old.parent_path().string(), client::Text(job, {"metadata", "namespace"}), std::move(plan));
  return copy;
}

}  // namespace

base::Result<int> RerunMain(Context& context) {
  TRY(client::Client * client, context.Server());
  TRY(const std::string space, context.Space());
  const std::string& old = context.line().words[0];
  TRY(const json::value object, client->Get(client::TfJobPath(space, old)));
  TRY_DO(CheckServed(context, *client, object));
  json::object again{{"apiVersion", "kubeflow.org/v1"},
                     {"kind", "TFJob"},
                     {"spec", *client::Find(object, {"spec"})}};
  json::object metadata{{"namespace", space}};
  json::object annotations = client::Members(object, {"metadata", "annotations"});
  annotations.erase(client::kLastApplied);
  annotations.erase("pondage.dev/idempotency-key");
  annotations.erase("pondage.dev/request-digest");
  annotations["pondage.dev/rerun-of"] = old;
  metadata["annotations"] = std::move(annotations);
  if (const auto& labels = client::Members(object, {"metadata", "labels"}); !labels.empty())
    metadata["labels"] = labels;
  if (json::value* policy = again["spec"].as_object().if_contains("runPolicy");
      policy != nullptr && policy->is_object()) {
    policy->as_object()["suspend"] = false;
  }
  std::string name = context.line().Value("name");
  const bool chosen = !name.empty();
  if (!chosen) {
    TRY(const auto present, client::ListAll(*client, client::TfJobPath(space)));
    name = client::NextName(client::NumberlessStem(old), present);
  }
  TRY(const auto copy, CopyOfCopy(context, *client, object));
  const std::string old_copy = client::Text(object, {"metadata", "annotations", kWorkDir});
  const auto offer = [&](const std::string& wanted) -> base::Result<void> {
    metadata["name"] = wanted;
    again["metadata"] = metadata;
    json::object job = again;
    if (copy) {
      TRY_DO(copy->BelongTo(wanted));
      submission::MoveJob(job, old_copy, copy->PathFor(wanted));
    }
    client::Creation creation = client::Create(*client, client::TfJobPath(space), std::move(job));
    if (copy && (creation.outcome || creation.may_exist)) copy->Keep();
    return std::move(creation.outcome);
  };
  TRY(name, client::UnderFreeName(name, chosen, offer));
  context.NoteWarnings();
  context.PrintMade(space, name);
  context.Note(fmt::format(fmt::runtime(context.screen().Pick("now: pondage logs -f {}\n",
                                                              "接下来: pondage logs -f {}\n")),
                           name));
  return terminal::kDone;
}

}  // namespace pondage::cmd
