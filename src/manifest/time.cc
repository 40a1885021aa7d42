#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>

#include "manifest/object.h"
#include "manifest/trouble.h"

namespace pondage::manifest {

namespace {

using std::chrono::sys_days;

constexpr std::int64_t kDayMs = 86'400'000;

struct Civil {
  int year;
  unsigned month, day;
  std::int64_t hour, minute, second, milli;
};

Civil CivilOf(base::Instant at) {
  // RFC 3339 has four digits for the year: what lies outside is shown as its edge.
  constexpr std::int64_t kFirst = -62'167'219'200'000;  // 0000-01-01
  constexpr std::int64_t kLast = 253'402'300'799'999;   // 9999-12-31
  const std::int64_t ms = std::min(std::max(at.unix_ms, kFirst), kLast);
  std::int64_t day = ms / kDayMs;
  if (ms % kDayMs < 0) --day;
  const std::int64_t in_day = ms - day * kDayMs;
  const std::chrono::year_month_day date{sys_days{std::chrono::days{day}}};
  return {int(date.year()),     unsigned(date.month()), unsigned(date.day()), in_day / 3'600'000,
          in_day / 60'000 % 60, in_day / 1000 % 60,     in_day % 1000};
}

std::string FormatSeconds(const Civil& civil) {
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", civil.year, civil.month, civil.day,
                     civil.hour, civil.minute, civil.second);
}

// Takes fixed-width digits and single characters off the front of a text.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  std::int64_t Digits(std::size_t width, std::int64_t low, std::int64_t high) {
    std::int64_t value = 0;
    for (std::size_t i = 0; i < width; ++i) {
      if (i >= rest_.size() || rest_[i] < '0' || rest_[i] > '9') return Bad();
      value = value * 10 + (rest_[i] - '0');
    }
    rest_.remove_prefix(width);
    return value < low || value > high ? Bad() : value;
  }
  bool Take(std::string_view any_of) {
    if (rest_.empty() || any_of.find(rest_.front()) == std::string_view::npos) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void Need(std::string_view any_of) {
    if (!Take(any_of)) Bad();
  }
  // Digits of a fraction of a second, as milliseconds cut off.
  std::int64_t Fraction() {
    std::int64_t milli = 0;
    int count = 0;
    for (; !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9'; ++count) {
      if (count < 3) milli = milli * 10 + (rest_.front() - '0');
      rest_.remove_prefix(1);
    }
    if (count == 0) return Bad();
    for (; count < 3; ++count) milli *= 10;
    return milli;
  }
  bool plus() const { return !rest_.empty() && rest_.front() == '+'; }
  bool good() const { return good_; }
  bool done() const { return rest_.empty(); }

 private:
  std::int64_t Bad() {
    good_ = false;
    rest_ = {};
    return 0;
  }

  std::string_view rest_;
  bool good_ = true;
};

std::optional<base::Instant> Scan(std::string_view text) {
  Scanner scan(text);
  const std::chrono::year year{int(scan.Digits(4, 0, 9999))};
  scan.Need("-");
  const std::chrono::month month{unsigned(scan.Digits(2, 1, 12))};
  scan.Need("-");
  const std::chrono::day day{unsigned(scan.Digits(2, 1, 31))};
  scan.Need("Tt");
  const std::int64_t hour = scan.Digits(2, 0, 23);
  scan.Need(":");
  const std::int64_t minute = scan.Digits(2, 0, 59);
  scan.Need(":");
  const std::int64_t second = scan.Digits(2, 0, 60);  // a leap second is the next one
  const std::int64_t milli = scan.Take(".") ? scan.Fraction() : 0;
  std::int64_t offset_minutes = 0;
  if (!scan.Take("Zz")) {
    const int sign = scan.plus() ? 1 : -1;
    scan.Need("+-");
    offset_minutes = scan.Digits(2, 0, 23) * 60;
    scan.Need(":");
    offset_minutes = sign * (offset_minutes + scan.Digits(2, 0, 59));
  }
  const std::chrono::year_month_day date{year, month, day};
  if (!scan.good() || !scan.done() || !date.ok()) return std::nullopt;
  const std::int64_t days = sys_days{date}.time_since_epoch().count();
  const std::int64_t minutes = hour * 60 + minute - offset_minutes;
  return base::Instant{days * kDayMs + minutes * 60'000 + second * 1000 + milli};
}

}  // namespace

std::string FormatTime(base::Instant at) {
  return FormatSeconds(CivilOf(at)) + "Z";
}

std::string FormatMilliTime(base::Instant at) {
  const Civil civil = CivilOf(at);
  return fmt::format("{}.{:03}Z", FormatSeconds(civil), civil.milli);
}

std::string FormatMicroTime(base::Instant at) {
  const Civil civil = CivilOf(at);
  return fmt::format("{}.{:03}000Z", FormatSeconds(civil), civil.milli);
}

base::Result<base::Instant> ParseTime(std::string_view text) {
  if (const auto at = Scan(text)) return *at;
  return base::Fail(base::Kind::kInvalid, kTimeId, "",
                    fmt::format("{} is no RFC 3339 time such as 2026-01-05T10:00:00Z",
                                Shown(boost::json::value(text))));
}

base::Result<base::Millis> ParseDuration(std::string_view text) {
  struct Unit {
    std::string_view name;
    double ms;
  };
  static constexpr Unit kUnits[] = {
      {"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}};
  constexpr double kMost = 100.0 * 366 * 86'400'000;
  const auto refuse = [text] {
    return base::Fail(base::Kind::kInvalid, kTimeId, "",
                      fmt::format("{} is no length of time such as 90s, 10m or 1h30m",
                                  Shown(boost::json::value(text))));
  };
  double total = 0;
  if (text.empty()) return refuse();
  for (std::string_view rest = text; !rest.empty();) {
    double number = 0;
    const auto [end, error] =
        std::from_chars(rest.begin(), rest.end(), number, std::chars_format::fixed);
    if (error != std::errc() || !(number >= 0)) return refuse();
    rest.remove_prefix(static_cast<std::size_t>(end - rest.begin()));
    const auto width = std::min(rest.find_first_not_of("abcdefghijklmnopqrstuvwxyz"), rest.size());
    const auto* unit = std::ranges::find(kUnits, rest.substr(0, width), &Unit::name);
    if (unit == std::end(kUnits)) return refuse();
    rest.remove_prefix(width);
    total += number * unit->ms;
    if (!(total <= kMost)) return refuse();
  }
  return base::Millis{static_cast<std::int64_t>(total)};
}

}  // namespace pondage::manifest
