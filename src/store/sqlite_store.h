// The store on disk: SQLite with a write-ahead log, one writer, readers that never wait for it.
//
// Thread rule as in port::Store. Maintain(), Backup() and FullCheck() from any thread, best one of
// their own: they may take long, and a commit waits for at most a small step of them.
// Files: `path` with -wal and -shm beside it, and `path`.lock.
// Invariants, next to those of port::Store:
//   1. Damage is kCorrupt, never a wrong or silently missing object: pages and rows carry
//   checksums.
//   2. At most one process has a store open (PND-S002).
//   3. After a failed commit the store is as before it, and usable as soon as the disk is.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/instant.h"
#include "base/result.h"
#include "port/store.h"
#include "store/feed.h"
#include "store/lock_file.h"
#include "store/readers.h"
#include "store/writer.h"

namespace pondage::store {

struct Settings {
  std::string path;                      // made when it is not there; its directory must be
  base::Millis keep{300'000};            // history younger than this, and
  std::int64_t keep_revisions = 10'000;  // this much of it, is never compacted
  Feed::Bounds feed;
  int readers = 8;       // connections for reading, at most
  int log_pages = 1000;  // of the log file, before Maintain() empties it
  std::string vfs;       // SQLite's layer to the disk; empty: its own
};

class SqliteStore : public port::Store {
 public:
  // Errors: PND-S001 newer schema, PND-S002 in use, PND-S003 damaged, PND-S004 disk, PND-S005 not a
  // store.
  static base::Result<std::unique_ptr<SqliteStore>> Open(Settings settings);
  // All watches and calls must have ended.
  ~SqliteStore() override;

  base::Result<port::Revision> Commit(const port::Batch& batch) override;
  base::Result<port::Object> Get(const port::Key& key) const override;
  base::Result<port::Listing> List(const port::ListQuery& query) const override;
  port::Revision Newest() const override;
  port::Revision Oldest() const override;
  base::Result<std::unique_ptr<port::Watch>> Follow(const std::string& kind, port::Revision from,
                                                    OnEvents on_events) override;
  base::Result<std::vector<port::Key>> Live(const std::string& kind) const override;
  base::Result<std::vector<port::DueKey>> Due(base::Instant from, base::Instant until,
                                              std::size_t limit) const override;
  base::Result<std::size_t> CountDue(base::Instant from, base::Instant until) const override;
  base::Result<std::vector<std::string>> Records(const std::string& stream, std::size_t skip,
                                                 std::size_t limit) const override;

  // Housekeeping, to be called about every second: forgets old history, empties the log file, and
  // looks for damage once when the last process did not close the store. True: call again at once.
  base::Result<bool> Maintain(base::Instant now);

  // What the look after an unclean end found; empty: nothing, or it has not run yet.
  std::vector<std::string> Damage() const;
  // For the doctor. What is wrong, one sentence each; empty: nothing.
  base::Result<std::vector<std::string>> FullCheck() const;

  // A copy in one new file, as of now (see BackUp).
  base::Result<void> Backup(const std::string& path) const;

  // What is free where the store lies, for an ordinary user.
  base::Result<base::Bytes> FreeBytes() const;
  // Whether anything new should be stored. The last of a disk is for what there is: Maintain()
  // keeps room for it in the log file where the file system can (PND-S004).
  base::Result<void> RoomForNew() const;

 private:
  struct State {  // of the file when it was opened
    port::Revision newest;
    port::Revision oldest;
    bool clean;
  };
  SqliteStore(Settings settings, LockFile lock, Database::Options options,
              std::unique_ptr<Database> writer, const State& state);

  port::Revision CompactionTarget(base::Instant now);
  base::Result<bool> CompactSome(port::Revision target);
  base::Result<void> EmptyLog();

  const Settings settings_;
  const LockFile lock_;
  const Database::Options read_options_;
  mutable Readers readers_;

  std::mutex writer_mutex_;
  Writer writer_;
  Feed feed_;
  std::atomic<port::Revision> oldest_;

  std::mutex maintenance_mutex_;
  std::deque<std::pair<base::Instant, port::Revision>> sightings_;  // when a revision was there
  bool unclean_;                                                    // not looked for damage yet
  mutable std::mutex damage_mutex_;
  std::vector<std::string> damage_;
};

}  // namespace pondage::store
