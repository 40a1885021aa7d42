// Who may do what, discovery, reviews, views, logs and evictions, without a transport.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/auth.h"
#include "api/test_server.h"
#include "base/utf8.h"
#include "manifest/pod.h"

namespace pondage::api {
namespace {

namespace json = boost::json;
using ::testing::HasSubstr;
using ::testing::Not;

class Access : public ::testing::Test, protected TestApi {};

TEST_F(Access, OnlySignsOfLifeNeedNoToken) {
  struct Row {
    const char* target;
    int status;
  };
  for (const Row& row :
       {Row{"/healthz", 200}, Row{"/livez", 200}, Row{"/readyz", 200}, Row{"/version", 200},
        Row{"/readyz/x", 200}, Row{"/api", 401}, Row{"/metrics", 401}, Row{"/", 401},
        Row{"/api/v1/pods", 401}, Row{"/openapi/v2", 401}, Row{"/pondage/v1/tokens", 401},
        Row{"/versions", 401}, Row{"/healthzz", 401}}) {
    EXPECT_EQ(Ask("GET", row.target, "", "", "", "wrong").status, row.status) << row.target;
  }
}

TEST_F(Access, LimitedTokens) {
  struct Row {
    const char* method;
    const char* target;
    bool allowed;
  };
  for (const Row& row : {
           Row{"GET", "/api/v1/namespaces/team/pods", true},
           Row{"GET", "/api/v1/namespaces/team/secrets/s", true},
           Row{"DELETE", "/apis/kubeflow.org/v1/namespaces/team/tfjobs/j", true},
           Row{"GET", "/api/v1/namespaces/default/pods", false},
           Row{"GET", "/api/v1/pods", false},
           Row{"GET", "/api/v1/pods?watch=1", false},
           Row{"GET", "/api/v1/namespaces/team", true},
           Row{"GET", "/api/v1/namespaces/default", false},
           Row{"DELETE", "/api/v1/namespaces/team", false},
           Row{"GET", "/api/v1/namespaces", false},
           Row{"GET", "/api/v1/nodes", true},
           Row{"DELETE", "/api/v1/nodes/n", false},
           Row{"PATCH", "/api/v1/nodes/n", false},
           Row{"GET", "/apis/pondage.dev/v1alpha1/queues", true},
           Row{"DELETE", "/apis/pondage.dev/v1alpha1/queues/q", false},
           Row{"GET", "/apis", true},
           Row{"GET", "/openapi/v3", true},
           Row{"GET", "/pondage/v1/gpus", true},
           Row{"GET", "/pondage/v1/environments", true},
           Row{"POST", "/pondage/v1/environments", false},
           Row{"DELETE", "/pondage/v1/environments?image=x", false},
           Row{"GET", "/pondage/v1/tokens", false},
           Row{"GET", "/metrics", false},
           Row{"GET", "/elsewhere", false},
       }) {
    const Response response = Ask(row.method, row.target, "", "", "", guest);
    EXPECT_EQ(response.status != 403, row.allowed) << row.method << " " << row.target;
  }
  EXPECT_THAT(Ask("GET", "/metrics", "", "", "", guest).body,
              HasSubstr("forbidden: User \\\"guest\\\" cannot get path \\\"/metrics\\\""));
  const std::string reader =
      *tokens->Create({.name = "reader", .namespaces = {"*"}, .verbs = {"get", "list"}});
  EXPECT_EQ(Ask("GET", "/api/v1/pods", "", "", "", reader).status, 200);
  EXPECT_EQ(Ask("GET", "/metrics", "", "", "", reader).status, 200);
  EXPECT_EQ(Ask("GET", "/api/v1/pods?watch=1", "", "", "", reader).status, 403);
  EXPECT_EQ(Ask("DELETE", "/api/v1/namespaces/team/pods/p", "", "", "", reader).status, 403);
}

TEST_F(Access, TokensAreMadeShownOnceAndRevoked) {
  const json::value made = Json(
      Ask("POST", "/pondage/v1/tokens", R"({"name":"bob","namespaces":["team"],"verbs":["get"]})"));
  const std::string secret(made.at("token").as_string());
  EXPECT_EQ(Ask("GET", "/api/v1/namespaces/team/pods/p", "", "", "", secret).status, 404);
  EXPECT_EQ(Ask("GET", "/api/v1/namespaces/team/pods", "", "", "", secret).status, 403);
  const Response list = Ask("GET", "/pondage/v1/tokens");
  EXPECT_THAT(list.body, HasSubstr("\"bob\""));
  EXPECT_THAT(list.body, Not(HasSubstr(secret)));
  EXPECT_EQ(Ask("POST", "/pondage/v1/tokens", R"({"name":"bob","admin":true})").status, 409);
  EXPECT_EQ(Ask("POST", "/pondage/v1/tokens", R"({"name":"eve"})").status, 422);
  EXPECT_EQ(Ask("POST", "/pondage/v1/tokens", "[").status, 400);
  EXPECT_EQ(Ask("DELETE", "/pondage/v1/tokens/admin").status, 400);
  EXPECT_EQ(Ask("DELETE", "/pondage/v1/tokens/bob").status, 200);
  EXPECT_EQ(Ask("DELETE", "/pondage/v1/tokens/bob").status, 404);
  EXPECT_EQ(Ask("GET", "/api/v1/namespaces/team/pods/p", "", "", "", secret).status, 401);
}

// A token of one namespace learns of the replicas there, and of no others.
TEST_F(Access, ViewsShowWhatTheTokenMayRead) {
  for (const char* space : {"team", "default"}) {
    Put("", "pods",
        json::object{{"apiVersion", "v1"},
                     {"kind", "Pod"},
                     {"metadata",
                      {{"name", "p"}, {"namespace", space}, {"uid", std::string("u-") + space}}}});
    telemetry.replicas.push_back({.uid = std::string("u-") + space, .step = 7});
  }
  telemetry.replicas.push_back({.uid = "u-gone", .step = 7});
  const std::string reader =
      *tokens->Create({.name = "reader", .namespaces = {"*"}, .verbs = {"get", "list"}});
  const std::string creator =
      *tokens->Create({.name = "creator", .namespaces = {"team"}, .verbs = {"create"}});
  struct Row {
    std::string token;
    std::size_t replicas;
    bool processes;
  };
  for (const Row& row :
       {Row{admin, 3, true}, Row{reader, 3, true}, Row{guest, 1, false}, Row{creator, 0, false}}) {
    const json::value seen = Json(Ask("GET", "/pondage/v1/replicas", "", "", "", row.token));
    EXPECT_EQ(seen.at("replicas").as_array().size(), row.replicas);
    if (row.replicas == 1) {
      EXPECT_EQ(seen.at("replicas").at(0).at("uid"), "u-team");
    }
    const json::value gpus = Json(Ask("GET", "/pondage/v1/gpus", "", "", "", row.token));
    EXPECT_EQ(gpus.at("gpus").at(0).at("processes").as_array().empty(), !row.processes);
  }
}

// That a GPU is held is for all to know, whose replica it is is not.
TEST_F(Access, ALimitedTokenSeesWhichGpusAreHeld) {
  const auto put = [this](const char* name, const char* gpus, const char* phase) {
    Put("", "pods",
        json::object{{"apiVersion", "v1"},
                     {"kind", "Pod"},
                     {"metadata",
                      {{"name", name},
                       {"namespace", "secret"},
                       {"uid", name},
                       {"annotations", {{"pondage.dev/gpus", gpus}}}}},
                     {"spec", {{"nodeName", "gpu01"}}},
                     {"status", {{"phase", phase}}}});
  };
  put("runs", "0,2", "Running");
  put("ended", "1", "Succeeded");
  const json::value seen = Json(Ask("GET", "/pondage/v1/gpus", "", "", "", guest));
  EXPECT_EQ(seen.at("held"),
            json::parse(R"([{"node":"gpu01","index":0},{"node":"gpu01","index":2}])"));
}

TEST_F(Access, Reviews) {
  const std::string reviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
  const auto may = [&](const std::string& attributes, const std::string& token) {
    const json::value review =
        Json(Ask("POST", reviews, R"({"spec":{"resourceAttributes":)" + attributes + "}}",
                 "application/json", "", token));
    return review.at("status").at("allowed").as_bool();
  };
  const std::string own = R"({"verb":"list","resource":"pods","namespace":"team"})";
  const std::string foreign = R"({"verb":"list","resource":"pods","namespace":"default"})";
  EXPECT_TRUE(may(own, guest));
  EXPECT_FALSE(may(foreign, guest));
  EXPECT_TRUE(may(foreign, admin));
  EXPECT_FALSE(may(R"({"verb":"*","resource":"*","group":"*"})", guest));
  EXPECT_EQ(Json(Ask("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", "{}",
                     "application/json", "", guest))
                .at("status")
                .at("userInfo")
                .at("username"),
            "guest");
  const json::value token = Json(Ask("POST", "/apis/authentication.k8s.io/v1/tokenreviews",
                                     R"({"spec":{"token":")" + guest + R"("}})"));
  EXPECT_EQ(token.at("status").at("user").at("username"), "guest");
  EXPECT_EQ(Ask("GET", reviews).status, 405);
  const json::value rules =
      Json(Ask("POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
               R"({"spec":{"namespace":"default"}})", "application/json", "", guest));
  EXPECT_THAT(json::serialize(rules.at("status")), Not(HasSubstr("\"*\"")));
}

TEST_F(Access, DiscoveryInBothForms) {
  const json::value plain = Json(Ask("GET", "/apis"));
  EXPECT_EQ(plain.at("kind"), "APIGroupList");
  const std::string accept =
      "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
  Response aggregated = Ask("GET", "/apis", "", "", accept);
  EXPECT_EQ(aggregated.content_type,
            "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
  EXPECT_EQ(Json(std::move(aggregated)).at("items").as_array().size(),
            plain.at("groups").as_array().size());
  EXPECT_EQ(Json(Ask("GET", "/api", "", "", accept)).at("items").as_array().size(), 1U);
  const json::value core = Json(Ask("GET", "/api/v1/"));
  EXPECT_THAT(json::serialize(core), HasSubstr(R"("name":"pods/log")"));
  EXPECT_THAT(json::serialize(core), HasSubstr(R"("kind":"Eviction")"));
  EXPECT_EQ(Json(Ask("GET", "/apis/kubeflow.org")).at("preferredVersion").at("version"), "v1");
  EXPECT_EQ(Ask("GET", "/apis/none.org").status, 404);
  EXPECT_THAT(Ask("GET", "/api/v1/gizmos").body,
              HasSubstr("the server could not find the requested resource"));
}

TEST_F(Access, WhateverBytesAreSentTheAnswerIsText) {
  const std::string maps = "/api/v1/namespaces/team/configmaps";
  for (const std::string& target :
       {maps + "?labelSelector=%ff", maps + "?fieldSelector=%ff%3d1", maps + "/%ff",
        maps + "?limit=%ff", maps + "?resourceVersion=%c3", std::string("/apis/%ff/v1/%fe"),
        std::string("/api/v1/namespaces/%ff/pods/x"), std::string("/%ff")}) {
    const Response answer = Ask("GET", target);
    EXPECT_GE(answer.status, 400) << target;
    EXPECT_TRUE(base::IsUtf8(answer.body)) << target << ": " << answer.body;
  }
}

TEST_F(Access, OpenApiForKubectl) {
  const Response v2 = Ask("GET", "/openapi/v2", "", "",
                          "application/com.github.proto-openapi.spec.v2@v1.0+protobuf");
  EXPECT_EQ(v2.body.size(), 22U);
  EXPECT_EQ(v2.content_type, "application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
  const json::value index = Json(Ask("GET", "/openapi/v3"));
  for (const auto& [path, entry] : index.at("paths").as_object()) {
    std::string url(entry.at("serverRelativeURL").as_string());
    const json::value document = Json(Ask("GET", url));
    for (const auto& [name, item] : document.at("paths").as_object()) {
      const json::value& patch = item.at("patch");
      EXPECT_TRUE(patch.at("x-kubernetes-group-version-kind").is_object());
      EXPECT_FALSE(patch.as_object().contains("requestBody"));
      EXPECT_THAT(json::serialize(patch.at("parameters")), HasSubstr("fieldValidation"));
    }
  }
}

class PodLogs : public Access {
 protected:
  PodLogs() {
    Put("", "pods", Pod("p", "here", R"([{"name":"tensorflow"}])", 1));
    Put("", "pods", Pod("two", "here", R"([{"name":"a"},{"name":"b"}])", 0));
    Put("", "pods", Pod("waiting", "", R"([{"name":"tensorflow"}])", 0));
    logs.Write("u-p", 0, "old\n", true);
    logs.Write("u-p", 1, "first\nsecond\n");
  }
  static json::object Pod(const std::string& name, const std::string& node,
                          const std::string& containers, int restarts) {
    return json::parse(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
                       R"(","namespace":"default","uid":"u-)" + name +
                       R"("},"spec":{"nodeName":")" + node + R"(","containers":)" + containers +
                       R"(},"status":{"containerStatuses":[{"name":"tensorflow","restartCount":)" +
                       std::to_string(restarts) + R"(,"state":{"waiting":{"reason":"Slow"}}}]}})")
        .as_object();
  }
  std::string Log(const std::string& query, const std::string& pod = "p") {
    Response response = Ask("GET", "/api/v1/namespaces/default/pods/" + pod + "/log" + query);
    if (response.stream) Drain(*response.stream, response.body);
    return response.body;
  }
};

TEST_F(PodLogs, PartsOfALog) {
  struct Row {
    const char* query;
    const char* text;
  };
  for (const Row& row : {
           Row{"", "first\nsecond\n"},
           Row{"?tailLines=1", "second\n"},
           Row{"?tailLines=0", ""},
           Row{"?limitBytes=3", "fir"},
           Row{"?sinceSeconds=5", "second\n"},
           Row{"?sinceTime=2024-01-01T00:00:00Z", "second\n"},
           Row{"?previous=true", "old\n"},
           Row{"?container=tensorflow", "first\nsecond\n"},
           Row{"?timestamps=true",
               "2023-11-14T22:13:20.000000Z first\n2023-11-14T22:13:20.006000Z second\n"},
       }) {
    EXPECT_EQ(Log(row.query), row.text) << row.query;
  }
}

// Whatever the times cost, they are asked for once for each piece, not for each line.
TEST_F(PodLogs, TimesAreReadOnceForEachPiece) {
  std::string many;
  for (int i = 0; i < 20'000; ++i) many += "line\n";
  logs.Write("u-p", 1, many);
  const std::string text = Log("?timestamps=true");
  EXPECT_EQ(std::ranges::count(text, '\n'), 20'002);
  EXPECT_EQ(std::ranges::count(text, 'Z'), 20'002);
  EXPECT_LE(logs.asked_for_marks, 1 + static_cast<int>(many.size() >> 16) + 1);
}

// What a Pod says of itself in labels, annotations and owners can be written by who may patch it:
// that opens nobody else's log.
TEST_F(PodLogs, AnEarlierPodIsFoundByTheUidAndNotByWhatTheClientWrote) {
  const job::Identity own{.space = "default", .name = "own", .uid = "job-own"};
  const job::Identity other{.space = "team", .name = "other", .uid = "job-other"};
  const auto uid = [](const job::Identity& job, int index, int incarnation) {
    return manifest::PodUid(job, job::Role::kWorker, index, incarnation);
  };
  logs.Write(uid(own, 0, 1), 0, "of its own earlier\n", true);
  logs.Write(uid(own, 1, 1), 0, "of its sibling\n", true);
  logs.Write(uid(other, 0, 1), 0, "of another\n", true);
  const auto put = [&](const job::Identity& says, int index, int incarnation) {
    json::object pod = Pod("own-worker-0", "here", R"([{"name":"tensorflow"}])", 0);
    json::object& metadata = pod["metadata"].as_object();
    metadata["uid"] = uid(own, 0, 2);
    metadata["labels"] = {{"training.kubeflow.org/replica-type", "worker"},
                          {"training.kubeflow.org/replica-index", std::to_string(index)}};
    metadata["annotations"] = {{"pondage.dev/incarnation", std::to_string(incarnation)}};
    metadata["ownerReferences"] =
        json::array{json::object{{"kind", "TFJob"}, {"name", says.name}, {"uid", says.uid}}};
    Put("", "pods", pod);
  };
  const std::string path = "/api/v1/namespaces/default/pods/own-worker-0/log";
  const auto read = [&](const std::string& query) {
    Response response = Ask("GET", path + query);
    if (response.stream) Drain(*response.stream, response.body);
    return response.body;
  };
  put(own, 0, 2);
  EXPECT_EQ(read("?previous=1"), "of its own earlier\n");
  EXPECT_EQ(read("?attempt=1"), "of its own earlier\n");
  struct Row {
    job::Identity says;
    int index, incarnation;
  };
  for (const Row& row : {Row{other, 0, 2}, Row{other, 0, 3}, Row{own, 1, 2}, Row{own, 0, 9}}) {
    put(row.says, row.index, row.incarnation);
    for (const char* query : {"?previous=1", "?attempt=1", "?attempt=1&follow=1", ""}) {
      const std::string seen = read(query);
      EXPECT_THAT(seen, Not(HasSubstr("of another"))) << query;
      EXPECT_THAT(seen, Not(HasSubstr("of its sibling"))) << query;
    }
  }
}

TEST_F(PodLogs, Refusals) {
  EXPECT_THAT(Log("?container=x"), HasSubstr("container x is not valid for pod p"));
  EXPECT_THAT(Log("", "two"),
              HasSubstr("a container name must be specified for pod two, choose one "
                        "of: [a b]"));
  EXPECT_EQ(Ask("GET", "/api/v1/namespaces/default/pods/waiting/log").status, 204);
  EXPECT_EQ(Ask("GET", "/api/v1/namespaces/default/pods/none/log").status, 404);
  EXPECT_EQ(Ask("GET", "/api/v1/namespaces/default/pods/p/log?tailLines=-1").status, 422);
  EXPECT_EQ(Ask("GET", "/api/v1/namespaces/default/pods/p/log?tailLines=x").status, 400);
  EXPECT_EQ(
      Ask("GET",
          "/api/v1/namespaces/default/pods/p/log?sinceSeconds=1&sinceTime=2024-01-01T00:00:00Z")
          .status,
      422);
}

TEST_F(PodLogs, FollowGoesOnUntilTheProgramIsGone) {
  Response response = Ask("GET", "/api/v1/namespaces/default/pods/p/log?follow=true&tailLines=0");
  std::string out;
  EXPECT_TRUE(Drain(*response.stream, out));
  EXPECT_TRUE(response.stream->Live());
  logs.Write("u-p", 1, "third\n");
  EXPECT_TRUE(Drain(*response.stream, out));
  logs.Write("u-p", 1, "last\n", true);
  EXPECT_FALSE(Drain(*response.stream, out));
  EXPECT_EQ(out, "third\nlast\n");
}

// Whatever an answer began with, its reader goes on at the byte behind what it has: in the same
// start, though the program was started anew, and with a stamp only where a line begins.
TEST_F(PodLogs, AReaderGoesOnWhereItWas) {
  const auto place = [&](const std::string& query) {
    const Response response = Ask("GET", "/api/v1/namespaces/default/pods/p/log" + query);
    for (const auto& [name, value] : response.headers)
      if (name == "Pondage-Log-From") return value;
    return std::string("none");
  };
  EXPECT_EQ(place(""), "u-p/1/0");
  EXPECT_EQ(place("?tailLines=1"), "u-p/1/6");
  EXPECT_EQ(place("?sinceSeconds=5"), "u-p/1/6");
  EXPECT_EQ(place("?previous=true"), "u-p/0/0");
  EXPECT_EQ(place("?tailLines=0&follow=true"), "u-p/1/13");
  EXPECT_EQ(Log("?from=u-p/1/8&tailLines=1"), "cond\n");
  EXPECT_EQ(Log("?from=u-p/1/13"), "");
  EXPECT_EQ(Log("?from=u-p/0/1"), "ld\n");
  EXPECT_EQ(Log("?timestamps=true&from=u-p/1/8"), "cond\n");
  EXPECT_EQ(Log("?timestamps=true&from=u-p/1/6"), "2023-11-14T22:13:20.006000Z second\n");
  logs.Rotate("u-p", 1, 9);
  EXPECT_EQ(place("?from=u-p/1/8"), "u-p/1/9");
  EXPECT_EQ(place(""), "u-p/1/9");
  EXPECT_EQ(Log(""), "ond\n");
}

TEST_F(PodLogs, APlaceIsOfThisPodOrRefused) {
  logs.Write("u-two", 0, "of another\n");
  for (const char* from : {"u-two/0/0", "u-p/2/0", "u-p/-1/0", "u-p/0/-1", "u-p/0", "/0/0",
                           "u-p/0/x", "0", "../u-p/0/0", "u-p/0/99999999999999999999"}) {
    EXPECT_EQ(Ask("GET", std::string("/api/v1/namespaces/default/pods/p/log?from=") + from).status,
              400)
        << from;
  }
}

// A slow reader whose next bytes are rotated away is not told that it has the whole.
TEST_F(PodLogs, AGapBreaksTheAnswer) {
  Response response = Ask("GET", "/api/v1/namespaces/default/pods/p/log?follow=true");
  std::string out;
  EXPECT_TRUE(Drain(*response.stream, out));
  EXPECT_EQ(out, "first\nsecond\n");
  logs.Write("u-p", 1, "third\nfourth\n");
  logs.Rotate("u-p", 1, 19);
  out.clear();
  EXPECT_EQ(response.stream->Fill(out), Stream::Next::kBroken);
  EXPECT_EQ(out, "");
}

TEST_F(PodLogs, EvictionDeletesThePod) {
  const std::string pod = "/api/v1/namespaces/default/pods/p";
  EXPECT_EQ(Ask("POST", pod + "/eviction", R"({"metadata":{"name":"q"}})").status, 400);
  EXPECT_EQ(Ask("POST", pod + "/eviction",
                R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p"}})")
                .status,
            201);
  EXPECT_EQ(Ask("GET", pod).status, 404);
}

}  // namespace
}  // namespace pondage::api
