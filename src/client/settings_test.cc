#include "client/settings.h"

#include <gtest/gtest.h>

namespace pondage::client {
namespace {

TEST(Settings, FlagFilesAndEnvironmentInOrder) {
  terminal::Surroundings around;
  around.environment = {{"HOME", "/h"}, {"PONDAGE_LANG", "zh"}};
  const std::map<std::string, std::string> files{
      {"/etc/pondage/config", "lang: en\nqueue: lab\n"},
      {"/h/.config/pondage/config", "# mine\nqueue: nlp\n"}};
  const auto read = [&](const std::string& path) -> std::optional<std::string> {
    const auto found = files.find(path);
    return found == files.end() ? std::nullopt : std::optional(found->second);
  };
  const auto settings = Settings::Load(around, read);
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->Value("queue"), "nlp");
  EXPECT_EQ(settings->all().at("queue").origin, "/h/.config/pondage/config");
  EXPECT_EQ(settings->Value("lang"), "zh");
  EXPECT_EQ(settings->all().at("lang").origin, "PONDAGE_LANG");
  EXPECT_EQ(settings->Value("output"), "");
}

TEST(Settings, AMistakeNamesItsFile) {
  terminal::Surroundings around;
  around.environment = {{"HOME", "/h"}};
  const auto settings = Settings::Load(around, [](const std::string& path) {
    return path.starts_with("/h") ? std::optional<std::string>("colour: never\n") : std::nullopt;
  });
  ASSERT_FALSE(settings);
  EXPECT_NE(settings.error().message.find("in /h/.config/pondage/config"), std::string::npos);
}

TEST(Settings, ChangesLeaveTheRestAlone) {
  EXPECT_EQ(*WithSettings("# mine\nlang: en\nqueue: a\n",
                          {{"lang", "zh"}, {"queue", ""}, {"color", "never"}}),
            "# mine\nlang: zh\ncolor: never\n");
  EXPECT_FALSE(WithSettings("", {{"nonsense", "1"}}));
  EXPECT_FALSE(WithSettings("", {{"lang", "a\nb: c"}}));
}

}  // namespace
}  // namespace pondage::client
