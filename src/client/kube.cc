#include "client/kube.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>

#include "terminal/text.h"

namespace pondage::client {
namespace {

constexpr int kMostPages = 10'000;
constexpr auto kShortWatch = std::chrono::milliseconds(200);

std::string With(const std::string& target, const std::string& query) {
  return target + (target.find('?') == std::string::npos ? "?" : "&") + query;
}

void Pause(std::chrono::milliseconds length, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any woken;
  std::unique_lock lock(mutex);
  woken.wait_for(lock, stop, length, [] { return false; });
}

bool MayWorkLater(const base::Error& error) {
  return error.kind == base::Kind::kUnavailable;
}

}  // namespace

std::string TfJobPath(std::string_view space, std::string_view name) {
  std::string path = "/apis/kubeflow.org/v1";
  if (!space.empty()) path += "/namespaces/" + PercentEncode(space);
  path += "/tfjobs";
  if (!name.empty()) path += "/" + PercentEncode(name);
  return path;
}

std::string PodPath(std::string_view space, std::string_view name) {
  std::string path = "/api/v1/namespaces/" + PercentEncode(space) + "/pods";
  if (!name.empty()) path += "/" + PercentEncode(name);
  return path;
}

std::string PodsOfJob(std::string_view job) {
  return "labelSelector=" + PercentEncode(fmt::format("training.kubeflow.org/job-name={}", job));
}

base::Result<std::vector<json::value>> ListAll(Client& client, const std::string& target,
                                               std::string* version) {
  std::vector<json::value> all;
  std::string next;
  for (int page = 0; page < kMostPages; ++page) {
    std::string query = "limit=1000";
    if (!next.empty()) query += "&continue=" + PercentEncode(next);
    TRY(const json::value list, client.Get(With(target, query)));
    for (const json::value& item : Items(list, {"items"})) all.push_back(item);
    if (page == 0 && version != nullptr) *version = Text(list, {"metadata", "resourceVersion"});
    next = Text(list, {"metadata", "continue"});
    if (next.empty()) return all;
  }
  return base::Fail(base::Kind::kCorrupt, "PND-C012", target, "the list does not end");
}

std::string ThereAre(Client& client, const std::string& collection) {
  const auto all = ListAll(client, collection);
  if (!all) return "";
  std::vector<std::string> names;
  names.reserve(all->size());
  for (const json::value& each : *all) names.push_back(Text(each, {"metadata", "name"}));
  return "\nthere are: " + (names.empty() ? "none" : terminal::Join(names, ", "));
}

base::Result<void> CheckNamed(Client& client, const std::string& collection, std::string_view kind,
                              const std::string& name, const std::string& id) {
  const auto object = client.Get(collection + "/" + PercentEncode(name));
  if (object || object.error().kind != base::Kind::kNotFound) return {};
  return base::Fail(
      base::Kind::kNotFound, id, name,
      fmt::format("there is no {} \"{}\"{}", kind, name, ThereAre(client, collection)));
}

namespace {

// What is known of the collection: so that a list after a gap also says what is gone.
class Watcher {
 public:
  Watcher(Client& client, const std::string& target, const Watching& watching, std::stop_token stop)
      : client_(client), target_(target), watching_(watching), stop_(std::move(stop)) {}

  base::Result<void> Go() {
    bool away = false;
    auto since = std::chrono::steady_clock::now();
    while (wanted_ && !stop_.stop_requested()) {
      const auto before = std::chrono::steady_clock::now();
      auto outcome = Once();
      const auto now = std::chrono::steady_clock::now();
      if (outcome) {
        // A server that ends each watch at once must not be asked in a tight loop.
        if (listed_ && now - before < kShortWatch) Pause(kShortWatch, stop_);
        listed_ = true;
        if (away && watching_.on_away) watching_.on_away(false);
        away = false;
        continue;
      }
      if (outcome.error().kind == base::Kind::kExpired) {
        version_.clear();
        continue;
      }
      if (!MayWorkLater(outcome.error())) return outcome;
      version_.clear();  // list again: the first sign that it is back, and what changed meanwhile
      listed_ = false;
      if (!away) {
        since = now;
        away = true;
        if (watching_.on_away) watching_.on_away(true);
      } else if (now - since > watching_.patience) {
        return outcome;
      }
      Pause(std::chrono::milliseconds(500), stop_);
    }
    return {};
  }

 private:
  // A list when there is no version to go on from, else one watch to its end.
  base::Result<void> Once() {
    if (version_.empty()) return List();
    base::Result<void> verdict;
    auto outcome = client_.Lines(
        With(target_, "watch=true&allowWatchBookmarks=true&resourceVersion=" + version_),
        [&](std::string_view line, bool whole) {
          if (!whole) return false;  // torn by the end of the connection
          verdict = Take(line);
          return verdict.has_value() && wanted_;
        },
        stop_);
    if (!verdict) return verdict;
    return outcome;
  }

  base::Result<void> List() {
    std::string version;
    TRY(const auto items, ListAll(client_, target_, &version));
    std::map<std::string, json::value> gone = std::move(known_);
    known_.clear();
    for (const json::value& item : items) {
      const std::string uid = Text(item, {"metadata", "uid"});
      gone.erase(uid);
      known_[uid] = item;
      if (wanted_) wanted_ = watching_.on_change({Change::Type::kNow, item});
    }
    for (auto& [uid, item] : gone) {
      if (wanted_) wanted_ = watching_.on_change({Change::Type::kDeleted, std::move(item)});
    }
    version_ = version.empty() ? "0" : version;
    if (wanted_ && watching_.on_listed) watching_.on_listed();
    return {};
  }

  base::Result<void> Take(std::string_view line) {
    TRY(const json::value event, ParseReply(line, target_));
    const std::string type = Text(event, {"type"});
    const json::value* object = Find(event, {"object"});
    if (object == nullptr) return {};
    if (type == "ERROR") {
      return std::unexpected(ErrorOf(static_cast<int>(NumberOr(*object, {"code"}, 500)),
                                     json::serialize(*object), target_));
    }
    if (std::string version = Text(*object, {"metadata", "resourceVersion"}); !version.empty()) {
      version_ = std::move(version);
    }
    if (type == "BOOKMARK") return {};
    const std::string uid = Text(*object, {"metadata", "uid"});
    const bool deleted = type == "DELETED";
    if (deleted) {
      known_.erase(uid);
    } else {
      known_[uid] = *object;
    }
    wanted_ = watching_.on_change({deleted ? Change::Type::kDeleted : Change::Type::kNow, *object});
    return {};
  }

  Client& client_;
  const std::string& target_;
  const Watching& watching_;
  std::stop_token stop_;
  std::string version_;
  std::map<std::string, json::value> known_;
  bool wanted_ = true;
  bool listed_ = false;
};

}  // namespace

base::Result<void> Watch(Client& client, const std::string& target, const Watching& watching,
                         std::stop_token stop) {
  return Watcher(client, target, watching, std::move(stop)).Go();
}

}  // namespace pondage::client
