#include "loop/loop.h"

#include <algorithm>

#include "loop/test_loop.h"

namespace pondage::loop {
namespace {

TEST_F(LoopTest, OneCommitLiesBetweenCreateAndStart) {
  const port::Revision before = store_.Newest();
  const auto written = Create(kTfJobs, "default", Job("a", 2));
  ASSERT_TRUE(written.has_value());
  EXPECT_EQ(runner_.orders.size(), 2u);
  EXPECT_EQ(Count("pods"), 2u);
  EXPECT_EQ(Count("services"), 2u);
  EXPECT_EQ(written->object.revision, before + 1) << "create and first status are one version";
  EXPECT_EQ(StatusOf("a").stage, job::Stage::kBound);
}

TEST_F(LoopTest, AFailedCommitDecidesNothingAndIsTold) {
  faulty_.SetOdds({1, 0});
  const port::Revision before = store_.Newest();
  const auto written = Create(kTfJobs, "default", Job("a", 2));
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().kind, base::Kind::kUnavailable);
  EXPECT_EQ(store_.Newest(), before);
  EXPECT_TRUE(runner_.orders.empty());
  faulty_.SetOdds({0, 0});
  ASSERT_TRUE(Create(kTfJobs, "default", Job("a", 2)).has_value());
  EXPECT_EQ(runner_.orders.size(), 2u);
}

TEST_F(LoopTest, ACommitThatSucceededUntoldIsCarriedOutAfterTheReload) {
  faulty_.SetOdds({0, 1});
  EXPECT_FALSE(Create(kTfJobs, "default", Job("a", 2)).has_value());
  EXPECT_TRUE(runner_.orders.empty());
  faulty_.SetOdds({0, 0});
  loop_->Turn();
  const auto starts = std::ranges::count_if(
      runner_.orders, [](const std::string& order) { return order.starts_with("start "); });
  EXPECT_EQ(starts, 2) << "bound and not started: started after the reload";
}

TEST_F(LoopTest, AReadingSurvivesAFailedCommit) {
  ASSERT_TRUE(Create(kTfJobs, "default", Job("a", 1)).has_value());
  faulty_.SetOdds({1, 0});
  loop_->Tell(port::Exited{.uid = runner_.last_uid, .code = 0, .reason = "Completed"});
  loop_->Turn();
  faulty_.SetOdds({0, 0});
  loop_->Turn();
  EXPECT_TRUE(job::IsTrue(StatusOf("a"), "Succeeded"));
}

TEST_F(LoopTest, AWriteAgainstAnOlderVersionIsAConflict) {
  const auto first = Create("configmaps", "default", Object("v1", "ConfigMap", "c", {}));
  boost::json::object changed = Object("v1", "ConfigMap", "c", {{"x", 1}});
  const auto put = [&](port::Revision expected) {
    return Write({.op = port::Write::Op::kReplace,
                  .change = ChangeOf("configmaps", "default", changed),
                  .expected = expected});
  };
  EXPECT_TRUE(put(first->object.revision).has_value());
  ASSERT_FALSE(put(first->object.revision - 1).has_value());
  EXPECT_EQ(put(first->object.revision - 1).error().kind, base::Kind::kConflict);
  const port::Revision newest = store_.Newest();
  EXPECT_TRUE(put(newest).has_value());
  EXPECT_EQ(store_.Newest(), newest) << "nothing changed: no new version";
}

TEST_F(LoopTest, ADeletedJobStaysUntilItsProgramsAreGone) {
  ASSERT_TRUE(Create(kTfJobs, "default", Job("a", 1)).has_value());
  const auto deleted = Delete(kTfJobs, "a");
  ASSERT_TRUE(deleted.has_value());
  EXPECT_FALSE(deleted->gone);
  EXPECT_EQ(Count(kTfJobs), 1u);
  loop_->Tell(port::Exited{.uid = runner_.last_uid, .code = 143, .reason = "Error"});
  loop_->Turn();
  EXPECT_EQ(Count(kTfJobs), 0u);
  EXPECT_EQ(Count("pods"), 0u);
  EXPECT_EQ(Count("services"), 0u);
  EXPECT_EQ(store_.Records("ledger", 0, 10)->size(), 1u);
  EXPECT_EQ(launcher_->discarded.size(), 1u);
}

TEST_F(LoopTest, AnEndedJobWhoseStatusIsEmptiedNeverRunsAgain) {
  ASSERT_TRUE(Create(kTfJobs, "default", Job("a", 1)).has_value());
  loop_->Tell(port::Exited{.uid = runner_.last_uid, .code = 0, .reason = "Completed"});
  loop_->Turn();
  ASSERT_TRUE(job::IsTrue(StatusOf("a"), "Succeeded"));
  runner_.orders.clear();
  const auto written = Write({.op = port::Write::Op::kReplace,
                              .change = ChangeOf(kTfJobs, "default", Job("a", 1)),
                              .status_only = true});
  EXPECT_TRUE(written.has_value());
  loop_->Turn();
  MakeLoop();
  loop_->Turn();
  EXPECT_TRUE(runner_.orders.empty());
}

// MultiKueue, say, mirrors what another cluster's controller tells.
TEST_F(LoopTest, TheStatusOfAJobThatAnotherControllerManagesIsItsToWrite) {
  boost::json::object job = Job("a", 1);
  boost::json::object& policy = job["spec"].as_object()["runPolicy"].is_object()
                                    ? job["spec"].as_object()["runPolicy"].as_object()
                                    : job["spec"].as_object()["runPolicy"].emplace_object();
  policy["managedBy"] = "kueue.x-k8s.io/multikueue";
  ASSERT_TRUE(Create(kTfJobs, "default", job).has_value());
  job["status"] = {{"conditions", boost::json::array{{{"type", "Running"},
                                                      {"status", "True"},
                                                      {"reason", "TFJobRunning"},
                                                      {"message", ""}}}}};
  const auto written = Write({.op = port::Write::Op::kReplace,
                              .change = ChangeOf(kTfJobs, "default", job),
                              .status_only = true});
  EXPECT_TRUE(written.has_value());
  loop_->Turn();
  MakeLoop();
  loop_->Turn();
  EXPECT_TRUE(job::IsTrue(StatusOf("a"), "Running"));
}

TEST_F(LoopTest, WhatADeletedObjectOwnedGoesWithIt) {
  ASSERT_TRUE(Create("configmaps", "default", Object("v1", "ConfigMap", "owner", {})).has_value());
  boost::json::object owned = Object("v1", "Secret", "owned", {});
  owned["metadata"].as_object()["ownerReferences"] =
      boost::json::array{{{"apiVersion", "v1"},
                          {"kind", "ConfigMap"},
                          {"name", "owner"},
                          {"uid", manifest::UidFrom("ConfigMapowner")}}};
  ASSERT_TRUE(Create("secrets", "default", owned).has_value());
  EXPECT_TRUE(Delete("configmaps", "owner")->gone);
  EXPECT_EQ(Count("secrets"), 0u);
}

boost::json::object OwnedBy(boost::json::object object, const std::string& kind,
                            const std::vector<std::string>& owners) {
  boost::json::array references;
  for (const std::string& name : owners) {
    references.push_back(
        boost::json::object{{"apiVersion", kind == "TFJob" ? "kubeflow.org/v1" : "v1"},
                            {"kind", kind},
                            {"name", name},
                            {"uid", manifest::UidFrom(kind + name)}});
  }
  object["metadata"].as_object()["ownerReferences"] = std::move(references);
  return object;
}

TEST_F(LoopTest, WhatAnotherOwnerStillOwnsStays) {
  ASSERT_TRUE(Create("configmaps", "default", Object("v1", "ConfigMap", "a", {})));
  ASSERT_TRUE(Create("configmaps", "default", Object("v1", "ConfigMap", "b", {})));
  ASSERT_TRUE(Create("secrets", "default",
                     OwnedBy(Object("v1", "Secret", "s", {}), "ConfigMap", {"a", "b"})));
  ASSERT_TRUE(Delete("configmaps", "a"));
  const auto owners = manifest::OwnersOf(Stored("secrets", "s"));
  ASSERT_EQ(owners.size(), 1u);
  EXPECT_EQ(owners.front().name, "b");
  ASSERT_TRUE(Delete("configmaps", "b"));
  EXPECT_EQ(Count("secrets"), 0u);
}

TEST_F(LoopTest, OwnersInACircleAllGo) {
  for (const auto& [name, owner] : {std::pair{"a", "c"}, {"b", "a"}, {"c", "b"}, {"d", "d"}}) {
    ASSERT_TRUE(Create("configmaps", "default",
                       OwnedBy(Object("v1", "ConfigMap", name, {}), "ConfigMap", {owner})));
  }
  EXPECT_TRUE(Delete("configmaps", "b")->gone);
  EXPECT_TRUE(Delete("configmaps", "d")->gone);
  EXPECT_EQ(Count("configmaps"), 0u);
}

// A job that another job owns leaves when that one has left: its programs are asked to go.
TEST_F(LoopTest, AJobThatAJobOwnsLeavesBehindIt) {
  ASSERT_TRUE(Create(kTfJobs, "default", Job("a", 1)));
  const std::string first = runner_.last_uid;
  ASSERT_TRUE(Create(kTfJobs, "default", OwnedBy(Job("b", 1), "TFJob", {"a"})));
  const std::string second = runner_.last_uid;
  ASSERT_TRUE(Delete(kTfJobs, "a"));
  loop_->Tell(port::Exited{.uid = first, .code = 143, .reason = "Error"});
  EXPECT_EQ(loop_->Turn(), clock_.Now()) << "the pool has still to learn of it";
  loop_->Turn();
  EXPECT_TRUE(std::ranges::count(runner_.orders, "stop " + second));
  loop_->Tell(port::Exited{.uid = second, .code = 143, .reason = "Error"});
  loop_->Turn();
  EXPECT_EQ(Count(kTfJobs), 0u);
}

// Finds who is owned as the real store does, by an index; a list of all would take an hour here.
class ChainStore : public port::MemoryStore {
 public:
  base::Result<port::Listing> List(const port::ListQuery& query) const override {
    if (!query.facet.starts_with("o:")) return MemoryStore::List(query);
    port::Listing listing;
    const auto owned = owned_by.find(query.facet.substr(2));
    if (owned == owned_by.end() || owned->second.kind != query.kind) return listing;
    if (auto object = Get(owned->second)) listing.objects.push_back(*std::move(object));
    return listing;
  }
  std::map<std::string, port::Key, std::less<>> owned_by;
};

TEST_F(LoopTest, AChainOfOwnersHasNoEndThatIsTooFar) {
  constexpr int kLength = 20'000;
  ChainStore store;
  port::Batch batch;
  const auto name = [](int i) { return fmt::format("c{}", i); };
  for (int i = 0; i < kLength; ++i) {
    const auto object = Object("v1", "ConfigMap", name(i), {});
    batch.changes.push_back(
        ChangeOf("configmaps", "default", OwnedBy(object, "ConfigMap", {name(i - 1)})));
    store.owned_by[manifest::UidFrom("ConfigMap" + name(i - 1))] = batch.changes.back().key;
  }
  ASSERT_TRUE(store.Commit(batch));
  Loop loop(Settings{}, store, runner_, clock_, launcher_);
  bool gone = false;
  loop.Submit({.op = port::Write::Op::kDelete, .change = {.key = batch.changes.front().key}},
              [&](const base::Result<port::Written>& written) { gone = written && written->gone; });
  loop.Turn();
  EXPECT_TRUE(gone);
  EXPECT_TRUE(store.List({.kind = "configmaps"})->objects.empty());
}

// What a job says when it goes stands in its namespace: it must not keep the namespace.
TEST_F(LoopTest, ANamespaceGoesWithItsJobsAndWhatTheySaid) {
  const port::Key space{"namespaces", "", "lab"};
  ASSERT_TRUE(Create("namespaces", "", Object("v1", "Namespace", "lab", {})).has_value());
  boost::json::object job = Job("a", 1);
  job["metadata"].as_object()["namespace"] = "lab";
  ASSERT_TRUE(Create(kTfJobs, "lab", job).has_value());
  const auto deleted = Write({.op = port::Write::Op::kDelete, .change = {.key = space}});
  ASSERT_TRUE(deleted.has_value());
  EXPECT_FALSE(deleted->gone) << "a program of it runs";
  const auto late = Create("configmaps", "lab", Object("v1", "ConfigMap", "late", {}));
  ASSERT_FALSE(late.has_value());
  EXPECT_EQ(late.error().kind, base::Kind::kForbidden);
  loop_->Tell(port::Exited{.uid = runner_.last_uid, .code = 143, .reason = "Error"});
  loop_->Turn();
  EXPECT_FALSE(store_.Get(space).has_value());
  EXPECT_TRUE(store_.List({.kind = "events", .space = "lab"})->objects.empty());
  EXPECT_FALSE(Create("configmaps", "lab", Object("v1", "ConfigMap", "late", {})).has_value());
  ASSERT_TRUE(Create("namespaces", "", Object("v1", "Namespace", "lab", {})).has_value());
  EXPECT_TRUE(Create("configmaps", "lab", Object("v1", "ConfigMap", "late", {})).has_value());
}

TEST_F(LoopTest, ANamespaceThatIsGoingGoesOnAfterARestart) {
  const port::Key space{"namespaces", "", "lab"};
  ASSERT_TRUE(Create("namespaces", "", Object("v1", "Namespace", "lab", {})).has_value());
  boost::json::object job = Job("a", 1);
  job["metadata"].as_object()["namespace"] = "lab";
  ASSERT_TRUE(Create(kTfJobs, "lab", job).has_value());
  ASSERT_TRUE(Write({.op = port::Write::Op::kDelete, .change = {.key = space}}).has_value());
  MakeLoop();
  loop_->Turn();
  loop_->Tell(port::Exited{.uid = runner_.last_uid, .code = 143, .reason = "Error"});
  loop_->Turn();
  EXPECT_FALSE(store_.Get(space).has_value());
}

TEST_F(LoopTest, AReplicaThatCannotBeLaunchedFailsItsJobWithTheReason) {
  launcher_->fails = true;
  ASSERT_TRUE(Create(kTfJobs, "default", Job("a", 1)).has_value());
  loop_->Turn();
  const job::Status status = StatusOf("a");
  EXPECT_TRUE(job::IsTrue(status, "Failed"));
  ASSERT_TRUE(status.cause.has_value());
  EXPECT_EQ(status.cause->message, "no such environment (PND-E001)");
  const auto events = store_.List({.kind = "events"});
  EXPECT_TRUE(std::ranges::any_of(events->objects, [](const port::Object& event) {
    return event.body->contains("Pod: default.a-worker-0 cannot start: no such environment") &&
           event.body->contains("\"Warning\"");
  })) << "said where kubectl describe shows it";
}

TEST_F(LoopTest, WhatServedTheImageIsToldFromTheBindOn) {
  const auto told = [&](const std::string& job) {
    const auto pondage = Stored(kTfJobs, job).at("status").at("pondage").as_object();
    const auto* served = pondage.if_contains("environments");
    return served == nullptr ? std::string("nothing") : boost::json::serialize(*served);
  };
  launcher_->served = "/opt/a";
  ASSERT_TRUE(Create(kTfJobs, "default", Job("runs", 2)));
  ASSERT_TRUE(Create(kTfJobs, "default", Job("waits", 1)));
  EXPECT_EQ(told("runs"), R"({"tf":"tf by /opt/a"})");
  EXPECT_EQ(told("waits"), "nothing");
  launcher_->served = "/opt/b";
  MakeLoop();
  loop_->Turn();
  ASSERT_TRUE(Delete("pods", "runs-worker-0"));
  loop_->Turn();
  EXPECT_EQ(told("runs"), R"({"tf":"tf by /opt/a"})") << "that is what it runs with";
  loop_->Tell(port::Exited{.uid = runner_.last_uid, .code = 0, .reason = "Completed"});
  loop_->Turn();
  const auto lines = store_.Records("ledger", 0, 10);
  ASSERT_FALSE(lines->empty());
  for (const std::string& line : *lines)
    EXPECT_TRUE(line.contains(R"("environment":"tf by /opt/a")")) << line;
}

TEST_F(LoopTest, ANewLoopTakesOverWhatRuns) {
  ASSERT_TRUE(Create(kTfJobs, "default", Job("a", 1)).has_value());
  loop_->Tell(port::Started{.uid = runner_.last_uid, .at = clock_.Now()});
  loop_->Turn();
  runner_.orders.clear();
  MakeLoop();
  loop_->Turn();
  EXPECT_EQ(runner_.orders, std::vector<std::string>{"adopt " + runner_.last_uid});
  loop_->Tell(port::Exited{.uid = runner_.last_uid, .code = 0, .reason = "Completed"});
  loop_->Turn();
  EXPECT_TRUE(job::IsTrue(StatusOf("a"), "Succeeded"));
}

// The server was away over the deadline, and the runner takes its time to tell what happened.
TEST_F(LoopTest, LimitsAreJudgedWhenAllThatEndedMeanwhileWasTold) {
  for (const bool had_ended : {true, false}) {
    const std::string name = had_ended ? "in-time" : "too-long";
    boost::json::object job = Job(name, 1);
    job["spec"].as_object()["runPolicy"] = {{"activeDeadlineSeconds", 60}};
    ASSERT_TRUE(Create(kTfJobs, "default", job));
    const std::string uid = runner_.last_uid;
    loop_->Tell(port::Started{.uid = uid, .at = clock_.Now()});
    loop_->Turn();
    const base::Instant ended = clock_.Now() + base::SecondsLong(30);
    clock_.Set(clock_.Now() + base::SecondsLong(3'600));
    runner_.holds_back = true;
    MakeLoop();
    loop_->Turn();
    loop_->Turn();
    EXPECT_FALSE(job::IsFinished(StatusOf(name))) << name;
    EXPECT_TRUE(Create(kTfJobs, "default", Job("other-" + name, 1))) << "nobody waits for it";
    if (had_ended) {
      loop_->Tell(port::Exited{.uid = uid, .code = 0, .reason = "Completed", .at = ended});
      loop_->Turn();
      MakeLoop();  // what it was told is not lost when the server goes again
    }
    loop_->Turn();
    loop_->Tell(port::AllTold{});
    loop_->Turn();
    const job::Status status = StatusOf(name);
    EXPECT_EQ(job::IsTrue(status, "Succeeded"), had_ended);
    EXPECT_EQ(job::IsTrue(status, "Failed"), !had_ended);
    EXPECT_EQ(status.completion_time == ended, had_ended);
    runner_.holds_back = false;
  }
}

TEST_F(LoopTest, TransitionsAreCountedOnceAndOnlyWhenTheyAreDurable) {
  metrics::Page page;
  loop_->CountOn(page);
  faulty_.SetOdds({1, 0});
  EXPECT_FALSE(Create(kTfJobs, "default", Job("a", 1)).has_value());
  faulty_.SetOdds({0, 0});
  EXPECT_FALSE(page.Text().contains("training_operator_jobs_created_total"));
  ASSERT_TRUE(Create(kTfJobs, "default", Job("a", 1)).has_value());
  loop_->Tell(port::Exited{.uid = runner_.last_uid, .code = 0, .reason = "Completed"});
  loop_->Turn();
  ASSERT_TRUE(Delete(kTfJobs, "a").has_value());
  for (const char* name : {"created", "successful", "deleted"}) {
    const std::string series = std::string("training_operator_jobs_") + name +
                               "_total{framework=\"tensorflow\",job_namespace=\"default\"} 1";
    EXPECT_TRUE(page.Text().contains(series)) << series << "\n" << page.Text();
  }
}

TEST_F(LoopTest, WhoWasKilledBeforeItWasSeenStartedIsKilledAgainByTheNextLoop) {
  ASSERT_TRUE(Create(kTfJobs, "default", Job("a", 2)).has_value());
  const std::string first = runner_.orders.front().substr(sizeof("start ") - 1);
  loop_->Tell(port::Exited{.uid = first, .code = 1, .reason = "Error"});
  loop_->Turn();
  runner_.orders.clear();
  MakeLoop();
  loop_->Turn();
  // Its start may have been carried out: the runner hears of it before anything is nobody's, and
  // the kill must reach it, so it comes behind the start.
  const std::string& uid = runner_.last_uid;
  EXPECT_EQ(runner_.orders,
            (std::vector<std::string>{"expect " + uid, "start " + uid, "kill " + uid}));
}

TEST_F(LoopTest, FinalizersHoldAJobWhoseProgramsAreGone) {
  boost::json::object job = Job("a", 1);
  job["metadata"].as_object()["finalizers"] = boost::json::array{"example.com/hold"};
  ASSERT_TRUE(Create(kTfJobs, "default", job).has_value());
  ASSERT_TRUE(Delete(kTfJobs, "a").has_value());
  loop_->Tell(port::Exited{.uid = runner_.last_uid, .code = 143, .reason = "Error"});
  loop_->Turn();
  EXPECT_EQ(Count("pods"), 0u);
  ASSERT_EQ(Count(kTfJobs), 1u);
  EXPECT_FALSE(StatusOf("a").replicas.front().alive);
  EXPECT_TRUE(store_.Live(kTfJobs)->empty()) << "no longer the pool's";
  EXPECT_TRUE(launcher_->discarded.empty());
  boost::json::object released = Stored(kTfJobs, "a");
  released["metadata"].as_object().erase("finalizers");
  ASSERT_TRUE(Replace(kTfJobs, released).has_value());
  EXPECT_EQ(Count(kTfJobs), 0u);
  EXPECT_EQ(launcher_->discarded.size(), 1u);
}

TEST_F(LoopTest, AnEndedJobThatIsEditedKeepsItsTimeToLive) {
  boost::json::object job = Job("a", 1);
  job["spec"].as_object()["runPolicy"] = {{"ttlSecondsAfterFinished", 60}};
  ASSERT_TRUE(Create(kTfJobs, "default", job).has_value());
  loop_->Tell(port::Exited{.uid = runner_.last_uid, .code = 0, .reason = "Completed"});
  loop_->Turn();
  boost::json::object edited = Stored(kTfJobs, "a");
  edited["metadata"].as_object()["labels"] = {{"seen", "yes"}};
  ASSERT_TRUE(Replace(kTfJobs, edited).has_value());
  clock_.Set(clock_.Now() + base::SecondsLong(59));
  loop_->Turn();
  EXPECT_EQ(Count(kTfJobs), 1u);
  clock_.Set(clock_.Now() + base::SecondsLong(2));
  loop_->Turn();
  EXPECT_EQ(Count(kTfJobs), 0u);
}

TEST_F(LoopTest, ANamespaceGoesWithTheLastProgramInIt) {
  ASSERT_TRUE(Create("namespaces", "", Object("v1", "Namespace", "default", {{"finalizers", {}}})));
  ASSERT_TRUE(Create(kTfJobs, "default", Job("a", 1)).has_value());
  ASSERT_TRUE(
      Write({.op = port::Write::Op::kDelete, .change = {.key = {"namespaces", "", "default"}}}));
  loop_->Turn();
  EXPECT_EQ(Count("namespaces"), 1u);
  loop_->Tell(port::Exited{.uid = runner_.last_uid, .code = 143, .reason = "Error"});
  loop_->Turn();
  loop_->Turn();
  EXPECT_EQ(Count("namespaces"), 0u) << "the events of its departure do not hold it";
}

TEST_F(LoopTest, WhatPeopleWroteOnANodeStaysWhenItIsSeenAgain) {
  boost::json::object node = Stored("nodes", "n1", "");
  node["metadata"].as_object()["labels"] = nullptr;
  node["metadata"].as_object()["annotations"].as_object()["example.com/rack"] = "7";
  ASSERT_TRUE(Replace("nodes", node, "").has_value());
  loop_->See({.name = "n1", .cpu = {4'000}, .memory = {std::int64_t{1} << 36}}, {});
  loop_->Turn();
  const boost::json::object seen = Stored("nodes", "n1", "");
  const boost::json::object& metadata = seen.at("metadata").as_object();
  EXPECT_EQ(metadata.at("annotations").at("example.com/rack"), boost::json::value("7"));
  EXPECT_FALSE(metadata.at("labels").as_object().empty());
  EXPECT_EQ(loop_->pool().fleet().Find("n1")->node.cpu.value, 4'000);
}

TEST_F(LoopTest, AMachineInTroubleTakesNothingNewUntilItIsWellAgain) {
  fleet::Node node = loop_->pool().fleet().Find("n1")->node;
  const auto look = [&](const std::string& trouble) {
    node.trouble = trouble;
    loop_->See(node, {});
    loop_->Turn();
  };
  look("its disk is full");
  ASSERT_TRUE(Create(kTfJobs, "default", Job("a", 1)).has_value());
  EXPECT_TRUE(runner_.orders.empty());
  look("");
  EXPECT_EQ(runner_.orders.size(), 1u);
}

TEST_F(LoopTest, WritersAreAnsweredWhileTheStoreCannotBeRead) {
  store_.blind = true;
  MakeLoop();
  const auto refused = Create("configmaps", "default", Object("v1", "ConfigMap", "c", {}));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, base::Kind::kUnavailable);
  store_.blind = false;
  EXPECT_TRUE(Create("configmaps", "default", Object("v1", "ConfigMap", "c", {})).has_value());
}

TEST_F(LoopTest, APriorityClassCountsForJobsThatNamedItBefore) {
  const auto named = [](const std::string& name, const char* priority) {
    boost::json::object job = Job(name, 2);
    job["spec"].as_object()["runPolicy"] = {{"schedulingPolicy", {{"priorityClass", priority}}}};
    return job;
  };
  const auto priority = [this](const std::string& name) {
    for (const auto& [id, job] : loop_->pool().jobs()) {
      if (job.identity.name == name) return job.spec.priority;
    }
    return -1;
  };
  ASSERT_TRUE(Create(kTfJobs, "default", Job("holder", 2)));
  const std::string holder = runner_.last_uid;
  ASSERT_TRUE(Create(kTfJobs, "default", named("plain", "")));
  ASSERT_TRUE(Create(kTfJobs, "default", named("urgent", "high")));
  EXPECT_EQ(priority("urgent"), 0);
  const boost::json::object high{{"apiVersion", "scheduling.k8s.io/v1"},
                                 {"kind", "PriorityClass"},
                                 {"metadata", {{"name", "high"}, {"uid", "p"}}},
                                 {"value", 7}};
  ASSERT_TRUE(Create("priorityclasses.scheduling.k8s.io", "", high));
  EXPECT_EQ(priority("urgent"), 7);
  EXPECT_EQ(priority("plain"), 0);
  ASSERT_TRUE(Write({.op = port::Write::Op::kDelete,
                     .change = {.key = {"priorityclasses.scheduling.k8s.io", "", "high"}}}));
  EXPECT_EQ(priority("urgent"), 0);
  ASSERT_TRUE(Create("priorityclasses.scheduling.k8s.io", "", high));
  ASSERT_TRUE(Delete(kTfJobs, "holder"));
  runner_.orders.clear();
  const auto pods = store_.List({.kind = "pods"});
  for (const port::Object& pod : pods->objects) {
    loop_->Tell(port::Exited{.uid = pod.uid, .code = 143, .reason = "Error"});
  }
  loop_->Turn();
  EXPECT_EQ(StatusOf("urgent").stage, job::Stage::kBound) << "it overtook the one before it";
  EXPECT_EQ(StatusOf("plain").stage, job::Stage::kWaiting);
}

TEST_F(LoopTest, ARefusedCreateLeavesNoTrace) {
  const port::Revision before = store_.Newest();
  ASSERT_FALSE(Create(
      "priorityclasses.scheduling.k8s.io", "",
      boost::json::object{{"metadata", {{"name", "high"}, {"uid", "p"}}}, {"value", "odd"}}));
  ASSERT_FALSE(Create("queues.pondage.dev", "", Object("v1", "Queue", "lab", {{"guarantee", 1}})));
  EXPECT_EQ(store_.Newest(), before) << "no watcher hears of it";
}

TEST_F(LoopTest, APodIsDeletedInTheTimeThatItsDeleterGives) {
  boost::json::object job = Job("a", 1);
  job["spec"].as_object()["tfReplicaSpecs"].as_object()["Worker"].as_object()["restartPolicy"] =
      "OnFailure";
  ASSERT_TRUE(Create(kTfJobs, "default", job));
  const auto remove = [this](std::int64_t seconds) {
    return Write({.op = port::Write::Op::kDelete,
                  .change = {.key = {"pods", "default", "a-worker-0"}},
                  .grace = base::SecondsLong(seconds)});
  };
  const auto grace = [this] {
    return Stored("pods", "a-worker-0").at("metadata").at("deletionGracePeriodSeconds");
  };
  ASSERT_TRUE(remove(7));
  EXPECT_EQ(runner_.orders.back(), "stop " + runner_.last_uid);
  EXPECT_EQ(runner_.last_grace, base::SecondsLong(7));
  EXPECT_EQ(grace(), boost::json::value(7));
  ASSERT_TRUE(remove(60));
  EXPECT_EQ(grace(), boost::json::value(7)) << "earlier, never later";
  ASSERT_TRUE(remove(0));
  EXPECT_EQ(runner_.orders.back(), "kill " + runner_.last_uid);
}

TEST_F(LoopTest, TheQueueOfWritesIsBounded) {
  Settings settings;
  settings.queue_bound = 1;
  Loop loop(settings, store_, runner_, clock_, launcher_);
  int refused = 0;
  for (int i = 0; i < 3; ++i) {
    loop.Submit({}, [&](const base::Result<port::Written>& written) {
      if (!written && written.error().id == "PND-A010") ++refused;
    });
  }
  EXPECT_EQ(refused, 2);
}

// A namespace and its account: both or neither, whenever the server ends.
TEST_F(LoopTest, WhatComesWithAnObjectIsInTheSameCommit) {
  const auto write = [](const char* name, const char* with) {
    port::Write create{
        .op = port::Write::Op::kCreate,
        .change = ChangeOf("configmaps", "default", Object("v1", "ConfigMap", name, {}))};
    create.with.push_back(ChangeOf("configmaps", "default", Object("v1", "ConfigMap", with, {})));
    return create;
  };
  faulty_.SetOdds({1, 0});
  EXPECT_FALSE(Write(write("a", "b")));
  EXPECT_EQ(Count("configmaps"), 0u);
  faulty_.SetOdds({0, 0});
  const port::Revision before = store_.Newest();
  const auto made = Write(write("a", "b"));
  ASSERT_TRUE(made);
  EXPECT_EQ(made->object.key.name, "a");
  EXPECT_EQ(made->object.revision, before + 1);
  EXPECT_EQ(Count("configmaps"), 2u);
  ASSERT_TRUE(Write(write("c", "b"))) << "what is there already is left as it is";
  EXPECT_EQ(Count("configmaps"), 3u);
  EXPECT_FALSE(Write(write("a", "d")));
  port::Write dry = write("e", "f");
  dry.dry_run = true;
  EXPECT_TRUE(Write(dry));
  EXPECT_EQ(Count("configmaps"), 3u) << "nothing comes with what is refused or only asked";
}

TEST_F(LoopTest, TheLastFinalizerTakesTheObjectAlongInOneCommit) {
  boost::json::object map = Object("v1", "ConfigMap", "c", {});
  map["metadata"].as_object()["finalizers"] = boost::json::array{"a.b/c"};
  ASSERT_TRUE(Create("configmaps", "default", map));
  ASSERT_TRUE(Delete("configmaps", "c"));
  boost::json::object released = Stored("configmaps", "c");
  ASSERT_TRUE(released["metadata"].as_object().contains("deletionTimestamp"));
  released["metadata"].as_object().erase("finalizers");
  const auto written = Replace("configmaps", released);
  ASSERT_TRUE(written);
  EXPECT_EQ(written->object.key.name, "c") << "its last state is the answer";
  EXPECT_EQ(Count("configmaps"), 0u);
}

TEST_F(LoopTest, AJobHeldByAFinalizerLeavesBeforeItGoes) {
  boost::json::object job = Job("a", 1);
  job["metadata"].as_object()["finalizers"] = boost::json::array{"a.b/c"};
  ASSERT_TRUE(Create(kTfJobs, "default", job));
  ASSERT_TRUE(Delete(kTfJobs, "a"));
  boost::json::object released = Stored(kTfJobs, "a");
  released["metadata"].as_object().erase("finalizers");
  ASSERT_TRUE(Replace(kTfJobs, released));
  EXPECT_EQ(Count(kTfJobs), 1u) << "its program runs";
  loop_->Tell(port::Exited{.uid = runner_.last_uid, .code = 143, .reason = "Error"});
  loop_->Turn();
  EXPECT_EQ(Count(kTfJobs), 0u);
}

TEST_F(LoopTest, ALabelOfThatNameIsNoDeletion) {
  const port::Key space{"namespaces", "", "lab"};
  ASSERT_TRUE(Create("namespaces", "", Object("v1", "Namespace", "lab", {})));
  boost::json::object job = Job("a", 1);
  job["metadata"].as_object()["namespace"] = "lab";
  job["metadata"].as_object()["labels"] = {{"deletionTimestamp", "x"}};
  ASSERT_TRUE(Create(kTfJobs, "lab", job));
  ASSERT_TRUE(Write({.op = port::Write::Op::kDelete, .change = {.key = space}}));
  loop_->Turn();
  EXPECT_TRUE(std::ranges::count(runner_.orders, "stop " + runner_.last_uid));
}

TEST_F(LoopTest, WhoStoppedAJobIsWrittenUntilItRunsAgain) {
  const auto suspend = [&](bool on, const char* user) {
    boost::json::object job = Stored(kTfJobs, "a");
    job["spec"].as_object()["runPolicy"] = {{"suspend", on}};
    return Write({.op = port::Write::Op::kReplace,
                  .change = ChangeOf(kTfJobs, "default", job),
                  .user = user});
  };
  ASSERT_TRUE(Create(kTfJobs, "default", Job("a", 1)));
  ASSERT_TRUE(suspend(true, "li"));
  EXPECT_EQ(StatusOf("a").user_stop, "li");
  boost::json::object labelled = Stored(kTfJobs, "a");
  labelled["metadata"].as_object()["labels"] = {{"x", "y"}};
  ASSERT_TRUE(Write({.op = port::Write::Op::kReplace,
                     .change = ChangeOf(kTfJobs, "default", labelled),
                     .user = "bo"}));
  EXPECT_EQ(StatusOf("a").user_stop, "li") << "a later edit stops nothing";
  loop_->Tell(port::Exited{.uid = runner_.last_uid, .code = 143, .reason = "Error"});
  loop_->Turn();
  ASSERT_TRUE(suspend(false, "bo"));
  EXPECT_EQ(StatusOf("a").stage, job::Stage::kBound);
  EXPECT_EQ(StatusOf("a").user_stop, "");
}

TEST_F(LoopTest, TheQueueOfAJobIsForEver) {
  const auto moved = [&](const char* queue) {
    boost::json::object job = Job("a", 1);
    job["metadata"].as_object()["labels"] = {{"kueue.x-k8s.io/queue-name", queue}};
    return job;
  };
  // In the turn of its creation, and later.
  std::optional<base::Result<port::Written>> created;
  loop_->Submit(
      {.op = port::Write::Op::kCreate, .change = ChangeOf(kTfJobs, "default", moved("default"))},
      [&](base::Result<port::Written> written) { created = std::move(written); });
  EXPECT_FALSE(Replace(kTfJobs, moved("other")));
  ASSERT_TRUE(created && *created);
  EXPECT_FALSE(Replace(kTfJobs, moved("other")));
  EXPECT_EQ(StatusOf("a").stage, job::Stage::kBound);
}

TEST_F(LoopTest, AServiceOfSomebodyElseStays) {
  ASSERT_TRUE(
      Create("services", "default", Object("v1", "Service", "a-worker-0", {{"mine", true}})));
  ASSERT_TRUE(Create(kTfJobs, "default", Job("a", 2)));
  EXPECT_EQ(runner_.orders.size(), 2u) << "it runs all the same";
  ASSERT_TRUE(Delete(kTfJobs, "a"));
  for (int worker = 0; worker < 2; ++worker) {
    const auto pod = store_.Get({"pods", "default", fmt::format("a-worker-{}", worker)});
    loop_->Tell(port::Exited{.uid = pod->uid, .code = 143, .reason = "Error"});
  }
  loop_->Turn();
  ASSERT_EQ(Count(kTfJobs), 0u);
  EXPECT_EQ(Count("services"), 1u);
  EXPECT_EQ(Stored("services", "a-worker-0").at("spec").at("mine"), true);
}

}  // namespace
}  // namespace pondage::loop
