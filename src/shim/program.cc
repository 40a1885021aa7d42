#include "shim/program.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace pondage::shim {
namespace {

enum class Step : int { kGroup, kAccount, kDirectory, kOutput, kExec, kOrphan };

// What the child tells before it ends: it fits a pipe's atomic write.
struct Failure {
  Step step = Step::kExec;
  int error = 0;
};

[[noreturn]] void FailChild(int pipe, Step step, int error) {
  const Failure failure{step, error};
  [[maybe_unused]] const ssize_t written = write(pipe, &failure, sizeof(failure));
  _exit(127);
}

bool WriteFile(const std::string& path, std::string_view text) {
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool written = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int error = errno;
  close(file);
  errno = error;
  return written;
}

// By `tasks` where there is one (version 1): a thread that moves itself, here the only one, need
// not wait for all processors as a whole process must, which takes 10 ms and more.
bool Join(const std::string& group) {
  return WriteFile(group + "/tasks", "0") ||
         (errno == ENOENT && WriteFile(group + "/cgroup.procs", "0"));
}

// As fork(), with the child born in the group where the kernel can (version 2), for the same
// reason. `joined` says whether it was.
pid_t ForkInto(const Spec& spec, bool& joined) {
  if (!spec.kill_file.empty() && spec.cgroups.size() == 1) {
    const int group = open(spec.cgroups.front().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    clone_args how{};
    how.flags = CLONE_INTO_CGROUP;
    how.exit_signal = SIGCHLD;
    how.cgroup = static_cast<std::uint64_t>(group);
    joined = true;
    const auto child = group < 0 ? -1 : static_cast<pid_t>(syscall(SYS_clone3, &how, sizeof(how)));
    if (group >= 0) close(group);
    if (child >= 0) return child;
  }
  joined = false;
  return fork();
}

void SetLimits() {
  rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);  // a core of a training is tens of gigabytes
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
  }
  WriteFile("/proc/self/oom_score_adj", "300");  // it goes before the shim and the server
}

void DefaultSignals() {
  struct sigaction action{};
  action.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) sigaction(signal, &action, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

bool TakeAccount(const Spec& spec) {
  if (spec.group || spec.user) {
    std::vector<gid_t> groups(spec.groups.begin(), spec.groups.end());
    if (setgroups(groups.size(), groups.data()) != 0) return false;
  }
  if (spec.group) {
    const auto group = static_cast<gid_t>(*spec.group);
    if (setresgid(group, group, group) != 0) return false;
  }
  if (spec.user) {
    const auto user = static_cast<uid_t>(*spec.user);
    if (setresuid(user, user, user) != 0) return false;
  }
  return !spec.no_new_privileges || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (const std::string& text : strings) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

struct Prepared {
  std::vector<std::string> candidates;
  std::vector<char*> argv;
  std::vector<char*> env;
};

// A pipe or terminal that root made: without, /dev/stdout cannot be opened by name.
void Give(int stream, const Spec& spec, bool terminal) {
  struct stat there{};
  if (!spec.user || fstat(stream, &there) != 0) return;
  if (!S_ISFIFO(there.st_mode) && !(terminal && S_ISCHR(there.st_mode))) return;
  [[maybe_unused]] const int given = fchown(stream, static_cast<uid_t>(*spec.user), gid_t(-1));
}

bool TakeStreams(const Spec& spec, const Streams& streams) {
  const int in = streams.in >= 0 ? streams.in : open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (in < 0 || dup2(in, 0) < 0 || dup2(streams.out, 1) < 0 || dup2(streams.err, 2) < 0)
    return false;
  for (const int stream : {0, 1, 2}) Give(stream, spec, streams.terminal);
  return !streams.terminal || ioctl(0, TIOCSCTTY, 0) == 0;
}

[[noreturn]] void Child(const Spec& spec, const Prepared& prepared, const Streams& streams,
                        bool joined, int report, pid_t shim) {
  setsid();
  for (const std::string& group : spec.cgroups) {
    if (!joined && !Join(group)) FailChild(report, Step::kGroup, errno);
  }
  SetLimits();
  if (!TakeStreams(spec, streams)) FailChild(report, Step::kOutput, errno);
  umask(022);
  if (!TakeAccount(spec)) FailChild(report, Step::kAccount, errno);
  if (!spec.working_dir.empty() && chdir(spec.working_dir.c_str()) != 0) {
    FailChild(report, Step::kDirectory, errno);
  }
  // After the change of account, which clears it. The parent may have gone in between.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != shim) FailChild(report, Step::kOrphan, 0);
  DefaultSignals();

  int error = ENOENT;
  for (const std::string& candidate : prepared.candidates) {
    execve(candidate.c_str(), prepared.argv.data(), prepared.env.data());
    if (errno == ENOENT || errno == ENOTDIR) {
      struct stat there{};
      // The file is there, so what is missing is the interpreter that its first line names.
      if (stat(candidate.c_str(), &there) == 0) error = ENOEXEC;
      continue;
    }
    error = errno;
    if (errno != EACCES) break;
  }
  FailChild(report, Step::kExec, error);
}

StartFailure Describe(const Spec& spec, const Failure& failure) {
  const std::string why = std::strerror(failure.error);
  switch (failure.step) {
    case Step::kGroup:
      return {128, "cannot join its control group: " + why};
    case Step::kAccount:
      return {128, "cannot take the account of its user: " + why, "PND-R008"};
    case Step::kDirectory:
      return {128, "cannot enter its working directory " + spec.working_dir + ": " + why,
              "PND-R006"};
    case Step::kOutput:
      return {128, "cannot set up its output: " + why};
    case Step::kOrphan:
      return {128, "its shim ended while it started"};
    case Step::kExec:
      break;
  }
  const std::string& name = spec.argv.front();
  switch (failure.error) {
    case ENOENT:
      return {127, "no program " + name + " was found", "PND-R002"};
    case EACCES:
      return {126, name + " may not be executed", "PND-R003"};
    case ENOEXEC:
      return {126, name + " cannot be executed: its first line names no usable interpreter",
              "PND-R003"};
    default:
      return {128, "cannot start " + name + ": " + why};
  }
}

}  // namespace

std::vector<std::string> Candidates(const Spec& spec) {
  const std::string& name = spec.argv.front();
  if (name.contains('/')) return {name};
  if (name.empty()) return {};
  std::string_view path = "/usr/local/bin:/usr/bin:/bin";
  for (const std::string& variable : spec.env) {
    if (variable.starts_with("PATH=")) path = std::string_view(variable).substr(5);
  }
  std::vector<std::string> candidates;
  while (true) {
    const std::size_t colon = path.find(':');
    const std::string_view directory = path.substr(0, colon);
    candidates.push_back(std::string(directory.empty() ? "." : directory) + "/" + name);
    if (colon == std::string_view::npos) return candidates;
    path.remove_prefix(colon + 1);
  }
}

Forked ForkProgram(const Spec& spec, const Streams& streams) {
  Prepared prepared{Candidates(spec), Pointers(spec.argv), Pointers(spec.env)};
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) return {};
  const pid_t shim = getpid();
  bool joined = false;
  const pid_t child = ForkInto(spec, joined);
  if (child == 0) {
    close(report[0]);
    Child(spec, prepared, streams, joined, report[1], shim);
  }
  const int error = errno;
  close(report[1]);
  if (child < 0) close(report[0]);
  errno = error;
  return child < 0 ? Forked{} : Forked{child, report[0]};
}

std::optional<StartFailure> WhyNot(const Spec& spec, int report) {
  Failure failure;
  if (read(report, &failure, sizeof(failure)) != sizeof(failure)) return std::nullopt;
  return Describe(spec, failure);
}

StartedProgram StartProgram(const Spec& spec, int output) {
  const Forked forked = ForkProgram(spec, {-1, output, output, false});
  if (forked.pid < 0) {
    return {0, StartFailure{128, std::string("cannot fork: ") + std::strerror(errno)}};
  }
  auto failure = WhyNot(spec, forked.report);
  close(forked.report);
  return {forked.pid, std::move(failure)};
}

}  // namespace pondage::shim
