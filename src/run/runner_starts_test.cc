// Starts whose preparing hangs, as a file system does whose server is away.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <variant>

#include "run/runner_fixture_test.h"
#include "run/touching.h"

namespace pondage::run {
namespace {

using port::Delayed;
using port::Exited;
using port::NotStarted;
using port::Started;

// A place where threads are held until it opens.
class Latch {
 public:
  void Wait() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    opened_.wait(lock, [this] { return open_; });
    --waiting_;
  }
  void Open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    opened_.notify_all();
  }
  int waiting() {
    const std::lock_guard lock(mutex_);
    return waiting_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = false;
  int waiting_ = 0;
};

class HangingStarts : public RunnerTest {
 protected:
  ~HangingStarts() override { latch_->Open(); }

  void StartHanging(const port::Launch& launch) {
    runner_->Start(launch.uid, launch.start,
                   [launch, latch = latch_]() -> base::Result<port::Launch> {
                     const Touching touching("/mnt/away");
                     latch->Wait();
                     return launch;
                   });
  }
  void AwaitHanging(int count) {
    AwaitOutside([&] { return latch_->waiting() == count; });
  }
  // A fresh server with other settings.
  void Restart() {
    EndServer();
    StartServer();
  }

  const std::shared_ptr<Latch> latch_ = std::make_shared<Latch>();
};

TEST_F(HangingStarts, HoldUpNobodyElse) {
  constexpr int kMany = 20;  // more than work at once
  for (int i = 0; i < kMany; ++i) StartHanging(Shell("hangs-" + std::to_string(i), "exit 4"));
  for (int i = 0; i < 10; ++i) {
    const std::string uid = "lives-" + std::to_string(i);
    Start(Shell(uid, "exit 3"));
    EXPECT_EQ(Await<Exited>(uid).code, 3);
  }
  latch_->Open();
  for (int i = 0; i < kMany; ++i) {
    EXPECT_EQ(Await<Exited>("hangs-" + std::to_string(i)).code, 4);
  }
}

TEST_F(HangingStarts, AreTakenBackAtOnce) {
  for (const bool kill : {false, true}) {
    const std::string uid = kill ? "killed" : "stopped";
    StartHanging(Shell(uid, "touch " + data_ + "/ran"));
    AwaitHanging(kill ? 2 : 1);
    kill ? runner_->Kill(uid) : runner_->Stop(uid, base::Millis{60'000});
    EXPECT_EQ(Await<NotStarted>(uid).message, "it was stopped before it started");
  }
  EXPECT_EQ(latch_->waiting(), 2) << "told while they still hang";
  Start(Shell("killed", "touch " + data_ + "/ran"));  // by who has not heard of it yet
  latch_->Open();
  AwaitHanging(0);
  Start(Shell("after", "true"));
  Await<Exited>("after");
  for (const char* uid : {"killed", "stopped"}) EXPECT_EQ(Count<Started>(uid), 0u);
  EXPECT_FALSE(std::filesystem::exists(data_ + "/ran"));
}

// Else a file system that hangs takes a thread for each start that was ordered and taken back.
TEST_F(HangingStarts, AreNotMadeWhenTheyAreTakenBackBeforeTheirTurn) {
  settings_.hanging_at_most = 1;
  Restart();
  StartHanging(Shell("hangs", "exit 4"));
  AwaitHanging(1);
  const auto made = std::make_shared<std::atomic<int>>(0);
  const auto order = [&](const std::string& uid, int start) {
    runner_->Start(uid, start, [=]() -> base::Result<port::Launch> {
      ++*made;
      return Shell(uid, "true");
    });
  };
  order("killed", 0);
  runner_->Kill("killed");
  Await<NotStarted>("killed");
  order("replaced", 0);
  order("replaced", 1);
  order("last", 0);
  runner_->Kill("last");
  Await<NotStarted>("last");  // those before it were taken
  latch_->Open();
  EXPECT_EQ(Await<Exited>("hangs").code, 4);
  EXPECT_EQ(Await<Exited>("replaced").start, 1);
  EXPECT_EQ(*made, 1);
}

TEST_F(HangingStarts, LeaveNothingBehindWhenTheyAreErased) {
  const std::string directory = data_ + "/volumes/erased/data";
  const auto made = std::make_shared<std::atomic<bool>>(false);
  runner_->Start("erased", 0, [directory, made, latch = latch_]() -> base::Result<port::Launch> {
    latch->Wait();
    *made = std::filesystem::create_directories(directory);  // as late as can be
    return Shell("erased", "true");
  });
  AwaitHanging(1);
  runner_->Kill("erased");
  Await<NotStarted>("erased");
  runner_->Erase("erased");
  Start(Shell("after", "true"));
  Await<Exited>("after");  // the order to erase was taken
  latch_->Open();
  AwaitOutside([&] { return made->load(); });
  AwaitOutside([&] {
    return !std::filesystem::exists(data_ + "/volumes/erased") &&
           !std::filesystem::exists(data_ + "/replicas/erased");
  });
}

TEST_F(HangingStarts, OneReplicaIsPreparedOnceAtATimeAndItsLastStartCounts) {
  const auto at_once = std::make_shared<std::atomic<int>>(0);
  const auto most = std::make_shared<std::atomic<int>>(0);
  for (int start = 0; start < 3; ++start) {
    runner_->Start("again", start,
                   [at_once, most, start, latch = latch_]() -> base::Result<port::Launch> {
                     *most = std::max<int>(*most, ++*at_once);
                     latch->Wait();
                     --*at_once;
                     return Shell("again", "exit " + std::to_string(start));
                   });
    AwaitHanging(1);
    if (start < 2) {
      runner_->Kill("again");
      EXPECT_EQ(Await<NotStarted>("again", static_cast<std::size_t>(start)).start, start);
    }
  }
  latch_->Open();
  EXPECT_EQ(Await<Exited>("again").code, 2);
  EXPECT_EQ(*most, 1);
}

TEST_F(HangingStarts, AreToldOfAndGivenUp) {
  settings_.tell_after_ms = 20;
  settings_.give_up_after_ms = 300;
  Restart();
  StartHanging(Shell("given-up", "true"));
  EXPECT_EQ(Await<Delayed>("given-up").message, "/mnt/away does not answer");
  const auto end = Await<NotStarted>("given-up");
  EXPECT_EQ(end.id, "PND-R009");
  EXPECT_THAT(end.message, ::testing::HasSubstr("/mnt/away has not answered"));
  EXPECT_EQ(Count<Delayed>("given-up"), 1u);
  EXPECT_EQ(latch_->waiting(), 1);
}

// A start holds its GPUs from its order on, whoever's thread it is that hangs.
TEST_F(HangingStarts, BehindAHangingOneAreToldOfAndGivenUp) {
  settings_.tell_after_ms = 20;
  settings_.give_up_after_ms = 300;
  settings_.hanging_at_most = 2;
  Restart();
  const auto await_end = [&](const std::string& uid, int start, const std::string& what) {
    EXPECT_THAT(Await<NotStarted>(uid, static_cast<std::size_t>(start)).message,
                ::testing::HasSubstr(what + " has not answered"));
    const std::lock_guard lock(mutex_);
    const auto told = std::ranges::count_if(readings_, [&](const port::Reading& reading) {
      const auto* const delayed = std::get_if<Delayed>(&reading);
      return delayed != nullptr && delayed->uid == uid && delayed->start == start &&
             delayed->message == what + " does not answer";
    });
    EXPECT_EQ(told, 1) << uid << " " << start;
  };
  auto again = Shell("again", "touch " + data_ + "/ran");
  for (; again.start < 3; ++again.start) {  // each behind the first
    StartHanging(again);
    AwaitHanging(1);
    await_end("again", again.start, "/mnt/away");
  }
  StartHanging(Shell("other", "true"));
  AwaitHanging(2);  // all threads that there may be
  StartHanging(Shell("queued", "touch " + data_ + "/ran"));
  await_end("queued", 0, "what other starts need");
  latch_->Open();
  AwaitHanging(0);
  Start(Shell("after", "true"));
  Await<Exited>("after");
  EXPECT_FALSE(std::filesystem::exists(data_ + "/ran"));
}

TEST_F(HangingStarts, HoldUpNoEnd) {
  settings_.hanging_at_most = 1;
  settings_.stopped_ms = 200;
  Restart();
  StartHanging(Shell("hangs", "true"));
  AwaitHanging(1);
  Start(Shell("queued", "true"));
  runner_->Kill("hangs");
  runner_->Kill("queued");
  Await<NotStarted>("queued");
  std::filesystem::create_directories(data_ + "/replicas/erased");
  runner_->Erase("erased");
  AwaitOutside([&] { return !std::filesystem::exists(data_ + "/replicas/erased"); });
}

TEST_F(HangingStarts, DoNotKeepTheServerFromEndingNorTheNextFromStartingThem) {
  StartHanging(Shell("kept", "exit 6"));
  AwaitHanging(1);
  EndServer();
  EXPECT_EQ(latch_->waiting(), 1) << "it ended though the thread hangs";
  StartServer();
  runner_->Adopt({{"kept", 0, "", false}});
  Start(Shell("kept", "exit 7"));
  EXPECT_EQ(Await<Exited>("kept").code, 7);
  latch_->Open();
  AwaitHanging(0);
  Start(Shell("after", "true"));
  Await<Exited>("after");
  EXPECT_EQ(Count<Started>("kept"), 1u);
}

TEST_F(HangingStarts, ErrorsAndExceptionsAreTold) {
  runner_->Start("wrong", 2, []() -> base::Result<port::Launch> {
    return base::Fail(base::Kind::kInvalid, "PND-R005", "/data", "cannot be used");
  });
  const auto wrong = Await<NotStarted>("wrong");
  EXPECT_EQ(wrong.message, "/data cannot be used");
  EXPECT_EQ(wrong.id, "PND-R005");
  EXPECT_EQ(wrong.start, 2);
  runner_->Start("thrown", 0, []() -> base::Result<port::Launch> {
    throw std::filesystem::filesystem_error("stale file handle", std::error_code());
  });
  EXPECT_THAT(Await<NotStarted>("thrown").message, ::testing::HasSubstr("stale file handle"));
}

}  // namespace
}  // namespace pondage::run
