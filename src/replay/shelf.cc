#include "replay/shelf.h"

#include <algorithm>
#include <tuple>

#include "port/memory_store.h"

namespace pondage::replay {

using base::Fail;
using base::Kind;
using base::Result;

namespace {

std::string Name(const port::Key& key) {
  return key.kind + "/" + key.space + "/" + key.name;
}

// Calls `each` for every line that says an owner, without its line end.
template <class Each>
void EachOwner(std::string_view facets, Each each) {
  while (!facets.empty()) {
    const auto end = std::min(facets.find('\n'), facets.size());
    if (facets.starts_with("o:")) each(facets.substr(0, end));
    facets.remove_prefix(std::min(end + 1, facets.size()));
  }
}

}  // namespace

Result<void> Shelf::Check(const port::Batch& batch) const {
  std::map<port::Key, bool> there;  // after the changes so far
  for (const port::Change& change : batch.changes) {
    TRY_DO(port::CheckChange(change));
    auto [entry, fresh] = there.try_emplace(change.key, false);
    if (fresh) entry->second = objects_.contains(change.key);
    if (change.deleted && !entry->second) {
      return Fail(Kind::kInvalid, "", Name(change.key), "the object to delete is not there");
    }
    entry->second = !change.deleted;
  }
  return {};
}

Result<port::Revision> Shelf::Commit(const port::Batch& batch) {
  TRY_DO(Check(batch));
  const port::Revision first = newest_ + 1;
  for (const port::Change& change : batch.changes) {
    ++newest_;
    if (!change.deleted) {
      Put(change);
    } else if (const auto entry = objects_.find(change.key); entry != objects_.end()) {
      Take(entry);
      objects_.erase(entry);
    }
  }
  return first;
}

void Shelf::Put(const port::Change& change) {
  const auto [entry, is_new] = objects_.try_emplace(change.key);
  if (!is_new) Take(entry);
  const port::Revision created = is_new ? newest_ : entry->second.object.created;
  entry->second = {.object = {.key = change.key,
                              .uid = change.uid,
                              .revision = newest_,
                              .created = created,
                              .body = std::make_shared<const std::string>(change.body),
                              .splice = change.splice,
                              .facets = std::make_shared<const std::string>(change.facets)},
                   .live = change.live,
                   .due = change.due};
  EachOwner(change.facets,
            [&](std::string_view owner) { owned_[std::string(owner)].insert(change.key); });
  if (change.due) due_.emplace(*change.due, change.key);
}

void Shelf::Take(Objects::iterator entry) {
  EachOwner(*entry->second.object.facets, [&](std::string_view owner) {
    const auto owned = owned_.find(owner);
    if (owned == owned_.end()) return;  // the facets name it twice
    owned->second.erase(entry->first);
    if (owned->second.empty()) owned_.erase(owned);
  });
  if (entry->second.due) due_.erase({*entry->second.due, entry->first});
}

Result<port::Object> Shelf::Get(const port::Key& key) const {
  const auto entry = objects_.find(key);
  if (entry == objects_.end()) return Fail(Kind::kNotFound, "", Name(key), "not found");
  return entry->second.object;
}

Result<port::Listing> Shelf::List(const port::ListQuery& query) const {
  if (query.at != 0 && query.at != newest_) {
    return Fail(Kind::kExpired, "", query.kind, "the revision is gone");
  }
  port::Listing listing{.revision = newest_};
  const auto after = std::tie(query.after_space, query.after_name);
  // False: no more are wanted.
  const auto take = [&](const Entry& entry) {
    const port::Key& key = entry.object.key;
    if (std::tie(key.space, key.name) <= after) return true;
    if (!query.facet.empty() && !port::HasFacet(*entry.object.facets, query.facet)) return true;
    if (query.limit == 0 || listing.objects.size() < query.limit) {
      listing.objects.push_back(entry.object);
      return true;
    }
    listing.more = true;
    if (!query.count || !query.facet.empty()) return false;
    ++listing.remaining;
    return true;
  };
  const auto fits = [&](const port::Key& key) {
    return key.kind == query.kind && (query.space.empty() || key.space == query.space);
  };
  if (query.facet.starts_with("o:")) {
    const auto owned = owned_.find(query.facet);
    if (owned == owned_.end()) return listing;
    for (const port::Key& key : owned->second) {
      if (fits(key) && !take(objects_.at(key))) break;
    }
    return listing;
  }
  const std::string& first_space = query.space.empty() ? query.after_space : query.space;
  for (auto entry = objects_.lower_bound({query.kind, first_space, ""});
       entry != objects_.end() && fits(entry->first); ++entry) {
    if (!take(entry->second)) break;
  }
  return listing;
}

Result<std::unique_ptr<port::Watch>> Shelf::Follow(const std::string& kind, port::Revision,
                                                   OnEvents) {
  return Fail(Kind::kUnavailable, "", kind, "nobody watches a run in virtual time");
}

Result<std::vector<port::Key>> Shelf::Live(const std::string& kind) const {
  std::vector<port::Key> live;
  for (auto entry = objects_.lower_bound({kind, "", ""});
       entry != objects_.end() && entry->first.kind == kind; ++entry) {
    if (entry->second.live) live.push_back(entry->first);
  }
  return live;
}

Result<std::vector<port::DueKey>> Shelf::Due(base::Instant from, base::Instant until,
                                             std::size_t limit) const {
  std::vector<port::DueKey> due;
  for (auto entry = due_.lower_bound({from, {}}); entry != due_.end(); ++entry) {
    if (entry->first > until || due.size() == limit) break;
    due.push_back({entry->first, entry->second});
  }
  return due;
}

Result<std::size_t> Shelf::CountDue(base::Instant from, base::Instant until) const {
  std::size_t count = 0;
  for (auto entry = due_.lower_bound({from, {}}); entry != due_.end(); ++entry) {
    if (entry->first > until) break;
    ++count;
  }
  return count;
}

Result<std::vector<std::string>> Shelf::Records(const std::string&, std::size_t,
                                                std::size_t) const {
  return std::vector<std::string>{};
}

}  // namespace pondage::replay
