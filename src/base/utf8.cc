#include "base/utf8.h"

#include <algorithm>

namespace pondage::base {
namespace {

// Of the first character; 0: the first byte belongs to none.
std::size_t LengthOfCharacter(std::string_view bytes) {
  // First byte of a sequence: how many follow, and the range of the first that follows (which rules
  // out over-long forms, surrogates and what lies above U+10FFFF).
  struct Form {
    unsigned char first, last, low, high;
    std::size_t follow;
  };
  static constexpr Form kForms[] = {
      {0x00, 0x7f, 0, 0, 0},       {0xc2, 0xdf, 0x80, 0xbf, 1}, {0xe0, 0xe0, 0xa0, 0xbf, 2},
      {0xe1, 0xec, 0x80, 0xbf, 2}, {0xed, 0xed, 0x80, 0x9f, 2}, {0xee, 0xef, 0x80, 0xbf, 2},
      {0xf0, 0xf0, 0x90, 0xbf, 3}, {0xf1, 0xf3, 0x80, 0xbf, 3}, {0xf4, 0xf4, 0x80, 0x8f, 3}};
  const auto at = [&bytes](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char lead = at(0);
  const auto* form = std::ranges::find_if(
      kForms, [lead](const Form& one) { return lead >= one.first && lead <= one.last; });
  if (form == std::end(kForms) || form->follow >= bytes.size()) return 0;
  for (std::size_t k = 1; k <= form->follow; ++k) {
    const unsigned char low = k == 1 ? form->low : 0x80;
    const unsigned char high = k == 1 ? form->high : 0xbf;
    if (at(k) < low || at(k) > high) return 0;
  }
  return form->follow + 1;
}

}  // namespace

std::string ToUtf8(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const std::size_t good = LengthOfCharacter(bytes);
    text += good == 0 ? std::string_view("\xef\xbf\xbd") : bytes.substr(0, good);
    bytes.remove_prefix(std::max<std::size_t>(good, 1));
  }
  return text;
}

bool IsUtf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t good = LengthOfCharacter(bytes);
    if (good == 0) return false;
    bytes.remove_prefix(good);
  }
  return true;
}

}  // namespace pondage::base
