#include "grammar/nearest.h"

#include <algorithm>

namespace pondage::grammar {
namespace {

constexpr std::size_t kLongest = 64;  // of what was typed: behind it no name is near

int Distance(std::string_view a, std::string_view b) {
  std::vector<int> row(b.size() + 1);
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string Nearest(std::string_view typed, const std::vector<std::string>& names) {
  typed = typed.substr(0, kLongest);
  std::string best;
  int least = 3;
  for (const std::string& name : names) {
    const int distance = Distance(typed, name);
    // Of short words nearly all are near each other: the first letter must be right.
    if (distance > 1 && name.size() < 5 && !name.starts_with(typed.substr(0, 1))) continue;
    if (distance < least) {
      least = distance;
      best = name;
    }
  }
  return best;
}

}  // namespace pondage::grammar
