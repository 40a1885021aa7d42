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

TEST_F(Kubectl, WatchesAsTables) {
  server.Write("map.yaml", kConfigMap);
  // The watch ends by itself with the third row that it prints.
  const std::string out = server.Good(
      "kubectl get cm -w > rows & watcher=$!; "
      "until kubectl apply -f map.yaml >/dev/null && kubectl label cm settings n=$RANDOM "
      "--overwrite "
      ">/dev/null && [ $(wc -l < rows) -ge 3 ]; do :; done; kill $watcher; cat rows");
  EXPECT_THAT(out, ContainsRegex("settings +2 "));
}

}  // namespace
}  // namespace pondage::api
