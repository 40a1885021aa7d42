// Plays a workload in virtual time with the real pool, alone or inside the real server.
//
// One thread. Deterministic: the same workload, machines and options give the same bytes. Ends come
// before arrivals at one instant, and then the pool decides.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/instant.h"
#include "base/result.h"
#include "job/status.h"
#include "report/run.h"
#include "trace/workload.h"

namespace pondage::replay {

struct Progress {
  std::size_t finished = 0, jobs = 0;
  std::size_t waiting = 0, running = 0;
  base::Instant now;
};

// Why a job waits at one instant of a run.
struct Question {
  base::Instant at;
  std::string job;                         // by the workload's name
  std::optional<job::Reason> answer = {};  // none: it does not wait then, or nothing happens then
};

struct Options {
  std::uint64_t seed = 1;
  std::string name;  // of the run
  bool server =
      false;  // through the whole server: bytes, store and loop; the same decisions, slower
  std::function<void(const Progress&)> on_progress;  // now and then
  std::vector<Question>* questions = nullptr;        // ascending; answered on the way
};

// Requires a workload that passed trace::Check and has machines. Errors: jobs that a TFJob cannot
// say.
base::Result<report::Run> Play(const trace::Workload& workload, const Options& options);

// "18 x 8 + 4 x 2".
std::string MachinesText(const std::vector<trace::Machines>& fleet);

// Every queue alone on machines for its guarantee, of the kind of the first machines; what it was
// worth before there was a pool. Errors: also queues whose guarantee is no whole number of
// machines.
base::Result<report::Run> PlayIslands(const trace::Workload& workload, const Options& options);

}  // namespace pondage::replay
