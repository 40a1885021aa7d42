#include "agent/volumes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "agent/claims.h"
#include "agent/reach.h"
#include "base/mount_target.h"
#include "manifest/needs.h"
#include "run/touching.h"
#include "shim/descriptor.h"
#include "shim/files.h"

namespace pondage::agent {
namespace {

namespace fs = std::filesystem;
using Source = manifest::PodProgram::VolumeMount::Source;

base::Error Unusable(const std::string& target, const std::string& why) {
  return {base::Kind::kInvalid, "PND-R005", target, why};
}

// A path that stays below where it starts.
bool IsInner(const std::string& path) {
  const fs::path inner(path);
  return !inner.empty() && inner.is_relative() &&
         std::ranges::none_of(inner, [](const fs::path& part) { return part == ".."; });
}

base::Result<void> MakeDirectory(const fs::path& path, const VolumePlace& place,
                                 mode_t mode = 0755) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (mkdir(path.c_str(), mode) == 0) {
    if (place.give && chown(path.c_str(), place.account.user, place.account.group) != 0) {
      return std::unexpected(Unusable(path, "cannot be given to " + place.account.name));
    }
  } else if (errno != EEXIST) {
    return std::unexpected(Unusable(path, "cannot be made"));
  }
  return {};
}

// What is made in it is the group's as well; where it is so already, nothing is touched.
base::Result<void> Share(const shim::Descriptor& directory, const fs::path& path,
                         const VolumePlace& place) {
  struct stat status{};
  if (!place.group || !directory || fstat(directory.get(), &status) != 0) return {};
  constexpr mode_t kShared = S_ISGID | 0070;
  if (status.st_gid == *place.group && (status.st_mode & kShared) == kShared) return {};
  if (fchown(directory.get(), uid_t(-1), *place.group) == 0 &&
      fchmod(directory.get(), (status.st_mode & 07777) | kShared) == 0) {
    return {};
  }
  return std::unexpected(
      Unusable(path, "cannot be given to the group " + std::to_string(*place.group)));
}

shim::Descriptor OpenDirectory(const fs::path& path) {
  return shim::Descriptor(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// `inner` below `root`, made where it lacks if `make`. Jobs can write there: a symbolic link on the
// way would lead this account, which may be root, wherever they like.
base::Result<port::FileId> FindInner(const fs::path& root, const fs::path& inner, bool make,
                                     const VolumePlace& place) {
  shim::Descriptor at(open(root.c_str(), O_PATH | O_CLOEXEC));
  struct stat status{};
  for (const fs::path& part : inner.lexically_normal()) {
    if (part.empty() || part == ".") continue;
    const bool made = make && mkdirat(at.get(), part.c_str(), 0755) == 0;
    shim::Descriptor next(openat(at.get(), part.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (made && place.give &&
        fchownat(next.get(), "", place.account.user, place.account.group, AT_EMPTY_PATH) != 0) {
      return std::unexpected(Unusable(root / inner, "cannot be given to " + place.account.name));
    }
    if (made && place.group) {
      const shim::Descriptor open_to(
          openat(at.get(), part.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      TRY_DO(Share(open_to, root / inner, place));
    }
    at = std::move(next);
    if (at && fstat(at.get(), &status) == 0 && S_ISLNK(status.st_mode)) at = shim::Descriptor();
  }
  if (!at || fstat(at.get(), &status) != 0 || (make && !S_ISDIR(status.st_mode)))
    return std::unexpected(Unusable(root / inner, "passes through what is no directory"));
  return port::FileId{status.st_dev, status.st_ino};
}

base::Result<void> WriteFile(const fs::path& path, const std::string& bytes, mode_t mode,
                             const VolumePlace& place) {
  if (!shim::ReplaceFile(path, bytes, false))
    return std::unexpected(Unusable(path, "cannot be written"));
  if (chmod(path.c_str(), mode) != 0 ||
      (place.give && chown(path.c_str(), place.account.user, place.account.group) != 0)) {
    return std::unexpected(Unusable(path, "cannot be given to " + place.account.name));
  }
  return {};
}

// The chosen keys of a ConfigMap or Secret as files.
base::Result<void> WriteData(const manifest::PodProgram::VolumeMount& mount,
                             const fs::path& directory, const VolumePlace& place,
                             const manifest::DataOf& read) {
  const bool secret = mount.source == Source::kSecret;
  const auto data = read(secret ? "secrets" : "configmaps", mount.name);
  if (!data) {
    return std::unexpected(Unusable(mount.target, std::string(secret ? "Secret " : "ConfigMap ") +
                                                      mount.name + " does not exist"));
  }
  std::vector<std::pair<std::string, std::string>> items = mount.items;
  if (items.empty()) {
    for (const auto& [key, bytes] : *data) items.emplace_back(key, key);
  }
  for (const auto& [key, path] : items) {
    const auto found = data->find(key);
    if (found == data->end() || !IsInner(path)) {
      return std::unexpected(
          Unusable(mount.target, "key " + key + " of " + mount.name + " cannot be a file"));
    }
    const fs::path file = directory / path;
    if (file.parent_path() != directory) TRY_DO(MakeDirectory(file.parent_path(), place));
    TRY_DO(WriteFile(file, found->second, static_cast<mode_t>(mount.mode) & 0777, place));
  }
  return {};
}

// A directory of its own for each start: what the program before this one did to its files, a link
// among them, is not met again; and a start that is prepared twice (the server died in between)
// finds what its program may be reading already. It is the account's only once all is written.
base::Result<fs::path> MakeData(const manifest::PodProgram::VolumeMount& mount,
                                const fs::path& directory, const VolumePlace& place,
                                const manifest::DataOf& read) {
  const auto of_start = [&directory](int start) {
    return fs::path(directory.string() + "." + std::to_string(start));
  };
  const fs::path made = of_start(place.start);
  std::error_code error;
  if (fs::exists(made, error)) return made;
  fs::remove_all(of_start(place.start - 1), error);
  const fs::path fresh = made.string() + ".new";
  fs::remove_all(fresh, error);
  VolumePlace closed = place;
  closed.give = false;
  TRY_DO(MakeDirectory(fresh, closed, 0700));  // whatever modes the files ask for
  TRY_DO(WriteData(mount, fresh, place, read));
  if (place.give && chown(fresh.c_str(), place.account.user, place.account.group) != 0) {
    return std::unexpected(Unusable(made, "cannot be given to " + place.account.name));
  }
  fs::rename(fresh, made, error);
  if (error) return std::unexpected(Unusable(made, "cannot be made"));
  return made;
}

// Root's own, as long as no job's account had it, becomes the account's: a server that was told
// later whose account jobs run under goes on with what it has.
base::Result<void> GiveClaim(const fs::path& directory, const VolumePlace& place) {
  const shim::Descriptor file = OpenDirectory(directory);
  struct stat status{};
  if (!file || fstat(file.get(), &status) != 0)
    return std::unexpected(Unusable(directory, "cannot be read"));
  if (place.give && status.st_uid == geteuid() && place.account.user != geteuid() &&
      fchown(file.get(), place.account.user, place.account.group) != 0) {
    return std::unexpected(Unusable(directory, "cannot be given to " + place.account.name));
  }
  return Share(file, directory, place);
}

base::Result<fs::path> MakeClaim(const manifest::PodProgram::VolumeMount& mount,
                                 const VolumePlace& place, const manifest::DataOf& read) {
  const auto claim = read(manifest::StorageOf(job::Need::Kind::kClaim), mount.name);
  const auto uid =
      claim ? claim->find("uid") : std::map<std::string, std::string>::const_iterator{};
  if (!claim || uid == claim->end() || !Claims::IsUid(uid->second)) {
    return base::Fail(base::Kind::kNotFound, "PND-M008", mount.target,
                      "PersistentVolumeClaim " + mount.name + " does not exist");
  }
  const fs::path directory = Claims::Of(place.data_dir.given, uid->second);
  mkdir(directory.parent_path().c_str(), 0711);  // who may look into one is told which
  TRY_DO(MakeDirectory(directory, place));
  TRY_DO(GiveClaim(directory, place));
  return directory;
}

base::Result<fs::path> MakeSource(const manifest::PodProgram::VolumeMount& mount,
                                  std::size_t number, const VolumePlace& place,
                                  const manifest::DataOf& read) {
  const fs::path own = fs::path(place.data_dir.given) / "volumes" / place.pod_uid;
  switch (mount.source) {
    case Source::kHostPath:
      return fs::path(mount.host_path);
    case Source::kEmptyDir: {
      const fs::path directory = own / ("empty-" + mount.name);
      TRY_DO(MakeDirectory(directory, place));
      TRY_DO(Share(OpenDirectory(directory), directory, place));
      return directory;
    }
    case Source::kClaim:
      return MakeClaim(mount, place, read);
    case Source::kConfigMap:
    case Source::kSecret: {
      const fs::path directory = own / ("data-" + std::to_string(number));
      return MakeData(mount, directory, place, read);
    }
  }
  return std::unexpected(Unusable(mount.target, "has a source of an unusable name"));
}

struct HostType {
  const char* name;
  mode_t kind;
  const char* what;
  bool make;
};
constexpr HostType kHostTypes[] = {{"Directory", S_IFDIR, "directory", false},
                                   {"DirectoryOrCreate", S_IFDIR, "directory", true},
                                   {"File", S_IFREG, "file", false},
                                   {"FileOrCreate", S_IFREG, "file", true},
                                   {"Socket", S_IFSOCK, "socket", false}};

// Looked at as the account first: of what that may not see, it is told nothing.
base::Result<void> CheckHostPath(const manifest::PodProgram::VolumeMount& wanted,
                                 const VolumePlace& place) {
  const run::Touching touching(wanted.host_path);
  const auto reached = ReachAs(place.account, wanted.host_path);
  if (!reached && reached.error().kind == base::Kind::kForbidden) {
    return std::unexpected(
        Unusable(wanted.target, wanted.host_path + " " + reached.error().message));
  }
  std::error_code error;
  const fs::path real = fs::weakly_canonical(wanted.host_path, error);
  TRY_DO(MayShow(error ? wanted.host_path : real.string(), place.data_dir));
  const auto type = std::ranges::find(kHostTypes, wanted.host_type, &HostType::name);
  if (type == std::end(kHostTypes)) return {};
  if (reached && (reached->mode & S_IFMT) == type->kind) return {};
  if (reached || !type->make) {
    return std::unexpected(Unusable(wanted.target, "hostPath " + wanted.host_path + " is no " +
                                                       type->what + ", as type " +
                                                       wanted.host_type + " says"));
  }
  return MakeAs(place.account, wanted.host_path, type->kind == S_IFDIR);
}

// Where root mounts for somebody else, it mounts nothing that the account could not reach itself.
base::Result<port::FileId> ReachHostPath(const std::string& target, const fs::path& source,
                                         const VolumePlace& place) {
  auto reached = ReachAs(place.account, source);
  if (reached) return reached->file;
  return std::unexpected(Unusable(target, source.string() + " " + reached.error().message));
}

bool IsServers(const std::string& path, const DataDir& data_dir) {
  return std::ranges::any_of(std::array{data_dir.given, data_dir.real}, [&](const auto& whole) {
    const std::string copies = whole + "/work";
    return base::Covers(whole, path) && (!base::Covers(copies, path) || base::Covers(path, copies));
  });
}

base::Result<port::Mount> MakeMount(const manifest::PodProgram::VolumeMount& wanted,
                                    std::size_t number, const VolumePlace& place,
                                    const manifest::DataOf& read) {
  if (!wanted.sub_path.empty() && !IsInner(wanted.sub_path)) {
    return std::unexpected(
        Unusable(wanted.target, "subPath " + wanted.sub_path + " leaves its volume"));
  }
  TRY_DO(MayStandAt(wanted.target, place.data_dir));
  if (wanted.source == Source::kHostPath) {
    TRY_DO(CheckHostPath(wanted, place));
  }
  TRY(const fs::path volume, MakeSource(wanted, number, place, read));
  const fs::path source = wanted.sub_path.empty() ? volume : volume / wanted.sub_path;
  const bool data = wanted.source == Source::kConfigMap || wanted.source == Source::kSecret;
  port::Mount mount{source.string(), wanted.target, wanted.read_only || data};
  mount.own = data || wanted.source == Source::kEmptyDir;
  if (wanted.source != Source::kHostPath) {
    TRY(const port::FileId found, FindInner(volume, wanted.sub_path, !data, place));
    if (place.give) mount.expected = found;
  } else if (place.give) {
    TRY(mount.expected, ReachHostPath(wanted.target, source, place));
  }
  return mount;
}

}  // namespace

DataDir::DataDir(const fs::path& path) : given(path.string()), real(given) {
  std::error_code error;
  const fs::path found = fs::weakly_canonical(path, error);
  if (!error) real = found.string();
}

base::Result<void> MayStandAt(const std::string& target, const DataDir& data_dir) {
  if (base::HidesTheSystem(target))
    return std::unexpected(Unusable(target, "would hide the system's own files"));
  if (base::Covers(target, data_dir.given) || base::Covers(target, data_dir.real) ||
      IsServers(target, data_dir)) {
    return std::unexpected(Unusable(target, "would hide the server's own files"));
  }
  return {};
}

base::Result<void> MayShow(const std::string& host_path, const DataDir& data_dir) {
  if (!IsServers(host_path, data_dir)) return {};
  return std::unexpected(
      Unusable(host_path, "lies in the server's data directory, which is no volume"));
}

base::Result<std::vector<port::Mount>> MakeVolumes(const manifest::PodProgram& program,
                                                   const VolumePlace& place,
                                                   const manifest::DataOf& read) {
  std::vector<port::Mount> mounts;
  for (const auto& wanted : program.mounts) {
    TRY(auto mount, MakeMount(wanted, mounts.size(), place, read));
    mounts.push_back(std::move(mount));
  }
  return mounts;
}

base::Result<std::string> MakeScratch(const VolumePlace& place) {
  const fs::path directory = fs::path(place.data_dir.given) / "volumes" / place.pod_uid / "work";
  TRY_DO(MakeDirectory(directory, place));
  return directory.string();
}

std::string OnThisMachine(const std::string& given, const std::vector<port::Mount>& mounts) {
  std::string path = fs::path(given).lexically_normal().string();
  if (path.size() > 1 && path.ends_with('/')) path.pop_back();
  const port::Mount* nearest = nullptr;
  for (const port::Mount& mount : mounts) {
    const bool inside = path == mount.target || path.starts_with(mount.target + "/");
    if (inside && (nearest == nullptr || mount.target.size() > nearest->target.size()))
      nearest = &mount;
  }
  return nearest == nullptr ? path : nearest->source + path.substr(nearest->target.size());
}

}  // namespace pondage::agent
