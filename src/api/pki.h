// Keys and certificates of a server that stands alone, and the kubeconfig that trusts them.
//
// Pure but for randomness; EC P-256. Times are handed in.
#pragma once

#include <string>
#include <vector>

#include "base/instant.h"
#include "base/result.h"

namespace pondage::api {

struct KeyPair {
  std::string certificate_pem;
  std::string key_pem;
};

// A CA of its own, good for ten years.
base::Result<KeyPair> MakeAuthority(base::Instant now);

// A server certificate of that CA, good for a year: localhost, 127.0.0.1, ::1 and `names` (DNS
// names or addresses).
base::Result<KeyPair> MakeServerCertificate(const KeyPair& authority,
                                            const std::vector<std::string>& names,
                                            base::Instant now);

// True when its key is another's (a write of the two ended in between), when it ends within 30
// days, is not of that CA, or lacks one of the names.
base::Result<bool> NeedsRenewal(const KeyPair& own, const KeyPair& authority,
                                const std::vector<std::string>& names, base::Instant now);

// Cluster, user and context are called `pondage`. `server`: "https://127.0.0.1:6443".
std::string Kubeconfig(const std::string& server, const std::string& authority_pem,
                       const std::string& token, const std::string& space = "default");

}  // namespace pondage::api
