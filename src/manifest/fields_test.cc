#include "manifest/fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <memory>

#include "manifest/object.h"

namespace pondage::manifest {
namespace {

namespace json = boost::json;

using testing::ElementsAre;
using testing::IsEmpty;

json::object Object(std::string_view yaml) {
  return ParseManifests(yaml)->at(0);
}

constexpr std::string_view kJob = R"(
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: a, labels: {any: thing}, creationTimestamp: null, spurious: 1}
spec:
  cleanPodPolicy: All
  runPolicy: {backoffLimit: 1, backofflimit: 2}
  tfReplicaSpecs:
    Worker:
      replica: 2
      template:
        metadata: {labels: {x: z}, uid: u, creationTimestamp: null}
        spec:
          nodeSelector: {any: thing}
          containers:
          - name: tensorflow
            images: typo
            resources: {limits: {nvidia.com/gpu: 1}, limit: 2}
            livenessProbe: {httpGet: {port: 80}, exec: {comand: [a]}}
          volumes:
          - {name: v, configMap: {name: c, item: []}}
status: {anything: {goes: here}}
)";

TEST(UnknownFields, AreNamedWithTheirPaths) {
  EXPECT_THAT(
      UnknownFields("TFJob", Object(kJob)),
      ElementsAre(
          "metadata.spurious", "spec.cleanPodPolicy", "spec.runPolicy.backofflimit",
          "spec.tfReplicaSpecs.Worker.replica", "spec.tfReplicaSpecs.Worker.template.metadata.uid",
          "spec.tfReplicaSpecs.Worker.template.spec.containers[0].images",
          "spec.tfReplicaSpecs.Worker.template.spec.containers[0].resources.limit",
          "spec.tfReplicaSpecs.Worker.template.spec.containers[0].livenessProbe.exec.comand",
          "spec.tfReplicaSpecs.Worker.template.spec.volumes[0].configMap.item"));
  EXPECT_THAT(UnknownFields("Nothing", Object(kJob)), IsEmpty());
  EXPECT_THAT(UnknownFields("Queue", Object("{spec: {limits: {}, limit: {a: 1}}}")),
              ElementsAre("spec.limits"));
}

TEST(UnknownFields, AreBounded) {
  std::string yaml = "spec:\n";
  for (int i = 0; i < 1000; ++i) yaml += "  x" + std::to_string(i) + ": 1\n";
  EXPECT_EQ(UnknownFields("TFJob", Object(yaml)).size(), 100u);
}

TEST(Prune, LeavesWhatIsKnown) {
  json::object job = Object(kJob);
  Prune("TFJob", job);
  EXPECT_THAT(UnknownFields("TFJob", job), IsEmpty());
  EXPECT_EQ(json::serialize(job.at("spec")),
            R"({"runPolicy":{"backoffLimit":1},"tfReplicaSpecs":{"Worker":{"template":{)"
            R"("metadata":{"labels":{"x":"z"}},"spec":{"nodeSelector":{"any":"thing"},)"
            R"("containers":[{"name":"tensorflow","resources":{"limits":{"nvidia.com/gpu":1}},)"
            R"("livenessProbe":{"httpGet":{"port":80},"exec":{}}}],)"
            R"("volumes":[{"name":"v","configMap":{"name":"c"}}]}}}}})");
  EXPECT_EQ(json::serialize(job.at("status")), R"({"anything":{"goes":"here"}})");
}

TEST(WrongTypes, AreNamedWithTheirPaths) {
  const auto errors = WrongTypes("Pod", Object(R"(
metadata: {labels: {a: y}, name: 1}
spec:
  containers: [{command: python, args: [1, x], ports: [{containerPort: "80"}], resources: {limits: {cpu: true}},
                readinessProbe: {tcpSocket: {port: 1.5}}, tty: "yes"}, 5]
  volumes: {}
)"));
  std::vector<std::string> texts;
  texts.reserve(errors.size());
  for (const auto& error : errors) texts.push_back(error.path + ": " + error.message);
  EXPECT_THAT(
      texts,
      ElementsAre(
          "metadata.labels.a: Invalid value: true: must be a string",
          "metadata.name: Invalid value: 1: must be a string",
          "spec.containers[0].command: Invalid value: \"python\": must be a list",
          "spec.containers[0].args[0]: Invalid value: 1: must be a string",
          "spec.containers[0].ports[0].containerPort: Invalid value: \"80\": must be a whole "
          "number",
          "spec.containers[0].resources.limits.cpu: Invalid value: true: must be a quantity",
          "spec.containers[0].readinessProbe.tcpSocket.port: Invalid value: 1.5: must be a whole "
          "number or a string",
          "spec.containers[0].tty: Invalid value: \"yes\": must be true or false",
          "spec.containers[1]: Invalid value: 5: must be an object",
          "spec.volumes: Invalid value: an object: must be a list"));
}

// PONDAGE_TEST_PYTHON names an interpreter that has the client; without it python3 of the PATH.
TEST(FieldTable, AgreesWithThePythonClientWhereItIsInstalled) {
  const char* given = std::getenv("PONDAGE_TEST_PYTHON");
  const std::string python = given == nullptr ? "python3" : given;
  const std::string source = PONDAGE_SOURCE_DIR;
  const std::string command = "'" + python + "' '" + source + "/tools/compare_fields.py' '" +
                              source + "/src/manifest/field_table.cc' 2>&1";
  std::string output;
  FILE* pipe = popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  char buffer[4096];
  std::size_t count = 0;
  while ((count = fread(buffer, 1, sizeof buffer, pipe)) > 0) output.append(buffer, count);
  const int status = pclose(pipe);
  if (WIFEXITED(status) && (WEXITSTATUS(status) == 77 || WEXITSTATUS(status) == 127)) {
    GTEST_SKIP() << "the kubernetes client 32 for Python is not installed";
  }
  EXPECT_EQ(status, 0);
  EXPECT_EQ(output, "compared 190\n");
}

}  // namespace
}  // namespace pondage::manifest
