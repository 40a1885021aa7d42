#include "client/manifest_file.h"

#include <gtest/gtest.h>

#include "manifest/object.h"
#include "terminal/document.h"

namespace pondage::client {
namespace {

// Texts that a reader of YAML could take for something else come back as they were.
TEST(ManifestFile, PrintedYamlIsReadBackAsItWas) {
  json::object object{{"apiVersion", "v1"}, {"kind", "X"}};
  int number = 0;
  for (const char* text :
       {"",           "true",     "No",   "null", "~",   "42",  "1e3", "0x1f", ".5",
        "2026-12-01", "12:30:00", "a: b", "a #b", "- a", "a:",  " a",  "a ",   "*x",
        "&x",         "!x",       "%x",   "@x",   "'x",  "\"x", "{a}", "[a]",  "line\nbreak",
        "tab\t",      "控制\x01", "--x",  "?",    "y",   "=",   "<<",  "中文"}) {
    object["t" + std::to_string(number++)] = text;
  }
  object["numbers"] = json::array{1, -2, 2.5, true, nullptr, std::int64_t{9007199254740993}};
  object["empty"] =
      json::array{json::object(), json::array(),
                  json::array{json::array{1, 2}, json::object{{"a", 1}, {"b", json::array{2}}}}};
  object["odd key: #1"] = json::object{{"true", 1}, {"a.b/c", json::object{{"d", "e"}}}};
  const auto back = manifest::ParseManifests(terminal::ToYaml(object));
  ASSERT_TRUE(back) << back.error().message << "\n" << terminal::ToYaml(object);
  ASSERT_EQ(back->size(), 1u);
  EXPECT_EQ(json::value((*back)[0]), json::value(object)) << terminal::ToYaml(object);
}

}  // namespace
}  // namespace pondage::client
