#include "api/patch.h"

#include <gtest/gtest.h>

namespace pondage::api {
namespace {

namespace json = boost::json;

const manifest::Kind& Pods() {
  return *manifest::FindKind("", "pods");
}

struct Row {
  const char* says;
  const char* target;
  const char* patch;
  const char* result;  // "422", "400": refused so
};

TEST(JsonPatch, Rows) {
  for (const Row& row : {
           Row{"add to an object", R"({"a":1})", R"([{"op":"add","path":"/b","value":2}])",
               R"({"a":1,"b":2})"},
           Row{"insert into a list", R"({"a":[1,3]})", R"([{"op":"add","path":"/a/1","value":2}])",
               R"({"a":[1,2,3]})"},
           Row{"append", R"({"a":[1]})", R"([{"op":"add","path":"/a/-","value":2}])",
               R"({"a":[1,2]})"},
           Row{"escapes", R"({"a/b":{"~":1}})", R"([{"op":"replace","path":"/a~1b/~0","value":2}])",
               R"({"a/b":{"~":2}})"},
           Row{"remove", R"({"a":1,"b":2})", R"([{"op":"remove","path":"/a"}])", R"({"b":2})"},
           Row{"move", R"({"a":{"x":1}})", R"([{"op":"move","from":"/a/x","path":"/b"}])",
               R"({"a":{},"b":1})"},
           Row{"copy", R"({"a":1})", R"([{"op":"copy","from":"/a","path":"/b"}])",
               R"({"a":1,"b":1})"},
           Row{"test holds", R"({"a":[1]})", R"([{"op":"test","path":"/a","value":[1]}])",
               R"({"a":[1]})"},
           Row{"test fails", R"({"a":1})", R"([{"op":"test","path":"/a","value":2}])", "422"},
           Row{"no such member", R"({})", R"([{"op":"remove","path":"/a"}])", "422"},
           Row{"no such parent", R"({})", R"([{"op":"add","path":"/a/b","value":1}])", "422"},
           Row{"index past the end", R"({"a":[]})", R"([{"op":"add","path":"/a/1","value":1}])",
               "422"},
           Row{"leading zero", R"({"a":[1,2]})", R"([{"op":"remove","path":"/a/01"}])", "422"},
           Row{"into itself", R"({"a":{}})", R"([{"op":"move","from":"/a","path":"/a/b"}])", "422"},
           Row{"unknown operation", R"({})", R"([{"op":"drop","path":"/a"}])", "400"},
           Row{"no list", R"({})", R"({"a":1})", "400"},
           Row{"no value", R"({})", R"([{"op":"add","path":"/a"}])", "400"},
       }) {
    const auto result = JsonPatch(json::parse(row.target), json::parse(row.patch));
    if (result) {
      EXPECT_EQ(*result, json::parse(row.result)) << row.says;
    } else {
      EXPECT_EQ(std::to_string(result.error().code), row.result) << row.says;
    }
  }
}

TEST(JsonPatch, IsBounded) {
  json::array many(10'001, json::parse(R"({"op":"test","path":"/a","value":1})"));
  EXPECT_EQ(JsonPatch(json::parse(R"({"a":1})"), many).error().code, 413);
  // Each copy doubles what is there.
  json::array doubling;
  for (int i = 0; i < 40; ++i) {
    doubling.push_back(json::parse(R"({"op":"copy","from":"/a","path":"/a/-"})"));
  }
  EXPECT_EQ(JsonPatch(json::parse(R"({"a":[1,2,3,4]})"), doubling).error().code, 422);
}

TEST(MergePatch, FollowsRfc7386) {
  for (const Row& row : {
           Row{"", R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
           Row{"", R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
           Row{"", R"({"a":"b"})", R"({"a":null})", R"({})"},
           Row{"", R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
           Row{"", R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
           Row{"", R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
           Row{"", R"({"e":null})", R"({"a":1})", R"({"e":null,"a":1})"},
           Row{"", R"({})", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
       }) {
    EXPECT_EQ(MergePatch(json::parse(row.target), json::parse(row.patch)), json::parse(row.result))
        << row.patch;
  }
}

TEST(StrategicMerge, Rows) {
  for (
      const Row& row : {
          Row{"containers merge by name",
              R"({"spec":{"containers":[{"name":"a","image":"1"},{"name":"b","image":"1"}]}})",
              R"({"spec":{"containers":[{"name":"b","image":"2"}]}})",
              R"({"spec":{"containers":[{"name":"a","image":"1"},{"name":"b","image":"2"}]}})"},
          Row{"a new element is appended", R"({"containers":[{"name":"a"}]})",
              R"({"containers":[{"name":"b","env":[{"name":"X","value":"1"}]}]})",
              R"({"containers":[{"name":"a"},{"name":"b","env":[{"name":"X","value":"1"}]}]})"},
          Row{"env merges inside a container",
              R"({"containers":[{"name":"a","env":[{"name":"X","value":"1"}]}]})",
              R"({"containers":[{"name":"a","env":[{"name":"Y","value":"2"}]}]})",
              R"({"containers":[{"name":"a","env":[{"name":"X","value":"1"},{"name":"Y","value":"2"}]}]})"},
          Row{"an element is deleted", R"({"containers":[{"name":"a"},{"name":"b"}]})",
              R"({"containers":[{"$patch":"delete","name":"a"}]})",
              R"({"containers":[{"name":"b"}]})"},
          Row{"a list is replaced", R"({"containers":[{"name":"a"}]})",
              R"({"containers":[{"$patch":"replace"},{"name":"c"}]})",
              R"({"containers":[{"name":"c"}]})"},
          Row{"an object is replaced", R"({"a":{"x":1}})", R"({"a":{"$patch":"replace","y":2}})",
              R"({"a":{"y":2}})"},
          Row{"an object is emptied", R"({"a":{"x":1}})", R"({"a":{"$patch":"delete"}})",
              R"({"a":{}})"},
          Row{"other lists are one value", R"({"args":["a","b"]})", R"({"args":["c"]})",
              R"({"args":["c"]})"},
          Row{"sets are united", R"({"finalizers":["a"]})", R"({"finalizers":["b","a"]})",
              R"({"finalizers":["a","b"]})"},
          Row{"and taken from", R"({"finalizers":["a","b"]})",
              R"({"$deleteFromPrimitiveList/finalizers":["a"]})", R"({"finalizers":["b"]})"},
          Row{"order is set", R"({"containers":[{"name":"a"},{"name":"b"}]})",
              R"({"$setElementOrder/containers":[{"name":"c"},{"name":"a"},{"name":"b"}],
                   "containers":[{"name":"c"}]})",
              R"({"containers":[{"name":"c"},{"name":"a"},{"name":"b"}]})"},
          Row{"only retained keys stay", R"({"volumes":[{"name":"v","emptyDir":{}}]})",
              R"({"volumes":[{"$retainKeys":["name","hostPath"],"name":"v","hostPath":{"path":"/x"}}]})",
              R"({"volumes":[{"name":"v","hostPath":{"path":"/x"}}]})"},
          Row{"null deletes", R"({"a":1,"b":{"c":2}})", R"({"a":null,"b":{"c":null}})",
              R"({"b":{}})"},
          Row{"no merge key", R"({"containers":[]})", R"({"containers":[{"image":"x"}]})", "400"},
          Row{"no directive", R"({})", R"({"$patch":"turn"})", "400"},
      }) {
    const auto result = StrategicMerge(Pods(), json::parse(row.target).as_object(),
                                       json::parse(row.patch).as_object());
    if (result) {
      EXPECT_EQ(json::value(*result), json::parse(row.result)) << row.says;
    } else {
      EXPECT_EQ(std::to_string(result.error().code), row.result) << row.says;
    }
  }
}

}  // namespace
}  // namespace pondage::api
