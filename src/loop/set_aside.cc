#include "loop/set_aside.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "base/assert.h"

namespace pondage::loop {
namespace {

std::string TextOf(const port::Key& key, const std::string& trouble) {
  return fmt::format("{} {}{}{}: {}", key.kind, key.space, key.space.empty() ? "" : "/", key.name,
                     trouble);
}

}  // namespace

std::string SentenceOf(const base::Error& error) {
  return error.object.empty() ? error.message : error.object + " " + error.message;
}

void SetAside::Clear() {
  objects_.clear();
  news_.clear();
  programs_.clear();
  abandoned_.clear();
  Publish();
}

void SetAside::Put(const port::Key& key, Object object) {
  if (logged_.insert(key).second) {
    spdlog::error("{}: it is left as it is; everything else goes on", TextOf(key, object.trouble));
  }
  if (objects_.insert_or_assign(key, std::move(object)).second) news_.push_back(key);
  Publish();
}

void SetAside::Remove(const port::Key& key) {
  objects_.erase(key);
  logged_.erase(key);
  std::erase(news_, key);
  Publish();
}

const SetAside::Object* SetAside::Find(const port::Key& key) const {
  const auto found = objects_.find(key);
  return found == objects_.end() ? nullptr : &found->second;
}

std::vector<port::Key> SetAside::Keys(const std::string& kind) const {
  std::vector<port::Key> keys;
  for (const auto& [key, object] : objects_) {
    if (key.kind == kind) keys.push_back(key);
  }
  return keys;
}

std::vector<std::string> SetAside::Abandon(base::JobId job) {
  std::vector<std::string> uids;
  for (const auto& [uid, program] : programs_) {
    if (program.job == job) uids.push_back(uid);
  }
  if (!uids.empty()) abandoned_.insert(job);
  return uids;
}

SetAside::End SetAside::Exit(const std::string& uid) {
  const auto found = programs_.find(uid);
  REQUIRE(found != programs_.end());
  End end{.job = found->second.job};
  programs_.erase(found);
  end.abandoned = abandoned_.contains(end.job);
  end.was_last = std::ranges::none_of(
      programs_, [&end](const auto& program) { return program.second.job == end.job; });
  if (end.was_last) abandoned_.erase(end.job);
  return end;
}

std::vector<std::string> SetAside::Texts() const {
  const std::scoped_lock lock(mutex_);
  return texts_;
}

void SetAside::Publish() {
  std::vector<std::string> texts;
  texts.reserve(objects_.size());
  for (const auto& [key, object] : objects_) texts.push_back(TextOf(key, object.trouble));
  const std::scoped_lock lock(mutex_);
  texts_ = std::move(texts);
}

}  // namespace pondage::loop
