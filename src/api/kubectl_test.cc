// Real kubectl against a real server over a store in memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/test_server.h"

namespace pondage::api {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kConfigMap =
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, labels: {app: a}}\n"
    "data: {one: '1', two: '2'}\n";

class Kubectl : public ::testing::Test {
 protected:
  void SetUp() override {
    if (server.Run("command -v kubectl").code != 0) GTEST_SKIP() << "kubectl is not on the PATH";
  }
  TestServer server;
};

TEST_F(Kubectl, AppliesGetsAndDeletes) {
  server.Write("map.yaml", kConfigMap);
  EXPECT_THAT(server.Good("kubectl apply -f map.yaml"), HasSubstr("configmap/settings created"));
  EXPECT_THAT(server.Good("kubectl apply -f map.yaml"), HasSubstr("configmap/settings unchanged"));
  EXPECT_THAT(server.Good("kubectl get cm settings"), ContainsRegex("NAME +DATA +AGE"));
  EXPECT_THAT(server.Good("kubectl get cm settings -o wide"),
              ContainsRegex("settings +2 +[0-9]+s"));
  EXPECT_THAT(server.Good("kubectl get cm -o yaml"), HasSubstr("kind: ConfigMap"));
  EXPECT_EQ(server.Good("kubectl get cm settings -o jsonpath={.data.two}"), "2");
  server.Write("map.yaml", std::string(kConfigMap) +
                               "---\napiVersion: v1\nkind: ConfigMap\n"
                               "metadata: {name: other}\n");
  EXPECT_THAT(server.Good("sed -i \"s/two: '2'/two: '3'/\" map.yaml; kubectl apply -f map.yaml"),
              HasSubstr("configmap/settings configured"));
  EXPECT_EQ(server.Good("kubectl get cm settings -o jsonpath={.data.two}"), "3");
  EXPECT_THAT(server.Good("kubectl delete cm settings"),
              HasSubstr("configmap \"settings\" deleted"));
  EXPECT_THAT(server.Run("kubectl get cm settings").output,
              HasSubstr("Error from server (NotFound): configmaps \"settings\" not found"));
}

constexpr const char* kTfJob = R"(apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: tf-mnist-distributed}
spec:
  tfReplicaSpecs:
    Worker:
      replicas: 2
      template:
        spec:
          containers:
          - name: tensorflow
            image: tensorflow/tensorflow:2.12.0-gpu
            command: ["python", "/mnt/code/train.py"]
            resources: {limits: {nvidia.com/gpu: 1}}
)";

boost::json::object Pod(const std::string& name, const std::string& state) {
  return boost::json::parse(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
                            R"(","namespace":"default","uid":"u-)" + name +
                            R"(","creationTimestamp":"2024-01-01T00:00:00Z",
      "labels":{"training.kubeflow.org/job-name":"j"}},
      "spec":{"nodeName":"here","containers":[{"name":"tensorflow","image":"i"}]},
      "status":{"phase":"Running","podIP":"127.0.0.1","containerStatuses":[{"name":"tensorflow",
      "ready":true,"restartCount":2,"image":"i","imageID":"","state":)" +
                            state +
                            R"(,"lastState":{"terminated":{"finishedAt":"2024-01-01T00:00:00Z",
      "exitCode":1}}}]}})")
      .as_object();
}

TEST_F(Kubectl, WatchesAsTables) {
  server.Write("map.yaml", kConfigMap);
  // Changes go on until the watch has printed three rows.
  const std::string out = server.Good(
      "kubectl get cm -w > rows & watcher=$!; kubectl apply -f map.yaml >/dev/null; i=0; "
      "while [ $(wc -l < rows) -lt 3 ] && [ $i -lt 300 ]; do i=$((i + 1)); "
      "kubectl label cm settings n=$i --overwrite >/dev/null; done; kill $watcher; cat rows");
  EXPECT_THAT(out, ContainsRegex("NAME +DATA +AGE"));
  EXPECT_THAT(out, ContainsRegex("settings +2 .*\n.*settings +2 ")) << "a row a change";
}

TEST_F(Kubectl, TakesTheArticlesTfJob) {
  server.Write("job.yaml", kTfJob);
  EXPECT_THAT(server.Good("kubectl apply -f job.yaml"),
              HasSubstr("tfjob.kubeflow.org/tf-mnist-distributed created"));
  EXPECT_THAT(server.Good("kubectl get tfjobs"), ContainsRegex("NAME +STATE +AGE"));
  EXPECT_THAT(server.Good("kubectl describe tfjob tf-mnist-distributed"),
              HasSubstr("tensorflow/tensorflow:2.12.0-gpu"));
  EXPECT_THAT(
      server.Good("sed -i 's/replicas: 2/replicas: 3/' job.yaml; kubectl apply -f job.yaml"),
      HasSubstr("configured"));
  EXPECT_EQ(server.Good("kubectl get tfjob -o jsonpath={.items[0].metadata.generation}"), "2");
  const Ran bad = server.Run("sed 's/image: .*/image: \"\"/' job.yaml | kubectl apply -f -");
  EXPECT_EQ(bad.code, 1);
  EXPECT_THAT(bad.output, HasSubstr("is invalid"));
  EXPECT_THAT(bad.output,
              HasSubstr("spec.tfReplicaSpecs[Worker].template.spec.containers[0].image: Required "
                        "value"));
  EXPECT_THAT(server.Good("kubectl get all"), HasSubstr("tfjob.kubeflow.org/tf-mnist-distributed"));
  EXPECT_THAT(server.Good("kubectl delete -f job.yaml"), HasSubstr("deleted"));
}

TEST_F(Kubectl, PatchesInThreeWays) {
  server.Write("map.yaml", kConfigMap);
  server.Good("kubectl create -f map.yaml");
  server.Good("kubectl patch cm settings -p '{\"data\":{\"one\":null,\"three\":\"3\"}}'");
  server.Good("kubectl patch cm settings --type=merge -p '{\"data\":{\"four\":\"4\"}}'");
  server.Good(
      "kubectl patch cm settings --type=json -p "
      "'[{\"op\":\"replace\",\"path\":\"/data/two\",\"value\":\"22\"}]'");
  EXPECT_EQ(server.Good("kubectl get cm settings -o jsonpath={.data}"),
            R"({"four":"4","three":"3","two":"22"})");
  server.Good("kubectl label cm settings tier=back app-");
  server.Good("kubectl annotate cm settings note='a b'");
  EXPECT_EQ(server.Good("kubectl get cm settings -o jsonpath={.metadata.labels}"),
            R"({"tier":"back"})");
  EXPECT_THAT(server.Good("kubectl get cm -l tier=back -o name"), HasSubstr("configmap/settings"));
  EXPECT_THAT(server.Good("kubectl get cm -l tier=front"), HasSubstr("No resources found"));
  EXPECT_THAT(server.Good("kubectl get cm --field-selector metadata.name=settings -o name"),
              HasSubstr("configmap/settings"));
  EXPECT_THAT(server.Run("kubectl get cm --field-selector data.x=1").output,
              HasSubstr("field label not supported: data.x"));
  server.Good("KUBE_EDITOR=\"sed -i /two:/s/22/33/\" kubectl edit cm settings");
  EXPECT_EQ(server.Good("kubectl get cm settings -o jsonpath={.data.two}"), "33");
  server.Good("kubectl get cm settings -o yaml | sed '/two:/s/33/44/' | kubectl replace -f -");
  EXPECT_EQ(server.Good("kubectl get cm settings -o jsonpath={.data.two}"), "44");
}

TEST_F(Kubectl, DiffsAndRunsDry) {
  server.Write("map.yaml", kConfigMap);
  EXPECT_THAT(server.Good("kubectl apply -f map.yaml --dry-run=server"),
              HasSubstr("configmap/settings created (server dry run)"));
  EXPECT_THAT(server.Good("kubectl get cm"), HasSubstr("No resources found"));
  server.Good("kubectl apply -f map.yaml");
  const Ran diff = server.Run("sed s/\\'2\\'/\\'5\\'/ map.yaml | kubectl diff -f -");
  EXPECT_EQ(diff.code, 1);
  EXPECT_THAT(diff.output, HasSubstr("+  two: \"5\""));
  EXPECT_EQ(server.Good("kubectl get cm settings -o jsonpath={.data.two}"), "2");
  server.Good("kubectl delete cm settings --dry-run=server");
  server.Good("kubectl get cm settings");
}

TEST_F(Kubectl, KnowsWhatIsServed) {
  const std::string out = server.Good("kubectl api-resources");
  EXPECT_THAT(out, ContainsRegex("tfjobs +kubeflow.org/v1 +true +TFJob"));
  EXPECT_THAT(out, ContainsRegex("queues +pondage.dev/v1alpha1 +false +Queue"));
  EXPECT_THAT(out, ContainsRegex("configmaps +cm +v1 +true +ConfigMap"));
  EXPECT_THAT(server.Good("kubectl version"), HasSubstr("Server Version: v1.32"));
  EXPECT_THAT(server.Good("kubectl api-versions"), HasSubstr("kubeflow.org/v1"));
  EXPECT_THAT(server.Good("kubectl get --raw /readyz"), HasSubstr("ok"));
  EXPECT_THAT(server.Good("kubectl explain tfjob"), HasSubstr("TFJob"));
}

TEST_F(Kubectl, ShowsPodsTheirLogsAndEvents) {
  server.Put("", "pods", Pod("j-worker-0", R"({"running":{}})"));
  server.logs.Write("u-j-worker-0", 2, "first\nsecond\nthird\n", true);
  server.logs.Write("u-j-worker-0", 1, "before\n", true);
  const std::string out = server.Good("kubectl get pods -o wide");
  EXPECT_THAT(out, ContainsRegex("NAME +READY +STATUS +RESTARTS +AGE +IP +NODE"));
  EXPECT_THAT(out, ContainsRegex("j-worker-0 +1/1 +Running +2 \\(.* ago\\) +.* +127.0.0.1 +here"));
  EXPECT_EQ(server.Good("kubectl logs j-worker-0"), "first\nsecond\nthird\n");
  EXPECT_EQ(server.Good("kubectl logs -f j-worker-0 --tail 1"), "third\n");
  EXPECT_EQ(server.Good("kubectl logs j-worker-0 --previous"), "before\n");
  EXPECT_EQ(server.Good("kubectl logs -l training.kubeflow.org/job-name=j --tail=2"),
            "second\nthird\n");
  EXPECT_THAT(server.Run("kubectl logs j-worker-0 -c other").output,
              HasSubstr("container other is not valid for pod j-worker-0"));
  EXPECT_THAT(server.Good("kubectl describe pod j-worker-0"), HasSubstr("Restart Count:  2"));
  EXPECT_THAT(server.Good("kubectl get events"), HasSubstr("No resources found"));
  server.Good("kubectl wait --for=jsonpath='{.status.phase}'=Running pod/j-worker-0 --timeout=5s");
  const Ran bare = server.Run("kubectl run x --image=i");
  EXPECT_EQ(bare.code, 1);
  EXPECT_THAT(bare.output, HasSubstr("create a TFJob instead"));
  EXPECT_THAT(server.Good("kubectl delete pod j-worker-0"), HasSubstr("deleted"));
}

TEST_F(Kubectl, WaitsForDeletion) {
  server.Write("map.yaml",
               "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: held, "
               "finalizers: [pondage.dev/test]}\n");
  server.Good("kubectl create -f map.yaml");
  server.Good("kubectl delete cm held --wait=false");
  EXPECT_THAT(server.Good("kubectl get cm held -o jsonpath={.metadata.deletionTimestamp}"),
              HasSubstr("2030"));
  server.Good(
      "kubectl wait --for=delete cm/held --timeout=20s & waiter=$!; "
      "kubectl patch cm held --type=merge -p '{\"metadata\":{\"finalizers\":null}}'; wait $waiter");
  EXPECT_EQ(server.Run("kubectl get cm held").code, 1);
}

TEST_F(Kubectl, LimitsTheSecondTokenToItsNamespace) {
  server.Write("map.yaml", kConfigMap);
  EXPECT_EQ(server.Run("kubectl apply -f map.yaml", "guest").code, 0);
  const Ran foreign = server.Run("kubectl get cm -n default", "guest");
  EXPECT_EQ(foreign.code, 1);
  EXPECT_THAT(foreign.output,
              HasSubstr("configmaps is forbidden: User \"guest\" cannot list resource "
                        "\"configmaps\" in API group \"\" in the namespace \"default\""));
  server.Write("nobody", Kubeconfig(server.Url(), server.authority.certificate_pem, "wrong"));
  EXPECT_THAT(server.Run("kubectl get cm", "nobody").output, HasSubstr("Unauthorized"));
}

TEST_F(Kubectl, WarnsOfUnknownFieldsOrRefusesThem) {
  server.Write("job.yaml", std::string(kTfJob) + "  cleanPodPolicy: All\n");
  const Ran strict = server.Run("kubectl create -f job.yaml");
  EXPECT_EQ(strict.code, 1);
  EXPECT_THAT(strict.output, HasSubstr("unknown field \"spec.cleanPodPolicy\""));
  EXPECT_THAT(server.Good("kubectl create -f job.yaml --validate=warn"),
              HasSubstr("Warning: unknown field \"spec.cleanPodPolicy\""));
}

TEST_F(Kubectl, SendsProtobufForBuiltInKinds) {
  EXPECT_THAT(server.Good("kubectl create namespace lab"), HasSubstr("namespace/lab created"));
  EXPECT_THAT(server.Good("kubectl get ns lab"), ContainsRegex("lab +Active"));
  EXPECT_THAT(server.Good("kubectl get sa -n lab -o name"), HasSubstr("serviceaccount/default"));
  server.Good("kubectl create configmap made --from-literal=a=b -n lab");
  EXPECT_EQ(server.Good("kubectl get cm made -n lab -o jsonpath={.data.a}"), "b");
  server.Good("kubectl create secret generic key --from-literal=a=b -n lab");
  EXPECT_EQ(server.Good("kubectl get secret key -n lab -o jsonpath={.data.a}"), "Yg==");
  EXPECT_THAT(server.Good("kubectl auth can-i delete tfjobs"), HasSubstr("yes"));
  EXPECT_THAT(server.Run("kubectl auth can-i delete tfjobs -n default", "guest").output,
              HasSubstr("no"));
  EXPECT_THAT(server.Run("kubectl auth can-i create tfjobs", "guest").output, HasSubstr("yes"));
  EXPECT_THAT(server.Good("kubectl auth whoami"), HasSubstr("admin"));
  EXPECT_THAT(server.Good("kubectl auth can-i --list"), HasSubstr("*.*"));
  server.Good("kubectl create priorityclass high --value=10");
  EXPECT_THAT(server.Good("kubectl get priorityclass high"), ContainsRegex("high +10 +false"));
  EXPECT_THAT(server.Run("kubectl delete ns default").output,
              HasSubstr("this namespace may not be deleted"));
}

}  // namespace
}  // namespace pondage::api
