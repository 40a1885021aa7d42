// What a Pod and its container ask of the account that a program runs as, and what of it a pool of
// processes cannot give.
//
// Values; any thread. Every field of Kubernetes' PodSecurityContext and SecurityContext is acted
// on, refused with a sentence, or asks for no more than there is: security_test.cc has the table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "manifest/trouble.h"

namespace pondage::manifest {

// As one of the two objects says it.
struct Security {
  struct Refusal {
    std::string field;  // "capabilities.add"
    std::string why;
  };
  std::optional<std::int64_t> run_as_user, run_as_group, fs_group;
  std::vector<std::int64_t> groups;  // supplementalGroups
  bool strict_groups = false;        // those alone, not what else the user is in on this machine
  std::optional<bool> non_root;
  std::optional<bool> gains;          // allowPrivilegeEscalation
  bool drops = false;                 // capabilities
  std::vector<std::string> unheeded;  // fields that are accepted and mean nothing here
  std::vector<Refusal> refused;
};

Security DecodePodSecurity(const Reader& context);
Security DecodeContainerSecurity(const Reader& context);

// What the program is to have: the container's word counts before the Pod's.
struct AskedAccount {
  std::optional<std::uint32_t> user, group, fs_group;
  std::vector<std::uint32_t> groups;
  bool strict_groups = false;
  bool non_root = false;  // it must not be root
  bool no_new_privileges = false;
  bool drops = false;  // it must have no capabilities
  bool operator==(const AskedAccount&) const = default;
};
AskedAccount Merge(const Security& pod, const Security& container);

}  // namespace pondage::manifest
