#include "job/lengths.h"

#include <gtest/gtest.h>

#include "job/small_world.h"

namespace pondage::job {
namespace {

constexpr base::Instant kNow{kStartOfTime};
constexpr base::Millis kHour{3'600'000};

base::Instant In(std::int64_t seconds) {
  return kNow + base::Millis{seconds * 1'000};
}

// As it is stored in the moment `now`: each kind of instant that is waited for, and what has been.
Status Stored(base::Instant now) {
  const auto in = [now](std::int64_t seconds) { return now + base::Millis{seconds * 1'000}; };
  Status status;
  status.start_time = status.bound = in(-50);
  status.checkpoint = Checkpoint{.step = 7, .at = in(-5), .path = "ckpt-7"};
  status.streak = 2;
  status.not_before = in(20);
  status.drain_deadline = in(600);
  for (int index = 0; index < 3; ++index) {
    status.replicas.push_back({.role = Role::kWorker, .index = index});
    status.replicas.back().granted = in(-50);
    status.replicas.back().started = in(-49);
  }
  status.replicas[0].stop_asked = in(0);  // its Pod is deleted, with a grace of its own
  status.replicas[0].kill_at = status.replicas[0].delete_by = in(600);
  status.replicas[1].stop_asked = in(0);
  status.replicas[1].kill_at = in(30);
  status.replicas[2].streak = 1;
  status.replicas[2].restart_at = in(10);
  return status;
}

Spec Workers() {
  Spec spec;
  spec.roles[Role::kWorker] = Replicas(3);
  return spec;
}

TEST(Lengths, AreLeftAsTheyAreWhenTheClockWentOn) {
  for (const base::Millis later : {base::Millis{0}, base::Millis{15'000}, kHour}) {
    Status status = Stored(kNow);
    KeepLengths(Workers(), status, kNow + later, {});
    EXPECT_EQ(status, Stored(kNow)) << later.value;
  }
}

TEST(Lengths, AreKeptWhenTheClockWasSetBack) {
  Status status = Stored(kNow + kHour);
  KeepLengths(Workers(), status, kNow, {});
  EXPECT_EQ(status.not_before, In(20));
  EXPECT_EQ(status.drain_deadline, In(600));
  EXPECT_EQ(status.replicas[0].kill_at, In(600));
  EXPECT_EQ(status.replicas[0].delete_by, In(600));
  EXPECT_EQ(status.replicas[1].kill_at, In(30));
  EXPECT_EQ(status.replicas[2].restart_at, In(10));
  for (const auto& past : {status.start_time, status.bound, status.replicas[0].granted,
                           status.replicas[0].started, status.replicas[0].stop_asked}) {
    EXPECT_EQ(past, kNow) << "what has been is not ahead";
  }
  EXPECT_EQ(status.checkpoint->at, kNow);
}

}  // namespace
}  // namespace pondage::job
