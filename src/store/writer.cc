#include "store/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/assert.h"
#include "port/memory_store.h"
#include "store/reads.h"
#include "store/schema.h"

namespace pondage::store {

using base::Fail;
using base::Kind;
using base::Result;
using port::Change;
using port::Event;
using port::Revision;

namespace {

std::set<std::string_view> IndexedLines(std::string_view facets) {
  std::set<std::string_view> lines;
  while (!facets.empty()) {
    const std::string_view line = facets.substr(0, facets.find('\n'));
    if (IsIndexedFacet(line)) lines.insert(line);
    facets.remove_prefix(std::min(line.size() + 1, facets.size()));
  }
  return lines;
}

}  // namespace

Writer::Writer(std::unique_ptr<Database> database, Revision newest, bool clean)
    : database_(std::move(database)), newest_(newest), clean_(clean) {
  // Takes the place of SQLite's automatic checkpoint, which would run inside some unlucky commit.
  sqlite3_wal_hook(
      database_->handle(),
      [](void* pages, sqlite3*, const char*, int count) {
        *static_cast<int*>(pages) = count;
        return SQLITE_OK;
      },
      &log_pages_);
}

template <class Work>
auto Writer::InTransaction(Work work) -> decltype(work()) {
  TRY_DO(Settle());
  unsettled_ = true;
  TRY_DO(database_->Run("BEGIN IMMEDIATE"));
  auto outcome = work();
  if (outcome && clean_) {
    if (auto marked = WriteClean(false); !marked) outcome = std::unexpected(marked.error());
  }
  if (outcome) {
    if (auto committed = database_->Run("COMMIT"); !committed) {
      outcome = std::unexpected(std::move(committed).error());
    }
  }
  if (!outcome) {
    database_->RollBack();
    return outcome;
  }
  unsettled_ = false;
  clean_ = false;
  return outcome;
}

Result<void> Writer::Settle() {
  if (!unsettled_) return {};
  database_->RollBack();
  if (database_->InTransaction()) {
    return Fail(Kind::kUnavailable, "PND-S004", database_->path(),
                "the failed commit could not be rolled back yet");
  }
  TRY(const Revision newest, NewestIn(*database_));
  PROMISE(newest == newest_);  // SQLite shows a commit only once it has said so
  unsettled_ = false;
  return {};
}

Result<std::vector<Event>> Writer::Commit(const port::Batch& batch) {
  for (const Change& change : batch.changes) TRY_DO(port::CheckChange(change));
  if (batch.changes.empty() && batch.records.empty()) return std::vector<Event>();
  new_kinds_.clear();
  auto events = InTransaction([&] { return Write(batch); });
  if (!events) return events;
  kinds_.merge(new_kinds_);
  newest_ += static_cast<Revision>(batch.changes.size());
  return events;
}

Result<std::vector<Event>> Writer::Write(const port::Batch& batch) {
  std::vector<Event> events;
  events.reserve(batch.changes.size());
  Revision revision = newest_;
  for (const Change& change : batch.changes) {
    TRY(Event event, WriteChange(change, ++revision));
    events.push_back(std::move(event));
  }
  for (const port::Record& record : batch.records) TRY_DO(WriteRecord(record));
  return events;
}

Result<Event> Writer::WriteChange(const Change& change, Revision revision) {
  TRY(const std::int64_t kind, KindId(change.key.kind));
  TRY(Before before, BeforeOf(kind, change.key));
  const bool fresh = before.revision == 0;
  if (fresh && change.deleted) {
    return Fail(Kind::kInvalid, "", NameOf(change.key), "the object to delete is not there");
  }
  Version version{.object = {.key = change.key,
                             .uid = change.uid,
                             .revision = revision,
                             .created = fresh ? revision : before.created,
                             .body = std::make_shared<const std::string>(change.body),
                             .splice = change.splice,
                             .facets = std::make_shared<const std::string>(change.facets)},
                  .previous = before.revision,
                  .deleted = change.deleted};
  TRY_DO(WriteLog(kind, version));
  TRY_DO(WriteHead(kind, change, revision));
  TRY_DO(WriteFacets(kind, change.key, before.facets,
                     change.deleted ? std::string_view() : std::string_view(change.facets)));
  return EventOf(std::move(version),
                 fresh ? nullptr : std::make_shared<const std::string>(std::move(before.facets)));
}

Result<std::int64_t> Writer::KindId(const std::string& kind) {
  for (const auto* known : {&kinds_, &new_kinds_}) {
    if (const auto found = known->find(kind); found != known->end()) return found->second;
  }
  Query insert(*database_, "INSERT INTO kind(name) VALUES (?1) ON CONFLICT DO NOTHING");
  TRY_DO(insert.Bind(kind).Run());
  Query select(*database_, "SELECT id FROM kind WHERE name = ?1");
  TRY(const std::int64_t id, select.Bind(kind).Number());
  new_kinds_[kind] = id;
  return id;
}

Result<Writer::Before> Writer::BeforeOf(std::int64_t kind, const port::Key& key) {
  Query row(*database_,
            "SELECT l.revision, l.created, l.facets FROM head h CROSS JOIN log l"
            " ON l.revision = h.revision WHERE h.kind = ?1 AND h.space = ?2 AND h.name = ?3");
  row.Bind(kind).Bind(key.space).Bind(key.name);
  TRY(const bool there, row.Step());
  if (!there) return Before{};
  return Before{row.Int(0), row.Int(1), std::string(row.Bytes(2))};
}

Result<void> Writer::WriteLog(std::int64_t kind, const Version& version) {
  const port::Object& object = version.object;
  Query row(*database_, "INSERT INTO log VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12)");
  row.Bind(object.revision).Bind(kind).Bind(object.key.space).Bind(object.key.name);
  row.Bind(object.uid).Bind(object.created).Bind(version.previous);
  row.Bind(std::int64_t{version.deleted}).Bind(std::int64_t{object.splice});
  row.Bind(ChecksumOf(version)).BindBlob(*object.facets).BindBlob(*object.body);
  return row.Run();
}

Result<void> Writer::WriteHead(std::int64_t kind, const Change& change, Revision revision) {
  if (change.deleted) {
    Query row(*database_, "DELETE FROM head WHERE kind = ?1 AND space = ?2 AND name = ?3");
    return row.Bind(kind).Bind(change.key.space).Bind(change.key.name).Run();
  }
  Query row(*database_,
            "INSERT INTO head VALUES (?1,?2,?3,?4,?5,?6) ON CONFLICT DO UPDATE SET"
            " revision = excluded.revision, live = excluded.live, due_ms = excluded.due_ms");
  row.Bind(kind).Bind(change.key.space).Bind(change.key.name).Bind(revision);
  row.Bind(std::int64_t{change.live});
  change.due ? row.Bind(change.due->unix_ms) : row.BindNull();
  return row.Run();
}

Result<void> Writer::WriteFacets(std::int64_t kind, const port::Key& key, std::string_view before,
                                 std::string_view after) {
  if (before == after) return {};
  const auto old_lines = IndexedLines(before);
  const auto new_lines = IndexedLines(after);
  for (const std::string_view line : old_lines) {
    if (new_lines.contains(line)) continue;
    Query row(*database_,
              "DELETE FROM facet WHERE kind = ?1 AND line = ?2 AND space = ?3 AND name = ?4");
    TRY_DO(row.Bind(kind).Bind(line).Bind(key.space).Bind(key.name).Run());
  }
  for (const std::string_view line : new_lines) {
    if (old_lines.contains(line)) continue;
    Query row(*database_, "INSERT INTO facet VALUES (?1,?2,?3,?4) ON CONFLICT DO NOTHING");
    TRY_DO(row.Bind(kind).Bind(line).Bind(key.space).Bind(key.name).Run());
  }
  return {};
}

Result<void> Writer::WriteRecord(const port::Record& record) {
  Query count(*database_, "SELECT ifnull(max(number), -1) + 1 FROM record WHERE stream = ?1");
  TRY(const std::int64_t number, count.Bind(record.stream).Number());
  Query row(*database_, "INSERT INTO record VALUES (?1,?2,?3,?4)");
  row.Bind(record.stream).Bind(number);
  row.Bind(ChecksumOfRecord(record.stream, number, record.bytes)).BindBlob(record.bytes);
  return row.Run();
}

Result<Revision> Writer::CompactSome(Revision target, std::int64_t changes) {
  REQUIRE(target < newest_);
  TRY(const Revision oldest, OldestIn(*database_));
  const Revision until = std::min(target, oldest + changes);
  if (until <= oldest) return oldest;
  return InTransaction([&] { return Compact(oldest, until); });
}

Result<Revision> Writer::Compact(Revision from, Revision to) {
  // A change at or before `to` hides the version before it from everybody, and a deletion itself
  // says nothing that its absence does not. The newest row stays: it holds the counter.
  Query hidden(
      *database_,
      "DELETE FROM log WHERE revision IN"
      " (SELECT previous FROM log WHERE revision > ?1 AND revision <= ?2 AND previous > 0)");
  TRY_DO(hidden.Bind(from).Bind(to).Run());
  Query deletions(*database_,
                  "DELETE FROM log WHERE revision > ?1 AND revision <= ?2 AND deleted = 1");
  TRY_DO(deletions.Bind(from).Bind(to).Run());
  Query state(*database_, "UPDATE state SET oldest = ?1 WHERE id = 1");
  TRY_DO(state.Bind(to).Run());
  return to;
}

Result<void> Writer::WriteClean(bool clean) {
  Query state(*database_, "UPDATE state SET clean = ?1 WHERE id = 1");
  return state.Bind(std::int64_t{clean}).Run();
}

Result<void> Writer::MarkClean() {
  if (clean_) return {};
  return InTransaction([&] { return WriteClean(true); });
}

Result<void> Writer::Checkpoint() {
  const int code = sqlite3_wal_checkpoint_v2(database_->handle(), nullptr,
                                             SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  if (code != SQLITE_OK && code != SQLITE_BUSY) return std::unexpected(database_->ErrorOf(code));
  return {};
}

}  // namespace pondage::store
