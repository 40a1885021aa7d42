#include "api/exec_ends.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace pondage::api {

namespace {

std::unexpected<base::Error> Trouble(const char* what) {
  return base::Fail(base::Kind::kUnavailable, "PND-A031", what, std::strerror(errno));
}

base::Result<File> Copy(const File& of) {
  File copy(fcntl(of.get(), F_DUPFD_CLOEXEC, 0));
  if (!copy) return Trouble("terminal");
  return copy;
}

bool MakeNonBlocking(const File& file) {
  const int flags = fcntl(file.get(), F_GETFL);
  return flags >= 0 && fcntl(file.get(), F_SETFL, flags | O_NONBLOCK) == 0;
}

base::Result<void> Pipe(File& read, File& write, bool read_is_ours) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return Trouble("pipe");
  read = File(ends[0]);
  write = File(ends[1]);
  if (!MakeNonBlocking(read_is_ours ? read : write)) return Trouble("pipe");
  return {};
}

}  // namespace

base::Result<ExecEnds> ExecEnds::Pipes(bool in, bool out, bool err) {
  ExecEnds ends;
  if (in) TRY_DO(Pipe(ends.in, ends.to_in, false));
  if (out) TRY_DO(Pipe(ends.from_out, ends.out, true));
  if (err) TRY_DO(Pipe(ends.from_err, ends.err, true));
  return ends;
}

base::Result<ExecEnds> ExecEnds::Terminal() {
  ExecEnds ends;
  ends.from_out = File(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!ends.from_out || grantpt(ends.from_out.get()) != 0 || unlockpt(ends.from_out.get()) != 0) {
    return Trouble("terminal");
  }
  // By the master, not by name: the file system may show another /dev/pts.
  ends.in = File(ioctl(ends.from_out.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!ends.in || !MakeNonBlocking(ends.from_out)) return Trouble("terminal");
  TRY(ends.out, Copy(ends.in));
  TRY(ends.err, Copy(ends.in));
  TRY(ends.to_in, Copy(ends.from_out));
  return ends;
}

}  // namespace pondage::api
