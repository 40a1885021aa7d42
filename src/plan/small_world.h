// Fleets, queues and gangs in a few words, for the tests of the planner.
//
// Not part of the planner: only *_test.cc files include it. Single-threaded.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/random.h"
#include "plan/plan.h"

namespace pondage::plan::test {

class World {
 public:
  World() { Queue("default"); }

  fleet::Node& Machine(const std::string& name, int gpus, const std::string& type = "A") {
    fleet::Node node{.name = name, .cpu = {64'000}, .memory = {std::int64_t{256} << 30}};
    for (int i = 0; i < gpus; ++i) {
      node.gpus.push_back({.id = name + "-" + std::to_string(i), .type = type});
    }
    nodes_.push_back(node);
    fleet_.See(node);
    return nodes_.back();
  }

  // Once the machines were given labels.
  void SeeAgain() {
    for (const fleet::Node& node : nodes_) fleet_.See(node);
  }

  void Queue(const std::string& name, std::optional<int> limit = {}, int guarantee = 0,
             const std::string& parent = "") {
    queue::Spec spec{.name = name, .parent = parent, .guarantee = base::WholeGpus(guarantee)};
    if (limit) spec.limit = base::WholeGpus(*limit);
    queues_.Put(spec);
  }

  // A job that runs, on the free GPUs of lowest index.
  void Run(int job, const std::string& node, int gpus, const std::string& queue = "default",
           std::optional<base::Instant> ends_by = {}, base::MilliCpu cpu = {}) {
    const auto grant = fleet::FitOn(*fleet_.Find(node), {.gpus = gpus, .cpu = cpu});
    REQUIRE(grant.has_value());
    fleet_.Bind({job}, *grant);
    queues_.Charge(queue, base::WholeGpus(gpus));
    holdings_.push_back({{job}, queue, gpus, ends_by});
  }

  // `count` workers of `gpus` each. They arrive in the order of their ids unless told otherwise.
  Ask& Gang(int job, int count, int gpus, const std::string& queue = "default") {
    Ask ask{.job = {job}, .queue = queue, .arrived = {1000 + job}};
    ask.groups.push_back({base::Role::kWorker, count, {.gpus = gpus}});
    asks_.push_back(ask);
    return asks_.back();
  }

  plan::Plan Plan(base::Instant now = {0}) const {
    const std::vector<Ask> asks(asks_.begin(), asks_.end());
    return MakePlan({fleet_, queues_, asks, holdings_}, now, policy_);
  }

  // What the plan starts runs, and waits no longer.
  void CarryOut(const plan::Plan& plan, base::Instant now) {
    for (const Placement& placement : plan.start) {
      const auto ask = std::ranges::find(asks_, placement.job, &Ask::job);
      REQUIRE(ask != asks_.end());
      Holding holding{placement.job, ask->queue, 0, {}};
      if (placement.limit) holding.ends_by = now + *placement.limit;
      for (const fleet::Grant& grant : placement.grants) {
        fleet_.Bind(placement.job, grant);
        holding.gpus += static_cast<int>(grant.gpus.size());
      }
      queues_.Charge(ask->queue, base::WholeGpus(holding.gpus));
      holdings_.push_back(holding);
      asks_.erase(ask);
    }
  }

  // One job that runs ends: some job early, or the one whose limit comes first at its limit.
  // Returns when. Nothing runs: now.
  base::Instant EndOne(base::Random& random, base::Instant now) {
    if (holdings_.empty()) return now;
    auto ending = std::ranges::min_element(holdings_, {}, [](const Holding& holding) {
      return std::pair(holding.ends_by.value_or(base::kNever), holding.job);
    });
    base::Instant at = ending->ends_by.value_or(now);
    if (random.OneIn(2)) {
      at = now + base::Millis{random.Between(0, (at - now).value)};
      ending = holdings_.begin() + static_cast<std::ptrdiff_t>(random.Below(holdings_.size()));
    }
    const fleet::Fleet before = fleet_;
    for (const auto& [name, place] : before.places()) {
      const auto held = place.grants.find(ending->job);
      if (held == place.grants.end()) continue;
      for (const fleet::Grant& grant : held->second) fleet_.Release(ending->job, grant);
    }
    queues_.Refund(ending->queue, base::WholeGpus(ending->gpus));
    holdings_.erase(ending);
    return at;
  }

  void EndAll() {
    base::Random random(1);
    while (!holdings_.empty()) EndOne(random, base::Instant{0});
  }

  std::vector<int> Started() const {
    std::vector<int> jobs;
    for (const Placement& placement : Plan().start) {
      jobs.push_back(static_cast<int>(placement.job.value));
    }
    return jobs;
  }

  Refusal Waiting(int job) const {
    const plan::Plan plan = Plan();
    const auto found = std::ranges::find(plan.wait, base::JobId{job}, &Refusal::job);
    REQUIRE(found != plan.wait.end());
    return *found;
  }

  // Whoever came first is first, unless a test says otherwise.
  Policy& policy() { return policy_; }
  fleet::Fleet& fleet() { return fleet_; }
  queue::Tree& queues() { return queues_; }
  std::deque<Ask>& asks() { return asks_; }
  std::vector<Holding>& holdings() { return holdings_; }

 private:
  std::deque<fleet::Node> nodes_;
  fleet::Fleet fleet_;
  queue::Tree queues_;
  std::deque<Ask> asks_;
  std::vector<Holding> holdings_;
  Policy policy_{.size = Size::kNone};
};

}  // namespace pondage::plan::test
