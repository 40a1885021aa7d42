// The planner over its life: whatever happened before, it plans as one that was told only where
// things stand.
#include "plan/planner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "plan/sentence.h"

namespace pondage::plan {
namespace {

using base::Instant;
using base::SecondsLong;

// A pool in small: a planner, and what a new one must be told to stand where it does.
class Life {
 public:
  explicit Life(std::uint64_t seed, Policy policy = {}) : random_(seed), policy_(policy) {
    planner_ = std::make_unique<Planner>(policy);
    for (const char* name : {"default", "lab", "nlp"}) {
      queue::Spec spec{.name = name};
      if (name != std::string("default")) {
        spec.guarantee = base::WholeGpus(random_.Between(0, 4));
        if (random_.OneIn(2)) spec.limit = base::WholeGpus(random_.Between(2, 10));
      }
      if (name == std::string("nlp")) spec.parent = "lab";
      queues_.push_back(spec);
      planner_->PutQueue(spec);
    }
    for (int i = 0; i < 4; ++i) SeeMachine(i);
  }

  void Happen() {
    now_ = now_ + base::Millis{random_.Between(0, 200'000)};
    switch (random_.Below(8)) {
      case 0:
        if (random_.OneIn(4)) SeeMachine(static_cast<int>(random_.Below(4)));
        break;
      case 1:
        if (!asks_.empty()) Withdraw();
        break;
      case 2:
      case 3:
        if (!bound_.empty()) End();
        break;
      default:
        Ask_();
    }
  }

  // Plans with both and carries it out in the one.
  void Plan() {
    const std::unique_ptr<Planner> fresh = Fresh(false);
    const std::unique_ptr<Planner> reversed = Fresh(true);
    // Where nothing happened the planner does not walk, and explains by the order it knows.
    const bool walks = random_.OneIn(2);
    if (walks) planner_->PutQueue(queues_[0]);
    const plan::Plan plan = planner_->Cycle(now_);
    ASSERT_EQ(Say(fresh->Cycle(now_)), Say(plan));
    ASSERT_EQ(Say(reversed->Cycle(now_)), Say(plan));
    for (const Placement& placement : plan.start) Carry(*planner_, placement);
    for (const Placement& placement : plan.start) {
      Carry(*fresh, placement);
      bound_[placement.job] = {Holding_(placement.job), placement.grants, now_};
      asks_.erase(placement.job);
    }
    if (!walks) return;
    ASSERT_EQ(Slots(*fresh), Slots(*planner_));
    for (const auto& [job, ask] : asks_) {
      ASSERT_EQ(Say(fresh->Explain(job)), Say(planner_->Explain(job)));
      ASSERT_FALSE(planner_->Explain(job).id.empty()) << "L9";
    }
  }

  Planner& planner() { return *planner_; }
  int started() const { return started_; }

 private:
  struct Bound {
    Holding holding;
    std::vector<fleet::Grant> grants;
    Instant since;
  };

  void SeeMachine(int number) {
    fleet::Node node{
        .name = "n" + std::to_string(number), .cpu = {32'000}, .memory = {std::int64_t{64} << 30}};
    for (int i = 0; i < 4; ++i) {
      node.gpus.push_back({.id = std::to_string(i), .type = number == 3 ? "B" : "A"});
    }
    if (random_.OneIn(4)) node.labels["rack"] = "1";
    if (random_.OneIn(8)) node.health = fleet::Health::kCordoned;
    nodes_[node.name] = node;
    planner_->SeeNode(node);
  }

  void Ask_() {
    Ask ask{.job = {++last_job_}, .queue = queues_[random_.Below(3)].name, .arrived = now_};
    ask.priority = static_cast<int>(random_.Below(2));
    ask.user = random_.OneIn(2) ? "eva" : "tom";
    ask.groups.push_back({base::Role::kWorker,
                          static_cast<int>(random_.Between(1, 3)),
                          {.gpus = static_cast<int>(random_.Between(0, 4))}});
    ask.groups[0].demand.cpu = {random_.Between(0, 8) * 1000};
    if (random_.OneIn(4)) {
      ask.groups.insert(ask.groups.begin(), {base::Role::kChief, 1, {.gpus = 1, .cpu = {2000}}});
    }
    if (random_.OneIn(5)) ask.groups[0].demand.gpu_type = "B";
    if (random_.OneIn(6)) ask.groups[0].demand.node_selector = {{"rack", "1"}};
    if (!random_.OneIn(4)) ask.limit = SecondsLong(random_.Between(60, 3600));
    ask.held = random_.OneIn(10);
    asks_[ask.job] = ask;
    planner_->PutAsk(ask);
  }

  void Withdraw() {
    const auto ask = std::next(asks_.begin(), static_cast<int>(random_.Below(asks_.size())));
    planner_->DropAsk(ask->first);
    asks_.erase(ask);
  }

  void End() {
    const auto job = std::next(bound_.begin(), static_cast<int>(random_.Below(bound_.size())));
    for (const fleet::Grant& grant : job->second.grants) {
      planner_->Release(job->first, grant, now_);
    }
    bound_.erase(job);
  }

  Holding Holding_(base::JobId job) const {
    const Ask& ask = asks_.at(job);
    Holding holding{.job = job, .queue = ask.queue, .user = ask.user};
    if (ask.limit) holding.ends_by = now_ + *ask.limit;
    return holding;
  }

  void Carry(Planner& planner, const Placement& placement) {
    const Holding holding = Holding_(placement.job);
    for (const fleet::Grant& grant : placement.grants) planner.Bind(holding, grant, now_);
    planner.DropAsk(placement.job);
    ++started_;
  }

  // A new planner that is told where things stand, forwards or backwards.
  std::unique_ptr<Planner> Fresh(bool backwards) {
    auto fresh = std::make_unique<Planner>(policy_);
    std::vector<base::JobId> jobs;
    for (const auto& [job, ask] : asks_) jobs.push_back(job);
    std::vector<const fleet::Node*> nodes;
    for (const auto& [name, node] : nodes_) nodes.push_back(&node);
    if (backwards) {
      std::ranges::reverse(jobs);
      std::ranges::reverse(nodes);
    }
    for (const base::JobId job : jobs) fresh->PutAsk(asks_.at(job));
    for (const fleet::Node* node : nodes) fresh->SeeNode(*node);
    for (const queue::Spec& spec : queues_) fresh->PutQueue(spec);
    for (const auto& [job, bound] : bound_) {
      for (const fleet::Grant& grant : bound.grants) fresh->Bind(bound.holding, grant, bound.since);
    }
    for (const queue::Tree::UseOf& use : planner_->queues().Uses()) fresh->Restore(use);
    for (const auto& [job, ask] : asks_) {
      if (const auto slot = planner_->Reserved(job)) fresh->Restore(job, *slot);
    }
    return fresh;
  }

  static std::string Say(const plan::Plan& plan) {
    std::string text;
    for (const Placement& placement : plan.start) {
      text += "start " + std::to_string(placement.job.value);
      for (const fleet::Grant& grant : placement.grants) {
        text += " " + grant.node;
        for (const int gpu : grant.gpus) text += "," + std::to_string(gpu);
      }
      text += "\n";
    }
    return text;
  }

  static std::string Say(const Refusal& refusal) {
    const NameOf name = [](base::JobId job) { return std::to_string(job.value); };
    std::string text = std::to_string(refusal.job.value) + ": " + refusal.id + " " +
                       ConstraintName(refusal.constraint) + " " + refusal.help + " " +
                       Sentence(refusal, phrase::Language::kEnglish, name);
    for (const auto& [key, value] : Facts(refusal, name)) text += "; " + key + " " + value;
    if (refusal.start_latest) text += "; at " + std::to_string(refusal.start_latest->unix_ms);
    return text;
  }

  static std::string Slots(const Planner& planner) {
    std::string text;
    for (const auto& [job, slot] : planner.reservations()) {
      text += std::to_string(job.value) + " at " + std::to_string(slot.at.unix_ms);
      for (const Seat& seat : slot.seats) text += " " + std::to_string(seat.node);
      text += "\n";
    }
    return text;
  }

  base::Random random_;
  Policy policy_;
  std::unique_ptr<Planner> planner_;
  std::vector<queue::Spec> queues_;
  std::map<std::string, fleet::Node> nodes_;
  std::map<base::JobId, Ask> asks_;
  std::map<base::JobId, Bound> bound_;
  Instant now_{0};
  std::int64_t last_job_ = 0;
  int started_ = 0;
};

TEST(Planner, PlansAsANewOneToldTheSameState) {
  int started = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Life life(seed, {.size = seed % 2 == 0 ? Size::kAged : Size::kNone});
    for (int step = 0; step < 60; ++step) {
      SCOPED_TRACE(step);
      for (int facts = 0; facts < 3; ++facts) life.Happen();
      life.Plan();
      if (testing::Test::HasFatalFailure()) return;
    }
    started += life.started();
  }
  EXPECT_GT(started, 1000);
}

Ask OneGpu(int job) {
  Ask ask{.job = {job}, .queue = "default", .arrived = {job}};
  ask.groups.push_back({base::Role::kWorker, 1, {.gpus = 1}});
  return ask;
}

void OneMachine(Planner& planner, int gpus) {
  planner.PutQueue({.name = "default"});
  fleet::Node node{.name = "n"};
  for (int i = 0; i < gpus; ++i) node.gpus.push_back({.id = std::to_string(i), .type = "A"});
  planner.SeeNode(node);
}

TEST(Planner, WithoutNewsItDoesNotWalk) {
  Planner planner;
  OneMachine(planner, 1);
  planner.PutAsk(OneGpu(1));
  planner.PutAsk(OneGpu(2));
  const plan::Plan plan = planner.Cycle({10});
  ASSERT_EQ(plan.start.size(), 1u);
  ASSERT_EQ(plan.wait.size(), 1u);
  planner.Bind({.job = {1}, .queue = "default"}, plan.start[0].grants[0], {10});
  planner.DropAsk({1});
  EXPECT_FALSE(planner.HasNews({20})) << "carried out as planned";
  planner.PutAsk(OneGpu(2));
  EXPECT_FALSE(planner.HasNews({20})) << "asks what it asked before";
  EXPECT_TRUE(planner.Cycle({20}).wait.empty());
  EXPECT_EQ(planner.walks(), 1);
  planner.Release({1}, plan.start[0].grants[0], {30});
  EXPECT_TRUE(planner.HasNews({30}));
  EXPECT_EQ(planner.Cycle({30}).start.size(), 1u);
}

// A job that runs in part asks for its next member, which asks for no more than the one before it.
TEST(Planner, WhoWasGivenWhatItAskedMayAskTheSameAgain) {
  Planner planner;
  planner.PutQueue({.name = "default"});
  planner.SeeNode({.name = "n", .cpu = {8'000}, .memory = {1 << 30}, .gpus = {{}, {}}});
  for (const int gpus : {0, 1}) {
    Ask ask{.job = {gpus + 1}, .queue = "default"};
    ask.groups.push_back({base::Role::kWorker, 1, {.gpus = gpus}});
    for (const char* const time : {"the first", "the second"}) {
      planner.PutAsk(ask);
      const plan::Plan plan = planner.Cycle(Instant{0});
      ASSERT_EQ(plan.start.size(), 1u) << time << " with " << gpus << " GPUs";
      planner.Bind({.job = ask.job, .queue = "default"}, plan.start[0].grants[0], Instant{0});
    }
    planner.DropAsk(ask.job);
  }
}

TEST(Planner, APreviewLeavesNoTrace) {
  Planner planner({.size = Size::kNone});
  OneMachine(planner, 2);
  planner.Bind({.job = {9}, .queue = "default", .ends_by = Instant{5000}}, {"n", {0}, {}, {}, {}},
               {0});
  Ask waits = OneGpu(1);
  waits.groups[0].demand.gpus = 2;
  waits.limit = SecondsLong(60);
  planner.PutAsk(waits);
  planner.Cycle({1});
  const auto slot = planner.Reserved({1});
  ASSERT_TRUE(slot);
  Ask brief = OneGpu(2);
  brief.limit = SecondsLong(2);
  const Planner::Preview starts = planner.Try(brief, {2});
  ASSERT_TRUE(starts.start);
  EXPECT_EQ(starts.start->grants[0].gpus, std::vector{1});
  brief.limit = SecondsLong(20);
  const Planner::Preview would_wait = planner.Try(brief, {2});
  ASSERT_FALSE(would_wait.start);
  EXPECT_EQ(would_wait.refusal.constraint, Constraint::kReserved);
  EXPECT_EQ(planner.Reserved({1}), slot);
  EXPECT_EQ(planner.waiters().size(), 1u);
  EXPECT_TRUE(planner.Cycle({3}).start.empty());
  EXPECT_EQ(planner.Reserved({1}), slot);
}

}  // namespace
}  // namespace pondage::plan
