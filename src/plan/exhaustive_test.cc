// Every small world against brute force: fleets of up to 3 machines x 2 GPUs, up to 3 gangs of up
// to 3 x 2, some GPUs held. Each plan is checked against the laws.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "plan/plan.h"
#include "plan/small_world.h"

namespace pondage::plan {
namespace {

using test::World;

// Free GPUs of each machine: the model that brute force works on.
using Free = std::vector<int>;

// Whether members of these sizes fit, by trying every machine for each.
bool Exists(Free& free, const std::vector<int>& members, std::size_t next = 0) {
  if (next == members.size()) return true;
  for (int& here : free) {
    if (here < members[next]) continue;
    here -= members[next];
    const bool fits = Exists(free, members, next + 1);
    here += members[next];
    if (fits) return true;
  }
  return false;
}

std::vector<int> MembersOf(const Ask& ask) {
  std::vector<int> members;
  for (const Group& group : ask.groups) {
    members.insert(members.end(), static_cast<std::size_t>(group.count), group.demand.gpus);
  }
  return members;
}

Free FreeOf(const fleet::Fleet& fleet) {
  Free free;
  for (const auto& [name, place] : fleet.places()) free.push_back(place.FreeGpus());
  return free;
}

Free Empty(const fleet::Fleet& fleet) {
  Free free;
  for (const auto& [name, place] : fleet.places()) {
    free.push_back(static_cast<int>(place.node.gpus.size()));
  }
  return free;
}

// Carries the plan out, which checks L1 and L2: Bind ends the process when a GPU is held twice.
fleet::Fleet After(World& world, const Plan& plan) {
  fleet::Fleet fleet = world.fleet();
  for (const Placement& placement : plan.start) {
    const auto ask = std::ranges::find(world.asks(), placement.job, &Ask::job);
    EXPECT_EQ(placement.grants.size(), MembersOf(*ask).size()) << "L2: a gang is bound whole";
    std::size_t member = 0;
    for (const fleet::Grant& grant : placement.grants) {
      EXPECT_TRUE(fleet.Fits(grant)) << "L1";
      EXPECT_EQ(static_cast<int>(grant.gpus.size()), MembersOf(*ask)[member++]);
      fleet.Bind(placement.job, grant);
    }
  }
  return fleet;
}

// The planner's rules 1 and 2 told again, by brute force: in order, a gang starts when it exists a
// placement in the GPUs that no earlier waiting gang can use.
std::vector<int> Expected(World& world) {
  std::vector<int> started;
  Free free = FreeOf(world.fleet());
  Free empty = Empty(world.fleet());
  std::vector<bool> kept(free.size(), false);
  for (const Ask& ask : world.asks()) {
    const std::vector<int> members = MembersOf(ask);
    Free open = free;
    for (std::size_t i = 0; i < open.size(); ++i) open[i] = kept[i] ? 0 : open[i];
    if (Exists(open, members)) {
      started.push_back(static_cast<int>(ask.job.value));
      return started;  // where it goes is the planner's choice: only the first start is foretold
    }
    if (!Exists(empty, members)) continue;
    for (std::size_t i = 0; i < empty.size(); ++i) kept[i] = kept[i] || empty[i] >= members[0];
  }
  return started;
}

void CheckReasons(World& world, const Plan& plan, const fleet::Fleet& after) {
  Free free = FreeOf(after);
  Free empty = Empty(after);
  for (const Refusal& refusal : plan.wait) {
    const auto ask = std::ranges::find(world.asks(), refusal.job, &Ask::job);
    const std::vector<int> members = MembersOf(*ask);
    EXPECT_FALSE(refusal.id.empty()) << "L9: a waiting job has a reason";
    EXPECT_FALSE(Sentence(refusal).empty()) << refusal.id;
    const bool fits = Exists(free, members);
    switch (refusal.constraint) {
      case Constraint::kNever:
        EXPECT_FALSE(Exists(empty, members));
        break;
      case Constraint::kOrder:
        EXPECT_TRUE(fits);
        EXPECT_GT(refusal.ahead_count, 0) << "somebody is ahead";
        break;
      case Constraint::kBusy:
      case Constraint::kFragmented:
        EXPECT_FALSE(fits);
        EXPECT_TRUE(Exists(empty, members));
        EXPECT_EQ(refusal.have >= refusal.need, refusal.constraint == Constraint::kFragmented);
        break;
      default:
        ADD_FAILURE() << ConstraintName(refusal.constraint);
    }
  }
  // L9: with nothing running, the first gang that can ever run does.
  if (plan.start.empty() && world.holdings().empty()) {
    for (const Refusal& refusal : plan.wait) EXPECT_EQ(refusal.constraint, Constraint::kNever);
  }
}

// `fleet`: GPUs of each machine and how many are held. Digits of `code` choose the gangs.
struct Case {
  std::vector<std::pair<int, int>> machines;  // GPUs, held
  std::vector<std::pair<int, int>> gangs;     // members, GPUs of each
};

World Make(const Case& c) {
  World world;
  for (std::size_t i = 0; i < c.machines.size(); ++i) {
    const std::string name = "n" + std::to_string(i);
    world.Machine(name, c.machines[i].first);
    if (c.machines[i].second > 0) {
      world.Run(100 + static_cast<int>(i), name, c.machines[i].second);
    }
  }
  for (std::size_t i = 0; i < c.gangs.size(); ++i) {
    world.Gang(static_cast<int>(i) + 1, c.gangs[i].first, c.gangs[i].second);
  }
  return world;
}

std::string Say(const Case& c) {
  std::string text = "machines";
  for (const auto& [gpus, held] : c.machines) {
    text += " " + std::to_string(gpus) + "-" + std::to_string(held);
  }
  text += " gangs";
  for (const auto& [members, gpus] : c.gangs) {
    text += " " + std::to_string(members) + "x" + std::to_string(gpus);
  }
  return text;
}

void Check(const Case& c) {
  SCOPED_TRACE(Say(c));
  World world = Make(c);
  const Plan plan = world.Plan();
  ASSERT_EQ(plan.start.size() + plan.wait.size(), c.gangs.size());
  const std::vector<int> expected = Expected(world);
  ASSERT_EQ(expected.empty(), plan.start.empty());
  if (!expected.empty()) {
    ASSERT_EQ(plan.start[0].job.value, expected[0]);
  }
  CheckReasons(world, plan, After(world, plan));
}

void ForAllGangs(Case& c, std::size_t count, const std::function<void(const Case&)>& check) {
  if (c.gangs.size() == count) {
    check(c);
    return;
  }
  for (int members = 1; members <= 3; ++members) {
    for (int gpus = 1; gpus <= 2; ++gpus) {
      c.gangs.emplace_back(members, gpus);
      ForAllGangs(c, count, check);
      c.gangs.pop_back();
    }
  }
}

void ForAllFleets(Case& c, std::size_t count, const std::function<void(Case&)>& next) {
  if (c.machines.size() == count) {
    next(c);
    return;
  }
  for (int gpus = 1; gpus <= 2; ++gpus) {
    for (int held = 0; held <= gpus; ++held) {
      c.machines.emplace_back(gpus, held);
      ForAllFleets(c, count, next);
      c.machines.pop_back();
    }
  }
}

TEST(SmallWorlds, EveryPlanIsTheOneOfBruteForceAndKeepsTheLaws) {
  int worlds = 0;
  for (std::size_t machines = 1; machines <= 3; ++machines) {
    for (std::size_t gangs = 1; gangs <= 3; ++gangs) {
      Case c;
      ForAllFleets(c, machines, [&](Case& fleet) {
        ForAllGangs(fleet, gangs, [&](const Case& one) {
          ++worlds;
          Check(one);
        });
      });
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_EQ(worlds, (5 + 25 + 125) * (6 + 36 + 216));
}

// Members that differ: the search is complete within its budget, which small worlds never reach.
TEST(SmallWorlds, MixedGangsStartWhenAPlacementExists) {
  base::Random random(11);
  for (int round = 0; round < 20'000; ++round) {
    World world;
    const auto machines = random.Between(1, 4);
    for (std::int64_t i = 0; i < machines; ++i) {
      world.Machine("n" + std::to_string(i), static_cast<int>(random.Between(0, 5)));
    }
    Ask& ask = world.Gang(1, static_cast<int>(random.Between(1, 3)),
                          static_cast<int>(random.Between(1, 4)));
    ask.groups.insert(ask.groups.begin(),
                      {base::Role::kChief, 1, {.gpus = static_cast<int>(random.Between(0, 4))}});
    ask.groups.push_back({base::Role::kEvaluator,
                          static_cast<int>(random.Between(0, 2)),
                          {.gpus = static_cast<int>(random.Between(1, 3))}});
    Free free = FreeOf(world.fleet());
    const bool exists = Exists(free, MembersOf(ask));
    const Plan plan = world.Plan();
    ASSERT_EQ(plan.start.size(), exists ? 1u : 0u) << "round " << round;
    After(world, plan);
    ASSERT_TRUE(exists || plan.wait[0].proven);
  }
}

// L13: the order of asks and holdings in their containers changes nothing.
// L4: use stays within the limit at every level, whatever starts.
TEST(SmallWorlds, OrderOfInputsChangesNothingAndLimitsHold) {
  base::Random random(23);
  for (int round = 0; round < 2000; ++round) {
    World world;
    world.Queue("lab", static_cast<int>(random.Between(1, 8)),
                static_cast<int>(random.Between(0, 4)));
    world.Queue("nlp", static_cast<int>(random.Between(1, 8)),
                static_cast<int>(random.Between(0, 2)), "lab");
    const char* const queues[] = {"default", "lab", "nlp", "nowhere"};
    for (int i = 0; i < 3; ++i) {
      world.Machine("n" + std::to_string(i), static_cast<int>(random.Between(0, 4)),
                    random.OneIn(3) ? "B" : "A");
    }
    for (int job = 1; job <= 8; ++job) {
      Ask& ask = world.Gang(job, static_cast<int>(random.Between(1, 3)),
                            static_cast<int>(random.Between(0, 2)), queues[random.Below(4)]);
      ask.priority = static_cast<int>(random.Between(0, 2));
      ask.arrived = {random.Between(0, 3)};
      ask.held = random.OneIn(8);
      if (random.OneIn(4)) ask.groups[0].demand.gpu_type = "B";
      ask.groups[0].demand.cpu = {random.Between(0, 40) * 1000};
    }
    const Plan plan = world.Plan();
    ASSERT_EQ(plan.start.size() + plan.wait.size(), 8u);
    queue::Tree queues_after = world.queues();
    for (const Placement& placement : plan.start) {
      const auto ask = std::ranges::find(world.asks(), placement.job, &Ask::job);
      std::int64_t gpus = 0;
      for (const fleet::Grant& grant : placement.grants) {
        gpus += static_cast<std::int64_t>(grant.gpus.size());
      }
      ASSERT_FALSE(queues_after.WouldExceed(ask->queue, base::WholeGpus(gpus))) << "L4";
      queues_after.Charge(ask->queue, base::WholeGpus(gpus));
    }
    After(world, plan);
    for (const Refusal& refusal : plan.wait) {
      ASSERT_TRUE(refusal.constraint != Constraint::kOrder || refusal.ahead_count > 0)
          << "round " << round << " job " << refusal.job.value;
    }
    std::ranges::reverse(world.asks());
    std::ranges::reverse(world.holdings());
    const Plan again = world.Plan();
    ASSERT_EQ(plan.wait, again.wait);
    ASSERT_EQ(plan.start.size(), again.start.size());
    for (std::size_t i = 0; i < plan.start.size(); ++i) {
      ASSERT_EQ(plan.start[i].job, again.start[i].job);
      ASSERT_EQ(plan.start[i].grants, again.start[i].grants);
    }
  }
}

}  // namespace
}  // namespace pondage::plan
