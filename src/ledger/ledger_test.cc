#include "ledger/ledger.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"

namespace pondage::ledger {
namespace {

base::ReplicaId Replica(int job, int index, int incarnation = 1) {
  return {{job}, base::Role::kWorker, index, incarnation};
}

TEST(Ledger, AnIntervalIsChargedFromBindToRelease) {
  Ledger ledger;
  ledger.Open(
      {.replica = Replica(1, 0), .queue = "lab", .gpus = base::WholeGpus(2), .from = {1000}});
  EXPECT_TRUE(ledger.IsOpen(Replica(1, 0)));
  const Entry entry = ledger.Close(Replica(1, 0), {4500}, "finished");
  EXPECT_EQ(entry.MilliGpuMillis(), 2000 * 3500);
  EXPECT_EQ(entry.queue, "lab");
  EXPECT_EQ(entry.end, "finished");
  EXPECT_FALSE(ledger.IsOpen(Replica(1, 0)));
}

TEST(Ledger, AClockThatWentBackChargesNothing) {
  Ledger ledger;
  ledger.Open({.replica = Replica(1, 0), .gpus = base::WholeGpus(2), .from = {1000}});
  EXPECT_EQ(ledger.Close(Replica(1, 0), {400}, "failed").MilliGpuMillis(), 0);
}

TEST(LedgerDeathTest, NothingIsChargedTwice) {
  Ledger ledger;
  ledger.Open({.replica = Replica(1, 0)});
  EXPECT_DEATH(ledger.Open({.replica = Replica(1, 0)}), "required");
  EXPECT_DEATH(ledger.Close(Replica(1, 1), {}, "failed"), "required");
}

// L12: over any history, closed entries and open ones cut at the end sum to the integral of
// bindings.
TEST(Ledger, SumsEqualTheIntegralOfBindings) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    base::Random random(seed);
    Ledger ledger;
    std::int64_t integral = 0;
    std::int64_t bound_now = 0;  // milli-GPU
    std::int64_t charged = 0;
    std::vector<int> incarnation(8, 0);
    base::Instant now{1'000'000};
    for (int step = 0; step < 300; ++step) {
      const auto passed = static_cast<std::int64_t>(random.Below(100'000));
      integral += bound_now * passed;
      now = now + base::Millis{passed};
      const auto index = static_cast<int>(random.Below(incarnation.size()));
      int& times = incarnation[static_cast<std::size_t>(index)];
      if (ledger.IsOpen(Replica(1, index, times))) {
        const Entry entry = ledger.Close(Replica(1, index, times), now, "stopped");
        charged += entry.MilliGpuMillis();
        bound_now -= entry.gpus.value;
      } else {
        ++times;
        const base::MilliGpu gpus{random.Between(0, 16'000)};
        ledger.Open({.replica = Replica(1, index, times), .gpus = gpus, .from = now});
        bound_now += gpus.value;
      }
      std::int64_t open = 0;
      for (const auto& [replica, entry] : ledger.open()) {
        open += entry.gpus.value * (now - entry.from).value;
      }
      ASSERT_EQ(charged + open, integral) << "seed " << seed << " step " << step;
    }
  }
}

}  // namespace
}  // namespace pondage::ledger
