#include "store/lock_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>

#include "base/test_directory.h"

namespace pondage::store {
namespace {

TEST(LockFile, HasOneHolder) {
  const base::TestDirectory directory;
  const std::string path = directory.path() + "/lock";
  auto held = LockFile::Take(path);
  ASSERT_TRUE(held);
  const auto second = LockFile::Take(path);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().id, "PND-S002");
  EXPECT_NE(second.error().message.find(std::to_string(getpid())), std::string::npos);
}

bool HasOpen(pid_t process, const std::string& path) {
  std::error_code error;
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/fd", error)) {
    if (std::filesystem::read_symlink(entry, error) == path) return true;
  }
  return false;
}

bool IsHeld(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  const bool held = flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(file);
  return held;
}

// As when the server is killed between the fork and the exec of a shim: the child lets go only
// when it sees that the next server has come to the lock.
TEST(LockFile, IsWaitedForWhereOnlyAChildOfADeadHolderHasIt) {
  const base::TestDirectory directory;
  const std::string path = directory.path() + "/lock";
  const pid_t next = getpid();
  std::array<int, 2> gate{};
  ASSERT_EQ(pipe(gate.data()), 0);
  const pid_t holder = fork();
  if (holder == 0) {
    auto held = LockFile::Take(path);
    if (!held) _exit(1);
    if (fork() != 0) _exit(0);
    close(gate[1]);
    char byte = 0;
    (void)!read(gate[0], &byte, 1);
    while (!HasOpen(next, path)) {
    }
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(holder, &status, 0), holder);
  ASSERT_EQ(status, 0);
  ASSERT_TRUE(IsHeld(path)) << "the child lives and has it";
  close(gate[1]);
  EXPECT_TRUE(LockFile::Take(path));
  close(gate[0]);
}

}  // namespace
}  // namespace pondage::store
