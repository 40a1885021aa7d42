#include "manifest/pod.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "manifest/object.h"
#include "manifest/tfjob.h"

namespace pondage::manifest {
namespace {

namespace json = boost::json;

using base::Role;
using testing::ElementsAre;
using testing::Pair;

constexpr base::Instant kNow{1'767'607'200'000};  // 2026-01-05T10:00:00Z

// A job as it stands when it was bound: its spec, one replica per index, ports from 4000.
struct Bound {
  job::Identity identity;
  job::Spec spec;
  job::Status status;
  fleet::Node node;

  explicit Bound(std::string_view yaml) {
    const std::string bytes = json::serialize(ParseManifests(yaml)->at(0));
    auto job = DecodeTfJob(bytes, [](const std::string&) { return 0; });
    EXPECT_TRUE(job) << job.error().message;
    identity = job->identity;
    spec = job->spec;
    status.attempt = 2;
    int port = 4000;
    for (const auto& [role, replicas] : spec.roles) {
      for (int i = 0; i < replicas.replicas; ++i) {
        job::Replica replica{.role = role, .index = i, .incarnation = 2};
        replica.port = port++;
        replica.grant = fleet::Grant{.node = "n1", .gpus = {0, 1}};
        status.replicas.push_back(replica);
      }
    }
    node = {.name = "n1", .gpus = {{.id = "GPU-a"}, {.id = "GPU-b"}}};
  }

  json::object Pod(Role role, int index) {
    return MakePod(identity, spec, status, *job::FindReplica(status, role, index), &node, kNow);
  }
};

std::vector<std::pair<std::string, std::string>> EnvOf(const json::object& pod, int container = 0) {
  std::vector<std::pair<std::string, std::string>> env;
  const json::value& list = pod.at("spec").at("containers").at(static_cast<std::size_t>(container));
  if (!list.get_object().contains("env")) return env;
  for (const json::value& one : list.at("env").get_array()) {
    env.emplace_back(one.at("name").get_string(), one.at("value").get_string());
  }
  return env;
}

std::string EnvOf(const json::object& pod, std::string_view name) {
  std::string found = "(unset)";
  for (const auto& [key, value] : EnvOf(pod)) {
    if (key == name) found = value;
  }
  return found;
}

constexpr std::string_view kTwoWorkers = R"(
metadata: {name: mnist, namespace: ml, uid: u-1}
spec:
  tfReplicaSpecs:
    Worker:
      replicas: 2
      restartPolicy: ExitCode
      template:
        metadata:
          labels: {app: x, training.kubeflow.org/job-name: stolen}
          annotations: {note: z}
          finalizers: [a.b/c]
        spec:
          restartPolicy: Always
          containers:
          - name: sidecar
            image: s
          - name: tensorflow
            image: i
            command: [python]
            env: [{name: TF_CONFIG, value: mine}, {name: PYTHONUNBUFFERED, value: "0"}]
            ports: [{name: http, containerPort: 80, protocol: UDP}]
)";

TEST(MakePod, LooksAsTheOperatorMakesIt) {
  Bound job(kTwoWorkers);
  json::object pod = job.Pod(Role::kWorker, 1);
  const json::object& metadata = pod.at("metadata").get_object();
  EXPECT_EQ(json::serialize(metadata.at("labels")),
            R"({"app":"x","training.kubeflow.org/job-name":"mnist",)"
            R"("training.kubeflow.org/operator-name":"tfjob-controller",)"
            R"("training.kubeflow.org/replica-type":"worker",)"
            R"("training.kubeflow.org/replica-index":"1"})");
  EXPECT_EQ(json::serialize(metadata.at("annotations")),
            R"({"note":"z","pondage.dev/attempt":"2","pondage.dev/incarnation":"2",)"
            R"("pondage.dev/gpus":"0,1","pondage.dev/port":"4001"})");
  EXPECT_EQ(json::serialize(metadata.at("ownerReferences")),
            R"([{"apiVersion":"kubeflow.org/v1","kind":"TFJob","name":"mnist","uid":"u-1",)"
            R"("controller":true,"blockOwnerDeletion":true}])");
  EXPECT_EQ(metadata.at("name").get_string(), "mnist-worker-1");
  EXPECT_EQ(metadata.at("namespace").get_string(), "ml");
  EXPECT_EQ(metadata.at("creationTimestamp").get_string(), "2026-01-05T10:00:00Z");
  EXPECT_EQ(json::serialize(metadata.at("finalizers")), R"(["a.b/c"])");
  const json::object& spec = pod.at("spec").get_object();
  EXPECT_EQ(spec.at("restartPolicy").get_string(), "Never") << "ExitCode is the operator's own";
  EXPECT_EQ(spec.at("nodeName").get_string(), "n1");
  EXPECT_EQ(json::serialize(spec.at("containers").at(1).at("ports")),
            R"([{"name":"http","containerPort":80,"protocol":"UDP"},)"
            R"({"name":"tfjob-port","containerPort":2222}])");
  EXPECT_FALSE(spec.at("containers").at(0).get_object().contains("env"));
  EXPECT_EQ(job.Pod(Role::kWorker, 0)
                .at("metadata")
                .at("labels")
                .at("training.kubeflow.org/job-role")
                .get_string(),
            "master");
}

TEST(MakePod, TfConfigStandsLastWithTheBoundPorts) {
  Bound job(kTwoWorkers);
  json::object pod = job.Pod(Role::kWorker, 1);
  const json::array& env = pod.at("spec").at("containers").at(1).at("env").get_array();
  EXPECT_EQ(json::serialize(env.front()), R"({"name":"TF_CONFIG","value":"mine"})");
  EXPECT_EQ(env.back().at("name").get_string(), "TF_CONFIG");
  EXPECT_EQ(env.back().at("value").get_string(),
            R"({"cluster":{"worker":["127.0.0.1:4000","127.0.0.1:4001"]},)"
            R"("task":{"type":"worker","index":1},"environment":"cloud"})");
}

constexpr std::string_view kOne = R"(
metadata: {name: j, namespace: ml, uid: u-2, annotations: {pondage.dev/checkpoint-dir: /ckpt}}
spec: {tfReplicaSpecs: {Worker: {template: {spec: {containers: [{name: tensorflow, image: i, command: [a],
  resources: {limits: {cpu: 2500m}}}]}}}}}
)";

TEST(MakePod, AddsTheVariablesOfThePool) {
  Bound job(kOne);
  EXPECT_THAT(
      EnvOf(job.Pod(Role::kWorker, 0)),
      ElementsAre(Pair("PYTHONUNBUFFERED", "1"), Pair("TF_CPP_MIN_LOG_LEVEL", "1"),
                  Pair("GCE_METADATA_IP", "127.0.0.1:9"), Pair("OMP_NUM_THREADS", "3"),
                  Pair("TF_NUM_INTRAOP_THREADS", "3"), Pair("TF_NUM_INTEROP_THREADS", "3"),
                  Pair("PONDAGE_CHECKPOINT_DIR", "/ckpt"), Pair("CUDA_DEVICE_ORDER", "PCI_BUS_ID"),
                  Pair("CUDA_VISIBLE_DEVICES", "GPU-a,GPU-b"), Pair("PONDAGE_GPUS", "GPU-a,GPU-b"),
                  Pair("PONDAGE_NAMESPACE", "ml"), Pair("PONDAGE_JOB", "j"),
                  Pair("PONDAGE_REPLICA", "worker-0"), Pair("PONDAGE_ATTEMPT", "2")))
      << "and no TF_CONFIG, since the job has one replica";
}

TEST(MakePod, AVirtualGpuIsNamedButNotShownToCuda) {
  Bound job(kOne);
  job.node.gpus[1] = {.id = "virtual-1", .is_virtual = true};
  EXPECT_EQ(EnvOf(job.Pod(Role::kWorker, 0), "CUDA_VISIBLE_DEVICES"), "");
  EXPECT_EQ(EnvOf(job.Pod(Role::kWorker, 0), "PONDAGE_GPUS"), "GPU-a,virtual-1");
  job.status.replicas[0].grant->gpus.clear();
  EXPECT_EQ(EnvOf(job.Pod(Role::kWorker, 0), "CUDA_VISIBLE_DEVICES"), "");
  EXPECT_EQ(EnvOf(job.Pod(Role::kWorker, 0), "PONDAGE_GPUS"), "");
}

TEST(MakePod, NoAuthorTakesAGpuByAVariable) {
  struct Row {
    std::string_view written;
    std::string_view seen;
  };
  for (const Row& row : {Row{"0", "GPU-a,GPU-b"}, Row{"-1", "-1"}, Row{"", ""}}) {
    Bound job(
        "metadata: {name: j}\nspec: {tfReplicaSpecs: {Worker: {template: {spec: {containers: "
        "[{name: tensorflow, env: [{name: CUDA_VISIBLE_DEVICES, value: \"" +
        std::string(row.written) + "\"}]}]}}}}}");
    EXPECT_EQ(EnvOf(job.Pod(Role::kWorker, 0), "CUDA_VISIBLE_DEVICES"), row.seen);
  }
}

TEST(MakePod, AJobWithParameterServersFailsFast) {
  Bound job(
      "metadata: {name: j}\nspec: {tfReplicaSpecs: {PS: {template: {spec: {containers: [{name: "
      "tensorflow}]}}}, Chief: {template: {spec: {containers: [{name: tensorflow}]}}}, Worker: "
      "{template: {spec: {containers: [{name: tensorflow}]}}}}}");
  EXPECT_EQ(EnvOf(job.Pod(Role::kPs, 0), "GRPC_FAIL_FAST"), "use_caller");
  const auto role = [&job](Role of) {
    return job.Pod(of, 0)
        .at("metadata")
        .at("labels")
        .get_object()
        .contains("training.kubeflow.org/job-role");
  };
  EXPECT_TRUE(role(Role::kChief));
  EXPECT_FALSE(role(Role::kWorker) || role(Role::kPs));
}

TEST(PodUid, IsAUuidOfTheIncarnation) {
  const job::Identity identity{.uid = "u-1"};
  const std::string uid = PodUid(identity, Role::kWorker, 0, 1);
  EXPECT_THAT(uid, testing::MatchesRegex(
                       "[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
  EXPECT_EQ(uid, PodUid(identity, Role::kWorker, 0, 1));
  EXPECT_NE(uid, PodUid(identity, Role::kWorker, 0, 2));
  EXPECT_NE(uid, PodUid(identity, Role::kWorker, 1, 1));
  EXPECT_NE(uid, PodUid(identity, Role::kPs, 0, 1));
}

TEST(MakeService, IsHeadlessWithTheNamedPorts) {
  Bound job(kTwoWorkers);
  json::object service = MakeService(job.identity, job.spec, job.status.replicas[0], kNow);
  EXPECT_EQ(service.at("metadata").at("name").get_string(), "mnist-worker-0");
  EXPECT_EQ(json::serialize(service.at("spec")),
            R"({"clusterIP":"None","clusterIPs":["None"],"type":"ClusterIP",)"
            R"("publishNotReadyAddresses":true,"ports":[)"
            R"({"name":"http","protocol":"UDP","port":80,"targetPort":80},)"
            R"({"name":"tfjob-port","protocol":"TCP","port":2222,"targetPort":2222}],)"
            R"("selector":{"training.kubeflow.org/operator-name":"tfjob-controller",)"
            R"("training.kubeflow.org/job-name":"mnist",)"
            R"("training.kubeflow.org/replica-type":"worker",)"
            R"("training.kubeflow.org/replica-index":"0"}})");
  EXPECT_EQ(service.at("metadata").at("labels"), service.at("spec").at("selector"));
}

std::string StateOf(const job::Replica& replica, std::string_view member = "state") {
  const json::object status = PodStatus({}, replica, "10.0.0.1", kNow);
  return std::string(status.at("phase").get_string()) + " " +
         json::serialize(status.at("containerStatuses").at(0).at(member));
}

TEST(PodStatus, IsThatOfAKubelet) {
  job::Replica replica;
  EXPECT_EQ(StateOf(replica), R"(Pending {"waiting":{"reason":"ContainerCreating"}})");
  replica.phase = job::Phase::kRunning;
  replica.alive = true;
  replica.started = kNow;
  EXPECT_EQ(StateOf(replica), R"(Running {"running":{"startedAt":"2026-01-05T10:00:00Z"}})");
  EXPECT_EQ(PodStatus({}, replica, "10.0.0.1", kNow).at("podIP").get_string(), "10.0.0.1");
  EXPECT_TRUE(
      PodStatus({}, replica, "", kNow).at("containerStatuses").at(0).at("ready").get_bool());
  replica.alive = false;
  replica.restart_at = base::Instant{kNow.unix_ms + 10'000};
  replica.exit = job::Exit{.code = 1, .reason = "Error", .at = kNow};
  EXPECT_EQ(StateOf(replica), R"(Running {"waiting":{"reason":"CrashLoopBackOff",)"
                              R"("message":"starts again at 2026-01-05T10:00:10Z"}})");
  EXPECT_EQ(StateOf(replica, "lastState"),
            R"(Running {"terminated":{"exitCode":1,"reason":"Error",)"
            R"("startedAt":"2026-01-05T10:00:00Z","finishedAt":"2026-01-05T10:00:00Z"}})");
  replica.phase = job::Phase::kSucceeded;
  replica.exit = job::Exit{.code = 143, .reason = "StoppedWithJob", .message = "m", .at = kNow};
  EXPECT_EQ(StateOf(replica),
            R"(Succeeded {"terminated":{"exitCode":143,"reason":"StoppedWithJob","message":"m",)"
            R"("startedAt":"2026-01-05T10:00:00Z","finishedAt":"2026-01-05T10:00:00Z"}})");
  replica.phase = job::Phase::kFailed;
  replica.exit->reason = "NodeLost";
  EXPECT_EQ(PodStatus({}, replica, "", kNow).at("reason").get_string(), "NodeLost");
}

TEST(MakeEvent, IsAboutItsObject) {
  const json::object event =
      MakeEvent({"kubeflow.org/v1", "TFJob", "ml", "mnist", "u-1"},
                {true, "TFJobRestarting", "text"}, "tfjob-controller", "mnist.1", kNow);
  EXPECT_EQ(json::serialize(event.at("involvedObject")),
            R"({"kind":"TFJob","namespace":"ml","name":"mnist","uid":"u-1",)"
            R"("apiVersion":"kubeflow.org/v1"})");
  EXPECT_EQ(event.at("type").get_string(), "Warning");
  EXPECT_EQ(event.at("metadata").at("namespace").get_string(), "ml");
  EXPECT_EQ(event.at("source").at("component").get_string(), "tfjob-controller");
  const json::object about_node =
      MakeEvent({"v1", "Node", "", "n1", "u"}, {}, "agent", "n1.1", kNow);
  EXPECT_EQ(about_node.at("metadata").at("namespace").get_string(), "default");
}

TEST(DecodeBoundPod, TellsWhatAReplicaHoldsWithoutItsJob) {
  Bound job(kTwoWorkers);
  json::object pod = job.Pod(Role::kWorker, 1);
  const auto fresh = DecodeBoundPod(json::serialize(pod));
  ASSERT_TRUE(fresh) << fresh.error().message;
  EXPECT_EQ(fresh->grant.gpus, (std::vector{0, 1}));
  EXPECT_EQ(fresh->grant.node, pod.at("spec").at("nodeName").get_string());
  EXPECT_EQ(fresh->uid, pod.at("metadata").at("uid").get_string());
  EXPECT_FALSE(fresh->ended);
  pod["status"] = {{"phase", "Failed"}, {"containerStatuses", json::array{{{"restartCount", 3}}}}};
  const auto ended = DecodeBoundPod(json::serialize(pod));
  ASSERT_TRUE(ended);
  EXPECT_TRUE(ended->ended);
  EXPECT_EQ(ended->start, 3);
  for (const char* gpus : {"1,0", "0,0", "-1", "x", "0,", "0,x", "99999999999", "0 1"}) {
    pod["metadata"].as_object()["annotations"] = {{"pondage.dev/gpus", gpus}};
    EXPECT_EQ(DecodeBoundPod(json::serialize(pod)).has_value(), std::string(gpus) == "0,") << gpus;
  }
}

}  // namespace
}  // namespace pondage::manifest
