// What the server tells and does beside Kubernetes' API: itself, its environments, a backup.
//
//   GET    /pondage/v1/info                  ?image=: what serves it
//   GET    /pondage/v1/environments          POST {image, path}          DELETE ?image=
//   POST   /pondage/v1/backup {path}
//
// Any thread. Who may see and do what, api decides; what is for administrators alone is left out of
// an answer to others. What takes long (it starts a Python, it copies the store) is done on a
// thread of its own kind, so that it holds up neither the API nor the other.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/account.h"
#include "agent/environments.h"
#include "api/request.h"
#include "api/response.h"
#include "cmd/lane.h"
#include "store/sqlite_store.h"

namespace pondage::cmd {

class OwnViews {
 public:
  static constexpr std::size_t kWaiting = 100;  // of each kind, behind the one that is under way
  using Sentences = std::function<std::vector<std::string>()>;
  // `unreadable`: objects that the server had to set aside. `not_limited`: why not every limit of a
  // job is enforced on this machine; empty: all are. `url`: by which other machines find it, if
  // any. `run_as`: whose jobs an environment must serve.
  OwnViews(std::string data_dir, const store::SqliteStore& store, Sentences unreadable,
           std::string not_limited = "", std::optional<agent::Account> run_as = {},
           std::string url = "")
      : data_dir_(data_dir),
        store_(store),
        unreadable_(std::move(unreadable)),
        not_limited_(std::move(not_limited)),
        run_as_(std::move(run_as)),
        url_(std::move(url)),
        environments_(std::move(data_dir)) {}

  // False: the path is not one of these. `reply` is called on any thread.
  bool Answer(const api::Request& request, const api::Reply& reply);
  // What waits is refused, what is under way is brought to its end; then nothing replies any more.
  void End();

 private:
  api::Response Info(const api::Request& request) const;
  api::Response Environments(const api::Request& request);
  api::Response AddEnvironment(const api::Request& request);
  base::Result<void> MayServe(const std::string& prefix) const;
  api::Response Backup(const api::Request& request) const;
  void Later(Lane& lane, const api::Reply& reply, std::function<api::Response()> work);

  const std::string data_dir_;
  const store::SqliteStore& store_;
  const Sentences unreadable_;
  const std::string not_limited_;
  const std::optional<agent::Account> run_as_;
  const std::string url_;
  agent::Environments environments_;
  Lane probes_{kWaiting}, backups_{kWaiting};  // end first: their work uses the rest
};

}  // namespace pondage::cmd
