// Where objects live in the API, and how to go on seeing them.
//
// Free functions over a Client; the thread rule is the client's.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "client/client.h"
#include "client/json.h"

namespace pondage::client {

std::string TfJobPath(std::string_view space, std::string_view name = "");
inline const std::string kQueues = "/apis/pondage.dev/v1alpha1/queues";
std::string PodPath(std::string_view space, std::string_view name = "");
// Selector for the Pods of a job, to stand behind `?` or `&`.
std::string PodsOfJob(std::string_view job);

// All items of a collection, page by page; `version` of the first page when asked for.
base::Result<std::vector<json::value>> ListAll(Client& client, const std::string& target,
                                               std::string* version = nullptr);

// What there is, to stand behind an error about a name that is not: "\nthere are: a, b". Empty
// where this account may not look.
std::string ThereAre(Client& client, const std::string& collection);
// kNotFound with `id` when the collection has no `kind` of that name. Who may not look passes.
base::Result<void> CheckNamed(Client& client, const std::string& collection, std::string_view kind,
                              const std::string& name, const std::string& id);

// One change of a watched collection.
struct Change {
  enum class Type { kNow, kDeleted } type;
  json::value object;
};

// Lists, then watches `target` (a collection with its selectors): every present object, then every
// change, until `on_change` says false or `stop` is asked for. A connection that ends is made
// again; a server that is away is waited for, `on_away` saying so at the first failure and again
// with false when it is back; when `patience` passes, its error is returned.
struct Watching {
  std::function<bool(const Change&)> on_change;
  std::function<void()> on_listed;  // after the objects of a (re)list
  std::function<void(bool away)> on_away;
  std::chrono::milliseconds patience{std::chrono::minutes(5)};
};
base::Result<void> Watch(Client& client, const std::string& target, const Watching& watching,
                         std::stop_token stop);

}  // namespace pondage::client
