// What an exit means.
#include "job/exits.h"

#include <gtest/gtest.h>

#include "job/small_world.h"

namespace pondage::job {
namespace {

constexpr RestartPolicy kNever = RestartPolicy::kNever;
constexpr RestartPolicy kOnFailure = RestartPolicy::kOnFailure;
constexpr RestartPolicy kAlways = RestartPolicy::kAlways;
constexpr RestartPolicy kExitCode = RestartPolicy::kExitCode;

Replica Exited(int code) {
  Replica replica;
  replica.role = Role::kWorker;
  replica.present = true;
  replica.started = base::Instant{1};
  replica.exit = Exit{.code = code};
  return replica;
}

std::string Said(const Reading& reading) {
  switch (reading.meaning) {
    case Meaning::kDone:
      return "done";
    case Meaning::kIgnored:
      return "ignored";
    case Meaning::kFatal:
      return reading.permanent ? "fatal, permanent" : "fatal";
    case Meaning::kAgain:
      break;
  }
  std::string out = reading.counted ? "again, counted" : "again, free";
  if (reading.voluntary) out += ", voluntary";
  if (reading.in_place) out += ", in place";
  return out;
}

struct Row {
  const char* says;
  RestartPolicy policy;
  int code;
  const char* meaning;
};

TEST(Exits, ByPolicyAndCode) {
  const Row rows[] = {
      {"a clean exit ends the replica", kNever, 0, "done"},
      {"", kOnFailure, 0, "done"},
      {"code 0 is success, not a permanent code (O12)", kExitCode, 0, "done"},
      {"Always runs again whatever the code", kAlways, 0, "again, counted, in place"},
      {"", kAlways, 1, "again, counted, in place"},
      {"", kOnFailure, 1, "again, counted, in place"},
      {"", kOnFailure, 137, "again, counted, in place"},
      {"Never fails the job", kNever, 1, "fatal"},
      {"", kNever, 137, "fatal"},
      {"permanent codes", kExitCode, 1, "fatal, permanent"},
      {"", kExitCode, 2, "fatal, permanent"},
      {"", kExitCode, 3, "fatal, permanent"},
      {"", kExitCode, 127, "fatal, permanent"},
      {"", kExitCode, -1, "fatal, permanent"},
      {"retryable codes", kExitCode, 128, "again, counted"},
      {"", kExitCode, 130, "again, counted"},
      {"SIGSEGV is retried, as upstream", kExitCode, 139, "again, counted"},
      {"", kExitCode, 255, "again, counted"},
      {"42 is an ordinary code without notice", kExitCode, 42, "fatal, permanent"},
      {"", kNever, 42, "fatal"}};
  for (const Row& row : rows) {
    Spec spec;
    spec.roles[Role::kWorker] = Replicas(1, row.policy);
    EXPECT_EQ(Said(ReadExit(spec, Exited(row.code))), row.meaning) << row.says << ' ' << row.code;
  }
}

TEST(Exits, O9ADisruptionIsNobodysFault) {
  const Row rows[] = {{"", kAlways, 143, "again, free"},
                      {"", kOnFailure, 143, "again, free"},
                      {"even with a code that would be permanent", kExitCode, 1, "again, free"},
                      {"Never rules a second run out", kNever, 143, "fatal"},
                      {"it had finished in that moment", kNever, 0, "done"}};
  for (const Row& row : rows) {
    Spec spec;
    spec.roles[Role::kWorker] = Replicas(1, row.policy);
    Replica replica = Exited(row.code);
    replica.disrupted = true;
    EXPECT_EQ(Said(ReadExit(spec, replica)), row.meaning) << row.says;
  }
  Spec spec;
  spec.roles[Role::kWorker] = Replicas(1, kNever);
  Replica never_ran = Exited(137);
  never_ran.disrupted = true;
  never_ran.started.reset();
  EXPECT_EQ(Said(ReadExit(spec, never_ran)), "again, free") << "it has not run once";
}

TEST(Exits, FortyTwoAfterOurNoticeIsAlwaysFree) {
  for (const RestartPolicy policy : {kNever, kOnFailure, kAlways, kExitCode}) {
    Spec spec;
    spec.roles[Role::kWorker] = Replicas(1, policy);
    Replica replica = Exited(42);
    replica.stop_asked = base::Instant{5};
    EXPECT_EQ(Said(ReadExit(spec, replica)), "again, free");
  }
}

TEST(Exits, FortyTwoWithoutNoticeIsCountedWhereTheJobSaysSo) {
  const Row rows[] = {{"", kNever, 42, "again, counted, voluntary"},
                      {"", kExitCode, 42, "again, counted, voluntary"},
                      {"", kOnFailure, 42, "again, counted, voluntary, in place"},
                      {"another code is what it was", kNever, 43, "fatal"}};
  for (const Row& row : rows) {
    Spec spec;
    spec.requeue_exit_code = 42;
    spec.roles[Role::kWorker] = Replicas(1, row.policy);
    EXPECT_EQ(Said(ReadExit(spec, Exited(row.code))), row.meaning);
  }
}

TEST(Exits, ADynamicWorkerThatAsksToRunAgainDoes) {
  Spec spec;
  spec.dynamic_worker = true;
  spec.requeue_exit_code = 42;
  spec.roles[Role::kWorker] = Replicas(2, kNever);
  EXPECT_EQ(Said(ReadExit(spec, Exited(42))), "again, counted, voluntary");
  EXPECT_EQ(Said(ReadExit(spec, Exited(43))), "ignored");
}

TEST(Exits, ADynamicWorkerFailsTheJobByAPermanentCodeOnly) {
  const Row rows[] = {{"", kNever, 1, "ignored"},
                      {"", kOnFailure, 1, "again, counted, in place"},
                      {"", kExitCode, 137, "again, counted"},
                      {"", kExitCode, 1, "fatal, permanent"}};
  for (const Row& row : rows) {
    Spec spec;
    spec.dynamic_worker = true;
    spec.roles[Role::kWorker] = Replicas(2, row.policy);
    EXPECT_EQ(Said(ReadExit(spec, Exited(row.code))), row.meaning);
  }
}

TEST(Exits, OrderIsByTheMonotonicClockWithinOneBoot) {
  const Exit early{.code = 1, .at = {2'000}, .at_monotonic_ms = 10, .boot_id = "a"};
  const Exit late{.code = 1, .at = {1'000}, .at_monotonic_ms = 20, .boot_id = "a"};
  const Exit other_boot{.code = 1, .at = {1'500}, .at_monotonic_ms = 1, .boot_id = "b"};
  EXPECT_TRUE(IsEarlier(early, late)) << "the clock was set back between them";
  EXPECT_FALSE(IsEarlier(late, early));
  EXPECT_TRUE(IsEarlier(other_boot, early)) << "across boots only the time of day is known";
  EXPECT_TRUE(IsEarlier(late, other_boot));
}

TEST(Exits, DelaysDoubleUpToFiveMinutes) {
  const std::int64_t seconds[] = {10, 20, 40, 80, 160, 300, 300};
  for (int streak = 0; streak < 7; ++streak) {
    EXPECT_EQ(RestartDelay(streak, Settings{}), base::SecondsLong(seconds[streak]));
  }
  EXPECT_EQ(RestartDelay(1'000'000, Settings{}), base::SecondsLong(300));
}

}  // namespace
}  // namespace pondage::job
