// What is wrong with a Pod template, and what in it this pool does not act on.
//
// Pure. Paths begin with `template.spec`. Rules: those of Kubernetes that bear on what is acted on.
#pragma once

#include <string>
#include <vector>

#include "job/validate.h"
#include "manifest/pod_spec.h"

namespace pondage::manifest {

// Every error. Names and images of containers are left to job::Validate.
std::vector<job::FieldError> CheckTemplate(const PodSpec& spec);

// A sentence each, with its path.
std::vector<std::string> WarnOfTemplate(const PodSpec& spec);

}  // namespace pondage::manifest
