// The one writer: a batch becomes rows in one transaction, old versions go in small steps.
//
// Thread rule: one thread at a time (the store holds a mutex). After a failed commit the store is
// as before it, and the next commit is tried as if nothing had happened.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "port/store.h"
#include "store/database.h"
#include "store/version.h"

namespace pondage::store {

class Writer {
 public:
  // Takes a connection that may write. `newest` and `clean` are the file's: a clean one is marked
  // as in use by the first transaction, which costs no commit of its own.
  Writer(std::unique_ptr<Database> database, port::Revision newest, bool clean);

  // What became of a batch: one event for each change, in order.
  base::Result<std::vector<port::Event>> Commit(const port::Batch& batch);

  port::Revision newest() const { return newest_; }

  // Forgets versions that nobody at `target` or later can see, for at most `changes` revisions
  // more. Gives the oldest revision that can be read from now on. Requires target < newest().
  base::Result<port::Revision> CompactSome(port::Revision target, std::int64_t changes);

  // The last transaction of a process that closes its store.
  base::Result<void> MarkClean();

  // Moves what the log file holds into the main file, without waiting for readers.
  base::Result<void> Checkpoint();
  // Pages in the log file after the last commit.
  int log_pages() const { return log_pages_; }

 private:
  struct Before {                 // what a change replaces
    port::Revision revision = 0;  // 0: nothing
    port::Revision created = 0;
    std::string facets;
  };

  base::Result<void> Settle();
  base::Result<void> WriteClean(bool clean);
  base::Result<std::vector<port::Event>> Write(const port::Batch& batch);
  base::Result<port::Event> WriteChange(const port::Change& change, port::Revision revision);
  base::Result<std::int64_t> KindId(const std::string& kind);
  base::Result<Before> BeforeOf(std::int64_t kind, const port::Key& key);
  base::Result<void> WriteLog(std::int64_t kind, const Version& version);
  base::Result<void> WriteHead(std::int64_t kind, const port::Change& change,
                               port::Revision revision);
  base::Result<void> WriteFacets(std::int64_t kind, const port::Key& key, std::string_view before,
                                 std::string_view after);
  base::Result<void> WriteRecord(const port::Record& record);
  base::Result<port::Revision> Compact(port::Revision from, port::Revision to);

  // Runs `work` in a transaction; on any error nothing of it remains.
  template <class Work>
  auto InTransaction(Work work) -> decltype(work());

  std::unique_ptr<Database> database_;
  port::Revision newest_;
  bool clean_;                                     // the file says so
  bool unsettled_ = false;                         // the last transaction failed
  std::map<std::string, std::int64_t> kinds_;      // known to be committed
  std::map<std::string, std::int64_t> new_kinds_;  // of the open transaction
  int log_pages_ = 0;
};

}  // namespace pondage::store
