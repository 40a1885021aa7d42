// Every number on the page: its name, its meaning and, in the comment, its labels.
//
// Constants. A name that was released keeps its meaning, for dashboards are built on it.
#pragma once

#include <array>

#include "metrics/page.h"

namespace pondage::metrics {

// As the Kubeflow training operator calls them. Labels: job_namespace, framework="tensorflow".
inline constexpr Counter kJobsCreated{"training_operator_jobs_created_total",
                                      "TFJobs that were created"};
inline constexpr Counter kJobsDeleted{"training_operator_jobs_deleted_total",
                                      "TFJobs that were deleted"};
inline constexpr Counter kJobsSuccessful{"training_operator_jobs_successful_total",
                                         "TFJobs that ended well"};
inline constexpr Counter kJobsFailed{"training_operator_jobs_failed_total", "TFJobs that failed"};
inline constexpr Counter kJobsRestarted{"training_operator_jobs_restarted_total",
                                        "Restarts of TFJobs that were counted"};

inline constexpr Gauge kBuild{"pondage_build_info", "Always 1"};  // version
inline constexpr Gauge kGpus{"pondage_gpus",
                             "GPUs of the pool"};  // state: free, granted, unhealthy
inline constexpr Gauge kJobs{"pondage_jobs", "TFJobs that are not finished"};  // state
inline constexpr Gauge kQueueGpus{
    "pondage_queue_gpus", "GPUs of a queue"};  // queue; what: used, guarantee, limit, borrowed
inline constexpr Gauge kQueueWaiting{"pondage_queue_waiting_jobs", "TFJobs that wait"};  // queue
inline constexpr Counter kGpuSeconds{"pondage_gpu_seconds_total",
                                     "GPU-seconds that were charged"};  // queue

inline constexpr std::array<double, 12> kSeconds = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                                    0.05,   0.1,   0.25,   1.0,   5.0,  30.0};
inline constexpr Histogram kTurnSeconds{
    "pondage_loop_turn_seconds", "Time of one turn of the loop, its commit included", kSeconds};
inline constexpr Histogram kCommitSeconds{"pondage_store_commit_seconds",
                                          "Time of one commit to the disk", kSeconds};
inline constexpr Histogram kRequestSeconds{
    "pondage_api_request_seconds", "Time of one request without watches", kSeconds};  // verb, code
inline constexpr Gauge kWatches{"pondage_api_watches", "Watches that are open"};
inline constexpr Gauge kStoreFreeBytes{"pondage_store_free_bytes",
                                       "Free space where the store lies"};
inline constexpr Gauge kUnreadable{"pondage_unreadable_objects",
                                   "Stored objects that cannot be read and are set aside"};
inline constexpr Gauge kStoreRevision{"pondage_store_revision", "Newest revision of the store"};

}  // namespace pondage::metrics
