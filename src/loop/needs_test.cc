#include <gmock/gmock.h>

#include <algorithm>

#include "job/status.h"
#include "loop/test_loop.h"

namespace pondage::loop {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kClaims = "persistentvolumeclaims";

class Needs : public LoopTest {
 protected:
  // A job of one worker whose container and Pod say this beside what every one does.
  static boost::json::object JobWith(const std::string& name, const std::string& container,
                                     const std::string& volumes = "[]") {
    boost::json::object job = Job(name, 1);
    boost::json::object& pod =
        job.at("spec").at("tfReplicaSpecs").at("Worker").at("template").at("spec").as_object();
    const boost::json::value more = boost::json::parse(container);
    for (const auto& [key, value] : more.as_object())
      pod.at("containers").at(0).as_object()[key] = value;
    pod["volumes"] = boost::json::parse(volumes);
    return job;
  }
  static boost::json::object JobOnClaim(const std::string& name) {
    return JobWith(name, R"({"volumeMounts": [{"name": "v", "mountPath": "/out"}]})",
                   R"([{"name": "v", "persistentVolumeClaim": {"claimName": "results"}}])");
  }

  static boost::json::object Claim(const std::string& uid) {
    boost::json::object claim = Object("v1", "PersistentVolumeClaim", "results", {});
    claim["metadata"].as_object()["uid"] = uid;
    return claim;
  }
  void MakeClaim(const std::string& uid) {
    ASSERT_TRUE(Create(kClaims, "default", Claim(uid)).has_value());
  }

  std::string WhyWaits(const std::string& name) {
    const job::Status status = StatusOf(name);
    if (status.stage != job::Stage::kWaiting) return "it does not wait";
    return status.reason ? status.reason->id + " " + status.reason->message : "no reason";
  }
  bool IsThere(const std::string& kind, const std::string& name) {
    return store_.Get({kind, "default", name}).has_value();
  }
  void EndProgram() {
    loop_->Tell(port::Exited{.uid = runner_.last_uid, .code = 0, .reason = "Completed"});
    Settle();
  }
  // Turns until none is due at once.
  void Settle() {
    for (int turns = 0; turns < 10; ++turns) {
      if (loop_->Turn() > clock_.Now()) return;
    }
    FAIL() << "the loop does not come to rest";
  }
  std::vector<std::string> Told(const std::string& reason) {
    std::vector<std::string> messages;
    const auto events = store_.List({.kind = "events"});
    for (const port::Object& object : events->objects) {
      const boost::json::value event = *manifest::ParseJson(*object.body);
      if (event.at("reason") == boost::json::value(reason))
        messages.emplace_back(event.at("message").as_string());
    }
    return messages;
  }
};

struct Row {
  const char* name;
  const char* container;
  const char* volumes;
  const char* lacks;  // empty: nothing
};

TEST_F(Needs, AJobWaitsForWhatItNamesAndIsNotOptional) {
  constexpr const char* kMount = R"({"volumeMounts": [{"name": "v", "mountPath": "/in"}]})";
  const Row rows[] = {
      {"claim", kMount, R"([{"name": "v", "persistentVolumeClaim": {"claimName": "o"}}])",
       "PersistentVolumeClaim o"},
      {"map", kMount, R"([{"name": "v", "configMap": {"name": "o"}}])", "ConfigMap o"},
      {"secret", kMount, R"([{"name": "v", "secret": {"secretName": "o"}}])", "Secret o"},
      {"item", kMount,
       R"([{"name": "v", "configMap": {"name": "o", "items": [{"key": "k", "path": "p"}]}}])",
       "ConfigMap o"},
      {"variable",
       R"({"env": [{"name": "V", "valueFrom": {"secretKeyRef": {"name": "o", "key": "k"}}}]})",
       "[]", "Secret o (key k)"},
      {"set", R"({"envFrom": [{"configMapRef": {"name": "o"}}]})", "[]", "ConfigMap o"},
      {"optional-map", kMount, R"([{"name": "v", "configMap": {"name": "o", "optional": true}}])",
       ""},
      {"optional-variable",
       R"({"env": [{"name": "V", "valueFrom": {"configMapKeyRef": {"name": "o", "key": "k", "optional": true}}}]})",
       "[]", ""},
      {"optional-set", R"({"envFrom": [{"secretRef": {"name": "o", "optional": true}}]})", "[]",
       ""},
      {"not-mounted", "{}", R"([{"name": "v", "persistentVolumeClaim": {"claimName": "o"}}])", ""},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const auto written = Create(kTfJobs, "default", JobWith(row.name, row.container, row.volumes));
    ASSERT_TRUE(written.has_value());
    const std::string lacks = row.lacks;
    EXPECT_EQ(WhyWaits(row.name),
              lacks.empty() ? "it does not wait"
                            : "PND-Q028 waits for " + lacks +
                                  " in namespace default, which does not exist; make it with "
                                  "kubectl apply");
    EXPECT_EQ(IsThere("pods", std::string(row.name) + "-worker-0"), lacks.empty());
    ASSERT_TRUE(Delete(kTfJobs, row.name).has_value());
    if (lacks.empty()) EndProgram();
    ASSERT_FALSE(IsThere(kTfJobs, row.name));
  }
}

TEST_F(Needs, ItStartsWhenTheLastOfThemIsMadeAndOnce) {
  ASSERT_TRUE(
      Create(kTfJobs, "default",
             JobWith("a",
                     R"({"volumeMounts": [{"name": "v", "mountPath": "/out"}],
                                 "env": [{"name": "V", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}]})",
                     R"([{"name": "v", "persistentVolumeClaim": {"claimName": "results"}}])"))
          .has_value());
  EXPECT_THAT(WhyWaits("a"), HasSubstr("PersistentVolumeClaim results"));
  EXPECT_EQ(loop_->pool().fleet().places().at("n1").grants.size(), 0u);
  MakeClaim("claim-1");
  EXPECT_THAT(WhyWaits("a"), HasSubstr("Secret s (key k)"));
  boost::json::object secret = Object("v1", "Secret", "s", {});
  ASSERT_TRUE(Create("secrets", "default", secret).has_value());
  EXPECT_THAT(WhyWaits("a"), HasSubstr("Secret s (key k)"));
  boost::json::object elsewhere = secret;
  elsewhere["data"] = boost::json::object{{"k", "eA=="}};
  ASSERT_TRUE(Create("secrets", "other", elsewhere).has_value());
  EXPECT_THAT(WhyWaits("a"), HasSubstr("Secret s (key k)")) << "another namespace's";
  EXPECT_THAT(runner_.orders, IsEmpty());
  ASSERT_TRUE(Replace("secrets", elsewhere).has_value());
  EXPECT_EQ(StatusOf("a").stage, job::Stage::kBound);
  EXPECT_THAT(runner_.orders, SizeIs(1));
  EXPECT_THAT(Told("ObjectMissing"), SizeIs(2)) << "each once";
}

TEST_F(Needs, TheOrderOfDocumentsDoesNotMatter) {
  int answers = 0;
  const auto count = [&](const base::Result<port::Written>& written) {
    EXPECT_TRUE(written.has_value());
    ++answers;
  };
  loop_->Submit(
      {.op = port::Write::Op::kCreate, .change = ChangeOf(kTfJobs, "default", JobOnClaim("a"))},
      count);
  loop_->Submit(
      {.op = port::Write::Op::kCreate, .change = ChangeOf(kClaims, "default", Claim("claim-1"))},
      count);
  loop_->Turn();
  EXPECT_EQ(answers, 2);
  EXPECT_EQ(StatusOf("a").stage, job::Stage::kBound);
  EXPECT_THAT(Told("ObjectMissing"), IsEmpty());
}

TEST_F(Needs, WhoWaitsAnswersADryRunAndSurvivesARestart) {
  port::Write write{.op = port::Write::Op::kCreate,
                    .change = ChangeOf(kTfJobs, "default", JobOnClaim("a")),
                    .dry_run = true};
  const auto answer = Write(write);
  ASSERT_TRUE(answer.has_value());
  EXPECT_THAT(*answer->object.body, HasSubstr("PersistentVolumeClaim results"));
  ASSERT_TRUE(Create(kTfJobs, "default", JobOnClaim("a")).has_value());
  MakeLoop();
  Settle();
  EXPECT_THAT(WhyWaits("a"), HasSubstr("PersistentVolumeClaim results"));
  EXPECT_THAT(Told("ObjectMissing"), SizeIs(1));
  MakeClaim("claim-1");
  EXPECT_EQ(StatusOf("a").stage, job::Stage::kBound);
}

TEST_F(Needs, AClaimStaysUntilTheLastPodThatUsesItIsGone) {
  MakeClaim("claim-1");
  ASSERT_TRUE(Create(kTfJobs, "default", JobOnClaim("a")).has_value());
  const auto deleted = Delete(kClaims, "results");
  ASSERT_TRUE(deleted.has_value());
  EXPECT_FALSE(deleted->gone);
  Settle();
  EXPECT_TRUE(Stored(kClaims, "results").at("metadata").as_object().contains("deletionTimestamp"));
  EXPECT_FALSE(Create(kClaims, "default", Claim("claim-2")).has_value());

  ASSERT_TRUE(Create(kTfJobs, "default", JobOnClaim("late")).has_value());
  EXPECT_THAT(WhyWaits("late"), HasSubstr("PND-Q029 waits for PersistentVolumeClaim results"));

  EndProgram();  // its Pod stays to be looked at
  EXPECT_TRUE(job::IsTrue(StatusOf("a"), "Succeeded"));
  EXPECT_TRUE(IsThere(kClaims, "results"));
  MakeLoop();
  Settle();
  EXPECT_TRUE(IsThere(kClaims, "results"));
  EXPECT_THAT(launcher_->dropped, IsEmpty());

  ASSERT_TRUE(Delete(kTfJobs, "a").has_value());
  Settle();
  EXPECT_FALSE(IsThere(kClaims, "results"));
  EXPECT_THAT(launcher_->dropped, ElementsAre("claim-1"));
  EXPECT_THAT(WhyWaits("late"), HasSubstr("PND-Q028"));
  MakeClaim("claim-2");
  EXPECT_EQ(StatusOf("late").stage, job::Stage::kBound);
  Settle();
  EXPECT_THAT(launcher_->dropped, ElementsAre("claim-1"));
}

TEST_F(Needs, AGangThatStartsAgainKeepsItsClaim) {
  MakeClaim("claim-1");
  boost::json::object job = JobOnClaim("a");
  job.at("spec").at("tfReplicaSpecs").at("Worker").as_object()["restartPolicy"] = "OnFailure";
  ASSERT_TRUE(Create(kTfJobs, "default", job).has_value());
  ASSERT_TRUE(Delete(kClaims, "results").has_value());
  loop_->Tell(port::Exited{.uid = runner_.last_uid, .code = 1, .reason = "Error"});
  Settle();
  clock_.Set(clock_.Now() + base::Millis{60'000});
  Settle();
  EXPECT_TRUE(IsThere(kClaims, "results"));
  EXPECT_THAT(launcher_->dropped, IsEmpty());
}

// Its data goes behind the commit that says so, and before its object: whenever the server ends,
// the next one finishes it.
TEST_F(Needs, NoCrashForgetsAClaimThatLeavesOrTakesOneThatStays) {
  MakeClaim("claim-1");
  faulty_.SetOdds({1, 0});
  EXPECT_FALSE(Delete(kClaims, "results").has_value());
  faulty_.SetOdds({0, 0});
  Settle();
  EXPECT_TRUE(IsThere(kClaims, "results"));
  EXPECT_THAT(launcher_->dropped, IsEmpty());

  ASSERT_TRUE(Delete(kClaims, "results").has_value());
  EXPECT_THAT(launcher_->dropped, ElementsAre("claim-1"));
  EXPECT_TRUE(IsThere(kClaims, "results"));
  launcher_->dropped.clear();
  MakeLoop();
  Settle();
  EXPECT_FALSE(IsThere(kClaims, "results"));
  EXPECT_THAT(launcher_->dropped, ElementsAre("claim-1"));
}

TEST_F(Needs, AFinalizerHoldsAClaimAsItHoldsEverything) {
  boost::json::object claim = Claim("claim-1");
  claim["metadata"].as_object()["finalizers"] = {"example.com/mine"};
  ASSERT_TRUE(Create(kClaims, "default", claim).has_value());
  ASSERT_TRUE(Delete(kClaims, "results").has_value());
  Settle();
  MakeLoop();
  Settle();
  EXPECT_TRUE(IsThere(kClaims, "results"));
  EXPECT_THAT(launcher_->dropped, IsEmpty());
  claim = Stored(kClaims, "results");
  claim["metadata"].as_object().erase("finalizers");
  ASSERT_TRUE(Replace(kClaims, claim).has_value());
  Settle();
  EXPECT_FALSE(IsThere(kClaims, "results"));
  EXPECT_THAT(launcher_->dropped, ElementsAre("claim-1"));
}

TEST_F(Needs, AClaimGoesWithItsNamespaceAndItsLastProgram) {
  boost::json::object space = Object("v1", "Namespace", "default", {});
  space["metadata"].as_object().erase("namespace");
  ASSERT_TRUE(Create("namespaces", "", space).has_value());
  MakeClaim("claim-1");
  ASSERT_TRUE(Create(kTfJobs, "default", JobOnClaim("a")).has_value());
  ASSERT_TRUE(
      Write({.op = port::Write::Op::kDelete, .change = {.key = {"namespaces", "", "default"}}})
          .has_value());
  Settle();
  EXPECT_TRUE(IsThere(kClaims, "results"));
  EXPECT_THAT(launcher_->dropped, IsEmpty());
  EndProgram();
  EXPECT_FALSE(IsThere(kClaims, "results"));
  EXPECT_THAT(launcher_->dropped, ElementsAre("claim-1"));
  EXPECT_FALSE(store_.Get({"namespaces", "", "default"}).has_value());
}

TEST_F(Needs, AClaimThatCannotBeReadIsNotTakenFromAProgram) {
  MakeClaim("claim-1");
  ASSERT_TRUE(Create(kTfJobs, "default", JobOnClaim("a")).has_value());
  store_.damaged.insert({kClaims, "default", "results"});
  ASSERT_TRUE(Delete(kClaims, "results").has_value());
  Settle();
  EXPECT_EQ(store_.Get({kClaims, "default", "results"}).error().kind, base::Kind::kCorrupt);
  EndProgram();
  ASSERT_TRUE(Delete(kTfJobs, "a").has_value());
  Settle();
  store_.damaged.clear();
  EXPECT_FALSE(IsThere(kClaims, "results"));
  EXPECT_THAT(launcher_->dropped, IsEmpty()) << "whose data it was is not known";
}

}  // namespace
}  // namespace pondage::loop
