// Reads what replicas wrote, while their shims go on writing and rotating.
//
// Any thread; keeps nothing open and remembers nothing.
#pragma once

#include <string>
#include <vector>

#include "port/logs.h"
#include "shim/descriptor.h"

namespace pondage::run {

class LogFiles : public port::Logs {
 public:
  explicit LogFiles(std::string data_dir) : data_dir_(std::move(data_dir)) {}

  base::Result<port::LogChunk> Read(const std::string& uid, int start, std::int64_t offset,
                                    std::size_t limit) const override;
  base::Result<std::int64_t> TailOffset(const std::string& uid, int start,
                                        std::int64_t lines) const override;
  base::Result<std::int64_t> OffsetSince(const std::string& uid, int start,
                                         base::Instant since) const override;
  base::Result<std::vector<port::LogMark>> Marks(const std::string& uid, int start,
                                                 std::int64_t from, std::int64_t to) const override;

 private:
  // A file with the offset of its first byte; open, so that rotation cannot take it away.
  struct Piece {
    std::int64_t begin = 0;
    std::int64_t size = 0;
    shim::Descriptor file;
  };

  base::Result<std::vector<Piece>> Open(const std::string& uid, int start) const;
  bool HasEnded(const std::string& uid, int start) const;

  std::string data_dir_;
};

}  // namespace pondage::run
