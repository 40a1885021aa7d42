#include "agent/discard.h"

#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace pondage::agent {
namespace {

namespace fs = std::filesystem;

constexpr const char* kGone = ".gone-";

void RemoveAll(std::vector<fs::path> gone) {
  if (gone.empty()) return;
  std::thread([gone = std::move(gone)] {
    std::error_code ignored;
    for (const fs::path& one : gone) fs::remove_all(one, ignored);
  }).detach();
}

}  // namespace

void DiscardTree(const fs::path& tree) {
  const fs::path gone = tree.parent_path() / (kGone + tree.filename().string());
  std::error_code error;
  fs::rename(tree, gone, error);
  if (!error) RemoveAll({gone});
}

bool IsDiscarded(const fs::path& entry) {
  return entry.filename().string().starts_with(kGone);
}

void FinishDiscards(const fs::path& folder) {
  std::vector<fs::path> gone;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (IsDiscarded(entry->path())) gone.push_back(entry->path());
  }
  RemoveAll(std::move(gone));
}

}  // namespace pondage::agent
