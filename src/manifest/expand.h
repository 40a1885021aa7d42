// References $(NAME) in the words and variables of a container, and how long they may become.
//
// Pure.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pondage::manifest {

// What Linux takes as one word of a program, and what it takes of all its words and variables.
// Each variable may repeat the one before it, so a kilobyte of manifest could ask for exabytes.
inline constexpr std::size_t kMostWordBytes = 128 * 1024;
inline constexpr std::size_t kMostProgramBytes = 2 * 1024 * 1024;

// Variables in the order in which they were first set.
class Variables {
 public:
  using List = std::vector<std::pair<std::string, std::string>>;

  const std::string* Find(std::string_view name) const;
  // The later value wins and stands where the first one did.
  void Set(const std::string& name, std::string value);
  const List& list() const { return list_; }
  // As the kernel counts them.
  std::size_t bytes() const { return bytes_; }

 private:
  List list_;
  std::map<std::string, std::size_t, std::less<>> places_;
  std::size_t bytes_ = 0;
};

// Kubernetes' rule: $(NAME) is the variable, or itself when there is none; $$ is one dollar; every
// other dollar is itself. None: longer than a word may be.
std::optional<std::string> Expand(std::string_view text, const Variables& variables);

}  // namespace pondage::manifest
