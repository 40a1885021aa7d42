// The port through which every change that a client asks for reaches the one writer.
//
// Thread rule: Submit() from any thread; `done` is called once, on the writer's thread, after the
// change is durable (or refused), and must return at once. Faces: loop::Loop (real), test fakes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "port/store.h"

namespace pondage::port {

struct Write {
  enum class Op : std::uint8_t { kCreate, kReplace, kDelete };
  Op op = Op::kCreate;
  Change change;                      // of kDelete only the key is read
  std::vector<Change> with;           // of kCreate: in the same commit, where it is not there yet
  std::optional<Revision> expected;   // must be the object's present revision, else kConflict
  std::string expected_uid;           // must be its uid, else kConflict; empty: any
  bool status_only = false;           // a write to the status subresource by a client
  bool dry_run = false;               // answer as if real; nothing is stored
  std::optional<base::Millis> grace;  // of kDelete
  bool orphan = false;                // of kDelete: dependents stay, their owner references go
  std::string user;                   // who asks, for events and the job's `user`
};

// What became of it. `object`: as stored (delete: the last state, marked as being deleted or gone).
struct Written {
  Object object;
  bool gone = false;  // of kDelete: the object does not exist any more
};

class Writer {
 public:
  virtual ~Writer() = default;
  using Done = std::function<void(base::Result<Written>)>;
  // kUnavailable when the queue of waiting writes is full (bounded) or the store fails.
  virtual void Submit(Write write, Done done) = 0;
};

}  // namespace pondage::port
