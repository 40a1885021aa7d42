#include "client/kubeconfig.h"

#include <gtest/gtest.h>

#include <map>

namespace pondage::client {
namespace {

constexpr const char* kConfig = R"(apiVersion: v1
kind: Config
current-context: pondage
clusters:
- name: other
  cluster: {server: "https://10.0.0.1:6443"}
- name: pondage
  cluster:
    server: https://127.0.0.1:7443
    certificate-authority-data: Y2EtcGVt
users:
- name: li
  user: {token: s3cret}
contexts:
- name: pondage
  context: {cluster: pondage, user: li, namespace: li}
)";

// Files by path, for a test.
struct Files {
  std::map<std::string, std::string> all;
  ReadFile Reader() const {
    return [this](const std::string& path) -> std::optional<std::string> {
      const auto found = all.find(path);
      return found == all.end() ? std::nullopt : std::optional(found->second);
    };
  }
};

TEST(Kubeconfig, WhatIsWrittenIsRead) {
  ServerPlace place = *ParseServerUrl("https://10.0.0.7:6443");
  place.ca_pem = "-----BEGIN CERTIFICATE-----\nabc+/=\n";
  const std::string text = KubeconfigText(place, "li", "nlp", "t0k: en #1");
  const auto read = ReadKubeconfig(text, "/", Files().Reader());
  ASSERT_TRUE(read) << read.error().message << text;
  EXPECT_EQ(read->Url(), place.Url());
  EXPECT_EQ(read->ca_pem, place.ca_pem);
  EXPECT_EQ(read->token, "t0k: en #1");
  EXPECT_EQ(read->space, "nlp");
  EXPECT_TRUE(NamesPondage(text));
}

TEST(Kubeconfig, TheCurrentContext) {
  const Files files;
  const auto place = ReadKubeconfig(kConfig, "/x", files.Reader());
  ASSERT_TRUE(place) << place.error().message;
  EXPECT_EQ(place->Url(), "https://127.0.0.1:7443");
  EXPECT_EQ(place->token, "s3cret");
  EXPECT_EQ(place->ca_pem, "ca-pem");
  EXPECT_EQ(place->space, "li");
}

TEST(Kubeconfig, FilesStandBesideIt) {
  const Files files{{{"/x/ca.crt", "CA"}, {"/x/token", "t0ken\n"}}};
  const auto place = ReadKubeconfig(R"(
current-context: c
clusters: [{name: a, cluster: {server: "https://h:1", certificate-authority: ca.crt}}]
users: [{name: u, user: {tokenFile: token}}]
contexts: [{name: c, context: {cluster: a, user: u}}]
)",
                                    "/x", files.Reader());
  ASSERT_TRUE(place) << place.error().message;
  EXPECT_EQ(place->ca_pem, "CA");
  EXPECT_EQ(place->token, "t0ken");
}

TEST(Kubeconfig, WhatIsWrongIsSaid) {
  const Files files;
  struct Row {
    const char *yaml, *says;
  };
  const Row rows[] = {
      {"", "not a mapping"},
      {"a: [", "not a usable kubeconfig"},
      {"a: 1", "no current-context"},
      {"current-context: x", "no context \"x\""},
      {"current-context: x\ncontexts: [{name: x, context: {cluster: y}}]", "no cluster \"y\""},
      {"current-context: x\ncontexts: [{name: x, context: {cluster: y}}]\nclusters: [{name: y, "
       "cluster: {server: \"ftp://h\"}}]",
       "not a server address"},
      {"current-context: x\ncontexts: [{name: x, context: {cluster: y}}]\nclusters: [{name: y, "
       "cluster: {server: \"https://h\", "
       "certificate-authority-data: \"!\"}}]",
       "not base64"}};
  for (const Row& row : rows) {
    const auto place = ReadKubeconfig(row.yaml, "/", files.Reader());
    ASSERT_FALSE(place) << row.yaml;
    EXPECT_NE(place.error().message.find(row.says), std::string::npos) << place.error().message;
  }
}

TEST(Kubeconfig, Addresses) {
  EXPECT_EQ(ParseServerUrl("https://h")->Url(), "https://h:443");
  EXPECT_EQ(ParseServerUrl("https://[::1]:7443/")->Url(), "https://[::1]:7443");
  EXPECT_EQ(ParseServerUrl("http://h:80")->tls, false);
  EXPECT_EQ(ParseServerUrl("h:7443")->Url(), "https://h:7443");
  for (const char* bad : {"", "https://", "https://h/path", "https://h:x",
                          "https://h:", "https://[::1", "ftp://h", "https://u@h"}) {
    EXPECT_FALSE(ParseServerUrl(bad)) << bad;
  }
}

TEST(FindServer, InOrder) {
  terminal::Surroundings around;
  around.environment = {{"HOME", "/u/li"}, {"KUBECONFIG", "/none:/k"}};
  Files files{{{"/u/li/.config/pondage/server", "/data/kubeconfig\n"},
               {"/data/kubeconfig", kConfig},
               {"/k", kConfig}}};
  const auto found = [&](const WhereFlags& flags) {
    return FindServer(flags, around, files.Reader());
  };

  EXPECT_EQ(found({})->origin, "KUBECONFIG -> /k");
  // A kubeconfig of another cluster is not ours to use.
  std::string foreign = kConfig;
  foreign.replace(foreign.find("current-context: pondage"), 24, "current-context: prod");
  foreign += "- name: prod\n  context: {cluster: other, user: li}\n";
  files.all["/k"] = foreign;
  EXPECT_EQ(found({})->origin, "/u/li/.config/pondage/server -> /data/kubeconfig");

  around.environment["PONDAGE_TOKEN"] = "another";
  EXPECT_EQ(found({})->token, "another") << "of the server that the pointer names";
  files.all["/k"] = kConfig;
  EXPECT_EQ(found({})->token, "another") << "and of the one that KUBECONFIG names";
  EXPECT_EQ(found({"", "/data/kubeconfig"})->token, "s3cret") << "a file that is named has its own";

  around.environment["PONDAGE_SERVER"] = "https://gpu01:7443";
  around.environment["PONDAGE_TOKEN"] = "mine";
  EXPECT_EQ(found({})->Url(), "https://gpu01:7443");
  EXPECT_EQ(found({})->token, "mine");
  EXPECT_EQ(found({"https://gpu02:1", ""})->Url(), "https://gpu02:1");
  EXPECT_EQ(found({"", "/data/kubeconfig"})->origin, "--kubeconfig -> /data/kubeconfig");

  // Its own server's address alone is enough: token and CA come from the pointer's kubeconfig.
  around.environment.erase("PONDAGE_TOKEN");
  EXPECT_EQ(found({"https://127.0.0.1:7443", ""})->token, "s3cret");
  EXPECT_EQ(found({"https://gpu02:7443", ""})->token, "")
      << "a token is not shown to another server";
}

TEST(FindServer, NobodyIsKnown) {
  terminal::Surroundings around;
  around.environment = {{"HOME", "/u/li"}};
  const Files files;
  const auto place = FindServer({}, around, files.Reader());
  ASSERT_FALSE(place);
  EXPECT_EQ(place.error().id, "PND-C001");
  EXPECT_NE(place.error().message.find("/u/li/.config/pondage/server"), std::string::npos);
}

}  // namespace
}  // namespace pondage::client
