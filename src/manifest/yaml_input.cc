#include "manifest/yaml_input.h"

#include <algorithm>

namespace pondage::manifest {

namespace {

constexpr std::size_t kPieceBytes = 1024;
constexpr std::size_t kReadAhead = 4096;  // what yaml-cpp fetches before it needs it

bool MayMakeToken(char c) {
  return std::string_view(",:[]{}?\"'&*!").contains(c);
}

// Behind the closing quote of the scalar whose quote stands at `open`.
std::size_t EndOfQuoted(std::string_view bytes, std::size_t open) {
  for (std::size_t i = open + 1; i < bytes.size(); ++i) {
    if (bytes[i] == '\\' && bytes[open] == '"')
      ++i;
    else if (bytes[i] == bytes[open])
      return i + 1;
  }
  return bytes.size();
}

}  // namespace

void YamlInput::Told(std::size_t at, std::string_view text) {
  tokens_ = 0;
  scalar_ends_.reset();
  told_at_ = std::min(at, bytes_.size());
  const std::string_view there = bytes_.substr(told_at_);
  const std::size_t quote = there.starts_with('"') || there.starts_with('\'') ? 1 : 0;
  told_matches_ = !text.empty() && there.substr(quote).starts_with(text);
  told_size_ = text.size() + 2 * quote;
}

// `key: |` or `key: "`, and what follows is one token, however many commas it has. The key is what
// was told last then. 0: no such scalar is under way.
std::size_t YamlInput::EndOfLongScalar() const {
  if (!told_matches_) return 0;
  const std::size_t colon = told_at_ + told_size_;
  const std::size_t value = bytes_.find_first_not_of(' ', colon + 1);
  if (value == std::string_view::npos || value < colon + 2 || bytes_[colon] != ':') return 0;
  if (bytes_[value] == '|' || bytes_[value] == '>') return bytes_.size();  // it tells its end
  const bool quoted = bytes_[value] == '"' || bytes_[value] == '\'';
  return quoted ? EndOfQuoted(bytes_, value) : 0;
}

YamlInput::int_type YamlInput::underflow() {
  if (gptr() < egptr()) return traits_type::to_int_type(*gptr());
  if (cut_short_ || given_ == bytes_.size()) return traits_type::eof();
  if (tokens_ > kMostTokens) {
    if (!scalar_ends_) scalar_ends_ = EndOfLongScalar();
    cut_short_ = given_ > *scalar_ends_ + kReadAhead;
    if (cut_short_) return traits_type::eof();
  }
  const std::string_view piece = bytes_.substr(given_, kPieceBytes);
  given_ += piece.size();
  tokens_ += static_cast<std::size_t>(std::ranges::count_if(piece, MayMakeToken));
  char* const begin = const_cast<char*>(piece.data());  // a stream only reads from it
  setg(begin, begin, begin + piece.size());
  return traits_type::to_int_type(*gptr());
}

}  // namespace pondage::manifest
