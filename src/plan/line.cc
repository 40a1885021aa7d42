#include "plan/line.h"

#include <algorithm>

#include "base/assert.h"

namespace pondage::plan {
namespace {

constexpr std::int64_t kMilli = 1000;

// Heaps of the standard library have the greatest on top: what is earlier is greater here.
bool IsLater(const Cohort* a, const Cohort* b) {
  return a->turn > b->turn;
}

bool StandsLater(const Bucket* a, const Bucket* b) {
  const auto order = a->rank <=> b->rank;
  return order != 0 ? order > 0 : a->heap.front()->turn > b->heap.front()->turn;
}

}  // namespace

std::strong_ordering Share::operator<=>(const Share& other) const {
  if (weight == 0 || other.weight == 0) return (weight == 0) <=> (other.weight == 0);
  return static_cast<Wide>(use) * other.weight <=> static_cast<Wide>(other.use) * weight;
}

void Line::Put(Ask ask, ShapeId shape) {
  Drop(ask.job);
  order_.clear();
  Waiter waiter{std::move(ask), shape, nullptr};
  const Ask& put = waiter.ask;
  if (!put.held && !put.lack && put.missing == 0) {
    const BucketKey key{put.queue, put.replaces, put.priority, put.user};
    Bucket& bucket = buckets_[key];
    bucket.key = key;
    const CohortKey cohort_key{shape,
                               put.limit,
                               put.ends_by,
                               put.remaining,
                               policy_.size == Size::kAttained ? put.attained : 0,
                               put.min_time,
                               put.array,
                               put.throttle};
    Cohort& cohort = bucket.cohorts[cohort_key];
    cohort.key = cohort_key;
    cohort.bucket = &bucket;
    const std::pair place(put.arrived, put.job);
    cohort.jobs.insert(std::ranges::lower_bound(cohort.jobs, place), place);
    waiter.cohort = &cohort;
  }
  const base::JobId job = put.job;
  waiters_.emplace(job, std::move(waiter));
}

void Line::Drop(base::JobId job) {
  const auto found = waiters_.find(job);
  if (found == waiters_.end()) return;
  order_.clear();
  if (Cohort* cohort = found->second.cohort; cohort != nullptr) {
    const std::pair place(found->second.ask.arrived, job);
    const auto at = std::ranges::lower_bound(cohort->jobs, place);
    PROMISE(at != cohort->jobs.end() && *at == place);
    cohort->jobs.erase(at);
    Bucket& bucket = *cohort->bucket;
    if (cohort->jobs.empty()) bucket.cohorts.erase(CohortKey(cohort->key));
    if (bucket.cohorts.empty()) buckets_.erase(BucketKey(bucket.key));
  }
  waiters_.erase(found);
}

const Waiter* Line::Find(base::JobId job) const {
  const auto found = waiters_.find(job);
  return found == waiters_.end() ? nullptr : &found->second;
}

void Line::Begin(Ground& ground, const queue::Tree& queues, base::Instant now) {
  ground_ = &ground;
  queues_ = &queues;
  now_ = now;
  order_.clear();
  levels_.clear();
  users_.clear();
  paths_.clear();
  heap_.clear();
  ranks_ = 0;
  const base::Instant then = now + policy_.share_ahead;
  const std::int64_t ahead = policy_.share_ahead.value;
  std::map<std::string_view, std::int64_t> faded;
  if (policy_.memory) faded = queues.Faded(then);
  for (const queue::Spec* spec : queues.All()) {
    const std::int64_t use =
        policy_.memory ? faded[spec->name] : queues.Used(spec->name).value * ahead;
    levels_[spec->name] = {{use, spec->weight}, queues.Used(spec->name), spec->guarantee};
  }
  for (auto& [key, bucket] : buckets_) {
    Enter(bucket);
    bucket.user = &users_[{key.queue, key.user}];
    *bucket.user = policy_.memory ? queues.FadedOf(key.queue, key.user, then)
                                  : queues.HeldBy(key.queue, key.user).value * ahead;
    Renew(bucket);
    heap_.push_back(&bucket);
  }
  std::ranges::make_heap(heap_, StandsLater);
}

void Line::Enter(Bucket& bucket) {
  std::vector<Level*>& path = paths_[bucket.key.queue];
  if (path.empty()) {
    for (const std::string_view level : queues_->PathUp(bucket.key.queue)) {
      const auto known = levels_.find(level);
      if (known != levels_.end()) path.push_back(&known->second);
    }
  }
  bucket.path = &path;
  const queue::Spec* spec = queues_->Find(bucket.key.queue);
  bucket.sized = spec == nullptr || spec->order == queue::Order::kFair;
  bucket.stands.clear();
  bucket.heap.clear();
  for (auto& [key, cohort] : bucket.cohorts) {
    cohort.next = 0;
    cohort.started = 0;
    cohort.closed = false;
    cohort.keeps = {};
    cohort.turn = TurnOf(cohort, cohort.jobs.front());
    cohort.turn.rest = RestOf(cohort);
    bucket.heap.push_back(&cohort);
  }
  std::ranges::make_heap(bucket.heap, IsLater);
}

// Where an outdated rank stands on top, it goes down to its place.
Cohort* Line::Next() {
  while (!heap_.empty()) {
    Bucket& bucket = *heap_.front();
    Cohort* cohort = bucket.heap.front();
    if (RestOf(*cohort) == cohort->turn.rest && !Renew(bucket)) {
      Note(bucket);
      return cohort;
    }
    std::ranges::pop_heap(heap_, StandsLater);
    heap_.pop_back();
    Sink(bucket);
    Push(bucket);
  }
  return nullptr;
}

void Line::Note(Bucket& bucket) {
  if (ranks_ == 0 || bucket.rank != last_) {
    last_ = bucket.rank;
    ++ranks_;
  }
  if (bucket.stands.empty() || bucket.stands.back().ranks != ranks_) {
    bucket.stands.push_back({ranks_, bucket.heap.front()->turn});
  }
}

// Sorts the first cohort in anew, as often as it is no longer inside the guarantee.
void Line::Sink(Bucket& bucket) {
  for (;;) {
    Cohort* cohort = bucket.heap.front();
    const int rest = RestOf(*cohort);
    if (rest == cohort->turn.rest) break;
    std::ranges::pop_heap(bucket.heap, IsLater);
    cohort->turn.rest = rest;
    std::ranges::push_heap(bucket.heap, IsLater);
  }
  Renew(bucket);
}

void Line::Push(Bucket& bucket) {
  if (bucket.heap.empty()) return;
  heap_.push_back(&bucket);
  std::ranges::push_heap(heap_, StandsLater);
}

void Line::Advance(Cohort& cohort) {
  Bucket& bucket = *cohort.bucket;
  REQUIRE(!heap_.empty() && heap_.front() == &bucket && bucket.heap.front() == &cohort);
  std::ranges::pop_heap(heap_, StandsLater);
  heap_.pop_back();
  std::ranges::pop_heap(bucket.heap, IsLater);
  bucket.heap.pop_back();
  if (++cohort.next < cohort.jobs.size()) {
    const int rest = cohort.turn.rest;
    cohort.turn = TurnOf(cohort, cohort.jobs[cohort.next]);
    cohort.turn.rest = rest;  // outdated at worst: see Next
    bucket.heap.push_back(&cohort);
    std::ranges::push_heap(bucket.heap, IsLater);
  }
  Push(bucket);
}

void Line::Close(Cohort& cohort) {
  Bucket& bucket = *cohort.bucket;
  REQUIRE(!heap_.empty() && heap_.front() == &bucket && bucket.heap.front() == &cohort);
  cohort.closed = true;
  std::ranges::pop_heap(heap_, StandsLater);
  heap_.pop_back();
  std::ranges::pop_heap(bucket.heap, IsLater);
  bucket.heap.pop_back();
  Push(bucket);
}

void Line::Count(const Bucket& bucket, base::MilliGpu charge) {
  const std::int64_t ahead = charge.value * policy_.share_ahead.value;
  for (Level* level : *bucket.path) {
    level->used += charge;
    level->faded.use += ahead;
  }
  *bucket.user += ahead;
}

int Line::RestOf(const Cohort& cohort) const {
  const Bucket& bucket = *cohort.bucket;
  if (bucket.key.replaces) return 0;
  if (bucket.path->empty()) return 2;
  const Level& leaf = *bucket.path->front();
  if (leaf.guarantee.value == 0) return 2;
  const base::MilliGpu charge = ground_->Of(cohort.key.shape).charge;
  const bool inside =
      charge.value > 0 && charge <= leaf.guarantee && leaf.used + charge <= leaf.guarantee;
  return inside ? 1 : 2;
}

// True when it is another one than before.
bool Line::Renew(Bucket& bucket) {
  Rank& rank = scratch_;
  rank.rest = bucket.heap.front()->turn.rest;
  rank.saturation = {};
  rank.path.clear();
  rank.priority = -bucket.key.priority;
  rank.user = {};
  const std::vector<Level*>& path = *bucket.path;
  if (!path.empty() && rank.rest != 0) {
    if (rank.rest == 1) rank.saturation = {path.front()->used.value, path.front()->guarantee.value};
    if (policy_.fair) {
      for (auto level = path.rbegin(); level != path.rend(); ++level) {
        rank.path.push_back((*level)->faded);
      }
      rank.user = {*bucket.user, 1};
    }
  }
  if (rank == bucket.rank) return false;
  std::swap(rank, bucket.rank);
  return true;
}

Turn Line::TurnOf(const Cohort& cohort, std::pair<base::Instant, base::JobId> job) const {
  return {cohort.turn.rest, SizeOf(cohort, job.first), job.first, job.second};
}

// Ageing: a job that waited for `ageing` times its length counts half.
Wide Line::SizeOf(const Cohort& cohort, base::Instant arrived) const {
  if (!cohort.bucket->sized) return 0;
  const CohortKey& key = cohort.key;
  // Of whom nothing is known counts as one GPU for the usual time: among them arrival decides.
  const bool known = key.remaining || key.limit;
  const base::Millis length = key.remaining.value_or(key.limit.value_or(policy_.assumed_run));
  const std::int64_t charge = known ? ground_->Of(key.shape).charge.value : fleet::kWhole;
  const Wide time = std::clamp<std::int64_t>(length.value / kMilli, 1, 1'000'000'000);
  const Wide milli = std::min<std::int64_t>(charge, 1'000'000'000);
  const Wide wait = std::max<std::int64_t>(0, (now_ - arrived).value / kMilli);
  const Wide patience = policy_.ageing * time;
  switch (policy_.size) {
    case Size::kNone:
      return 0;
    case Size::kTime:
      return time;
    case Size::kGpuTime:
      return time * milli;
    case Size::kAged:
      return time * milli * patience * kMilli / (patience + wait);
    case Size::kAttained:
      return key.attained;
    case Size::kGpus:
      return ground_->Of(key.shape).charge.value;
  }
  return 0;
}

// A bucket's jobs are in order of their turns. Each stands as its bucket did at its turn, had it
// been offered then.
const std::vector<const Waiter*>& Line::InOrder() {
  if (!order_.empty()) return order_;
  struct Seat {
    std::size_t ranks = 0;
    Turn turn;
    Waiter* waiter = nullptr;
  };
  std::vector<Seat> seats;
  for (auto& [job, waiter] : waiters_) {
    if (waiter.cohort == nullptr) continue;
    const Turn turn = TurnOf(*waiter.cohort, {waiter.ask.arrived, job});
    const std::vector<Stand>& of_bucket = waiter.cohort->bucket->stands;
    auto stand = std::ranges::upper_bound(of_bucket, turn, {}, &Stand::since);
    if (stand != of_bucket.begin()) --stand;
    seats.push_back({stand == of_bucket.end() ? ranks_ + 1 : stand->ranks, turn, &waiter});
  }
  std::ranges::sort(seats, [](const Seat& a, const Seat& b) {
    return a.ranks != b.ranks ? a.ranks < b.ranks : a.turn < b.turn;
  });
  for (const Seat& seat : seats) {
    seat.waiter->place = order_.size();
    order_.push_back(seat.waiter);
  }
  return order_;
}

}  // namespace pondage::plan
