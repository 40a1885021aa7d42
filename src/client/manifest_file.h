// Manifests as files: read, and the place in the API of what they hold; names for new jobs.
//
// Pure but for reading the file.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "client/json.h"

namespace pondage::client {

// All documents of `file`; "-" is stdin.
base::Result<std::vector<json::object>> ReadManifests(const std::string& file);

struct ObjectPlace {
  std::string list_path;  // "/apis/kubeflow.org/v1/namespaces/ml/tfjobs"
  std::string object_path;
  std::string shown;  // "tfjob/mnist"
};
// `space` is for namespaced kinds that name none.
base::Result<ObjectPlace> PlaceOf(const json::object& object, const std::string& space);

// "mnist" of "mnist-7"; 7 of it, 0 when there is no number.
std::string NumberlessStem(std::string_view name);
int NumberOf(std::string_view name);
// The stem with the next number behind those of `jobs`.
std::string NextName(const std::string& stem, const std::vector<json::value>& jobs);

// Offers `name`; while it is taken (others submit at the same moment) and was not `chosen` by a
// person, the stem with the next number. The name that was accepted.
using Offer = std::function<base::Result<void>(const std::string& name)>;
base::Result<std::string> UnderFreeName(std::string name, bool chosen, const Offer& offer);

}  // namespace pondage::client
