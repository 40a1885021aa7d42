#include <gtest/gtest.h>

#include <limits>

#include "manifest/object.h"
#include "manifest/trouble.h"

namespace pondage::manifest {
namespace {

namespace json = boost::json;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

TEST(Quantity, HasTheGrammarOfKubernetes) {
  struct Row {
    json::value quantity;
    std::int64_t bytes;
    std::int64_t milli_cpu;
  };
  const Row kRows[] = {
      {"0", 0, 0},
      {"-0", 0, 0},
      {"1", 1, 1000},
      {"+2", 2, 2000},
      {1, 1, 1000},
      {1.6, 2, 1600},
      {0.1, 1, 100},
      {1e3, 1000, 1'000'000},
      {"1.5", 2, 1500},
      {".5", 1, 500},
      {"5.", 5, 5000},
      {"500m", 1, 500},
      {"1500m", 2, 1500},
      {"1n", 1, 1},
      {"1u", 1, 1},
      {"1000001u", 2, 1001},
      {"2k", 2000, 2'000'000},
      {"1M", 1'000'000, 1'000'000'000},
      {"1Ki", 1024, 1'024'000},
      {"1.5Gi", 1'610'612'736, 1'610'612'736'000},
      {"0.1Ki", 103, 102'400},
      {"1e3", 1000, 1'000'000},
      {"1E3", 1000, 1'000'000},
      {"1E", 1'000'000'000'000'000'000, -1},
      {"12e-1", 2, 1200},
      {"1e-1000", 1, 1},
      {"0e1000", 0, 0},
      {"00012", 12, 12'000},
      {"7Ei", 8'070'450'532'247'928'832, -1},
      {"9223372036854775807", kMost, -1},
      {"9223372036854775807m", 9'223'372'036'854'776, kMost},
  };
  for (const Row& row : kRows) {
    const auto bytes = ParseBytes(row.quantity);
    ASSERT_TRUE(bytes) << row.quantity << bytes.error().message;
    EXPECT_EQ(bytes->value, row.bytes) << row.quantity;
    const auto cpu = ParseCpu(row.quantity);
    EXPECT_EQ(cpu ? cpu->value : -1, row.milli_cpu) << row.quantity;
  }
}

TEST(Quantity, RefusesWithAReason) {
  struct Row {
    json::value quantity;
    std::string_view why;
  };
  const Row kRows[] = {
      {"", "is no quantity"},
      {".", "is no quantity"},
      {"abc", "is no quantity"},
      {"1 Gi", "is no quantity"},
      {"1gi", "is no quantity"},
      {"1e", "is no quantity"},
      {"1e3Ki", "is no quantity"},
      {"0x10", "is no quantity"},
      {"NaN", "is no quantity"},
      {"1.2.3", "is no quantity"},
      {json::string(201, '1'), "is no quantity"},
      {true, "is no quantity"},
      {nullptr, "is no quantity"},
      {json::array{}, "is no quantity"},
      {"-1", "must be greater than or equal to 0"},
      {-1, "must be greater than or equal to 0"},
      {"-1n", "must be greater than or equal to 0"},
      {"9223372036854775808", "is too large"},
      {"8Ei", "is too large"},
      {"10E", "is too large"},
      {"1e400", "is too large"},
      {1e300, "is too large"},
      {18'446'744'073'709'551'615u, "is too large"},
      {json::string(200, '9'), "is too large"},
      {"9223372036854775807.1", "is too large"},
  };
  for (const Row& row : kRows) {
    const auto whole = ParseWhole(row.quantity);
    ASSERT_FALSE(whole) << row.quantity;
    EXPECT_EQ(whole.error().id, kQuantityId);
    EXPECT_NE(whole.error().message.find(row.why), std::string::npos) << whole.error().message;
  }
}

}  // namespace
}  // namespace pondage::manifest
