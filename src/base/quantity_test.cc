#include "base/quantity.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/id.h"
#include "base/instant.h"

namespace pondage::base {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

TEST(Quantity, SumsAreExact) {
  EXPECT_EQ(WholeGpus(3) + MilliGpu{500}, MilliGpu{3500});
  EXPECT_EQ(Bytes{10} - Bytes{12}, Bytes{-2});
  EXPECT_EQ(MilliCpu{1500} * 4, MilliCpu{6000});
  EXPECT_LT(WholeGpus(1), MilliGpu{1001});
  EXPECT_EQ(Bytes{kMost - 1} + Bytes{1}, Bytes{kMost});
  EXPECT_EQ(Bytes{kLeast + 1} - Bytes{1}, Bytes{kLeast});
}

// A quantity that wrapped would be granted: the process ends instead.
TEST(QuantityDeathTest, LeavingInt64EndsTheProcess) {
  EXPECT_DEATH(static_cast<void>(Bytes{kMost} + Bytes{1}), "required");
  EXPECT_DEATH(static_cast<void>(Bytes{kLeast} - Bytes{1}), "required");
  EXPECT_DEATH(static_cast<void>(Bytes{kMost / 2} * 3), "required");
  EXPECT_DEATH(static_cast<void>(Bytes{kLeast} * -1), "required");
}

TEST(Instant, LengthsAndNever) {
  const Instant start{1'000'000};
  EXPECT_EQ(start + SecondsLong(2), Instant{1'002'000});
  EXPECT_EQ((start + SecondsLong(2)) - start, Millis{2000});
  EXPECT_LT(start, kNever);
}

TEST(ReplicaId, OrderIsJobRoleIndexIncarnation) {
  const ReplicaId first{{1}, Role::kChief, 0, 9};
  EXPECT_LT(first, (ReplicaId{{1}, Role::kWorker, 0, 1}));
  EXPECT_LT((ReplicaId{{1}, Role::kWorker, 9, 9}), (ReplicaId{{2}, Role::kChief, 0, 1}));
  EXPECT_LT((ReplicaId{{1}, Role::kWorker, 1, 1}), (ReplicaId{{1}, Role::kWorker, 1, 2}));
}

}  // namespace
}  // namespace pondage::base
