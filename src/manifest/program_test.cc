#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "manifest/object.h"
#include "manifest/pod.h"

namespace pondage::manifest {
namespace {

namespace json = boost::json;

using testing::ElementsAre;
using testing::Pair;
using Data = std::map<std::string, std::string>;
using Source = PodProgram::VolumeMount::Source;

std::optional<Data> Read(const std::string& kind, const std::string& name) {
  if (kind == "configmaps" && name == "cm") return Data{{"a", "1"}, {"b", "2"}, {"bad=key", "3"}};
  if (kind == "secrets" && name == "s")
    return Data{{"token", "t$(A)"}, {"zero", std::string("\0", 1)}};
  return std::nullopt;
}

base::Result<PodProgram> Program(std::string_view yaml) {
  return ProgramOf(json::serialize(ParseManifests(yaml)->at(0)), Read);
}

// The Pod whose main container has these members.
base::Result<PodProgram> Of(std::string_view container, std::string_view spec = "") {
  std::string yaml =
      "metadata: {name: p, namespace: ml, uid: u, labels: {app: x}, annotations: {note: z}}\n"
      "status: {hostIP: 10.0.0.1, podIP: 10.0.0.2}\n"
      "spec: {nodeName: n1, containers: [{name: tensorflow, image: i, " +
      std::string(container) + "}]" + (spec.empty() ? "" : ", ") + std::string(spec) + "}";
  return Program(yaml);
}

TEST(Program, ExpandsAsKubernetesDoes) {
  struct Row {
    std::string_view arg;
    std::string_view word;
  };
  const Row kRows[] = {
      {"plain", "plain"}, {"$(A)", "1"},    {"x$(A)y$(B)z", "x1y2z"}, {"$(NONE)", "$(NONE)"},
      {"$$(A)", "$(A)"},  {"$$$(A)", "$1"}, {"$$$$", "$$"},           {"$", "$"},
      {"$A", "$A"},       {"$(A", "$(A"},   {"$()", "$()"},           {"${A}", "${A}"},
      {"a$", "a$"},       {"$(A)$", "1$"},  {"$(C)", "12"},
  };
  for (const Row& row : kRows) {
    const auto program =
        Of("command: [\"" + std::string(row.arg) +
           "\"], env: [{name: A, value: \"1\"}, {name: B, value: \"2\"}, {name: C, "
           "value: \"$(A)$(B)\"}]");
    ASSERT_TRUE(program) << program.error().message;
    EXPECT_THAT(program->argv, ElementsAre(std::string(row.word))) << row.arg;
  }
}

TEST(Program, WhatItsReferencesFillInIsBounded) {
  std::string env = "{name: A0, value: " + std::string(1000, 'x') + "}";
  for (int i = 1; i < 10; ++i) {
    env += ", {name: A" + std::to_string(i) + ", value: \"";
    for (int k = 0; k < 10; ++k) env += "$(A" + std::to_string(i - 1) + ")";
    env += "\"}";
  }
  std::string args;
  for (int i = 0; i < 250; ++i) args += "\"$(A1)\", ";
  const std::pair<std::string, std::string_view> kRows[] = {
      {"command: [a], env: [" + env + "]",
       "variable A3 would be longer than the 131072 bytes that Linux takes as one"},
      {"command: [a], args: [" + args + "a], env: [" + env.substr(0, env.find(", {name: A2")) + "]",
       "its variables and arguments together are longer than the 2097152 bytes that Linux takes"},
      {"command: [\"" + std::string(140'000, 'y') + "\"]",
       "an argument would be longer than the 131072 bytes that Linux takes as one"},
  };
  for (const auto& [container, why] : kRows) {
    const auto program = Of(container);
    ASSERT_FALSE(program);
    EXPECT_EQ(program.error().message, why);
  }
}

TEST(Program, VariablesReferBackwardsAndTheLastOfANameWins) {
  const auto program = Of(
      "command: [a], env: [{name: A, value: \"$(B)\"}, {name: B, value: \"2\"}, {name: C, value: "
      "\"$(B)\"}, {name: B, value: \"3$(B)\"}]");
  ASSERT_TRUE(program);
  EXPECT_THAT(program->env, ElementsAre(Pair("A", "$(B)"), Pair("B", "32"), Pair("C", "2")));
}

TEST(Program, ReadsEverySource) {
  const auto program =
      Of("command: [a], args: [\"$(T)\", \"$(P_a)\"], workingDir: /w,"
         "resources: {limits: {cpu: 2500m, memory: 1Gi}, requests: {cpu: 500m}},"
         "securityContext: {runAsUser: 7},"
         "envFrom: [{prefix: P_, configMapRef: {name: cm}}, {secretRef: {name: gone, optional: "
         "true}}],"
         "env: [{name: T, valueFrom: {secretKeyRef: {name: s, key: token}}},"
         "{name: K, valueFrom: {configMapKeyRef: {name: cm, key: b}}},"
         "{name: M, valueFrom: {configMapKeyRef: {name: cm, key: gone, optional: true}}},"
         "{name: F1, valueFrom: {fieldRef: {fieldPath: metadata.name}}},"
         "{name: F2, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}},"
         "{name: F3, valueFrom: {fieldRef: {fieldPath: metadata.uid}}},"
         "{name: F4, valueFrom: {fieldRef: {fieldPath: \"metadata.labels['app']\"}}},"
         "{name: F5, valueFrom: {fieldRef: {fieldPath: \"metadata.annotations['note']\"}}},"
         "{name: F6, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}},"
         "{name: F7, valueFrom: {fieldRef: {fieldPath: status.hostIP}}},"
         "{name: F8, valueFrom: {fieldRef: {fieldPath: status.podIP}}},"
         "{name: F9, valueFrom: {fieldRef: {fieldPath: \"metadata.labels['none']\"}}},"
         "{name: R1, valueFrom: {resourceFieldRef: {resource: limits.cpu}}},"
         "{name: R2, valueFrom: {resourceFieldRef: {resource: limits.memory, divisor: 1Mi}}},"
         "{name: R3, valueFrom: {resourceFieldRef: {resource: requests.cpu, divisor: 1m}}},"
         "{name: R4, valueFrom: {resourceFieldRef: {resource: requests.memory}}}]",
         "terminationGracePeriodSeconds: 5, securityContext: {runAsUser: 1, runAsGroup: 2}");
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_THAT(program->env,
              ElementsAre(Pair("P_a", "1"), Pair("P_b", "2"), Pair("T", "t$(A)"), Pair("K", "2"),
                          Pair("F1", "p"), Pair("F2", "ml"), Pair("F3", "u"), Pair("F4", "x"),
                          Pair("F5", "z"), Pair("F6", "n1"), Pair("F7", "10.0.0.1"),
                          Pair("F8", "10.0.0.2"), Pair("F9", ""), Pair("R1", "3"),
                          Pair("R2", "1024"), Pair("R3", "500"), Pair("R4", "1073741824")));
  EXPECT_THAT(program->argv, ElementsAre("a", "t$(A)", "1"));
  EXPECT_EQ(program->main_container, "tensorflow");
  EXPECT_EQ(program->image, "i");
  EXPECT_EQ(program->working_dir, "/w");
  EXPECT_EQ(program->grace, base::Millis{5000});
  EXPECT_EQ(program->cpu_limit, base::MilliCpu{2500});
  EXPECT_EQ(program->memory_limit, base::Bytes{1 << 30});
  EXPECT_EQ(program->account.user, 7u);
  EXPECT_EQ(program->account.group, 2u);
}

TEST(Program, ReadsEveryVolume) {
  const auto program =
      Of("command: [a], volumeMounts: [{name: h, mountPath: /h, subPath: x/y}, {name: e, "
         "mountPath: /e},"
         "{name: c, mountPath: /c}, {name: s, mountPath: /s}, {name: p, mountPath: /p, readOnly: "
         "true},"
         "{name: o, mountPath: /o}, {name: k, mountPath: /k}]",
         "volumes: [{name: h, hostPath: {path: /data}}, {name: e, emptyDir: {}},"
         "{name: c, configMap: {name: cm, defaultMode: 0400, items: [{key: a, path: d/f}]}},"
         "{name: s, secret: {secretName: s}}, {name: p, persistentVolumeClaim: {claimName: claim}},"
         "{name: o, configMap: {name: gone, optional: true}},"
         "{name: k, configMap: {name: cm, optional: true, items: [{key: gone, path: g}]}},"
         "{name: unused, configMap: {name: gone}}]");
  ASSERT_TRUE(program) << program.error().message;
  const auto& mounts = program->mounts;
  ASSERT_EQ(mounts.size(), 7u);
  EXPECT_EQ(mounts[0].source, Source::kHostPath);
  EXPECT_EQ(mounts[0].host_path, "/data");
  EXPECT_EQ(mounts[0].sub_path, "x/y");
  EXPECT_EQ(mounts[0].target, "/h");
  EXPECT_FALSE(mounts[0].read_only);
  EXPECT_EQ(mounts[1].source, Source::kEmptyDir);
  EXPECT_EQ(mounts[1].name, "e");
  EXPECT_EQ(mounts[2].source, Source::kConfigMap);
  EXPECT_EQ(mounts[2].name, "cm");
  EXPECT_EQ(mounts[2].mode, 0400);
  EXPECT_TRUE(mounts[2].read_only);
  EXPECT_THAT(mounts[2].items, ElementsAre(Pair("a", "d/f")));
  EXPECT_EQ(mounts[3].source, Source::kSecret);
  EXPECT_EQ(mounts[3].mode, 0644);
  EXPECT_EQ(mounts[4].source, Source::kClaim);
  EXPECT_EQ(mounts[4].name, "claim");
  EXPECT_TRUE(mounts[4].read_only);
  EXPECT_EQ(mounts[5].source, Source::kEmptyDir) << "optional and missing";
  EXPECT_EQ(mounts[6].source, Source::kEmptyDir) << "not all keys, but none";
}

TEST(Program, SaysWhatIsMissing) {
  struct Row {
    std::string_view container;
    std::string_view spec;
    base::Kind kind;
    std::string_view object;
    std::string_view message;
  };
  const Row kRows[] = {
      {"args: [a]", "", base::Kind::kInvalid, "", "container \"tensorflow\" has no command"},
      {"command: [a], envFrom: [{configMapRef: {name: gone}}]", "", base::Kind::kNotFound,
       "configmaps/gone", "configmap \"gone\" not found"},
      {"command: [a], env: [{name: A, valueFrom: {secretKeyRef: {name: gone, key: k}}}]", "",
       base::Kind::kNotFound, "secrets/gone", "secret \"gone\" not found"},
      {"command: [a], env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k}}}]", "",
       base::Kind::kNotFound, "secrets/s", "key \"k\" not found"},
      {"command: [a], env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: zero}}}]", "",
       base::Kind::kInvalid, "", "variable A holds a zero byte"},
      {"command: [a], env: [{name: A, valueFrom: {fieldRef: {fieldPath: spec.x}}}]", "",
       base::Kind::kInvalid, "", "fieldPath \"spec.x\" is not supported"},
      {"command: [a], env: [{name: A, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}]", "",
       base::Kind::kInvalid, "", "resourceFieldRef: container \"tensorflow\" has no limits.cpu"},
      {"command: [\"a\\0b\"]", "", base::Kind::kInvalid, "", "an argument holds a zero byte"},
      {"command: [a], volumeMounts: [{name: v, mountPath: /v}]", "volumes: [{name: v, nfs: {}}]",
       base::Kind::kInvalid, "", "volume \"v\": nfs is not supported"},
      {"command: [a], volumeMounts: [{name: v, mountPath: /v}]",
       "volumes: [{name: v, configMap: {name: cm, items: [{key: k, path: p}]}}]",
       base::Kind::kNotFound, "configmaps/cm", "key \"k\" not found"},
  };
  for (const Row& row : kRows) {
    const auto program = Of(row.container, row.spec);
    ASSERT_FALSE(program) << row.container;
    EXPECT_EQ(program.error().kind, row.kind) << row.container;
    EXPECT_EQ(program.error().object, row.object) << row.container;
    EXPECT_EQ(program.error().message, row.message) << row.container;
  }
  EXPECT_FALSE(Program("spec: {}"));
  EXPECT_FALSE(ProgramOf("[1]", Read));
  EXPECT_FALSE(ProgramOf("", Read));
}

}  // namespace
}  // namespace pondage::manifest
