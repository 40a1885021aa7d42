#include "manifest/tfjob.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "manifest/object.h"

namespace pondage::manifest {
namespace {

namespace json = boost::json;

using base::Role;
using testing::ElementsAre;
using testing::HasSubstr;

int NoPriority(const std::string&) {
  return 0;
}

json::object Object(std::string_view yaml) {
  auto objects = ParseManifests(yaml);
  EXPECT_TRUE(objects) << objects.error().message;
  return objects->at(0);
}

base::Result<TfJob> Decode(std::string_view yaml, const PriorityOf& priority_of = NoPriority) {
  return DecodeTfJob(json::serialize(Object(yaml)), priority_of);
}

constexpr std::string_view kArticle = R"(
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: tf-mnist-distributed, namespace: ml, uid: u-1, creationTimestamp: "2026-01-05T10:00:00Z"}
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

TEST(TfJob, TheArticlesManifestIsReadWithItsDefaults) {
  const auto job = Decode(kArticle);
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_EQ(job->identity.Path(), "ml/tf-mnist-distributed");
  EXPECT_EQ(job->identity.uid, "u-1");
  EXPECT_EQ(job->identity.created, base::Instant{1'767'607'200'000});
  EXPECT_FALSE(job->removed);
  const job::Spec& spec = job->spec;
  ASSERT_EQ(spec.roles.size(), 1u);
  const job::ReplicaSpec& worker = spec.roles.at(Role::kWorker);
  EXPECT_EQ(worker.replicas, 2);
  EXPECT_EQ(worker.restart, job::RestartPolicy::kNever);
  EXPECT_EQ(worker.port, 2222);
  EXPECT_EQ(worker.demand, (fleet::Demand{.gpus = 1}));
  EXPECT_EQ(worker.grace, base::Millis{30'000});
  EXPECT_EQ(worker.image, "tensorflow/tensorflow:2.12.0-gpu");
  EXPECT_EQ(spec.clean_pods, job::CleanPodPolicy::kNone);
  EXPECT_EQ(spec.queue, "default");
  EXPECT_FALSE(spec.suspend || spec.managed_elsewhere || spec.dynamic_worker);
  EXPECT_FALSE(spec.ttl || spec.deadline || spec.backoff_limit || spec.min_available);
  EXPECT_EQ(job->status, job::Status{});
}

TEST(TfJob, EveryFieldIsRead) {
  const auto job = Decode(R"(
metadata:
  name: j
  deletionTimestamp: "2026-01-05T10:00:00Z"
  labels: {kueue.x-k8s.io/queue-name: from-label}
  annotations:
    pondage.dev/restart-scope: replica
    pondage.dev/startup-timeout: 10m
    pondage.dev/checkpoint-dir: /mnt/ckpt
    pondage.dev/requeue-exit-code: "42"
    pondage.dev/evaluator-in-cluster: "false"
    pondage.dev/user: ann
    pondage.dev/gpu-type: NVIDIA H200
spec:
  successPolicy: AllWorkers
  enableDynamicWorker: true
  runPolicy:
    cleanPodPolicy: All
    ttlSecondsAfterFinished: 60
    activeDeadlineSeconds: 3600
    backoffLimit: 3
    suspend: true
    managedBy: kueue.x-k8s.io/multikueue
    schedulingPolicy: {minAvailable: 2, queue: nlp, priorityClass: high}
  tfReplicaSpecs:
    ps: {replicas: 0, template: {spec: {containers: [{name: tensorflow}]}}}
    WORKER:
      restartPolicy: ExitCode
      template:
        spec:
          terminationGracePeriodSeconds: 120
          nodeSelector: {disk: fast}
          containers:
          - name: side
            image: b
            resources: {requests: {cpu: 500m, memory: 1Gi}}
          - name: tensorflow
            image: a
            ports: [{name: http, containerPort: 80}, {name: tfjob-port, containerPort: 3333}]
            resources:
              limits: {cpu: "4", memory: 8Gi, nvidia.com/gpu: "2"}
              requests: {cpu: "2", nvidia.com/gpu: 2}
)",
                          [](const std::string& name) { return name == "high" ? 7 : -1; });
  ASSERT_TRUE(job) << job.error().message;
  EXPECT_TRUE(job->removed);
  const job::Spec& spec = job->spec;
  ASSERT_EQ(spec.roles.size(), 1u) << "a type with 0 replicas is absent";
  const job::ReplicaSpec& worker = spec.roles.at(Role::kWorker);
  EXPECT_EQ(worker.replicas, 1);
  EXPECT_EQ(worker.restart, job::RestartPolicy::kExitCode);
  EXPECT_EQ(worker.port, 3333);
  EXPECT_EQ(worker.grace, base::Millis{120'000});
  EXPECT_EQ(worker.image, "a");
  EXPECT_EQ(worker.demand, (fleet::Demand{.gpus = 2,
                                          .gpu_type = "NVIDIA H200",
                                          .cpu = {2500},
                                          .memory = {std::int64_t{9} << 30},
                                          .node_selector = {{"disk", "fast"}}}));
  EXPECT_EQ(spec.success, job::SuccessPolicy::kAllWorkers);
  EXPECT_EQ(spec.clean_pods, job::CleanPodPolicy::kAll);
  EXPECT_EQ(spec.ttl, base::Millis{60'000});
  EXPECT_EQ(spec.deadline, base::Millis{3'600'000});
  EXPECT_EQ(spec.backoff_limit, 3);
  EXPECT_EQ(spec.min_available, 2);
  EXPECT_TRUE(spec.suspend && spec.managed_elsewhere && spec.dynamic_worker);
  EXPECT_EQ(spec.queue, "nlp");
  EXPECT_EQ(spec.priority, 7);
  EXPECT_EQ(spec.scope, job::Scope::kReplica);
  EXPECT_EQ(spec.startup_timeout, base::Millis{600'000});
  EXPECT_EQ(spec.checkpoint_dir, "/mnt/ckpt");
  EXPECT_EQ(spec.requeue_exit_code, 42);
  EXPECT_FALSE(spec.evaluator_in_cluster);
  EXPECT_EQ(spec.user, "ann");
}

TEST(TfJob, TheQueueAndThePriorityHaveAnOrder) {
  const auto named = [](const std::string& name) {
    return name == "low" ? 1 : name == "high" ? 9 : name.empty() ? 5 : 0;
  };
  EXPECT_EQ(Decode("metadata: {labels: {kueue.x-k8s.io/queue-name: q}}")->spec.queue, "q");
  EXPECT_EQ(Decode("{kind: TFJob}", named)->spec.priority, 5);
  EXPECT_EQ(Decode("spec: {tfReplicaSpecs: {Worker: {template: {spec: {priorityClassName: low}}}, "
                   "PS: {template: {spec: {priorityClassName: high}}}}}",
                   named)
                ->spec.priority,
            9);
}

TEST(TfJob, HugeNumbersCannotOverflowSums) {
  const auto job = Decode(R"(
spec:
  runPolicy: {activeDeadlineSeconds: 9223372036854775807, ttlSecondsAfterFinished: 2147483647}
  tfReplicaSpecs:
    Worker:
      replicas: 10000
      template: {spec: {terminationGracePeriodSeconds: 9223372036854775807, containers: [
        {name: tensorflow, resources: {limits: {memory: 7Ei, cpu: 9e15, nvidia.com/gpu: 9223372036854775807}}},
        {name: b, resources: {limits: {memory: 7Ei, cpu: 9e15, nvidia.com/gpu: 9223372036854775807}}}]}}
)");
  ASSERT_TRUE(job) << job.error().message;
  const job::ReplicaSpec& worker = job->spec.roles.at(Role::kWorker);
  // A sum over 50,000 such replicas ends the process if it leaves int64.
  EXPECT_GT((worker.demand.memory * 50'000).value, 0);
  EXPECT_GT((worker.demand.cpu * 50'000).value, 0);
  EXPECT_GT((base::Instant{4'102'444'800'000} + *job->spec.deadline).unix_ms, 0);
}

TEST(TfJob, WrongTypesAreNamed) {
  struct Row {
    std::string_view yaml;
    std::string_view message;
  };
  const Row kRows[] = {
      {"spec: []", "spec: must be an object, not a list"},
      {"metadata: {name: 5}", "metadata.name: must be a string, not 5"},
      {"metadata: {labels: {a: y}}", "metadata.labels.a: must be a string, not true"},
      {"spec: {tfReplicaSpecs: {Worker: {replicas: two}}}",
       "spec.tfReplicaSpecs.Worker.replicas: must be a whole number, not \"two\""},
      {"spec: {tfReplicaSpecs: {Worker: {replicas: 3000000000}}}",
       "spec.tfReplicaSpecs.Worker.replicas: must be between -2147483648 and 2147483647, not "
       "3000000000"},
      {"spec: {runPolicy: {activeDeadlineSeconds: 18446744073709551615}}",
       "spec.runPolicy.activeDeadlineSeconds: must be a whole number, not 18446744073709551615"},
      {"spec: {tfReplicaSpecs: {Worker: {template: {spec: {containers: [{command: python}]}}}}}",
       "spec.tfReplicaSpecs.Worker.template.spec.containers[0].command: must be a list, not "
       "\"python\""},
      {"spec: {tfReplicaSpecs: {Worker: {template: {spec: {containers: [{env: [{name: A, value: "
       "1}]}]}}}}}",
       "spec.tfReplicaSpecs.Worker.template.spec.containers[0].env[0].value: must be a string, not "
       "1"},
  };
  for (const Row& row : kRows) {
    const auto draft = DraftOf(Object(row.yaml));
    ASSERT_FALSE(draft) << row.yaml;
    EXPECT_EQ(draft.error().message, row.message);
  }
  EXPECT_FALSE(DecodeTfJob("[]", NoPriority));
  EXPECT_FALSE(DecodeTfJob("{", NoPriority));
  EXPECT_FALSE(DecodeTfJob(R"({"status":{"conditions":1}})", NoPriority));
}

TEST(Draft, SaysWhatTheAuthorWrote) {
  const auto draft = DraftOf(Object(R"(
metadata: {name: j}
spec:
  successPolicy: x
  enableDynamicWorker: true
  runPolicy: {cleanPodPolicy: y2, ttlSecondsAfterFinished: -1, activeDeadlineSeconds: 0, backoffLimit: -2,
              managedBy: "", schedulingPolicy: {minAvailable: 10, queue: q}}
  tfReplicaSpecs:
    WORKER: {replicas: -3, restartPolicy: z, template: {spec: {containers: [{name: tensorflow, image: i, command: [a]}, {name: b}]}}}
    Boss:
)"));
  ASSERT_TRUE(draft) << draft.error().message;
  EXPECT_EQ(draft->name, "j");
  EXPECT_TRUE(draft->has_roles && draft->dynamic_worker);
  EXPECT_EQ(draft->success_policy, "x");
  EXPECT_EQ(draft->clean_pod_policy, "y2");
  EXPECT_EQ(draft->ttl_s, -1);
  EXPECT_EQ(draft->deadline_s, 0);
  EXPECT_EQ(draft->backoff_limit, -2);
  EXPECT_EQ(draft->managed_by, "");
  EXPECT_EQ(draft->min_available, 10);
  EXPECT_EQ(draft->queue, "q");
  ASSERT_EQ(draft->roles.size(), 2u);
  EXPECT_EQ(draft->roles[0].spelled, "WORKER");
  EXPECT_EQ(draft->roles[0].replicas, -3);
  EXPECT_EQ(draft->roles[0].restart_policy, "z");
  ASSERT_EQ(draft->roles[0].containers.size(), 2u);
  EXPECT_EQ(draft->roles[0].containers[0].image, "i");
  EXPECT_TRUE(draft->roles[0].template_errors.empty());
  EXPECT_TRUE(draft->roles[1].is_null);
  EXPECT_FALSE(DraftOf(Object("metadata: {name: j}"))->has_roles);
}

TEST(Draft, WrongAnnotationsAreErrors) {
  const auto draft = DraftOf(Object(R"(
metadata:
  annotations: {pondage.dev/restart-scope: x, pondage.dev/startup-timeout: soon,
                pondage.dev/requeue-exit-code: "256", pondage.dev/evaluator-in-cluster: maybe}
)"));
  ASSERT_TRUE(draft);
  std::vector<std::string> texts;
  for (const auto& error : draft->annotation_errors)
    texts.push_back(error.path + ": " + error.message);
  EXPECT_THAT(
      texts,
      ElementsAre(
          "metadata.annotations[pondage.dev/restart-scope]: Invalid value: \"x\": must be "
          "gang or replica",
          "metadata.annotations[pondage.dev/startup-timeout]: Invalid value: \"soon\": must "
          "be a length of time such as 90s, 10m or 1h30m",
          "metadata.annotations[pondage.dev/requeue-exit-code]: Invalid value: \"256\": must "
          "be from 1 to 255",
          "metadata.annotations[pondage.dev/evaluator-in-cluster]: Invalid value: "
          "\"maybe\": must be true or false"));
}

// The errors of a Worker whose main container has these members and whose Pod spec has those.
std::string TemplateErrors(std::string_view container, std::string_view spec = "") {
  std::string yaml =
      "spec: {tfReplicaSpecs: {Worker: {template: {spec: {containers: [{name: tensorflow";
  if (!container.empty()) yaml += std::string(", ") + std::string(container);
  if (container.find("command") == std::string_view::npos) yaml += ", command: [a]";
  yaml += "}]";
  if (!spec.empty()) yaml += std::string(", ") + std::string(spec);
  yaml += "}}}}}";
  const auto draft = DraftOf(Object(yaml));
  if (!draft) return draft.error().message;
  std::string text;
  for (const auto& error : draft->roles.at(0).template_errors) {
    EXPECT_TRUE(error.path.starts_with("template.spec.")) << error.path;
    text += (text.empty() ? "" : " | ") + error.path.substr(14) + ": " + error.message;
  }
  return text;
}

TEST(Draft, TemplateErrorsAreThoseOfAPod) {
  struct Row {
    std::string_view container;
    std::string_view spec;
    std::string_view errors;
  };
  const Row kRows[] = {
      {"", "", ""},
      {"command: []", "",
       "containers[0].command: Required value: the program runs as a process, so no entrypoint of "
       "an image can stand in for it"},
      {"ports: [{containerPort: 0}, {name: a, containerPort: 70000}, {name: a, containerPort: 1, "
       "protocol: X}]",
       "",
       "containers[0].ports[0].containerPort: Invalid value: 0: must be between 1 and 65535, "
       "inclusive | containers[0].ports[1].containerPort: Invalid value: 70000: must be between 1 "
       "and 65535, inclusive | containers[0].ports[2].name: Duplicate value: \"a\" | "
       "containers[0].ports[2].protocol: Unsupported value: \"X\": supported values: \"SCTP\", "
       "\"TCP\", \"UDP\""},
      {"env: [{value: x}, {name: \"A=B\"}, {name: C, valueFrom: {}}, {name: D, value: x, "
       "valueFrom: "
       "{fieldRef: {fieldPath: spec.x}}}]",
       "",
       "containers[0].env[0].name: Required value | containers[0].env[1].name: Invalid value: "
       "\"A=B\": must consist of printable ASCII characters other than '=' | "
       "containers[0].env[2].valueFrom: Required value: one of `configMapKeyRef`, `secretKeyRef`, "
       "`fieldRef`, `resourceFieldRef` | containers[0].env[3].valueFrom: Invalid value: an object: "
       "may not be specified when `value` is not empty | "
       "containers[0].env[3].valueFrom.fieldRef.fieldPath: Unsupported value: \"spec.x\": "
       "supported "
       "values: metadata.name, metadata.namespace, metadata.uid, spec.nodeName, "
       "spec.serviceAccountName, status.hostIP, status.podIP, status.podIPs, "
       "metadata.labels['KEY'], metadata.annotations['KEY']"},
      {"env: [{name: A, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}, {name: B, "
       "valueFrom: {resourceFieldRef: {resource: limits.cpu, containerName: x}}}]",
       "",
       "containers[0].env[0].valueFrom.resourceFieldRef.resource: Invalid value: \"limits.cpu\": "
       "the "
       "container does not set this resource | "
       "containers[0].env[1].valueFrom.resourceFieldRef.containerName: Invalid value: \"x\": no "
       "container has this name"},
      {"resources: {limits: {nvidia.com/gpu: 1.5}}", "",
       "containers[0].resources.limits[nvidia.com/gpu]: Invalid value: 1.5: must be an integer"},
      {"resources: {requests: {nvidia.com/gpu: 1}}", "",
       "containers[0].resources.limits[nvidia.com/gpu]: Required value: a GPU needs a limit"},
      {"resources: {limits: {nvidia.com/gpu: 2}, requests: {nvidia.com/gpu: 1}}", "",
       "containers[0].resources.requests[nvidia.com/gpu]: Invalid value: 1: must be equal to "
       "nvidia.com/gpu limit of 2"},
      {"resources: {limits: {cpu: 1}, requests: {cpu: 1500m}}", "",
       "containers[0].resources.requests[cpu]: Invalid value: \"1500m\": must be less than or "
       "equal "
       "to cpu limit of 1"},
      {"resources: {limits: {cpu: x, memory: -1, amd.com/gpu: 1}}", "",
       "containers[0].resources.limits[amd.com/gpu]: Unsupported value: \"amd.com/gpu\": supported "
       "values: \"cpu\", \"memory\", \"ephemeral-storage\", \"hugepages-*\", \"nvidia.com/gpu\" | "
       "containers[0].resources.limits[cpu]: Invalid value: \"x\": is no quantity such as 2, 500m, "
       "1.5Gi | containers[0].resources.limits[memory]: Invalid value: -1: must be greater than or "
       "equal to 0"},
      {"resources: {limits: {memory: 1Ei}}", "",
       "containers[0].resources.limits[memory]: Invalid value: \"1Ei\": is more than any machine "
       "has"},
      {"volumeMounts: [{name: a, mountPath: /x}, {name: b, mountPath: x}, {name: a, mountPath: /x, "
       "subPath: ../y}]",
       "volumes: [{name: a, emptyDir: {}}]",
       "containers[0].volumeMounts[1].name: Invalid value: \"b\": no volume has this name | "
       "containers[0].volumeMounts[1].mountPath: Invalid value: \"x\": must be an absolute path "
       "without '..' | containers[0].volumeMounts[2].mountPath: Invalid value: \"/x\": must be "
       "unique | containers[0].volumeMounts[2].subPath: Invalid value: \"../y\": must be a "
       "relative "
       "path without '..'"},
      {"",
       "volumes: [{name: a}, {name: a, nfs: {}}, {name: b, hostPath: {path: x}}, {name: c, "
       "secret: {defaultMode: 512}}]",
       "volumes[0]: Required value: must specify a volume type | volumes[1].name: Duplicate value: "
       "\"a\" | volumes[1].nfs: Unsupported value: \"nfs\": supported values: \"configMap\", "
       "\"emptyDir\", \"hostPath\", \"persistentVolumeClaim\", \"secret\" | "
       "volumes[2].hostPath.path: Invalid value: \"x\": must be an absolute path without '..' | "
       "volumes[3].secret.secretName: Required value | volumes[3].secret.defaultMode: Invalid "
       "value: "
       "512: must be a number between 0 and 0777 (octal), both inclusive"},
      {"volumeMounts: [{name: a, mountPath: /proc}, {name: a, mountPath: /}, {name: a, mountPath: "
       "/dev/shm}, {name: a, mountPath: //sys/./}, {name: a, mountPath: /processed}, {name: a, "
       "mountPath: /processed/./}, "
       "{name: a, mountPath: /etc/mine}]",
       "volumes: [{name: a, emptyDir: {}}]",
       "containers[0].volumeMounts[0].mountPath: Invalid value: \"/proc\": would hide the system's "
       "own files (/, /dev, /etc, /proc, /sys, /usr, ...) from the program and from its watcher | "
       "containers[0].volumeMounts[1].mountPath: Invalid value: \"/\": would hide the system's own "
       "files (/, /dev, /etc, /proc, /sys, /usr, ...) from the program and from its watcher | "
       "containers[0].volumeMounts[3].mountPath: Invalid value: \"//sys/./\": would hide the "
       "system's own files (/, /dev, /etc, /proc, /sys, /usr, ...) from the program and from its "
       "watcher | "
       "containers[0].volumeMounts[5].mountPath: Invalid value: \"/processed/./\": must be unique"},
      {"",
       "volumes: [{name: a, hostPath: {path: /x, type: Socket}}, {name: b, hostPath: {path: /x, "
       "type: CharDevice}}, {name: c, hostPath: {path: /x, type: Dir}}]",
       "volumes[1].hostPath.type: Forbidden: devices are not mounted; a program finds those of the "
       "machine in /dev | "
       "volumes[2].hostPath.type: Unsupported value: \"Dir\": supported values: \"\", "
       "\"Directory\", \"DirectoryOrCreate\", \"File\", \"FileOrCreate\", \"Socket\""},
      {"workingDir: here, args: [\"a\\0b\"]", "",
       "containers[0].args[0]: Invalid value: \"a\\u0000b\": must not hold a zero byte | "
       "containers[0].workingDir: Invalid value: \"here\": must be an absolute path"},
      {"",
       "volumes: [{name: a, emptyDir: {}, hostPath: {path: /x}}, {name: b, secret: {secretName: "
       "../b}}, {name: c, persistentVolumeClaim: {claimName: a/b}}]",
       "volumes[0]: Forbidden: may not specify more than 1 volume type | "
       "volumes[1].secret.secretName: Invalid value: \"../b\": must be a DNS subdomain: lower-case "
       "letters, digits, '-' and '.' | volumes[2].persistentVolumeClaim.claimName: Invalid value: "
       "\"a/b\": must be a DNS subdomain: lower-case letters, digits, '-' and '.'"},
      {"",
       "volumes: [{name: a, emptyDir: {medium: Memory, sizeLimit: 1Gi}}, {name: b, emptyDir: "
       "{medium: Weird, sizeLimit: abc}}]",
       "volumes[1].emptyDir.medium: Unsupported value: \"Weird\": supported values: \"\", "
       "\"Memory\" | volumes[1].emptyDir.sizeLimit: Invalid value: \"abc\": is no quantity such as "
       "2, 500m, 1.5Gi"},
      {"", "initContainers: [{name: i}]",
       "initContainers[0]: Forbidden: init containers are not run here; do their work in the main "
       "program"},
      {"", "terminationGracePeriodSeconds: -1, securityContext: {runAsUser: -1}",
       "terminationGracePeriodSeconds: Invalid value: -1: must be between 0 and 3155760000 | "
       "securityContext.runAsUser: Forbidden: -1 must be between 0 and 2147483647, inclusive"},
  };
  for (const Row& row : kRows) EXPECT_EQ(TemplateErrors(row.container, row.spec), row.errors);
}

// Ten variables of ten times the one before: fewer than a thousand bytes that ask for gigabytes.
std::string Tenfold(int variables) {
  std::string env = "env: [{name: A0, value: " + std::string(1000, 'x') + "}";
  for (int i = 1; i < variables; ++i) {
    env += ", {name: A" + std::to_string(i) + ", value: \"";
    for (int k = 0; k < 10; ++k) env += "$(A" + std::to_string(i - 1) + ")";
    env += "\"}";
  }
  return env + "]";
}

TEST(Template, WhatItsReferencesFillInIsBounded) {
  const std::string many = [] {
    std::string args = "args: [";
    for (int i = 0; i < 40; ++i) args += "\"$(A1)$(A1)$(A1)$(A1)$(A1)$(A1)\", ";
    return args + "x]";
  }();
  const std::pair<std::string, std::string> kRows[] = {
      {Tenfold(3), ""},
      {Tenfold(4),
       "containers[0].env[3].value: Too long: may not be more than 131072 bytes with "
       "its $(NAME) filled in"},
      {Tenfold(10),
       "containers[0].env[3].value: Too long: may not be more than 131072 bytes with "
       "its $(NAME) filled in"},
      {Tenfold(3) + ", args: [\"$(A2)$(A2)\"]",
       "containers[0].args[0]: Too long: may not be more than 131072 bytes with its $(NAME) filled "
       "in"},
      {Tenfold(2) + ", " + many,
       "containers[0]: Too long: its env, command and args may not be more than 2097152 bytes "
       "together"},
  };
  for (const auto& [container, errors] : kRows) EXPECT_EQ(TemplateErrors(container, ""), errors);
}

TEST(Warnings, NameWhatIsNotActedOn) {
  const auto warnings = Warnings(Object(R"(
spec: {tfReplicaSpecs: {Worker: {template: {spec: {
  restartPolicy: Always, affinity: {},
  containers: [
    {name: tensorflow, livenessProbe: {}, lifecycle: {}, env: [{name: CUDA_VISIBLE_DEVICES, value: "0"}]},
    {name: sidecar}],
  volumes: [{name: a, emptyDir: {}}, {name: b, emptyDir: {medium: Memory, sizeLimit: 1Gi}}]}}}}}
)"));
  EXPECT_THAT(
      warnings,
      ElementsAre(
          "spec.tfReplicaSpecs[Worker].template.spec.affinity: is not acted on here",
          "spec.tfReplicaSpecs[Worker].template.spec.restartPolicy: will be overwritten by the "
          "restart policy of the replica spec",
          "spec.tfReplicaSpecs[Worker].template.spec.containers[0].livenessProbe: is not acted on "
          "here",
          "spec.tfReplicaSpecs[Worker].template.spec.containers[0].lifecycle: is not acted on here",
          "spec.tfReplicaSpecs[Worker].template.spec.containers[0].env: CUDA_VISIBLE_DEVICES is "
          "set "
          "by the pool to the GPUs it granted",
          "spec.tfReplicaSpecs[Worker].template.spec.containers[1]: container \"sidecar\" is not "
          "run here, only \"tensorflow\" is",
          "spec.tfReplicaSpecs[Worker].template.spec.volumes[1].emptyDir.medium: is not acted on "
          "here: it is a directory on the pool's disk",
          "spec.tfReplicaSpecs[Worker].template.spec.volumes[1].emptyDir.sizeLimit: is not acted "
          "on here: it is a directory on the pool's disk"));
  EXPECT_TRUE(Warnings(Object(kArticle)).empty());
}

TEST(Canonical, KeysAreReCasedAndSuspendIsStored) {
  struct Row {
    std::string_view before;
    std::string_view after;
  };
  const Row kRows[] = {
      {R"({"spec":{"tfReplicaSpecs":{"WORKER":1,"ps":2,"Other":3},"runPolicy":{}}})",
       R"({"spec":{"tfReplicaSpecs":{"Worker":1,"PS":2,"Other":3},"runPolicy":{"suspend":false}}})"},
      {R"({"spec":{"runPolicy":{"suspend":true}}})", R"({"spec":{"runPolicy":{"suspend":true}}})"},
      {R"({"spec":{"tfReplicaSpecs":{"Chief":{}}}})",
       R"({"spec":{"tfReplicaSpecs":{"Chief":{}}}})"},
      {R"({"spec":{"tfReplicaSpecs":{"WORKER":1,"Worker":2}}})",
       R"({"spec":{"tfReplicaSpecs":{"WORKER":1,"Worker":2}}})"},
      {R"({"spec":{"tfReplicaSpecs":{"WORKER":1,"worker":2}}})",
       R"({"spec":{"tfReplicaSpecs":{"Worker":1,"worker":2}}})"},
      {R"({"spec":1})", R"({"spec":1})"},
  };
  for (const Row& row : kRows) {
    json::object object = ParseJson(row.before)->get_object();
    Canonicalise(object);
    EXPECT_EQ(json::serialize(object), row.after);
    Canonicalise(object);
    EXPECT_EQ(json::serialize(object), row.after) << "twice is once";
  }
}

}  // namespace
}  // namespace pondage::manifest
