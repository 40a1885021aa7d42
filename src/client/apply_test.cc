#include "client/apply.h"

#include <gtest/gtest.h>

#include "client/fake_server_test.h"

namespace pondage::client {
namespace {

// A server that holds one object (or none) and takes every change.
struct Once {
  std::string live;
  FakeServer server{[this](const Asked& asked) {
    if (asked.method == "GET" && live.empty()) return Said{404, R"({"message":"none"})"};
    return Said{200, asked.method == "GET" ? live : "{}"};
  }};
  base::Result<Applied> Apply(const char* manifest, bool dry_run = false) {
    Client client(*ParseServerUrl(server.url()), std::chrono::seconds(5));
    return ApplyObject(client, json::parse(manifest).as_object(), "ml", dry_run);
  }
};

constexpr const char* kManifest =
    R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"x":"1"}})";

TEST(Apply, WhatIsMissingIsMadeAndRemembersItsManifest) {
  Once pool;
  const auto applied = pool.Apply(kManifest, true);
  ASSERT_TRUE(applied) << applied.error().message;
  EXPECT_STREQ(applied->did, "created");
  EXPECT_EQ(applied->what, "configmap/a");
  const auto asked = pool.server.asked();
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_EQ(asked[1].method, "POST");
  EXPECT_EQ(asked[1].target, "/api/v1/namespaces/ml/configmaps?dryRun=All");
  const json::value sent = json::parse(asked[1].body);
  EXPECT_EQ(Text(sent, {"metadata", "annotations", kLastApplied}),
            json::serialize(json::parse(kManifest)) + "\n");
}

TEST(Apply, TheSameAgainChangesNothing) {
  Once pool{R"({"apiVersion":"v1","kind":"ConfigMap",
                "metadata":{"name":"a","uid":"u","annotations":{"other":"kept"}},"data":{"x":"1"}})"};
  const auto applied = pool.Apply(kManifest);
  ASSERT_TRUE(applied) << applied.error().message;
  EXPECT_STREQ(applied->did, "unchanged");
  EXPECT_EQ(pool.server.asked().size(), 1u);
}

// Only what was applied before is taken away; what others wrote stays.
TEST(Apply, AFieldTakenOutOfTheFileIsTakenOutOfTheObject) {
  json::object live = json::parse(kManifest).as_object();
  live["data"] = json::object{{"x", "0"}, {"mine", "1"}, {"theirs", "2"}};
  live["metadata"].as_object()["annotations"] =
      json::object{{kLastApplied, R"({"data":{"x":"0","mine":"1"}})"}};
  Once pool{json::serialize(live)};
  const auto applied = pool.Apply(kManifest);
  ASSERT_TRUE(applied) << applied.error().message;
  EXPECT_STREQ(applied->did, "changed");
  const auto asked = pool.server.asked();
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_EQ(asked[1].content_type, "application/merge-patch+json");
  const json::value patch = json::parse(asked[1].body);
  EXPECT_EQ(patch.at("data"), json::value({{"x", "1"}, {"mine", nullptr}}));
}

}  // namespace
}  // namespace pondage::client
