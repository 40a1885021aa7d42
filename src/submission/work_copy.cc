#include "submission/work_copy.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>
#include <utility>

#include "client/kubeconfig.h"
#include "terminal/text.h"

namespace pondage::submission {

namespace fs = std::filesystem;
using base::Fail;
using base::Kind;

namespace {

constexpr std::size_t kMostFiles = 100'000;
constexpr std::string_view kBuiltIn =
    ".git/\n__pycache__/\n*.pyc\n.ipynb_checkpoints/\n.mypy_cache/\n.pytest_cache/"
    "\n.pondageignore\n";

// One pattern against a path, `*` and `?` stopping at slashes and `**` not. All places in the
// pattern where the text read so far can stand are followed at once, so that the time is at most
// the product of both lengths whatever the pattern.
class Matcher {
 public:
  Matcher(std::string_view pattern, std::string_view text) : pattern_(pattern), text_(text) {}

  bool Matches() {
    std::vector<bool> now(pattern_.size() + 1, false);
    now[0] = true;
    Skip(now);
    for (const char c : text_) {
      std::vector<bool> next(pattern_.size() + 1, false);
      for (std::size_t at = 0; at < pattern_.size(); ++at) {
        if (now[at]) Step(at, c, next);
      }
      Skip(next);
      now = std::move(next);
    }
    return now[pattern_.size()];
  }

 private:
  bool DoubleStar(std::size_t at) const { return pattern_.substr(at, 2) == "**"; }

  // Stars may also stand for nothing.
  void Skip(std::vector<bool>& states) const {
    for (std::size_t at = 0; at < pattern_.size(); ++at) {
      if (!states[at] || pattern_[at] != '*') continue;
      const std::size_t stars = DoubleStar(at) ? 2 : 1;
      states[at + stars] = true;
      // "a/**/b" also matches "a/b".
      if (stars == 2 && at + 2 < pattern_.size() && pattern_[at + 2] == '/' &&
          (at == 0 || pattern_[at - 1] == '/')) {
        states[at + 3] = true;
      }
    }
  }

  void Step(std::size_t at, char c, std::vector<bool>& next) const {
    const char p = pattern_[at];
    if (p == '*') {
      if (c != '/' || DoubleStar(at)) next[at] = true;
    } else if (p == '?') {
      if (c != '/') next[at + 1] = true;
    } else if (p == '[') {
      const std::size_t close = pattern_.find(']', at + 2);
      if (close == std::string_view::npos) {
        if (c == '[') next[at + 1] = true;
      } else if (c != '/' && InClass(pattern_.substr(at + 1, close - at - 1), c)) {
        next[close + 1] = true;
      }
    } else if (p == '\\' && at + 1 < pattern_.size()) {
      if (pattern_[at + 1] == c) next[at + 2] = true;
    } else if (p == c) {
      next[at + 1] = true;
    }
  }

  static bool InClass(std::string_view letters, char c) {
    const bool negated = letters.front() == '!' || letters.front() == '^';
    if (negated) letters.remove_prefix(1);
    bool in = false;
    for (std::size_t i = 0; i < letters.size(); ++i) {
      if (i + 2 < letters.size() && letters[i + 1] == '-') {
        in = in || (c >= letters[i] && c <= letters[i + 2]);
        i += 2;
      } else {
        in = in || c == letters[i];
      }
    }
    return in != negated;
  }

  std::string_view pattern_, text_;
};

}  // namespace

Ignore::Ignore(std::string_view patterns) {
  for (std::string line : terminal::Split(std::string(kBuiltIn) + std::string(patterns), '\n')) {
    while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.pop_back();
    if (line.empty() || line[0] == '#' || line.size() > 4096) continue;
    Pattern pattern;
    if (line[0] == '!') {
      pattern.negated = true;
      line.erase(0, 1);
    }
    if (line.ends_with('/')) {
      pattern.directories = true;
      line.pop_back();
    }
    if (line.starts_with('/')) {
      pattern.anchored = true;
      line.erase(0, 1);
    } else {
      pattern.anchored = line.find('/') != std::string::npos;
    }
    if (line.empty()) continue;
    pattern.text = std::move(line);
    patterns_.push_back(std::move(pattern));
  }
}

bool Ignore::Ignores(std::string_view path, bool is_directory) const {
  const std::size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  bool ignored = false;
  for (const Pattern& pattern : patterns_) {
    if (pattern.directories && !is_directory) continue;
    if (Matcher(pattern.text, pattern.anchored ? path : name).Matches()) ignored = !pattern.negated;
  }
  return ignored;
}

namespace {

// The largest entries of the top level, for the error.
std::string Largest(const std::map<std::string, std::int64_t>& by_top) {
  std::vector<std::pair<std::int64_t, std::string>> sizes;
  sizes.reserve(by_top.size());
  for (const auto& [name, size] : by_top) sizes.emplace_back(-size, name);
  std::ranges::sort(sizes);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < sizes.size() && i < 3; ++i) {
    texts.push_back(fmt::format("{} {}", sizes[i].second, terminal::SizeText({-sizes[i].first})));
  }
  return terminal::Join(texts, ", ");
}

base::Error Unreadable(const std::string& path, const std::error_code& error) {
  return {Kind::kInvalid, "PND-C010", "", fmt::format("cannot read {}: {}", path, error.message())};
}

bool IsPool(const fs::path& directory) {
  std::error_code error;
  return fs::exists(directory / "pondage.sqlite", error);
}

// The directory itself or one above it, as it really lies; empty: none.
fs::path PoolAround(const fs::path& directory) {
  std::error_code error;
  fs::path at = fs::weakly_canonical(directory, error);
  if (error) at = directory;
  while (!IsPool(at)) {
    if (at == at.parent_path()) return {};
    at = at.parent_path();
  }
  return at;
}

// A virtual environment is recorded as the job's environment; a pool's data directory holds its
// keys and tokens, and the copies themselves. Neither belongs to the job, whatever the patterns
// say.
bool IsTreeOfItsOwn(const fs::path& directory) {
  std::error_code error;
  return IsPool(directory) || fs::exists(directory / "pyvenv.cfg", error);
}

}  // namespace

base::Result<CopyPlan> PlanCopy(const std::string& directory, base::Bytes limit) {
  if (const fs::path pool = PoolAround(directory); !pool.empty()) {
    return Fail(
        Kind::kInvalid, "PND-C010", "",
        fmt::format("cannot copy {}: {} is a pool's data directory", directory, pool.string()));
  }
  return PlanCopyOfCopy(directory, limit);
}

base::Result<CopyPlan> PlanCopyOfCopy(const std::string& directory, base::Bytes limit) {
  const Ignore ignore(client::ReadWholeFile(directory + "/.pondageignore").value_or(""));
  CopyPlan plan;
  plan.source = directory;
  std::map<std::string, std::int64_t> by_top;
  std::error_code error;
  fs::recursive_directory_iterator walk(directory, error);
  if (error) return std::unexpected(Unreadable(directory, error));
  const fs::recursive_directory_iterator end;
  while (walk != end) {
    const fs::directory_entry entry = *walk;
    const std::string path = entry.path().lexically_relative(directory).string();
    const auto type = entry.symlink_status(error).type();
    if (error) return std::unexpected(Unreadable(entry.path().string(), error));
    const bool is_directory = type == fs::file_type::directory;
    if (ignore.Ignores(path, is_directory) || (is_directory && IsTreeOfItsOwn(entry.path()))) {
      if (is_directory) walk.disable_recursion_pending();
    } else if (is_directory) {
      plan.directories.push_back(path);
    } else if (type == fs::file_type::symlink || type == fs::file_type::regular) {
      const std::int64_t size =
          type == fs::file_type::regular ? static_cast<std::int64_t>(entry.file_size(error)) : 0;
      if (error) return std::unexpected(Unreadable(entry.path().string(), error));
      plan.files.push_back(path);
      plan.size += base::Bytes{size};
      by_top[path.substr(0, path.find('/'))] += size;
    } else {
      plan.left_out.push_back(path);
    }
    if (std::max({plan.files.size(), plan.directories.size(), plan.left_out.size()}) > kMostFiles) {
      return Fail(Kind::kInvalid, "PND-C011", "",
                  fmt::format("{} holds more than {} files\nlargest: {}", directory, kMostFiles,
                              Largest(by_top)));
    }
    walk.increment(error);
    if (error) return std::unexpected(Unreadable(path, error));
  }
  if (plan.size > limit) {
    return Fail(
        Kind::kInvalid, "PND-C011", "",
        fmt::format("{} holds {}, over the limit of {}\nlargest: {}", directory,
                    terminal::SizeText(plan.size), terminal::SizeText(limit), Largest(by_top)));
  }
  std::ranges::sort(plan.directories);
  std::ranges::sort(plan.files);
  std::ranges::sort(plan.left_out);
  return plan;
}

namespace {

// Where the copy of the link at `path` leads, so that it means the same there: what lies beside it
// in the tree is found in the copy, what lies outside where it is.
fs::path LinkInCopy(const fs::path& source, const fs::path& path, std::error_code& error) {
  const fs::path link = fs::read_symlink(source / path, error);
  if (error) return {};
  std::error_code ignored;
  fs::path root = fs::canonical(source, ignored);
  if (ignored) root = source;
  const fs::path folder = fs::canonical((source / path).parent_path(), ignored);
  const fs::path whole = (folder / link).lexically_normal();  // an absolute link stands for itself
  const fs::path inside = whole.lexically_relative(root);
  if (inside.empty() || *inside.begin() == "..") return whole;
  return link.is_absolute() ? inside.lexically_relative(path.parent_path()) : link;
}

}  // namespace

base::Result<void> MakeCopy(const CopyPlan& plan, const std::string& target) {
  const auto fail = [&](const std::string& path, const std::error_code& error) {
    std::error_code ignored;
    fs::remove_all(target, ignored);
    return Fail(Kind::kInvalid, "PND-C010", "",
                fmt::format("cannot copy to {}: {}", path, error.message()));
  };
  std::error_code error;
  fs::create_directories(fs::path(target).parent_path(), error);
  if (::mkdir(target.c_str(), 0700) != 0) {
    error = std::error_code(errno, std::generic_category());
    return Fail(Kind::kInvalid, "PND-C010", "",
                fmt::format("cannot make {}: {}", target, error.message()));
  }
  for (const std::string& path : plan.directories) {
    fs::create_directory(fs::path(target) / path, error);
    if (error) return fail(target + "/" + path, error);
  }
  for (const std::string& path : plan.files) {
    const fs::path from = fs::path(plan.source) / path;
    const fs::path to = fs::path(target) / path;
    if (fs::is_symlink(fs::symlink_status(from, error))) {
      const fs::path leads = LinkInCopy(plan.source, path, error);
      if (!error) fs::create_symlink(leads, to, error);
    } else {
      fs::copy_file(from, to, error);
      if (!error) {
        // The time stays, so that what is compiled or cached by time stays valid.
        std::error_code ignored;
        fs::last_write_time(to, fs::last_write_time(from, ignored), ignored);
      }
    }
    if (error) return fail(to.string(), error);
  }
  return {};
}

std::string CopiesOf(const std::string& data_dir) {
  return data_dir + "/work";
}

namespace {

void MovePath(json::value* path, const std::string& from, const std::string& to) {
  if (path == nullptr || !path->is_string()) return;
  const std::string text(path->get_string());
  if (text == from || text.starts_with(from + "/")) *path = to + text.substr(from.size());
}

}  // namespace

void MoveJob(json::object& job, const std::string& from, const std::string& to) {
  const auto inner = [](json::value& value, const char* pointer) {
    boost::system::error_code absent;
    return value.find_pointer(pointer, absent);
  };
  json::value whole(std::move(job));
  for (const char* const note : {"workdir", "checkpoint-dir"}) {
    MovePath(inner(whole, (std::string("/metadata/annotations/pondage.dev~1") + note).c_str()),
             from, to);
  }
  json::value* const roles = inner(whole, "/spec/tfReplicaSpecs");
  if (roles != nullptr && roles->is_object()) {
    for (auto& [role, spec] : roles->get_object()) {
      json::value* const containers = inner(spec, "/template/spec/containers");
      if (containers == nullptr || !containers->is_array()) continue;
      for (json::value& container : containers->get_array())
        MovePath(inner(container, "/workingDir"), from, to);
    }
  }
  job = std::move(whole.get_object());
}

namespace {

std::string RandomLetters() {
  constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  std::random_device device;
  std::string letters;
  for (int i = 0; i < 6; ++i) letters += kLetters[device() % kLetters.size()];
  return letters;
}

}  // namespace

WorkCopy::WorkCopy(std::string folder, std::string space, CopyPlan plan)
    : folder_(std::move(folder)),
      space_(std::move(space)),
      letters_(RandomLetters()),
      plan_(std::move(plan)) {}

WorkCopy::~WorkCopy() {
  std::error_code ignored;
  if (made_) fs::remove_all(*made_, ignored);
}

std::string WorkCopy::PathFor(const std::string& job) const {
  return fmt::format("{}/{}.{}-{}", folder_, space_, job, letters_);
}

base::Result<void> WorkCopy::BelongTo(const std::string& job) {
  const std::string path = PathFor(job);
  if (!made_) {
    TRY_DO(MakeCopy(plan_, path));
  } else if (*made_ != path) {
    std::error_code error;
    fs::rename(*made_, path, error);
    if (error) {
      return Fail(Kind::kInvalid, "PND-C010", "",
                  fmt::format("cannot rename {} to {}: {}", *made_, path, error.message()));
    }
  }
  made_ = path;
  return {};
}

}  // namespace pondage::submission
