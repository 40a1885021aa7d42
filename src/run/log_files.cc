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
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "run/replica_dir.h"
#include "shim/files.h"
#include "shim/log_writer.h"

namespace pondage::run {
namespace {

constexpr int kAttempts = 20;
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

// The entries of an index, ascending in both of their numbers. Read where they lie: there may be
// half a megabyte of them, and a question needs a few. The shim appends to the file or puts another
// in its place, so what was counted when it was opened stays.
class Index {
 public:
  static std::optional<Index> Open(const std::string& path) {
    Index index;
    index.file_ = shim::Descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!index.file_) return std::nullopt;
    const std::string bytes = ReadAt(index.file_.get(), 0, sizeof(shim::IndexHeading));
    shim::IndexHeading heading;
    if (bytes.size() < sizeof(heading) ||
        std::memcmp(bytes.data(), heading.magic, sizeof(heading.magic)) != 0) {
      return std::nullopt;
    }
    std::memcpy(&heading, bytes.data(), sizeof(heading));
    index.step_ms_ = heading.step_ms;
    const auto begin = static_cast<std::int64_t>(sizeof(heading));
    index.size_ = std::max<std::int64_t>(SizeOf(index.file_.get()) - begin, 0) / kEntry;
    return index;
  }

  std::int64_t step_ms() const { return step_ms_; }
  std::int64_t size() const { return size_; }

  shim::IndexEntry At(std::int64_t number) const {
    shim::IndexEntry entry;
    const auto place = static_cast<std::int64_t>(sizeof(shim::IndexHeading)) + number * kEntry;
    const std::string bytes = ReadAt(file_.get(), place, sizeof(entry));
    if (bytes.size() == sizeof(entry)) std::memcpy(&entry, bytes.data(), sizeof(entry));
    return entry;
  }

  // The first entry that is not `before`, which holds for all up to some entry.
  std::int64_t First(const std::function<bool(const shim::IndexEntry&)>& before) const {
    std::int64_t low = 0;
    std::int64_t high = size_;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (before(At(middle))) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

 private:
  static constexpr std::int64_t kEntry = sizeof(shim::IndexEntry);

  shim::Descriptor file_;
  std::int64_t step_ms_ = 0;
  std::int64_t size_ = 0;
};

std::optional<Index> IndexOf(const std::string& data_dir, const std::string& uid, int start) {
  return Index::Open(ReplicaDir(data_dir, uid).File(std::to_string(start) + ".index"));
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
  const auto index = IndexOf(data_dir_, uid, start);
  if (!index) return pieces.front().begin;
  std::int64_t next =
      index->First([&](const shim::IndexEntry& entry) { return entry.unix_ms < since.unix_ms; });
  // An entry stands for everything written within a step after it.
  if (next > 0 && index->At(next - 1).unix_ms + index->step_ms() > since.unix_ms) --next;
  const std::int64_t end = pieces.back().begin + pieces.back().size;
  const std::int64_t offset = next == index->size() ? end : index->At(next).offset;
  return std::clamp(offset, pieces.front().begin, end);
}

base::Result<std::vector<port::LogMark>> LogFiles::Marks(const std::string& uid, int start,
                                                         std::int64_t from, std::int64_t to) const {
  if (!ReplicaDir::IsName(uid)) return std::unexpected(Missing(uid, start));
  const auto index = IndexOf(data_dir_, uid, start);
  if (!index || index->size() == 0) return std::unexpected(Missing(uid, start));
  const std::int64_t behind =
      index->First([&](const shim::IndexEntry& entry) { return entry.offset <= from; });
  std::vector<port::LogMark> marks;
  for (std::int64_t at = std::max<std::int64_t>(behind - 1, 0); at < index->size(); ++at) {
    const shim::IndexEntry entry = index->At(at);
    if (!marks.empty() && entry.offset >= to) break;
    marks.push_back({entry.offset, {entry.unix_ms}});
  }
  return marks;
}

}  // namespace pondage::run
