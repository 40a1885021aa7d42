#include "shim/log_writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

namespace pondage::shim {
namespace {

constexpr std::size_t kRotatedFiles = 3;
constexpr std::size_t kIndexEntries = 32'768;
constexpr std::int64_t kPage = 4096;

std::int64_t SegmentLimit(std::int64_t cap_bytes) {
  if (cap_bytes == 0) return 0;
  return std::max(cap_bytes / static_cast<std::int64_t>(kRotatedFiles + 1), kPage / 2);
}

bool WriteAll(int file, std::string_view bytes, std::size_t& written) {
  written = 0;
  while (written < bytes.size()) {
    const ssize_t count = write(file, bytes.data() + written, bytes.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    written += static_cast<std::size_t>(count);
  }
  return true;
}

template <class T>
std::string_view BytesOf(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

}  // namespace

LogWriter::LogWriter(std::string name, std::int64_t cap_bytes)
    : name_(std::move(name)), segment_limit_(SegmentLimit(cap_bytes)) {
  OpenLog();
  index_is_torn_ = !WriteIndex();
}

LogWriter::~LogWriter() {
  if (log_ >= 0) close(log_);
  if (index_file_ >= 0) close(index_file_);
}

void LogWriter::Write(std::string_view bytes, std::int64_t now_unix_ms) {
  while (!bytes.empty()) {
    std::string_view part = bytes;
    if (segment_limit_ > 0) {
      const std::int64_t room = segment_limit_ - size_;
      if (room <= 0) {
        Rotate();
        continue;
      }
      part = bytes.substr(0, static_cast<std::size_t>(room));
      if (part.size() < bytes.size()) {  // cut behind a line where there is one
        const std::size_t line = part.rfind('\n');
        if (line != std::string_view::npos) {
          part = part.substr(0, line + 1);
        } else if (size_ > 0 && part.size() < kPage / 2) {
          Rotate();
          continue;
        }
      }
    }
    Note(now_unix_ms);
    Append(part);
    bytes.remove_prefix(part.size());
    if (segment_limit_ > 0 && !bytes.empty()) Rotate();
  }
}

void LogWriter::OpenLog() {
  log_ = open(LogPath().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0640);
}

void LogWriter::Append(std::string_view bytes) {
  std::size_t written = 0;
  if (log_ < 0) OpenLog();  // it could not be opened before: the file is empty
  if (!WriteAll(log_, bytes, written))
    dropped_ += static_cast<std::int64_t>(bytes.size() - written);
  size_ += static_cast<std::int64_t>(written);
}

void LogWriter::Rotate() {
  if (log_ >= 0) close(log_);
  if (size_ > 0) {
    const std::string kept = LogPath() + "." + std::to_string(begin_);
    if (rename(LogPath().c_str(), kept.c_str()) == 0) rotated_.push_back(begin_);
  }
  begin_ += size_;
  size_ = 0;
  OpenLog();
  while (rotated_.size() > kRotatedFiles) {
    unlink((LogPath() + "." + std::to_string(rotated_.front())).c_str());
    rotated_.erase(rotated_.begin());
  }
}

void LogWriter::Note(std::int64_t now_unix_ms) {
  if (!index_.empty()) {
    now_unix_ms = std::max(now_unix_ms, index_.back().unix_ms);  // a clock that was set back
    if (now_unix_ms - index_.back().unix_ms < heading_.step_ms) return;
  }
  if (index_.size() >= kIndexEntries) ThinIndex();
  index_.push_back({begin_ + size_, now_unix_ms});
  std::size_t written = 0;
  index_is_torn_ =
      index_is_torn_ ? !WriteIndex() : !WriteAll(index_file_, BytesOf(index_.back()), written);
}

// Forgets what the rotated files no longer hold; if that is not enough, every other entry.
void LogWriter::ThinIndex() {
  const std::int64_t kept = rotated_.empty() ? begin_ : rotated_.front();
  const auto first = std::ranges::upper_bound(index_, kept, {}, &IndexEntry::offset);
  if (first - index_.begin() > 1) index_.erase(index_.begin(), first - 1);
  if (index_.size() > kIndexEntries / 2) {
    std::size_t out = 0;
    for (std::size_t i = 0; i < index_.size(); i += 2) index_[out++] = index_[i];
    index_.resize(out);
    heading_.step_ms *= 2;
  }
  index_is_torn_ = !WriteIndex();
}

// All of it, in a new file.
bool LogWriter::WriteIndex() {
  const std::string fresh = IndexPath() + ".tmp";
  const int file = open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0640);
  if (file < 0) return false;
  std::size_t written = 0;
  const std::string_view entries(reinterpret_cast<const char*>(index_.data()),
                                 index_.size() * sizeof(IndexEntry));
  const bool whole = WriteAll(file, BytesOf(heading_), written) && WriteAll(file, entries, written);
  if (!whole || rename(fresh.c_str(), IndexPath().c_str()) != 0) {
    close(file);
    return false;
  }
  if (index_file_ >= 0) close(index_file_);
  index_file_ = file;
  return true;
}

}  // namespace pondage::shim
