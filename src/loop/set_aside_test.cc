// One object that cannot be read or understood, of whatever kind, costs nobody else anything.
#include "loop/set_aside.h"

#include <algorithm>

#include "loop/test_loop.h"
#include "pool/pool.h"

namespace pondage::loop {
namespace {

class SetAsideTest : public LoopTest {
 protected:
  enum class Harm { kNoObject, kUnreadable, kOdd };

  // As a damaged disk, an older program or a bug would leave it.
  void Hurt(const port::Key& key, Harm harm) {
    if (harm == Harm::kUnreadable) {
      store_.damaged.insert(key);
      return;
    }
    const port::Object old = *store_.Get(key);
    port::Change change{
        .key = key, .uid = old.uid, .facets = *old.facets, .live = true, .due = std::nullopt};
    boost::json::object object = manifest::ParseJson(*old.body)->as_object();
    if (harm == Harm::kOdd) {
      object["spec"] = "odd";
      object["value"] = "odd";
      object["metadata"].as_object()["annotations"] = {{"pondage.dev/gpus", "odd"}};
      manifest::Packed packed = manifest::Pack(object);
      change.body = packed.body;
      change.splice = packed.splice;
    } else {
      change.body = "no object";
    }
    ASSERT_TRUE(store_.Commit({.changes = {change}, .records = {}}));
  }

  void Restart() {
    runner_.orders.clear();
    MakeLoop();
    loop_->Turn();
  }

  std::string BodyOf(const port::Key& key) {
    store_.damaged.clear();
    return *store_.Get(key)->body;
  }

  bool IsTold(const std::string& name) {
    const auto events = store_.List({.kind = "events"});
    return events && std::ranges::any_of(events->objects, [&name](const port::Object& event) {
             return event.body->contains("\"Unreadable\"") &&
                    event.body->contains("\"name\":\"" + name + "\"");
           });
  }

  const port::Key job_{kTfJobs, "default", "a"};
};

TEST_F(SetAsideTest, WhateverItIsTheServerComesUpAndSaysSo) {
  ASSERT_TRUE(Create("priorityclasses.scheduling.k8s.io", "",
                     boost::json::object{{"apiVersion", "scheduling.k8s.io/v1"},
                                         {"kind", "PriorityClass"},
                                         {"metadata", {{"name", "high"}, {"uid", "p"}}},
                                         {"value", 7}}));
  ASSERT_TRUE(Create("queues.pondage.dev", "", Object("pondage.dev/v1alpha1", "Queue", "lab", {})));
  ASSERT_TRUE(Create(kTfJobs, "default", Job("a", 1)));
  const std::vector<port::Key> keys = {{"priorityclasses.scheduling.k8s.io", "", "high"},
                                       {"queues.pondage.dev", "", "lab"},
                                       {"nodes", "", "n1"},
                                       job_};
  int number = 0;
  for (const port::Key& key : keys) {
    const port::Object whole = *store_.Get(key);
    for (const Harm harm : {Harm::kNoObject, Harm::kUnreadable, Harm::kOdd}) {
      SCOPED_TRACE(key.kind);
      Hurt(key, harm);
      const std::string before = harm == Harm::kUnreadable ? *whole.body : *store_.Get(key)->body;
      Restart();
      ASSERT_TRUE(loop_->loaded());
      ASSERT_EQ(loop_->Unreadable().size(), 1u);
      EXPECT_TRUE(loop_->Unreadable().front().contains(key.name)) << loop_->Unreadable().front();
      EXPECT_TRUE(IsTold(key.name));
      loop_->See({.name = "n1", .cpu = {8'000}, .memory = {std::int64_t{1} << 36}}, {});
      loop_->Turn();
      EXPECT_EQ(pool::BrokenLaws(loop_->pool()), std::vector<std::string>());
      EXPECT_TRUE(
          Create(kTfJobs, "default", Job("other" + std::to_string(number++), 1)).has_value());
      EXPECT_EQ(BodyOf(key), before) << "it is left as it is";
      ASSERT_TRUE(store_.Commit({.changes = {{.key = key,
                                              .uid = whole.uid,
                                              .body = *whole.body,
                                              .splice = whole.splice,
                                              .facets = *whole.facets,
                                              .live = true}},
                                 .records = {}}));
    }
  }
  Restart();
  EXPECT_TRUE(loop_->Unreadable().empty());
}

TEST_F(SetAsideTest, ItsProgramsGoOnAndItsGpusAreNobodyElses) {
  for (const Harm harm : {Harm::kNoObject, Harm::kUnreadable, Harm::kOdd}) {
    ASSERT_TRUE(Create(kTfJobs, "default", Job("a", 2)));
    loop_->Tell(port::Started{.uid = runner_.last_uid, .at = clock_.Now()});
    loop_->Turn();
    const port::Object whole = *store_.Get(job_);
    Hurt(job_, harm);
    Restart();
    EXPECT_EQ(
        std::ranges::count_if(runner_.orders,
                              [](const std::string& order) { return order.starts_with("adopt"); }),
        2);
    ASSERT_TRUE(Create(kTfJobs, "default", Job("b", 1)));
    EXPECT_EQ(runner_.orders.size(), 2u) << "nothing is killed and nothing is started";
    EXPECT_TRUE(StatusOf("b").reason->message.contains("default/a")) << "it says who holds them";
    if (harm != Harm::kUnreadable) {
      EXPECT_FALSE(Delete("pods", "a-worker-0").has_value()) << "the pool would forget its GPUs";
    }
    ASSERT_TRUE(Delete(kTfJobs, "b"));
    // Mended, it goes on as if nothing had been.
    store_.damaged.clear();
    ASSERT_TRUE(store_.Commit({.changes = {{.key = job_,
                                            .uid = whole.uid,
                                            .body = *whole.body,
                                            .splice = whole.splice,
                                            .facets = *whole.facets,
                                            .live = true}},
                               .records = {}}));
    Restart();
    EXPECT_EQ(loop_->pool().jobs().size(), 1u);
    EXPECT_TRUE(loop_->pool().kept().empty());
    ASSERT_TRUE(Delete(kTfJobs, "a"));
    for (int worker = 0; worker < 2; ++worker) {
      const auto pod = store_.Get({"pods", "default", fmt::format("a-worker-{}", worker)});
      loop_->Tell(port::Exited{.uid = pod->uid, .code = 143, .reason = "Error"});
    }
    loop_->Turn();
    ASSERT_EQ(Count(kTfJobs), 0u);
  }
}

TEST_F(SetAsideTest, OneThatIsMendedByAWriteIsThePoolsAgain) {
  ASSERT_TRUE(Create(kTfJobs, "default", Job("a", 1)));
  const std::string uid = runner_.last_uid;
  const boost::json::object whole = Stored(kTfJobs, "a");
  Hurt(job_, Harm::kOdd);
  Restart();
  ASSERT_TRUE(Replace(kTfJobs, whole));
  loop_->Turn();
  EXPECT_TRUE(loop_->Unreadable().empty());
  loop_->Tell(port::Exited{.uid = uid, .code = 0, .reason = "Completed"});
  loop_->Turn();
  EXPECT_TRUE(job::IsTrue(StatusOf("a"), "Succeeded"));
}

TEST_F(SetAsideTest, OneThatIsDeletedGivesItsGpusBackWhenItsLastProgramIsGone) {
  ASSERT_TRUE(Create(kTfJobs, "default", Job("a", 2)));
  Hurt(job_, Harm::kOdd);
  Restart();
  std::vector<std::string> uids;
  const auto pods = store_.List({.kind = "pods"});
  for (const port::Object& pod : pods->objects) uids.push_back(pod.uid);
  ASSERT_TRUE(Delete(kTfJobs, "a"));
  EXPECT_EQ(Count(kTfJobs), 0u);
  for (const std::string& uid : uids) {
    EXPECT_TRUE(std::ranges::count(runner_.orders, "kill " + uid));
    EXPECT_EQ(loop_->pool().kept().size(), 1u);
    loop_->Tell(port::Exited{.uid = uid, .code = 137, .reason = "Error"});
    loop_->Turn();
    EXPECT_TRUE(std::ranges::count(runner_.orders, "forget " + uid));
  }
  EXPECT_TRUE(loop_->pool().kept().empty());
  ASSERT_TRUE(Create(kTfJobs, "default", Job("b", 2)));
  EXPECT_EQ(StatusOf("b").stage, job::Stage::kBound);
}

TEST_F(SetAsideTest, TheEndOfItsProgramIsKeptForWhoeverMendsIt) {
  ASSERT_TRUE(Create(kTfJobs, "default", Job("a", 1)));
  const std::string uid = runner_.last_uid;
  Hurt(job_, Harm::kNoObject);
  Restart();
  runner_.orders.clear();
  loop_->Tell(port::Exited{.uid = uid, .code = 0, .reason = "Completed"});
  loop_->Turn();
  EXPECT_TRUE(runner_.orders.empty()) << "the runner must not forget it";
  EXPECT_EQ(loop_->pool().kept().size(), 1u) << "a later load would find it bound";
}

TEST_F(SetAsideTest, AStartThatCameToNothingIsCarriedOutForWhoeverMendsIt) {
  for (const bool restarts : {false, true}) {
    const std::string name = restarts ? "b" : "a";
    ASSERT_TRUE(Create(kTfJobs, "default", Job(name, 1)));
    const std::string uid = runner_.last_uid;
    const boost::json::object whole = Stored(kTfJobs, name);
    Hurt({kTfJobs, "default", name}, Harm::kOdd);
    Restart();
    runner_.orders.clear();
    loop_->Tell(port::NotStarted{.uid = uid, .message = "/mnt does not answer"});
    loop_->Turn();
    EXPECT_EQ(runner_.orders, std::vector{"forget " + uid}) << "it would ignore the next start";
    if (restarts) Restart();
    ASSERT_TRUE(Replace(kTfJobs, whole));
    loop_->Turn();
    EXPECT_TRUE(std::ranges::count(runner_.orders, "start " + uid));
    loop_->Tell(port::Exited{.uid = uid, .code = 0, .reason = "Completed"});
    loop_->Turn();
    EXPECT_TRUE(job::IsTrue(StatusOf(name), "Succeeded"));
  }
}

TEST_F(SetAsideTest, TwoStatusesThatNameOneGpuDoNotEndTheServer) {
  ASSERT_TRUE(Create(kTfJobs, "default", Job("a", 1)));
  const port::Object a = *store_.Get(job_);
  boost::json::object twin = Stored(kTfJobs, "a");
  twin["metadata"].as_object()["name"] = "b";
  twin["metadata"].as_object()["uid"] = "another";
  port::Change change = ChangeOf(kTfJobs, "default", twin);
  change.live = true;
  ASSERT_TRUE(store_.Commit({.changes = {change}, .records = {}}));
  Restart();
  EXPECT_EQ(loop_->Unreadable().size(), 1u);
  EXPECT_EQ(loop_->pool().jobs().size(), 1u);
  EXPECT_EQ(pool::BrokenLaws(loop_->pool()), std::vector<std::string>());
}

TEST_F(SetAsideTest, OfThoseThatAreDueTheOthersGoAndTheTurnRests) {
  for (const char* name : {"a", "b", "c"}) {
    boost::json::object job = Job(name, 1);
    job["spec"].as_object()["runPolicy"] = {{"ttlSecondsAfterFinished", 60}};
    ASSERT_TRUE(Create(kTfJobs, "default", job));
    loop_->Tell(port::Exited{.uid = runner_.last_uid, .code = 0, .reason = "Completed"});
    loop_->Turn();
  }
  store_.damaged.insert({kTfJobs, "default", "b"});
  clock_.Set(clock_.Now() + base::SecondsLong(61));
  loop_->Turn();
  EXPECT_GT(loop_->Turn(), clock_.Now()) << "a row that stays due must not make it spin";
  store_.damaged.clear();
  EXPECT_FALSE(store_.Get({kTfJobs, "default", "a"}));
  EXPECT_TRUE(store_.Get({kTfJobs, "default", "b"}));
  EXPECT_FALSE(store_.Get({kTfJobs, "default", "c"}));
  EXPECT_EQ(loop_->Unreadable().size(), 1u);
}

TEST_F(SetAsideTest, AnObjectThatCannotBeReadIsNotCreatedAnew) {
  ASSERT_TRUE(Create("configmaps", "default", Object("v1", "ConfigMap", "c", {})));
  store_.damaged.insert({"configmaps", "default", "c"});
  const port::Revision before = store_.Newest();
  EXPECT_FALSE(Create("configmaps", "default", Object("v1", "ConfigMap", "c", {})));
  EXPECT_EQ(store_.Newest(), before);
}

// Bytes that are no text, in whatever a program can make the runner say, leave the object readable.
TEST_F(SetAsideTest, WhatAProgramSaysMayBeAnyBytes) {
  const std::string bytes = "caf\xe9-\xc3\xa4";
  const auto message = [&](const std::string& uid) {
    return std::vector<port::Reading>{
        port::Saved{.uid = uid, .step = 1, .path = bytes, .at = clock_.Now()},
        port::Said{.uid = uid,
                   .step = 2,
                   .checkpoint_step = 2,
                   .checkpoint_path = bytes,
                   .at = clock_.Now()},
        port::Exited{.uid = uid, .code = 1, .reason = bytes, .message = bytes},
        port::NotStarted{.uid = uid, .message = bytes}};
  };
  for (std::size_t said = 0; said < message("").size(); ++said) {
    ASSERT_TRUE(Create(kTfJobs, "default", Job("a", 1)));
    loop_->Tell(message(runner_.last_uid)[said]);
    loop_->Turn();
    ASSERT_TRUE(manifest::ParseJson(*store_.Get(job_)->body)) << said;
    const auto events = store_.List({.kind = "events"});
    for (const port::Object& event : events->objects) {
      EXPECT_TRUE(manifest::ParseJson(*event.body)) << *event.body;
    }
    if (StatusOf("a").checkpoint) {
      EXPECT_EQ(StatusOf("a").checkpoint->path, "caf\xef\xbf\xbd-\xc3\xa4");
    }
    ASSERT_TRUE(Delete(kTfJobs, "a"));
    loop_->Tell(port::Exited{.uid = runner_.last_uid, .code = 143, .reason = "Error"});
    loop_->Turn();
    ASSERT_EQ(Count(kTfJobs), 0u);
  }
}

// PND-S003 tells people to delete it: whatever state the server and the job are in, that helps.
TEST_F(SetAsideTest, WhatCannotBeReadCanBeDeleted) {
  for (const Harm harm : {Harm::kNoObject, Harm::kUnreadable, Harm::kOdd}) {
    for (const bool ended : {false, true}) {
      for (const bool restart : {false, true}) {
        SCOPED_TRACE(fmt::format("{} {} {}", static_cast<int>(harm), ended, restart));
        ASSERT_TRUE(Create(kTfJobs, "default", Job("a", 1)));
        const std::string uid = runner_.last_uid;
        const port::Exited exited{.uid = uid, .code = 0, .reason = "Completed"};
        if (ended) {
          loop_->Tell(exited);
          loop_->Turn();
        }
        Hurt(job_, harm);
        if (restart) Restart();
        EXPECT_TRUE(Delete(kTfJobs, "a"));
        if (!ended) {
          loop_->Tell(exited);
          loop_->Turn();
        }
        loop_->Turn();
        store_.damaged.clear();
        EXPECT_FALSE(store_.Get(job_));
        EXPECT_TRUE(loop_->Unreadable().empty());
        EXPECT_TRUE(loop_->pool().kept().empty());
        EXPECT_TRUE(loop_->pool().jobs().empty());
        EXPECT_EQ(pool::BrokenLaws(loop_->pool()), std::vector<std::string>());
        for (const char* kind : {"pods", "services"}) {
          if (!store_.Get({kind, "default", "a-worker-0"})) continue;
          ASSERT_TRUE(Delete(kind, "a-worker-0"));
        }
        MakeLoop();
        loop_->Turn();
      }
    }
  }
}

// A replica is to be started and its Pod cannot be read: the job's trouble, never the server's.
TEST_F(SetAsideTest, APodThatCannotBeReadWhenItIsToStartEndsNoServer) {
  for (const bool away : {false, true}) {
    boost::json::object job = Job(away ? "b" : "a", 1);
    auto& worker = job["spec"].as_object()["tfReplicaSpecs"].as_object()["Worker"].as_object();
    worker["restartPolicy"] = "OnFailure";
    job["metadata"].as_object()["annotations"] = {{"pondage.dev/restart-scope", "replica"}};
    ASSERT_TRUE(Create(kTfJobs, "default", job));
    const std::string name = away ? "b" : "a";
    store_.damaged.insert({"pods", "default", name + "-worker-0"});
    store_.away = away;
    loop_->Tell(port::Exited{.uid = runner_.last_uid, .code = 1, .reason = "Error"});
    for (int turn = 0; turn < 20; ++turn) {
      clock_.Set(clock_.Now() + base::SecondsLong(20));
      loop_->Turn();
    }
    if (!away) {
      EXPECT_GT(StatusOf("a").restarts, 1) << "each start that failed counts";
      EXPECT_TRUE(StatusOf("a").history.back().exit.message.contains("cannot be read"));
    }
    store_.away = false;
    store_.damaged.clear();
    runner_.orders.clear();
    for (int turn = 0; turn < 20; ++turn) {
      clock_.Set(clock_.Now() + base::SecondsLong(200));
      loop_->Turn();
    }
    EXPECT_TRUE(std::ranges::any_of(runner_.orders, [&](const std::string& order) {
      return order.starts_with("start");
    })) << away;
  }
}

TEST_F(SetAsideTest, WhatItOwnedGoesOnceItCanBeRead) {
  ASSERT_TRUE(Create("configmaps", "default", Object("v1", "ConfigMap", "owner", {})));
  for (const char* name : {"s", "t"}) {
    boost::json::object owned = Object("v1", "Secret", name, {});
    owned["metadata"].as_object()["ownerReferences"] =
        boost::json::array{{{"apiVersion", "v1"},
                            {"kind", "ConfigMap"},
                            {"name", "owner"},
                            {"uid", manifest::UidFrom("ConfigMapowner")}}};
    ASSERT_TRUE(Create("secrets", "default", owned));
  }
  store_.damaged.insert({"secrets", "default", "t"});
  ASSERT_TRUE(Delete("configmaps", "owner"));
  const base::Instant next = loop_->Turn();
  EXPECT_GT(next, clock_.Now());
  ASSERT_TRUE(Delete("secrets", "t"));
  EXPECT_EQ(Count("secrets"), 1u);
  clock_.Set(std::max(next, clock_.Now() + base::SecondsLong(60)));
  loop_->Turn();
  EXPECT_EQ(Count("secrets"), 0u);
  EXPECT_EQ(loop_->Turn(), base::kNever);
}

}  // namespace
}  // namespace pondage::loop
