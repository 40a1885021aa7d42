#include "api/table.h"

#include <gtest/gtest.h>

#include "api/pod_text.h"
#include "api/render.h"

namespace pondage::api {
namespace {

namespace json = boost::json;

TEST(ShortLength, IsKubectls) {
  struct Row {
    std::int64_t seconds;
    const char* text;
  };
  constexpr std::int64_t kHour = 3600, kDay = 24 * kHour, kYear = 365 * kDay;
  for (const Row& row : {
           Row{0, "0s"},
           Row{119, "119s"},
           Row{120, "2m"},
           Row{125, "2m5s"},
           Row{599, "9m59s"},
           Row{600, "10m"},
           Row{3 * kHour - 1, "179m"},
           Row{3 * kHour, "3h"},
           Row{3 * kHour + 60, "3h1m"},
           Row{8 * kHour + 60, "8h"},
           Row{47 * kHour, "47h"},
           Row{48 * kHour, "2d"},
           Row{49 * kHour, "2d1h"},
           Row{8 * kDay + kHour, "8d"},
           Row{2 * kYear - 1, "729d"},
           Row{2 * kYear, "2y"},
           Row{2 * kYear + kDay, "2y1d"},
           Row{8 * kYear + kDay, "8y"},
           Row{-5, "<invalid>"},
       }) {
    EXPECT_EQ(ShortLength(base::SecondsLong(row.seconds)), row.text) << row.seconds;
  }
}

TEST(PodStatusWord, Rows) {
  struct Row {
    const char* says;
    const char* pod;
    const char* word;
  };
  for (
      const Row& row : {
          Row{"its phase", R"({"status":{"phase":"Pending"}})", "Pending"},
          Row{"its reason", R"({"status":{"phase":"Failed","reason":"Evicted"}})", "Evicted"},
          Row{"gated",
              R"({"status":{"phase":"Pending","conditions":[{"type":"PodScheduled",
                   "status":"False","reason":"SchedulingGated"}]}})",
              "SchedulingGated"},
          Row{"a waiting container",
              R"({"status":{"phase":"Pending","containerStatuses":[
                   {"state":{"waiting":{"reason":"ContainerCreating"}}}]}})",
              "ContainerCreating"},
          Row{"a terminated one",
              R"({"status":{"phase":"Failed","containerStatuses":[
                   {"state":{"terminated":{"reason":"OOMKilled","exitCode":137}}}]}})",
              "OOMKilled"},
          Row{"without a reason",
              R"({"status":{"phase":"Failed","containerStatuses":[
                   {"state":{"terminated":{"exitCode":3}}}]}})",
              "ExitCode:3"},
          Row{"by a signal",
              R"({"status":{"phase":"Failed","containerStatuses":[
                   {"state":{"terminated":{"signal":9,"exitCode":137}}}]}})",
              "Signal:9"},
          Row{"one done, one running",
              R"({"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}],
                   "containerStatuses":[{"state":{"terminated":{"reason":"Completed","exitCode":0}}},
                   {"ready":true,"state":{"running":{}}}]}})",
              "Running"},
          Row{"init containers first",
              R"({"spec":{"initContainers":[{},{}]},"status":{"phase":"Pending",
                   "initContainerStatuses":[{"state":{"terminated":{"exitCode":0}}},
                   {"state":{"running":{}}}]}})",
              "Init:1/2"},
          Row{"an init container failed",
              R"({"spec":{"initContainers":[{}]},"status":{"phase":"Pending",
                   "initContainerStatuses":[{"state":{"terminated":{"reason":"Error","exitCode":1}}}]}})",
              "Init:Error"},
          Row{"being deleted",
              R"({"metadata":{"deletionTimestamp":"2024-01-01T00:00:00Z"},"status":{"phase":"Running"}})",
              "Terminating"},
      }) {
    EXPECT_EQ(PodStatusWord(json::parse(row.pod).as_object()), row.word) << row.says;
  }
}

TEST(Cells, OfKinds) {
  const base::Instant now{1'704'067'500'000};  // 2024-01-01T00:05:00Z
  struct Row {
    const char* group;
    const char* plural;
    const char* object;
    const char* cells;
  };
  for (
      const Row& row : {
          Row{"", "pods",
              R"({"metadata":{"name":"p","creationTimestamp":"2024-01-01T00:00:00Z"},
                   "spec":{"containers":[{}],"nodeName":"n"},"status":{"phase":"Running","podIP":"::1",
                   "containerStatuses":[{"ready":true,"restartCount":1,"state":{"running":{}},
                   "lastState":{"terminated":{"finishedAt":"2024-01-01T00:04:00Z"}}}]}})",
              R"~(["p","1/1","Running","1 (60s ago)","5m","::1","n","<none>","<none>"])~"},
          Row{"kubeflow.org", "tfjobs",
              R"({"metadata":{"name":"j","creationTimestamp":"2024-01-01T00:00:00Z"},
                   "status":{"conditions":[{"type":"Created"},{"type":"Running"}]}})",
              R"(["j","Running","5m"])"},
          Row{"kubeflow.org", "tfjobs", R"({"metadata":{"name":"j"}})",
              R"(["j",null,"<unknown>"])"},
          Row{"", "configmaps",
              R"({"metadata":{"name":"c"},"data":{"a":"1"},"binaryData":{"b":"Yg=="}})",
              R"(["c",2,"<unknown>"])"},
          Row{"", "events",
              R"({"metadata":{"name":"e"},"lastTimestamp":"2024-01-01T00:04:30Z","type":"Normal",
                   "reason":"Started","involvedObject":{"kind":"Pod","name":"p"},"message":"m",
                   "firstTimestamp":"2024-01-01T00:00:00Z","count":3,"source":{"component":"x"}})",
              R"(["30s","Normal","Started","pod/p","<none>","x","m","5m","3","e"])"},
          Row{"pondage.dev", "queues",
              R"({"metadata":{"name":"q"},"spec":{"guarantee":{"nvidia.com/gpu":"4"}},
                   "status":{"used":{"nvidia.com/gpu":"2"},"waiting":7}})",
              R"(["q","4",null,"2",null,7,"<unknown>"])"},
          Row{"", "nodes",
              R"({"metadata":{"name":"n","labels":{"node-role.kubernetes.io/pool":""}},
                   "spec":{"unschedulable":true},"status":{"conditions":[{"type":"Ready","status":"True"}],
                   "addresses":[{"type":"InternalIP","address":"10.0.0.1"}]}})",
              R"(["n","Ready,SchedulingDisabled","pool","<unknown>","","10.0.0.1","<none>","<none>",
                   "<none>","<none>"])"},
          Row{"", "services",
              R"({"metadata":{"name":"s"},"spec":{"type":"ClusterIP","clusterIP":"None",
                   "ports":[{"port":80},{"port":53,"protocol":"UDP"}],"selector":{"a":"b"}}})",
              R"(["s","ClusterIP","None","<none>","80/TCP,53/UDP","<unknown>","a=b"])"},
      }) {
    const manifest::Kind& kind = *manifest::FindKind(row.group, row.plural);
    const auto cells = Cells(kind, json::parse(row.object).as_object(), now);
    EXPECT_EQ(json::value(cells), json::parse(row.cells)) << row.plural << json::serialize(cells);
    EXPECT_EQ(cells.size(), ColumnDefinitions(kind).size()) << row.plural;
  }
}

// Every column without a path has code behind it: none may be left empty for ever.
TEST(Cells, EveryColumnIsFilledForSomeObject) {
  for (const manifest::Kind& kind : manifest::Kinds()) {
    for (const auto& column : kind.columns) EXPECT_FALSE(column.name.empty());
    const auto cells = Cells(kind, json::object{{"metadata", {{"name", "x"}}}}, base::Instant{0});
    EXPECT_EQ(cells.size(), ColumnDefinitions(kind).size()) << kind.plural;
  }
}

port::Object Stored(const std::string& body, std::uint32_t splice) {
  port::Object object;
  object.revision = 7;
  object.body = std::make_shared<const std::string>(body);
  object.splice = splice;
  object.key.name = "x";
  return object;
}

TEST(Render, SplicesTheRevision) {
  const std::string body =
      R"({"kind":"K","metadata":{"name":"x","annotations":{"}":"\"}"}},"data":1})";
  const auto object = Stored(body, static_cast<std::uint32_t>(body.find("\"name\"")));
  const json::value whole = json::parse(ObjectText(object));
  EXPECT_EQ(whole.at("metadata").at("resourceVersion"), "7");
  EXPECT_EQ(whole.at("data"), 1);
  std::string partial;
  AppendPartial(partial, object, "v1");
  EXPECT_EQ(json::parse(partial), json::parse(R"({"kind":"PartialObjectMetadata",
      "apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"7","name":"x",
      "annotations":{"}":"\"}"}}})"));
}

}  // namespace
}  // namespace pondage::api
