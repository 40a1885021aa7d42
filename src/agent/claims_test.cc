#include "agent/claims.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "base/test_directory.h"
#include "port/memory_store.h"

namespace pondage::agent {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ClaimsTest : public ::testing::Test {
 protected:
  void Put(const std::string& name, const std::string& uid) {
    port::Batch batch;
    batch.changes.push_back(
        {.key = {"persistentvolumeclaims", "ml", name}, .uid = uid, .body = "{}"});
    ASSERT_TRUE(store_.Commit(batch));
  }
  void PutFile(const fs::path& path) {
    fs::create_directories((data_ / path).parent_path());
    std::ofstream(data_ / path) << "kept";
  }

  const base::TestDirectory place_;
  const fs::path data_ = place_.path();
  port::MemoryStore store_;
};

TEST_F(ClaimsTest, DataThatIsDroppedIsFoundNoMoreAndNobodyElsesGoes) {
  PutFile("persistent/one/file");
  PutFile("persistent/two/file");
  const Claims claims(data_);
  claims.Drop("one");
  EXPECT_FALSE(fs::exists(data_ / "persistent/one"));
  for (const char* odd : {"", ".", "..", "two/file", "../persistent/two", "-"}) claims.Drop(odd);
  claims.Drop("never-made");
  EXPECT_TRUE(fs::exists(data_ / "persistent/two/file"));
  for (int i = 0; i < 10'000 && fs::exists(data_ / "persistent/.gone-one"); ++i) usleep(1000);
  EXPECT_FALSE(fs::exists(data_ / "persistent/.gone-one"));
}

TEST_F(ClaimsTest, WhatWasKeptByNameBecomesTheClaimsOfThatName) {
  PutFile("claims/ml/results/run/file");
  PutFile("claims/ml/lost/file");
  PutFile("claims/ml/new/old");
  PutFile("persistent/uid-of-new/file");
  Put("results", "uid-of-results");
  Put("new", "uid-of-new");
  const Claims claims(data_);
  EXPECT_THAT(claims.TakeOver(store_),
              ElementsAre(HasSubstr("claims/ml/lost holds what jobs kept under the claim lost of "
                                    "namespace ml, which does not exist"),
                          HasSubstr("whose data lies elsewhere by now")));
  EXPECT_TRUE(fs::exists(data_ / "persistent/uid-of-results/run/file"));
  EXPECT_FALSE(fs::exists(data_ / "claims/ml/results"));
  EXPECT_TRUE(fs::exists(data_ / "claims/ml/lost/file"));
  EXPECT_TRUE(fs::exists(data_ / "claims/ml/new/old"));

  Put("lost", "uid-of-lost");
  fs::remove_all(data_ / "claims/ml/new");
  EXPECT_THAT(claims.TakeOver(store_), IsEmpty());
  EXPECT_TRUE(fs::exists(data_ / "persistent/uid-of-lost/file"));
  EXPECT_FALSE(fs::exists(data_ / "claims"));
  struct stat status{};
  ASSERT_EQ(stat((data_ / "persistent").c_str(), &status), 0);
}

TEST_F(ClaimsTest, DataOfNoClaimIsNamedAndLeftAlone) {
  for (int i = 0; i < 603; ++i) Put(fmt::format("c{}", i), fmt::format("uid-{}", i));
  PutFile("persistent/uid-602/file");
  PutFile("persistent/nobodys/file");
  EXPECT_THAT(Claims(data_).TakeOver(store_),
              ElementsAre(HasSubstr("persistent/nobodys is the data of no")));
  EXPECT_TRUE(fs::exists(data_ / "persistent/nobodys/file"));
  EXPECT_TRUE(fs::exists(data_ / "persistent/uid-602/file"));
}

}  // namespace
}  // namespace pondage::agent
