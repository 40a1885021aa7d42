#include "queue/tree.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/assert.h"

namespace pondage::queue {

Tree& Tree::operator=(const Tree& other) {
  entries_ = other.entries_;
  decay_ = other.decay_;
  Rehang();
  return *this;
}

void Tree::Put(Spec spec) {
  Entry& entry = entries_[spec.name];
  entry.spec = std::move(spec);
  entry.removed = false;
  Rehang();
}

void Tree::Remove(std::string_view name) {
  const auto found = entries_.find(name);
  if (found == entries_.end()) return;
  found->second.removed = true;
  found->second.spec.closed = true;
  if (found->second.own.value == 0) entries_.erase(found);
  Rehang();
}

const Spec* Tree::Find(std::string_view name) const {
  const Entry* entry = Known(name);
  return entry == nullptr || entry->removed ? nullptr : &entry->spec;
}

std::vector<std::string_view> Tree::PathUp(std::string_view leaf) const {
  std::vector<std::string_view> path;
  for (const Entry* at = Known(leaf); at != nullptr; at = at->parent) path.push_back(at->spec.name);
  return path;
}

std::optional<base::Millis> Tree::MaxRun(std::string_view leaf) const {
  std::optional<base::Millis> shortest;
  for (const Entry* at = Known(leaf); at != nullptr; at = at->parent) {
    if (at->spec.max_run && (!shortest || *at->spec.max_run < *shortest)) {
      shortest = at->spec.max_run;
    }
  }
  return shortest;
}

std::optional<std::string> Tree::HeldAt(std::string_view leaf) const {
  for (const Entry* at = Known(leaf); at != nullptr; at = at->parent) {
    if (at->spec.held) return at->spec.name;
  }
  return {};
}

std::optional<Over> Tree::WouldExceed(std::string_view leaf, base::MilliGpu ask) const {
  // An ask for nothing is never over, though a limit was lowered below what runs.
  if (ask.value == 0) return {};
  for (const Entry* at = Known(leaf); at != nullptr; at = at->parent) {
    if (at->spec.limit && at->used + ask > *at->spec.limit) {
      return Over{at->spec.name, at->used, *at->spec.limit, ask};
    }
  }
  return {};
}

std::optional<Over> Tree::NeverFits(std::string_view leaf, base::MilliGpu ask) const {
  for (const Entry* at = Known(leaf); at != nullptr; at = at->parent) {
    if (at->spec.limit && ask > *at->spec.limit) {
      return Over{at->spec.name, at->used, *at->spec.limit, ask};
    }
  }
  return {};
}

Tree::Entry& Tree::Touch(std::string_view leaf) {
  const auto found = entries_.find(leaf);
  if (found != entries_.end()) return found->second;
  Entry& entry = entries_[std::string(leaf)];
  entry.spec.name = leaf;
  entry.spec.closed = true;
  entry.removed = true;
  Rehang();
  return entry;
}

void Tree::Charge(std::string_view leaf, base::MilliGpu amount) {
  REQUIRE(amount.value >= 0);
  Entry& charged = Touch(leaf);
  charged.own += amount;
  for (Entry* at = &charged; at != nullptr; at = at->parent) at->used += amount;
}

void Tree::Refund(std::string_view leaf, base::MilliGpu amount) {
  REQUIRE(amount.value >= 0);
  if (amount.value == 0) return;  // a removed queue that only such jobs used may be gone
  const auto found = entries_.find(leaf);
  REQUIRE(found != entries_.end());
  REQUIRE(found->second.own >= amount);
  found->second.own -= amount;
  for (Entry* at = &found->second; at != nullptr; at = at->parent) at->used -= amount;
  if (found->second.removed && found->second.own.value == 0) {
    entries_.erase(found);
    Rehang();
  }
}

void Tree::Charge(std::string_view leaf, const std::string& user, base::MilliGpu amount,
                  base::Instant now) {
  Charge(leaf, amount);
  entries_.find(leaf)->second.users[user].Change(amount, now, decay_);
}

void Tree::Refund(std::string_view leaf, const std::string& user, base::MilliGpu amount,
                  base::Instant now) {
  const auto found = entries_.find(leaf);
  if (amount.value == 0 && found == entries_.end()) return;
  REQUIRE(found != entries_.end());
  found->second.users[user].Change(base::MilliGpu{} - amount, now, decay_);
  Refund(leaf, amount);
}

std::vector<Tree::UseOf> Tree::Uses() const {
  std::vector<UseOf> uses;
  for (const auto& [name, entry] : entries_) {
    for (const auto& [user, use] : entry.users) uses.push_back({name, user, use});
  }
  return uses;
}

const std::map<std::string, Use>* Tree::UsesIn(std::string_view leaf) const {
  const Entry* entry = Known(leaf);
  return entry == nullptr ? nullptr : &entry->users;
}

void Tree::Restore(const UseOf& use) {
  const auto entry = entries_.find(use.queue);
  if (entry == entries_.end()) return;
  Use& known = entry->second.users[use.user];
  known.value = use.use.value;
  known.at = use.use.at;
}

std::map<std::string_view, std::int64_t> Tree::Faded(base::Instant now) const {
  std::map<std::string_view, std::int64_t> sums;
  for (const auto& [name, entry] : entries_) {
    std::int64_t own = 0;
    for (const auto& [user, use] : entry.users) own += use.At(now, decay_);
    for (const Entry* at = &entry; at != nullptr; at = at->parent) sums[at->spec.name] += own;
  }
  return sums;
}

std::int64_t Tree::FadedOf(std::string_view leaf, const std::string& user,
                           base::Instant now) const {
  const Entry* entry = Known(leaf);
  if (entry == nullptr) return 0;
  const auto use = entry->users.find(user);
  return use == entry->users.end() ? 0 : use->second.At(now, decay_);
}

base::MilliGpu Tree::HeldBy(std::string_view leaf, const std::string& user) const {
  const Entry* entry = Known(leaf);
  if (entry == nullptr) return {};
  const auto use = entry->users.find(user);
  return use == entry->users.end() ? base::MilliGpu{} : use->second.rate;
}

base::MilliGpu Tree::Used(std::string_view name) const {
  const Entry* entry = Known(name);
  return entry == nullptr ? base::MilliGpu{} : entry->used;
}

base::MilliGpu Tree::Borrowed(std::string_view name) const {
  const Entry* entry = Known(name);
  if (entry == nullptr || entry->used <= entry->spec.guarantee) return {};
  return entry->used - entry->spec.guarantee;
}

std::vector<const Spec*> Tree::All() const {
  std::vector<const Spec*> all;
  for (const auto& [name, entry] : entries_) {
    if (!entry.removed) all.push_back(&entry.spec);
  }
  return all;
}

const Tree::Entry* Tree::Known(std::string_view name) const {
  const auto found = entries_.find(name);
  return found == entries_.end() ? nullptr : &found->second;
}

void Tree::Rehang() {
  for (auto& [name, entry] : entries_) {
    const auto parent = entries_.find(entry.spec.parent);
    entry.parent = parent == entries_.end() ? nullptr : &parent->second;
    entry.used = {};
  }
  CutCycles();
  for (auto& [name, entry] : entries_) {
    for (Entry* at = &entry; at != nullptr; at = at->parent) at->used += entry.own;
  }
}

void Tree::CutCycles() {
  std::set<std::string_view> hung;  // known to end at the root
  for (auto& [name, entry] : entries_) {
    std::vector<Entry*> walk;
    Entry* at = &entry;
    while (at != nullptr && !hung.contains(at->spec.name) &&
           std::ranges::find(walk, at) == walk.end()) {
      walk.push_back(at);
      at = at->parent;
    }
    if (at != nullptr && !hung.contains(at->spec.name)) {
      const auto first = std::ranges::min_element(
          std::ranges::find(walk, at), walk.end(), {},
          [](const Entry* member) -> const std::string& { return member->spec.name; });
      (*first)->parent = nullptr;
    }
    for (const Entry* member : walk) hung.insert(member->spec.name);
  }
}

}  // namespace pondage::queue
