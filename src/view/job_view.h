// A TFJob as the command line shows it: one word for its state, its numbers, one sentence why.
//
// Pure; any thread. Read from the stored object (docs/decisions/0004 names its parts).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/instant.h"
#include "base/result.h"
#include "client/json.h"
#include "terminal/screen.h"

namespace pondage::view {

namespace json = boost::json;

enum class JobState {
  kWaiting,   // never started yet
  kStarting,  // its GPUs are held, its programs are being started
  kRunning,
  kSaving,  // asked to leave
  kRestarting,
  kRequeued,  // was running, waits again
  kStopping,
  kStopped,  // suspended
  kSucceeded,
  kFailed,
  kDeleting,
};
const char* StateName(JobState state);  // "waiting": frozen, for machines
std::string StateWord(JobState state, terminal::Language language);  // for people
terminal::Tint StateTint(JobState state);
bool IsEnd(JobState state);  // succeeded or failed

struct ReplicaView {
  std::string name;  // "worker/1"
  std::string role;  // "worker"
  int index = 0;
  std::string pod;    // "mnist-7-worker-1"
  std::string phase;  // "Running"
  std::string node;
  std::vector<std::int64_t> gpus;
  int restarts = 0;
  std::int64_t step = -1;
  std::optional<std::int64_t> exit_code;  // of the present start, else of the one before
  std::string exit_reason;
  std::string exit_message;
  std::optional<base::Instant> started;
  std::optional<base::Instant> restart_at;  // it ended and waits for this to be started again
};

// An exit after which somebody started again.
struct PastView {
  std::int64_t attempt = 0;
  std::string replica;  // "worker/1"
  std::int64_t code = 0;
  std::string reason, message;
  std::optional<base::Instant> at;
};

struct WaitReason {
  std::string id;  // "PND-Q007"
  std::string constraint;
  std::string message;    // in English
  phrase::Values values;  // of the sentence, when the server tells them
  std::int64_t need = 0;
  std::int64_t have = 0;
  std::optional<base::Instant> start_latest;
  std::string ShortId() const;  // "Q007"
  std::string Sentence(terminal::Language language) const;
};

struct JobView {
  std::string name, space, uid, user, queue, image;
  JobState state = JobState::kWaiting;
  int gpus = 0;                               // of all replicas
  std::int64_t attempt = 0;                   // 1: its first start
  std::int64_t failures = 0;                  // that count against the limit of restarts
  std::int64_t restarts = 0;                  // carried out
  std::optional<std::int64_t> restart_limit;  // the restart after so many is not made
  base::Instant created;
  std::optional<base::Instant> queued, bound, ended;
  std::optional<base::Instant> ends_by;  // its time limit, once it has started
  std::optional<WaitReason> reason;
  std::int64_t step = -1;
  std::optional<base::Instant> saved;
  std::int64_t saved_step = -1;
  std::string saved_path;
  bool saved_since_asked =
      false;  // the checkpoint is newer than the notice to leave, if there was one
  std::optional<base::Instant> deadline;    // SIGKILL for whoever is left
  std::optional<base::Instant> not_before;  // end of a restart delay of all
  std::optional<std::int64_t> exit_code;    // of the job, when it ended
  std::string cause_replica, cause_reason, cause_message;
  std::optional<std::int64_t> cause_code;
  std::string stopped_by;
  std::string failure;  // message of the condition Failed
  std::string work_copy;
  std::string drain;
  std::vector<std::pair<std::string, int>> asked;  // role, replicas: as the specification has it
  std::vector<ReplicaView> replicas;
  std::vector<PastView> history;  // the last restarts, oldest first

  bool collective() const { return asked.size() > 1 || (!asked.empty() && asked[0].second > 1); }
};

JobView ViewJob(const json::value& tfjob);

struct ReplicaPlace {
  std::string replica;  // "worker/1"
  std::string pod;      // "mnist-7-worker-1"
};
// "worker/1" of the forms that people type: worker/1, Worker-1. PND-C002.
base::Result<std::string> ReplicaName(std::string text);
// All replicas that the specification asks for, or `only` that one.
std::vector<ReplicaPlace> PlacesOf(const JobView& job, const std::string& only);
base::Error NoSuchReplica(const JobView& job, const std::string& replica);  // PND-C016

// The REASON column: why it waits, how far it is, how it ended.
std::string ReasonText(const JobView& job, const terminal::Screen& screen, base::Instant now);
// Why a program of it could not be started, which therefore wrote nothing; else empty.
std::string StartTrouble(const JobView& job, const terminal::Screen& screen);
// Machine-readable, one flat object (users' contract `pondage.ps/1`).
json::object JobItem(const JobView& job, base::Instant now);
// That object in one line, with its line end.
std::string RenderJobLine(const JobView& job);
// Numbers of a replica's resources in a TFJob specification.
std::int64_t GpusOf(const json::value& replica_spec);

}  // namespace pondage::view
