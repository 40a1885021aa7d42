// The files between the server and a program that it started for a client: pipes, or one terminal.
//
// Values that own their descriptors. The server's ends do not block, the program's do.
#pragma once

#include "api/file.h"
#include "base/result.h"

namespace pondage::api {

struct ExecEnds {
  File to_in, from_out, from_err;  // ours; of a terminal `to_in` and `from_out` are its master
  File in, out, err;               // the program's; of a terminal its slave, three times

  // Those that are asked for; the others stay empty.
  static base::Result<ExecEnds> Pipes(bool in, bool out, bool err);
  static base::Result<ExecEnds> Terminal();
};

}  // namespace pondage::api
