#include "store/lock_file.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/test_directory.h"

namespace pondage::store {
namespace {

TEST(LockFile, HasOneHolder) {
  const TestDirectory directory;
  const std::string path = directory.path() + "/lock";
  auto held = LockFile::Take(path);
  ASSERT_TRUE(held);
  const auto second = LockFile::Take(path);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().id, "PND-S002");
  EXPECT_NE(second.error().message.find(std::to_string(getpid())), std::string::npos);
}

// As when the server is killed between the fork and the exec of a shim.
TEST(LockFile, IsWaitedForWhereOnlyAChildOfADeadHolderHasIt) {
  const TestDirectory directory;
  const std::string path = directory.path() + "/lock";
  const pid_t holder = fork();
  if (holder == 0) {
    auto held = LockFile::Take(path);
    if (!held) _exit(1);
    if (fork() == 0) {
      usleep(200'000);
      _exit(0);
    }
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(holder, &status, 0), holder);
  ASSERT_EQ(status, 0);
  EXPECT_TRUE(LockFile::Take(path));
}

}  // namespace
}  // namespace pondage::store
