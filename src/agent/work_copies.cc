#include "agent/work_copies.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <system_error>

#include "agent/access_list.h"
#include "agent/discard.h"
#include "run/replica_dir.h"

namespace pondage::agent {
namespace {

namespace fs = std::filesystem;

constexpr int kMostEntries = 250'000;  // more than `pondage run` copies

// Only what is its owner's, who may exchange files while they are walked over; and no file with a
// second name, which may lie where the account has no business.
bool GiveOne(const fs::path& path, uid_t owner, const Account& account) {
  const run::Descriptor file(open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat status{};
  if (!file || fstat(file.get(), &status) != 0) return false;
  if (status.st_uid != owner) return true;
  if (!S_ISDIR(status.st_mode) && status.st_nlink > 1) return true;
  if (owner != 0) LetRead(file.get(), status, owner);  // results are whose who asked for them
  return fchownat(file.get(), "", account.user, account.group, AT_EMPTY_PATH) == 0;
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
  struct stat status{};
  if (lstat(copy.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return {};  // no copy
  if (status.st_uid == account.user) return {};
  std::error_code error;
  bool given = true;
  int entries = 0;
  for (fs::recursive_directory_iterator entry(copy, error), end; !error && entry != end;
       entry.increment(error)) {
    given = ++entries <= kMostEntries && GiveOne(entry->path(), status.st_uid, account);
    if (!given) break;
  }
  if (error || !given || !GiveOne(copy, status.st_uid, account)) {
    return base::Fail(base::Kind::kUnavailable, "PND-R006", copy.string(),
                      "cannot be given to " + account.name);
  }
  return {};
}

void WorkCopies::Discard(const fs::path& copy) const {
  DiscardTree(CopyOf(copy));
}

}  // namespace pondage::agent
