// TFJob objects: bytes <-> domain values. Field names of a TFJob are known here and nowhere else.
//
// Pure. Errors are collected by job::Validate over the draft; a document that is not even a JSON
// object of the right shape is kInvalid with the path.
#pragma once

#include <boost/json.hpp>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "job/spec.h"
#include "job/status.h"
#include "job/validate.h"
#include "manifest/security.h"

namespace pondage::manifest {

// What admission looks at.
base::Result<job::Draft> DraftOf(const boost::json::object& tfjob);

// What is accepted and not acted on: a sentence each, with the path, for HTTP Warning headers.
std::vector<std::string> Warnings(const boost::json::object& tfjob);

// What the Pods of one replica type ask of the machine, for whoever knows the machine.
struct RoleAsk {
  struct Mount {
    std::string path;  // of the volumeMount in the document
    std::string target;
    std::string host_path;  // with its subPath; empty: it is none
  };
  std::string path;  // of the Pod's spec
  AskedAccount account;
  std::vector<Mount> mounts;
};
std::vector<RoleAsk> RoleAsks(const boost::json::object& tfjob);

// Canonical form of an accepted document: replica keys re-cased, `runPolicy.suspend` stored.
void Canonicalise(boost::json::object& tfjob);

struct TfJob {
  job::Identity identity;  // id is not in the object: the caller sets it
  job::Spec spec;
  job::Status status;
  bool removed = false;  // deletionTimestamp is set
};
// `priority_of`: value of a PriorityClass by name (empty name: 0).
using PriorityOf = std::function<int(const std::string& priority_class)>;
base::Result<TfJob> DecodeTfJob(std::string_view bytes, const PriorityOf& priority_of);

// The `status` member: conditions, counts and times as Kubeflow writes them, `pondage` beside,
// which also keeps the milliseconds that Kubeflow's whole seconds lose.
boost::json::object EncodeStatus(const job::Status& status);
base::Result<job::Status> DecodeStatus(const boost::json::object& status);

}  // namespace pondage::manifest
