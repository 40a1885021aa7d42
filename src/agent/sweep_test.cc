#include "agent/sweep.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <filesystem>

#include "base/test_directory.h"
#include "manifest/annotations.h"
#include "manifest/object.h"
#include "manifest/pod.h"
#include "manifest/tfjob.h"
#include "port/memory_store.h"

namespace pondage::agent {
namespace {

namespace fs = std::filesystem;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class SweepTest : public ::testing::Test {
 protected:
  void Put(const std::string& kind, const std::string& name, const std::string& uid,
           const std::string& body) {
    port::Batch batch;
    batch.changes.push_back({.key = {kind, "ml", name}, .uid = uid, .body = body});
    ASSERT_TRUE(store_.Commit(batch));
  }

  // A job whose only worker runs for the second time.
  void PutJob(const std::string& name, const fs::path& work_dir) {
    job::Status status;
    status.replicas.push_back({.role = base::Role::kWorker, .index = 0, .incarnation = 2});
    const boost::json::object job{
        {"apiVersion", "kubeflow.org/v1"},
        {"kind", "TFJob"},
        {"metadata",
         {{"name", name},
          {"namespace", "ml"},
          {"uid", "uid-of-" + name},
          {"annotations", {{std::string(manifest::kWorkDir), work_dir.string()}}}}},
        {"spec",
         {{"tfReplicaSpecs",
           {{"Worker",
             {{"replicas", 1},
              {"template",
               {{"spec",
                 {{"containers",
                   boost::json::array{{{"name", "tensorflow"}, {"image", "x"}}}}}}}}}}}}}},
        {"status", manifest::EncodeStatus(status)}};
    Put("tfjobs.kubeflow.org", name, "uid-of-" + name, boost::json::serialize(job));
  }

  static std::string UidOf(const std::string& job, int incarnation) {
    job::Identity identity;
    identity.name = job;
    identity.space = "ml";
    identity.uid = "uid-of-" + job;
    return manifest::PodUid(identity, base::Role::kWorker, 0, incarnation);
  }

  fs::path MakeCopy(const std::string& name, std::chrono::hours age) {
    const fs::path copy = data_ / "work" / name;
    fs::create_directories(copy);
    fs::last_write_time(copy, fs::file_time_type::clock::now() - age);
    return copy;
  }

  base::Result<void> Pass() {
    erased_.clear();
    return Sweep(data_, store_, [this](const std::string& uid) { erased_.push_back(uid); }).Pass();
  }

  const base::TestDirectory place_;
  const fs::path data_ = place_.path();
  port::MemoryStore store_;
  std::vector<std::string> erased_;
};

TEST_F(SweepTest, WhatNoStoredObjectOwnsGoes) {
  const fs::path owned = MakeCopy("ml.here-abc", std::chrono::hours(48));
  const fs::path orphan = MakeCopy("ml.gone-abc", std::chrono::hours(48));
  const fs::path fresh = MakeCopy("ml.coming-abc", std::chrono::hours(0));
  PutJob("here", owned / "deep");
  Put("pods", "alone", "uid-of-a-pod", "{}");
  for (const std::string& uid : {UidOf("here", 1), UidOf("here", 2), UidOf("here", 3),
                                 UidOf("gone", 1), std::string("uid-of-a-pod")}) {
    fs::create_directories(data_ / "replicas" / uid);
  }
  fs::create_directories(data_ / "volumes/secrets-alone");
  fs::create_directories(data_ / "volumes" / UidOf("here", 2));
  fs::create_directories(data_ / "persistent/some-claim");
  ASSERT_TRUE(Pass());
  EXPECT_THAT(erased_, UnorderedElementsAre(UidOf("here", 3), UidOf("gone", 1), "secrets-alone"));
  EXPECT_TRUE(fs::exists(owned));
  EXPECT_FALSE(fs::exists(orphan));
  EXPECT_TRUE(fs::exists(fresh)) << "its job is still to be submitted";
  EXPECT_TRUE(fs::exists(data_ / "persistent/some-claim"));
}

TEST_F(SweepTest, WhatCannotBeReadMayOwnAnything) {
  MakeCopy("ml.gone-abc", std::chrono::hours(48));
  fs::create_directories(data_ / "replicas/nobodys");
  Put("tfjobs.kubeflow.org", "broken", "uid-of-broken", "{]");
  EXPECT_FALSE(Pass());
  EXPECT_THAT(erased_, IsEmpty());
  EXPECT_TRUE(fs::exists(data_ / "work/ml.gone-abc"));
}

TEST_F(SweepTest, OwnersAreFoundHoweverManyThereAre) {
  for (int i = 0; i < 1'203; ++i) {
    const std::string name = fmt::format("j{:04}", i);
    PutJob(name, "");
    if (i % 200 == 2) fs::create_directories(data_ / "replicas" / UidOf(name, 1));
  }
  ASSERT_TRUE(Pass());
  EXPECT_THAT(erased_, IsEmpty());
}

}  // namespace
}  // namespace pondage::agent
