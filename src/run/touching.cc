#include "run/touching.h"

#include <utility>

#include "base/assert.h"
#include "run/reactor.h"

namespace pondage::run {
namespace {

thread_local Touched* listener = nullptr;

}  // namespace

Touched::Listening::Listening(Touched& touched) {
  REQUIRE(listener == nullptr);
  listener = &touched;
  const std::lock_guard lock(touched.mutex_);
  touched.began_ms_ = BoottimeMs();
}

Touched::Listening::~Listening() {
  listener = nullptr;
}

std::int64_t Touched::began_ms() const {
  const std::lock_guard lock(mutex_);
  return began_ms_;
}

std::string Touched::what() const {
  const std::lock_guard lock(mutex_);
  return what_;
}

std::string Touched::Exchange(std::string what) {
  const std::lock_guard lock(mutex_);
  return std::exchange(what_, std::move(what));
}

Touching::Touching(const std::string& what) {
  if (listener != nullptr) before_ = listener->Exchange(what);
}

Touching::~Touching() {
  if (listener != nullptr) listener->Exchange(std::move(before_));
}

}  // namespace pondage::run
