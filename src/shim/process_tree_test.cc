#include "shim/process_tree.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shim/program.h"

namespace pondage::shim {
namespace {

TEST(ParseStat, NamesMayHoldAnything) {
  const std::string rest =
      " S 7 10 10 0 -1 4194304 1 2 3 4 11 12 13 14 20 0 1 0 987654 1000 321 184 1\n";
  for (const char* name : {"sh", "a b", ") S 1 (", "x) R 99", ""}) {
    const auto process = ParseStat("42 (" + std::string(name) + ")" + rest);
    ASSERT_TRUE(process) << name;
    EXPECT_EQ(process->pid, 42);
    EXPECT_EQ(process->parent, 7);
    EXPECT_EQ(process->state, 'S');
    EXPECT_EQ(process->started, 987654u);
    EXPECT_EQ(process->cpu_ticks, 11u + 12 + 13 + 14);
    EXPECT_EQ(process->resident_pages, 321);
  }
  for (const char* odd : {"", "42", "42 (sh", "42 (sh) S 7", "x (sh) S 7 10"})
    EXPECT_FALSE(ParseStat(odd)) << odd;
  EXPECT_FALSE(ParseStat("42 (sh)" + rest.substr(0, 40)));
}

Process Of(pid_t pid, pid_t parent) {
  Process process;
  process.pid = pid;
  process.parent = parent;
  return process;
}

TEST(Below, FindsAllDescendantsAndEndsOnCircles) {
  const std::vector<Process> all = {Of(9, 4), Of(2, 1), Of(3, 2), Of(4, 2),
                                    Of(5, 3), Of(6, 1), Of(7, 6)};
  std::vector<pid_t> pids;
  for (const Process& process : Below(2, all)) pids.push_back(process.pid);
  EXPECT_EQ(pids, (std::vector<pid_t>{3, 4, 5, 9}));
  EXPECT_TRUE(Below(5, all).empty());
  EXPECT_TRUE(Below(99, all).empty());
  // A pid that was used again while /proc was read can make a circle.
  EXPECT_LE(Below(1, {Of(2, 1), Of(3, 2), Of(2, 3)}).size(), 3u);
}

TEST(Signal, HitsOnlyTheProcessThatWasSeen) {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  auto process = ReadProcess(child);
  ASSERT_TRUE(process);
  EXPECT_EQ(process->parent, getpid());
  Process another = *process;
  another.started += 1;  // the same number, given to another process since
  EXPECT_FALSE(Signal(another, SIGKILL));
  EXPECT_TRUE(Signal(*process, SIGKILL));
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
  EXPECT_FALSE(Signal(*process, SIGKILL));
}

TEST(Candidates, FollowThePathOfTheProgram) {
  Spec spec;
  spec.argv = {"python"};
  spec.env = {"X=1", "PATH=/a/bin::/b"};
  EXPECT_EQ(Candidates(spec), (std::vector<std::string>{"/a/bin/python", "./python", "/b/python"}));
  spec.env = {};
  EXPECT_EQ(Candidates(spec).front(), "/usr/local/bin/python");
  spec.argv = {"./train.sh"};
  EXPECT_EQ(Candidates(spec), std::vector<std::string>{"./train.sh"});
  spec.argv = {""};
  EXPECT_TRUE(Candidates(spec).empty());
}

}  // namespace
}  // namespace pondage::shim
