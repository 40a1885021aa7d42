#include "session/log_place.h"

#include <gtest/gtest.h>

namespace pondage::session {
namespace {

TEST(LogPlace, IsKnownFromTheFirstAnswerOn) {
  LogPlace place(false);
  EXPECT_EQ(place.Query(), "");
  EXPECT_EQ(place.Begin("u-1/2/1000"), 0);
  EXPECT_EQ(place.Take("abc\n"), "abc\n");
  EXPECT_EQ(place.Query(), "&from=u-1%2F2%2F1004");
}

TEST(LogPlace, WhatLooksLikeAStampIsOne) {
  EXPECT_EQ(StampOf("2026-12-01T07:00:00.000001Z step 1"), "2026-12-01T07:00:00.000001Z ");
  EXPECT_EQ(StampOf("2026-12-01T07:00:00.000001Z "), "2026-12-01T07:00:00.000001Z ");
  EXPECT_EQ(StampOf("step 1 of a log without times"), "");
  EXPECT_EQ(StampOf("2026-12-01T07:00:00.000001Z"), "") << "no line of the server's";
  EXPECT_EQ(StampOf(""), "");
}

TEST(LogPlace, TellsWhatWasRotatedAway) {
  LogPlace place(false);
  place.Begin("u/0/10");
  place.Take("12345");
  EXPECT_EQ(place.Begin("u/0/15"), 0);
  EXPECT_EQ(place.Begin("u/0/20"), 5);
  EXPECT_EQ(place.Query(), "&from=u%2F0%2F20");
  for (const char* header : {"", "u", "u/0/", "u/0/x", "u/0/99999999999999999999"}) {
    EXPECT_EQ(place.Begin(header), 0) << header;
    EXPECT_EQ(place.Query(), "&from=u%2F0%2F20") << header;
  }
}

// A server that stamps lines, cut after every possible byte and asked again from where the reader
// says that it is: what is shown is the whole, once.
TEST(LogPlace, StampsAreNotOfTheLogWhereverTheAnswerBreaks) {
  const std::string stamp = "2026-11-30T19:57:31.123456Z ";
  const std::string log = "one\n\n2026-11-30 is no stamp\nlast";
  const auto answer = [&](std::size_t from) {
    std::string out;
    bool begins = from == 0 || log[from - 1] == '\n';
    for (const char c : log.substr(from)) {
      if (begins) out += stamp;
      out += c;
      begins = c == '\n';
    }
    return out;
  };
  const std::string whole = answer(0);
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, whole.size()}) {
      LogPlace place(true);
      std::string shown;
      const auto take = [&](const std::string& bytes) {
        for (std::size_t at = 0; at < bytes.size(); at += piece)
          shown += place.Take(std::string_view(bytes).substr(at, piece));
      };
      place.Begin("u/0/0");
      take(whole.substr(0, cut));
      const std::string query = place.Query();
      const std::size_t next = std::stoul(query.substr(query.rfind("%2F") + 3));
      place.Begin("u/0/" + std::to_string(next));
      take(answer(next));
      EXPECT_EQ(shown + place.Rest(), whole) << cut << " " << piece;
    }
  }
}

TEST(LogPlace, LinesWithoutTheirStampAreShownAsTheyAre) {
  LogPlace place(true);
  place.Begin("u/0/0");
  EXPECT_EQ(place.Take("plain\n2026-"), "plain\n");
  EXPECT_EQ(place.Rest(), "2026-");
}

}  // namespace
}  // namespace pondage::session
