#include "agent/claims.h"

#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <system_error>

#include "agent/discard.h"
#include "manifest/needs.h"
#include "run/replica_dir.h"

namespace pondage::agent {
namespace {

namespace fs = std::filesystem;

fs::path Folder(const std::string& data_dir) {
  return fs::path(data_dir) / "persistent";
}

// Directories; what is none, a link among them, is nobody's data.
std::vector<fs::path> Inside(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->symlink_status(error).type() == fs::file_type::directory)
      entries.push_back(entry->path());
  }
  std::ranges::sort(entries);
  return entries;
}

}  // namespace

Claims::Claims(const std::string& data_dir) : data_dir_(data_dir) {
  FinishDiscards(Folder(data_dir_));
}

fs::path Claims::Of(const std::string& data_dir, const std::string& uid) {
  return Folder(data_dir) / uid;
}

bool Claims::IsUid(const std::string& uid) {
  return run::ReplicaDir::IsName(uid);
}

void Claims::Drop(const std::string& uid) const {
  if (IsUid(uid)) DiscardTree(Of(data_dir_, uid));
}

std::vector<std::string> Claims::Unowned(const port::Store& store) const {
  std::map<std::string, fs::path> unowned;
  for (const fs::path& entry : Inside(Folder(data_dir_))) {
    if (!IsDiscarded(entry)) unowned[entry.filename().string()] = entry;
  }
  port::ListQuery query{.kind = manifest::StorageOf(job::Need::Kind::kClaim), .limit = 500};
  while (!unowned.empty()) {
    const auto page = store.List(query);
    if (!page) return {};  // whose they are cannot be told
    for (const port::Object& claim : page->objects) unowned.erase(claim.uid);
    if (!page->more || page->objects.empty()) break;
    query.at = page->revision;
    query.after_space = page->objects.back().key.space;
    query.after_name = page->objects.back().key.name;
  }
  std::vector<std::string> sentences;
  sentences.reserve(unowned.size());
  for (const auto& [uid, path] : unowned) {
    sentences.push_back(path.string() +
                        " is the data of no PersistentVolumeClaim that the store knows; remove it "
                        "if nobody misses it");
  }
  return sentences;
}

std::vector<std::string> Claims::TakeOver(const port::Store& store) const {
  std::vector<std::string> left = Unowned(store);
  const fs::path by_name = fs::path(data_dir_) / "claims";
  std::error_code error;
  for (const fs::path& space : Inside(by_name)) {
    for (const fs::path& named : Inside(space)) {
      const std::string name = named.filename().string();
      const auto claim = store.Get(
          {manifest::StorageOf(job::Need::Kind::kClaim), space.filename().string(), name});
      if (claim && IsUid(claim->uid) && !fs::exists(Of(data_dir_, claim->uid), error)) {
        mkdir(Folder(data_dir_).c_str(), 0711);
        fs::rename(named, Of(data_dir_, claim->uid), error);
        if (!error) continue;
      }
      left.push_back(named.string() + " holds what jobs kept under the claim " + name +
                     " of namespace " + space.filename().string() +
                     (claim ? ", whose data lies elsewhere by now; move it where it belongs"
                            : ", which does not exist: make that PersistentVolumeClaim and start "
                              "the server again, and it has it"));
    }
    fs::remove(space, error);  // if nothing is left in it
  }
  fs::remove(by_name, error);
  return left;
}

}  // namespace pondage::agent
