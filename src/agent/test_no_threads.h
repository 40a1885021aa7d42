// A process that gets no thread more: as when the jobs of its account have used up all that it may
// have. For tests, in a process of their own (EXPECT_EXIT, "threadsafe").
#pragma once

#include <grp.h>
#include <sys/resource.h>
#include <unistd.h>

#include <system_error>
#include <thread>

namespace pondage::agent {

// Root gets threads whatever the limit is: it becomes nobody.
inline void BecomeNobody() {
  constexpr uid_t kNobody = 65'534;
  if (geteuid() == 0 &&
      (setgroups(0, nullptr) != 0 || setgid(kNobody) != 0 || setuid(kNobody) != 0))
    _exit(101);
}

// Requires that this is not root. False: threads can be had all the same.
inline bool LetThreadsLack(bool lack) {
  rlimit limit{};
  getrlimit(RLIMIT_NPROC, &limit);
  limit.rlim_cur = lack ? 1 : limit.rlim_max;
  setrlimit(RLIMIT_NPROC, &limit);
  try {
    std::thread([] {}).join();
  } catch (const std::system_error&) {
    return lack;
  }
  return !lack;
}

}  // namespace pondage::agent
