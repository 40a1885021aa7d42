// Certificates, tokens and the files they lie in.
#include "api/pki.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "api/private_file.h"
#include "api/tokens.h"
#include "base/test_directory.h"

namespace pondage::api {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr base::Instant kNow{1'800'000'000'000};
constexpr std::int64_t kDayMs = 86'400'000;

TEST(Pki, CertificatesAreRenewedInTime) {
  const KeyPair authority = *MakeAuthority(kNow);
  const KeyPair own = *MakeServerCertificate(authority, {"10.1.2.3", "gpu.lab"}, kNow);
  const auto needs = [&](const KeyPair& by, const std::vector<std::string>& names,
                         std::int64_t days) {
    return *NeedsRenewal(own, by, names, {kNow.unix_ms + days * kDayMs});
  };
  EXPECT_FALSE(needs(authority, {"10.1.2.3", "gpu.lab"}, 0));
  EXPECT_FALSE(needs(authority, {}, 334));
  EXPECT_TRUE(needs(authority, {}, 336));
  EXPECT_TRUE(needs(authority, {"10.9.9.9"}, 0));
  EXPECT_TRUE(needs(authority, {"other.lab"}, 0));
  EXPECT_FALSE(needs(authority, {"0.0.0.0"}, 0)) << "every address is no name";
  EXPECT_TRUE(needs(*MakeAuthority(kNow), {}, 0)) << "another authority";
  const KeyPair other = *MakeServerCertificate(authority, {"10.1.2.3", "gpu.lab"}, kNow);
  for (const KeyPair& torn :
       {KeyPair{own.certificate_pem, other.key_pem}, KeyPair{other.certificate_pem, own.key_pem},
        KeyPair{"rubbish", own.key_pem}, KeyPair{own.certificate_pem, ""}}) {
    EXPECT_TRUE(*NeedsRenewal(torn, authority, {}, kNow)) << "a write that ended in between";
  }
  EXPECT_FALSE(
      MakeServerCertificate({authority.certificate_pem, MakeAuthority(kNow)->key_pem}, {}, kNow))
      << "nobody would accept what it signs";
  EXPECT_FALSE(NeedsRenewal(own, {"rubbish", ""}, {}, kNow));
  EXPECT_FALSE(MakeServerCertificate({"rubbish", "rubbish"}, {}, kNow));
}

TEST(Pki, KubeconfigNamesPondage) {
  const std::string text = Kubeconfig("https://127.0.0.1:1", "ca", "secret");
  EXPECT_THAT(text, HasSubstr("server: https://127.0.0.1:1"));
  EXPECT_THAT(text, HasSubstr("certificate-authority-data: Y2E="));
  EXPECT_THAT(text, HasSubstr("current-context: pondage"));
}

class Files : public ::testing::Test {
 protected:
  const base::TestDirectory place;
  const std::filesystem::path folder = place.path();
};

TEST_F(Files, TokensAreKeptHashedAndPrivate) {
  const std::string path = (folder / "tokens").string();
  std::string secret;
  {
    const auto store = *TokenStore::Open(path);
    secret = *store->Create({.name = "alice", .namespaces = {"team"}, .verbs = {"get"}});
    EXPECT_EQ(store->Create({.name = "alice", .namespaces = {"x"}}).error().kind,
              base::Kind::kAlreadyExists);
    EXPECT_EQ(store->Create({.name = "bob"}).error().kind, base::Kind::kInvalid);
    EXPECT_EQ(store->Create({.name = "b b", .admin = true}).error().kind, base::Kind::kInvalid);
  }
  EXPECT_THAT(*ReadFile(path), Not(HasSubstr(secret)));
  EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms(0600));
  const auto again = *TokenStore::Open(path);
  const auto identity = again->Find(secret);
  ASSERT_TRUE(identity);
  EXPECT_EQ(identity->name, "alice");
  EXPECT_EQ(identity->namespaces, std::vector<std::string>{"team"});
  EXPECT_EQ(identity->verbs, std::vector<std::string>{"get"});
  EXPECT_FALSE(identity->admin);
  EXPECT_FALSE(again->Find(secret + "x"));
  ASSERT_TRUE(again->Revoke("alice"));
  EXPECT_FALSE(again->Find(secret));
  EXPECT_EQ(again->Revoke("alice").error().kind, base::Kind::kNotFound);
  EXPECT_FALSE((*TokenStore::Open(path))->Find(secret));
}

TEST_F(Files, BrokenTokenFilesAreRefused) {
  const std::string path = (folder / "tokens").string();
  for (const char* text : {"", "{", "[]", R"({"tokens":[{"name":1}]})"}) {
    ASSERT_TRUE(WritePrivateFile(path, text));
    const auto store = TokenStore::Open(path);
    ASSERT_FALSE(store) << text;
    EXPECT_EQ(store.error().kind, base::Kind::kCorrupt);
  }
}

TEST_F(Files, AFailedWriteLeavesTheOldFile) {
  const std::string path = (folder / "file").string();
  ASSERT_TRUE(WritePrivateFile(path, "old"));
  std::filesystem::create_directory(path + ".new");  // in the way of the new one
  EXPECT_FALSE(WritePrivateFile(path, "new"));
  EXPECT_EQ(*ReadFile(path), "old");
}

}  // namespace
}  // namespace pondage::api
