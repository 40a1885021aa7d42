#include "session/log_place.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "client/client.h"

namespace pondage::session {
namespace {

constexpr std::string_view kStampLike = "0000-00-00T00:00:00.000000Z ";

bool MayBeStamp(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (kStampLike[i] == '0' ? !digit : text[i] != kStampLike[i]) return false;
  }
  return true;
}

}  // namespace

std::string_view StampOf(std::string_view line) {
  const std::string_view stamp = line.substr(0, kStampLike.size());
  return stamp.size() == kStampLike.size() && MayBeStamp(stamp) ? stamp : std::string_view();
}

std::int64_t LogPlace::Begin(std::string_view header) {
  stamp_.clear();
  const std::size_t slash = header.rfind('/');
  std::int64_t offset = 0;
  if (slash == std::string_view::npos) return 0;
  const std::string_view digits = header.substr(slash + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), offset);
  if (error != std::errc() || end != digits.data() + digits.size()) return 0;
  const std::int64_t gone = source_.empty() ? 0 : std::max<std::int64_t>(offset - next_, 0);
  // Behind a gap the server begins with a stamp only if a line begins there; it looks like one or
  // not.
  if (source_.empty() || gone > 0) line_begins_ = true;
  source_ = header.substr(0, slash);
  next_ = offset;
  return gone;
}

std::string LogPlace::Take(std::string_view bytes) {
  if (!stamped_) {
    next_ += static_cast<std::int64_t>(bytes.size());
    return std::string(bytes);
  }
  std::string shown;
  const auto text = [&](std::string_view part) {
    next_ += static_cast<std::int64_t>(part.size());
    shown += part;
    if (!part.empty()) line_begins_ = part.back() == '\n';
  };
  while (!bytes.empty()) {
    if (!line_begins_) {
      const std::string_view part = bytes.substr(0, bytes.find('\n'));
      const std::size_t size = std::min(part.size() + 1, bytes.size());
      text(bytes.substr(0, size));
      bytes.remove_prefix(size);
      continue;
    }
    // A whole stamp is shown with the first byte of its line: before that, it would come again.
    if (stamp_.size() == kStampLike.size()) {
      shown += std::exchange(stamp_, {});
      line_begins_ = false;
      continue;
    }
    stamp_ += bytes.front();
    bytes.remove_prefix(1);
    if (!MayBeStamp(stamp_)) text(std::exchange(stamp_, {}));
  }
  return shown;
}

std::string LogPlace::Rest() {
  next_ += static_cast<std::int64_t>(stamp_.size());
  return std::exchange(stamp_, {});
}

std::string LogPlace::Query() const {
  if (source_.empty()) return {};
  return "&from=" + client::PercentEncode(fmt::format("{}/{}", source_, next_));
}

}  // namespace pondage::session
