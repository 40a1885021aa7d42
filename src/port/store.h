// The port to durable objects: versioned bytes, by kind, namespace and name. It knows no TFJob.
//
// Thread rule: Commit() from one thread only (the writer); everything else from any thread at any
// time, never waiting for a commit. Faces: store::SqliteStore (real), MemoryStore, FaultyStore.
// Invariants:
//   1. Revisions are one counter of the whole store: every change gets the next one, for ever,
//      across restarts. A commit is all or nothing and durable when Commit() returns.
//   2. List at revision R shows exactly the state after R, as long as R is not compacted
//      (kExpired).
//   3. A watch from R delivers every change after R, once, in order, or ends with kExpired.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/instant.h"
#include "base/result.h"

namespace pondage::port {

using Revision = std::int64_t;

struct Key {
  std::string kind;   // plural.group: "tfjobs.kubeflow.org", "pods"
  std::string space;  // namespace; empty: cluster scope
  std::string name;
  auto operator<=>(const Key&) const = default;
};

// One stored object. `body` is its JSON without metadata.resourceVersion, which is spliced in when
// it is read: `"resourceVersion":"<revision>",` at byte `splice` (just behind `"metadata":{`).
struct Object {
  Key key;
  std::string uid;
  Revision revision = 0;
  Revision created = 0;  // revision of its first version
  std::shared_ptr<const std::string> body;
  std::uint32_t splice = 0;
  // For selection without parsing: labels as "l:key=value", fields as "f:path=value", owners as
  // "o:uid", each ended by '\n', sorted.
  std::shared_ptr<const std::string> facets;
};

struct Change {
  Key key;
  bool deleted = false;  // body is then the last state, revision that of the delete
  std::string uid;
  std::string body;
  std::uint32_t splice = 0;
  std::string facets;
  bool live = false;                 // the loop reads it at start (see Store::Live)
  std::optional<base::Instant> due;  // the loop is told of it then (see Store::Due)
};

struct DueKey {
  base::Instant due;
  Key key;
};

// An append-only line in a stream of its own ("ledger"), kept for ever.
struct Record {
  std::string stream;
  std::string bytes;
};

struct Batch {
  std::vector<Change> changes;  // in order; a key may stand in it more than once
  std::vector<Record> records;
};

struct Event {
  enum class Type : std::uint8_t { kAdded, kModified, kDeleted };
  Type type;
  Object object;  // deleted: last state, with the delete's revision
  std::shared_ptr<const std::string> previous_facets;  // none when added
};

struct ListQuery {
  std::string kind;
  std::string space;                    // empty: all
  std::string after_space, after_name;  // continue behind this key
  std::size_t limit = 0;                // 0: all
  Revision at = 0;                      // 0: newest
  std::string facet;                    // only objects that carry this facet line; empty: all
  bool count = false;                   // say how many remain; not with a facet
};
struct Listing {
  Revision revision = 0;
  std::vector<Object> objects;  // by (space, name)
  bool more = false;
  std::size_t remaining = 0;  // behind the last one, where the query counts
};

// A running watch: ends when destroyed. `OnEvents` is called on the committing thread after each
// commit with that commit's events of the kind (none: only `newest` moved on, as a bookmark needs):
// it must return at once, may not call the store and may not destroy a watch. Destroying one waits
// for a call that is under way, so hold no lock that OnEvents takes.
class Watch {
 public:
  virtual ~Watch() = default;
};

class Store {
 public:
  virtual ~Store() = default;

  // Gives the revision of the first change; change i of the batch has that + i. Errors:
  // kUnavailable (disk full, IO): whether it was written is unknown until the store is read again.
  // kInvalid (nothing is written): no kind or name, a splice behind the body, facets that do not
  // end in a line end, the delete of an object that is not there.
  virtual base::Result<Revision> Commit(const Batch& batch) = 0;

  virtual base::Result<Object> Get(const Key& key) const = 0;  // kNotFound, kCorrupt
  // kExpired (also for a revision that is not reached yet: the store was restored), kCorrupt.
  virtual base::Result<Listing> List(const ListQuery& query) const = 0;
  virtual Revision Newest() const = 0;
  virtual Revision Oldest() const = 0;  // lists and watches before it are kExpired

  using OnEvents = std::function<void(const std::vector<Event>& events, Revision newest)>;
  // Calls back at once with what happened after `from` (in one or more calls on this thread), then
  // with every commit. kExpired, as in List.
  virtual base::Result<std::unique_ptr<Watch>> Follow(const std::string& kind, Revision from,
                                                      OnEvents on_events) = 0;

  // Keys, not objects: one that cannot be read must not hide the others.
  virtual base::Result<std::vector<Key>> Live(const std::string& kind) const = 0;
  // Those whose due time is in [from, until], the earliest first, at most `limit`.
  virtual base::Result<std::vector<DueKey>> Due(base::Instant from, base::Instant until,
                                                std::size_t limit) const = 0;
  virtual base::Result<std::size_t> CountDue(base::Instant from, base::Instant until) const = 0;

  // Lines of a stream from `skip` on, at most `limit`.
  virtual base::Result<std::vector<std::string>> Records(const std::string& stream,
                                                         std::size_t skip,
                                                         std::size_t limit) const = 0;
};

}  // namespace pondage::port
