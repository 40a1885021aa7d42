#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "cmd/context.h"
#include "cmd/mains.h"
#include "doctor/examine.h"
#include "store/sqlite_store.h"
#include "terminal/output.h"
#include "terminal/text.h"
#include "terminal/trouble.h"
#include "view/pool_view.h"

namespace pondage::cmd {
namespace {

using doctor::Findings;

struct GradeRow {
  doctor::Grade grade;
  const char *name, *english, *chinese;
  terminal::Tint tint;
};
constexpr GradeRow kGrades[] = {
    {doctor::Grade::kGood, "good", "good", "正常", terminal::Tint::kGreen},
    {doctor::Grade::kNote, "note", "note", "提示", terminal::Tint::kCyan},
    {doctor::Grade::kWarning, "warning", "warning", "警告", terminal::Tint::kYellow},
    {doctor::Grade::kBroken, "broken", "broken", "故障", terminal::Tint::kRed}};

void Append(Findings& all, const Findings& more) {
  all.insert(all.end(), more.begin(), more.end());
}

bool HasGpus(client::Client& client, const std::string& space) {
  const auto pool = view::LookAtPool(client, space);
  return pool && std::ranges::any_of(pool->nodes,
                                     [](const view::NodeView& node) { return !node.gpus.empty(); });
}

// Every page and row of a store that no server uses.
base::Result<Findings> ExamineStore(const std::string& data_dir, const terminal::Screen& screen) {
  const std::string path = data_dir + "/pondage.sqlite";
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return base::Fail(base::Kind::kInvalid, "PND-C010", "", fmt::format("there is no {}", path));
  }
  TRY(const auto store, store::SqliteStore::Open({.path = path}));
  TRY(const auto damage, store->FullCheck());
  if (damage.empty()) {
    return Findings{{"store", doctor::Grade::kGood,
                     screen.Pick("every page and row is whole", "所有页和行都完好"), ""}};
  }
  return doctor::JudgeStore({}, damage, screen);
}

base::Result<Findings> Examine(Context& context) {
  const grammar::Invocation& line = context.line();
  const terminal::Screen& screen = context.screen();
  if (line.Has("data")) return ExamineStore(line.Value("data"), screen);
  if (line.Has("job")) {
    TRY(client::Client * client, context.Server());
    TRY(const std::string space, context.Space());
    return doctor::ExamineJob(*client, space, line.Value("job"), screen);
  }
  if (line.Has("log")) return doctor::ExamineLog(line.Value("log"), screen);
  Findings all = doctor::ExamineMachine(screen);
  const auto client = context.Server();
  if (!line.Has("image")) {
    Append(all, doctor::ExaminePython(context.around(), screen));
  } else if (client) {
    Append(all, doctor::ExamineImage(**client, line.Value("image"), screen));
  }
  Append(all, doctor::ExamineServer(client, screen));
  // Whose pool has GPUs, virtual ones perhaps, needs no advice how to declare some.
  if (const auto space = context.Space(); client && space && HasGpus(**client, *space)) {
    for (doctor::Finding& finding : all) {
      if (finding.grade == doctor::Grade::kNote && finding.name == "driver") finding.remedy.clear();
    }
  }
  return all;
}

}  // namespace

base::Result<int> DoctorMain(Context& context) {
  TRY(const Findings findings, Examine(context));
  const terminal::Screen& screen = context.screen();
  terminal::Listing listing;
  listing.schema = "pondage.doctor/1";
  bool broken = false;
  std::string out;
  for (const doctor::Finding& finding : findings) {
    const GradeRow& row = *std::ranges::find(kGrades, finding.grade, &GradeRow::grade);
    broken = broken || finding.grade == doctor::Grade::kBroken;
    listing.items.push_back(json::object{
        {"name", finding.name},
        {"verdict", row.name},
        {"text", finding.text},
        {"remedy", finding.remedy.empty() ? json::value(nullptr) : json::value(finding.remedy)}});
    out +=
        fmt::format("{}  {}  {}\n",
                    screen.Out(row.tint, terminal::Pad(screen.Pick(row.english, row.chinese), 8)),
                    terminal::Pad(finding.name, 12), terminal::Plain(finding.text));
    if (!finding.remedy.empty())
      out += fmt::format("                        {}: {}\n", screen.Pick("do", "处理"),
                         finding.remedy);
  }
  const bool table =
      screen.format == terminal::Format::kTable || screen.format == terminal::Format::kWide;
  context.Print(table ? out : terminal::Render(listing, screen, terminal::Now()));
  return broken ? terminal::kNegative : terminal::kDone;
}

}  // namespace pondage::cmd
