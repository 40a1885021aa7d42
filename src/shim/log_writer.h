// What one start of a replica wrote, in files that are rotated and capped, with times beside them.
//
// One thread. The newest bytes are in `<name>.log`; full files are renamed to `<name>.log.<offset
// of their first byte>`; `<name>.index` says when what was written. Invariants:
//   1. Offsets count every byte ever taken; the kept files are one unbroken piece of it, its end.
//   2. All log files together hold at most the cap (or two pages, if the cap is less).
//   3. Index times never fall, and there is at most one entry for each step of time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pondage::shim {

// The index: this heading, then the entries, all in the machine's byte order.
struct IndexHeading {
  char magic[8] = {'P', 'N', 'D', 'I', 'D', 'X', '0', '1'};
  std::int64_t step_ms = 100;
};
struct IndexEntry {
  std::int64_t offset = 0;
  std::int64_t unix_ms = 0;
  bool operator==(const IndexEntry&) const = default;
};

class LogWriter {
 public:
  LogWriter(std::string name, std::int64_t cap_bytes);
  ~LogWriter();
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  // What cannot be written (disk full) is dropped and counted; what comes once it can is kept.
  void Write(std::string_view bytes, std::int64_t now_unix_ms);
  std::int64_t dropped_bytes() const { return dropped_; }

 private:
  void OpenLog();
  void Append(std::string_view bytes);
  void Rotate();
  void Note(std::int64_t now_unix_ms);
  void ThinIndex();
  bool WriteIndex();
  std::string LogPath() const { return name_ + ".log"; }
  std::string IndexPath() const { return name_ + ".index"; }

  std::string name_;
  std::int64_t segment_limit_;  // 0: no rotation
  int log_ = -1;
  int index_file_ = -1;
  bool index_is_torn_ = false;         // an entry could not be written whole
  std::int64_t begin_ = 0;             // offset of the first byte of the current file
  std::int64_t size_ = 0;              // of the current file
  std::vector<std::int64_t> rotated_;  // first offsets, ascending
  IndexHeading heading_;
  std::vector<IndexEntry> index_;
  std::int64_t dropped_ = 0;
};

}  // namespace pondage::shim
