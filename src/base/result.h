// What an operation on the world gives back: a value, or an Error that a caller can act on.
//
// Error kinds are few: a new one only if some caller would act differently. No exception crosses a
// room's wall. Values only; any thread.
#pragma once

#include <expected>
#include <string>
#include <utility>

namespace pondage::base {

enum class Kind {
  kNotFound,
  kAlreadyExists,
  kConflict,  // the object moved on: read again and retry
  kExpired,   // the version is gone: list again instead of retrying
  kInvalid,   // the caller's input is wrong: retrying is useless
  kForbidden,
  kUnavailable,  // may work later
  kCorrupt,      // stored bytes are not what was written
};

struct Error {
  Kind kind = Kind::kInvalid;
  std::string id;      // frozen id of the message catalogue ("PND-J003"); empty where there is none
  std::string object;  // what it is about ("tfjobs/ml/mnist"); may be empty
  std::string message;  // one sentence, without the object's name and without a full stop
  bool operator==(const Error&) const = default;
};

template <class T>
using Result = std::expected<T, Error>;

[[nodiscard]] inline std::unexpected<Error> Fail(Kind kind, std::string id, std::string object,
                                                 std::string message) {
  return std::unexpected(Error{kind, std::move(id), std::move(object), std::move(message)});
}

}  // namespace pondage::base

#define PONDAGE_JOIN_(a, b) a##b
#define PONDAGE_JOIN(a, b) PONDAGE_JOIN_(a, b)
#define PONDAGE_TRY_(name, declaration, expression)           \
  auto name = (expression);                                   \
  if (!name) return std::unexpected(std::move(name).error()); \
  declaration = *std::move(name)

// TRY(auto spec, Decode(bytes)): declares spec, or returns the error to the caller.
#define TRY(declaration, expression) \
  PONDAGE_TRY_(PONDAGE_JOIN(try_result_, __LINE__), declaration, expression)

// TRY_DO(Commit(batch)): for a Result whose value is not needed.
#define TRY_DO(expression)                                  \
  if (auto try_outcome = (expression); !try_outcome) {      \
    return std::unexpected(std::move(try_outcome).error()); \
  }
