// One turn of the loop: what was taken in, what it changes, whom to answer, what to order.
//
// Lives on the loop's thread for the length of a turn. The order of calls is that of Loop::Turn.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "loop/loop.h"
#include "loop/pending.h"
#include "manifest/pod.h"

namespace pondage::loop {

class Turner {
 public:
  Turner(Loop& loop, base::Instant now)
      : loop_(loop), now_(now), pending_(loop.store_), facts_(std::exchange(loop.noted_, {})) {}

  // In: an input's changes are drafted, and what it means to the pool is noted.
  void Take(Loop::WriteInput& input);
  void Take(const port::Reading& reading);
  void Take(const Loop::NodeInput& input);
  void TakeDue();
  void TakeOldest();

  // The pool decides; its decisions are drafted as changes and orders.
  void Step();

  // One transaction. On failure every writer was told and nothing else happened.
  base::Result<void> Commit();

  bool wrote() const { return !pending_.empty(); }

  // What was decided is answered and done.
  void CarryOut();

 private:
  struct Answer {
    port::Writer::Done done;
    base::Result<port::Object> object;  // as known when it was taken
    bool is_delete = false;
    bool dry_run = false;
  };

  void TakeCheckpoint(base::JobId job, std::int64_t step, base::Instant at,
                      const std::string& path);
  void TakeLast(const std::string& uid, int start, bool ran);
  void TellDelay(const base::ReplicaId& id, const port::Delayed& delay);
  void TellSetAside();
  bool IsStale(const base::ReplicaId& id, const port::Reading& reading) const;

  // write.cc: what a client's write changes
  base::Result<port::Object> Apply(const port::Write& write);
  base::Result<port::Object> ApplyCreate(const port::Write& write);
  base::Result<port::Object> ApplyReplace(const port::Write& write, const port::Object& old);
  base::Result<port::Object> ApplyDelete(const port::Write& write, const port::Object& old);
  base::Result<port::Object> DryRun(const port::Write& write);
  base::Result<void> Understand(const port::Change& change, port::Revision created, bool is_new,
                                const std::string& user);
  base::Result<void> UnderstandJob(const port::Change& change, port::Revision created, bool is_new,
                                   const std::string& user);
  std::optional<std::string> QueueOf(const port::Key& key, base::JobId id) const;
  void RereadPriorities(const std::string& priority_class);
  base::Result<void> ExpectSpace(const port::Key& key);
  base::Result<void> Expect(const port::Write& write, const port::Object& old) const;
  bool IsLive(const port::Key& key) const;
  bool IsManagedElsewhere(base::JobId id) const;

  // due.cc: what goes by itself
  std::optional<base::Instant> DueOf(const port::Key& key, const std::string& body) const;
  base::Instant ExpiryOf(base::Instant own, const job::Status& status) const;
  void CountKept(const port::Key& key, const std::string* before, const std::string* after);
  void RemoveDue(base::Instant at, const port::Key& key);
  void NoteWhatIsDue();

  // collect.cc: what goes with a deleted object
  void Remove(const port::Object& object, bool orphan);
  void RemoveJob(const port::Object& object);
  void RemoveSetAside(const port::Object& object);
  bool RemovePod(const port::Object& object, std::optional<base::Millis> grace);
  base::Result<port::Object> Doomed(const port::Key& key, const std::string& uid) const;
  bool IsReleased(const port::Key& key, const port::Object& before) const;
  void Collect();
  void LookAgain();
  void NoteUnseen();
  void LoseOwner(const port::Object& object, const Loop::Ownerless& owner);
  bool IsOwnedElsewhere(const port::Object& object, const std::string& uid) const;
  void DropOwner(const port::Object& object, const std::string& uid);
  void EmptyNamespace(const std::string& name);
  void RemoveJobsOfNamespaces();
  void FinishNamespaces();
  bool FinishNamespace(const std::string& name);
  base::Result<std::vector<port::Object>> Inside(const std::string& space,
                                                 std::string_view kind) const;
  void MarkDeleting(const port::Object& object, base::Millis grace);
  void ForgetLogs(const job::Identity& identity, const job::Status& status);

  // needs.cc: what jobs cannot do without, and claims that leave when nobody uses them
  std::optional<job::Lack> LackOf(const job::Spec& spec, const std::string& space) const;
  void TellLacks();
  bool HoldClaim(const port::Object& claim);
  bool IsClaimUsed(const port::Key& claim) const;
  void ReleaseClaims();

  // decide.cc: what the pool's decisions change and order
  void Decide(const pool::MakePod& decision);
  void Decide(const pool::StartReplica& decision);
  void Decide(const pool::StopReplica& decision);
  void Decide(const pool::KillReplica& decision);
  void Decide(const pool::RemovePod& decision);
  void Decide(const pool::SetStatus& decision);
  void Decide(const pool::Emit& decision);
  void Decide(const pool::CloseCharge& decision);
  void Decide(const pool::SetUse& decision);
  void Decide(const pool::Planned& decision);
  void Decide(const pool::ForgetJob& decision);
  void Decide(const pool::JobEnded& decision);
  void Decide(const pool::WakeAt& decision);
  void NoteServed(const pool::JobView& job, base::Role role);
  std::string ServedThen(const ledger::Entry& entry);
  void TellServed(const pool::JobView& job, const boost::json::object& old,
                  boost::json::object& status) const;
  void ShowReplicas(const pool::JobView& job);
  void ShowPod(const pool::JobView& job, const job::Replica& replica);
  void ShowQueues();
  void CountTurn();
  void PutObject(const port::Key& key, const boost::json::object& object, bool live,
                 std::optional<base::Instant> due);
  void Event(const manifest::About& about, const job::Note& note);
  std::string UidOf(const base::ReplicaId& replica) const;

  struct Order {
    enum class Type { kStart, kStop, kKill, kForget, kErase, kDiscard, kDropClaim } type;
    std::string uid;
    std::string body;  // of kStart: the Pod; of kDiscard: the TFJob
    int start = 0;
    base::Millis grace;
  };

  Loop& loop_;
  const base::Instant now_;
  Pending pending_;
  std::vector<pool::Fact> facts_;
  std::vector<Answer> answers_;
  std::vector<Order> orders_;
  std::map<base::JobId, std::map<std::string, std::string>> served_;  // image: what it stood for
  std::map<base::JobId, boost::json::object> served_then_;            // as stored before
  std::vector<pool::Decision> decisions_;
  std::size_t needs_seen_ = 0;  // changes of the turn that the pool knows to be met or unmet needs
  bool looked_for_due_ = false, looked_for_oldest_ = false;
  std::int64_t kept_more_ = 0;  // finished jobs that are kept, more than before the turn
  bool reload_ = false;         // an object that was set aside was mended: the pool is loaded anew
  std::vector<Loop::Ownerless> ownerless_;  // what they owned is still to be looked for
  std::vector<Loop::Ownerless> unseen_;     // ... and could not all be read
  bool looked_again_ = false;
  std::vector<std::string> created_in_;  // namespaces of jobs that this turn creates
  std::vector<std::string> deleted_in_;  // ... and deletes
};

}  // namespace pondage::loop
