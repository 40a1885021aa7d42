// Which stored objects the programs of a Pod cannot do without.
//
// Pure. What is marked optional is no need, nor is what only containers name that are not run here.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "job/spec.h"
#include "manifest/pod_spec.h"

namespace pondage::manifest {

void AddNeeds(const PodSpec& spec, std::vector<job::Need>& needs);
// Of a stored Pod.
base::Result<std::vector<job::Need>> NeedsOfPod(std::string_view pod_bytes);

// Kind part of the key under which such an object is stored.
const char* StorageOf(job::Need::Kind kind);
// Whether that object, which is there, has what is needed of it.
bool Meets(const job::Need& need, std::string_view body);

}  // namespace pondage::manifest
