// What a thread that may hang in a file system is at, said to whoever waits for it.
//
// Touched: any thread. Touching: the thread that works; it says nothing where nobody listens.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

namespace pondage::run {

class Touched {
 public:
  // On the thread that works: what it touches is said here until the Listening ends.
  class Listening {
   public:
    explicit Listening(Touched& touched);
    ~Listening();
    Listening(const Listening&) = delete;
    Listening& operator=(const Listening&) = delete;
  };

  // BoottimeMs() when the work began; 0: not yet.
  std::int64_t began_ms() const;
  std::string what() const;

 private:
  friend class Touching;
  std::string Exchange(std::string what);

  mutable std::mutex mutex_;
  std::int64_t began_ms_ = 0;
  std::string what_;
};

class Touching {
 public:
  explicit Touching(const std::string& what);
  ~Touching();
  Touching(const Touching&) = delete;
  Touching& operator=(const Touching&) = delete;

 private:
  std::string before_;
};

}  // namespace pondage::run
