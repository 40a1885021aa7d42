#include "run/starter.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "run/port_probe.h"
#include "run/spawn.h"
#include "shim/files.h"

namespace pondage::run {
namespace {

constexpr int kLowestDescriptor = 10;  // above the numbers that a shim is given (see Spawn)

shim::Descriptor MoveUp(shim::Descriptor descriptor) {
  return shim::Descriptor(fcntl(descriptor.get(), F_DUPFD_CLOEXEC, kLowestDescriptor));
}

// Words separated by zero bytes in a file of memory, as bubblewrap reads them.
shim::Descriptor Words(const std::vector<std::string>& words) {
  shim::Descriptor file(memfd_create("pondage-mounts", MFD_CLOEXEC));
  if (!file) return file;
  std::string bytes;
  for (const std::string& word : words) bytes.append(word).push_back('\0');
  if (write(file.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()) ||
      lseek(file.get(), 0, SEEK_SET) != 0) {
    return shim::Descriptor();
  }
  return MoveUp(std::move(file));
}

void AddMounts(const MountPlan& plan, shim::Spec& spec) {
  const auto text = [](const MountPlan::Expected& one) {
    return std::to_string(one.file.device) + " " + std::to_string(one.file.inode) + " " + one.path;
  };
  for (const MountPlan::Expected& one : plan.expected) spec.expected_files.push_back(text(one));
  for (const MountPlan::Volume& volume : plan.volumes) {
    spec.mounts.push_back((volume.read_only ? "ro " : "rw ") + text(volume.source) + '\0' +
                          volume.target);
  }
}

}  // namespace

Starter::Starter(RunnerSettings settings, Cgroups& cgroups, const port::Clock& clock)
    : settings_(std::move(settings)), cgroups_(cgroups), clock_(clock), boot_id_(shim::BootId()) {}

Starter::~Starter() {
  if (!short_sockets_.empty()) rmdir(short_sockets_.c_str());  // stays while a replica uses it
}

std::variant<pid_t, port::NotStarted> Starter::Start(const Prepared& prepared,
                                                     shim::Descriptor lock) {
  const port::Launch& launch = prepared.launch;
  const ReplicaDir directory(settings_.data_dir, launch.uid);
  directory.ForgetEnds();
  if (auto taken = PortsTaken(launch.ports); !taken.empty()) {
    port::NotStarted refusal{
        launch.uid, launch.start, "a port it needs is taken by another program", {}};
    refusal.ports_taken = std::move(taken);
    refusal.id = "PND-R001";
    return refusal;
  }
  auto spec = MakeSpec(prepared, directory);
  if (!spec) return port::Refused(launch.uid, launch.start, spec.error());
  if (!shim::ReplaceFile(directory.File("spec"), shim::Encode(*spec), false)) {
    cgroups_.Remove(launch.uid);
    return port::Refused(launch.uid, launch.start,
                         {base::Kind::kUnavailable, "PND-R007", directory.path(),
                          std::string("cannot be written: ") + std::strerror(errno)});
  }

  Spawn spawn{{settings_.shim}, directory.path(), directory.File("shim.err"), -1, -1};
  const shim::Descriptor lock_high = MoveUp(std::move(lock));
  spawn.lock = lock_high.get();
  shim::Descriptor words;
  if (!prepared.mounts.words.empty()) {
    words = Words(prepared.mounts.words);
    spawn.arguments = words.get();
    spawn.argv = {settings_.bwrap, "--args", "4", "--", settings_.shim};
  }
  auto child = SpawnShim(spawn);
  if (!child) {
    cgroups_.Remove(launch.uid);
    return port::Refused(launch.uid, launch.start, child.error());
  }
  return *child;
}

base::Result<shim::Spec> Starter::MakeSpec(const Prepared& prepared, const ReplicaDir& directory) {
  const port::Launch& launch = prepared.launch;
  TRY(Group group,
      cgroups_.Make(launch.uid, {launch.memory_limit, launch.cpu_limit, launch.pids_limit}));
  shim::Spec spec;
  spec.uid = launch.uid;
  spec.start = launch.start;
  spec.argv = launch.argv;
  spec.working_dir = launch.working_dir;
  spec.log_cap_bytes = launch.log_cap.value;
  spec.module_socket = ModuleSocket(launch, directory);
  spec.agent_socket = "../../agent.sock";
  spec.cgroups = std::move(group.directories);
  spec.oom_file = std::move(group.oom_file);
  spec.kill_file = std::move(group.kill_file);
  spec.freezer = std::move(group.freezer);
  spec.boot_id = boot_id_;
  spec.written_unix_ms = clock_.Now().unix_ms;
  spec.checkpoint_dir = launch.checkpoint_dir;
  AddMounts(prepared.mounts, spec);
  for (const auto& [name, value] : launch.env) {
    if (name != "PONDAGE_SOCKET" && name != "PONDAGE_POD") spec.env.push_back(name + "=" + value);
  }
  spec.env.push_back("PONDAGE_SOCKET=" + spec.module_socket);
  spec.env.push_back("PONDAGE_POD=" + launch.uid);
  spec.no_new_privileges = launch.no_new_privileges;
  if (launch.user_id) {
    spec.user = *launch.user_id;
    spec.group = launch.group_id.value_or(*launch.user_id);
    spec.groups.assign(prepared.groups.begin(), prepared.groups.end());
  } else if (launch.group_id) {
    spec.group = *launch.group_id;
    spec.groups = {*launch.group_id};
  }
  return spec;
}

std::string Starter::ModuleSocket(const port::Launch& launch, const ReplicaDir& directory) {
  const std::string path = directory.File("module.sock");
  if (path.size() < sizeof(sockaddr_un::sun_path)) return path;
  if (short_sockets_.empty()) {
    std::string name = "/tmp/pondage-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) return path;
    chmod(name.c_str(), 0711);
    short_sockets_ = name;
  }
  return short_sockets_ + "/" + launch.uid.substr(0, 60);
}

}  // namespace pondage::run
