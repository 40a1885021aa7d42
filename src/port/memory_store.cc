#include "port/memory_store.h"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

#include "base/assert.h"

namespace pondage::port {

using base::Fail;
using base::Kind;
using base::Result;

class MemoryStore::MemoryWatch : public Watch {
 public:
  MemoryWatch(MemoryStore& store, int number) : store_(store), number_(number) {}
  ~MemoryWatch() override {
    const std::scoped_lock lock(store_.mutex_);
    store_.followers_.erase(number_);
  }

 private:
  MemoryStore& store_;
  int number_;
};

bool HasFacet(std::string_view facets, std::string_view line) {
  for (std::size_t at = facets.find(line); at != std::string::npos;
       at = facets.find(line, at + 1)) {
    const std::size_t end = at + line.size();
    if ((at == 0 || facets[at - 1] == '\n') && end < facets.size() && facets[end] == '\n')
      return true;
  }
  return false;
}

Result<void> CheckChange(const Change& change) {
  const auto invalid = [&](const char* why) {
    const Key& key = change.key;
    return Fail(Kind::kInvalid, "", key.kind + "/" + key.space + "/" + key.name, why);
  };
  if (change.key.kind.empty()) return invalid("the change names no kind");
  if (change.key.name.empty()) return invalid("the change names no object");
  if (change.splice > change.body.size()) return invalid("the splice lies behind the body");
  if (!change.facets.empty() && change.facets.back() != '\n') {
    return invalid("the last facet has no line end");
  }
  return {};
}

const MemoryStore::Version* MemoryStore::StateAt(const History& history, Revision revision) {
  auto behind = history.upper_bound(revision);
  if (behind == history.begin()) return nullptr;
  const Version& version = std::prev(behind)->second;
  return version.deleted ? nullptr : &version;
}

Result<void> MemoryStore::Check(const Batch& batch) const {
  std::map<Key, bool> there;  // after the changes so far
  for (const Change& change : batch.changes) {
    TRY_DO(CheckChange(change));
    auto [entry, fresh] = there.try_emplace(change.key, false);
    if (fresh) {
      const auto history = versions_.find(change.key);
      entry->second = history != versions_.end() && StateAt(history->second, newest_) != nullptr;
    }
    if (change.deleted && !entry->second) {
      return Fail(Kind::kInvalid, "",
                  change.key.kind + "/" + change.key.space + "/" + change.key.name,
                  "the object to delete is not there");
    }
    entry->second = !change.deleted;
  }
  return {};
}

void MemoryStore::Apply(const Change& change, Revision revision) {
  History& history = versions_[change.key];
  const Version* before = StateAt(history, revision - 1);
  const Revision created = before == nullptr ? revision : before->object.created;
  history[revision] = {.object = {.key = change.key,
                                  .uid = change.uid,
                                  .revision = revision,
                                  .created = created,
                                  .body = std::make_shared<const std::string>(change.body),
                                  .splice = change.splice,
                                  .facets = std::make_shared<const std::string>(change.facets)},
                       .deleted = change.deleted,
                       .live = change.live,
                       .due = change.due};
  log_[revision] = change.key;
}

Result<Revision> MemoryStore::Commit(const Batch& batch) {
  const std::scoped_lock lock(mutex_);
  TRY_DO(Check(batch));
  const Revision first = newest_ + 1;
  for (const Change& change : batch.changes) Apply(change, ++newest_);
  for (const Record& record : batch.records) records_[record.stream].push_back(record.bytes);
  Tell(first - 1);
  return first;
}

std::vector<Event> MemoryStore::EventsAfter(const std::string& kind, Revision from) const {
  std::vector<Event> events;
  for (auto entry = log_.upper_bound(from); entry != log_.end(); ++entry) {
    const auto& [revision, key] = *entry;
    if (key.kind != kind) continue;
    const History& history = versions_.at(key);
    const Version& version = history.at(revision);
    const Version* before = StateAt(history, revision - 1);
    Event event{.type = Event::Type::kAdded, .object = version.object, .previous_facets = nullptr};
    if (before != nullptr) {
      event.type = version.deleted ? Event::Type::kDeleted : Event::Type::kModified;
      event.previous_facets = before->object.facets;
    }
    events.push_back(std::move(event));
  }
  return events;
}

void MemoryStore::Tell(Revision from) const {
  std::map<std::string, std::vector<Event>> by_kind;
  for (const auto& [number, follower] : followers_) {
    auto [events, fresh] = by_kind.try_emplace(follower.kind);
    if (fresh) events->second = EventsAfter(follower.kind, from);
    follower.on_events(events->second, newest_);
  }
}

Result<Object> MemoryStore::Get(const Key& key) const {
  const std::scoped_lock lock(mutex_);
  const auto history = versions_.find(key);
  const Version* version = history == versions_.end() ? nullptr : StateAt(history->second, newest_);
  if (version == nullptr) {
    return Fail(Kind::kNotFound, "", key.kind + "/" + key.space + "/" + key.name, "not found");
  }
  return version->object;
}

Result<Listing> MemoryStore::List(const ListQuery& query) const {
  const std::scoped_lock lock(mutex_);
  const Revision at = query.at == 0 ? newest_ : query.at;
  if (Expired(at)) return Fail(Kind::kExpired, "", query.kind, "the revision is gone");
  Listing listing{.revision = at};
  const std::string& first_space = query.space.empty() ? query.after_space : query.space;
  for (auto entry = versions_.lower_bound({query.kind, first_space, ""}); entry != versions_.end();
       ++entry) {
    const auto& [key, history] = *entry;
    if (key.kind != query.kind || (!query.space.empty() && key.space != query.space)) break;
    if (std::tie(key.space, key.name) <= std::tie(query.after_space, query.after_name)) continue;
    const Version* version = StateAt(history, at);
    if (version == nullptr) continue;
    if (!query.facet.empty() && !HasFacet(*version->object.facets, query.facet)) continue;
    if (query.limit == 0 || listing.objects.size() < query.limit) {
      listing.objects.push_back(version->object);
      continue;
    }
    listing.more = true;
    if (!query.count || !query.facet.empty()) break;
    ++listing.remaining;
  }
  return listing;
}

Revision MemoryStore::Newest() const {
  const std::scoped_lock lock(mutex_);
  return newest_;
}

Revision MemoryStore::Oldest() const {
  const std::scoped_lock lock(mutex_);
  return oldest_;
}

Result<std::unique_ptr<Watch>> MemoryStore::Follow(const std::string& kind, Revision from,
                                                   OnEvents on_events) {
  const std::scoped_lock lock(mutex_);
  if (Expired(from)) return Fail(Kind::kExpired, "", kind, "the revision is gone");
  on_events(EventsAfter(kind, from), newest_);
  const int number = next_follower_++;
  followers_.emplace(number, Follower{kind, std::move(on_events)});
  return std::make_unique<MemoryWatch>(*this, number);
}

Result<std::vector<Key>> MemoryStore::Live(const std::string& kind) const {
  const std::scoped_lock lock(mutex_);
  std::vector<Key> live;
  for (auto entry = versions_.lower_bound({kind, "", ""});
       entry != versions_.end() && entry->first.kind == kind; ++entry) {
    const Version* version = StateAt(entry->second, newest_);
    if (version != nullptr && version->live) live.push_back(entry->first);
  }
  return live;
}

Result<std::vector<DueKey>> MemoryStore::Due(base::Instant from, base::Instant until,
                                             std::size_t limit) const {
  const std::scoped_lock lock(mutex_);
  std::vector<DueKey> due;
  for (const auto& [key, history] : versions_) {
    const Version* version = StateAt(history, newest_);
    if (version == nullptr || !version->due) continue;
    if (*version->due < from || *version->due > until) continue;
    due.push_back({*version->due, key});
  }
  std::ranges::stable_sort(due, {}, &DueKey::due);
  if (due.size() > limit) due.resize(limit);
  return due;
}

Result<std::size_t> MemoryStore::CountDue(base::Instant from, base::Instant until) const {
  TRY(const auto due, Due(from, until, std::numeric_limits<std::size_t>::max()));
  return due.size();
}

Result<std::vector<std::string>> MemoryStore::Records(const std::string& stream, std::size_t skip,
                                                      std::size_t limit) const {
  const std::scoped_lock lock(mutex_);
  const auto lines = records_.find(stream);
  if (lines == records_.end() || skip >= lines->second.size()) return std::vector<std::string>();
  const auto first = lines->second.begin() + static_cast<std::ptrdiff_t>(skip);
  const std::size_t count = std::min(limit, lines->second.size() - skip);
  return std::vector<std::string>(first, first + static_cast<std::ptrdiff_t>(count));
}

void MemoryStore::CompactTo(Revision oldest) {
  const std::scoped_lock lock(mutex_);
  REQUIRE(oldest <= newest_);
  if (oldest <= oldest_) return;
  oldest_ = oldest;
  std::set<Key> touched;
  for (auto entry = log_.begin(); entry != log_.end() && entry->first <= oldest;
       entry = log_.erase(entry)) {
    touched.insert(entry->second);
  }
  for (const Key& key : touched) {
    History& history = versions_.at(key);
    auto keep = history.upper_bound(oldest);
    // The newest version at `oldest` is its state, and what later events need of the past.
    if (keep != history.begin() && !std::prev(keep)->second.deleted) --keep;
    history.erase(history.begin(), keep);
    if (history.empty()) versions_.erase(key);
  }
}

}  // namespace pondage::port
