// Plays every *.scn beside this file and compares what was seen with what stands below its `----`.
// UPDATE_GOLDEN=1 rewrites it: the diff is reviewed like code.
#include "sim/scenario.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace {

namespace fs = std::filesystem;
constexpr std::string_view kRule = "----\n";

std::string Read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class Scenario : public testing::TestWithParam<fs::path> {};

TEST_P(Scenario, SeesWhatIsWritten) {
  const std::string text = Read(GetParam());
  const auto rule = text.find(kRule);
  const std::string script = text.substr(0, rule);
  const std::string seen = pondage::sim::Play(script);
  if (std::getenv("UPDATE_GOLDEN") != nullptr) {
    std::ofstream(GetParam()) << script << kRule << seen;
    return;
  }
  ASSERT_NE(rule, std::string::npos) << "no ---- in " << GetParam();
  EXPECT_EQ(seen, text.substr(rule + kRule.size()));
  EXPECT_EQ(seen, pondage::sim::Play(script)) << "the same script twice";
}

std::vector<fs::path> Scripts() {
  std::vector<fs::path> scripts;
  for (const auto& entry : fs::directory_iterator(SCENARIO_DIR)) {
    if (entry.path().extension() == ".scn") scripts.push_back(entry.path());
  }
  std::ranges::sort(scripts);
  return scripts;
}

std::string NameOf(const testing::TestParamInfo<fs::path>& script) {
  std::string name = script.param.stem().string();
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, Scenario, testing::ValuesIn(Scripts()), NameOf);

}  // namespace
