#include "agent/sweep.h"

#include <boost/json.hpp>
#include <chrono>
#include <filesystem>
#include <utility>

#include "manifest/annotations.h"
#include "manifest/object.h"
#include "manifest/pod.h"
#include "manifest/tfjob.h"
#include "run/replica_dir.h"

namespace pondage::agent {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPage = 500;
constexpr std::chrono::hours kFresh{1};  // `pondage run` makes its copy before the job is there

std::string WorkDirOf(const std::string& job_body) {
  const auto job = manifest::ParseJson(job_body);
  boost::system::error_code error;
  const boost::json::value* const annotations =
      job ? job->find_pointer("/metadata/annotations", error) : nullptr;
  if (annotations == nullptr || !annotations->is_object()) return "";
  const auto* const path = annotations->get_object().if_contains(manifest::kWorkDir);
  return path != nullptr && path->is_string() ? std::string(path->get_string()) : "";
}

}  // namespace

Sweep::Sweep(const std::string& data_dir, const port::Store& store, Erase erase)
    : data_dir_(data_dir), store_(store), erase_(std::move(erase)), copies_(data_dir) {}

// What is there is listed before its owners are read: what is made meanwhile is not in question.
base::Result<void> Sweep::Pass() {
  std::set<std::string> replicas = Replicas();
  std::set<fs::path> copies = copies_.Older(kFresh);
  if (replicas.empty() && copies.empty()) return {};

  TRY_DO(EachOf("tfjobs.kubeflow.org", [&](const port::Object& object) -> base::Result<void> {
    TRY(const auto job, manifest::DecodeTfJob(*object.body, [](const std::string&) { return 0; }));
    for (const job::Replica& replica : job.status.replicas) {
      for (int incarnation = 1; incarnation <= replica.incarnation; ++incarnation) {
        replicas.erase(manifest::PodUid(job.identity, replica.role, replica.index, incarnation));
      }
    }
    copies.erase(copies_.CopyOf(WorkDirOf(*object.body)));
    return {};
  }));
  TRY_DO(EachOf("pods", [&](const port::Object& object) -> base::Result<void> {
    replicas.erase(object.uid);
    return {};
  }));
  for (const std::string& uid : replicas) erase_(uid);
  for (const fs::path& copy : copies) copies_.Discard(copy);
  return {};
}

std::set<std::string> Sweep::Replicas() const {
  std::set<std::string> names;
  for (const char* const folder : {"replicas", "volumes"}) {
    std::error_code error;
    for (fs::directory_iterator entry(fs::path(data_dir_) / folder, error), end;
         !error && entry != end; entry.increment(error)) {
      std::string name = entry->path().filename().string();
      if (run::ReplicaDir::IsName(name)) names.insert(std::move(name));
    }
  }
  return names;
}

base::Result<void> Sweep::EachOf(const std::string& kind, const Understand& understand) const {
  port::ListQuery query{.kind = kind, .limit = kPage};
  while (true) {
    TRY(const port::Listing page, store_.List(query));
    for (const port::Object& object : page.objects) TRY_DO(understand(object));
    if (!page.more || page.objects.empty()) return {};
    query.at = page.revision;  // all of one moment
    query.after_space = page.objects.back().key.space;
    query.after_name = page.objects.back().key.name;
  }
}

}  // namespace pondage::agent
