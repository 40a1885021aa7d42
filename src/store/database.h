// One connection to the SQLite file, and a statement in use on it.
//
// Thread rule: a Database belongs to one thread at a time. Statements are prepared once for each
// text and kept. Errors: full disk and failed IO are kUnavailable (PND-S004), damage is kCorrupt
// (PND-S003).
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace pondage::store {

class Database {
 public:
  struct Options {
    std::string path;
    std::string vfs;         // empty: SQLite's own
    bool create = false;     // make the file when it is not there
    bool read_only = false;  // never writes the file
    int cache_kib = 1024;
  };

  static base::Result<std::unique_ptr<Database>> Open(const Options& options);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Runs every statement of `sql`; rows are dropped.
  base::Result<void> Run(const char* sql);

  // Whether a BEGIN is open.
  bool InTransaction() const { return sqlite3_get_autocommit(handle_) == 0; }
  // Ends an open transaction without its changes; for the error path, so it cannot fail.
  void RollBack();

  base::Error ErrorOf(int code) const;
  sqlite3* handle() const { return handle_; }
  const std::string& path() const { return path_; }

 private:
  friend class Query;
  explicit Database(std::string path) : path_(std::move(path)) {}
  // Null (with sqlite3_errcode set) when the text cannot be prepared now.
  sqlite3_stmt* Prepared(const char* sql);

  std::string path_;
  sqlite3* handle_ = nullptr;
  std::map<std::string, sqlite3_stmt*, std::less<>> prepared_;
};

// A statement while it is used: bind its parameters in order, step through its rows. What is bound
// must outlive the query; what a row gives holds until the next step.
class Query {
 public:
  Query(Database& database, const char* sql);
  ~Query();
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  Query& Bind(std::int64_t number);
  Query& Bind(std::string_view text);
  Query& BindBlob(std::string_view bytes);
  Query& BindNull();

  // True: there is a row. False: no more.
  base::Result<bool> Step();
  // For statements without rows.
  base::Result<void> Run();
  // For one that always has a row: its first column.
  base::Result<std::int64_t> Number();

  std::int64_t Int(int column) const { return sqlite3_column_int64(statement_, column); }
  bool IsNull(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
  std::string_view Bytes(int column) const;

 private:
  Database& database_;
  sqlite3_stmt* statement_;
  int bound_ = 0;
};

}  // namespace pondage::store
