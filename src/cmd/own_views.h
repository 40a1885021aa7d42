// What the server tells and does beside Kubernetes' API: itself, its environments, a backup.
//
//   GET    /pondage/v1/info
//   GET    /pondage/v1/environments          POST {image, path}          DELETE ?image=
//   POST   /pondage/v1/backup {path}
//
// Any thread; administrators only (api decides). Answers as api::Response.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/environments.h"
#include "api/request.h"
#include "api/response.h"
#include "store/sqlite_store.h"

namespace pondage::cmd {

class OwnViews {
 public:
  using Sentences = std::function<std::vector<std::string>()>;
  // `unreadable`: objects that the server had to set aside.
  OwnViews(std::string data_dir, const store::SqliteStore& store, Sentences unreadable)
      : data_dir_(data_dir),
        store_(store),
        unreadable_(std::move(unreadable)),
        environments_(std::move(data_dir)) {}

  // None: the path is not one of these.
  std::optional<api::Response> Answer(const api::Request& request) const;

 private:
  api::Response Info(const api::Request& request) const;
  api::Response Environments(const api::Request& request) const;
  api::Response Backup(const api::Request& request) const;

  const std::string data_dir_;
  const store::SqliteStore& store_;
  const Sentences unreadable_;
  mutable agent::Environments environments_;
};

}  // namespace pondage::cmd
