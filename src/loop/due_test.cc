// Finished jobs stay as long, and as many, as their author or the server's owner says.
#include <algorithm>

#include "loop/test_loop.h"

namespace pondage::loop {
namespace {

class DueTest : public LoopTest {
 protected:
  void Keep(std::optional<base::Millis> length, std::optional<std::int64_t> count) {
    settings_.keep_finished = length;
    settings_.keep_finished_count = count;
    MakeLoop();
    loop_->Turn();
  }

  // Runs a job to its end, a second after the one before.
  void Finish(const std::string& name, std::optional<int> ttl_s = {}) {
    clock_.Set(clock_.Now() + base::SecondsLong(1));
    boost::json::object job = Job(name, 1);
    if (ttl_s) job["spec"].as_object()["runPolicy"] = {{"ttlSecondsAfterFinished", *ttl_s}};
    ASSERT_TRUE(Create(kTfJobs, "default", job));
    loop_->Tell(port::Exited{.uid = runner_.last_uid, .code = 0, .reason = "Completed"});
    loop_->Turn();
  }

  // Turns until there is nothing to be done by itself at this instant.
  base::Instant Rest() {
    base::Instant next = loop_->Turn();
    for (int turns = 0; next <= clock_.Now() && turns < 100; ++turns) next = loop_->Turn();
    EXPECT_GT(next, clock_.Now()) << "it spins";
    return next;
  }

  std::string Names() {
    std::string names;
    const auto jobs = store_.List({.kind = kTfJobs});
    for (const port::Object& job : jobs->objects) names += job.key.name + " ";
    return names;
  }
};

TEST_F(DueTest, BeyondTheCountTheOldestGoesWithAllItHad) {
  Keep({}, 2);
  for (const char* name : {"c", "a", "d", "b"}) Finish(name);
  const std::string uid_of_c = store_.Get({"pods", "default", "d-worker-0"})->uid;
  Rest();
  EXPECT_EQ(Names(), "b d ");
  EXPECT_EQ(Count("pods"), 2u);
  EXPECT_EQ(Count("services"), 2u);
  EXPECT_EQ(launcher_->discarded.size(), 2u);
  EXPECT_EQ(
      std::ranges::count_if(runner_.orders,
                            [](const std::string& order) { return order.starts_with("erase"); }),
      2)
      << "their logs";
  EXPECT_FALSE(std::ranges::count(runner_.orders, "erase " + uid_of_c));
}

TEST_F(DueTest, NoneAreKeptWhenNoneAreWanted) {
  Keep({}, 0);
  Finish("a");
  Rest();
  EXPECT_EQ(Names(), "");
}

TEST_F(DueTest, WhoHasATtlIsNeitherCountedNorTakenEarlier) {
  Keep({}, 1);
  Finish("ttl", 3'600);
  Finish("a");
  Finish("b");
  Rest();
  EXPECT_EQ(Names(), "b ttl ");
  clock_.Set(clock_.Now() + base::SecondsLong(3'600));
  Rest();
  EXPECT_EQ(Names(), "b ");
}

TEST_F(DueTest, TheNumberIsTrueAfterARestartADeleteAndAnEdit) {
  Keep({}, 3);
  for (const char* name : {"a", "b", "c"}) Finish(name);
  ASSERT_TRUE(Delete(kTfJobs, "b"));
  boost::json::object edited = Stored(kTfJobs, "c");
  edited["metadata"].as_object()["labels"] = {{"seen", "yes"}};
  ASSERT_TRUE(Replace(kTfJobs, edited));
  ASSERT_TRUE(Delete(kTfJobs, "no-such").has_value() == false);
  Finish("d");
  Rest();
  EXPECT_EQ(Names(), "a c d ");
  MakeLoop();
  Finish("e");
  Rest();
  EXPECT_EQ(Names(), "c d e ");
  edited = Stored(kTfJobs, "c");
  edited["spec"].as_object()["runPolicy"] = {{"ttlSecondsAfterFinished", 9'999}};
  ASSERT_TRUE(Replace(kTfJobs, edited));
  Finish("f");
  Rest();
  EXPECT_EQ(Names(), "c d e f ") << "c obeys its own TTL now";
}

TEST_F(DueTest, ByAgeTheOldestGoesWhenItsTimeHasCome) {
  Keep(base::SecondsLong(60), {});
  Finish("a");
  Finish("b");
  const base::Instant next = Rest();
  EXPECT_EQ(Names(), "a b ");
  clock_.Set(clock_.Now() + base::SecondsLong(59));
  EXPECT_LE(next, clock_.Now());
  Rest();
  EXPECT_EQ(Names(), "b ");
  clock_.Set(clock_.Now() + base::SecondsLong(1));
  Rest();
  EXPECT_EQ(Names(), "");
}

TEST_F(DueTest, ANewSettingIsAboutThoseThatAreThere) {
  for (const char* name : {"a", "b", "c"}) Finish(name);
  Rest();
  EXPECT_EQ(Names(), "a b c ");
  Keep({}, 1);
  Rest();
  EXPECT_EQ(Names(), "c ");
  clock_.Set(clock_.Now() + base::SecondsLong(100));
  Keep(base::SecondsLong(10), {});
  Rest();
  EXPECT_EQ(Names(), "");
}

TEST_F(DueTest, OneThatCannotBeReadHoldsUpNobody) {
  Keep({}, 1);
  Finish("a");
  store_.damaged.insert({kTfJobs, "default", "a"});
  Finish("b");
  Rest();
  Finish("c");
  Rest();
  store_.damaged.clear();
  EXPECT_EQ(Names(), "a c ");
}

// One that cannot be read is no reason to let others go earlier, or to keep them longer.
TEST_F(DueTest, OneThatCannotBeReadIsNotCounted) {
  Keep({}, 2);
  Finish("a");
  Finish("b");
  store_.damaged.insert({kTfJobs, "default", "a"});
  Finish("c");
  Rest();
  EXPECT_EQ(loop_->Unreadable().size(), 1u);
  loop_->See({.name = "n2", .cpu = {1'000}, .memory = {1 << 30}}, {});
  faulty_.SetOdds({1, 0});  // a failed commit: all is loaded anew
  loop_->Turn();
  faulty_.SetOdds({0, 0});
  Rest();
  EXPECT_EQ(loop_->Unreadable().size(), 1u);
  store_.damaged.clear();
  EXPECT_EQ(Names(), "a b c ");
  store_.damaged.insert({kTfJobs, "default", "a"});
  Finish("d");
  Rest();
  ASSERT_TRUE(Delete(kTfJobs, "a"));
  store_.damaged.clear();
  Finish("e");
  Rest();
  EXPECT_EQ(Names(), "d e ");
}

TEST_F(DueTest, OneWithATtlOfItsOwnThatCannotBeReadWasNeverCounted) {
  Keep({}, 1);
  Finish("ttl", 60);
  Finish("a");
  store_.damaged.insert({kTfJobs, "default", "ttl"});
  clock_.Set(clock_.Now() + base::SecondsLong(61));
  Rest();
  Finish("b");
  Rest();
  store_.damaged.clear();
  EXPECT_EQ(Names(), "b ttl ");
}

}  // namespace
}  // namespace pondage::loop
