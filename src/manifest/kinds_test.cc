#include "manifest/kinds.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace pondage::manifest {
namespace {

TEST(Kinds, AreFoundByPluralAndByName) {
  for (const Kind& kind : Kinds()) {
    EXPECT_EQ(FindKind(kind.group, kind.plural), &kind);
    EXPECT_EQ(FindKindByName(kind.group, kind.kind), &kind);
  }
  EXPECT_EQ(FindKind("", "tfjobs"), nullptr);
  EXPECT_EQ(FindKind("kubeflow.org", "pods"), nullptr);
}

TEST(Kinds, HaveNamesThatNobodyElseHas) {
  std::set<std::string> taken;
  for (const Kind& kind : Kinds()) {
    for (const auto name : kind.short_names) {
      EXPECT_TRUE(taken.emplace(name).second) << name;
    }
    if (kind.storage.empty()) continue;
    std::string wanted(kind.plural);
    if (!kind.group.empty()) wanted += "." + std::string(kind.group);
    EXPECT_EQ(kind.storage, wanted);
  }
}

TEST(Kinds, SayWhatKubectlPrintsOfATFJob) {
  const Kind* job = FindKind("kubeflow.org", "tfjobs");
  ASSERT_NE(job, nullptr);
  EXPECT_EQ(job->version, "v1");
  EXPECT_EQ(job->singular, "tfjob");
  EXPECT_TRUE(job->short_names.empty());
  EXPECT_TRUE(job->namespaced && job->has_status && job->custom && job->in_all);
  ASSERT_EQ(job->columns.size(), 2u);
  EXPECT_EQ(job->columns[0].name, "State");
  EXPECT_EQ(job->columns[1].name, "Age");
}

TEST(Kinds, OnlyReviewsAreNotStored) {
  for (const Kind& kind : Kinds()) {
    EXPECT_EQ(kind.storage.empty(), kind.kind.ends_with("Review")) << kind.kind;
  }
}

TEST(Kinds, MergeListsAsKubernetesDoes) {
  const Kind& pod = *FindKind("", "pods");
  const Kind& service = *FindKind("", "services");
  EXPECT_EQ(MergeKey(pod, "containers"), "name");
  EXPECT_EQ(MergeKey(pod, "ports"), "containerPort");
  EXPECT_EQ(MergeKey(service, "ports"), "port");
  EXPECT_EQ(MergeKey(pod, "finalizers"), "=");
  EXPECT_EQ(MergeKey(pod, "tolerations"), "");
  EXPECT_EQ(MergeKey(*FindKind("kubeflow.org", "tfjobs"), "containers"), "");
}

}  // namespace
}  // namespace pondage::manifest
