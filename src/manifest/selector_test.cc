#include <gtest/gtest.h>

#include "manifest/names.h"
#include "manifest/object.h"

namespace pondage::manifest {
namespace {

using Labels = std::map<std::string, std::string>;

TEST(LabelSelector, SelectsAsKubernetesDoes) {
  const Labels labels = {{"app", "web"}, {"tier", ""}, {"n", "5"}, {"a.b/c", "d"}};
  struct Row {
    std::string_view selector;
    bool matches;
  };
  const Row kRows[] = {
      {"", true},
      {"app", true},
      {"!app", false},
      {"! app", false},
      {"none", false},
      {"!none", true},
      {"app=web", true},
      {"app == web", true},
      {"app=db", false},
      {"app!=db", true},
      {"app!=web", false},
      {"none!=x", true},
      {"tier=", true},
      {"app in (db, web)", true},
      {"app in (db)", false},
      {"app notin (db,web)", false},
      {"none notin (x)", true},
      {"none in (x)", false},
      {"tier in (a,)", true},
      {"tier in (,)", true},
      {"n>4", true},
      {"n > 5", false},
      {"n<6", true},
      {"app>1", false},
      {"none<1", false},
      {"a.b/c=d,app=web,!none", true},
      {"a.b/c=d,app=web,none", false},
      {" app = web , tier ", true},
  };
  for (const Row& row : kRows) {
    const auto needs = ParseLabelSelector(row.selector);
    ASSERT_TRUE(needs) << row.selector << ": " << needs.error().message;
    EXPECT_EQ(Matches(*needs, labels), row.matches) << row.selector;
  }
}

TEST(LabelSelector, RefusesBadSyntax) {
  for (const char* text :
       {"=",          "a=b=c", "a in", "a in b", "a in (b", "a in ()",   "a notin ( )",
        "a in (b c)", "a b",   "!",    "!a=b",   "a>x",     "a><1",      "a=b c",
        ",a",         "a,,b",  "-a=b", "a=-b",   "a/b/c=d", "a in (b))", "a=\xc3\xa4"}) {
    EXPECT_FALSE(ParseLabelSelector(text)) << text;
  }
}

TEST(FieldSelector, ReadsTermsAndEscapes) {
  const auto needs =
      ParseFieldSelector("metadata.name=a,status.phase!=Failed,spec.x==,reason=a\\,b\\=c=d");
  ASSERT_TRUE(needs);
  ASSERT_EQ(needs->size(), 4u);
  EXPECT_EQ((*needs)[0].path, "metadata.name");
  EXPECT_EQ((*needs)[0].value, "a");
  EXPECT_TRUE((*needs)[0].equal);
  EXPECT_FALSE((*needs)[1].equal);
  EXPECT_EQ((*needs)[1].value, "Failed");
  EXPECT_EQ((*needs)[2].value, "");
  EXPECT_EQ((*needs)[3].value, "a,b=c=d");
  EXPECT_TRUE(ParseFieldSelector("")->empty());
  for (const char* text : {"a", "=b", "a!b", "a=b\\", "a=b,,c=d", ","}) {
    EXPECT_FALSE(ParseFieldSelector(text)) << text;
  }
}

TEST(Names, AreThoseOfKubernetes) {
  EXPECT_TRUE(IsDns1035Label("a-1"));
  EXPECT_FALSE(IsDns1035Label("1-a"));
  EXPECT_TRUE(IsDns1123Label("1-a"));
  EXPECT_FALSE(IsDns1123Label("a-"));
  EXPECT_FALSE(IsDns1123Label(""));
  EXPECT_FALSE(IsDns1123Label(std::string(64, 'a')));
  EXPECT_TRUE(IsDns1123Subdomain("a.b-c.d"));
  EXPECT_FALSE(IsDns1123Subdomain("a..d"));
  EXPECT_FALSE(IsDns1123Subdomain("A"));
  EXPECT_TRUE(IsLabelKey("kubeflow.org/Job_Name.x"));
  EXPECT_FALSE(IsLabelKey("/x"));
  EXPECT_TRUE(IsLabelValue(""));
  EXPECT_FALSE(IsLabelValue("a b"));
  EXPECT_TRUE(IsEnvName("A_B.c-1"));
  EXPECT_FALSE(IsEnvName("A=B"));
  EXPECT_FALSE(IsDataKey(".."));
  EXPECT_TRUE(IsDataKey("..data.txt"));
}

}  // namespace
}  // namespace pondage::manifest
