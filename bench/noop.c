// A job's program that does nothing but say when it began: appends "<name> <CLOCK_REALTIME ns>\n"
// to a file, in one write, and ends. Linked statically, so that it measures its starter and not a
// loader.
//
//   noop FILE NAME
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char** argv) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (argc != 3) return 2;
  char line[256];
  const int size =
      snprintf(line, sizeof line, "%s %lld%09ld\n", argv[2], (long long)now.tv_sec, now.tv_nsec);
  if (size <= 0 || (size_t)size >= sizeof line) return 2;
  const int file = open(argv[1], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return 3;
  return write(file, line, (size_t)size) == size ? 0 : 4;
}
