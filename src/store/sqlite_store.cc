#include "store/sqlite_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <tuple>

#include "base/assert.h"
#include "store/backup.h"
#include "store/check.h"
#include "store/page_guard.h"
#include "store/reads.h"
#include "store/schema.h"

namespace pondage::store {

using base::Fail;
using base::Kind;
using base::Result;
using port::Revision;

namespace {

constexpr int kWriterCacheKib = 2048;
constexpr int kReaderCacheKib = 512;
constexpr int kIdleReaders = 4;
constexpr int kCompactAtOnce = 128;  // revisions in one transaction: a commit waits for it
constexpr int kCompactionsPerCall = 32;
constexpr int kLogPagesWithoutCare = 16'384;  // 64 MiB: then even a commit empties the log
constexpr int kMostSightings = 600;
// Room in the log file that nobody else on a full disk can take, and what must be free beside it
// for anything new: so what there is can go on, end and be deleted.
constexpr std::int64_t kLogReserve = 16 << 20;
constexpr std::int64_t kFreeForNew = 16 << 20;

// Makes the file when it is not there (for its owner alone), and refuses one that is not a store.
Result<void> Touch(const std::string& path) {
  const auto failed = [&](const char* what) {
    return Fail(Kind::kUnavailable, "PND-S004", path,
                fmt::format("{} ({})", what, std::strerror(errno)));
  };
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return failed("the file cannot be opened");
  // The start of every SQLite file, and where the number of the program that made it stands.
  constexpr std::string_view kMagic("SQLite format 3\0", 16);
  constexpr std::size_t kApplicationAt = 68;
  std::array<unsigned char, 100> header{};
  const ssize_t size = pread(file, header.data(), header.size(), 0);
  close(file);
  if (size < 0) return failed("the file cannot be read");
  // A journal beside it: its making was cut short, and SQLite will take it back.
  if (size == 0 || access((path + "-journal").c_str(), F_OK) == 0) return {};
  std::int64_t application = 0;
  for (std::size_t i = 0; i < 4; ++i) application = application << 8 | header[kApplicationAt + i];
  if (std::memcmp(header.data(), kMagic.data(), kMagic.size()) != 0 ||
      application != kApplicationId) {
    return Fail(Kind::kCorrupt, "PND-S005", path,
                "the file is not a store of this program, or its beginning is damaged");
  }
  return {};
}

// Where the file system has no such promise, or no room now, there is none: tried again later.
void KeepRoom(const std::string& log_path) {
  const int file = open(log_path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  struct stat about{};
  if (fstat(file, &about) == 0 && about.st_blocks * 512 < kLogReserve)
    std::ignore = fallocate(file, FALLOC_FL_KEEP_SIZE, 0, kLogReserve);
  close(file);
}

// The parts of a new file that cannot be changed later, written before there is a log file.
Result<void> Prepare(Database& database) {
  TRY_DO(database.Run(fmt::format("PRAGMA page_size={}", kPageSize).c_str()));
  int reserved = kReservedBytes;
  const int code =
      sqlite3_file_control(database.handle(), "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved);
  if (code != SQLITE_OK) return std::unexpected(database.ErrorOf(code));
  return database.Run(fmt::format("PRAGMA application_id={}", kApplicationId).c_str());
}

Result<void> Configure(Database& database) {
  TRY(const std::int64_t pages, Query(database, "PRAGMA page_count").Number());
  if (pages == 0) TRY_DO(Prepare(database));
  Query mode(database, "PRAGMA journal_mode=WAL");
  TRY(const bool answered, mode.Step());
  if (!answered || mode.Bytes(0) != "wal") {
    return Fail(Kind::kUnavailable, "PND-S004", database.path(),
                "the file system does not let SQLite keep a write-ahead log");
  }
  return database.Run("PRAGMA synchronous=FULL; PRAGMA journal_size_limit=67108864");
}

}  // namespace

Result<std::unique_ptr<SqliteStore>> SqliteStore::Open(Settings settings) {
  TRY(LockFile lock, LockFile::Take(settings.path + ".lock"));
  TRY_DO(Touch(settings.path));
  TRY(const std::string vfs, GuardedVfs(settings.vfs));
  Database::Options options{.path = settings.path, .vfs = vfs, .create = false, .read_only = false};
  options.cache_kib = kWriterCacheKib;
  TRY(auto database, Database::Open(options));
  TRY_DO(Configure(*database));
  TRY_DO(Migrate(*database, kSteps));
  TRY(const Revision newest, NewestIn(*database));
  TRY(const Revision oldest, OldestIn(*database));
  TRY(const std::int64_t clean, Query(*database, "SELECT clean FROM state WHERE id = 1").Number());
  options.read_only = true;
  options.cache_kib = kReaderCacheKib;
  std::unique_ptr<SqliteStore> store(
      new SqliteStore(std::move(settings), std::move(lock), options, std::move(database),
                      {.newest = newest, .oldest = oldest, .clean = clean != 0}));
  return store;
}

SqliteStore::SqliteStore(Settings settings, LockFile lock, Database::Options options,
                         std::unique_ptr<Database> writer, const State& state)
    : settings_(std::move(settings)),
      lock_(std::move(lock)),
      read_options_(std::move(options)),
      readers_(read_options_, settings_.readers, std::min(kIdleReaders, settings_.readers)),
      writer_(std::move(writer), state.newest, state.clean),
      feed_(settings_.feed, state.newest),
      oldest_(state.oldest),
      unclean_(!state.clean) {}

SqliteStore::~SqliteStore() {
  // Without the mark the next start looks for damage: all that a failure here costs. A look that
  // was due and did not happen, or found something, stays due.
  if (!unclean_ && Damage().empty()) std::ignore = writer_.MarkClean();
  readers_.CloseIdle();
}

Result<Revision> SqliteStore::Commit(const port::Batch& batch) {
  const std::scoped_lock lock(writer_mutex_);
  const Revision first = writer_.newest() + 1;
  TRY(auto events, writer_.Commit(batch));
  feed_.Publish(std::move(events), writer_.newest());
  if (writer_.log_pages() > kLogPagesWithoutCare) {
    // The commit is done, whatever becomes of this; Maintain() would report it.
    std::ignore = writer_.Checkpoint();
  }
  return first;
}

Result<port::Object> SqliteStore::Get(const port::Key& key) const {
  TRY(const auto reader, readers_.Take());
  return store::Get(*reader, key);
}

Result<port::Listing> SqliteStore::List(const port::ListQuery& query) const {
  TRY(const auto reader, readers_.Take());
  return store::List(*reader, query);
}

Revision SqliteStore::Newest() const {
  return feed_.Newest();
}

Revision SqliteStore::Oldest() const {
  return oldest_.load();
}

Result<std::unique_ptr<port::Watch>> SqliteStore::Follow(const std::string& kind, Revision from,
                                                         OnEvents on_events) {
  const Revision asked = from;
  if (from < Oldest()) {
    return Fail(Kind::kExpired, "", kind, fmt::format("revision {} is gone", asked));
  }
  if (from > feed_.Newest()) {  // perhaps durable, but not told yet
    TRY(const auto reader, readers_.Take());
    TRY(const Revision newest, NewestIn(*reader));
    if (from > newest) {
      return Fail(Kind::kExpired, "", kind, fmt::format("revision {} is not of this store", asked));
    }
  }
  // Each round reads what the ring has lost; commits would have to outrun it for ever.
  for (int round = 0; round < 10'000; ++round) {
    if (auto watch = feed_.Follow(kind, from, on_events)) return watch;
    TRY(const auto reader, readers_.Take());
    TRY(const History history, EventsAfter(*reader, kind, from));
    on_events(history.events, history.until);
    from = history.until;
  }
  return Fail(Kind::kExpired, "", kind,
              fmt::format("revision {} is too far back to catch up from", asked));
}

Result<std::vector<port::Key>> SqliteStore::Live(const std::string& kind) const {
  TRY(const auto reader, readers_.Take());
  return store::Live(*reader, kind);
}

Result<std::vector<port::DueKey>> SqliteStore::Due(base::Instant from, base::Instant until,
                                                   std::size_t limit) const {
  TRY(const auto reader, readers_.Take());
  return store::Due(*reader, from, until, limit);
}

Result<std::size_t> SqliteStore::CountDue(base::Instant from, base::Instant until) const {
  TRY(const auto reader, readers_.Take());
  return store::CountDue(*reader, from, until);
}

Result<std::vector<std::string>> SqliteStore::Records(const std::string& stream, std::size_t skip,
                                                      std::size_t limit) const {
  TRY(const auto reader, readers_.Take());
  return store::Records(*reader, stream, skip, limit);
}

Revision SqliteStore::CompactionTarget(base::Instant now) {
  const Revision newest = feed_.Newest();
  if (sightings_.empty() || sightings_.back().second != newest) {
    sightings_.emplace_back(now, newest);
    // Dropping every other one keeps the span and halves the precision.
    if (sightings_.size() > kMostSightings) {
      std::size_t number = 0;
      std::erase_if(sightings_, [&](const auto&) { return number++ % 2 == 1; });
    }
  }
  Revision old_enough = 0;
  while (!sightings_.empty() && sightings_.front().first <= now - settings_.keep) {
    old_enough = sightings_.front().second;
    if (sightings_.size() == 1 || sightings_[1].first > now - settings_.keep) break;
    sightings_.pop_front();
  }
  // The newest row holds the counter, so it is never compacted.
  return std::min({old_enough, newest - settings_.keep_revisions, newest - 1});
}

Result<bool> SqliteStore::CompactSome(Revision target) {
  for (int i = 0; i < kCompactionsPerCall && oldest_.load() < target; ++i) {
    const std::scoped_lock lock(writer_mutex_);
    TRY(const Revision oldest, writer_.CompactSome(target, kCompactAtOnce));
    oldest_.store(oldest);
  }
  return oldest_.load() < target;
}

Result<void> SqliteStore::EmptyLog() {
  {
    const std::scoped_lock lock(writer_mutex_);
    if (writer_.log_pages() <= settings_.log_pages) return {};
  }
  // Most of it beside the writer, then the rest while it waits: only a log that was emptied to its
  // end is written from its beginning again.
  Database::Options options = read_options_;
  options.read_only = false;
  TRY(const auto database, Database::Open(options));
  sqlite3_wal_checkpoint_v2(database->handle(), nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr,
                            nullptr);
  const std::scoped_lock lock(writer_mutex_);
  return writer_.Checkpoint();
}

Result<bool> SqliteStore::Maintain(base::Instant now) {
  const std::scoped_lock lock(maintenance_mutex_);
  if (unclean_) {
    TRY(const auto reader, readers_.Take());
    TRY(auto damage, CheckStructure(*reader));
    unclean_ = false;
    const std::scoped_lock damage_lock(damage_mutex_);
    damage_ = std::move(damage);
  }
  TRY(const bool more, CompactSome(CompactionTarget(now)));
  TRY_DO(EmptyLog());
  KeepRoom(settings_.path + "-wal");
  return more;
}

std::vector<std::string> SqliteStore::Damage() const {
  const std::scoped_lock lock(damage_mutex_);
  return damage_;
}

Result<std::vector<std::string>> SqliteStore::FullCheck() const {
  TRY(const auto reader, readers_.Take());
  return CheckAll(*reader);
}

Result<void> SqliteStore::Backup(const std::string& path) const {
  return BackUp(read_options_, path);
}

Result<base::Bytes> SqliteStore::FreeBytes() const {
  struct statvfs disk{};
  if (statvfs(settings_.path.c_str(), &disk) != 0) {
    return Fail(
        Kind::kUnavailable, "PND-S004", settings_.path,
        fmt::format("the disk cannot be asked for its free space ({})", std::strerror(errno)));
  }
  return base::Bytes{static_cast<std::int64_t>(disk.f_bavail) *
                     static_cast<std::int64_t>(disk.f_frsize)};
}

Result<void> SqliteStore::RoomForNew() const {
  TRY(const base::Bytes free, FreeBytes());
  if (free.value >= kFreeForNew) return {};
  return Fail(Kind::kUnavailable, "PND-S004", settings_.path,
              fmt::format("the disk is full: {} KiB are free; what is stored can be deleted, and "
                          "jobs go on, but nothing new is taken",
                          free.value >> 10));
}

}  // namespace pondage::store
