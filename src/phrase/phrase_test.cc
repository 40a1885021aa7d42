#include "phrase/phrase.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

namespace pondage::phrase {
namespace {

namespace fs = std::filesystem;

// The id at the beginning of the text; empty when there is none.
std::string_view IdAt(std::string_view text) {
  const std::string_view id = text.substr(0, 8);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const bool good = id.size() == 8 && id.starts_with("PND-") && id[4] >= 'A' && id[4] <= 'Z' &&
                    is_digit(id[5]) && is_digit(id[6]) && is_digit(id[7]);
  return good ? id : std::string_view();
}

TEST(Fill, NamedValuesNounsAndOptionalParts) {
  struct Row {
    std::string_view says;
    std::string_view text;
    Values values;
    std::string_view want;
  };
  const Row rows[] = {
      {"a value by name", "queue {where} is held", {{"where", "lab"}}, "queue lab is held"},
      {"one of a noun", "{n:GPU|GPUs}", {{"n", "1"}}, "1 GPU"},
      {"several of a noun", "{n:GPU|GPUs}", {{"n", "8"}}, "8 GPUs"},
      {"none of a noun", "{n:GPU|GPUs}", {{"n", "0"}}, "0 GPUs"},
      {"an optional part", "free[, on {node}]", {{"node", "n1"}}, "free, on n1"},
      {"its value is absent", "free[, on {node}]", {}, "free"},
      {"its value is empty", "free[, on {node}] now", {{"node", ""}}, "free now"},
      {"two values, one absent", "x[ {a} {b}]", {{"a", "1"}}, "x"},
      {"a condition that holds", "x[{?a} and y]", {{"a", "1"}}, "x and y"},
      {"a condition that does not", "x[{?a} and y]", {}, "x"},
      {"braces that do not close", "x {a", {}, "x "},
      {"a value that looks like a template", "{a}", {{"a", "{b}[c]"}, {"b", "no"}}, "{b}[c]"},
  };
  for (const Row& row : rows) EXPECT_EQ(Fill(row.text, row.values), row.want) << row.says;
}

TEST(Catalogue, IdsAreUniqueSortedAndWellFormed) {
  for (std::size_t i = 0; i < All().size(); ++i) {
    EXPECT_EQ(IdAt(All()[i].id), All()[i].id) << "an id is PND-, a letter, three digits";
    EXPECT_TRUE(std::string_view("ACEJMNPQRS").contains(All()[i].id[4])) << All()[i].id;
    EXPECT_TRUE(i == 0 || All()[i - 1].id < All()[i].id) << All()[i].id;
  }
  ASSERT_NE(Find("Q007"), nullptr);
  EXPECT_EQ(Find("Q007"), Find("PND-Q007"));
  EXPECT_EQ(Find("PND-Z999"), nullptr);
  EXPECT_EQ(Page("PND-Z999", Language::kEnglish), "");
}

TEST(Catalogue, EveryRowSpeaksBothLanguages) {
  for (const Message& message : All()) {
    for (const Both* text : {&message.title, &message.means}) {
      EXPECT_FALSE(text->english.empty() || text->chinese.empty()) << message.id;
    }
    for (const Both* text : {&message.sentence, &message.todo, &message.next}) {
      EXPECT_EQ(text->english.empty(), text->chinese.empty()) << message.id;
    }
    EXPECT_FALSE(message.todo.english.empty() && message.next.english.empty() &&
                 message.id[4] != 'C')
        << message.id << " does not say what to do";
  }
}

// Values that a template names.
std::set<std::string> Names(std::string_view text) {
  std::set<std::string> names;
  for (std::size_t at = text.find('{'); at != std::string_view::npos; at = text.find('{', at + 1)) {
    std::string_view name = text.substr(at + 1);
    if (name.starts_with('?')) name.remove_prefix(1);
    names.emplace(name.substr(0, name.find_first_of(":}")));
  }
  return names;
}

TEST(Catalogue, BothLanguagesNameTheSameValues) {
  for (const Message& message : All()) {
    EXPECT_EQ(Names(message.sentence.english), Names(message.sentence.chinese)) << message.id;
    for (const std::string_view text : {message.sentence.english, message.sentence.chinese}) {
      EXPECT_EQ(std::ranges::count(text, '{'), std::ranges::count(text, '}')) << message.id;
      EXPECT_EQ(std::ranges::count(text, '['), std::ranges::count(text, ']')) << message.id;
    }
  }
}

TEST(Catalogue, ASentenceInBothLanguages) {
  const Values values{{"need", "8"},  {"single", "yes"},  {"have", "6"},
                      {"block", "6"}, {"where", "gpu03"}, {"holders", "unet-1"}};
  EXPECT_EQ(
      Text("PND-Q007", Language::kEnglish, values),
      "needs 8 GPUs on one machine; 6 are free, at most 6 together (on gpu03); most are held by "
      "unet-1");
  EXPECT_EQ(Text("PND-Q007", Language::kChinese, values),
            "需要同一台机器 8 张卡; 空闲 6 张, 同一台最多 6 张 (gpu03), 主要被 unet-1 占用");
}

TEST(Words, StatesAndHeadingsInBothLanguages) {
  EXPECT_EQ(Word("waiting", Language::kEnglish), "waiting");
  EXPECT_EQ(Word("waiting", Language::kChinese), "等待中");
  EXPECT_EQ(Word("QUEUE", Language::kChinese), "队列");
  EXPECT_EQ(Word("no such word", Language::kChinese), "no such word");
}

TEST(Words, HintsBecomeWordsToType) {
  EXPECT_EQ(Hint("workers=2 gpus=4", Language::kEnglish), "--workers 2 --gpus 4");
  EXPECT_EQ(Hint("total=1", Language::kEnglish), "at most 1 GPU in all");
  EXPECT_EQ(Hint("total=3", Language::kChinese), "总共最多 3 张卡");
  EXPECT_EQ(Hint("", Language::kEnglish), "");
  EXPECT_EQ(Hint("nonsense workers=", Language::kEnglish), "--workers ");
}

// Ids that stand in the sources of other rooms, tests and this room left out.
std::set<std::string> UsedIds() {
  std::set<std::string> ids;
  for (const fs::directory_entry& file :
       fs::recursive_directory_iterator(fs::path(PONDAGE_SOURCE_DIR) / "src")) {
    const std::string path = file.path().string();
    if (!file.is_regular_file() || path.contains("/phrase/") || path.contains("_test.cc")) continue;
    std::ifstream in(file.path());
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    for (std::size_t at = text.find("PND-"); at != std::string::npos;
         at = text.find("PND-", at + 1)) {
      if (const std::string_view id = IdAt(std::string_view(text).substr(at)); !id.empty()) {
        ids.emplace(id);
      }
    }
  }
  return ids;
}

TEST(Catalogue, EveryIdUsedInTheSourcesHasARow) {
  const std::set<std::string> used = UsedIds();
  ASSERT_GT(used.size(), 10u) << "the search found nothing: is PONDAGE_SOURCE_DIR right?";
  for (const std::string& id : used) {
    EXPECT_NE(Find(id), nullptr) << id << " is used but has no row in src/phrase";
  }
}

TEST(Catalogue, EveryRowIsUsed) {
  const std::set<std::string> used = UsedIds();
  for (const Message& message : All()) {
    EXPECT_TRUE(used.contains(std::string(message.id)))
        << message.id << " has a row but nobody says it";
  }
}

}  // namespace
}  // namespace pondage::phrase
