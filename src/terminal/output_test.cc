#include "terminal/output.h"

#include <gtest/gtest.h>

#include "terminal/text.h"

namespace pondage::terminal {
namespace {

Listing Sample() {
  Listing listing;
  listing.schema = "pondage.ps/1";
  listing.items = {
      json::object{
          {"name", "a"}, {"gpus", 2}, {"reason", json::object{{"id", "Q007"}}}, {"step", nullptr}},
      json::object{{"name", "b, \"c\""}, {"gpus", 0}, {"reason", nullptr}}};
  listing.table.headings = {"NAME"};
  listing.table.rows = {{{"a"}}};
  return listing;
}

std::string In(Format format) {
  Screen screen;
  screen.format = format;
  return Render(Sample(), screen, *ParseRfc3339("2026-12-01T07:00:00Z"));
}

TEST(Output, EveryFormat) {
  EXPECT_EQ(In(Format::kTable), "NAME\na\n");
  EXPECT_EQ(In(Format::kName), "a\nb, \"c\"\n");
  EXPECT_EQ(In(Format::kCsv),
            "name,gpus,reason.id,step,reason\r\na,2,Q007,,\r\n\"b, \"\"c\"\"\",0,,,\r\n");
  Screen terminal;
  terminal.out_is_terminal = true;
  EXPECT_EQ(Render(Sample(), terminal, base::Instant{0}),
            "NAME\na\nas of " + ClockText(base::Instant{0}) + "\n")
      << "a table that stands there says how old it is";
  const json::value parsed = json::parse(In(Format::kJson));
  EXPECT_EQ(parsed.at("schema"), "pondage.ps/1");
  EXPECT_EQ(parsed.at("asOf"), "2026-12-01T07:00:00Z");
  EXPECT_EQ(parsed.at("items"), Sample().items);
  EXPECT_TRUE(In(Format::kYaml).starts_with("schema: pondage.ps/1\n")) << In(Format::kYaml);
}

TEST(Output, PrettyJsonIsTheSameValue) {
  const json::value value = json::parse(R"({"a":[1,{"b":[]},[]],"c":{},"d":"x\ny"})");
  EXPECT_EQ(json::parse(ToPrettyJson(value)), value);
  EXPECT_TRUE(ToPrettyJson(value).ends_with("}\n"));
}

}  // namespace
}  // namespace pondage::terminal
