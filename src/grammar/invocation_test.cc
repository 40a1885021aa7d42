#include "grammar/invocation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "grammar/completion.h"
#include "grammar/help.h"
#include "phrase/phrase.h"
#include "terminal/text.h"
#include "terminal/trouble.h"

namespace pondage::grammar {
namespace {

TEST(Invocation, WhatStandsBehindTwoDashesIsKeptWordForWord) {
  const auto line = ParseLine({"run", "--gpus", "2", "--env", "A=1", "--env", "B=x y", "--",
                               "python", "t.py", "--x", "a b", "--gpus", "9", "--", "$HOME", "-h"});
  ASSERT_TRUE(line) << line.error().message;
  EXPECT_EQ(line->program, (std::vector<std::string>{"python", "t.py", "--x", "a b", "--gpus", "9",
                                                     "--", "$HOME", "-h"}));
  EXPECT_EQ(line->Value("gpus"), "2");
  EXPECT_EQ(line->Values("env"), (std::vector<std::string>{"A=1", "B=x y"}));
  EXPECT_FALSE(line->Has("help"));
}

TEST(Invocation, GlobalFlagsStandAnywhere) {
  for (const auto& words : {std::vector<std::string>{"-o", "json", "ps", "-a"},
                            {"ps", "-a", "-o", "json"},
                            {"ps", "--output=json", "--all"}}) {
    const auto line = ParseLine(words);
    ASSERT_TRUE(line) << line.error().message;
    EXPECT_EQ(line->command->name, "ps");
    EXPECT_EQ(line->Value("output"), "json");
    EXPECT_TRUE(line->Has("all"));
  }
}

TEST(Invocation, HelpNeedsNothingElse) {
  const auto line = ParseLine({"show", "--help"});
  ASSERT_TRUE(line);
  EXPECT_TRUE(line->Has("help"));
  EXPECT_EQ(ParseLine({})->command, nullptr);
}

TEST(Invocation, MistakesAreToldInWords) {
  struct Row {
    std::vector<std::string> words;
    std::string_view says;
  };
  const Row rows[] = {
      {{"rnu"}, "did you mean run?"},
      {{"expalin", "x"}, "did you mean explain?"},
      {{"squeue"}, "no command \"squeue\"; did you mean ps?"},
      {{"cancel", "x"}, "did you mean stop?"},
      {{"zzzzzz"}, "no command \"zzzzzz\""},
      {{"ps", "--al"}, "did you mean --all?"},
      {{"ps", "-o", "xml"}, "--output takes table|wide|json|yaml|csv|name, not \"xml\""},
      {{"wait", "-o", "csv", "a"}, "--output of wait takes table|json, not \"csv\""},
      {{"stop", "-o", "json", "a"}, "stop takes no --output"},
      {{"queue", "set", "a", "limit=1", "-o", "json"}, "queue set takes no --output"},
      {{"ps", "a", "b"}, "ps does not take \"b\""},
      {{"show"}, "show needs JOB"},
      {{"run", "--gpus", "1"}, "no command: what is to be run stands behind --"},
      {{"run", "--gpus", "1", "python", "t.py"},
       "put -- in front of the command: pondage run ... -- python t.py"},
      {{"exec", "mnist-7", "bash"}, "put -- in front of the command: pondage exec ... -- bash"},
      {{"exec", "--", "bash"}, "JOB"},
      {{"exec", "mnist-7"}, "stands behind --"},
      {{"queue", "list"}, "queue takes ls, show, set, not \"list\""},
      {{"ps", "--queue", "a", "--queue", "b"}, "--queue is given more than once"},
      {{"completion", "csh"}, "completion takes bash, zsh, fish, not \"csh\""},
  };
  for (const Row& row : rows) {
    const auto line = ParseLine(row.words);
    ASSERT_FALSE(line) << row.says;
    EXPECT_NE(line.error().message.find(row.says), std::string::npos) << line.error().message;
    EXPECT_EQ(line.error().id, "PND-C002");
    EXPECT_EQ(terminal::ExitCodeOf(line.error()), terminal::kUsage);
  }
}

TEST(Invocation, AFlagOfTwoValuesTakesBothAtOnce) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"simulate", "f.yaml", "--compare", "pondage", "fifo"},
        std::vector<std::string>{"simulate", "--compare", "pondage", "fifo", "f.yaml"}}) {
    const auto line = ParseLine(words);
    ASSERT_TRUE(line) << line.error().message;
    EXPECT_EQ(line->Values("compare"), (std::vector<std::string>{"pondage", "fifo"}));
    EXPECT_EQ(line->words, std::vector<std::string>{"f.yaml"});
  }
  EXPECT_FALSE(ParseLine({"simulate", "f.yaml", "--compare", "pondage"}));
  EXPECT_FALSE(
      ParseLine({"simulate", "f.yaml", "--compare", "fit", "fifo", "--compare", "a", "b"}));
}

TEST(Commands, OutputsAreOfThoseThereAre) {
  for (const Command& command : Commands()) {
    for (const auto& output : terminal::Split(command.outputs, '|'))
      EXPECT_TRUE(output.empty() || IsOneOf(output, kEveryOutput)) << command.name;
    EXPECT_EQ(command.lists.empty(), command.first_verb.empty()) << command.name;
    EXPECT_TRUE(command.lists.empty() || !command.outputs.empty()) << command.name;
    for (const auto& verb : terminal::Split(command.lists, '|'))
      EXPECT_TRUE(verb.empty() || std::ranges::find(command.verbs, verb) != command.verbs.end())
          << command.name;
  }
}

TEST(Invocation, NumbersHaveBounds) {
  const auto line = ParseLine({"run", "--gpus", "2", "--workers", "x1", "--", "a"});
  ASSERT_TRUE(line);
  EXPECT_EQ(*line->Number("gpus", 0, 0, 8), 2);
  EXPECT_FALSE(line->Number("gpus", 0, 4, 8));
  EXPECT_FALSE(line->Number("workers", 1, 0, 8));
  EXPECT_EQ(*line->Number("ps", 7, 0, 8), 7);
}

TEST(Commands, EveryOneIsWholeInBothLanguages) {
  std::set<std::string_view> names;
  for (const Command& command : Commands()) {
    EXPECT_TRUE(names.insert(command.name).second) << command.name;
    EXPECT_FALSE(command.english.empty() || command.chinese.empty()) << command.name;
    EXPECT_EQ(command.about_english.empty(), command.about_chinese.empty()) << command.name;
    EXPECT_FALSE(command.examples.empty()) << command.name;
    for (const Example& example : command.examples) {
      EXPECT_NE(example.line.find("pondage"), std::string_view::npos) << command.name;
      EXPECT_EQ(example.english.empty(), example.chinese.empty()) << example.line;
    }
    for (const Flag& flag : command.flags) {
      EXPECT_FALSE(flag.english.empty() || flag.chinese.empty())
          << command.name << " --" << flag.name;
    }
  }
}

// Examples that show more than one program are for a shell: their own part is the first command.
std::vector<std::string> WordsOf(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : std::string(line) + " ") {
    if (c == '|' || c == '&' || c == '<') break;
    if (c != ' ') {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::exchange(word, ""));
    }
  }
  return words;
}

TEST(Commands, TheirExamplesAreUnderstood) {
  int understood = 0;
  for (const Command& command : Commands()) {
    for (const Example& example : command.examples) {
      auto words = WordsOf(example.line);
      if (words.empty() || words[0] != "pondage") continue;
      words.erase(words.begin());
      const auto line = ParseLine(words);
      ASSERT_TRUE(line) << example.line << ": " << line.error().message;
      EXPECT_EQ(line->command->name, command.name) << example.line;
      ++understood;
    }
  }
  EXPECT_GT(understood, 25);
}

TEST(Help, ShowsFlagsAndExamplesWithinTheScreen) {
  terminal::Screen screen;
  for (const terminal::Language language :
       {terminal::Language::kEnglish, terminal::Language::kChinese}) {
    screen.language = language;
    for (const Command& command : Commands()) {
      const std::string page = HelpText(command, screen);
      for (const Flag& flag : command.flags)
        EXPECT_NE(page.find("--" + std::string(flag.name)), std::string::npos);
      for (const Example& example : command.examples)
        EXPECT_NE(page.find(example.line), std::string::npos);
    }
  }
  EXPECT_NE(OverviewText(screen).find("explain"), std::string::npos);
}

// A page is copied into terminals, mails and files: no line ends in a blank.
TEST(Help, NoLineEndsInABlank) {
  terminal::Screen screen;
  for (const terminal::Language language :
       {terminal::Language::kEnglish, terminal::Language::kChinese}) {
    screen.language = language;
    std::vector<std::string> pages{OverviewText(screen), ErrorIndex(screen),
                                   RoffPage(nullptr, screen)};
    for (const Command& command : Commands()) {
      pages.push_back(HelpText(command, screen));
      pages.push_back(RoffPage(&command, screen));
    }
    for (const phrase::Message& message : phrase::All()) {
      pages.push_back(*ErrorPage(message.id, screen));
    }
    for (const std::string& page : pages) {
      for (const std::string& line : terminal::Split(page, '\n')) {
        EXPECT_FALSE(line.ends_with(' ')) << page.substr(0, page.find('\n')) << ": " << line;
      }
    }
  }
}

TEST(Help, PagesOfErrors) {
  const terminal::Screen screen;
  ASSERT_TRUE(ErrorPage("PND-C001", screen));
  EXPECT_NE(ErrorPage("PND-C001", screen)->find("PONDAGE_SERVER"), std::string::npos);
  EXPECT_TRUE(ErrorPage("Q007", screen)) << "the short form that tables show";
  EXPECT_FALSE(ErrorPage("PND-X999", screen));
}

TEST(Setting, TakesWhatItsFlagTakes) {
  EXPECT_TRUE(CheckSetting("lang", "zh"));
  EXPECT_TRUE(CheckSetting("lang", ""));
  EXPECT_TRUE(CheckSetting("server", "https://a:1"));
  EXPECT_TRUE(CheckSetting("queue", "nlp"));  // no global flag
  for (const auto& [name, value] : {std::pair("lang", "fr"), {"color", "purple"}, {"output", "x"}})
    EXPECT_EQ(CheckSetting(name, value).error().id, "PND-C002") << name;
}

TEST(Help, ManPagesAreMadeOfTheSame) {
  const terminal::Screen screen;
  for (const Command& command : Commands()) {
    const std::string page = RoffPage(&command, screen);
    EXPECT_TRUE(page.starts_with(".TH \"pondage-" + std::string(command.name) + "\" 1"))
        << command.name;
    EXPECT_NE(page.find(".SH EXAMPLES"), std::string::npos);
  }
}

TEST(Completion, KnowsEveryCommandAndFlag) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const std::string script = CompletionScript(shell);
    for (const Command& command : Commands()) {
      EXPECT_NE(script.find(command.name), std::string::npos) << shell << " " << command.name;
      for (const Flag& flag : command.flags) {
        const std::string typed =
            (shell == std::string("fish") ? "-l " : "--") + std::string(flag.name);
        EXPECT_NE(script.find(typed), std::string::npos) << shell << " " << typed;
      }
    }
    EXPECT_NE(script.find("pondage ps -a -o name"), std::string::npos)
        << shell << ": names of jobs";
  }
}

}  // namespace
}  // namespace pondage::grammar
