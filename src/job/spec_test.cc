// Names and roles.
#include "job/spec.h"

#include <gtest/gtest.h>

#include "job/small_world.h"

namespace pondage::job {
namespace {

TEST(Spec, RolesTakeAnySpelling) {
  struct Row {
    const char* spelled;
    std::optional<Role> role;
  };
  const Row rows[] = {
      {"WORKER", Role::kWorker}, {"ps", Role::kPs},  {"chief", Role::kChief},
      {"MASTER", Role::kMaster}, {"Ps", Role::kPs},  {"Evaluator", Role::kEvaluator},
      {"Workers", std::nullopt}, {"", std::nullopt}, {"worker ", std::nullopt}};
  for (const Row& row : rows) EXPECT_EQ(RoleFromName(row.spelled), row.role) << row.spelled;
  EXPECT_STREQ(RoleName(Role::kPs), "PS");
  EXPECT_STREQ(RoleLabel(Role::kPs), "ps");
}

TEST(Spec, NamesOfReplicas) {
  EXPECT_EQ(ReplicaName("1/2/3/4/5", Role::kWorker, 1), "1-2-3-4-5-worker-1");
  EXPECT_EQ(ReplicaName("n", Role::kChief, 0), "n-chief-0");
  EXPECT_EQ(ReplicaName("n", Role::kPs, 1), "n-ps-1");
  EXPECT_EQ(ReplicaName("n", Role::kEvaluator, 0), "n-evaluator-0");
}

TEST(Spec, TheLongestSuffixLimitsTheName) {
  struct Row {
    std::map<Role, int> replicas;
    int limit;
  };
  const Row rows[] = {
      {{{Role::kPs, 10}}, 58},       {{{Role::kChief, 1}}, 55},
      {{{Role::kWorker, 10}}, 54},   {{{Role::kWorker, 11}}, 53},
      {{{Role::kWorker, 100}}, 53},  {{{Role::kMaster, 1}}, 54},
      {{{Role::kEvaluator, 1}}, 51}, {{{Role::kWorker, 1}, {Role::kEvaluator, 1}}, 51}};
  for (const Row& row : rows) {
    Spec spec;
    for (const auto& [role, count] : row.replicas) spec.roles[role] = Replicas(count);
    EXPECT_EQ(MaxNameLength(spec), row.limit);
  }
}

TEST(Spec, ACollectiveRestartsAsAGang) {
  struct Row {
    const char* says;
    std::map<Role, int> replicas;
    bool dynamic;
    Scope scope;
  };
  const Row rows[] = {
      {"one worker is alone", {{Role::kWorker, 1}}, false, Scope::kReplica},
      {"two workers reduce together", {{Role::kWorker, 2}}, false, Scope::kGang},
      {"chief and worker too", {{Role::kChief, 1}, {Role::kWorker, 1}}, false, Scope::kGang},
      {"a ps makes them independent", {{Role::kPs, 1}, {Role::kWorker, 2}}, false, Scope::kReplica},
      {"dynamic workers are independent", {{Role::kWorker, 2}}, true, Scope::kReplica},
      {"an evaluator is no member",
       {{Role::kWorker, 1}, {Role::kEvaluator, 1}},
       false,
       Scope::kReplica}};
  for (const Row& row : rows) {
    Spec spec;
    spec.dynamic_worker = row.dynamic;
    for (const auto& [role, count] : row.replicas) spec.roles[role] = Replicas(count);
    EXPECT_EQ(RestartScope(spec), row.scope) << row.says;
    spec.scope = Scope::kReplica;
    EXPECT_EQ(RestartScope(spec), Scope::kReplica) << "the annotation decides";
  }
}

}  // namespace
}  // namespace pondage::job
