#include "store/schema.h"

#include <fmt/format.h>

#include <array>

namespace pondage::store {

using base::Fail;
using base::Kind;
using base::Result;

namespace {

// log: every version of every object. `previous` is the version before it (0: none, or deleted
// then).
//   Large columns stand last: what is before them is read without touching the body's pages.
// head: the newest version of each object that is there.
// facet: the indexed facet lines of heads.
// state: one row. Before `oldest`, versions may be missing.
constexpr const char* kFirst = R"(
  CREATE TABLE state(
    id INTEGER PRIMARY KEY CHECK (id = 1), oldest INTEGER NOT NULL, clean INTEGER NOT NULL);
  INSERT INTO state VALUES (1, 0, 1);

  CREATE TABLE kind(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);

  CREATE TABLE log(
    revision INTEGER PRIMARY KEY, kind INTEGER NOT NULL, space TEXT NOT NULL, name TEXT NOT NULL,
    uid TEXT NOT NULL, created INTEGER NOT NULL, previous INTEGER NOT NULL,
    deleted INTEGER NOT NULL, splice INTEGER NOT NULL, checksum INTEGER NOT NULL,
    facets BLOB NOT NULL, body BLOB NOT NULL);
  CREATE INDEX log_by_key ON log(kind, space, name, revision DESC, deleted);

  CREATE TABLE head(
    kind INTEGER NOT NULL, space TEXT NOT NULL, name TEXT NOT NULL, revision INTEGER NOT NULL,
    live INTEGER NOT NULL, due_ms INTEGER, PRIMARY KEY (kind, space, name)) WITHOUT ROWID;
  CREATE INDEX head_live ON head(kind, space, name) WHERE live = 1;
  CREATE INDEX head_due ON head(due_ms) WHERE due_ms IS NOT NULL;

  CREATE TABLE facet(
    kind INTEGER NOT NULL, line TEXT NOT NULL, space TEXT NOT NULL, name TEXT NOT NULL,
    PRIMARY KEY (kind, line, space, name)) WITHOUT ROWID;

  CREATE TABLE record(
    stream TEXT NOT NULL, number INTEGER NOT NULL, checksum INTEGER NOT NULL, bytes BLOB NOT NULL,
    PRIMARY KEY (stream, number)) WITHOUT ROWID;
)";

constexpr std::array<const char*, 1> kAllSteps = {kFirst};

}  // namespace

const std::span<const char* const> kSteps = kAllSteps;

Result<void> Migrate(Database& database, std::span<const char* const> steps) {
  TRY(const std::int64_t version, Query(database, "PRAGMA user_version").Number());
  const auto newest = static_cast<std::int64_t>(steps.size());
  if (version == newest) return {};
  if (version < 0 || version > newest) {
    return Fail(Kind::kInvalid, "PND-S001", database.path(),
                fmt::format("the store has schema version {} and this program knows up to {}: "
                            "use the newer program, or a backup made by this one",
                            version, newest));
  }
  std::string script = "BEGIN IMMEDIATE;";
  for (const char* step : steps.subspan(static_cast<std::size_t>(version))) {
    script += step;
    script += ";";
  }
  script += fmt::format("PRAGMA user_version={};COMMIT", newest);
  if (auto done = database.Run(script.c_str()); !done) {
    database.RollBack();
    return done;
  }
  return {};
}

bool IsIndexedFacet(std::string_view line) {
  return line.starts_with("o:") || line.starts_with("l:training.kubeflow.org/job-name=");
}

}  // namespace pondage::store
