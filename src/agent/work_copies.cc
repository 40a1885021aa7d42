#include "agent/work_copies.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "agent/access_list.h"
#include "agent/discard.h"
#include "run/touching.h"
#include "shim/descriptor.h"

namespace pondage::agent {
namespace {

namespace fs = std::filesystem;

constexpr int kMostEntries = 250'000;  // more than `pondage run` copies
constexpr std::size_t kDeepest = 128;  // directories in one another

// Members of a job give its copy at once, and the program of the first may run by then: what is
// gone meanwhile is no trouble.
bool IsGone(int error) {
  return error == ENOENT || error == ESTALE;
}

// Only what is its owner's, who may exchange files while they are walked over; and no file with a
// second name, which may lie where the account has no business.
bool GiveOne(int directory, const char* name, uid_t owner, const Account& account) {
  const shim::Descriptor file(openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat status{};
  if (!file || fstat(file.get(), &status) != 0) return IsGone(errno);
  if (status.st_uid != owner) return true;
  if (!S_ISDIR(status.st_mode) && status.st_nlink > 1) return true;
  if (owner != 0) LetRead(file.get(), status, owner);  // results are whose who asked for them
  return fchownat(file.get(), "", account.user, account.group, AT_EMPTY_PATH) == 0 || IsGone(errno);
}

struct Closes {
  void operator()(DIR* directory) const { closedir(directory); }
};
using Directory = std::unique_ptr<DIR, Closes>;

// No link is followed, also not one that has taken the place of a directory.
Directory Open(int at, const char* name) {
  shim::Descriptor file(openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  Directory opened(file ? fdopendir(file.get()) : nullptr);
  if (opened) file.Release();
  return opened;
}

bool MayBeDirectory(const dirent& entry) {
  return entry.d_type == DT_DIR || entry.d_type == DT_UNKNOWN;
}

bool GiveWhatIsIn(Directory top, uid_t owner, const Account& account) {
  std::vector<Directory> open;
  open.push_back(std::move(top));
  for (int entries = 0; !open.empty();) {
    errno = 0;
    const dirent* const entry = readdir(open.back().get());
    if (entry == nullptr) {
      if (errno != 0 && !IsGone(errno)) return false;
      open.pop_back();
      continue;
    }
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    const int at = dirfd(open.back().get());
    if (++entries > kMostEntries || !GiveOne(at, entry->d_name, owner, account)) return false;
    if (!MayBeDirectory(*entry)) continue;
    if (Directory inner = Open(at, entry->d_name)) {
      if (open.size() == kDeepest) return false;
      open.push_back(std::move(inner));
    } else if (!IsGone(errno) && errno != ENOTDIR && errno != ELOOP) {
      return false;
    }
  }
  return true;
}

}  // namespace

WorkCopies::WorkCopies(const std::string& data_dir) : folder_(fs::path(data_dir) / "work") {
  FinishDiscards(folder_);
}

fs::path WorkCopies::CopyOf(const fs::path& path) const {
  const fs::path inner = path.lexically_normal().lexically_relative(folder_);
  return inner.empty() || *inner.begin() == ".." || *inner.begin() == "."
             ? fs::path()
             : folder_ / *inner.begin();
}

std::set<fs::path> WorkCopies::Older(std::chrono::seconds age) const {
  std::set<fs::path> older;
  const auto limit = fs::file_time_type::clock::now() - age;
  std::error_code error;
  for (fs::directory_iterator entry(folder_, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code gone;
    const auto made = fs::last_write_time(entry->path(), gone);
    if (gone || made > limit || IsDiscarded(entry->path())) continue;
    older.insert(entry->path());
  }
  return older;
}

bool WorkCopies::Belongs(const fs::path& path, const std::string& space,
                         const std::string& job) const {
  const fs::path copy = CopyOf(path);
  const std::string name = copy.filename().string();
  const std::string prefix = space + "." + job + "-";
  // Letters alone behind it: not of a job `<job>-<more>`.
  return name.size() > prefix.size() && name.starts_with(prefix) &&
         name.find_first_of("-.", prefix.size()) == std::string::npos;
}

base::Result<void> WorkCopies::Give(const fs::path& path, const Account& account) const {
  const fs::path copy = CopyOf(path);
  const run::Touching touching(copy.string());
  struct stat status{};
  if (lstat(copy.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return {};  // no copy
  if (status.st_uid == account.user) return {};
  Directory top = Open(AT_FDCWD, copy.c_str());
  const bool given = top ? GiveWhatIsIn(std::move(top), status.st_uid, account) : IsGone(errno);
  if (!given || !GiveOne(AT_FDCWD, copy.c_str(), status.st_uid, account)) {
    return base::Fail(base::Kind::kUnavailable, "PND-R006", copy.string(),
                      "cannot be given to " + account.name);
  }
  return {};
}

void WorkCopies::Discard(const fs::path& copy) const {
  DiscardTree(CopyOf(copy));
}

}  // namespace pondage::agent
