#include "loop/pending.h"

#include "base/assert.h"
#include "manifest/object.h"

namespace pondage::loop {

port::Object Pending::ObjectOf(std::size_t index) const {
  const port::Change& change = batch_.changes[index];
  const auto revision = first_ + static_cast<port::Revision>(index);
  const auto created = created_.find(change.key);
  return {.key = change.key,
          .uid = change.uid,
          .revision = revision,
          .created = created == created_.end() ? revision : created->second,
          .body = std::make_shared<const std::string>(change.body),
          .splice = change.splice,
          .facets = std::make_shared<const std::string>(change.facets)};
}

base::Result<port::Object> Pending::Get(const port::Key& key) const {
  const auto found = latest_.find(key);
  if (found == latest_.end()) {
    auto stored = store_.Get(key);
    if (!stored) Note(stored.error());
    return stored;
  }
  if (batch_.changes[found->second].deleted) {
    return base::Fail(base::Kind::kNotFound, "", key.name, "not found");
  }
  return ObjectOf(found->second);
}

bool Pending::Exists(const port::Key& key) const {
  const auto object = Get(key);
  return object || object.error().kind != base::Kind::kNotFound;
}

base::Result<boost::json::object> Pending::Parsed(const port::Key& key) const {
  TRY(const port::Object object, Get(key));
  auto value = manifest::ParseJson(*object.body);
  if (!value || !value->is_object()) {
    return base::Fail(base::Kind::kCorrupt, "PND-S003", key.name,
                      value ? "is no JSON object" : "is no JSON: " + value.error().message);
  }
  return std::move(value->as_object());
}

base::Result<std::vector<port::Object>> Pending::List(const port::ListQuery& query) const {
  auto listing = store_.List(query);
  if (listing) return std::move(listing->objects);
  Note(listing.error());
  return std::unexpected(std::move(listing).error());
}

void Pending::Note(const base::Error& error) const {
  if (error.kind == base::Kind::kUnavailable && !trouble_) trouble_ = error;
}

std::vector<port::Key> Pending::Changed(std::string_view kind, const std::string& space) const {
  std::vector<port::Key> keys;
  const port::Key first{std::string(kind), space, ""};
  for (auto at = latest_.lower_bound(first); at != latest_.end(); ++at) {
    if (at->first.kind != kind || at->first.space != space) break;
    keys.push_back(at->first);
  }
  return keys;
}

port::Object Pending::Put(port::Change change) {
  REQUIRE(!change.deleted);
  const auto found = latest_.find(change.key);
  if (found != latest_.end()) {
    port::Change& before = batch_.changes[found->second];
    if (!before.deleted && before.uid == change.uid) {
      before = std::move(change);
      return ObjectOf(found->second);
    }
    created_.erase(change.key);
  } else if (const auto stored = Get(change.key); stored && stored->uid == change.uid) {
    created_[change.key] = stored->created;
  }
  latest_[change.key] = batch_.changes.size();
  batch_.changes.push_back(std::move(change));
  return ObjectOf(batch_.changes.size() - 1);
}

port::Object Pending::Delete(const port::Object& last) {
  port::Change change{.key = last.key,
                      .deleted = true,
                      .uid = last.uid,
                      .body = *last.body,
                      .splice = last.splice,
                      .facets = *last.facets};
  created_[change.key] = last.created;
  latest_[change.key] = batch_.changes.size();
  batch_.changes.push_back(std::move(change));
  return ObjectOf(batch_.changes.size() - 1);
}

}  // namespace pondage::loop
