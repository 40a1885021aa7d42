#include "agent/discard.h"

#include <chrono>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "run/errands.h"

namespace pondage::agent {
namespace {

namespace fs = std::filesystem;

constexpr const char* kGone = ".gone-";

// One thread, and few more where removing hangs. Where none can be had, what is to go lies in wait
// until the next is sent, or the next server starts. It lives as long as the process: nobody waits
// for it to end.
run::Errands& Removals() {
  static auto* const removals =
      new run::Errands({.at_once = 1, .at_most = 4, .hung = std::chrono::minutes(1)});
  return *removals;
}

void RemoveAll(std::vector<fs::path> gone) {
  if (gone.empty()) return;
  Removals().Run([gone = std::move(gone)] {
    std::error_code ignored;
    for (const fs::path& one : gone) fs::remove_all(one, ignored);
  });
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
