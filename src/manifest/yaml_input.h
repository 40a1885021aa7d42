// The bytes that yaml-cpp reads, given out in small pieces, and no more when it falls too far
// behind.
//
// yaml-cpp keeps every token of a flow collection until the collection is closed, a hundred times
// the bytes that they stand in. What it has read and not yet told of is therefore bounded.
// Pure; used by one parser on one thread.
#pragma once

#include <cstddef>
#include <optional>
#include <streambuf>
#include <string_view>

namespace pondage::manifest {

class YamlInput final : public std::streambuf {
 public:
  static constexpr std::size_t kMostTokens = 300'000;

  explicit YamlInput(std::string_view bytes) : bytes_(bytes) {}

  // The parser has told of something: of the scalar `text` that begins at byte `at`, or of other.
  void Told(std::size_t at, std::string_view text);
  void Told() { Told(0, ""); }

  // It fell behind: what it makes of the rest, which it did not get, is of no worth.
  bool CutShort() const { return cut_short_; }

 protected:
  int_type underflow() override;

 private:
  std::size_t EndOfLongScalar() const;

  const std::string_view bytes_;
  std::size_t given_ = 0;
  std::size_t tokens_ = 0;  // that may be waiting
  std::size_t told_at_ = 0;
  std::size_t told_size_ = 0;
  bool told_matches_ = false;               // the bytes at told_at_ are the scalar that was told
  std::optional<std::size_t> scalar_ends_;  // of the one that may be under way
  bool cut_short_ = false;
};

}  // namespace pondage::manifest
