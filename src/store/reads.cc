#include "store/reads.h"

#include <fmt/format.h>

#include <utility>

#include "port/memory_store.h"
#include "store/schema.h"

namespace pondage::store {

using base::Fail;
using base::Kind;
using base::Result;
using port::Event;
using port::Listing;
using port::ListQuery;
using port::Object;
using port::Revision;

namespace {

// One look at the store: what is read while it lives belongs to one revision.
class Snapshot {
 public:
  static Result<Snapshot> Take(Database& database) {
    TRY_DO(database.Run("BEGIN"));
    Snapshot snapshot(database);
    TRY(snapshot.newest, NewestIn(database));
    TRY(snapshot.oldest, OldestIn(database));
    return snapshot;
  }
  Snapshot(Snapshot&& other) noexcept
      : newest(other.newest),
        oldest(other.oldest),
        database_(std::exchange(other.database_, nullptr)) {}
  Snapshot& operator=(Snapshot&&) = delete;
  ~Snapshot() {
    if (database_ != nullptr) database_->RollBack();
  }

  Result<void> Reach(Revision revision, const std::string& kind) const {
    if (revision >= oldest && revision <= newest) return {};
    return Fail(Kind::kExpired, "", kind,
                revision < oldest
                    ? fmt::format("revision {} is gone, the oldest is {}", revision, oldest)
                    : fmt::format("revision {} is not of this store", revision));
  }

  Revision newest = 0;
  Revision oldest = 0;

 private:
  explicit Snapshot(Database& database) : database_(&database) {}
  Database* database_;
};

// Where a list begins and what it is confined to, for table `t`: parameters ?2 and ?3.
std::string Scope(const ListQuery& query, const char* t) {
  return query.space.empty() ? fmt::format("({0}.space, {0}.name) > (?2, ?3)", t)
                             : fmt::format("{0}.space = ?2 AND {0}.name > ?3", t);
}

constexpr const char* kKindId = "(SELECT id FROM kind WHERE name = ?1)";

// The facet that every object has, and a key tells.
constexpr std::string_view kNameFacet = "f:metadata.name=";

bool NamesOne(const ListQuery& query) {
  return !query.space.empty() && query.facet.starts_with(kNameFacet);
}

// Five ways to the same rows, each in the order of one index (ListPlans in the test holds that).
enum class Way { kHeads, kFacet, kName, kLog, kLogOfOne };

Way WayOf(const ListQuery& query, bool newest) {
  if (!newest) return NamesOne(query) ? Way::kLogOfOne : Way::kLog;
  if (IsIndexedFacet(query.facet)) return Way::kFacet;
  return NamesOne(query) ? Way::kName : Way::kHeads;
}

std::string ListSql(const ListQuery& query, Way way) {
  switch (way) {
    case Way::kHeads:
      return fmt::format("SELECT " PONDAGE_VERSION_COLUMNS
                         " FROM head h CROSS JOIN log l ON l.revision = h.revision"
                         " WHERE h.kind = {} AND {} ORDER BY h.space, h.name",
                         kKindId, Scope(query, "h"));
    case Way::kFacet:
      return fmt::format("SELECT " PONDAGE_VERSION_COLUMNS
                         " FROM facet f CROSS JOIN head h"
                         " ON h.kind = f.kind AND h.space = f.space AND h.name = f.name"
                         " CROSS JOIN log l ON l.revision = h.revision"
                         " WHERE f.kind = {} AND {} AND f.line = ?4 ORDER BY f.space, f.name",
                         kKindId, Scope(query, "f"));
    case Way::kName:
      return fmt::format("SELECT " PONDAGE_VERSION_COLUMNS
                         " FROM head h CROSS JOIN log l ON l.revision = h.revision"
                         " WHERE h.kind = {} AND {} AND h.name = ?4",
                         kKindId, Scope(query, "h"));
    case Way::kLogOfOne:
      return fmt::format("SELECT " PONDAGE_VERSION_COLUMNS
                         " FROM log l INDEXED BY log_by_key WHERE l.kind = {} AND {}"
                         " AND l.name = ?4 AND l.revision <= ?5 ORDER BY l.revision DESC",
                         kKindId, Scope(query, "l"));
    case Way::kLog:
      return fmt::format("SELECT " PONDAGE_VERSION_COLUMNS
                         " FROM log l INDEXED BY log_by_key WHERE l.kind = {} AND {}"
                         " AND l.revision <= ?4 ORDER BY l.space, l.name, l.revision DESC",
                         kKindId, Scope(query, "l"));
  }
  std::unreachable();
}

std::string CountSql(const ListQuery& query, Way way) {
  if (way == Way::kHeads) {
    return fmt::format("SELECT count(*) FROM head h WHERE h.kind = {} AND {}", kKindId,
                       Scope(query, "h"));
  }
  return fmt::format(
      "SELECT count(*) FROM (SELECT l.deleted AS deleted, max(l.revision)"
      " FROM log l INDEXED BY log_by_key WHERE l.kind = {} AND {} AND l.revision <= ?4"
      " GROUP BY l.space, l.name) WHERE deleted = 0",
      kKindId, Scope(query, "l"));
}

// Behind which name of which namespace the list goes on; nothing when the end is already behind.
bool StartOf(const ListQuery& query, std::string_view& space, std::string_view& name) {
  space = query.after_space;
  name = query.after_name;
  if (query.space.empty()) return true;
  if (query.after_space > query.space) return false;
  if (query.after_space < query.space) name = "";
  space = query.space;
  return true;
}

Result<void> Collect(Query& rows, const ListQuery& query, Way way, Listing& listing) {
  std::string space;
  std::string name;
  bool first = true;
  for (;;) {
    TRY(const bool there, rows.Step());
    if (!there) return {};
    const VersionRow row(rows, query.kind);
    if (way == Way::kLog ||
        way == Way::kLogOfOne) {  // newest version first: the others of the same object are history
      if (!first && row.space() == space && row.name() == name) continue;
      first = false;
      space = row.space();
      name = row.name();
      if (row.deleted()) continue;
    }
    if (!query.facet.empty() && way != Way::kFacet && !port::HasFacet(row.facets(), query.facet)) {
      continue;
    }
    if (query.limit > 0 && listing.objects.size() == query.limit) {
      listing.more = true;
      return {};
    }
    TRY(Version version, row.Read());
    listing.objects.push_back(std::move(version.object));
  }
}

}  // namespace

Result<Revision> NewestIn(Database& database) {
  return Query(database, "SELECT ifnull(max(revision), 0) FROM log").Number();
}

Result<Revision> OldestIn(Database& database) {
  return Query(database, "SELECT oldest FROM state WHERE id = 1").Number();
}

Event EventOf(Version version, std::shared_ptr<const std::string> previous_facets) {
  using Type = Event::Type;
  const Type type = version.deleted         ? Type::kDeleted
                    : version.previous == 0 ? Type::kAdded
                                            : Type::kModified;
  return {type, std::move(version.object), std::move(previous_facets)};
}

Result<Object> Get(Database& database, const port::Key& key) {
  Query row(database, "SELECT " PONDAGE_VERSION_COLUMNS
                      " FROM head h CROSS JOIN log l ON l.revision = h.revision WHERE h.kind ="
                      " (SELECT id FROM kind WHERE name = ?1) AND h.space = ?2 AND h.name = ?3");
  row.Bind(key.kind).Bind(key.space).Bind(key.name);
  TRY(const bool there, row.Step());
  if (!there) return Fail(Kind::kNotFound, "", NameOf(key), "not found");
  TRY(Version version, VersionRow(row, key.kind).Read());
  if (version.deleted || version.object.key != key) {
    return Fail(Kind::kCorrupt, "PND-S003", NameOf(key), "the index leads to another object");
  }
  return std::move(version.object);
}

Result<Listing> List(Database& database, const ListQuery& query) {
  TRY(const Snapshot snapshot, Snapshot::Take(database));
  Listing listing{.revision = query.at == 0 ? snapshot.newest : query.at};
  TRY_DO(snapshot.Reach(listing.revision, query.kind));
  std::string_view space;
  std::string_view name;
  if (!StartOf(query, space, name)) return listing;
  const Way way = WayOf(query, listing.revision == snapshot.newest);
  Query rows(database, ListSql(query, way).c_str());
  rows.Bind(query.kind).Bind(space).Bind(name);
  if (way == Way::kFacet) rows.Bind(std::string_view(query.facet));
  if (way == Way::kName || way == Way::kLogOfOne) {
    rows.Bind(std::string_view(query.facet).substr(kNameFacet.size()));
  }
  if (way == Way::kLogOfOne) rows.Bind(listing.revision);
  if (way == Way::kLog) rows.Bind(listing.revision);
  TRY_DO(Collect(rows, query, way, listing));
  if (listing.more && query.count && query.facet.empty()) {
    const port::Key& last = listing.objects.back().key;
    Query count(database, CountSql(query, way).c_str());
    count.Bind(query.kind).Bind(last.space).Bind(last.name);
    if (way == Way::kLog) count.Bind(listing.revision);
    TRY(const std::int64_t remaining, count.Number());
    listing.remaining = static_cast<std::size_t>(remaining);
  }
  return listing;
}

Result<std::vector<port::Key>> Live(Database& database, const std::string& kind) {
  Query rows(database,
             "SELECT space, name FROM head INDEXED BY head_live WHERE live = 1 AND kind ="
             " (SELECT id FROM kind WHERE name = ?1) ORDER BY space, name");
  rows.Bind(kind);
  std::vector<port::Key> keys;
  for (;;) {
    TRY(const bool there, rows.Step());
    if (!there) return keys;
    keys.push_back({kind, std::string(rows.Bytes(0)), std::string(rows.Bytes(1))});
  }
}

Result<std::vector<port::DueKey>> Due(Database& database, base::Instant from, base::Instant until,
                                      std::size_t limit) {
  Query rows(database,
             "SELECT h.due_ms, k.name, h.space, h.name FROM head h INDEXED BY head_due"
             " CROSS JOIN kind k ON k.id = h.kind WHERE h.due_ms BETWEEN ?1 AND ?2"
             " ORDER BY h.due_ms, k.name, h.space, h.name LIMIT ?3");
  rows.Bind(from.unix_ms).Bind(until.unix_ms).Bind(static_cast<std::int64_t>(limit));
  std::vector<port::DueKey> due;
  for (;;) {
    TRY(const bool there, rows.Step());
    if (!there) return due;
    due.push_back(
        {{rows.Int(0)},
         {std::string(rows.Bytes(1)), std::string(rows.Bytes(2)), std::string(rows.Bytes(3))}});
  }
}

Result<std::size_t> CountDue(Database& database, base::Instant from, base::Instant until) {
  Query row(database,
            "SELECT count(*) FROM head INDEXED BY head_due WHERE due_ms BETWEEN ?1 AND ?2");
  TRY(const std::int64_t count, row.Bind(from.unix_ms).Bind(until.unix_ms).Number());
  return static_cast<std::size_t>(count);
}

Result<std::vector<std::string>> Records(Database& database, const std::string& stream,
                                         std::size_t skip, std::size_t limit) {
  Query rows(database,
             "SELECT number, checksum, bytes FROM record WHERE stream = ?1 AND number >= ?2"
             " ORDER BY number LIMIT ?3");
  rows.Bind(stream).Bind(static_cast<std::int64_t>(skip));
  rows.Bind(static_cast<std::int64_t>(limit));
  std::vector<std::string> lines;
  for (;;) {
    TRY(const bool there, rows.Step());
    if (!there) return lines;
    const std::int64_t number = rows.Int(0);
    const std::string_view bytes = rows.Bytes(2);
    if (number != static_cast<std::int64_t>(skip + lines.size()) ||
        rows.Int(1) != ChecksumOfRecord(stream, number, bytes)) {
      return Fail(Kind::kCorrupt, "PND-S003", fmt::format("{}/{}", stream, skip + lines.size()),
                  "the stored record is not what was written");
    }
    lines.emplace_back(bytes);
  }
}

Result<History> EventsAfter(Database& database, const std::string& kind, Revision from) {
  constexpr std::size_t kEvents = 512;
  constexpr std::size_t kBytes = 4 << 20;
  TRY(const Snapshot snapshot, Snapshot::Take(database));
  TRY_DO(snapshot.Reach(from, kind));
  Query rows(database, "SELECT " PONDAGE_VERSION_COLUMNS
                       ", p.facets FROM log l LEFT JOIN log p ON p.revision = l.previous"
                       " WHERE l.revision > ?2 AND +l.kind ="
                       " (SELECT id FROM kind WHERE name = ?1) ORDER BY l.revision");
  rows.Bind(kind).Bind(from);
  History history{.until = snapshot.newest};
  for (std::size_t bytes = 0; history.events.size() < kEvents && bytes < kBytes;) {
    TRY(const bool there, rows.Step());
    if (!there) return history;
    TRY(Version version, VersionRow(rows, kind).Read());
    bytes += version.object.body->size();
    auto facets = version.previous == 0
                      ? nullptr
                      : std::make_shared<const std::string>(rows.Bytes(kVersionColumns));
    history.events.push_back(EventOf(std::move(version), std::move(facets)));
  }
  history.until = history.events.back().object.revision;
  return history;
}

}  // namespace pondage::store
