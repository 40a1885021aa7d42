// What an account of this machine may reach: looked at with its own rights, not the server's.
//
// Any thread; may take as long as the file system does.
#pragma once

#include <sys/types.h>

#include <string>

#include "agent/account.h"
#include "base/result.h"
#include "port/runner.h"

namespace pondage::agent {

struct Reached {
  port::FileId file;
  mode_t mode = 0;
};

// What lies at `path`, found as that account would find it. kForbidden: it may not go there.
// kNotFound: nothing is there. Only root can look as somebody else.
base::Result<Reached> ReachAs(const Account& account, const std::string& path);

// Makes the directory with those above it, or the empty file, that is missing: as that account
// could itself.
base::Result<void> MakeAs(const Account& account, const std::string& path, bool directory);

// kForbidden: that account may not execute what lies at `path`, or may not go there; it says which
// directory bars it.
base::Result<void> MayExecuteAs(const Account& account, const std::string& path);

}  // namespace pondage::agent
