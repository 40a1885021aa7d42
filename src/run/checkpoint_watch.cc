#include "run/checkpoint_watch.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <charconv>
#include <utility>

#include "run/touching.h"
#include "shim/files.h"

namespace pondage::run {
namespace {

constexpr std::size_t kCheckpointFileLimit = 1u << 20;
constexpr std::size_t kEntries = 10'000;

std::int64_t ModifiedNs(const struct stat& status) {
  return status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec;
}

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

bool IsPassing(std::string_view name) {
  return name.starts_with('.') || name.ends_with(".tmp") || name.contains("tempstate") ||
         name.contains(".orbax-checkpoint-tmp") || name == "checkpoint";
}

}  // namespace

std::int64_t StepOf(std::string_view name) {
  name = name.substr(name.rfind('/') + 1);
  // Endings come off until digits close the name: ".keras", ".data-00000-of-00001".
  while (!name.empty() && !IsDigit(name.back())) {
    const std::size_t dot = name.rfind('.');
    if (dot == std::string_view::npos) return -1;
    name = name.substr(0, dot);
  }
  if (const std::size_t part = name.find(".data-"); part != std::string_view::npos)
    name = name.substr(0, part);
  std::size_t first = name.size();
  while (first > 0 && IsDigit(name[first - 1])) --first;
  std::int64_t step = -1;
  const auto [stop, error] = std::from_chars(name.data() + first, name.data() + name.size(), step);
  return error == std::errc{} ? step : -1;
}

std::string ModelCheckpointPath(std::string_view text) {
  constexpr std::string_view kKey = "model_checkpoint_path:";
  std::size_t at = text.find(kKey);
  while (at != 0 && at != std::string_view::npos && text[at - 1] != '\n')
    at = text.find(kKey, at + 1);
  if (at == std::string_view::npos) return "";
  const std::size_t open = text.find('"', at);
  if (open == std::string_view::npos) return "";
  std::string path;
  for (std::size_t i = open + 1; i < text.size() && text[i] != '\n'; ++i) {
    if (text[i] == '"') return path;
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    path += text[i];
  }
  return "";
}

std::optional<port::Saved> CheckpointWatch::Judge(bool last) {
  auto newest = Newest();
  if (!newest || newest == reported_) return std::nullopt;
  const bool settled = last || newest->settled || newest == candidate_;
  candidate_ = newest;
  if (!settled) return std::nullopt;
  reported_ = newest;
  return port::Saved{uid_, newest->step, newest->path,
                     base::Instant{newest->modified_ns / 1'000'000}};
}

std::optional<CheckpointWatch::Seen> CheckpointWatch::Named() const {
  const std::string file = directory_ + "/checkpoint";
  struct stat status{};
  if (stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  const auto text = shim::ReadFile(file, kCheckpointFileLimit);
  std::string path = text ? ModelCheckpointPath(*text) : "";
  if (path.empty()) return std::nullopt;
  if (!path.starts_with('/')) path = directory_ + "/" + path;
  const std::int64_t step = StepOf(path);
  return Seen{std::move(path), step, ModifiedNs(status), status.st_size, true};
}

std::optional<CheckpointWatch::Seen> CheckpointWatch::Newest() const {
  const Touching touching(directory_);
  const AsAccount account(rights_);
  if (!account) return std::nullopt;
  if (auto named = Named()) return named;
  DIR* const entries = opendir(directory_.c_str());
  if (entries == nullptr) return std::nullopt;
  std::optional<Seen> newest;
  std::size_t count = 0;
  while (const dirent* const entry = readdir(entries)) {
    if (++count > kEntries) break;
    if (IsPassing(entry->d_name)) continue;
    struct stat status{};
    if (fstatat(dirfd(entries), entry->d_name, &status, 0) != 0) continue;
    const std::pair rank(ModifiedNs(status), std::string(entry->d_name));
    if (newest && rank <= std::pair(newest->modified_ns, newest->path)) continue;
    newest = Seen{entry->d_name, -1, rank.first, status.st_size, false};
  }
  closedir(entries);
  if (newest) {
    newest->step = StepOf(newest->path);
    newest->path = directory_ + "/" + newest->path;
  }
  return newest;
}

}  // namespace pondage::run
