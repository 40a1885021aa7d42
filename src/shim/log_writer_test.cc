#include "shim/log_writer.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>

#include "base/random.h"
#include "base/test_directory.h"

namespace pondage::shim {
namespace {

namespace fs = std::filesystem;

class LogWriterTest : public ::testing::Test {
 protected:
  std::string Name() const { return directory_ / "0"; }

  // Kept files by the offset of their first byte; the newest at `newest`.
  std::map<std::int64_t, std::string> Kept(std::int64_t newest) const {
    std::map<std::int64_t, std::string> kept;
    for (const auto& entry : fs::directory_iterator(directory_)) {
      const std::string name = entry.path().filename();
      std::ostringstream text;
      text << std::ifstream(entry.path()).rdbuf();
      if (name == "0.log") kept[newest] = text.str();
      if (name.starts_with("0.log.")) kept[std::stoll(name.substr(6))] = text.str();
    }
    return kept;
  }

  std::vector<IndexEntry> Index(IndexHeading& heading) const {
    std::ostringstream text;
    text << std::ifstream(directory_ / "0.index").rdbuf();
    const std::string bytes = text.str();
    EXPECT_GE(bytes.size(), sizeof(heading));
    std::memcpy(&heading, bytes.data(), sizeof(heading));
    std::vector<IndexEntry> entries((bytes.size() - sizeof(heading)) / sizeof(IndexEntry));
    std::memcpy(entries.data(), bytes.data() + sizeof(heading),
                entries.size() * sizeof(IndexEntry));
    return entries;
  }

  const base::TestDirectory place_;
  const fs::path directory_ = place_.path();
};

// Files that cannot be made, as on a full disk, for as long as this lives.
class NoNewFiles {
 public:
  NoNewFiles() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit none{0, before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoNewFiles() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST_F(LogWriterTest, WritesAgainWhenFilesCanBeMadeAgain) {
  auto none = std::make_unique<NoNewFiles>();
  LogWriter log(Name(), 8'192);
  log.Write("lost\n", 1'000);
  none.reset();
  EXPECT_EQ(log.dropped_bytes(), 5);
  log.Write("kept\n", 2'000);
  EXPECT_EQ(Kept(0).at(0), "kept\n");

  const std::string page(2'040, 'x');
  none = std::make_unique<NoNewFiles>();
  log.Write(page + "\n", 3'000);  // the next file cannot be made
  log.Write("lost\n", 4'000);
  none.reset();
  EXPECT_GT(log.dropped_bytes(), 5);
  log.Write("and again\n", 5'000);
  const auto kept = Kept(-1);
  EXPECT_TRUE(kept.at(-1).ends_with("and again\n")) << kept.at(-1).size();

  IndexHeading heading;
  const auto entries = Index(heading);
  ASSERT_FALSE(entries.empty());
  EXPECT_EQ(std::string(heading.magic, 8), "PNDIDX01");
  EXPECT_TRUE(std::ranges::is_sorted(entries, {}, &IndexEntry::offset));
  EXPECT_EQ(entries.back().unix_ms, 5'000);
}

TEST_F(LogWriterTest, KeepsTheUnbrokenEndOfEverything) {
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u, 5u}) {
    base::Random random(seed);
    std::string all;
    const std::int64_t cap = random.Between(8192, 40'000);
    {
      LogWriter log(Name(), cap);
      for (int i = 0; i < 400; ++i) {
        std::string part(random.Below(3000), 'x');
        for (char& c : part)
          c = random.OneIn(40) ? '\n' : static_cast<char>('a' + random.Below(26));
        all += part;
        log.Write(part, i);
      }
      EXPECT_EQ(log.dropped_bytes(), 0);
    }
    const auto newest = static_cast<std::int64_t>(all.size() - fs::file_size(directory_ / "0.log"));
    const auto kept = Kept(newest);
    std::int64_t total = 0;
    std::int64_t next = kept.begin()->first;
    for (const auto& [begin, text] : kept) {
      EXPECT_EQ(begin, next);
      EXPECT_EQ(text, all.substr(static_cast<std::size_t>(begin), text.size()));
      next = begin + static_cast<std::int64_t>(text.size());
      total += static_cast<std::int64_t>(text.size());
    }
    EXPECT_EQ(next, static_cast<std::int64_t>(all.size()));
    EXPECT_LE(total, cap) << "seed " << seed;
    EXPECT_GE(total, cap / 4) << "seed " << seed;
    fs::remove_all(directory_);
    fs::create_directory(directory_);
  }
}

TEST_F(LogWriterTest, ALineLongerThanAFileIsCut) {
  LogWriter log(Name(), 8192);
  log.Write(std::string(100'000, 'x'), 0);
  std::size_t total = 0;
  for (const auto& [begin, text] : Kept(0)) total += text.size();
  EXPECT_LE(total, 8192u);
  EXPECT_GT(total, 2048u);
}

TEST_F(LogWriterTest, WithoutACapNothingIsRotated) {
  LogWriter log(Name(), 0);
  for (int i = 0; i < 100; ++i) log.Write(std::string(10'000, 'x'), i);
  EXPECT_EQ(fs::file_size(directory_ / "0.log"), 1'000'000u);
  EXPECT_EQ(Kept(0).size(), 1u);
}

TEST_F(LogWriterTest, TheIndexSaysWhenAtMostOnceAStep) {
  {
    LogWriter log(Name(), 0);
    log.Write("a\n", 1000);
    log.Write("b\n", 1099);
    log.Write("c\n", 1100);
    log.Write("d\n", 900);  // the clock was set back
    log.Write("e\n", 5000);
  }
  IndexHeading heading;
  EXPECT_EQ(Index(heading), (std::vector<IndexEntry>{{0, 1000}, {4, 1100}, {8, 5000}}));
  EXPECT_EQ(heading.step_ms, 100);
}

TEST_F(LogWriterTest, TheIndexStaysSmallByGrowingCoarser) {
  {
    LogWriter log(Name(), 0);
    for (int i = 0; i < 100'000; ++i) log.Write("x\n", i * 100);
  }
  IndexHeading heading;
  const auto entries = Index(heading);
  EXPECT_LE(entries.size(), 32'768u);
  EXPECT_GE(entries.size(), 8'192u);
  EXPECT_GT(heading.step_ms, 100);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    EXPECT_EQ(entries[i].unix_ms, entries[i].offset / 2 * 100);  // still true
    if (i > 0) {
      EXPECT_LT(entries[i - 1].unix_ms, entries[i].unix_ms);
    }
  }
}

}  // namespace
}  // namespace pondage::shim
