// The tree of queues: who may use how much, up every path to the root.
//
// Single-threaded, owned by the pool; planners work on a copy. GPU quota is in milli-GPU.
// A guarantee is carved out of the parent's; what is used beyond it is borrowed. Invariants:
//   1. used(q) = own use + sum of used over children, at every queue.
//   2. A queue whose parent is unknown hangs from the root; a cycle of parents is cut at its
//      alphabetically first member, which then hangs from the root.
//   3. A queue that was removed while jobs still use it stays, closed, until they end.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"
#include "queue/decay.h"

namespace pondage::queue {

// How the jobs of one queue are offered what is free.
enum class Order : std::uint8_t {
  kFair,     // priority, then the user who used least, then small jobs first with ageing
  kArrival,  // priority, then the user who used least, then arrival
  kStrict,   // kArrival, and whoever waits holds back all that want the same kind of resource
};

struct Spec {
  std::string name;                     // a DNS label, unique
  std::string parent;                   // empty: hangs from the root
  std::string display;                  // a path such as "lab/nlp", for people only
  base::MilliGpu guarantee;             // carved out of the parent's
  std::optional<base::MilliGpu> limit;  // none: no limit at this level
  bool closed = false;                  // takes no new jobs; what waits goes on
  bool held = false;                    // starts nothing
  std::optional<base::Millis> max_run;  // run-time cap of its jobs
  // Beyond the guarantee, siblings are served by what they used, faded, per weight. 0: last.
  std::int64_t weight = 1;
  Order order = Order::kFair;
  std::optional<base::Millis> default_run;   // of jobs that name no limit
  std::optional<base::MilliGpu> user_limit;  // what one user's jobs may hold at once
  bool operator==(const Spec&) const = default;
};

// The level that would go over its limit, with the numbers of the refusal.
struct Over {
  std::string queue;
  base::MilliGpu used;
  base::MilliGpu limit;
  base::MilliGpu ask;
};

class Tree {
 public:
  Tree() = default;
  Tree(const Tree& other) : entries_(other.entries_), decay_(other.decay_) { Rehang(); }
  Tree& operator=(const Tree& other);

  void Put(Spec spec);
  void Remove(std::string_view name);

  // None for an unknown queue and for one that was removed.
  const Spec* Find(std::string_view name) const;

  // The queue and its ancestors, leaf first. Unknown queue: empty.
  std::vector<std::string_view> PathUp(std::string_view leaf) const;

  // The shortest run-time cap on the way up.
  std::optional<base::Millis> MaxRun(std::string_view leaf) const;

  // The first level, from the leaf up, that starts nothing. None: not held.
  std::optional<std::string> HeldAt(std::string_view leaf) const;

  // The first level, from the leaf up, whose limit `ask` more would exceed. Unknown queue: none.
  std::optional<Over> WouldExceed(std::string_view leaf, base::MilliGpu ask) const;

  // The level, from the leaf up, whose limit is smaller than `ask` even when unused: never fits.
  std::optional<Over> NeverFits(std::string_view leaf, base::MilliGpu ask) const;

  // An unknown leaf is taken as a queue that was removed while its jobs run.
  void Charge(std::string_view leaf, base::MilliGpu amount);
  // Requires that at least `amount` is charged to the leaf.
  void Refund(std::string_view leaf, base::MilliGpu amount);

  // The same, and from `now` on it counts as this user's use, and as that of each level.
  void Charge(std::string_view leaf, const std::string& user, base::MilliGpu amount,
              base::Instant now);
  void Refund(std::string_view leaf, const std::string& user, base::MilliGpu amount,
              base::Instant now);

  // What was used and has not faded, in milli-GPU x ms: of every queue with all that hangs from it
  // now; of one user's jobs in one queue (unknown: 0).
  std::map<std::string_view, std::int64_t> Faded(base::Instant now) const;
  std::int64_t FadedOf(std::string_view leaf, const std::string& user, base::Instant now) const;
  base::MilliGpu HeldBy(std::string_view leaf, const std::string& user) const;

  // What must survive a restart, and is put back when what is held was charged again: how much was
  // used. How much is held is known by then.
  struct UseOf {
    std::string queue;
    std::string user;
    Use use;
    bool operator==(const UseOf&) const = default;
  };
  std::vector<UseOf> Uses() const;
  const std::map<std::string, Use>* UsesIn(std::string_view leaf) const;  // by user; none: unknown
  void Restore(const UseOf& use);  // nothing where the queue is unknown

  // Requires that nothing was charged with a user yet.
  void SetHalfLife(base::Millis half_life) { decay_ = Decay(half_life); }

  base::MilliGpu Used(std::string_view name) const;
  base::MilliGpu Borrowed(std::string_view name) const;  // max(0, used - guarantee)

  // Queues by name, without those that were removed.
  std::vector<const Spec*> All() const;

 private:
  struct Entry {
    Spec spec;
    bool removed = false;
    base::MilliGpu own;   // used by jobs of this very queue
    base::MilliGpu used;  // with all descendants
    Use faded;            // of all descendants; follows charges that name a user
    std::map<std::string, Use> users;
    Entry* parent = nullptr;  // after unknown parents and cycles; none: the root
  };
  using Entries = std::map<std::string, Entry, std::less<>>;

  const Entry* Known(std::string_view name) const;
  void Rehang();  // parents and sums anew
  void CutCycles();

  Entry& Touch(std::string_view leaf);  // made, removed, when unknown

  Entries entries_;
  Decay decay_{base::SecondsLong(7 * 24 * 3600)};
};

}  // namespace pondage::queue
