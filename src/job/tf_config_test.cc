// TF_CONFIG to the byte.
#include "job/tf_config.h"

#include <gtest/gtest.h>

#include "job/small_world.h"

namespace pondage::job {
namespace {

struct Case {
  std::string name = "mnist";
  std::string space = "ml";
  std::string domain;
  std::map<Role, int> replicas;
  std::map<Role, int> ports;
  bool dynamic = false;
  bool evaluator_in_cluster = true;
};

std::string Of(const Case& of, Role role, int index) {
  Spec spec;
  spec.dynamic_worker = of.dynamic;
  spec.evaluator_in_cluster = of.evaluator_in_cluster;
  for (const auto& [present, count] : of.replicas) {
    spec.roles[present] = Replicas(count);
    if (of.ports.contains(present)) spec.roles[present].port = of.ports.at(present);
  }
  const Identity identity{{1}, of.space, of.name, "uid", {}};
  return TfConfig(spec, role, index,
                  [&](Role r, int i) { return DnsAddress(spec, identity, of.domain, r, i); })
      .value_or("none");
}

constexpr Role kC = Role::kChief, kM = Role::kMaster, kP = Role::kPs, kW = Role::kWorker,
               kE = Role::kEvaluator;

TEST(TfConfig, RowsOfTheNormalShape) {
  struct Row {
    Case of;
    Role role;
    int index;
    const char* text;
  };
  const Row rows[] = {
      {{.replicas = {{kW, 1}}}, kW, 0, "none"},
      {{.replicas = {{kW, 2}}},
       kW,
       1,
       R"({"cluster":{"worker":["mnist-worker-0.ml.svc:2222","mnist-worker-1.ml.svc:2222"]},"task":{"type":"worker","index":1},"environment":"cloud"})"},
      {{.replicas = {{kP, 1}, {kW, 2}}},
       kP,
       0,
       R"({"cluster":{"ps":["mnist-ps-0.ml.svc:2222"],"worker":["mnist-worker-0.ml.svc:2222","mnist-worker-1.ml.svc:2222"]},"task":{"type":"ps","index":0},"environment":"cloud"})"},
      {{.replicas = {{kC, 1}, {kP, 1}, {kW, 1}}},
       kC,
       0,
       R"({"cluster":{"chief":["mnist-chief-0.ml.svc:2222"],"ps":["mnist-ps-0.ml.svc:2222"],"worker":["mnist-worker-0.ml.svc:2222"]},"task":{"type":"chief","index":0},"environment":"cloud"})"},
      {{.replicas = {{kC, 1}, {kE, 1}, {kP, 1}, {kW, 1}}},
       kE,
       0,
       R"({"cluster":{"chief":["mnist-chief-0.ml.svc:2222"],"evaluator":["mnist-evaluator-0.ml.svc:2222"],"ps":["mnist-ps-0.ml.svc:2222"],"worker":["mnist-worker-0.ml.svc:2222"]},"task":{"type":"evaluator","index":0},"environment":"cloud"})"},
      {{.replicas = {{kM, 1}, {kW, 1}}},
       kW,
       0,
       R"({"cluster":{"master":["mnist-master-0.ml.svc:2222"],"worker":["mnist-worker-0.ml.svc:2222"]},"task":{"type":"worker","index":0},"environment":"cloud"})"},
      {{.replicas = {{kP, 1}, {kW, 1}}, .ports = {{kP, 3333}}},
       kW,
       0,
       R"({"cluster":{"ps":["mnist-ps-0.ml.svc:3333"],"worker":["mnist-worker-0.ml.svc:2222"]},"task":{"type":"worker","index":0},"environment":"cloud"})"}};
  for (const Row& row : rows) EXPECT_EQ(Of(row.of, row.role, row.index), row.text);
}

TEST(TfConfig, RowsOfUpstreamsTests) {
  EXPECT_EQ(Of({.space = "ns1", .domain = "tf.training.com", .replicas = {{kW, 1}}}, kW, 0),
            "none");
  EXPECT_EQ(
      Of({.name = "test-tfjob",
          .space = "ns2",
          .domain = "tf.training.org",
          .replicas = {{kW, 1}, {kP, 1}}},
         kW, 0),
      R"({"cluster":{"ps":["test-tfjob-ps-0.ns2.svc.tf.training.org:2222"],"worker":["test-tfjob-worker-0.ns2.svc.tf.training.org:2222"]},"task":{"type":"worker","index":0},"environment":"cloud"})");
  EXPECT_EQ(
      Of({.name = "test-tfjob", .space = "ns3", .replicas = {{kW, 1}, {kP, 1}, {kE, 1}}}, kW, 0),
      R"({"cluster":{"evaluator":["test-tfjob-evaluator-0.ns3.svc:2222"],"ps":["test-tfjob-ps-0.ns3.svc:2222"],"worker":["test-tfjob-worker-0.ns3.svc:2222"]},"task":{"type":"worker","index":0},"environment":"cloud"})");
  EXPECT_NE(Of({.replicas = {{kC, 1}, {kW, 1}}}, kC, 0), "none");
}

TEST(TfConfig, DynamicWorkersKnowThemselvesAndThePs) {
  const Case with_ps{.replicas = {{kW, 2}, {kP, 2}}, .dynamic = true};
  EXPECT_EQ(
      Of(with_ps, kW, 1),
      R"({"cluster":{"worker":{"1":"mnist-worker-1.ml.svc:2222"},"ps":["mnist-ps-0.ml.svc:2222","mnist-ps-1.ml.svc:2222"]},"task":{"type":"worker","index":1}})");
  EXPECT_EQ(
      Of({.replicas = {{kW, 2}, {kP, 1}}, .dynamic = true}, kP, 0),
      R"({"cluster":{"worker":{},"ps":["mnist-ps-0.ml.svc:2222"]},"task":{"type":"ps","index":0}})");
}

TEST(TfConfig, O18AChiefAmongDynamicWorkersHasAClusterThatTensorFlowTakes) {
  EXPECT_EQ(
      Of({.replicas = {{kW, 2}}, .dynamic = true}, kW, 0),
      R"({"cluster":{"worker":{"0":"mnist-worker-0.ml.svc:2222"},"ps":[]},"task":{"type":"worker","index":0}})");
  EXPECT_EQ(
      Of({.replicas = {{kW, 1}, {kP, 2}}, .dynamic = true}, kP, 1),
      R"({"cluster":{"worker":{},"ps":["mnist-ps-0.ml.svc:2222","mnist-ps-1.ml.svc:2222"]},"task":{"type":"ps","index":1}})");
  const Case with_chief{.replicas = {{kC, 1}, {kW, 1}, {kP, 1}, {kE, 1}}, .dynamic = true};
  EXPECT_EQ(
      Of(with_chief, kC, 0),
      R"({"cluster":{"chief":["mnist-chief-0.ml.svc:2222"],"worker":{},"ps":["mnist-ps-0.ml.svc:2222"]},"task":{"type":"chief","index":0}})");
  EXPECT_EQ(
      Of(with_chief, kE, 0),
      R"({"cluster":{"chief":["mnist-chief-0.ml.svc:2222"],"worker":{},"ps":["mnist-ps-0.ml.svc:2222"]},"task":{"type":"evaluator","index":0}})");
  EXPECT_EQ(Of({.replicas = {{kW, 1}, {kE, 1}}, .dynamic = true}, kE, 0),
            R"({"cluster":{"worker":{},"ps":[]},"task":{"type":"evaluator","index":0}})");
}

TEST(TfConfig, O19AnEvaluatorCanBeLeftOutOfEveryCluster) {
  const Case out{.replicas = {{kC, 1}, {kE, 1}}, .evaluator_in_cluster = false};
  EXPECT_EQ(
      Of(out, kC, 0),
      R"({"cluster":{"chief":["mnist-chief-0.ml.svc:2222"]},"task":{"type":"chief","index":0},"environment":"cloud"})");
  EXPECT_EQ(
      Of(out, kE, 0),
      R"({"cluster":{"chief":["mnist-chief-0.ml.svc:2222"]},"task":{"type":"evaluator","index":0},"environment":"cloud"})");
}

TEST(TfConfig, O20ATypeWithoutReplicasIsNotThere) {
  EXPECT_EQ(Of({.replicas = {{kP, 0}, {kW, 1}}}, kW, 0), "none");
  EXPECT_EQ(
      Of({.replicas = {{kP, 0}, {kW, 2}}}, kW, 0),
      R"({"cluster":{"worker":["mnist-worker-0.ml.svc:2222","mnist-worker-1.ml.svc:2222"]},"task":{"type":"worker","index":0},"environment":"cloud"})");
}

}  // namespace
}  // namespace pondage::job
