// For tests only: port::Exec whose programs are children of the test itself.
#pragma once

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "port/exec.h"

namespace pondage::api {

class TestExec : public port::Exec {
 public:
  TestExec() { std::signal(SIGPIPE, SIG_IGN); }  // as the server's program does

  std::unique_ptr<Handle> Start(port::ExecRequest request, Done done) override {
    {
      const std::lock_guard lock(mutex_);
      last_ = request;
      ++held_;
    }
    if (refuse) {
      for (const int fd : {request.in, request.out, request.err}) {
        if (fd >= 0) close(fd);
      }
      done(base::Fail(base::Kind::kUnavailable, "", "", "the shim is too old for this"));
      return std::make_unique<Program>(*this, 0, nullptr);
    }
    const pid_t pid = Spawn(request);
    return std::make_unique<Program>(*this, pid, std::move(done));
  }

  // Waits until nobody holds a program any more; false: not within a minute.
  bool AllGone() {
    std::unique_lock lock(mutex_);
    return gone_.wait_for(lock, std::chrono::minutes(1), [this] { return held_ == 0; });
  }
  port::ExecRequest last() {
    const std::lock_guard lock(mutex_);
    return last_;
  }

  std::atomic<bool> refuse = false;

 private:
  class Program : public Handle {
   public:
    Program(TestExec& of, pid_t pid, Done done) : of_(of), pid_(pid) {
      if (pid <= 0) return;
      waits_ = std::thread([this, done = std::move(done)] {
        int status = 0;
        while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
        }
        ended_ = true;
        if (let_go_) return;
        const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
        done(port::ExecExit{code, code == 127 ? "no such program" : ""});
      });
    }
    ~Program() override {
      let_go_ = true;
      // The group first; a child that is not yet its leader alone.
      if (pid_ > 0 && kill(-pid_, SIGKILL) != 0 && !ended_) kill(pid_, SIGKILL);
      if (waits_.joinable()) waits_.join();
      const std::lock_guard lock(of_.mutex_);
      --of_.held_;
      of_.gone_.notify_all();
    }

   private:
    TestExec& of_;
    const pid_t pid_;
    std::atomic<bool> let_go_{false}, ended_{false};
    std::thread waits_;
  };

  // The child does only what is safe between fork and exec.
  static pid_t Spawn(const port::ExecRequest& request) {
    std::vector<char*> argv;
    argv.reserve(request.argv.size() + 1);
    for (const std::string& word : request.argv) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    const pid_t pid = fork();
    if (pid == 0) {
      setsid();
      const int ends[3] = {request.in, request.out, request.err};
      for (int i = 0; i < 3; ++i) dup2(ends[i] >= 0 ? ends[i] : null, i);
      if (request.terminal) ioctl(0, TIOCSCTTY, 0);
      close_range(3, ~0U, 0);  // the clients' sockets of the test itself
      std::signal(SIGPIPE, SIG_DFL);
      execvp(argv[0], argv.data());
      _exit(127);
    }
    for (const int fd : {request.in, request.out, request.err, null}) {
      if (fd >= 0) close(fd);
    }
    return pid;
  }

  std::mutex mutex_;
  std::condition_variable gone_;
  int held_ = 0;
  port::ExecRequest last_;
};

}  // namespace pondage::api
