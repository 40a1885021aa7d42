// Stored objects that cannot be read or understood. They stay as they are and are named aloud; the
// programs and GPUs of such a TFJob are kept for it, whatever it was about.
//
// Derived from the store at Load. On the loop's thread only, but for Texts().
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/id.h"
#include "base/result.h"
#include "port/store.h"

namespace pondage::loop {

// With the object's name in front, if the error has one.
std::string SentenceOf(const base::Error& error);

class SetAside {
 public:
  struct Object {
    std::string uid;                 // empty: not even that can be read
    std::string trouble;             // one sentence
    std::optional<base::JobId> job;  // in whose name the pool keeps GPUs for it
  };
  struct Program {
    base::JobId job;
    int start = 0;
  };

  void Clear();
  // Logged once for each key.
  void Put(const port::Key& key, Object object);
  void Remove(const port::Key& key);
  bool Contains(const port::Key& key) const { return objects_.contains(key); }
  std::size_t size() const { return objects_.size(); }
  const Object* Find(const port::Key& key) const;
  std::vector<port::Key> Keys(const std::string& kind) const;
  void Keep(const port::Key& key, base::JobId job) { objects_.at(key).job = job; }
  // Those that were put since the last call.
  std::vector<port::Key> TakeNews() { return std::exchange(news_, {}); }

  // Programs of such jobs, by the uid of their Pods, until their end is seen.
  void Run(const std::string& uid, Program program) { programs_[uid] = program; }
  const std::map<std::string, Program, std::less<>>& programs() const { return programs_; }
  bool Runs(const std::string& uid) const { return programs_.contains(uid); }
  // The job's object is deleted: what it keeps goes with the last of these programs.
  std::vector<std::string> Abandon(base::JobId job);
  struct End {
    bool abandoned = false;  // nobody will ask for its exit
    bool was_last = false;   // of its job
    base::JobId job;
  };
  // Requires Runs(uid).
  End Exit(const std::string& uid);

  // "tfjobs.kubeflow.org lab/bert: trouble", by key. Any thread.
  std::vector<std::string> Texts() const;

 private:
  void Publish();

  std::map<port::Key, Object> objects_;
  std::vector<port::Key> news_;
  std::map<std::string, Program, std::less<>> programs_;
  std::set<base::JobId> abandoned_;
  std::set<port::Key> logged_;
  mutable std::mutex mutex_;
  std::vector<std::string> texts_;
};

}  // namespace pondage::loop
