#include "trace/files.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <memory>

namespace pondage::trace {

Files Disk(std::string folder) {
  return [folder = std::move(folder)](const std::string& path) -> base::Result<std::string> {
    const std::string whole = path.starts_with('/') || folder.empty() ? path : folder + "/" + path;
    for (const char* ending : {"", ".gz"}) {
      std::ifstream in(whole + ending, std::ios::binary);
      if (!in) continue;
      std::string bytes{std::istreambuf_iterator<char>(in), {}};
      if (in.bad()) return base::Fail(base::Kind::kUnavailable, "", path, "it cannot be read");
      auto plain = Unzip(bytes);
      if (!plain) plain.error().object = path;
      return plain;
    }
    return base::Fail(base::Kind::kNotFound, "", path, "there is no such file");
  };
}

base::Result<std::string> Unzip(std::string_view bytes, std::size_t at_most) {
  const auto fail = [](const char* why) { return base::Fail(base::Kind::kCorrupt, "", "", why); };
  if (!bytes.starts_with("\x1f\x8b")) {
    if (bytes.size() > at_most) return fail("it is larger than a trace may be");
    return std::string(bytes);
  }
  z_stream stream{};
  constexpr int kGzip = 16 + MAX_WBITS;
  if (inflateInit2(&stream, kGzip) != Z_OK) return fail("there is no memory to unpack it");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, inflateEnd);
  std::string plain;
  std::array<char, 1 << 16> block;
  int state = Z_OK;
  while (state == Z_OK) {
    if (stream.avail_in == 0) {
      if (bytes.empty()) return fail("the compressed file ends too early");
      const auto piece = bytes.substr(0, 1 << 20);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
      stream.avail_in = static_cast<uInt>(piece.size());
      bytes.remove_prefix(piece.size());
    }
    stream.next_out = reinterpret_cast<Bytef*>(block.data());
    stream.avail_out = block.size();
    state = inflate(&stream, Z_NO_FLUSH);
    const std::size_t got = block.size() - stream.avail_out;
    if (got > at_most - plain.size()) return fail("it unpacks to more than a trace may be");
    plain.append(block.data(), got);
    const bool more = stream.avail_in > 0 || !bytes.empty();
    if (state == Z_STREAM_END && more) state = inflateReset(&stream);  // another part follows
  }
  if (state != Z_STREAM_END) return fail("it is not a whole gzip file");
  return plain;
}

}  // namespace pondage::trace
