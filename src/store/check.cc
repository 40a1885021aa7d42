#include "store/check.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "store/schema.h"
#include "store/version.h"

namespace pondage::store {

using base::Kind;
using base::Result;

namespace {

constexpr std::size_t kMost = 100;

using Problems = std::vector<std::string>;

// Damage that stops a statement is itself a finding; anything else means that we could not look.
template <class Look>
Result<void> Note(Problems& problems, Look look) {
  Result<void> looked = look(problems);
  if (looked || looked.error().kind != Kind::kCorrupt) return looked;
  problems.push_back(fmt::format("{}: {}", looked.error().object, looked.error().message));
  return {};
}

Result<void> RunPragma(Database& database, const char* pragma, Problems& problems) {
  Query rows(database, pragma);
  for (;;) {
    TRY(const bool there, rows.Step());
    if (!there) return {};
    if (rows.Bytes(0) != "ok" && problems.size() < kMost) problems.emplace_back(rows.Bytes(0));
  }
}

Result<void> CheckVersions(Database& database, Problems& problems) {
  Query rows(database, "SELECT ifnull(k.name, ''), " PONDAGE_VERSION_COLUMNS
                       " FROM log l LEFT JOIN kind k ON k.id = l.kind ORDER BY l.revision");
  while (problems.size() < kMost) {
    TRY(const bool there, rows.Step());
    if (!there) break;
    const std::string kind(rows.Bytes(0));
    const auto sound = VersionRow(rows, kind, 1).Verify();
    if (!sound) {
      problems.push_back(fmt::format("{} at revision {}: {}", sound.error().object, rows.Int(1),
                                     sound.error().message));
    }
  }
  return {};
}

Result<void> CheckRecords(Database& database, Problems& problems) {
  Query rows(database,
             "SELECT stream, number, checksum, bytes FROM record ORDER BY stream, number");
  std::string stream;
  std::int64_t expected = 0;
  while (problems.size() < kMost) {
    TRY(const bool there, rows.Step());
    if (!there) break;
    if (rows.Bytes(0) != stream) expected = 0;
    stream = rows.Bytes(0);
    const std::int64_t number = rows.Int(1);
    if (number != expected) {
      problems.push_back(
          fmt::format("{}: records {} to {} are gone", stream, expected, number - 1));
    }
    if (rows.Int(2) != ChecksumOfRecord(stream, number, rows.Bytes(3))) {
      problems.push_back(fmt::format("{}: record {} is not what was written", stream, number));
    }
    expected = number + 1;
  }
  return {};
}

struct Rule {
  const char* says;
  const char* offenders;  // kind, space, name of each
};

constexpr Rule kRules[] = {
    {"the newest version is missing from the index of objects",
     "SELECT k.name, n.space, n.name FROM (SELECT kind, space, name, deleted, max(revision) AS r"
     " FROM log GROUP BY kind, space, name) n JOIN kind k ON k.id = n.kind LEFT JOIN head h ON"
     " h.kind = n.kind AND h.space = n.space AND h.name = n.name AND h.revision = n.r"
     " WHERE n.deleted = 0 AND h.revision IS NULL"},
    {"the index of objects leads to no version or to a deleted one",
     "SELECT ifnull(k.name, ''), h.space, h.name FROM head h LEFT JOIN kind k ON k.id = h.kind"
     " LEFT JOIN log l ON l.revision = h.revision AND l.kind = h.kind AND l.space = h.space"
     " AND l.name = h.name WHERE l.revision IS NULL OR l.deleted = 1 OR k.id IS NULL"},
    {"the index of facets names an object that is not there",
     "SELECT ifnull(k.name, ''), f.space, f.name FROM facet f LEFT JOIN kind k ON k.id = f.kind"
     " LEFT JOIN head h ON h.kind = f.kind AND h.space = f.space AND h.name = f.name"
     " WHERE h.revision IS NULL"},
};

Result<void> CheckRules(Database& database, Problems& problems) {
  for (const Rule& rule : kRules) {
    Query rows(database, rule.offenders);
    while (problems.size() < kMost) {
      TRY(const bool there, rows.Step());
      if (!there) break;
      const port::Key key{std::string(rows.Bytes(0)), std::string(rows.Bytes(1)),
                          std::string(rows.Bytes(2))};
      problems.push_back(fmt::format("{}: {}", NameOf(key), rule.says));
    }
  }
  return {};
}

// Each head's indexed facet lines, against the index.
Result<void> CheckFacets(Database& database, Problems& problems) {
  Query heads(database,
              "SELECT k.name, h.kind, h.space, h.name, l.facets FROM head h JOIN kind k ON"
              " k.id = h.kind JOIN log l ON l.revision = h.revision");
  while (problems.size() < kMost) {
    TRY(const bool there, heads.Step());
    if (!there) break;
    std::string_view facets = heads.Bytes(4);
    while (!facets.empty()) {
      const std::string_view line = facets.substr(0, facets.find('\n'));
      facets.remove_prefix(std::min(line.size() + 1, facets.size()));
      if (!IsIndexedFacet(line)) continue;
      Query entry(database,
                  "SELECT count(*) FROM facet WHERE kind=?1 AND line=?2 AND space=?3 AND name=?4");
      entry.Bind(heads.Int(1)).Bind(line).Bind(heads.Bytes(2)).Bind(heads.Bytes(3));
      TRY(const std::int64_t found, entry.Number());
      if (found == 1) continue;
      const port::Key key{std::string(heads.Bytes(0)), std::string(heads.Bytes(2)),
                          std::string(heads.Bytes(3))};
      problems.push_back(
          fmt::format("{}: {} is missing from the index of facets", NameOf(key), line));
    }
  }
  return {};
}

}  // namespace

Result<Problems> CheckStructure(Database& database) {
  Problems problems;
  TRY_DO(Note(problems, [&](Problems& into) {
    return RunPragma(database, "PRAGMA quick_check(100)", into);
  }));
  return problems;
}

Result<Problems> CheckAll(Database& database) {
  TRY_DO(database.Run("BEGIN"));
  Problems problems;
  const auto look = [&](auto check) {
    return Note(problems, [&](Problems& into) { return check(database, into); });
  };
  TRY_DO(Note(problems, [&](Problems& into) {
    return RunPragma(database, "PRAGMA integrity_check(100)", into);
  }));
  TRY_DO(look(CheckVersions));
  TRY_DO(look(CheckRecords));
  TRY_DO(look(CheckRules));
  TRY_DO(look(CheckFacets));
  database.RollBack();
  return problems;
}

}  // namespace pondage::store
