// The page of `pondage top`: GPUs with bars, owners and jobs; then the jobs.
//
// Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "base/instant.h"
#include "terminal/screen.h"
#include "view/pool_view.h"

namespace pondage::view {

enum class TopOrder { kName, kGpus, kAge, kUser };

struct TopState {
  bool show_gpus = true, show_jobs = true, help = false;
  TopOrder order = TopOrder::kName;
  std::size_t chosen = 0;    // row of the job list
  std::size_t scrolled = 0;  // first line of the body that is shown
  std::string stale;         // since when the server is away; empty: live
};

// Lines no wider than the screen; `height` 0: all of them.
std::vector<std::string> TopLines(const PoolView& pool, const TopState& state,
                                  const terminal::Screen& screen, base::Instant now, int height);

// The last levels of load as small bars, oldest first.
std::string Sparkline(const std::vector<int>& percents, bool ascii);

}  // namespace pondage::view
