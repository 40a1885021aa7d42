#include "api/listener.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

namespace pondage::api {
namespace {

// Empty: it was had, or is taken by somebody else for longer.
std::string TroubleOf(std::uint16_t port) {
  const auto mine = Listener::On("127.0.0.1", port);
  return mine || mine.error().message.ends_with("Address already in use") ? ""
                                                                          : mine.error().message;
}

// Two that ask for a port at once: both may be bound, and only one of them may listen. The other
// has it when that one is gone.
TEST(ListenerTest, APortThatIsTakenMeanwhileIsAskedForAgain) {
  const std::uint16_t port = Listener::On("127.0.0.1", 0)->port();
  constexpr int kRounds = 400;
  std::atomic<int> begun = 0;
  std::atomic<int> came = 0;
  std::thread other([&] {
    for (int round = 1; round <= kRounds; ++round) {
      while (begun < round) {
      }
      EXPECT_EQ(TroubleOf(port), "");
      ++came;
    }
  });
  for (int round = 1; round <= kRounds; ++round) {
    begun = round;
    EXPECT_EQ(TroubleOf(port), "");
    while (came < round) std::this_thread::yield();
  }
  other.join();
}

TEST(ListenerTest, WhatIsListenedOnIsInUse) {
  const auto first = Listener::On("127.0.0.1", 0);
  ASSERT_TRUE(first);
  const auto second = Listener::On("127.0.0.1", first->port());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().id, "PND-A022");
  EXPECT_TRUE(second.error().message.ends_with("Address already in use")) << second.error().message;
}

}  // namespace
}  // namespace pondage::api
