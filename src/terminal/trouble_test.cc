#include "terminal/trouble.h"

#include <gtest/gtest.h>

namespace pondage::terminal {
namespace {

TEST(Trouble, ErrorsInThreeParts) {
  Screen screen;
  const base::Error error{base::Kind::kUnavailable, "PND-C001", "",
                          "the server is away\nlooked at x\nand y"};
  EXPECT_EQ(TroubleText(error, screen),
            "error PND-C001: the server is away\n  looked at x\n  and y\n"
            "  try: pondage serve (on the server), or pondage doctor      (docs: pondage man "
            "PND-C001)\n");
  EXPECT_EQ(TroubleText({base::Kind::kInvalid, "", "", "no id"}, screen), "error: no id\n");
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
