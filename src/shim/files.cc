#include "shim/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>

namespace pondage::shim {

std::optional<std::string> ReadFile(const std::string& path, std::size_t limit) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::string bytes;
  std::array<char, 16 * 1024> block;
  ssize_t size = 0;
  while ((size = read(file, block.data(), block.size())) != 0) {
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 || bytes.size() + static_cast<std::size_t>(size) > limit) {
      close(file);
      return std::nullopt;
    }
    bytes.append(block.data(), static_cast<std::size_t>(size));
  }
  close(file);
  return bytes;
}

bool ReplaceFile(const std::string& path, std::string_view bytes, bool durable) {
  const std::string fresh = path + ".tmp";
  const int file = open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return false;
  std::size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t count = write(file, bytes.data() + written, bytes.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    written += static_cast<std::size_t>(count);
  }
  const bool whole = written == bytes.size() && (!durable || fsync(file) == 0);
  if (close(file) != 0 || !whole || rename(fresh.c_str(), path.c_str()) != 0) return false;
  if (!durable) return true;

  const std::size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int parent = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (parent < 0) return false;
  const bool kept = fsync(parent) == 0;
  close(parent);
  return kept;
}

std::string BootId() {
  std::string id = ReadFile("/proc/sys/kernel/random/boot_id", 256).value_or("");
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id;
}

std::int64_t OomKills(const std::string& path) {
  if (path.empty()) return 0;
  const std::string text = ReadFile(path, 64 * 1024).value_or("");
  const std::string_view key = "oom_kill ";
  const std::size_t at = text.starts_with(key) ? 0 : text.find("\noom_kill ");
  if (at == std::string::npos) return 0;
  const char* const number = text.data() + at + key.size() + (at == 0 ? 0 : 1);
  std::int64_t kills = 0;
  std::from_chars(number, text.data() + text.size(), kills);
  return kills;
}

}  // namespace pondage::shim
