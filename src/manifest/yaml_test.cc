#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "manifest/object.h"
#include "manifest/trouble.h"
#include "manifest/yaml_scalar.h"

namespace pondage::manifest {
namespace {

namespace json = boost::json;

std::string Read(std::string_view yaml) {
  const auto objects = ParseManifests(yaml);
  if (!objects) return objects.error().id + " " + objects.error().message;
  std::string text;
  for (const auto& object : *objects) text += json::serialize(object) + "\n";
  return text;
}

TEST(Yaml, ScalarsMeanWhatKubectlReadsInThem) {
  struct Row {
    std::string_view plain;
    std::string_view json;
  };
  const Row kRows[] = {
      {"", "null"},
      {"~", "null"},
      {"Null", "null"},
      {"y", "true"},
      {"Yes", "true"},
      {"ON", "true"},
      {"n", "false"},
      {"off", "false"},
      {"yEs", R"("yEs")"},
      {"12", "12"},
      {"-7", "-7"},
      {"+7", "7"},
      {"0644", "420"},
      {"0o17", "15"},
      {"0x1F", "31"},
      {"-0b11", "-3"},
      {"1_000", "1000"},
      {"089", "89"},
      {"1.5", "1.5E0"},
      {".5", "5E-1"},
      {"1e3", "1000"},
      {"2.0", "2"},
      {"1.", "1"},
      {"1.2.3", R"("1.2.3")"},
      {"-", R"("-")"},
      {".", R"(".")"},
      {"1Gi", R"("1Gi")"},
      {"0x", R"("0x")"},
      {"1e", R"("1e")"},
      {"2026-01-05", R"("2026-01-05")"},
      {"None", R"("None")"},
      {"9223372036854775807", "9223372036854775807"},
      {"18446744073709551615", "18446744073709551615"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"18446744073709551616", "1.8446744073709552E19"},
  };
  for (const Row& row : kRows) {
    EXPECT_EQ(json::serialize(PlainScalar(row.plain)), row.json) << row.plain;
    EXPECT_EQ(*TaggedScalar("!", row.plain), json::value(row.plain)) << "quoted " << row.plain;
  }
}

TEST(Yaml, ReadsAManifestWithAllItsForms) {
  EXPECT_EQ(
      Read("# comment only\n---\n"
           "apiVersion: v1\n"
           "kind: ConfigMap\n"
           "metadata: {name: a, labels: {on: \"y\"}}\n"
           "data:\n"
           "  text: |\n"
           "    one\n"
           "    two\n"
           "  folded: >-\n"
           "    three\n"
           "    four\n"
           "list:\n"
           "- 1\n"
           "- 'x'\n"
           "...\n"
           "---\n"
           "kind: B\n"),
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","labels":{"true":"y"}},)"
      R"("data":{"text":"one\ntwo\n","folded":"three four"},"list":[1,"x"]})"
      "\n{\"kind\":\"B\"}\n");
}

TEST(Yaml, ReadsJsonAndFlowMaps) {
  EXPECT_EQ(Read(R"({"kind":"A","x":"y"})"), "{\"kind\":\"A\",\"x\":\"y\"}\n");
  EXPECT_EQ(Read("{kind: A, x: 1}"), "{\"kind\":\"A\",\"x\":1}\n");
  EXPECT_EQ(Read(""), "");
  EXPECT_EQ(Read("---\n---\n"), "");
}

TEST(Yaml, ClosedQuotesAreNoTrouble) {
  EXPECT_EQ(Read("a: \"x\\\"\" # \"\n"), "{\"a\":\"x\\\"\"}\n");
  EXPECT_EQ(Read("a: !!str 'it''s'\n"), "{\"a\":\"it's\"}\n");
  EXPECT_EQ(Read("\xef\xbb\xbf"
                 "a: \"\xc3\xa4\""),
            "{\"a\":\"\xc3\xa4\"}\n");
}

TEST(Yaml, TakesListsApart) {
  EXPECT_EQ(Read("kind: List\nitems:\n- kind: A\n- kind: BList\n  items: [{kind: B}, {kind: C}]\n"
                 "---\nkind: D\n"),
            "{\"kind\":\"A\"}\n{\"kind\":\"B\"}\n{\"kind\":\"C\"}\n{\"kind\":\"D\"}\n");
  EXPECT_EQ(Read("kind: List\nitems: [1]\n"), "PND-M003 line 1: an object was expected, not 1");
}

TEST(Yaml, ExpandsAnchorsAndMergesMaps) {
  EXPECT_EQ(Read("base: &b {x: 1, y: 2}\n"
                 "one: *b\n"
                 "two:\n"
                 "  x: 9\n"
                 "  <<: *b\n"
                 "three:\n"
                 "  <<: [*b, {z: 3, y: 4}]\n"),
            R"({"base":{"x":1,"true":2},"one":{"x":1,"true":2},"two":{"x":9,"true":2},)"
            R"("three":{"x":1,"true":2,"z":3}})"
            "\n");
}

TEST(Yaml, RefusesWithTheLine) {
  struct Row {
    std::string_view says;
    std::string text;
    std::string_view message;
  };
  std::string many = "a: &a 1\nb:\n";
  for (int i = 0; i < 10'001; ++i) many += "- *a\n";
  std::string bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n";
  for (char c = 'b'; c < 'k'; ++c) {
    bomb += std::string(1, c) + ": &" + c + " [";
    for (int i = 0; i < 9; ++i) bomb += std::string(i > 0 ? "," : "") + "*" + char(c - 1);
    bomb += "]\n";
  }
  const Row kRows[] = {
      {"a tab", "a:\n\tb: 1\n", "PND-M001 YAML line 2"},
      {"an open quote", "a: 1\nb: \"x\n", "PND-M001 YAML line 2: the quote is never closed"},
      {"another one", "a: 'it''s\n", "PND-M001 YAML line 1: the quote is never closed"},
      {"not UTF-8", "a: \xff\n", "PND-M001 the manifest is not UTF-8"},
      {"UTF-16",
       std::string("\xff\xfe"
                   "a\0:\0",
                   6),
       "PND-M001 the manifest is not UTF-8"},
      {"a zero byte", std::string("a: \0b\n", 6), "PND-M001 the manifest is not UTF-8"},
      {"a key twice", "a: 1\nb: 2\na: 3\n", "PND-M001 YAML line 3: key \"a\" stands twice"},
      {"a map as a key", "? {a: 1}\n: 2\n", "PND-M001 YAML line 1"},
      {"an unknown tag", "a: !!python/object x\n",
       "PND-M001 YAML line 1: \"x\" is no !!python/object"},
      {"an application's tag", "a: !x y\n", "PND-M001 YAML line 1: unknown tag !x"},
      {"not a number", "a: .nan\n", "PND-M001 YAML line 1: .nan has no form in JSON"},
      {"an unknown anchor", "a: *b\n", "PND-M001 YAML line 1"},
      {"an alias in its own anchor", "a: &a\n  b: *a\n", "PND-M001 YAML line 2"},
      {"too many aliases", many, "PND-M002 YAML line 10003: more than 10000 aliases"},
      {"a bomb", bomb, "PND-M002 YAML line 6: aliases expand to more"},
      {"depth", std::string(10'000, '['), "PND-M002 YAML line 1: nested deeper"},
      {"a bare word", "hello\n", "PND-M003 line 1: an object was expected, not \"hello\""},
      {"size", std::string((3 << 20) + 1, ' '), "PND-M002 the manifest has 3145729 bytes"},
  };
  for (const Row& row : kRows) {
    EXPECT_EQ(Read(row.text).substr(0, row.message.size()), row.message) << row.says;
  }
}

// yaml-cpp leaves a token standing that fits nowhere, and gives empty documents for it without end.
TEST(Yaml, RefusesWhatBeginsNoDocument) {
  const std::string_view kRows[] = {
      R"({"kind":"LA"},{ist","items":[{"kind":"A"},{"kind":"B"}]})",
      "a: b\n...\n,",
      "&a ,",
      "a: b\n---\n,\n",
  };
  for (const std::string_view yaml : kRows) {
    EXPECT_THAT(Read(yaml), testing::HasSubstr("this cannot begin a document")) << yaml;
  }
  EXPECT_EQ(Read("---\n---\n...\n---\na: 1\n...\n...\n"), "{\"a\":1}\n");
}

// Each of three megabytes; what is not closed would be kept token by token.
TEST(Yaml, RefusesBombsOfOpenBrackets) {
  for (const std::string_view unit :
       {"[", "{", "[a,", "{a: ", "- ", "? ", "a: [", "&a [", "!t {"}) {
    std::string bomb;
    while (bomb.size() < 3'000'000) bomb += unit;
    const auto read = ParseManifests(bomb);
    ASSERT_FALSE(read) << unit;
    EXPECT_EQ(read.error().kind, base::Kind::kInvalid) << unit;
  }
}

// What yaml-cpp would keep token by token until a collection is closed, though not deep.
TEST(Yaml, RefusesCollectionsThatAreTooLongBetweenBrackets) {
  for (const std::string_view begin : {"[", "{", "a: [", "k: \"a\" [", "k: |\n  text\nb: [",
                                       "\"k: |\n\": [", "- \"a: \\\"\n b\"\n- ["}) {
    for (const std::string_view unit :
         {"a,", "\"\"", "\"\",", "&a ", "*a,", "!t ", "{},", "a:,", "''"}) {
      std::string bomb(begin);
      while (bomb.size() < 3'000'000) bomb += unit;
      const auto read = ParseManifests(bomb);
      ASSERT_FALSE(read) << begin << unit;
      EXPECT_EQ(read.error().kind, base::Kind::kInvalid) << begin << unit;
    }
  }
}

TEST(Yaml, ReadsLongScalarsHoweverTheyLook) {
  std::string data;
  while (data.size() < 2'900'000) data += "{\"a\":[1,2]},";
  std::string escaped;
  while (escaped.size() < 2'900'000) escaped += "{\\\"a\\\":[1,2]},";
  for (const std::string& text :
       {"data:\n  x: |\n    " + data + "\n", "data:\n  \"x\": >-\n    " + data + "\n",
        "data:\n  x: '" + data + "'\n", "data:\n  x: \"" + escaped + "\"\n"}) {
    const auto objects = ParseManifests(text);
    ASSERT_TRUE(objects) << text.substr(0, 40) << objects.error().message;
    EXPECT_GT(objects->front().at("data").at("x").get_string().size(), 2'000'000u);
  }
  std::string list = "a: [";
  for (int i = 0; i < 100'000; ++i) list += "1,";
  EXPECT_TRUE(ParseManifests(list + "1]\n"));
}

TEST(Yaml, ReadsThreeMegabytes) {
  std::string text = "kind: ConfigMap\ndata:\n";
  for (int i = 0; text.size() < (3 << 20) - 40; ++i) {
    text += "  k" + std::to_string(i) + ": value of it\n";
  }
  const auto objects = ParseManifests(text);
  ASSERT_TRUE(objects);
  EXPECT_GT(objects->front().at("data").get_object().size(), 100'000u);
}

}  // namespace
}  // namespace pondage::manifest
