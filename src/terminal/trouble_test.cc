#include "terminal/trouble.h"

#include <gtest/gtest.h>

namespace pondage::terminal {
namespace {

TEST(Trouble, ErrorsInThreeParts) {
  Screen screen;
  const base::Error error{base::Kind::kUnavailable, "PND-C001", "",
                          "the server is away\nlooked at x\nand y"};
  EXPECT_EQ(
      TroubleText(error, screen),
      "error PND-C001: the server is away\n  looked at x\n  and y\n"
      "  try: pondage serve --data DIR (on the server), or pondage doctor      (docs: pondage man "
      "PND-C001)\n");
  EXPECT_EQ(TroubleText({base::Kind::kInvalid, "", "", "no id"}, screen), "error: no id\n");
}

TEST(Trouble, TheNextStepNamesTheThing) {
  const Screen screen;
  const auto next = [&](const base::Error& error) {
    const std::string text = TroubleText(error, screen);
    const std::size_t at = text.find("try: ");
    return at == std::string::npos ? text : text.substr(at + 5, text.find("   ", at) - at - 5);
  };
  using base::Kind;
  EXPECT_EQ(next({Kind::kInvalid, "PND-E001", "/apis/x",
                  "job is invalid: image: Invalid value: \"tf:9\": no environment serves it"}),
            "pondage env add tf:9 PATH");
  EXPECT_EQ(next({Kind::kInvalid, "PND-E001", "", "none serves it"}), "pondage env add IMAGE PATH");
  EXPECT_EQ(next({Kind::kInvalid, "PND-C021", "mnist-7", "stopped"}), "pondage resume mnist-7");
  EXPECT_EQ(next({Kind::kInvalid, "PND-C024", "mnist-7", "finished"}), "pondage rerun mnist-7");
  EXPECT_EQ(next({Kind::kNotFound, "PND-C022", "nope", "none"}),
            "pondage queue; an admin makes one with pondage queue set nope limit=none");
}

TEST(Trouble, InChineseTheMeaningComesFirst) {
  Screen screen;
  screen.language = Language::kChinese;
  EXPECT_TRUE(TroubleText({base::Kind::kNotFound, "PND-C008", "", "no job \"x\""}, screen)
                  .starts_with("错误 PND-C008: 不存在\n  no job \"x\"\n"));
}

TEST(Trouble, ExitCodes) {
  struct Row {
    base::Kind kind;
    const char* id;
    int want;
  };
  const Row rows[] = {
      {base::Kind::kNotFound, "PND-C008", 3},    {base::Kind::kForbidden, "PND-C005", 4},
      {base::Kind::kUnavailable, "PND-C001", 5}, {base::Kind::kUnavailable, "PND-C006", 6},
      {base::Kind::kConflict, "PND-C007", 7},    {base::Kind::kAlreadyExists, "PND-C007", 7},
      {base::Kind::kInvalid, "PND-C009", 2}};
  for (const Row& row : rows) EXPECT_EQ(ExitCodeOf({row.kind, row.id, "", ""}), row.want) << row.id;
}

}  // namespace
}  // namespace pondage::terminal
