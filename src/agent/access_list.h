// One account more that may read a file, or list a directory and read what will be made in it:
// POSIX access lists, written as the kernel has them.
//
// Any thread.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

namespace pondage::agent {

// `file` may be an O_PATH descriptor; `status` is its. A symbolic link has no list, and a file
// system without lists stays as it is.
void LetRead(int file, const struct stat& status, uid_t reader);

}  // namespace pondage::agent
