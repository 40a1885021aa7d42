// What the server does beside Kubernetes' API, and that slow work holds nobody up.
#include "cmd/own_views.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>

#include "base/test_directory.h"

namespace pondage::cmd {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// An answer that comes when it comes.
class Answer {
 public:
  api::Reply Reply() {
    return [this](api::Response response) {
      const std::lock_guard lock(mutex_);
      EXPECT_FALSE(response_) << "answered twice";
      response_ = std::move(response);
      came_.notify_all();
    };
  }
  bool Came() {
    const std::lock_guard lock(mutex_);
    return response_.has_value();
  }
  const api::Response& Await() {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(
        came_.wait_for(lock, std::chrono::minutes(1), [&] { return response_.has_value(); }));
    return *response_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::optional<api::Response> response_;
};

class OwnViewsTest : public ::testing::Test {
 protected:
  OwnViewsTest() {
    store_ = *store::SqliteStore::Open({.path = (folder_ / "store").string()});
    views_ = std::make_unique<OwnViews>(folder_.string(), *store_,
                                        [] { return std::vector<std::string>(); });
  }
  ~OwnViewsTest() override {
    views_.reset();
    store_.reset();
  }

  // A Python that says what it is only when LetGo() was called.
  std::string SlowPython() {
    const fs::path prefix = folder_ / "slow";
    fs::create_directories(prefix / "bin");
    const std::string go = (folder_ / "go").string();
    std::ofstream(prefix / "bin/python") << "#!/bin/sh\n: > " << go << "-begun\nwhile [ ! -e " << go
                                         << " ]; do /bin/sleep 0.01; done\n"
                                         << "echo '{\"python\": \"3.11.0\"}'\n";
    fs::permissions(prefix / "bin/python", fs::perms::owner_all);
    return prefix.string();
  }
  void AwaitFirst() {
    const fs::path begun = folder_ / "go-begun";
    for (int i = 0; i < 6'000 && !fs::exists(begun); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_TRUE(fs::exists(begun));
  }
  void LetGo() { std::ofstream(folder_ / "go") << "\n"; }

  bool Ask(const std::string& method, const std::string& path, const std::string& body,
           Answer& answer) {
    api::Request request;
    request.method = method;
    request.path = path;
    request.body = body;
    return views_->Answer(request, answer.Reply());
  }
  bool AddSlow(const std::string& image, const std::string& prefix, Answer& answer) {
    return Ask("POST", "/pondage/v1/environments",
               R"({"image":")" + image + R"(","path":")" + prefix + "\"}", answer);
  }

  const base::TestDirectory place_;
  const fs::path folder_ = place_.path();
  std::unique_ptr<store::SqliteStore> store_;
  std::unique_ptr<OwnViews> views_;
};

TEST_F(OwnViewsTest, ASlowProbeHoldsUpNothingElse) {
  const std::string prefix = SlowPython();
  Answer slow, info, list, backup, elsewhere;
  EXPECT_TRUE(AddSlow("slow", prefix, slow));
  EXPECT_TRUE(Ask("GET", "/pondage/v1/info", "", info));
  EXPECT_TRUE(info.Came());
  EXPECT_TRUE(Ask("GET", "/pondage/v1/environments", "", list));
  EXPECT_TRUE(list.Came());
  EXPECT_TRUE(Ask("POST", "/pondage/v1/backup",
                  R"({"path":")" + (folder_ / "copy").string() + "\"}", backup));
  EXPECT_EQ(backup.Await().status, 200) << backup.Await().body;
  EXPECT_FALSE(Ask("GET", "/pondage/v1/gpus", "", elsewhere));
  EXPECT_FALSE(slow.Came());
  LetGo();
  EXPECT_EQ(slow.Await().status, 201) << slow.Await().body;
  EXPECT_THAT(slow.Await().body, HasSubstr("3.11.0"));
}

TEST_F(OwnViewsTest, SoManyWaitAndNoMore) {
  const std::string prefix = SlowPython();
  // One under way, kWaiting behind it; whether the first is under way yet when the last one comes
  // is not known.
  std::vector<Answer> answers(OwnViews::kWaiting + 3);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    EXPECT_TRUE(AddSlow("slow" + std::to_string(i), prefix, answers[i]));
  }
  EXPECT_EQ(answers.back().Await().status, 503);
  EXPECT_THAT(answers.back().Await().body, HasSubstr("PND-A032"));
  std::size_t refused = 0;
  for (Answer& answer : answers) refused += answer.Came();
  EXPECT_LE(refused, 3U);
  LetGo();
  for (Answer& answer : answers) EXPECT_THAT(answer.Await().status, testing::AnyOf(201, 503));
}

TEST_F(OwnViewsTest, WhatWaitsIsRefusedAtTheEnd) {
  const std::string prefix = SlowPython();
  std::vector<Answer> answers(3);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    EXPECT_TRUE(AddSlow("slow" + std::to_string(i), prefix, answers[i]));
  }
  AwaitFirst();
  std::thread ends([&] { views_->End(); });
  // It has begun when new work is refused for it; what comes before waits, or finds the line full.
  std::deque<Answer> late;
  do {
    EXPECT_TRUE(AddSlow("late", prefix, late.emplace_back()));
  } while (!late.back().Came() || late.back().Await().body.find("PND-A029") == std::string::npos);
  LetGo();
  ends.join();
  EXPECT_EQ(answers[0].Await().status, 201);
  for (const std::size_t waiting : {1, 2}) {
    EXPECT_THAT(answers[waiting].Await().body, HasSubstr("PND-A029"));
  }
  for (Answer& answer : late) EXPECT_EQ(answer.Await().status, 503);
}

}  // namespace
}  // namespace pondage::cmd
