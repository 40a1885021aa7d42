// When what was written, from an index as long as it gets.
#include "run/log_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/test_directory.h"
#include "shim/log_writer.h"

namespace pondage::run {
namespace {

struct Line {
  std::int64_t offset = 0;
  std::int64_t unix_ms = 0;
};

class LogTimes : public ::testing::Test {
 protected:
  LogTimes() { std::filesystem::create_directories(data_ + "/replicas/u"); }

  // One line each 100 ms: from so many on every other time is forgotten, so a line may bear the
  // time of the one before.
  std::vector<Line> Write(std::size_t count) const {
    shim::LogWriter writer(data_ + "/replicas/u/0", 0);
    std::vector<Line> lines;
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string text = std::to_string(i) + "\n";
      lines.push_back({offset, 1'000'000 + static_cast<std::int64_t>(i) * 100});
      writer.Write(text, lines.back().unix_ms);
      offset += static_cast<std::int64_t>(text.size());
    }
    return lines;
  }

  const base::TestDirectory directory_;
  const std::string data_ = directory_.path();
  const LogFiles logs_{data_};
};

TEST_F(LogTimes, MarksOfAnyPieceSayWhenItsLinesWereWritten) {
  const std::vector<Line> lines = Write(40'000);
  base::Random random(4);
  for (int piece = 0; piece < 200; ++piece) {
    const auto first =
        static_cast<std::size_t>(random.Between(0, static_cast<std::int64_t>(lines.size()) - 1));
    const std::size_t last =
        std::min(first + static_cast<std::size_t>(random.Between(1, 500)), lines.size() - 1);
    const auto marks = logs_.Marks("u", 0, lines[first].offset, lines[last].offset);
    ASSERT_TRUE(marks);
    EXPECT_LE(marks->size(), last - first + 1) << "only what the piece needs";
    for (std::size_t i = first; i < last; ++i) {
      const auto next =
          std::ranges::upper_bound(*marks, lines[i].offset, {}, &port::LogMark::offset);
      ASSERT_NE(next, marks->begin());
      const std::int64_t age = lines[i].unix_ms - std::prev(next)->at.unix_ms;
      ASSERT_TRUE(age == 0 || age == 100) << age;
    }
  }
}

TEST_F(LogTimes, WhatWasWrittenSinceBeginsWithTheStepThatHoldsIt) {
  const std::vector<Line> lines = Write(40'000);
  for (std::size_t i = 3; i < lines.size(); i += 997) {
    const auto offset = logs_.OffsetSince("u", 0, {lines[i].unix_ms});
    ASSERT_TRUE(offset);
    EXPECT_LE(*offset, lines[i].offset);
    EXPECT_GE(*offset, lines[i - 2].offset);
  }
  EXPECT_EQ(*logs_.OffsetSince("u", 0, {0}), 0);
  EXPECT_EQ(*logs_.OffsetSince("u", 0, {lines.back().unix_ms + 1'000}), lines.back().offset + 6);
}

TEST_F(LogTimes, WithoutAnIndexNobodyKnows) {
  Write(3);
  EXPECT_TRUE(logs_.Marks("u", 0, 0, 4));
  std::filesystem::resize_file(data_ + "/replicas/u/0.index", 5);
  EXPECT_EQ(logs_.Marks("u", 0, 0, 4).error().kind, base::Kind::kNotFound);
  std::filesystem::remove(data_ + "/replicas/u/0.index");
  EXPECT_EQ(logs_.Marks("u", 0, 0, 4).error().kind, base::Kind::kNotFound);
  EXPECT_EQ(logs_.Marks("../u", 0, 0, 4).error().kind, base::Kind::kNotFound);
  EXPECT_EQ(*logs_.OffsetSince("u", 0, {1}), 0);
}

}  // namespace
}  // namespace pondage::run
