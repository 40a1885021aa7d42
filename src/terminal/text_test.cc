#include "terminal/text.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

namespace pondage::terminal {
namespace {

TEST(Text, LengthsOfTime) {
  struct Row {
    std::string_view says, text;
    std::int64_t seconds;  // -1: refused
  };
  const Row rows[] = {
      {"a bare number is seconds", "90", 90},
      {"a unit", "10m", 600},
      {"two units", "1h30m", 5400},
      {"days and weeks", "1w1d", 8 * 86400},
      {"hours and minutes with a colon", "1:30", 5400},
      {"hours, minutes, seconds", "0:01:30", 90},
      {"nothing", "", -1},
      {"a word", "soon", -1},
      {"a sign", "-5s", -1},
      {"a unit that does not exist", "5y", -1},
      {"a number behind units", "1h30", -1},
      {"four parts", "1:2:3:4", -1},
      {"more than a century", "99999d", -1},
      {"more digits than any length has", "9999999999999999999s", -1},
  };
  for (const Row& row : rows) {
    const auto length = ParseLength(row.text);
    if (row.seconds < 0) {
      EXPECT_FALSE(length) << row.says;
    } else {
      ASSERT_TRUE(length) << row.says;
      EXPECT_EQ(length->value, row.seconds * 1000) << row.says;
    }
  }
}

TEST(Text, Sizes) {
  struct Row {
    std::string_view text;
    std::int64_t bytes;
    std::string_view quantity;
  };
  const Row rows[] = {{"512", 512, "512"},
                      {"64Mi", std::int64_t{64} << 20, "64Mi"},
                      {"64mib", std::int64_t{64} << 20, "64Mi"},
                      {"2G", 2'000'000'000, "1953125Ki"},
                      {"1.5GiB", std::int64_t{3} << 29, "1536Mi"},
                      {"0", 0, "0"}};
  for (const Row& row : rows) {
    const auto size = ParseSize(row.text);
    ASSERT_TRUE(size) << row.text;
    EXPECT_EQ(size->value, row.bytes) << row.text;
    EXPECT_EQ(QuantityOf(*size), row.quantity) << row.text;
  }
  for (const char* bad : {"", "Gi", "-1Gi", "5X", "1..5Gi", "99999999Pi", "1e9999"})
    EXPECT_FALSE(ParseSize(bad)) << bad;
}

TEST(Text, AgesAreShort) {
  EXPECT_EQ(ShortAge(base::Millis{-5}), "0s");
  EXPECT_EQ(ShortAge(base::SecondsLong(119)), "119s");
  EXPECT_EQ(ShortAge(base::SecondsLong(120)), "2m");
  EXPECT_EQ(ShortAge(base::SecondsLong(7199)), "119m");
  EXPECT_EQ(ShortAge(base::SecondsLong(7200)), "2h");
  EXPECT_EQ(ShortAge(base::SecondsLong(std::int64_t{3} * 86400)), "3d");
  EXPECT_EQ(LongAge(base::SecondsLong(65)), "1 min 5 s");
  EXPECT_EQ(LongAge(base::SecondsLong(7500)), "2 h 5 min");
}

TEST(Text, TimesThereAndBack) {
  const base::Instant at{1'796'108'400'000};
  EXPECT_EQ(Rfc3339(at), "2026-12-01T07:00:00Z");
  EXPECT_EQ(ParseRfc3339("2026-12-01T07:00:00Z"), at);
  EXPECT_EQ(ParseRfc3339("2026-12-01T07:00:00.250Z"), (base::Instant{at.unix_ms + 250}));
  EXPECT_EQ(ParseRfc3339("2026-12-01T15:00:00+08:00"), at);
  EXPECT_FALSE(ParseRfc3339("yesterday"));
  EXPECT_FALSE(ParseRfc3339("2026-12-01T07:00:00"));
  setenv("TZ", "Asia/Shanghai", 1);
  tzset();
  EXPECT_EQ(Moment(at, base::Instant{at.unix_ms + 1000}), "15:00");
  EXPECT_EQ(Moment(at, base::Instant{at.unix_ms + 86'400'000}), "Dec  1 15:00");
  unsetenv("TZ");
  tzset();
}

TEST(Text, WordsForAShell) {
  EXPECT_EQ(ShellQuote({"python", "t.py", "--x", "a b", "", "it's", "$HOME", "a=b"}),
            "python t.py --x 'a b' '' 'it'\\''s' '$HOME' a=b");
}

}  // namespace
}  // namespace pondage::terminal
