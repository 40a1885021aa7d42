// The port to what replicas wrote: by Pod uid and start number, across rotated files.
//
// Thread rule: any thread. Faces: run::LogFiles (real), test fakes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/instant.h"
#include "base/result.h"

namespace pondage::port {

struct LogChunk {
  std::int64_t offset =
      0;  // of the first byte handed out, counted from the first byte ever written
  std::string bytes;
  bool ended = false;  // the program is gone and nothing follows behind these bytes
};

// What stands from `offset` on, up to the next mark, was written at `at` (within the index's step).
struct LogMark {
  std::int64_t offset = 0;
  base::Instant at;
};

class Logs {
 public:
  virtual ~Logs() = default;
  // At most `limit` bytes from `offset` on; an offset before what is kept is moved up to it.
  // kNotFound: nothing was ever written for it, or it was erased.
  virtual base::Result<LogChunk> Read(const std::string& uid, int start, std::int64_t offset,
                                      std::size_t limit) const = 0;
  // Where the last `lines` lines begin.
  virtual base::Result<std::int64_t> TailOffset(const std::string& uid, int start,
                                                std::int64_t lines) const = 0;
  // Where output that was written at or after `since` begins (within the index's step).
  virtual base::Result<std::int64_t> OffsetSince(const std::string& uid, int start,
                                                 base::Instant since) const = 0;
  // When the bytes of [from, to) were written: ascending, the first one stands for `from`.
  // kNotFound: nobody knows.
  virtual base::Result<std::vector<LogMark>> Marks(const std::string& uid, int start,
                                                   std::int64_t from, std::int64_t to) const = 0;
};

}  // namespace pondage::port
