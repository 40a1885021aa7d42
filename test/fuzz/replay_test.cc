// Every fuzz target over its corpus, and over changed copies of it, as a plain test: so that none
// rots where there is no fuzzer. An input that breaks a promise is named before the process ends.

#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/random.h"
#include "targets.h"

namespace pondage::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr int kChangedCopies = 300;  // of each file

std::string what_runs;
std::string input;

void SayInput(int) {
  std::fprintf(stderr, "broken by %s, written to fuzz-failure\n", what_runs.c_str());
  std::ofstream("fuzz-failure", std::ios::binary) << input;
}

std::map<std::string, std::string> CorpusOf(std::string_view target) {
  std::map<std::string, std::string> corpus;  // by name, for the same order everywhere
  for (const auto& entry : fs::directory_iterator(fs::path(PONDAGE_CORPUS) / target)) {
    std::ifstream in(entry.path(), std::ios::binary);
    std::ostringstream bytes;
    bytes << in.rdbuf();
    corpus[entry.path().filename().string()] = bytes.str();
  }
  return corpus;
}

void Change(std::string& text, const std::string& other, base::Random& random) {
  const std::size_t at = random.Below(text.size() + 1);
  const std::size_t size = random.Below(std::min<std::size_t>(text.size() - at, 16) + 1);
  switch (random.Below(6)) {
    case 0:
      text.erase(at, size);
      break;
    case 1:
      text.insert(at, text.substr(at, size));
      break;
    case 2:
      text.insert(at, 1, static_cast<char>(random.Below(256)));
      break;
    case 3:
      text.insert(at, other.substr(random.Below(other.size() + 1), 16));
      break;
    case 4:
      text.insert(at, std::to_string(random.Next() >> random.Below(64)));
      break;
    default:
      if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << random.Below(8)));
  }
}

class Replay : public testing::TestWithParam<Target> {};

TEST_P(Replay, EveryInputKeepsThePromises) {
  const auto corpus = CorpusOf(GetParam().name);
  ASSERT_GE(corpus.size(), 3u) << "a target without inputs tests nothing";
  std::signal(SIGABRT, SayInput);
  base::Random random(2026);
  for (const auto& [name, original] : corpus) {
    const std::string& other =
        std::next(corpus.begin(), static_cast<long>(random.Below(corpus.size())))->second;
    for (int copy = 0; copy <= kChangedCopies; ++copy) {
      input = original;
      for (int changes = copy == 0 ? 0 : 1 + static_cast<int>(random.Below(4)); changes > 0;
           --changes) {
        Change(input, other, random);
      }
      what_runs = std::string(GetParam().name) + "/" + name + ", copy " + std::to_string(copy);
      GetParam().run(input);
    }
  }
  std::signal(SIGABRT, SIG_DFL);
}

INSTANTIATE_TEST_SUITE_P(All, Replay, testing::ValuesIn(kTargets),
                         [](const auto& target) { return std::string(target.param.name); });

}  // namespace
}  // namespace pondage::fuzz
