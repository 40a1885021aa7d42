#include "store/database.h"

#include <fmt/format.h>

#include <mutex>

#include "base/assert.h"

namespace pondage::store {

using base::Fail;
using base::Kind;
using base::Result;

namespace {

// Longer than any checkpoint; only locks of SQLite's own housekeeping are ever waited for.
constexpr int kBusyMs = 10'000;

void InitialiseSqlite() {
  static std::once_flag once;
  // Its counters of memory cost one lock for every allocation of every reader.
  std::call_once(once, [] { sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); });
}

}  // namespace

Result<std::unique_ptr<Database>> Database::Open(const Options& options) {
  InitialiseSqlite();
  std::unique_ptr<Database> database(new Database(options.path));
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  flags |= options.read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
  if (options.create) flags |= SQLITE_OPEN_CREATE;
  const int code = sqlite3_open_v2(options.path.c_str(), &database->handle_, flags,
                                   options.vfs.empty() ? nullptr : options.vfs.c_str());
  if (code != SQLITE_OK) return std::unexpected(database->ErrorOf(code));
  sqlite3_busy_timeout(database->handle_, kBusyMs);
  TRY_DO(database->Run(fmt::format("PRAGMA cache_size={}", -options.cache_kib).c_str()));
  return database;
}

Database::~Database() {
  for (auto& [sql, statement] : prepared_) sqlite3_finalize(statement);
  PROMISE(sqlite3_close(handle_) == SQLITE_OK);
}

base::Error Database::ErrorOf(int code) const {
  const char* text = handle_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(handle_);
  const int system = handle_ == nullptr ? 0 : sqlite3_system_errno(handle_);
  base::Error error{Kind::kUnavailable, "PND-S004", path_, ""};
  switch (code & 0xff) {
    case SQLITE_FULL:
      error.message = "the disk is full";
      return error;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return {Kind::kCorrupt, "PND-S003", path_, fmt::format("the file is damaged ({})", text)};
    case SQLITE_IOERR:
      if (code == SQLITE_IOERR_DATA || code == SQLITE_IOERR_CORRUPTFS) {
        return {Kind::kCorrupt, "PND-S003", path_, "a page of the file is damaged"};
      }
      break;
    default:
      break;
  }
  error.message =
      fmt::format("the file cannot be used now ({}, code {}, errno {})", text, code, system);
  return error;
}

Result<void> Database::Run(const char* sql) {
  const int code = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return std::unexpected(ErrorOf(code));
  return {};
}

void Database::RollBack() {
  if (InTransaction()) sqlite3_exec(handle_, "ROLLBACK", nullptr, nullptr, nullptr);
}

sqlite3_stmt* Database::Prepared(const char* sql) {
  if (const auto found = prepared_.find(std::string_view(sql)); found != prepared_.end()) {
    return found->second;
  }
  sqlite3_stmt* statement = nullptr;
  const int code =
      sqlite3_prepare_v3(handle_, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) return nullptr;
  prepared_.emplace(sql, statement);
  return statement;
}

Query::Query(Database& database, const char* sql)
    : database_(database), statement_(database.Prepared(sql)) {
  // A statement that is used twice at a time would mix up both users' rows.
  REQUIRE(statement_ == nullptr || sqlite3_stmt_busy(statement_) == 0);
}

Query::~Query() {
  if (statement_ == nullptr) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

Query& Query::Bind(std::int64_t number) {
  if (statement_ != nullptr) sqlite3_bind_int64(statement_, ++bound_, number);
  return *this;
}

Query& Query::Bind(std::string_view text) {
  if (statement_ != nullptr) {
    // An empty view may hold a null pointer, which SQLite would take for NULL.
    sqlite3_bind_text64(statement_, ++bound_, text.empty() ? "" : text.data(), text.size(),
                        SQLITE_STATIC, SQLITE_UTF8);
  }
  return *this;
}

Query& Query::BindBlob(std::string_view bytes) {
  if (statement_ != nullptr) {
    sqlite3_bind_blob64(statement_, ++bound_, bytes.empty() ? "" : bytes.data(), bytes.size(),
                        SQLITE_STATIC);
  }
  return *this;
}

Query& Query::BindNull() {
  if (statement_ != nullptr) sqlite3_bind_null(statement_, ++bound_);
  return *this;
}

Result<bool> Query::Step() {
  if (statement_ == nullptr) {
    return std::unexpected(database_.ErrorOf(sqlite3_extended_errcode(database_.handle())));
  }
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return std::unexpected(database_.ErrorOf(code));
}

Result<void> Query::Run() {
  TRY(const bool row, Step());
  PROMISE(!row);
  return {};
}

Result<std::int64_t> Query::Number() {
  TRY(const bool row, Step());
  if (!row) return Fail(Kind::kCorrupt, "PND-S003", database_.path(), "a row of the state is gone");
  return Int(0);
}

std::string_view Query::Bytes(int column) const {
  const void* bytes = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  return bytes == nullptr
             ? std::string_view()
             : std::string_view(static_cast<const char*>(bytes), static_cast<std::size_t>(size));
}

}  // namespace pondage::store
