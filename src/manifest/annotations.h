// Names of our annotations, and those of Kubeflow's labels (docs/decisions/0004).
//
// Constant.
#pragma once

#include <string_view>

namespace pondage::manifest {

// On a TFJob.
inline constexpr std::string_view kRestartScope = "pondage.dev/restart-scope";
inline constexpr std::string_view kStartupTimeout = "pondage.dev/startup-timeout";
inline constexpr std::string_view kCheckpointDir = "pondage.dev/checkpoint-dir";
inline constexpr std::string_view kRequeueExitCode = "pondage.dev/requeue-exit-code";
inline constexpr std::string_view kEvaluatorInCluster = "pondage.dev/evaluator-in-cluster";
inline constexpr std::string_view kUser = "pondage.dev/user";
inline constexpr std::string_view kWorkDir = "pondage.dev/workdir";
inline constexpr std::string_view kGpuType = "pondage.dev/gpu-type";

// On a Pod.
inline constexpr std::string_view kAttempt = "pondage.dev/attempt";
inline constexpr std::string_view kIncarnation = "pondage.dev/incarnation";
inline constexpr std::string_view kGpus = "pondage.dev/gpus";  // on a Node: what each GPU is
inline constexpr std::string_view kPort = "pondage.dev/port";

// Labels.
inline constexpr std::string_view kQueueLabel = "kueue.x-k8s.io/queue-name";
inline constexpr std::string_view kOperatorName = "training.kubeflow.org/operator-name";
inline constexpr std::string_view kJobName = "training.kubeflow.org/job-name";
inline constexpr std::string_view kReplicaType = "training.kubeflow.org/replica-type";
inline constexpr std::string_view kReplicaIndex = "training.kubeflow.org/replica-index";
inline constexpr std::string_view kJobRole = "training.kubeflow.org/job-role";
inline constexpr std::string_view kController = "tfjob-controller";

}  // namespace pondage::manifest
