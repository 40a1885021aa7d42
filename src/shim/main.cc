// pondage-shim: runs one replica in the directory it is started in (see README.md).
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "shim/files.h"
#include "shim/mounts.h"
#include "shim/supervisor.h"
#include "shim/wire.h"

namespace {

// The server holds the lock when it starts us and hands it down as descriptor 3: from its side the
// replica is alive without a gap, until this process has ended.
constexpr int kLock = 3;

}  // namespace

int main() {
  using namespace pondage::shim;
  setsid();
  if (fcntl(kLock, F_SETFD, FD_CLOEXEC) != 0) {
    std::fputs("pondage-shim: started by hand: it is part of pondage serve\n", stderr);
    return 2;
  }
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  prctl(PR_SET_NAME, "pondage-shim");

  const auto bytes = ReadFile("spec", kSpecLimit);
  auto spec = bytes ? DecodeSpec(*bytes) : std::nullopt;
  if (!spec) {
    std::fputs("pondage-shim: the spec cannot be read\n", stderr);
    return 2;
  }
  // First of all: what follows believes /proc and writes to control groups, as root perhaps.
  auto why_not = WhyNotExpected(*spec);
  if (!why_not) why_not = MountVolumes(*spec);
  if (why_not) {
    spec->cgroups.clear();
    spec->oom_file = spec->kill_file = spec->freezer = "";
  }
  return Supervisor(*std::move(spec), std::move(why_not)).Run() ? 0 : 1;
}
