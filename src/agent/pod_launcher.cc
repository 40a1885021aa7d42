#include "agent/pod_launcher.h"

#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <exception>
#include <filesystem>
#include <string_view>
#include <utility>

#include "agent/reach.h"
#include "agent/replica_env.h"
#include "agent/volumes.h"
#include "base/assert.h"
#include "manifest/annotations.h"
#include "manifest/object.h"
#include "run/touching.h"

namespace pondage::agent {
namespace {

const boost::json::object& Member(const boost::json::object& object, std::string_view name) {
  static const boost::json::object kEmpty;
  const auto* const member = object.if_contains(name);
  return member != nullptr && member->is_object() ? member->get_object() : kEmpty;
}

std::string Text(const boost::json::object& object, std::string_view name) {
  const auto* const member = object.if_contains(name);
  return member != nullptr && member->is_string() ? std::string(member->get_string()) : "";
}

std::optional<int> Number(std::string_view text) {
  int number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
  return number;
}

base::Error Refused(base::Kind kind, const char* id, const std::string& object,
                    const std::string& why) {
  return {kind, id, object, why};
}

bool IsVirtualEnvironment(const std::string& prefix) {
  const run::Touching touching(prefix);
  return access((prefix + "/pyvenv.cfg").c_str(), R_OK) == 0;
}

}  // namespace

// What of a Pod's metadata its launch needs.
struct PodLauncher::Pod {
  std::string uid, space, job;
  boost::json::object annotations;

  static base::Result<Pod> Read(const std::string& body) {
    TRY(const auto parsed, manifest::ParseJson(body));
    if (!parsed.is_object()) {
      return std::unexpected(Refused(base::Kind::kInvalid, "PND-R007", "the Pod", "is no object"));
    }
    const auto& metadata = Member(parsed.get_object(), "metadata");
    Pod pod{Text(metadata, "uid"), Text(metadata, "namespace"),
            Text(Member(metadata, "labels"), manifest::kJobName), Member(metadata, "annotations")};
    if (pod.uid.empty()) {
      return std::unexpected(Refused(base::Kind::kInvalid, "PND-R007", "the Pod", "has no uid"));
    }
    return pod;
  }
};

PodLauncher::PodLauncher(LaunchSettings settings, DataOf data_of)
    : settings_(std::move(settings)),
      data_of_(std::move(data_of)),
      data_dir_(settings_.data_dir),
      environments_(settings_.data_dir),
      copies_(settings_.data_dir),
      claims_(settings_.data_dir),
      server_(OwnAccount()) {
  REQUIRE(settings_.data_dir.starts_with('/'));
}

// A Pod may name its interpreter's directory itself (`pondage run` of another account does): that
// is no more than its command could do.
base::Result<Environment> PodLauncher::EnvironmentOf(const std::string& own_prefix,
                                                     const std::string& image) const {
  if (own_prefix.empty()) return environments_.For(image);
  Environment named;
  named.image = image;
  TRY(named.prefix, environments_.WithPython(own_prefix));
  return named;
}

base::Result<void> PodLauncher::MayUse(const std::string& own_prefix,
                                       const std::string& image) const {
  TRY(const Environment environment, EnvironmentOf(own_prefix, image));
  if (!settings_.run_as || server_.user != 0) return {};
  return MayExecuteAs(*settings_.run_as, environment.prefix + "/bin/python");
}

base::Result<void> PodLauncher::MayAsk(const manifest::RoleAsk& ask) const {
  const auto refuse = [](const std::string& path, const base::Error& why) {
    return base::Fail(why.kind, why.id, path, why.object + " " + why.message);
  };
  if (const auto chosen = Choose(server_, settings_.run_as, ask.account); !chosen)
    return refuse(ask.path + ".securityContext", chosen.error());
  for (const manifest::RoleAsk::Mount& mount : ask.mounts) {
    const auto stands = MayStandAt(mount.target, data_dir_);
    if (!stands) return refuse(mount.path + ".mountPath", stands.error());
    if (mount.host_path.empty()) continue;
    const auto shown = MayShow(mount.host_path, data_dir_);
    if (!shown) return refuse(mount.path, shown.error());
  }
  return {};
}

// Whatever stands in one Pod, or on the disk that its paths lead to, ends this launch alone.
base::Result<port::Launch> PodLauncher::LaunchOf(const std::string& pod_body, int start) {
  try {
    return MakeLaunch(pod_body, start);
  } catch (const std::exception& trouble) {
    return std::unexpected(
        Refused(base::Kind::kUnavailable, "PND-R007", "the Pod", trouble.what()));
  }
}

base::Result<port::Launch> PodLauncher::MakeLaunch(const std::string& pod_body, int start) {
  TRY(const Pod pod, Pod::Read(pod_body));
  const auto read = [&](const std::string& kind, const std::string& name) {
    return data_of_(kind, pod.space, name);
  };
  TRY(manifest::PodProgram program, manifest::ProgramOf(pod_body, read));
  TRY(const Environment environment,
      EnvironmentOf(Text(pod.annotations, kEnvironment), program.image));
  TRY(const Account account, Choose(server_, settings_.run_as, program.account));
  const bool changes_account = ChangesAccount(server_, settings_.run_as, program.account);
  // Else another `python3` further down its PATH would run in silence.
  if (changes_account) {
    TRY_DO(MayExecuteAs(account, environment.prefix + "/bin/python"));
  }
  const VolumePlace place{
      data_dir_, pod.uid, pod.space, account, changes_account, start, program.account.fs_group};

  port::Launch launch;
  launch.uid = pod.uid;
  launch.start = start;
  launch.argv = std::move(program.argv);
  TRY(auto mounts, MakeVolumes(program, place, read));
  launch.mounts = std::move(mounts);
  for (const port::Mount& mount : settings_.mounts) {
    if (std::ranges::find(launch.mounts, mount.target, &port::Mount::target) ==
        launch.mounts.end()) {
      launch.mounts.push_back(mount);
    }
  }
  launch.working_dir = program.working_dir;
  if (launch.working_dir.empty()) {
    TRY(auto scratch, MakeScratch(place));
    launch.working_dir = std::move(scratch);
  }
  if (changes_account && copies_.Belongs(launch.working_dir, pod.space, pod.job)) {
    TRY_DO(copies_.Give(launch.working_dir, account));
  }
  if (changes_account) {
    launch.user_id = account.user;
    launch.group_id = account.group;
    launch.group_ids = account.groups;
    launch.group_ids->insert(launch.group_ids->begin(), account.group);
  }
  launch.no_new_privileges = program.account.no_new_privileges;
  launch.memory_limit = program.memory_limit;
  launch.cpu_limit = program.cpu_limit;
  launch.pids_limit = settings_.pids_limit;
  launch.log_cap = settings_.log_cap;
  if (const auto port = Number(Text(pod.annotations, manifest::kPort)); port && *port > 0)
    launch.ports = {*port};

  ReplicaEnv wanted;
  wanted.pod = std::move(program.env);
  wanted.prefix = environment.prefix;
  wanted.is_virtual_environment = IsVirtualEnvironment(environment.prefix);
  wanted.account = account;
  wanted.python_dir = settings_.python_dir;
  launch.env = MakeEnv(wanted);
  if (const auto found = launch.env.find("PONDAGE_CHECKPOINT_DIR"); found != launch.env.end()) {
    launch.checkpoint_dir = OnThisMachine(found->second, launch.mounts);
  }
  return launch;
}

std::string PodLauncher::ServedBy(const std::string& image) {
  const auto environment = environments_.For(image);
  return environment ? TextOf(*environment) : "";
}

// The annotation is the author's word: it is taken only for what `pondage run` made for this very
// job.
void PodLauncher::Discard(const std::string& job_body) {
  const auto job = manifest::ParseJson(job_body);
  if (!job || !job->is_object()) return;
  const boost::json::object& metadata = Member(job->get_object(), "metadata");
  const std::filesystem::path copy = Text(Member(metadata, "annotations"), manifest::kWorkDir);
  if (copies_.Belongs(copy, Text(metadata, "namespace"), Text(metadata, "name")))
    copies_.Discard(copy);
}

}  // namespace pondage::agent
