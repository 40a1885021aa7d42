#include "manifest/object.h"

#include <gtest/gtest.h>

#include "manifest/trouble.h"

namespace pondage::manifest {
namespace {

namespace json = boost::json;

std::string Repeat(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(Json, KeepsIntegersExactAndKeysInOrder) {
  const auto value = ParseJson(R"( {"z":9007199254740993,"a":-9223372036854775808,"m":1.5} )");
  ASSERT_TRUE(value);
  EXPECT_EQ(json::serialize(*value),
            R"({"z":9007199254740993,"a":-9223372036854775808,"m":1.5E0})");
}

struct Refusal {
  std::string says;
  std::string text;
  std::string id;
  std::string message;  // a part of it
};

TEST(Json, RefusesWithAReason) {
  const Refusal kRows[] = {
      {"nothing", "", kSyntaxId, "incomplete"},
      {"half an object", "{\"a\":", kSyntaxId, "incomplete"},
      {"two values", "{} {}", kSyntaxId, "extra"},
      {"the line is named", "{\n\"a\": 1,\n\"b\" 2}", kSyntaxId, "JSON line 3"},
      {"a duplicate, with its path", R"({"spec":{"list":[0,{"foo":1,"foo":2}]}})", kSyntaxId,
       "duplicate field \"spec.list[1].foo\""},
      {"a number past the doubles", "{\"a\":1e999}", kSyntaxId, "a: number out of range"},
      {"NaN", "{\"a\":NaN}", kSyntaxId, "JSON line 1"},
      {"bytes that are no UTF-8", "{\"a\":\"\xff\"}", kSyntaxId, "JSON line 1"},
      {"101 levels", Repeat("[", 101) + Repeat("]", 101), kBoundId, "100 levels"},
      {"10,000 levels", Repeat("{\"a\":", 10'000), kBoundId, "100 levels"},
  };
  for (const Refusal& row : kRows) {
    const auto value = ParseJson(row.text);
    ASSERT_FALSE(value) << row.says;
    EXPECT_EQ(value.error().id, row.id) << row.says;
    EXPECT_NE(value.error().message.find(row.message), std::string::npos)
        << row.says << ": " << value.error().message;
  }
  EXPECT_TRUE(ParseJson(Repeat("[", 100) + Repeat("]", 100)));
}

TEST(Json, ReadsLongStringsAndNumbersThatTheParserHandsOutInParts) {
  const std::string text(100'000, 'x');
  const auto value = ParseJson("[\"" + text + "\\u00e9\",\"\"," + Repeat("1", 18) + "]");
  ASSERT_TRUE(value);
  EXPECT_EQ(value->at(0).get_string(), text + "\u00e9");
  EXPECT_EQ(value->at(1).get_string(), "");
  EXPECT_EQ(value->at(2).get_int64(), 111'111'111'111'111'111);
}

TEST(Pack, LeavesTheVersionOutAndSaysWhereItGoes) {
  const auto value = ParseJson(
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"resourceVersion":"7","name":"a"},"spec":{"metadata":{}}})");
  ASSERT_TRUE(value);
  const Packed packed = Pack(value->get_object());
  EXPECT_EQ(packed.body,
            R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"metadata":{}}})");
  std::string spliced = packed.body;
  spliced.insert(packed.splice, R"("resourceVersion":"12",)");
  const auto back = ParseJson(spliced);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->at("metadata").at("resourceVersion").get_string(), "12");
  EXPECT_EQ(back->at("metadata").at("name").get_string(), "a");
}

TEST(Facets, AreTheSortedLinesOfLabelsOwnersAndFields) {
  const auto value = ParseJson(R"({"metadata":{"name":"a","namespace":"ml",
      "labels":{"team":"x","app":"y"},"ownerReferences":[{"uid":"u-1"},{"uid":"u-2"}]},
      "spec":{"nodeName":"n1","hostNetwork":true},"status":{}})");
  ASSERT_TRUE(value);
  EXPECT_EQ(Facets(value->get_object(), {"spec.nodeName", "spec.hostNetwork", "status.phase"}),
            "f:metadata.name=a\nf:metadata.namespace=ml\nf:spec.hostNetwork=true\n"
            "f:spec.nodeName=n1\nf:status.phase=\nl:app=y\nl:team=x\no:u-1\no:u-2\n");
}

TEST(Facets, ALineBreakForgesNoOtherLine) {
  const auto value =
      ParseJson(R"({"metadata":{"name":"a","labels":{"x":"1\no:victim"}},"reason":"r\nl:a=b"})");
  ASSERT_TRUE(value);
  EXPECT_EQ(Facets(value->get_object(), {"reason"}), "f:metadata.name=a\nf:metadata.namespace=\n");
}

TEST(Time, FormatsAndReadsBack) {
  const base::Instant at{1'767'607'200'123};  // 2026-01-05T10:00:00.123Z
  EXPECT_EQ(FormatTime(at), "2026-01-05T10:00:00Z");
  EXPECT_EQ(FormatMilliTime(at), "2026-01-05T10:00:00.123Z");
  EXPECT_EQ(FormatMicroTime(at), "2026-01-05T10:00:00.123000Z");
  EXPECT_EQ(ParseTime("2026-01-05T10:00:00.123Z"), at);
  EXPECT_EQ(ParseTime("2026-01-05T12:30:00.123456789+02:30"), at);
  EXPECT_EQ(ParseTime("2026-01-05T02:00:00.123-08:00"), at);
  EXPECT_EQ(ParseTime("1969-12-31T23:59:59.999Z"), base::Instant{-1});
  EXPECT_EQ(FormatMilliTime(base::Instant{-1}), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(FormatTime(base::kNever), "9999-12-31T23:59:59Z");
  EXPECT_EQ(ParseTime("2024-02-29T00:00:00Z"), base::Instant{1'709'164'800'000});
}

TEST(Time, RefusesWhatIsNoTime) {
  for (const char* text :
       {"", "2026", "2026-01-05", "2026-01-05T10:00:00", "2026-13-05T10:00:00Z",
        "2026-02-29T10:00:00Z", "2026-01-05T24:00:00Z", "2026-01-05T10:60:00Z",
        "2026-01-05T10:00:00.Z", "2026-01-05T10:00:00Zx", "2026-01-05T10:00:00+25:00",
        "-026-01-05T10:00:00Z", "2026-01-05 10:00:00Z", "99999-01-05T10:00:00Z"}) {
    EXPECT_FALSE(ParseTime(text)) << text;
  }
}

}  // namespace
}  // namespace pondage::manifest
