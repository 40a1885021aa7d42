// The waiting line: gangs in cohorts that start or fail together, and who is next.
//
// Kept by the planner over cycles; single-threaded. A bucket is one user's jobs of one priority in
// one queue; a cohort in it is the jobs of one shape, limit and expected length, in order of
// arrival. One cycle calls Begin, then Next and one of Advance and Close until nobody is left.
// Invariants:
//   1. A job stands in the line at most once, in exactly one cohort.
//   2. The order is total and does not depend on how the line was filled.
//   3. Within a cycle ranks only get worse (starts add to use), so an outdated rank at the top is
//      found out by working it out anew.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plan/ground.h"
#include "plan/plan.h"

namespace pondage::plan {

__extension__ typedef __int128 Wide;

// use / weight as an exact fraction; weight 0 is more than any.
struct Share {
  std::int64_t use = 0;
  std::int64_t weight = 1;

  std::strong_ordering operator<=>(const Share& other) const;
  bool operator==(const Share& other) const { return (*this <=> other) == 0; }
};

// What a gang that must wait keeps from later ones.
struct Keeps {
  bool room = false;   // the free GPUs it could use
  bool whole = false;  // ... and all else on those machines: it waits for cores or memory
  std::string level;   // room under the limit of this queue
  bool proven = true;  // false: it may fit, the search was cut
};

struct Verdict {
  Constraint constraint = Constraint::kBusy;
  std::int64_t need = 0;
  std::int64_t have = 0;
  bool operator==(const Verdict&) const = default;
};

struct CohortKey {
  ShapeId shape = 0;
  std::optional<base::Millis> limit;
  std::optional<base::Instant> ends_by;
  std::optional<base::Millis> remaining;
  std::int64_t attained = 0;
  std::optional<base::Millis> min_time;
  std::string array;
  int throttle = 0;
  auto operator<=>(const CohortKey&) const = default;
};

struct Bucket;

// Where a job stands among its bucket's; less is earlier.
struct Turn {
  int rest = 0;  // 0 a replacement, 1 inside the queue's guarantee, 2 all others
  Wide size = 0;
  base::Instant arrived;
  base::JobId job;
  auto operator<=>(const Turn&) const = default;
};

struct Cohort {
  CohortKey key;
  Bucket* bucket = nullptr;
  std::deque<std::pair<base::Instant, base::JobId>> jobs;  // ascending
  std::optional<Verdict> said;                             // of the last cycle
  // Of this cycle:
  std::size_t next = 0;  // jobs before it started or have reservations
  std::size_t started = 0;
  Turn turn;            // of jobs[next]
  bool closed = false;  // jobs from `next` on wait
  Keeps keeps;          // ... and keep this
};

// Where a bucket stands; less is earlier.
struct Rank {
  int rest = 0;  // of its first turn
  Share saturation;
  std::vector<Share> path;  // from the root down
  int priority = 0;         // negated
  Share user;
  auto operator<=>(const Rank&) const = default;
};

// A bucket's jobs from this turn on were offered behind so many ranks.
struct Stand {
  std::size_t ranks = 0;
  Turn since;
};

// A queue in this cycle: what it used, with what the cycle starts.
struct Level {
  Share faded;
  base::MilliGpu used;
  base::MilliGpu guarantee;
};

struct BucketKey {
  std::string queue;
  bool replaces = false;
  int priority = 0;
  std::string user;
  auto operator<=>(const BucketKey&) const = default;
};

struct Bucket {
  BucketKey key;
  std::map<CohortKey, Cohort> cohorts;
  bool sized = true;  // small jobs first, as the order of its queue says
  // Of this cycle:
  const std::vector<Level*>* path = nullptr;  // of its queue, leaf first
  std::int64_t* user = nullptr;               // what its user used in its queue
  Rank rank;                                  // as last worked out
  std::vector<Stand> stands;                  // each later than the one before
  std::vector<Cohort*> heap;                  // by turn
};

struct Waiter {
  Ask ask;
  ShapeId shape = 0;
  Cohort* cohort = nullptr;  // null: it is held, or can never be whole
  std::size_t place = 0;     // in Line::InOrder
};

class Line {
 public:
  explicit Line(const Policy& policy) : policy_(policy) {}

  // Replaces what the job asked before.
  void Put(Ask ask, ShapeId shape);
  void Drop(base::JobId job);
  const std::map<base::JobId, Waiter>& waiters() const { return waiters_; }
  const Waiter* Find(base::JobId job) const;
  std::map<BucketKey, Bucket>& buckets() { return buckets_; }

  void Begin(Ground& ground, const queue::Tree& queues, base::Instant now);
  Cohort* Next();                // the cohort of the next job; null: nobody is left
  void Advance(Cohort& cohort);  // its first job started or has a reservation
  void Close(Cohort& cohort);    // the rest of it waits
  // Use that a start adds.
  void Count(const Bucket& bucket, base::MilliGpu charge);

  // All that are in a cohort, in the order of the last cycle, also those that were not offered one
  // by one. Good until somebody is put or dropped.
  const std::vector<const Waiter*>& InOrder();

 private:
  Turn TurnOf(const Cohort& cohort, std::pair<base::Instant, base::JobId> job) const;
  Wide SizeOf(const Cohort& cohort, base::Instant arrived) const;
  int RestOf(const Cohort& cohort) const;
  void Enter(Bucket& bucket);
  bool Renew(Bucket& bucket);
  void Sink(Bucket& bucket);
  void Push(Bucket& bucket);
  void Note(Bucket& bucket);

  Policy policy_;
  std::map<base::JobId, Waiter> waiters_;
  std::map<BucketKey, Bucket> buckets_;
  std::vector<const Waiter*> order_;  // empty: not worked out
  // Of this cycle:
  Ground* ground_ = nullptr;
  const queue::Tree* queues_ = nullptr;
  base::Instant now_;
  std::map<std::string, Level, std::less<>> levels_;
  std::map<std::pair<std::string_view, std::string_view>, std::int64_t> users_;  // queue, user
  std::map<std::string_view, std::vector<Level*>> paths_;                        // leaf first
  std::vector<Bucket*> heap_;
  std::size_t ranks_ = 0;  // of those offered so far
  Rank last_;              // of the last one offered
  Rank scratch_;
};

}  // namespace pondage::plan
