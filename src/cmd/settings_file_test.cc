#include "cmd/settings_file.h"

#include <gtest/gtest.h>

namespace pondage::cmd {
namespace {

TEST(SettingsFile, TheFirstWrongLineIsNamed) {
  const std::set<std::string, std::less<>> names = {"data", "listen", "run-as", "virtual-gpus"};
  struct Row {
    const char* text;
    const char* wrong;
  };
  const Row kRows[] = {
      {"", ""},
      {"# words\n\n; more\ndata = /srv\n  listen=127.0.0.1:1\r\n", ""},
      {"data = a=b", ""},
      {"data = /srv\nlisen = 1\n", "line 2: \"lisen\" is no setting; did you mean \"listen\"?"},
      {"run_as = a", "line 1: \"run_as\" is no setting; did you mean \"run-as\"?"},
      {"quite other things = 1", "line 1: \"quite other things\" is no setting"},
      {"\n\ngarbage", "line 3: \"garbage\" is not `name = value`"},
      {"[serve]\ndata = a", "line 1: \"[serve]\" is not `name = value`"},
      {"= 5", "line 1: \"\" is no setting"},
  };
  for (const Row& row : kRows) EXPECT_EQ(WrongSetting(row.text, names), row.wrong) << row.text;
}

}  // namespace
}  // namespace pondage::cmd
