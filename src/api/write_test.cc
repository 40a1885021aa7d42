// Writes through the API, without a transport: the rules that clients rely on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/test_server.h"

namespace pondage::api {
namespace {

namespace json = boost::json;
using ::testing::HasSubstr;

const std::string kMaps = "/api/v1/namespaces/default/configmaps";
const std::string kJobs = "/apis/kubeflow.org/v1/namespaces/default/tfjobs";

constexpr const char* kJob = R"({"apiVersion":"kubeflow.org/v1","kind":"TFJob",
  "metadata":{"name":"j"},"spec":{"tfReplicaSpecs":{"worker":{"replicas":1,"template":{"spec":
  {"containers":[{"name":"tensorflow","image":"i","command":["x"]}]}}}}}})";

class Writes : public ::testing::Test, protected TestApi {
 protected:
  json::value Post(const std::string& target, const std::string& body, int status = 201) {
    Response response = Ask("POST", target, body);
    EXPECT_EQ(response.status, status) << response.body;
    return Json(std::move(response));
  }
  json::value Patch(const std::string& target, const std::string& body, int status = 200,
                    const std::string& type = "merge-patch+json") {
    Response response = Ask("PATCH", target, body, "application/" + type);
    EXPECT_EQ(response.status, status) << response.body;
    return Json(std::move(response));
  }
  json::value Put(const std::string& target, const json::value& body, int status = 200) {
    Response response = Ask("PUT", target, json::serialize(body));
    EXPECT_EQ(response.status, status) << response.body;
    return Json(std::move(response));
  }
  static std::string Rv(const json::value& object) {
    return std::string(object.at("metadata").at("resourceVersion").as_string());
  }
};

TEST_F(Writes, CreateSetsWhatIsTheServers) {
  const json::value map = Post(kMaps, R"({"metadata":{"name":"m","uid":"mine","generation":9,
    "creationTimestamp":"2000-01-01T00:00:00Z","selfLink":"x","managedFields":[{}]}})");
  const json::object& metadata = map.at("metadata").as_object();
  EXPECT_EQ(map.at("kind"), "ConfigMap");
  EXPECT_EQ(map.at("apiVersion"), "v1");
  EXPECT_EQ(metadata.at("namespace"), "default");
  EXPECT_EQ(metadata.at("creationTimestamp"), "2027-01-15T08:00:00Z");
  const std::string uid(metadata.at("uid").as_string());
  EXPECT_EQ(uid.size(), 36U);
  EXPECT_EQ(uid[14], '4');
  EXPECT_FALSE(metadata.contains("generation"));
  EXPECT_FALSE(metadata.contains("managedFields"));
  EXPECT_EQ(Post(kMaps, R"({"metadata":{"name":"m"}})", 409).at("message"),
            "configmaps \"m\" already exists");
}

TEST_F(Writes, CreateRefuses) {
  struct Row {
    const char* says;
    std::string target;
    const char* body;
    int status;
    const char* message;
  };
  for (
      const Row& row : {
          Row{"a revision", kMaps, R"({"metadata":{"name":"m","resourceVersion":"5"}})", 400,
              "resourceVersion should not be set on objects to be created"},
          Row{"no name", kMaps, R"({"metadata":{}})", 422, "name or generateName is required"},
          Row{"a bad name", kMaps, R"({"metadata":{"name":"A"}})", 422, "Invalid value"},
          Row{"another namespace", kMaps, R"({"metadata":{"name":"m","namespace":"team"}})", 400,
              "does not match the namespace"},
          Row{"another kind", kMaps, R"({"kind":"Secret","metadata":{"name":"m"}})", 400,
              "does not match the expected kind"},
          Row{"another version", kMaps, R"({"apiVersion":"v2","metadata":{"name":"m"}})", 400,
              "does not match the expected API version"},
          Row{"a number as label", kMaps, R"({"metadata":{"name":"m","labels":{"a":true}}})", 400,
              "metadata.labels must be a map of strings"},
          Row{"a bad label", kMaps, R"({"metadata":{"name":"m","labels":{"a":"-"}}})", 422,
              "metadata.labels"},
          Row{"broken JSON", kMaps, R"({"metadata":)", 400, "cannot be handled as a ConfigMap"},
          Row{"twice the same key", kMaps, R"({"metadata":{"name":"m","name":"n"}})", 400, ""},
          Row{"no object", kMaps, "[1]", 400, "no JSON object"},
          Row{"no body", kMaps, "", 400, "no body"},
          Row{"a namespace that is not there", "/api/v1/namespaces/none/configmaps",
              R"({"metadata":{"name":"m"}})", 404, "namespaces \\\"none\\\" not found"},
          Row{"bad data", kMaps, R"({"metadata":{"name":"m"},"data":{"a":1}})", 400,
              "data.a: Invalid value: 1: must be a string"},
          Row{"a bad key", kMaps, R"({"metadata":{"name":"m"},"data":{"a/b":"1"}})", 422,
              "data[a/b]: Invalid value"},
          Row{"a bare pod", "/api/v1/namespaces/default/pods", R"({"metadata":{"name":"p"}})", 403,
              "create a TFJob instead"},
          Row{"a node", "/api/v1/nodes", R"({"metadata":{"name":"n"}})", 403, "registers"},
          Row{"a name in the path", kMaps + "/m", R"({"metadata":{"name":"m"}})", 405, ""},
          Row{"dryRun of another kind", kMaps + "?dryRun=Some", R"({"metadata":{"name":"m"}})", 422,
              "supported values: \\\"All\\\""},
          Row{"an owner without a uid", kMaps,
              R"({"metadata":{"name":"m","ownerReferences":[{"apiVersion":"v1","kind":"K","name":"n"}]}})",
              422, "metadata.ownerReferences[0].uid: Required value"},
      }) {
    const Response response = Ask("POST", row.target, row.body);
    EXPECT_EQ(response.status, row.status) << row.says << response.body;
    EXPECT_THAT(response.body, HasSubstr(row.message)) << row.says;
  }
  EXPECT_EQ(writer.submitted, 0);
}

TEST_F(Writes, GeneratedNamesAreTriedAgain) {
  const json::value map = Post(kMaps, R"({"metadata":{"generateName":"run-"}})");
  const std::string name(map.at("metadata").at("name").as_string());
  EXPECT_EQ(name.size(), 9U);
  EXPECT_EQ(name.substr(0, 4), "run-");
  // Each name that is tried is taken a moment before.
  int losses = 2;
  writer.before = [&](const port::Write& write) {
    if (losses-- > 0) {
      EXPECT_TRUE(writer.Put(write.change));
    }
  };
  Post(kMaps, R"({"metadata":{"generateName":"run-"}})");
  EXPECT_LT(losses, 0);
  losses = 1000;
  const Response lost = Ask("POST", kMaps, R"({"metadata":{"generateName":"run-"}})");
  EXPECT_EQ(lost.status, 409);
  EXPECT_THAT(lost.body, HasSubstr("\"retryAfterSeconds\":1"));
}

TEST_F(Writes, ReplaceKnowsRevisionsAndUids) {
  json::value map = Post(kMaps, R"({"metadata":{"name":"m"},"data":{"a":"1"}})");
  const std::string first = Rv(map);
  map.as_object()["data"].as_object()["a"] = "2";
  const json::value second = Put(kMaps + "/m", map);
  EXPECT_NE(Rv(second), first);
  EXPECT_THAT(std::string(Put(kMaps + "/m", map, 409).at("message").as_string()),
              HasSubstr("the object has been modified"));
  map.at("metadata").as_object().erase("resourceVersion");
  map.as_object()["data"].as_object()["a"] = "3";
  const json::value third = Put(kMaps + "/m", map);
  EXPECT_EQ(Rv(Put(kMaps + "/m", map)), Rv(third)) << "nothing changed";
  map.at("metadata").as_object()["uid"] = "another";
  Put(kMaps + "/m", map, 409);
  map.at("metadata").as_object()["uid"] = nullptr;
  map.at("metadata").as_object()["name"] = "n";
  Put(kMaps + "/m", map, 400);
  Put(kMaps + "/n", map, 404);
}

TEST_F(Writes, CustomKindsAreReplacedWithARevisionOnly) {
  json::value job = Post(kJobs, kJob);
  EXPECT_EQ(job.at("metadata").at("generation"), 1);
  EXPECT_TRUE(job.at("spec").at("tfReplicaSpecs").as_object().contains("Worker")) << "re-cased";
  json::value bare = job;
  bare.at("metadata").as_object().erase("resourceVersion");
  EXPECT_EQ(
      Put(kJobs + "/j", bare, 422).at("message"),
      "TFJob.kubeflow.org \"j\" is invalid: metadata.resourceVersion: Invalid value: 0x0: must "
      "be specified for an update");
  job.at("metadata").as_object()["labels"] = {{"a", "b"}};
  job = Put(kJobs + "/j", job);
  EXPECT_EQ(job.at("metadata").at("generation"), 1) << "metadata is no spec";
  job = Patch(kJobs + "/j", R"({"spec":{"runPolicy":{"suspend":true}}})");
  EXPECT_EQ(job.at("metadata").at("generation"), 2);
}

TEST_F(Writes, StatusIsAWorldOfItsOwn) {
  std::string with_status = kJob;
  with_status.insert(1, R"("status":{"conditions":[]},)");
  json::value job = Post(kJobs, with_status);
  EXPECT_FALSE(job.as_object().contains("status"));
  job = Patch(kJobs + "/j", R"({"status":{"a":1},"metadata":{"labels":{"l":"1"}}})");
  EXPECT_FALSE(job.as_object().contains("status"));
  job = Patch(kJobs + "/j/status",
              R"({"status":{"a":1},"metadata":{"labels":{"l":"2"}},"spec":null})");
  EXPECT_EQ(job.at("status").at("a"), 1);
  EXPECT_EQ(job.at("metadata").at("labels").at("l"), "1");
  EXPECT_TRUE(job.as_object().contains("spec"));
  EXPECT_EQ(job.at("metadata").at("generation"), 1);
  EXPECT_EQ(Json(Ask("GET", kJobs + "/j/status")).at("status").at("a"), 1);
  EXPECT_EQ(Ask("GET", kMaps + "/m/status").status, 404);
  EXPECT_EQ(Ask("DELETE", kJobs + "/j/status").status, 405);
}

TEST_F(Writes, PatchesWithoutARevisionSurviveRaces) {
  Post(kMaps, R"({"metadata":{"name":"m"},"data":{"a":"1"}})");
  int races = 3;
  writer.before = [&](const port::Write& write) {
    if (races-- <= 0) return;
    json::object other = json::parse(*store.Get(write.change.key)->body).as_object();
    other["data"].as_object()["race" + std::to_string(races)] = "x";
    ASSERT_TRUE(writer.Put(ChangeOf(*manifest::FindKind("", "configmaps"), other)));
  };
  const json::value map = Patch(kMaps + "/m", R"({"data":{"b":"2"}})");
  EXPECT_EQ(map.at("data").as_object().size(), 5U);
  races = 1;
  const std::string with =
      R"({"metadata":{"resourceVersion":")" + Rv(map) + R"("},"data":{"c":"3"}})";
  Patch(kMaps + "/m", with, 409);
  races = 1000;
  Patch(kMaps + "/m", R"({"data":{"d":"4"}})", 409);
}

TEST_F(Writes, PatchTypes) {
  Post(kMaps, R"({"metadata":{"name":"m"},"data":{"a":"1"}})");
  Post(kJobs, kJob);
  Patch(kMaps + "/m", R"([{"op":"add","path":"/data/b","value":"2"}])", 200, "json-patch+json");
  Patch(kMaps + "/m", R"([{"op":"remove","path":"/data/x"}])", 422, "json-patch+json");
  Patch(kMaps + "/m", R"({"data":{"c":"3"}})", 200, "strategic-merge-patch+json");
  Patch(kJobs + "/j", R"({"metadata":{}})", 415, "strategic-merge-patch+json");
  EXPECT_THAT(json::serialize(Patch(kMaps + "/m", "{}", 415, "apply-patch+yaml")),
              HasSubstr("server-side apply is not supported"));
  Patch(kMaps + "/m", "{}", 415, "json");
  Patch(kMaps + "/m?force=true", "{}", 422);
  Patch(kMaps + "/m", R"({"kind":"Secret"})", 400);
  Patch(kMaps + "/m", R"({"metadata":{"uid":"x"}})", 422);
  Patch(kMaps + "/none", "{}", 404);
  EXPECT_EQ(Rv(Patch(kMaps + "/m", R"({"data":{"c":"3"}})")), Rv(Json(Ask("GET", kMaps + "/m"))));
}

TEST_F(Writes, DryRunsStoreNothing) {
  const auto before = store.Newest();
  Post(kMaps + "?dryRun=All", R"({"metadata":{"name":"m"}})");
  EXPECT_EQ(Ask("GET", kMaps + "/m").status, 404);
  EXPECT_EQ(store.Newest(), before);
  Post(kMaps, R"({"metadata":{"name":"m"}})");
  const auto after = store.Newest();
  EXPECT_EQ(Patch(kMaps + "/m?dryRun=All", R"({"data":{"a":"1"}})").at("data").at("a"), "1");
  EXPECT_EQ(Ask("DELETE", kMaps + "/m?dryRun=All").status, 200);
  EXPECT_EQ(Ask("DELETE", kMaps + "/m", R"({"dryRun":["All"]})").status, 200);
  EXPECT_EQ(store.Newest(), after);
}

TEST_F(Writes, DeletionAnswersAsItWent) {
  json::value map = Post(kMaps, R"({"metadata":{"name":"m"}})");
  EXPECT_EQ(Ask("DELETE", kMaps + "/m", R"({"preconditions":{"uid":"x"}})").status, 409);
  EXPECT_EQ(Ask("DELETE", kMaps + "/m", R"({"preconditions":{"resourceVersion":"1"}})").status,
            409);
  EXPECT_EQ(Ask("DELETE", kMaps + "/m", R"({"propagationPolicy":"Sideways"})").status, 422);
  EXPECT_EQ(Ask("DELETE", kMaps + "/m?propagationPolicy=Orphan&orphanDependents=true").status, 422);
  const json::value status = Json(Ask("DELETE", kMaps + "/m", ""));
  EXPECT_EQ(status.at("status"), "Success");
  EXPECT_EQ(status.at("details").at("uid"), map.at("metadata").at("uid"));
  EXPECT_EQ(Ask("DELETE", kMaps + "/m").status, 404);
}

TEST_F(Writes, FinalizersHoldAnObject) {
  Post(kMaps, R"({"metadata":{"name":"m","finalizers":["a/b"]}})");
  const json::value held = Json(Ask("DELETE", kMaps + "/m"));
  EXPECT_TRUE(held.at("metadata").as_object().contains("deletionTimestamp"));
  Patch(kMaps + "/m", R"({"metadata":{"finalizers":null}})");
  EXPECT_EQ(Ask("GET", kMaps + "/m").status, 404);
}

TEST_F(Writes, CollectionsAreDeletedBySelection) {
  for (const char* name : {"a", "b", "c"}) {
    Post(kMaps, std::string(R"({"metadata":{"name":")") + name + R"(","labels":{"n":")" + name +
                    R"("}}})");
  }
  EXPECT_EQ(Json(Ask("DELETE", kMaps + "?labelSelector=n+in+(a,b)")).at("items").as_array().size(),
            2U);
  EXPECT_EQ(Json(Ask("GET", kMaps)).at("items").as_array().size(), 1U);
  EXPECT_EQ(Ask("DELETE", "/api/v1/configmaps").status, 405) << "not across namespaces";
  EXPECT_EQ(Json(Ask("DELETE", kMaps + "?labelSelector=n=x")).at("items").as_array().size(), 0U);
}

TEST_F(Writes, SecretsTurnTextsIntoData) {
  const std::string secrets = "/api/v1/namespaces/default/secrets";
  json::value secret =
      Post(secrets, R"({"metadata":{"name":"s"},"stringData":{"a":"b"},"data":{"c":"ZA=="}})");
  EXPECT_EQ(secret.at("data"), json::parse(R"({"c":"ZA==","a":"Yg=="})"));
  EXPECT_FALSE(secret.as_object().contains("stringData"));
  EXPECT_EQ(secret.at("type"), "Opaque");
  Patch(secrets + "/s", R"({"type":"other"})", 422);
  Post(secrets, R"({"metadata":{"name":"t"},"data":{"a":"?"}})", 422);
  Patch(secrets + "/s", R"({"immutable":true})");
  Patch(secrets + "/s", R"({"data":{"a":"ZA=="}})", 422);
}

TEST_F(Writes, NamespacesComeWithAnAccountAndMayNotAllGo) {
  const json::value space = Post("/api/v1/namespaces", R"({"metadata":{"name":"lab"}})");
  EXPECT_EQ(space.at("status").at("phase"), "Active");
  EXPECT_EQ(space.at("metadata").at("labels").at("kubernetes.io/metadata.name"), "lab");
  EXPECT_EQ(Ask("GET", "/api/v1/namespaces/lab/serviceaccounts/default").status, 200);
  EXPECT_EQ(Ask("DELETE", "/api/v1/namespaces/default").status, 403);
  Patch("/api/v1/namespaces/lab", R"({"metadata":{"finalizers":["x/y"]}})");
  Ask("DELETE", "/api/v1/namespaces/lab");
  const Response late =
      Ask("POST", "/api/v1/namespaces/lab/configmaps", R"({"metadata":{"name":"m"}})");
  EXPECT_EQ(late.status, 403);
  EXPECT_THAT(late.body, HasSubstr("NamespaceTerminating"));
}

TEST_F(Writes, WhatAPathDoesNotOfferIsNotFoundOrNotAllowed) {
  struct Row {
    const char* method;
    std::string target;
    int status;
  };
  const std::string pod = "/api/v1/namespaces/default/pods/p";
  for (const Row& row : {
           Row{"POST", kMaps + "/m", 405},
           Row{"PUT", kMaps, 405},
           Row{"PATCH", kMaps, 405},
           Row{"POST", "/api/v1/configmaps", 405},
           Row{"DELETE", "/api/v1/configmaps", 405},
           Row{"GET", "/api/v1/configmaps", 200},
           Row{"GET", "/api/v1/configmaps?watch=1", 200},
           Row{"GET", kMaps + "/m?watch=1", 200},
           Row{"GET", kMaps + "/m/status", 404},
           Row{"GET", kMaps + "/m/log", 404},
           Row{"POST", kMaps + "/m/eviction", 404},
           Row{"GET", kJobs + "/j/scale", 404},
           Row{"POST", kJobs + "/j/status", 405},
           Row{"DELETE", kJobs + "/j/status", 405},
           Row{"GET", kJobs + "/j/status?watch=1", 405},
           Row{"POST", pod + "/log", 405},
           Row{"PUT", pod + "/exec", 405},
           Row{"GET", pod + "/eviction", 405},
           Row{"GET", pod + "/portforward", 404},
           Row{"GET", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", 405},
           Row{"POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews/x", 405},
       }) {
    EXPECT_EQ(Ask(row.method, row.target, "{}").status, row.status) << row.method << row.target;
  }
}

// Its programs end before a TFJob or a Pod goes, and a namespace goes after what is in it. What any
// other object owns goes behind it: to say "in the foreground" and not do it would be a lie.
TEST_F(Writes, DeletionInTheForegroundIsDoneOrRefused) {
  const std::string how = R"({"propagationPolicy":"Foreground"})";
  Post(kMaps, R"({"metadata":{"name":"m"}})");
  Post(kJobs, kJob);
  const Response refused = Ask("DELETE", kMaps + "/m", how);
  EXPECT_EQ(refused.status, 422);
  EXPECT_THAT(refused.body, HasSubstr(R"(supported values: \"Background\", \"Orphan\")"));
  EXPECT_EQ(Ask("DELETE", kMaps, how).status, 422) << "nor all of them";
  EXPECT_EQ(Ask("GET", kMaps + "/m").status, 200);
  EXPECT_EQ(Ask("DELETE", kMaps + "/m", R"({"propagationPolicy":"Background"})").status, 200);
  EXPECT_EQ(Ask("DELETE", kJobs + "/j", how).status, 200);
  Post("/api/v1/namespaces", R"({"metadata":{"name":"lab"}})");
  EXPECT_EQ(Ask("DELETE", "/api/v1/namespaces/lab", how).status, 200);
}

TEST_F(Writes, ANamespaceAndItsAccountAreOneWrite) {
  Post("/api/v1/namespaces", R"({"metadata":{"name":"lab"}})");
  EXPECT_EQ(writer.submitted, 1);
  Post("/api/v1/namespaces?dryRun=All", R"({"metadata":{"name":"dry"}})");
  EXPECT_EQ(Ask("GET", "/api/v1/namespaces/dry/serviceaccounts/default").status, 404);
}

// Clients give up on an answer whose header has no end, though the write is done.
TEST_F(Writes, WarningsAreBounded) {
  const auto told = [&](int fields, std::size_t length) {
    json::object map{{"metadata", {{"name", "m-" + std::to_string(fields)}}}};
    for (int i = 0; i < fields; ++i) {
      map[std::string(length, 'x') + std::to_string(i)] = 1;
    }
    const Response response = Ask("POST", kMaps, json::serialize(map));
    EXPECT_EQ(response.status, 201) << response.body;
    std::vector<std::string> warnings;
    for (const auto& [name, value] : response.headers) {
      if (name == "Warning") warnings.push_back(value);
    }
    return warnings;
  };
  EXPECT_EQ(told(3, 1'000).size(), 3U) << "few are told whole";
  EXPECT_GT(told(2, 1'000).front().size(), 1'000U);
  struct Many {
    int fields;
    std::size_t length;
  };
  for (const Many& many : {Many{20'000, 3}, Many{300, 2'000}, Many{1, 200'000}}) {
    std::size_t size = 0;
    const auto warnings = told(many.fields, many.length);
    for (const std::string& warning : warnings) size += warning.size();
    EXPECT_GT(size, 256U);
    EXPECT_LT(size, 8'192U) << many.fields;
    EXPECT_EQ(many.fields == 300, warnings.back().contains("left out"));
  }
}

TEST_F(Writes, AnyObjectMayHoldTheWordsOfAnEnd) {
  Post("/api/v1/namespaces", R"({"metadata":{"name":"odd","labels":{"deletionTimestamp":"x"}}})");
  EXPECT_EQ(Ask("POST", "/api/v1/namespaces/odd/configmaps", R"({"metadata":{"name":"m"}})").status,
            201);
}

// Whose a job is says the token and not the manifest.
TEST_F(Writes, AJobIsWhoseTokenSubmittedIt) {
  const std::string li = *tokens->Create({.name = "li", .namespaces = {"default"}});
  const auto user_of = [](const json::value& job) {
    const json::object& metadata = job.at("metadata").as_object();
    if (!metadata.contains("annotations")) return std::string();
    const json::object& annotations = metadata.at("annotations").as_object();
    const json::value* user = annotations.if_contains("pondage.dev/user");
    return user ? std::string(user->as_string()) : std::string();
  };
  const auto ask = [&](const char* method, const std::string& target, const std::string& body,
                       const std::string& token) {
    const std::string type =
        std::string(method) == "PATCH" ? "application/merge-patch+json" : "application/json";
    return Ask(method, target, body, type, "", token);
  };
  json::value job = json::parse(kJob);
  job.at("metadata").as_object()["annotations"] = {{"pondage.dev/user", "bo"}};
  const Response claimed = ask("POST", kJobs, json::serialize(job), li);
  ASSERT_EQ(claimed.status, 201) << claimed.body;
  EXPECT_EQ(user_of(json::parse(claimed.body)), "li");
  ASSERT_EQ(claimed.headers.size(), 1u);
  EXPECT_THAT(claimed.headers[0].second, HasSubstr("bo is ignored: the job is li's"));

  const std::string path = kJobs + "/j";
  for (const char* wish : {R"("bo")", R"("")", "null"}) {
    const std::string body = std::string(R"({"metadata":{"annotations":{"x":)") +
                             (*wish == 'n' ? R"("1")" : R"("2")") + R"(,"pondage.dev/user":)" +
                             wish + "}}}";
    EXPECT_EQ(user_of(Json(ask("PATCH", path, body, li))), "li") << wish;
  }
  const std::string moved = R"({"metadata":{"annotations":{"pondage.dev/user":"bo"}}})";
  EXPECT_EQ(user_of(Json(ask("PATCH", path, moved, ""))), "bo") << "an administrator may";
  EXPECT_EQ(user_of(Json(ask("PATCH", path, R"({"metadata":{"labels":{"a":"b"}}})", li))), "bo");

  job.at("metadata").as_object()["name"] = "k";
  EXPECT_EQ(user_of(Json(ask("POST", kJobs, json::serialize(job), ""))), "bo");
  job = json::parse(kJob);
  job.at("metadata").as_object()["name"] = "l";
  EXPECT_EQ(user_of(Json(ask("POST", kJobs, json::serialize(job), ""))), "admin");
}

// By whatever field it is named: what a job used is charged to one queue.
TEST_F(Writes, TheQueueOfAJobDoesNotChange) {
  Post(kJobs, kJob);
  const std::string path = kJobs + "/j";
  const std::string label = R"({"metadata":{"labels":{"kueue.x-k8s.io/queue-name":"lab"}}})";
  const std::string field = R"({"spec":{"runPolicy":{"schedulingPolicy":{"queue":"lab"}}}})";
  EXPECT_THAT(json::serialize(Patch(path, label, 422)), HasSubstr("immutable"));
  EXPECT_THAT(json::serialize(Patch(path, field, 422)), HasSubstr("immutable"));
  Patch(path, R"({"spec":{"runPolicy":{"schedulingPolicy":{"queue":"default"}}}})");
  Patch(path, label);
}

TEST_F(Writes, ClaimsAreBound) {
  const std::string claims = "/api/v1/namespaces/default/persistentvolumeclaims";
  const json::value claim = Post(claims, R"({"metadata":{"name":"c"},
    "spec":{"resources":{"requests":{"storage":"1Gi"}}},"status":{"phase":"Lost"}})");
  EXPECT_EQ(claim.at("status").at("phase"), "Bound");
  EXPECT_EQ(claim.at("status").at("capacity").at("storage"), "1Gi");
  Patch(claims + "/c", R"({"spec":{"accessModes":["ReadWriteMany"]}})", 422);
}

TEST_F(Writes, TfJobsAreJudgedWithAllErrors) {
  const json::value status = Post(kJobs, R"({"metadata":{"name":"0"},"spec":{}})", 422);
  EXPECT_EQ(status.at("reason"), "Invalid");
  EXPECT_EQ(status.at("details").at("kind"), "TFJob");
  EXPECT_THAT(std::string(status.at("message").as_string()),
              HasSubstr("spec.tfReplicaSpecs: Required value"));
  EXPECT_GE(status.at("details").at("causes").as_array().size(), 2U);
  admit_tfjob = [](const json::object&) -> base::Result<void> {
    return base::Fail(base::Kind::kInvalid, "PND-E001", "spec.x",
                      "no such environment; there are: a");
  };
  EXPECT_THAT(json::serialize(Post(kJobs, kJob, 422)), HasSubstr("there are: a (PND-E001)"));
  admit_tfjob = nullptr;
  Post(kJobs, kJob);
}

// As on a full disk: what would fill it further is refused, what there is can go.
TEST_F(Writes, WhatIsThereCanBeChangedAndDeletedWhenNothingNewIsTaken) {
  Post(kJobs, kJob);
  admit_new = []() -> base::Result<void> {
    return base::Fail(base::Kind::kUnavailable, "PND-S004", "", "the disk is full");
  };
  EXPECT_THAT(json::serialize(Post("/api/v1/namespaces", R"({"metadata":{"name":"new"}})", 503)),
              HasSubstr("the disk is full (PND-S004)"));
  Patch(kJobs + "/j", R"({"metadata":{"labels":{"a":"b"}}})");
  EXPECT_EQ(Ask("DELETE", kJobs + "/j").status, 200);
}

TEST_F(Writes, WhatOfAJobIsNotActedOnIsTold) {
  std::string job = kJob;
  job.insert(job.find("\"containers\""), R"("hostPID":true,)");
  const Response told = Ask("POST", kJobs, job);
  ASSERT_EQ(told.status, 201) << told.body;
  ASSERT_EQ(told.headers.size(), 1U);
  EXPECT_THAT(told.headers[0].second,
              HasSubstr("spec.tfReplicaSpecs[Worker].template.spec.hostPID: is not acted on here"));
}

TEST_F(Writes, ATypeThatIsSpelledTwiceIsRefused) {
  std::string job = kJob;
  job.insert(job.find("\"worker\""), R"("Worker":{"replicas":2},)");
  EXPECT_THAT(json::serialize(Post(kJobs, job, 422)), HasSubstr("Duplicate value: \\\"worker\\\""));
}

TEST_F(Writes, UnknownFieldsAreRefusedToldOrDropped) {
  const std::string odd = R"({"metadata":{"name":"m"},"foo":1,"data":{"a":"1"}})";
  const Response strict = Ask("POST", kMaps + "?fieldValidation=Strict", odd);
  EXPECT_EQ(strict.status, 400);
  EXPECT_THAT(strict.body, HasSubstr("strict decoding error: unknown field \\\"foo\\\""));
  Response told = Ask("POST", kMaps, odd);
  ASSERT_EQ(told.status, 201);
  ASSERT_EQ(told.headers.size(), 1U);
  EXPECT_EQ(told.headers[0].second, R"(299 - "unknown field \"foo\"")");
  EXPECT_FALSE(Json(std::move(told)).as_object().contains("foo"));
  const json::value refused = Patch(kMaps + "/m?fieldValidation=Strict", R"({"bar":1})", 422);
  EXPECT_EQ(refused.at("details").at("causes").at(0).at("field"), "patch");
  EXPECT_FALSE(
      Patch(kMaps + "/m?fieldValidation=Ignore", R"({"bar":1})").as_object().contains("bar"));
  EXPECT_EQ(Ask("POST", kMaps + "?fieldValidation=Maybe", odd).status, 422);
}

TEST_F(Writes, YamlBodiesAreTaken) {
  const Response made =
      Ask("POST", kMaps, "metadata: {name: m}\ndata: {a: 'x'}\n", "application/yaml");
  EXPECT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(Ask("POST", kMaps, "a: [", "application/yaml").status, 400);
  EXPECT_EQ(Ask("POST", kMaps, "x", "application/cbor").status, 415);
}

}  // namespace
}  // namespace pondage::api
