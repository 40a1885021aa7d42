// A server for tests: plain HTTP on a free port of loopback, answers from a function, keeps what
// was asked.
//
// Its own threads; all gone with the destructor.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace pondage::client {

struct Asked {
  std::string method, target, body, token, content_type;
};
struct Said {
  int status = 200;
  std::string body;
  std::vector<std::string> headers;  // "Warning: 299 - \"x\""
  std::vector<std::string> chunks;   // instead of a body: sent one after the other
  bool cut = false;                  // the connection ends in the middle of it, or behind a body
  bool silent = false;               // the connection ends without an answer
};

class FakeServer {
 public:
  using Answer = std::function<Said(const Asked&)>;
  explicit FakeServer(Answer answer);
  ~FakeServer();
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;

  int port() const { return port_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  std::vector<Asked> asked() const;
  // Until so many connections were closed from here.
  void AwaitEnds(int count) const;

 private:
  Answer answer_;
  int listener_ = -1;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::atomic<int> ends_ = 0;
  std::vector<Asked> asked_;
  std::vector<std::jthread> connections_;
  std::jthread acceptor_;
};

}  // namespace pondage::client
