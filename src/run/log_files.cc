#include "run/log_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "run/replica_dir.h"
#include "shim/files.h"
#include "shim/log_writer.h"

namespace pondage::run {
namespace {

constexpr int kAttempts = 20;
constexpr std::size_t kIndexLimit = 64u << 20;
constexpr std::size_t kChunkLimit = 16u << 20;

base::Error Missing(const std::string& uid, int start) {
  return {base::Kind::kNotFound, "", "pod " + uid,
          "start " + std::to_string(start) + " has no log on this machine"};
}

// First offsets of the rotated files, ascending.
std::vector<std::int64_t> Rotated(const std::string& directory, int start) {
  std::vector<std::int64_t> begins;
  DIR* const entries = opendir(directory.c_str());
  if (entries == nullptr) return begins;
  const std::string prefix = std::to_string(start) + ".log.";
  while (const dirent* const entry = readdir(entries)) {
    const std::string_view name = entry->d_name;
    if (!name.starts_with(prefix)) continue;
    const std::string_view number = name.substr(prefix.size());
    std::int64_t begin = 0;
    const auto [stop, error] = std::from_chars(number.data(), number.data() + number.size(), begin);
    if (error == std::errc{} && stop == number.data() + number.size()) begins.push_back(begin);
  }
  closedir(entries);
  std::ranges::sort(begins);
  return begins;
}

std::int64_t SizeOf(int file) {
  struct stat status{};
  return fstat(file, &status) == 0 ? status.st_size : 0;
}

std::string ReadAt(int file, std::int64_t offset, std::size_t limit) {
  std::string bytes(limit, '\0');
  std::size_t filled = 0;
  while (filled < limit) {
    const ssize_t size =
        pread(file, bytes.data() + filled, limit - filled, offset + static_cast<off_t>(filled));
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    filled += static_cast<std::size_t>(size);
  }
  bytes.resize(filled);
  return bytes;
}

struct Index {
  std::int64_t step_ms = 0;
  std::vector<shim::IndexEntry> entries;
};

std::optional<Index> ReadIndex(const std::string& path) {
  const auto bytes = shim::ReadFile(path, kIndexLimit);
  shim::IndexHeading heading;
  if (!bytes || bytes->size() < sizeof(heading) ||
      std::memcmp(bytes->data(), heading.magic, sizeof(heading.magic)) != 0) {
    return std::nullopt;
  }
  std::memcpy(&heading, bytes->data(), sizeof(heading));
  Index index;
  index.step_ms = heading.step_ms;
  index.entries.resize((bytes->size() - sizeof(heading)) / sizeof(shim::IndexEntry));
  if (!index.entries.empty()) {
    std::memcpy(index.entries.data(), bytes->data() + sizeof(heading),
                index.entries.size() * sizeof(shim::IndexEntry));
  }
  return index;
}

}  // namespace

// The shim renames the current file to `.log.<begin>` and makes a new one. What was listed before
// and after opening the current file is the same only if no rotation came between.
base::Result<std::vector<LogFiles::Piece>> LogFiles::Open(const std::string& uid, int start) const {
  if (!ReplicaDir::IsName(uid)) return std::unexpected(Missing(uid, start));
  const ReplicaDir directory(data_dir_, uid);
  const std::string current = directory.File(std::to_string(start) + ".log");
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::vector<std::int64_t> begins = Rotated(directory.path(), start);
    shim::Descriptor newest(open(current.c_str(), O_RDONLY | O_CLOEXEC));
    if (!newest && begins.empty()) return std::unexpected(Missing(uid, start));

    std::vector<Piece> pieces;
    for (const std::int64_t begin : begins) {
      shim::Descriptor file(
          open((current + "." + std::to_string(begin)).c_str(), O_RDONLY | O_CLOEXEC));
      if (!file) break;
      const std::int64_t size = SizeOf(file.get());
      pieces.push_back({begin, size, std::move(file)});
    }
    if (pieces.size() != begins.size() || !newest || Rotated(directory.path(), start) != begins)
      continue;
    const std::int64_t begin = pieces.empty() ? 0 : pieces.back().begin + pieces.back().size;
    const std::int64_t size = SizeOf(newest.get());
    pieces.push_back({begin, size, std::move(newest)});
    return pieces;
  }
  return base::Fail(base::Kind::kUnavailable, "", "pod " + uid,
                    "its log is being rotated too fast to read");
}

bool LogFiles::HasEnded(const std::string& uid, int start) const {
  const ReplicaDir directory(data_dir_, uid);
  if (!directory.IsLocked()) return true;
  const auto spec = directory.ReadSpec();
  return spec && spec->start > start;
}

base::Result<port::LogChunk> LogFiles::Read(const std::string& uid, int start, std::int64_t offset,
                                            std::size_t limit) const {
  if (!ReplicaDir::IsName(uid)) return std::unexpected(Missing(uid, start));
  const bool ended = HasEnded(uid, start);  // asked first: what is read after it is all there is
  TRY(const std::vector<Piece> pieces, Open(uid, start));
  limit = std::min(limit, kChunkLimit);
  port::LogChunk chunk;
  chunk.offset = std::max(offset, pieces.front().begin);
  std::int64_t at = chunk.offset;
  for (const Piece& piece : pieces) {
    if (at >= piece.begin + piece.size || chunk.bytes.size() >= limit) continue;
    const auto left = static_cast<std::size_t>(piece.begin + piece.size - at);
    chunk.bytes +=
        ReadAt(piece.file.get(), at - piece.begin, std::min(left, limit - chunk.bytes.size()));
    at = chunk.offset + static_cast<std::int64_t>(chunk.bytes.size());
  }
  chunk.ended = ended && at >= pieces.back().begin + pieces.back().size;
  return chunk;
}

base::Result<std::int64_t> LogFiles::TailOffset(const std::string& uid, int start,
                                                std::int64_t lines) const {
  TRY(const std::vector<Piece> pieces, Open(uid, start));
  const std::int64_t end = pieces.back().begin + pieces.back().size;
  if (lines <= 0) return end;
  constexpr std::int64_t kBlock = 64 * 1024;
  for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
    std::int64_t before = piece->size;
    while (before > 0) {
      const std::int64_t from = std::max<std::int64_t>(0, before - kBlock);
      const std::string bytes =
          ReadAt(piece->file.get(), from, static_cast<std::size_t>(before - from));
      for (std::size_t i = bytes.size(); i-- > 0;) {
        const std::int64_t next = piece->begin + from + static_cast<std::int64_t>(i) + 1;
        if (bytes[i] == '\n' && next != end && --lines == 0) return next;
      }
      before = from;
    }
  }
  return pieces.front().begin;
}

base::Result<std::int64_t> LogFiles::OffsetSince(const std::string& uid, int start,
                                                 base::Instant since) const {
  TRY(const std::vector<Piece> pieces, Open(uid, start));
  const auto index = ReadIndex(ReplicaDir(data_dir_, uid).File(std::to_string(start) + ".index"));
  if (!index) return pieces.front().begin;
  const auto& entries = index->entries;
  auto next = std::ranges::lower_bound(entries, since.unix_ms, {}, &shim::IndexEntry::unix_ms);
  // An entry stands for everything written within a step after it.
  if (next != entries.begin() && std::prev(next)->unix_ms + index->step_ms > since.unix_ms) --next;
  const std::int64_t end = pieces.back().begin + pieces.back().size;
  const std::int64_t offset = next == entries.end() ? end : next->offset;
  return std::clamp(offset, pieces.front().begin, end);
}

base::Result<base::Instant> LogFiles::WrittenAt(const std::string& uid, int start,
                                                std::int64_t offset) const {
  if (!ReplicaDir::IsName(uid)) return std::unexpected(Missing(uid, start));
  const auto index = ReadIndex(ReplicaDir(data_dir_, uid).File(std::to_string(start) + ".index"));
  if (!index || index->entries.empty()) return std::unexpected(Missing(uid, start));
  const auto next = std::ranges::upper_bound(index->entries, offset, {}, &shim::IndexEntry::offset);
  const auto& entry = next == index->entries.begin() ? *next : *std::prev(next);
  return base::Instant{entry.unix_ms};
}

}  // namespace pondage::run
