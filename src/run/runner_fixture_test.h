// For tests: a real ShimRunner in a directory of its own, and the readings it gave.
//
// One test thread; the sink may be called from any. Nothing is left running when a test ends.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "base/test_directory.h"
#include "port/clock.h"
#include "run/shim_runner.h"

namespace pondage::run {

class WallClock : public port::Clock {
 public:
  base::Instant Now() const override;
};

class RunnerTest : public ::testing::Test {
 protected:
  explicit RunnerTest(const std::string& below = "/tmp");
  ~RunnerTest() override;

  // A new server on the same directory; the one before is gone.
  void StartServer();
  void EndServer() { runner_.reset(); }

  void Start(const port::Launch& launch) {
    runner_->Start(launch.uid, launch.start, [launch] { return launch; });
  }

  static port::Launch Program(const std::string& uid, std::vector<std::string> argv);
  static port::Launch Shell(const std::string& uid, const std::string& script);

  // The n-th reading of that kind about `uid` (from 0). Fails the test after a generous time.
  template <class T>
  T Await(const std::string& uid, std::size_t n = 0) {
    T found;
    AwaitThat([&] {
      std::size_t seen = 0;
      for (const port::Reading& reading : readings_) {
        const auto* one = std::get_if<T>(&reading);
        if (one == nullptr || one->uid != uid || seen++ != n) continue;
        found = *one;
        return true;
      }
      return false;
    });
    return found;
  }
  template <class T>
  std::size_t Count(const std::string& uid) {
    const std::lock_guard lock(mutex_);
    std::size_t count = 0;
    for (const port::Reading& reading : readings_) {
      const auto* one = std::get_if<T>(&reading);
      if (one != nullptr && one->uid == uid) ++count;
    }
    return count;
  }
  void AwaitThat(const std::function<bool()>& condition);
  // Polls something outside, such as a file.
  static void AwaitOutside(const std::function<bool()>& condition);

  std::string Log(const std::string& uid, int start = 0) const;
  // Processes of that replica that are alive, by the mark in their environment.
  static std::vector<pid_t> Alive(const std::string& uid);
  // Its shim, once there is one.
  pid_t ShimOf(const std::string& uid) const;

  WallClock clock_;
  const base::TestDirectory directory_;
  const std::string data_;
  RunnerSettings settings_;  // of the next StartServer()
  CgroupPlace place_;        // ... too
  std::unique_ptr<ShimRunner> runner_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<port::Reading> readings_;
  std::vector<std::string> uids_;
};

std::string ReadText(const std::string& path);
void Touch(const std::string& path);

}  // namespace pondage::run
