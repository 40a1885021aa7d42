#include "cmd/output.h"

#include <gtest/gtest.h>

#include "cmd/doctor.h"
#include "cmd/redact.h"
#include "cmd/settings.h"
#include "cmd/text.h"
#include "manifest/object.h"

namespace pondage::cmd {
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
  const json::value parsed = json::parse(In(Format::kJson));
  EXPECT_EQ(parsed.at("schema"), "pondage.ps/1");
  EXPECT_EQ(parsed.at("asOf"), "2026-12-01T07:00:00Z");
  EXPECT_EQ(parsed.at("items"), Sample().items);
  EXPECT_TRUE(In(Format::kYaml).starts_with("schema: pondage.ps/1\n")) << In(Format::kYaml);
}

// Texts that a reader of YAML could take for something else come back as they were.
TEST(Output, YamlIsReadBackAsItWas) {
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
  const auto back = manifest::ParseManifests(ToYaml(object));
  ASSERT_TRUE(back) << back.error().message << "\n" << ToYaml(object);
  ASSERT_EQ(back->size(), 1u);
  EXPECT_EQ(json::value((*back)[0]), json::value(object)) << ToYaml(object);
}

TEST(Output, PrettyJsonIsTheSameValue) {
  const json::value value = json::parse(R"({"a":[1,{"b":[]},[]],"c":{},"d":"x\ny"})");
  EXPECT_EQ(json::parse(ToPrettyJson(value)), value);
  EXPECT_TRUE(ToPrettyJson(value).ends_with("}\n"));
}

TEST(Redact, SecretsAreGoneAndTheRestStays) {
  const json::value value = json::parse(
      R"({"kind":"List","items":[{"kind":"Secret","data":{"p":"cGFzcw=="},"type":"Opaque"}],
    "spec":{"env":[{"name":"WANDB_API_KEY","value":"abc"},{"name":"TF_CONFIG","value":"{}"}],"token":"t","secretName":"s",
    "annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{secret}","pondage.dev/idempotency-key":"k"},"command":["python"]}})");
  const std::string text = json::serialize(Redacted(value));
  for (const char* gone : {"cGFzcw", "abc", "\"t\"", "{secret}"})
    EXPECT_EQ(text.find(gone), std::string::npos) << gone;
  for (const char* kept : {"WANDB_API_KEY", R"("value":"{}")", R"("secretName":"s")", "python",
                           "Opaque", "idempotency-key\":\"k"}) {
    EXPECT_NE(text.find(kept), std::string::npos) << kept << " in " << text;
  }
}

TEST(Settings, FlagFilesAndEnvironmentInOrder) {
  Surroundings around;
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
  Surroundings around;
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

TEST(Doctor, TensorFlowAndItsKeras) {
  struct Row {
    std::string_view says;
    std::optional<TensorFlowFacts> facts;
    Grade want;
    std::string_view remedy;
  };
  const Row rows[] = {
      {"Keras 2 inside", TensorFlowFacts{"2.15.1", "2.15.0", ""}, Grade::kGood, ""},
      {"Keras 3 alone", TensorFlowFacts{"2.17.0", "3.4.1", ""}, Grade::kNote, "tf_keras==2.17"},
      {"tf_keras of another minor", TensorFlowFacts{"2.17.0", "3.4.1", "2.16.0"}, Grade::kWarning,
       "tf_keras==2.17"},
      {"the pair that works", TensorFlowFacts{"2.21.0", "3.12.0", "2.21.0"}, Grade::kGood, ""},
      {"not there", TensorFlowFacts{"", "", ""}, Grade::kWarning, "pip install"},
      {"cannot be asked", std::nullopt, Grade::kWarning, "activate"},
  };
  for (const Row& row : rows) {
    const Finding finding = JudgeTensorFlow(row.facts, "/venv", Screen());
    EXPECT_EQ(finding.grade, row.want) << row.says;
    EXPECT_NE(finding.remedy.find(row.remedy), std::string::npos)
        << row.says << ": " << finding.remedy;
  }
}

TEST(Doctor, Machines) {
  const Screen screen;
  EXPECT_EQ(JudgePorts("32768\t60999\n", screen).grade, Grade::kGood);
  EXPECT_EQ(JudgePorts("1024 65535\n", screen).grade, Grade::kWarning);
  EXPECT_EQ(JudgePorts("", screen).grade, Grade::kNote);
  const std::int64_t gib = std::int64_t{1} << 30;
  EXPECT_EQ(JudgeDisk({gib / 2}, {100 * gib}, "/", screen).grade, Grade::kBroken);
  EXPECT_EQ(JudgeDisk({5 * gib}, {100 * gib}, "/", screen).grade, Grade::kWarning);
  EXPECT_EQ(JudgeDisk({50 * gib}, {100 * gib}, "/", screen).grade, Grade::kGood);
  EXPECT_EQ(JudgeClock({10'000}, {11'000}, screen).grade, Grade::kGood);
  EXPECT_EQ(JudgeClock({30'000}, {10'000}, screen).grade, Grade::kWarning);
  EXPECT_EQ(JudgeClock({0}, {600'000}, screen).grade, Grade::kBroken);
  EXPECT_EQ(JudgeCertificate(base::Instant{0}, {1}, screen).grade, Grade::kBroken);
  EXPECT_EQ(JudgeCertificate(base::Instant{86'400'000}, {1}, screen).grade, Grade::kWarning);
}

TEST(Doctor, FailuresAndLogs) {
  JobView job;
  job.name = "x";
  job.state = JobState::kFailed;
  job.exit_code = 137;
  job.cause_replica = "worker-0";
  job.cause_reason = "OOMKilled";
  const auto findings = JudgeFailure(job, Screen());
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].grade, Grade::kBroken);
  EXPECT_NE(findings[0].remedy.find("--memory"), std::string::npos);
  EXPECT_TRUE(JudgeLog("all is well\n", Screen()).empty());
  const auto log =
      JudgeLog("x\nInvalid reduction dimension 0 for input with 0 dimensions\n", Screen());
  ASSERT_EQ(log.size(), 1u);
  EXPECT_NE(log[0].remedy.find("--legacy-keras"), std::string::npos);
}

}  // namespace
}  // namespace pondage::cmd
