// TF_CONFIG, byte for byte as the Kubeflow training operator writes it.
//
// Pure. The address of a replica is an input: DNS names under Kubernetes, `127.0.0.1:port` for
// processes on one machine. The JSON around it never changes.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "job/spec.h"

namespace pondage::job {

using AddressOf = std::function<std::string(Role, int index)>;

// None when the job has one replica in all (#1078).
std::optional<std::string> TfConfig(const Spec& spec, Role role, int index,
                                    const AddressOf& address);

// Kubeflow's address: `J-t-i.N.svc[.domain]:port`.
std::string DnsAddress(const Spec& spec, const Identity& identity, const std::string& domain,
                       Role role, int index);

}  // namespace pondage::job
