#include "replay/history.h"

#include <gtest/gtest.h>

#include <string>

#include "replay/compare.h"
#include "replay/test_lab.h"

namespace pondage::replay {
namespace {

std::string TfJob(const std::string& name, const std::string& roles, const std::string& status,
                  const std::string& policy = R"({"schedulingPolicy": {"queue": "lab"}})",
                  const std::string& space = "default") {
  return R"({"apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": {"name": ")" + name +
         R"(", "namespace": ")" + space + R"(", "uid": "u-)" + name +
         R"(", "creationTimestamp": "2024-01-02T03:00:00Z",
         "annotations": {"pondage.dev/user": "ann"}},
         "spec": {"runPolicy": )" +
         policy + R"(, "tfReplicaSpecs": {)" + roles + R"(}}, "status": )" + status + "}";
}

std::string Role(const std::string& type, int replicas, int gpus) {
  return "\"" + type + R"(": {"replicas": )" + std::to_string(replicas) +
         R"(, "template": {"spec": {"containers": [{"name": "tensorflow", "image": "x",
         "resources": {"limits": {"nvidia.com/gpu": )" +
         std::to_string(gpus) + R"(, "cpu": "500m"}}}]}}})";
}

// Times are seconds with their milliseconds behind 03:00.
std::string Ended(const std::string& queued, const std::string& start, const std::string& end,
                  int attempt = 1) {
  return R"({"startTime": "2024-01-02T03:00:)" + start.substr(0, 2) +
         R"(Z", "completionTime": "2024-01-02T03:00:)" + end.substr(0, 2) +
         R"(Z", "conditions": [{"type": "Succeeded", "status": "True"}],
         "pondage": {"stage": "ended", "queuedAt": "2024-01-02T03:00:)" +
         queued + R"(Z", "boundAt": "2024-01-02T03:00:)" + start + R"(Z", "attempt": )" +
         std::to_string(attempt) + R"(, "millis": {"startTime": )" +
         std::to_string(std::stoi(start.substr(3))) +
         R"(}, "replicas": [{"role": "Worker", "index": 0, "incarnation": 1, "phase": "succeeded",
         "exit": {"code": 0, "reason": "Completed", "time": "2024-01-02T03:00:)" +
         end + R"(Z"}}]}})";
}

constexpr const char* kNode = R"({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "box",
  "annotations": {"pondage.dev/gpus": "[{\"id\":\"a\",\"type\":\"T4\",\"memoryBytes\":16},{\"id\":\"b\",\"type\":\"T4\",\"memoryBytes\":16}]"}},
  "status": {"allocatable": {"cpu": "8", "memory": "64Gi"}}})";
constexpr const char* kQueue = R"({"apiVersion": "pondage.dev/v1alpha1", "kind": "Queue",
  "metadata": {"name": "lab"}, "spec": {"guarantee": {"nvidia.com/gpu": 1}}})";

std::string List(const std::vector<std::string>& items) {
  std::string text = R"({"apiVersion": "v1", "kind": "List", "items": [)";
  for (const std::string& item : items) text += (text.back() == '[' ? "" : ", ") + item;
  return text + "]}";
}

trace::Workload History(const std::vector<std::string>& items) {
  auto workload = ReadHistory(List(items));
  if (!workload) ADD_FAILURE() << workload.error().object << ": " << workload.error().message;
  return workload.value_or(trace::Workload{});
}

TEST(History, IsReadToTheMillisecond) {
  const trace::Workload history = History(
      {TfJob("a", Role("Worker", 1, 2), Ended("01.250", "02.007", "05.500")), kQueue, kNode});
  ASSERT_EQ(history.jobs.size(), 1u);
  const trace::Job& job = history.jobs.front();
  EXPECT_EQ(job.submit, base::Instant{1'704'164'401'250});
  EXPECT_EQ(job.started, base::Instant{1'704'164'402'007});
  EXPECT_EQ(job.duration, base::Millis{3'493});
  EXPECT_EQ(job.queue, "lab");
  EXPECT_EQ(job.user, "ann");
  EXPECT_EQ(job.gang.front().role, base::Role::kWorker);
  EXPECT_EQ(job.gang.front().cpu, base::MilliCpu{500});
  ASSERT_EQ(history.fleet.size(), 1u);
  EXPECT_EQ(history.fleet.front().gpu_type, "T4");
  EXPECT_EQ(trace::GpusOf(history.fleet), 2);
  EXPECT_EQ(history.queues.front().guarantee, base::WholeGpus(1));
}

TEST(History, IsDecidedOnAsItWasLive) {
  const std::string ps =
      Role("Chief", 1, 1) + ", " + Role("PS", 1, 0) + ", " + Role("Worker", 1, 1);
  const trace::Workload history =
      History({kNode, kQueue, TfJob("a", Role("Worker", 1, 2), Ended("01.000", "01.002", "05.500")),
               TfJob("b", ps, Ended("02.000", "05.504", "09.000")),
               TfJob("c", Role("Worker", 2, 1), Ended("03.000", "09.003", "12.000"))});
  const auto ignore = [](const std::string&, std::size_t, std::size_t) {};
  for (const bool server : {false, true}) {
    const auto alike = Compare(history, "live", "pondage", {.server = server}, 5, ignore);
    ASSERT_TRUE(alike) << alike.error().object << alike.error().message;
    EXPECT_TRUE(alike->partings.empty()) << alike->partings.front().job;
  }
  // Had it been decided otherwise, that would be seen.
  trace::Workload other = history;
  other.jobs[1].started = *other.jobs[1].started + base::SecondsLong(4);
  const auto parts = Compare(other, "live", "pondage", {}, 5, ignore);
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->partings.front().job, "b");
}

TEST(History, OfJobsThatRunWaitOrWereStopped) {
  const std::string running = R"({"startTime": "2024-01-02T03:00:10Z", "pondage":
    {"stage": "bound", "queuedAt": "2024-01-02T03:00:10.000Z", "boundAt": "2024-01-02T03:00:10.000Z"}})";
  const std::string waiting =
      R"({"pondage": {"stage": "waiting", "queuedAt": "2024-01-02T03:00:20.000Z"}})";
  const std::string stopped =
      R"({"pondage": {"stage": "ended", "queuedAt": "2024-01-02T03:00:20.000Z"}})";
  const trace::Workload history = History(
      {kNode, kQueue, TfJob("runs", Role("Worker", 1, 1), running),
       TfJob("waits", Role("Worker", 1, 1), waiting),
       TfJob("stopped", Role("Worker", 1, 1), stopped),
       TfJob("asleep", Role("Worker", 1, 1), waiting, R"({"suspend": true})"),
       TfJob("runs", Role("Worker", 1, 1), Ended("30.000", "30.000", "40.000"),
             R"({"activeDeadlineSeconds": 60, "schedulingPolicy": {"queue": "lab"}})", "other")});
  ASSERT_EQ(history.jobs.size(), 3u);
  EXPECT_EQ(history.jobs[0].duration, base::SecondsLong(30));  // to the end of the history
  EXPECT_EQ(history.jobs[1].duration, base::SecondsLong(3'600));
  EXPECT_FALSE(history.jobs[1].started);
  EXPECT_EQ(history.jobs[2].name, "runs-2");
  EXPECT_EQ(history.jobs[2].limit, base::SecondsLong(59));  // played with a second more
}

TEST(History, SaysWhatItCannotRead) {
  const auto why = [](const std::string& text) {
    const auto read = ReadHistory(text);
    return read ? "" : read.error().object + ": " + read.error().message;
  };
  EXPECT_TRUE(why("{}").contains("kubectl get")) << why("{}");
  EXPECT_TRUE(why("[").starts_with(": ")) << why("[");
  EXPECT_TRUE(why(List({R"({"kind": "TFJob", "metadata": {"name": "x"}, "spec": 3})"}))
                  .starts_with("TFJob x: "));
  EXPECT_EQ(why(List({"7", R"({"kind": "Pod"})"})), "");
}

}  // namespace
}  // namespace pondage::replay
