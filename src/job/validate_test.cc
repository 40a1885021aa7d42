// What is refused, with which words, and what is only warned about.
#include "job/validate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pondage::job {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

DraftRole TypeOf(const char* spelled, std::optional<std::int64_t> replicas = std::nullopt) {
  DraftRole role;
  role.spelled = spelled;
  role.replicas = replicas;
  role.containers = {{"tensorflow", "image"}};
  return role;
}

Draft Good() {
  Draft draft;
  draft.name = "test";
  draft.has_roles = true;
  draft.roles = {TypeOf("Worker", 2)};
  return draft;
}

// "path: message" of every error.
std::vector<std::string> Errors(const Draft& draft, const Draft* previous = nullptr) {
  std::vector<std::string> out;
  for (const FieldError& error : Validate(draft, previous).errors) {
    out.push_back(error.path + ": " + error.message);
  }
  return out;
}

Draft With(const std::function<void(Draft&)>& change) {
  Draft draft = Good();
  change(draft);
  return draft;
}

TEST(Validate, AcceptsAnOrdinaryJob) {
  const Draft draft = With([](Draft& d) { d.managed_by = "kubeflow.org/training-operator"; });
  const Findings findings = Validate(draft, nullptr);
  EXPECT_THAT(findings.errors, IsEmpty());
  EXPECT_THAT(findings.warnings, IsEmpty());
}

struct Row {
  const char* says;
  std::function<void(Draft&)> change;
  std::vector<std::string> errors;  // whole lines
};

void Expect(const std::vector<Row>& rows) {
  for (const Row& row : rows) EXPECT_EQ(Errors(With(row.change)), row.errors) << row.says;
}

TEST(Validate, RulesOfUpstream) {
  const std::string containers = "spec.tfReplicaSpecs[Worker].template.spec.containers";
  const std::string no_main = containers + R"(: Required value: one must be named "tensorflow")";
  Expect({
      {"V3 another manager",
       [](Draft& d) { d.managed_by = "other-job-controller"; },
       {R"(spec.runPolicy.managedBy: Unsupported value: "other-job-controller": supported values: "kubeflow.org/training-operator", "kueue.x-k8s.io/multikueue")"}},
      {"V3 an empty manager",
       [](Draft& d) { d.managed_by = ""; },
       {R"(spec.runPolicy.managedBy: Unsupported value: "": supported values: "kubeflow.org/training-operator", "kueue.x-k8s.io/multikueue")"}},
      {"V4 no replica specs",
       [](Draft& d) {
         d.has_roles = false;
         d.roles.clear();
       },
       {"spec.tfReplicaSpecs: Required value"}},
      {"V5 and V7 no containers",
       [](Draft& d) { d.roles[0].containers.clear(); },
       {containers + ": Required value", no_main}},
      {"V6 no image",
       [](Draft& d) { d.roles[0].containers[0].image = ""; },
       {containers + "[0].image: Required value"}},
      {"V7 a container of another name",
       [](Draft& d) { d.roles[0].containers[0].name = ""; },
       {no_main}},
      {"V8 chief and master",
       [](Draft& d) { d.roles = {TypeOf("Chief"), TypeOf("Master"), TypeOf("Worker")}; },
       {"spec.tfReplicaSpecs: Forbidden: a job has one deciding type, so Chief and Master exclude "
        "each other"}},
  });
}

TEST(Validate, V1NamesAreDns1035Labels) {
  for (const char* name : {"00test", "Test", "a_b", "-a", "a-", "", "a.b"}) {
    EXPECT_THAT(Errors(With([&](Draft& d) { d.name = name; })),
                ElementsAre(HasSubstr("metadata.name: Invalid value: \"" + std::string(name) +
                                      "\": must be a DNS-1035 label")))
        << name;
  }
}

TEST(Validate, CollectsAllErrorsAtOnce) {
  const Draft draft = With([](Draft& d) {
    d.name = "00test";
    d.roles = {TypeOf("Chief"), TypeOf("Master")};
    d.roles[1].containers[0].image = "";
  });
  EXPECT_EQ(Validate(draft, nullptr).errors.size(), 3u);
}

TEST(Validate, O2TheLimitOfANameDependsOnItsReplicas) {
  const auto named = [](std::size_t length, std::vector<DraftRole> roles) {
    return With([&](Draft& d) {
      d.name = std::string(length, 'a');
      d.roles = std::move(roles);
    });
  };
  EXPECT_THAT(Errors(named(54, {TypeOf("Worker", 1)})), IsEmpty());
  EXPECT_THAT(Errors(named(55, {TypeOf("Worker", 1)})),
              ElementsAre(HasSubstr("must be no more than 54 characters")));
  EXPECT_THAT(Errors(named(52, {TypeOf("Worker", 1), TypeOf("Evaluator", 1)})),
              ElementsAre(HasSubstr("must be no more than 51 characters")));
  EXPECT_THAT(Errors(named(54, {TypeOf("Worker", 11)})),
              ElementsAre(HasSubstr("must be no more than 53 characters")));
}

TEST(Validate, O1WhatUpstreamAcceptsAndNeverRuns) {
  const std::string worker = "spec.tfReplicaSpecs[Worker]";
  Expect({
      {"unknown type",
       [](Draft& d) { d.roles = {TypeOf("Workers")}; },
       {R"(spec.tfReplicaSpecs: Unsupported value: "Workers": supported values: "Chief", "Master", "PS", "Worker", "Evaluator")"}},
      {"two spellings",
       [](Draft& d) { d.roles = {TypeOf("WORKER"), TypeOf("Worker")}; },
       {worker + R"(: Duplicate value: "Worker")"}},
      {"chief and Master, one in the wrong case",
       [](Draft& d) { d.roles = {TypeOf("chief"), TypeOf("Master")}; },
       {"spec.tfReplicaSpecs: Forbidden: a job has one deciding type, so Chief and Master exclude "
        "each other"}},
      {"empty map", [](Draft& d) { d.roles.clear(); }, {"spec.tfReplicaSpecs: Required value"}},
      {"null", [](Draft& d) { d.roles[0].is_null = true; }, {worker + ": Required value"}},
      {"negative replicas",
       [](Draft& d) { d.roles[0].replicas = -1; },
       {worker + ".replicas: Invalid value: -1: must be greater than or equal to 0"}},
      {"all types without replicas",
       [](Draft& d) { d.roles = {TypeOf("Worker", 0), TypeOf("PS", 0)}; },
       {"spec.tfReplicaSpecs: Required value: at least one type must have replicas"}},
      {"far too many",
       [](Draft& d) { d.roles[0].replicas = 2'147'483'647; },
       {"spec.tfReplicaSpecs: Invalid value: 2147483647: a job has at most 10000 replicas"}},
      {"unknown restartPolicy",
       [](Draft& d) { d.roles[0].restart_policy = "Sometimes"; },
       {worker +
        R"(.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never", "ExitCode")"}},
      {"unknown cleanPodPolicy",
       [](Draft& d) { d.clean_pod_policy = "Some"; },
       {R"(spec.runPolicy.cleanPodPolicy: Unsupported value: "Some": supported values: "All", "Running", "None")"}},
      {"unknown successPolicy",
       [](Draft& d) { d.success_policy = "Most"; },
       {R"(spec.successPolicy: Unsupported value: "Most": supported values: "AllWorkers")"}},
      {"negative ttl",
       [](Draft& d) { d.ttl_s = -1; },
       {"spec.runPolicy.ttlSecondsAfterFinished: Invalid value: -1: must be greater than or equal "
        "to 0"}},
      {"negative deadline",
       [](Draft& d) { d.deadline_s = -5; },
       {"spec.runPolicy.activeDeadlineSeconds: Invalid value: -5: must be greater than or equal to "
        "0"}},
      {"negative backoffLimit",
       [](Draft& d) { d.backoff_limit = -1; },
       {"spec.runPolicy.backoffLimit: Invalid value: -1: must be greater than or equal to 0"}},
      {"minAvailable 0",
       [](Draft& d) { d.min_available = 0; },
       {"spec.runPolicy.schedulingPolicy.minAvailable: Invalid value: 0: must be greater than 0"}},
      {"a template that is no Pod",
       [](Draft& d) {
         d.roles[0].template_errors = {{FieldErrorKind::kInvalid,
                                        "template.spec.containers[0].ports[0].containerPort",
                                        "Invalid value: 0: must be between 1 and 65535"}};
       },
       {worker + ".template.spec.containers[0].ports[0].containerPort: Invalid value: 0: must be "
                 "between 1 and 65535"}},
      {"cleanPodPolicy empty is unset", [](Draft& d) { d.clean_pod_policy = ""; }, {}},
      {"Chief without replicas is absent, also beside Master",
       [](Draft& d) {
         d.roles = {TypeOf("Chief", 0), TypeOf("Master")};
         d.roles[0].containers.clear();
       },
       {}},
  });
}

TEST(Validate, WarnsOfWhatItAccepts) {
  struct Warned {
    std::function<void(Draft&)> change;
    const char* about;
  };
  const Warned rows[] = {
      {[](Draft& d) { d.roles = {TypeOf("Chief", 2)}; }, "[Chief].replicas"},
      {[](Draft& d) { d.roles = {TypeOf("PS"), TypeOf("Evaluator")}; }, "never Succeeded"},
      {[](Draft& d) { d.deadline_s = 0; }, "activeDeadlineSeconds: 0"},
      {[](Draft& d) { d.min_available = 10; }, "10 is more than the 2 replicas"},
      {[](Draft& d) { d.min_available = 1; }, "1 is ignored"},
  };
  for (const Warned& row : rows) {
    const Findings findings = Validate(With(row.change), nullptr);
    EXPECT_THAT(findings.errors, IsEmpty()) << row.about;
    EXPECT_THAT(findings.warnings, ElementsAre(HasSubstr(row.about)));
  }
  const Draft elastic = With([](Draft& d) {
    d.min_available = 1;
    d.dynamic_worker = true;
  });
  EXPECT_THAT(Validate(elastic, nullptr).warnings, IsEmpty());
}

TEST(Validate, ManagedByAndQueueAreImmutable) {
  const Draft plain = Good();
  const Draft managed = With([](Draft& d) { d.managed_by = "kueue.x-k8s.io/multikueue"; });
  const Draft in_a = With([](Draft& d) { d.queue = "a"; });
  const Draft in_b = With([](Draft& d) { d.queue = "b"; });
  EXPECT_THAT(
      Errors(managed, &plain),
      ElementsAre(
          R"(spec.runPolicy.managedBy: Invalid value: "kueue.x-k8s.io/multikueue": field is immutable)"));
  EXPECT_THAT(Errors(plain, &managed),
              ElementsAre("spec.runPolicy.managedBy: Invalid value: null: field is immutable"));
  EXPECT_THAT(
      Errors(in_b, &in_a),
      ElementsAre(
          R"(spec.runPolicy.schedulingPolicy.queue: Invalid value: "b": spec.runPolicy.schedulingPolicy.queue is immutable)"));
  EXPECT_THAT(Errors(in_b, &plain), IsEmpty());
  EXPECT_THAT(Errors(plain, &in_a), IsEmpty());
}

TEST(Validate, O24AnEditThatReachesNoPodIsSaid) {
  const Draft before = Good();
  const Draft after = With([](Draft& d) { d.roles[0].containers[0].image = "newer"; });
  EXPECT_THAT(Errors(after, &before), IsEmpty());
  EXPECT_THAT(Validate(after, &before).warnings, Contains(HasSubstr("[Worker].template")));
  EXPECT_THAT(Validate(before, &before).warnings, IsEmpty());
}

}  // namespace
}  // namespace pondage::job
