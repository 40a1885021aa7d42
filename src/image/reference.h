// An image reference, taken apart: `[registry/]repository[:tag][@sha256:digest]`.
//
// Pure values. Grammar: the distribution project's reference grammar (docker.io is the registry of
// a name without one, library/ its default folder, `latest` the tag of a name without tag and
// digest).
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace pondage::image {

struct Reference {
  std::string registry;    // "docker.io"
  std::string repository;  // "tensorflow/tensorflow"
  std::string tag;         // empty when only a digest is given
  std::string digest;      // "sha256:…" or empty

  // Familiar short form: docker.io and library/ left out.
  std::string Short() const;
  bool operator==(const Reference&) const = default;
};

base::Result<Reference> Parse(std::string_view text);

// Whether an environment registered under `offered` serves a job that asks for `asked`: same
// registry and repository; same digest if `asked` has one, else same tag.
bool Serves(const Reference& offered, const Reference& asked);

}  // namespace pondage::image
