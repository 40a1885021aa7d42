#include "terminal/screen.h"

#include <gtest/gtest.h>

namespace pondage::terminal {
namespace {

TEST(Terminal, ColourRules) {
  struct Row {
    std::string_view says, flag;
    std::map<std::string, std::string, std::less<>> environment;
    bool terminal, want;
  };
  const Row rows[] = {
      {"a terminal has colours", "", {}, true, true},
      {"a pipe has none", "", {}, false, false},
      {"always wins over NO_COLOR", "always", {{"NO_COLOR", "1"}}, false, true},
      {"never wins over force", "never", {{"FORCE_COLOR", "1"}}, true, false},
      {"NO_COLOR", "", {{"NO_COLOR", "1"}}, true, false},
      {"an empty NO_COLOR says nothing", "", {{"NO_COLOR", ""}}, true, true},
      {"NO_COLOR wins over force", "", {{"NO_COLOR", "1"}, {"CLICOLOR_FORCE", "1"}}, true, false},
      {"force on a pipe", "", {{"CLICOLOR_FORCE", "1"}}, false, true},
      {"force 0 says nothing", "", {{"FORCE_COLOR", "0"}}, false, false},
      {"force wins over a dumb terminal", "", {{"FORCE_COLOR", "1"}, {"TERM", "dumb"}}, true, true},
      {"a dumb terminal", "", {{"TERM", "dumb"}}, true, false},
      {"auto is as if nothing was said", "auto", {{"TERM", "xterm"}}, true, true},
  };
  for (const Row& row : rows) {
    Surroundings around;
    around.environment = row.environment;
    EXPECT_EQ(WantsColour(row.flag, around, row.terminal), row.want) << row.says;
  }
}

TEST(Terminal, CharacterSetAndLanguage) {
  Surroundings around;
  EXPECT_FALSE(IsUtf8(around));
  around.environment = {{"LANG", "zh_CN.UTF-8"}};
  EXPECT_TRUE(IsUtf8(around));
  EXPECT_EQ(LanguageOf("", around), Language::kChinese);
  EXPECT_EQ(LanguageOf("en", around), Language::kEnglish);
  around.environment["LC_ALL"] = "C";
  EXPECT_FALSE(IsUtf8(around)) << "LC_ALL wins";
  around.environment["PONDAGE_LANG"] = "zh";
  EXPECT_EQ(LanguageOf("", around), Language::kChinese);
}

TEST(Terminal, WidthCountsColumns) {
  EXPECT_EQ(Width("abc"), 3);
  EXPECT_EQ(Width("等待中"), 6);
  EXPECT_EQ(Width("\x1b[31mred\x1b[0m"), 3);
  EXPECT_EQ(Width("e\u0301"), 1) << "a combining accent takes no column";
  EXPECT_EQ(Width("\xff\xfe"), 2) << "broken bytes are shown as something";
  EXPECT_EQ(Width("▏█"), 2);
}

TEST(Terminal, FitCutsAtColumns) {
  EXPECT_EQ(Fit("needs 8 GPUs", 20, false), "needs 8 GPUs");
  EXPECT_EQ(Fit("needs 8 GPUs", 8, false), "needs 8…");
  EXPECT_EQ(Fit("needs 8 GPUs", 8, true), "needs...");
  EXPECT_EQ(Fit("需要八张卡", 6, false), "需要…") << "half a character is not shown";
  EXPECT_EQ(FitTinted("\x1b[31mneeds 8 GPUs\x1b[0m", 8, false), "\x1b[31mneeds 8…\x1b[0m");
}

TEST(Terminal, OthersTextDoesNotSteerTheTerminal) {
  EXPECT_EQ(Plain("a\x1b[2Jb\x1b]0;title\a\nc"), "ab c");
  EXPECT_EQ(Plain("\xc2\x9b"), " ") << "C1 control";
}

TEST(Terminal, BarsFill) {
  EXPECT_EQ(Bar(500, 4, true), "##..");
  EXPECT_EQ(Bar(0, 2, false), "  ");
  EXPECT_EQ(Bar(1000, 2, false), "██");
  EXPECT_EQ(Bar(1500, 2, true), "##");
  EXPECT_EQ(Width(Bar(333, 7, false)), 7);
}

Table Sample() {
  Table table;
  table.headings = {"NAME", "STATE", "REASON"};
  table.rows = {{{"bert-3"}, {"等待中", Tint::kYellow}, {"Q007 no machine has 8 free GPUs"}},
                {{"a"}, {"running", Tint::kGreen}, {""}}};
  return table;
}

TEST(Terminal, TableColumnsStandUnderEachOther) {
  Screen screen;
  EXPECT_EQ(Sample().Text(screen),
            "NAME    STATE    REASON\n"
            "bert-3  等待中   Q007 no machine has 8 free GPUs\n"
            "a       running\n");
  screen.header = false;
  EXPECT_TRUE(Sample().Text(screen).starts_with("bert-3"));
}

TEST(Terminal, OnlyATerminalCutsTheLastColumn) {
  Screen screen;
  screen.columns = 30;
  EXPECT_NE(Sample().Text(screen).find("8 free GPUs"), std::string::npos);
  screen.out_is_terminal = true;
  EXPECT_NE(Sample().Text(screen).find("Q007 no mach…"), std::string::npos)
      << Sample().Text(screen);
  screen.colour_out = true;
  EXPECT_NE(Sample().Text(screen).find("\x1b[32mrunning\x1b[0m"), std::string::npos);
}

}  // namespace
}  // namespace pondage::terminal
