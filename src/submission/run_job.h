// The TFJob that `pondage run` makes of a command, and the plan that people see of it.
//
// Pure; any thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"
#include "base/result.h"
#include "client/json.h"
#include "grammar/invocation.h"
#include "terminal/screen.h"
#include "view/job_view.h"

namespace pondage::submission {

namespace json = boost::json;

struct Mount {
  std::string source, target;
  bool read_only = false;
};

// What was asked for, checked, with defaults.
struct RunWish {
  std::string name;    // stem or full name, see RunName
  bool named = false;  // --name was given: no number is added
  std::vector<std::string> program;
  std::int64_t gpus = 0, workers = 1, parameter_servers = 0, restarts = 3;
  bool chief = false, evaluator = false, legacy_keras = false;
  std::string image, gpu_type, queue, priority, checkpoint_dir, key;
  std::optional<std::string> cpu;  // quantity
  std::optional<base::Bytes> memory, shm;
  std::optional<base::Millis> time;
  base::Millis grace{120'000};
  std::vector<std::pair<std::string, std::string>> env;
  std::vector<Mount> mounts;
};

// `environment`: for --env K without a value. `folder`: the present directory, that relative mount
// sources start from.
base::Result<RunWish> WishOf(const grammar::Invocation& line, const terminal::Surroundings& around,
                             const std::string& folder, const std::string& default_queue);

// What is known only when the job is sent.
struct RunPlace {
  std::string space;
  std::string user;
  std::string directory;    // working directory of the replicas
  std::string work_copy;    // the same when it is a copy; empty under --no-copy
  std::string environment;  // prefix of its Python, where it may not be registered
};
inline constexpr std::string_view kRequestDigest = "pondage.dev/request-digest";
json::object MakeTfJob(const RunWish& wish, const RunPlace& place);

// "train" of "python /x/train.py --lr 1": a DNS label of at most 40 letters.
std::string StemOf(const std::vector<std::string>& program);
// The file right behind `python`: "train.py" of "python train.py --lr 1"; empty when there is none
// (-m, -c, another program).
std::string ScriptOf(const std::vector<std::string>& program);
// The name that a key always gives, whatever is to be run: so that the same key with another
// command is seen to clash.
std::string KeyedName(const std::string& key);
// Whether two commands with the same key are the same: of the whole job that is asked for. The
// files of a working copy are not part of it.
std::string DigestOf(const RunWish& wish, const RunPlace& place);

struct PlanFacts {
  std::string program;  // which Python
  std::string copy;     // "12 files, 3.4 MiB -> /data/copies/mnist-7-x8d2k"
  std::string queue;    // "(guarantee 4, used 2, limit 8)"; may be empty
};
std::string PlanText(const RunWish& wish, const view::JobView& planned, const PlanFacts& facts,
                     const terminal::Screen& screen, base::Instant now);

}  // namespace pondage::submission
