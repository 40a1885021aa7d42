#include "agent/environments.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <filesystem>
#include <system_error>
#include <utility>

#include "image/reference.h"
#include "manifest/object.h"
#include "manifest/pod.h"
#include "run/touching.h"
#include "shim/descriptor.h"
#include "shim/files.h"

namespace pondage::agent {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFileLimit = 4u << 20;
constexpr std::size_t kAnswerLimit = 64u << 10;
constexpr int kPatienceMs = 60'000;
constexpr std::string_view kLocal = "local/";

// Metadata only: importing TensorFlow takes seconds.
constexpr const char* kQuestion = R"(
import json, platform
from importlib import metadata
def version(*names):
    for name in names:
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            pass
    return ""
print(json.dumps({"python": platform.python_version(),
                  "tensorflow": version("tensorflow", "tensorflow-cpu", "tensorflow-gpu", "tf-nightly"),
                  "keras": version("keras")}))
)";

base::Error Unusable(const std::string& prefix, const std::string& why) {
  return {base::Kind::kInvalid, "PND-E003", prefix, why};
}

// What the program prints; none when it cannot be started, fails, or takes too long.
std::optional<std::string> Ask(const std::string& python) {
  int pipe[2];
  if (pipe2(pipe, O_CLOEXEC) != 0) return std::nullopt;
  const shim::Descriptor output(pipe[0]);
  shim::Descriptor input(pipe[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, input.get(), 1);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  // -I: the caller's variables and directory are not the environment's.
  std::array<char*, 5> argv{const_cast<char*>(python.c_str()), const_cast<char*>("-I"),
                            const_cast<char*>("-c"), const_cast<char*>(kQuestion), nullptr};
  std::array<char*, 2> environment{const_cast<char*>("PATH=/usr/bin:/bin"), nullptr};
  pid_t child = 0;
  const int error =
      posix_spawn(&child, python.c_str(), &actions, nullptr, argv.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return std::nullopt;
  input = shim::Descriptor();

  std::string answer;
  std::array<char, 4096> block;
  pollfd readable{output.get(), POLLIN, 0};
  while (answer.size() < kAnswerLimit && poll(&readable, 1, kPatienceMs) == 1) {
    const ssize_t size = read(output.get(), block.data(), block.size());
    if (size <= 0) break;
    answer.append(block.data(), static_cast<std::size_t>(size));
  }
  kill(child, SIGKILL);  // what has closed its output has said everything
  int status = 0;
  waitpid(child, &status, 0);
  return answer;
}

std::string Text(const boost::json::object& object, std::string_view key) {
  const auto* const value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
}

boost::json::object Encode(const Environment& environment) {
  return {{"image", environment.image},
          {"prefix", environment.prefix},
          {"python", environment.python},
          {"tensorflow", environment.tensorflow},
          {"keras", environment.keras}};
}

Environment Decode(const boost::json::object& object) {
  return {Text(object, "image"), Text(object, "prefix"), Text(object, "python"),
          Text(object, "tensorflow"), Text(object, "keras")};
}

// One writer at a time, over processes.
class FileLock {
 public:
  explicit FileLock(const std::string& path)
      : file_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    while (file_ && flock(file_.get(), LOCK_EX) != 0 && errno == EINTR) {
    }
  }

 private:
  shim::Descriptor file_;
};

base::Result<std::string> NameOf(std::string_view image) {
  if (image.starts_with(kLocal)) return std::string(image);
  TRY(const image::Reference reference, image::Parse(image));
  return reference.Short();
}

}  // namespace

std::string TextOf(const Environment& environment) {
  std::string versions = "Python " + environment.python;
  if (!environment.tensorflow.empty()) versions += ", TensorFlow " + environment.tensorflow;
  if (!environment.keras.empty()) versions += ", Keras " + environment.keras;
  return environment.prefix + " (" + versions + ")";
}

base::Result<Environment> ProbeEnvironment(const std::string& prefix) {
  const std::string python = prefix + "/bin/python";
  if (!prefix.starts_with('/')) return std::unexpected(Unusable(prefix, "is no absolute path"));
  if (access(python.c_str(), X_OK) != 0) {
    return std::unexpected(Unusable(prefix, "has no bin/python that may be executed"));
  }
  const auto answer = Ask(python);
  const auto parsed = manifest::ParseJson(answer.value_or(""));
  if (!parsed || !parsed->is_object() || Text(parsed->get_object(), "python").empty()) {
    return std::unexpected(Unusable(prefix, "its Python cannot be started"));
  }
  Environment found = Decode(parsed->get_object());
  found.prefix = prefix;
  return found;
}

base::Result<Environment> Environments::Add(std::string_view image, const std::string& prefix) {
  TRY(const std::string name, NameOf(image));
  std::error_code error;
  const std::string plain = fs::path(prefix).lexically_normal().string();
  TRY(const std::string usable,
      WithPython(plain.ends_with('/') ? plain.substr(0, plain.size() - 1) : plain));
  TRY(Environment added, ProbeEnvironment(usable));
  added.image = name;
  fs::create_directories(data_dir_ + "/environments", error);
  const FileLock lock(data_dir_ + "/environments/lock");
  TRY(auto all, List());
  for (Environment& one : all) {
    if (one.image != name) continue;
    if (one.prefix != added.prefix) {
      return base::Fail(base::Kind::kAlreadyExists, "PND-E005", name,
                        "is registered with " + one.prefix);
    }
    one = added;  // versions may have changed
    TRY_DO(Keep(all));
    return added;
  }
  all.push_back(added);
  std::ranges::sort(all, {}, &Environment::image);
  TRY_DO(Keep(all));
  return added;
}

base::Result<std::string> Environments::WithPython(const std::string& prefix) const {
  if (!prefix.starts_with('/')) return std::unexpected(Unusable(prefix, "is no absolute path"));
  const run::Touching touching(prefix);
  if (access((prefix + "/bin/python").c_str(), X_OK) == 0) return prefix;
  if (access((prefix + "/bin/python3").c_str(), X_OK) == 0)
    return PrefixOf(prefix + "/bin/python3");
  return std::unexpected(Unusable(prefix, "has no bin/python or bin/python3 that may be executed"));
}

base::Result<std::string> Environments::PrefixOf(const std::string& interpreter) const {
  const fs::path path = fs::path(interpreter).lexically_normal();
  std::error_code error;
  if (!path.is_absolute() || access(path.c_str(), X_OK) != 0) {
    return std::unexpected(Unusable(interpreter, "is no program that may be executed"));
  }
  const fs::path prefix = path.parent_path().parent_path();
  const bool own =
      fs::exists(prefix / "pyvenv.cfg", error) || fs::exists(prefix / "conda-meta", error);
  if (own && path.parent_path().filename() == "bin" && fs::exists(prefix / "bin/python", error)) {
    return prefix.string();
  }
  const fs::path links =
      fs::path(data_dir_) / "environments" / manifest::UidFrom(path.string()).substr(0, 8);
  fs::create_directories(links / "bin", error);
  for (const char* name : {"python", "python3"}) {
    fs::create_symlink(path, links / "bin" / name, error);
  }
  if (access((links / "bin/python").c_str(), X_OK) != 0) {
    return std::unexpected(Unusable(interpreter, "cannot be linked below the data directory"));
  }
  return links.string();
}

base::Result<void> Environments::Remove(std::string_view image) {
  TRY(const std::string name, NameOf(image));
  const FileLock lock(data_dir_ + "/environments/lock");
  TRY(auto all, List());
  if (std::erase_if(all, [&](const Environment& one) { return one.image == name; }) == 0) {
    return base::Fail(base::Kind::kNotFound, "PND-E001", name, "is not registered");
  }
  return Keep(all);
}

base::Result<void> Environments::Keep(const std::vector<Environment>& environments) const {
  boost::json::array rows;
  for (const Environment& one : environments) rows.push_back(Encode(one));
  if (shim::ReplaceFile(File(), boost::json::serialize(rows) + "\n")) return {};
  return base::Fail(base::Kind::kUnavailable, "PND-E003", File(), "cannot be written");
}

base::Result<std::vector<Environment>> Environments::List() const {
  const auto bytes = shim::ReadFile(File(), kFileLimit);
  if (!bytes) return std::vector<Environment>{};
  const auto parsed = manifest::ParseJson(*bytes);
  if (!parsed || !parsed->is_array()) {
    return base::Fail(base::Kind::kCorrupt, "PND-E003", File(), "is not what was written");
  }
  std::vector<Environment> environments;
  for (const boost::json::value& row : parsed->get_array()) {
    if (row.is_object()) environments.push_back(Decode(row.get_object()));
  }
  return environments;
}

base::Result<Environment> Environments::For(std::string_view image) const {
  TRY(const auto all, List());
  const bool local = image.starts_with(kLocal);
  std::optional<image::Reference> asked;
  if (!local) {
    TRY(image::Reference reference, image::Parse(image));
    asked = std::move(reference);
  }
  std::string there;
  for (const Environment& one : all) {
    if (local && one.image == image) return one;
    const auto offered = image::Parse(one.image);
    if (asked && offered && !one.image.starts_with(kLocal) && image::Serves(*offered, *asked))
      return one;
    if (!one.image.starts_with(kLocal)) there += (there.empty() ? "" : ", ") + one.image;
  }
  return base::Fail(base::Kind::kNotFound, "PND-E001", std::string(image),
                    "no environment serves it" + (there.empty() ? "" : "; there are: " + there));
}

}  // namespace pondage::agent
