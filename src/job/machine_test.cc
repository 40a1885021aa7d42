#include "job/machine.h"

#include <gtest/gtest.h>

#include "job/small_world.h"

namespace pondage::job {
namespace {

Spec Workers(int count, RestartPolicy restart) {
  Spec spec;
  spec.roles[Role::kWorker] = Replicas(count, restart);
  return spec;
}

TEST(Machine, OneWorkerRunsAndSucceeds) {
  SmallWorld world(Workers(1, RestartPolicy::kNever));
  EXPECT_EQ(world.Conditions(), "Created");
  world.Step();
  EXPECT_EQ(world.Log(), "bind worker-0.1");
  world.StartsAll();
  world.Step();
  EXPECT_EQ(world.Conditions(), "Created Running");
  EXPECT_EQ(world.status.counts[Role::kWorker].active, 1);
  world.Exits(Role::kWorker, 0, 0);
  world.Step();
  EXPECT_EQ(world.Log(), "release worker-0.1 finished");
  EXPECT_EQ(world.Conditions(), "Created Running=False Succeeded");
  EXPECT_EQ(world.Last().message, "TFJob ml/mnist successfully completed.");
  EXPECT_EQ(world.status.stage, Stage::kEnded);
  EXPECT_EQ(world.status.counts[Role::kWorker], (Counts{0, 1, 0}));
  EXPECT_TRUE(world.broken.empty()) << world.broken.front();
}

TEST(Machine, AGangRestartsAsAWhole) {
  SmallWorld world(Workers(2, RestartPolicy::kOnFailure));
  world.Step();
  world.StartsAll();
  world.Step();
  world.Log();
  world.Exits(Role::kWorker, 1, 137);
  world.Step();
  EXPECT_EQ(world.Log(), "kill worker-0.1; release worker-1.1 restart");
  EXPECT_EQ(world.Conditions(), "Created Restarting");
  EXPECT_EQ(world.Last().message, "job mnist is restarting because Worker replica(s) failed.");
  world.Exits(Role::kWorker, 0, 137);
  world.Step();
  EXPECT_EQ(world.Log(), "release worker-0.1 restart; remove worker-0.1; remove worker-1.1");
  EXPECT_EQ(world.status.cause_replica, "worker-1");
  EXPECT_FALSE(world.wants);
  world.Pass(9'999);
  EXPECT_EQ(world.Log(), "");
  world.Pass(1);
  EXPECT_EQ(world.Log(), "bind worker-0.2; bind worker-1.2");
  world.StartsAll();
  world.Step();
  EXPECT_EQ(world.Conditions(), "Created Running");
  EXPECT_TRUE(world.broken.empty()) << world.broken.front();
}

}  // namespace
}  // namespace pondage::job
