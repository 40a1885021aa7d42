#include "run/virtual_probe.h"

#include <array>
#include <charconv>
#include <string>
#include <utility>

namespace pondage::run {
namespace {

constexpr int kMostGpus = 1024;
constexpr std::int64_t kDefaultMemory = std::int64_t{16} << 30;

base::Error Wrong(std::string_view text, const std::string& why) {
  return {base::Kind::kInvalid, "", std::string(text), "is not N[:TYPE[:MEMORY]]: " + why};
}

struct Suffix {
  std::string_view text;
  std::int64_t factor;
};
constexpr std::array<Suffix, 9> kSuffixes = {{{"Ki", 1LL << 10},
                                              {"Mi", 1LL << 20},
                                              {"Gi", 1LL << 30},
                                              {"Ti", 1LL << 40},
                                              {"k", 1'000},
                                              {"M", 1'000'000},
                                              {"G", 1'000'000'000},
                                              {"T", 1'000'000'000'000},
                                              {"", 1}}};

// A whole number with one of the suffixes; none: 0 is no memory either.
std::int64_t BytesIn(std::string_view text) {
  std::int64_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || number <= 0) return 0;
  const std::string_view rest(stop, static_cast<std::size_t>(text.data() + text.size() - stop));
  for (const Suffix& suffix : kSuffixes) {
    std::int64_t bytes = 0;
    if (rest == suffix.text)
      return __builtin_mul_overflow(number, suffix.factor, &bytes) ? 0 : bytes;
  }
  return 0;
}

}  // namespace

base::Result<VirtualProbe> VirtualProbe::Declare(std::string_view text) {
  const std::size_t first = text.find(':');
  const std::size_t last = text.rfind(':');
  const std::string_view number = text.substr(0, first);
  int count = 0;
  const auto [stop, error] = std::from_chars(number.data(), number.data() + number.size(), count);
  if (error != std::errc{} || stop != number.data() + number.size() || count < 0 ||
      count > kMostGpus) {
    return std::unexpected(Wrong(text, "N is a number from 0 to " + std::to_string(kMostGpus)));
  }
  std::string type = "virtual";
  std::int64_t memory = kDefaultMemory;
  if (first != std::string_view::npos) {
    type = std::string(first == last ? text.substr(first + 1)
                                     : text.substr(first + 1, last - first - 1));
    if (type.empty() || type.contains(':'))
      return std::unexpected(Wrong(text, "TYPE is empty or holds a colon"));
  }
  if (first != last) {
    memory = BytesIn(text.substr(last + 1));
    if (memory == 0) return std::unexpected(Wrong(text, "MEMORY is a size such as 80Gi"));
  }
  VirtualProbe probe;
  for (int i = 0; i < count; ++i) {
    port::GpuReading gpu;
    gpu.id = "virtual-" + std::to_string(i);
    gpu.type = type;
    gpu.memory = base::Bytes{memory};
    gpu.is_virtual = true;
    probe.inventory_.gpus.push_back(std::move(gpu));
  }
  return probe;
}

}  // namespace pondage::run
