// All jobs of up to three replicas, under every policy and scope, through all short histories: the
// laws of the state machine hold after each step.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <map>

#include "base/random.h"
#include "job/small_world.h"
#include "job/topology.h"

namespace pondage::job {
namespace {

// Longer ones by PONDAGE_LONGER_HISTORIES=1 (minutes); random ones of this length always.
constexpr int kRandomHistory = 40;

struct Event {
  std::string name;
  std::function<void(SmallWorld&)> happens;
};

std::vector<Event> EventsOf(const SmallWorld& world) {
  std::vector<Event> events = {
      {"time passes",
       [](SmallWorld& w) {
         w.now = w.wake == base::kNever ? w.now + base::SecondsLong(600) : w.wake;
       }},
      {"suspend or resume", [](SmallWorld& w) { w.spec.suspend = !w.spec.suspend; }},
  };
  if (!world.removed) events.push_back({"delete", [](SmallWorld& w) { w.removed = true; }});
  if (world.status.stage == Stage::kBound) {
    events.push_back({"yield", [](SmallWorld& w) { AskToYield(w.spec, w.status, w.now); }});
  }
  const auto starting = [](const Replica& replica) { return replica.alive && !replica.started; };
  if (std::ranges::any_of(world.status.replicas, starting)) {
    events.push_back({"all start", [](SmallWorld& w) { w.StartsAll(); }});
  }
  if (world.spec.Has(Role::kWorker)) {
    events.push_back({"scale", [](SmallWorld& w) {
                        const int replicas = w.spec.Replicas(Role::kWorker);
                        w.Scale(Role::kWorker, replicas == 1 ? 2 : replicas - 1);
                      }});
  }
  for (const Replica& replica : world.status.replicas) {
    const Role role = replica.role;
    const int index = replica.index;
    const std::string name = fmt::format("{}-{}", RoleLabel(role), index);
    if (replica.alive) {
      for (const int code : {0, 1, world.spec.requeue_exit_code.value_or(137)}) {
        events.push_back({fmt::format("{} exits {}", name, code),
                          [=](SmallWorld& w) { w.Exits(role, index, code); }});
      }
      events.push_back({name + " is lost", [=](SmallWorld& w) { w.NodeLost(role, index); }});
    }
    if (replica.present && !replica.deleting) {
      events.push_back({name + " is deleted", [=](SmallWorld& w) { w.PodDeleted(role, index); }});
    }
  }
  return events;
}

void Add(std::string& key, std::int64_t value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// A state without its absolute times: two that differ in nothing else behave alike.
std::string KeyOf(const SmallWorld& world) {
  const Status& status = world.status;
  std::string key = ConditionsOf(status);
  const auto since = [&](const std::optional<base::Instant>& at) {
    Add(key, at ? std::max<std::int64_t>((*at - world.now).value, -700'000) : 1);
  };
  for (const int value :
       {static_cast<int>(status.stage), static_cast<int>(status.drain), status.restarts,
        status.disruptions, status.voluntary, status.streak, world.spec.suspend ? 1 : 0,
        world.removed ? 1 : 0, world.gone ? 1 : 0, world.spec.Replicas(Role::kWorker)}) {
    Add(key, value);
  }
  since(status.drain_deadline);
  since(status.not_before);
  if (world.spec.deadline) since(status.start_time);
  if (status.drain == Drain::kFinish) since(status.completion_time);
  const auto is_old = [&](const std::optional<base::Instant>& at) {
    key += at ? (world.now - *at >= world.settings.restart_delay_reset ? 'o' : 'y') : '-';
  };
  is_old(status.bound);
  for (const Replica& replica : status.replicas) {
    for (const bool value : {replica.present, replica.alive, replica.deleting, replica.disrupted,
                             replica.completed, replica.killed, replica.grant.has_value()}) {
      key += value ? '1' : '0';
    }
    Add(key, static_cast<int>(replica.phase));
    Add(key, replica.streak);
    Add(key, replica.exit ? replica.exit->code : -1);
    since(replica.restart_at);
    since(replica.kill_at);
    is_old(replica.started);
    key += replica.stop_asked ? '1' : '0';
  }
  return key;
}

class Laws {
 public:
  Laws(const SmallWorld& before, const SmallWorld& after) : before_(before), after_(after) {}

  std::string Broken() {
    if (!after_.broken.empty()) return after_.broken.front();
    Conditions();
    Counters();
    Stages();
    Reruns();
    return broken_;
  }

 private:
  void Demand(bool holds, const char* law) {
    if (!holds && broken_.empty()) broken_ = law;
  }

  void Conditions() {
    const Status& status = after_.status;
    for (const Condition& condition : status.conditions) {
      Demand(1 == std::ranges::count(status.conditions, condition.type, &Condition::type),
             "a condition twice");
    }
    Demand(!(IsTrue(status, "Succeeded") && IsTrue(status, "Failed")), "two terminal conditions");
    Demand(!(IsTrue(status, "Running") && IsTrue(status, "Restarting")), "running and restarting");
    Demand(!(IsFinished(status) && IsTrue(status, "Running")), "finished and running");
    Demand(IsFinished(status) == status.completion_time.has_value(), "O7: completionTime");
    for (const char* type : {"Succeeded", "Failed"}) {
      if (!IsTrue(before_.status, type)) continue;
      Demand(IsTrue(status, type), "an end is taken back");
      Demand(status.completion_time == before_.status.completion_time, "it ends twice");
    }
  }

  void Counters() {
    const Status& a = before_.status;
    const Status& b = after_.status;
    Demand(b.restarts >= a.restarts, "restarts fall");
    Demand(b.restarts <= a.restarts + 1, "one exit, two restarts");
    Demand(b.disruptions >= a.disruptions, "disruptions fall");
    Demand(b.attempt >= a.attempt, "attempts fall");
    for (const auto& [role, counts] : b.counts) {
      Demand(counts.active + counts.succeeded + counts.failed <= after_.spec.Replicas(role),
             "more counted than there are");
    }
  }

  void Stages() {
    const Status& status = after_.status;
    const bool alive = std::ranges::any_of(status.replicas, &Replica::alive);
    const bool holds = std::ranges::any_of(
        status.replicas, [](const Replica& replica) { return replica.grant.has_value(); });
    if (status.stage == Stage::kWaiting || status.stage == Stage::kEnded || after_.gone) {
      Demand(!alive && !holds, "it holds something and is not bound");
    }
    if (status.stage == Stage::kDraining && !after_.gone) Demand(alive, "it drains and is empty");
    Demand((status.stage == Stage::kEnded) <= IsFinished(status), "ended without a condition");
    if (status.stage == Stage::kWaiting && !after_.gone) {
      const bool has_work = !WantedMembers(after_.spec, status).empty();
      Demand(after_.spec.suspend || after_.wants == has_work || after_.wake != base::kNever,
             "waits for nothing");
    }
    Demand(after_.gone <= after_.removed, "gone without having been removed");
    for (const Replica& replica : status.replicas) {
      Demand(replica.alive <= replica.present, "alive without a Pod");
      Demand(replica.alive <= replica.grant.has_value(), "alive without a grant");
      const bool waits_to_start = replica.restart_at && status.stage == Stage::kBound;
      Demand(!replica.grant || replica.alive || waits_to_start, "keeps what it does not use");
    }
  }

  void Reruns() {
    for (const Replica& was : before_.status.replicas) {
      const bool finished = was.completed && StaysFinished(after_.spec, was.role);
      for (const Replica& is : after_.status.replicas) {
        if (is.role != was.role || is.index != was.index) continue;
        Demand(is.incarnation >= was.incarnation, "incarnations fall");
        if (finished) Demand(is.incarnation == was.incarnation, "O11: a finished index runs again");
      }
    }
  }

  const SmallWorld& before_;
  const SmallWorld& after_;
  std::string broken_;
};

// Programs that end only when they are killed: whatever is leaving is gone after a few wakes.
std::string DrainEnds(SmallWorld world) {
  for (int wakes = 0; wakes < 12; ++wakes) {
    if (world.status.stage != Stage::kDraining || world.gone)
      return world.broken.empty() ? "" : world.broken.front();
    for (const Replica& replica : world.status.replicas) {
      if (replica.killed) world.Exits(replica.role, replica.index, 137);
    }
    world.now = std::max(world.now, world.wake == base::kNever ? world.now : world.wake);
    world.Step();
  }
  return "a drain does not end";
}

struct Walk {
  std::map<std::string, int> seen;  // with how many events were left
  std::vector<std::string> history;
  std::int64_t steps = 0;
  std::string broken;

  void Go(const SmallWorld& world, int left) {
    if (!broken.empty()) return;
    for (const Event& event : EventsOf(world)) {
      SmallWorld next = world;
      event.happens(next);
      next.log.clear();
      next.notes.clear();
      next.Step();
      ++steps;
      history.push_back(event.name);
      std::string law = Laws(world, next).Broken();
      if (law.empty() && IsNew(next, left)) {
        law = DrainEnds(next);
        if (left > 1 && law.empty() && !next.gone) Go(next, left - 1);
      }
      if (!law.empty() && broken.empty()) broken = fmt::format("{}: {}", law, Story(next));
      history.pop_back();
      if (!broken.empty()) return;
    }
  }

  bool IsNew(const SmallWorld& world, int left) {
    int& longest = seen[KeyOf(world)];
    if (left <= longest) return false;
    longest = left;
    return true;
  }

  std::string Story(const SmallWorld& world) const {
    std::string story;
    for (const std::string& event : history) story += event + ", ";
    return story + "[" + world.Conditions() + "] " + fmt::format("{}", fmt::join(world.log, "; "));
  }
};

std::vector<std::map<Role, int>> Topologies() {
  const auto c = Role::kChief, m = Role::kMaster, p = Role::kPs, w = Role::kWorker,
             e = Role::kEvaluator;
  return {{{w, 1}},
          {{w, 2}},
          {{w, 3}},
          {{c, 1}},
          {{c, 1}, {w, 1}},
          {{c, 1}, {w, 2}},
          {{m, 1}, {w, 1}},
          {{p, 1}, {w, 1}},
          {{p, 1}, {w, 2}},
          {{p, 2}, {w, 1}},
          {{p, 1}, {c, 1}, {w, 1}},
          {{w, 1}, {e, 1}},
          {{w, 2}, {e, 1}},
          {{c, 1}, {w, 1}, {e, 1}},
          {{p, 1}},
          {{p, 1}, {e, 1}}};
}

// The kinds of jobs that a topology can be: scopes, dynamic workers, what its exits 42 mean.
std::vector<Spec> Variants(const std::map<Role, int>& topology, RestartPolicy policy) {
  Spec plain;
  for (const auto& [role, count] : topology) plain.roles[role] = Replicas(count, policy);
  std::vector<Spec> variants = {plain};
  const Scope other = RestartScope(plain) == Scope::kGang ? Scope::kReplica : Scope::kGang;
  variants.push_back(plain);
  variants.back().scope = other;
  if (plain.Has(Role::kWorker)) {
    variants.push_back(plain);
    variants.back().dynamic_worker = true;
  }
  variants.push_back(plain);
  variants.back().requeue_exit_code = 42;
  variants.back().backoff_limit = 2;
  variants.back().success = SuccessPolicy::kAllWorkers;
  variants.back().clean_pods = CleanPodPolicy::kRunning;
  variants.back().deadline = base::SecondsLong(60);
  return variants;
}

// Histories grow fast with the number of replicas.
int LongestHistory(int replicas) {
  const int longer = std::getenv("PONDAGE_LONGER_HISTORIES") != nullptr ? 1 : 0;
  return 6 - std::min(replicas, 3) + (replicas == 1 ? 1 : 0) + longer;
}

class Exhaustive : public testing::TestWithParam<RestartPolicy> {};

TEST_P(Exhaustive, AllShortHistoriesOfSmallJobs) {
  std::int64_t steps = 0;
  for (const auto& topology : Topologies()) {
    int replicas = 0;
    for (const auto& [role, count] : topology) replicas += count;
    int shorter = 0;  // the plain job takes the longest walk
    for (const Spec& spec : Variants(topology, GetParam())) {
      SmallWorld world(spec);
      world.Step();
      world.StartsAll();
      world.Step();
      Walk walk;
      walk.Go(world, LongestHistory(replicas) - (replicas == 2 ? shorter : 0));
      shorter = 1;
      steps += walk.steps;
      ASSERT_EQ(walk.broken, "") << "scope " << static_cast<int>(RestartScope(spec)) << ", dynamic "
                                 << spec.dynamic_worker << ", " << world.Conditions();
    }
  }
  EXPECT_GT(steps, 100'000);
}

// Far from the start, where the exhaustive walk does not come: restarts in a row, long drains.
TEST_P(Exhaustive, LongRandomHistories) {
  base::Random random(static_cast<std::uint64_t>(GetParam()) + 1);
  for (const auto& topology : Topologies()) {
    for (const Spec& spec : Variants(topology, GetParam())) {
      for (int run = 0; run < 5; ++run) {
        SmallWorld world(spec);
        std::string story;
        for (int length = 0; length < kRandomHistory && !world.gone; ++length) {
          const std::vector<Event> events = EventsOf(world);
          const Event& event = events[random.Below(events.size())];
          if (event.name == "delete" && !random.OneIn(20)) continue;
          const SmallWorld before = world;
          event.happens(world);
          world.Step();
          story += event.name + ", ";
          std::string law = Laws(before, world).Broken();
          if (law.empty()) law = DrainEnds(world);
          ASSERT_EQ(law, "") << story << world.Conditions();
        }
      }
    }
  }
}

std::string NameOf(const testing::TestParamInfo<RestartPolicy>& param) {
  switch (param.param) {
    case RestartPolicy::kNever:
      return "Never";
    case RestartPolicy::kOnFailure:
      return "OnFailure";
    case RestartPolicy::kAlways:
      return "Always";
    case RestartPolicy::kExitCode:
      return "ExitCode";
  }
  return "";
}

INSTANTIATE_TEST_SUITE_P(Policies, Exhaustive,
                         testing::Values(RestartPolicy::kNever, RestartPolicy::kOnFailure,
                                         RestartPolicy::kAlways, RestartPolicy::kExitCode),
                         NameOf);

}  // namespace
}  // namespace pondage::job
