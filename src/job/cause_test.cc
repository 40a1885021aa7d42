// Whatever order exits are told in, and in whatever batches: the cause is the one that happened
// first, with the reason that it had.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numeric>

#include "job/small_world.h"

namespace pondage::job {
namespace {

constexpr Role kC = Role::kChief, kP = Role::kPs, kW = Role::kWorker, kE = Role::kEvaluator;

struct Ended {
  Role role;
  int index;
  int code;
  std::int64_t ms_ago;
};
enum class Outcome : std::uint8_t { kFails, kRestarts, kByOrder };
struct Row {
  const char* says;
  RestartPolicy policy;
  std::map<Role, int> replicas;
  std::vector<Ended> exits;
  const char* cause;
  Outcome outcome;
};

constexpr RestartPolicy kNever = RestartPolicy::kNever, kOnFailure = RestartPolicy::kOnFailure,
                        kExitCode = RestartPolicy::kExitCode;

const std::vector<Row>& Rows() {
  static const std::vector<Row> rows = {
      {"a gang fails by its first exit",
       kNever,
       {{kW, 4}},
       {{kW, 2, 3, 300}, {kW, 0, 1, 200}, {kW, 1, 2, 100}},
       "worker-2 3",
       Outcome::kFails},
      {"a gang restarts by its first exit",
       kOnFailure,
       {{kW, 4}},
       {{kW, 2, 3, 300}, {kW, 0, 1, 200}, {kW, 1, 2, 100}},
       "worker-2 3",
       Outcome::kRestarts},
      {"a clean exit before it is nobody's cause",
       kOnFailure,
       {{kW, 4}},
       {{kW, 1, 0, 300}, {kW, 0, 1, 200}, {kW, 2, 2, 100}},
       "worker-0 1",
       Outcome::kRestarts},
      {"a permanent code that came first fails the job though a retryable one is told before it",
       kExitCode,
       {{kW, 3}},
       {{kW, 1, 1, 300}, {kW, 0, 137, 200}, {kW, 2, 139, 100}},
       "worker-1 1",
       Outcome::kFails},
      {"a failure that was told is not taken back; its cause is set right",
       kExitCode,
       {{kW, 3}},
       {{kW, 1, 137, 300}, {kW, 0, 1, 200}, {kW, 2, 139, 100}},
       "worker-1 137",
       Outcome::kByOrder},
      {"an evaluator that restarts alone does not end the others' attempt",
       kOnFailure,
       {{kW, 3}, {kE, 1}},
       {{kE, 0, 9, 300}, {kW, 1, 1, 200}, {kW, 0, 2, 100}},
       "worker-1 1",
       Outcome::kRestarts},
      {"members of independent replicas: the first that is fatal, not the first by type",
       kNever,
       {{kP, 1}, {kC, 1}, {kW, 2}},
       {{kW, 1, 5, 300}, {kW, 0, 4, 200}, {kC, 0, 3, 100}},
       "worker-1 5",
       Outcome::kFails},
  };
  return rows;
}

std::string CauseOf(const Status& status) {
  return status.cause ? fmt::format("{} {}", status.cause_replica, status.cause->code) : "none";
}

// `ends`: bit i says that the batch ends behind the i-th exit.
SmallWorld Told(const Row& row, const std::vector<std::size_t>& order, unsigned ends) {
  Spec spec;
  for (const auto& [role, count] : row.replicas) spec.roles[role] = Replicas(count, row.policy);
  SmallWorld world(spec);
  world.Step();
  world.StartsAll();
  world.Pass(60'000);
  for (std::size_t at = 0; at < order.size(); ++at) {
    const Ended& exit = row.exits[order[at]];
    world.Exits(exit.role, exit.index, exit.code, exit.ms_ago);
    if (((ends >> at) & 1U) != 0 || at + 1 == order.size()) world.Step();
  }
  return world;
}

void ExpectTruth(const Row& row, SmallWorld& world) {
  const Status& status = world.status;
  EXPECT_EQ(CauseOf(status), row.cause);
  EXPECT_EQ(status.cause->reason, "Error");
  const bool failed = IsTrue(status, "Failed");
  EXPECT_TRUE(row.outcome == Outcome::kByOrder || failed == (row.outcome == Outcome::kFails));
  const auto of_attempt = [&](const Past& past) { return past.replica == status.cause_replica; };
  EXPECT_EQ(std::ranges::count_if(status.history, of_attempt), failed ? 0 : 1);
  for (const Ended& exit : row.exits) {
    const Replica& replica = world.Of(exit.role, exit.index);
    EXPECT_NE((replica.exit ? replica.exit : replica.last_exit)->reason, "StoppedWithJob")
        << "it ended before the job did";
  }
  // Whoever was left ends by our order.
  world.now = world.now + base::SecondsLong(1);
  for (const Replica& replica : std::vector(status.replicas)) {
    if (!replica.killed && !replica.stop_asked) continue;
    if (!replica.alive) continue;
    world.Exits(replica.role, replica.index, 137);
    world.Step();
    if (failed) {
      EXPECT_EQ(world.Of(replica.role, replica.index).exit->reason, "StoppedWithJob");
    }
  }
  EXPECT_EQ(CauseOf(status), row.cause);
  EXPECT_EQ(status.cause->reason, "Error");
  for (const std::string& broken : world.broken) ADD_FAILURE() << broken;
}

TEST(Cause, IsTheFirstExitWhateverOrderTheyAreToldIn) {
  int tried = 0;
  for (const Row& row : Rows()) {
    std::vector<std::size_t> order(row.exits.size());
    std::iota(order.begin(), order.end(), 0);
    do {
      for (unsigned ends = 0; ends < 1U << (order.size() - 1); ++ends) {
        SCOPED_TRACE(fmt::format("{}: order {}{}{}, batches {:b}", row.says, order[0], order[1],
                                 order[2], ends));
        SmallWorld world = Told(row, order, ends);
        ExpectTruth(row, world);
        ++tried;
        if (testing::Test::HasFailure()) return;
      }
    } while (std::ranges::next_permutation(order).found);
  }
  EXPECT_EQ(tried, static_cast<int>(Rows().size()) * 6 * 4);
}

// What ended an earlier attempt is not why the job failed.
TEST(Cause, IsTheExitThatReachedTheLimit) {
  Spec spec;
  spec.backoff_limit = 2;
  for (const Role role : {Role::kPs, Role::kWorker}) {
    spec.roles[role] = Replicas(2, RestartPolicy::kOnFailure);
  }
  SmallWorld world(spec);
  world.Step();
  world.StartsAll();
  world.Step();
  world.Exits(Role::kPs, 0, 7);
  world.Step();
  for (const Role role : {Role::kPs, Role::kWorker}) {
    for (const int index : {0, 1}) world.Exits(role, index, 137);
  }
  world.Step();
  world.Pass(10'000);
  world.StartsAll();
  world.Exits(Role::kWorker, 1, 3);
  world.Step();
  ASSERT_TRUE(IsTrue(world.status, "Failed"));
  EXPECT_EQ(world.status.cause_replica, "worker-1");
  EXPECT_EQ(world.status.cause->code, 3);
}

}  // namespace
}  // namespace pondage::job
