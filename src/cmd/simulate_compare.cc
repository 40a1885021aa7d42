#include "cmd/simulate_compare.h"

#include <fmt/core.h>

#include <boost/json.hpp>
#include <iterator>

#include "phrase/phrase.h"
#include "report/report.h"
#include "terminal/screen.h"
#include "terminal/text.h"

namespace pondage::cmd {

namespace {

namespace json = boost::json;
using report::Deed;
using What = report::Deed::What;

struct Word {
  What what;
  const char *name, *english, *chinese;
};
constexpr Word kWords[] = {{What::kStarts, "starts", "starts{}", "启动{}"},
                           {What::kLeaves, "leaves", "is interrupted{}", "被中断{}"},
                           {What::kEnds, "ends", "ends{}", "结束{}"},
                           {What::kWaits, "waits", "waits {}", "等待 {}"},
                           {What::kRuns, "runs", "runs on for {}", "继续运行 {}"},
                           {What::kGone, "gone", "has ended", "已经结束"}};

const Word& WordOf(What what) {
  for (const Word& word : kWords) {
    if (word.what == what) return word;
  }
  return kWords[0];
}

std::string Gpus(double gpus) {
  return fmt::format("{:g}", gpus);
}
double GpusOf(base::MilliGpu gpu) {
  return static_cast<double>(gpu.value) / 1'000;
}

// "2d 03:20:00".
std::string ClockOf(base::Millis length) {
  const std::int64_t seconds = length.value / 1'000;
  const std::int64_t days = seconds / 86'400;
  return fmt::format("{}{:02}:{:02}:{:02}", days > 0 ? fmt::format("{}d ", days) : "",
                     seconds / 3'600 % 24, seconds / 60 % 60, seconds % 60);
}

std::string MachinesOf(const Deed& deed, const terminal::Screen& screen) {
  if (deed.machines.empty()) return "";
  constexpr std::size_t kNamed = 2;
  std::string text = screen.Pick(" on ", "于 ");
  for (std::size_t i = 0; i < deed.machines.size() && i < kNamed; ++i) {
    text += (i > 0 ? ", " : "") + deed.machines[i];
  }
  if (deed.machines.size() > kNamed) {
    text += fmt::format(fmt::runtime(screen.Pick(" and {} more", " 等, 另有 {} 台")),
                        deed.machines.size() - kNamed);
  }
  return text;
}

std::string DeedText(const Deed& deed, base::Instant at, const terminal::Screen& screen) {
  const Word& word = WordOf(deed.what);
  const char* form = screen.Pick(word.english, word.chinese);
  if (deed.what == What::kWaits || deed.what == What::kRuns) {
    const std::string length = deed.later == base::kNever
                                   ? std::string(screen.Pick("for ever", "至终"))
                                   : terminal::LongAge(deed.later - at);
    return fmt::format(fmt::runtime(form), length);
  }
  if (deed.what == What::kGone) return std::string(form);
  return fmt::format(fmt::runtime(form), MachinesOf(deed, screen));
}

std::string ReasonText(const job::Reason& reason, terminal::Language language) {
  const bool chinese = language == terminal::Language::kChinese;
  const std::string text =
      phrase::Text(reason.id, chinese ? phrase::Language::kChinese : phrase::Language::kEnglish,
                   {reason.values.begin(), reason.values.end()});
  return text.empty() ? reason.message : text;
}

std::string WhyText(const replay::Why& why, double asks, const terminal::Screen& screen) {
  if (why.reason) return ReasonText(*why.reason, screen.language);
  std::string text = fmt::format(
      fmt::runtime(screen.Pick("{} GPUs are free, it asks for {}", "空闲 {} 块 GPU, 它需要 {} 块")),
      Gpus(why.crowd.free_gpus), Gpus(asks));
  if (why.crowd.ahead == 0) return text;
  return text +
         fmt::format(fmt::runtime(screen.Pick("; {} came before and wait, first {} for {}",
                                              "; 之前有 {} 个在等, 第一个是 {}, 需要 {} 块")),
                     why.crowd.ahead, why.crowd.first, Gpus(why.crowd.first_gpus));
}

std::string Table(const replay::Comparison& comparison, const terminal::Screen& screen) {
  const auto& [a, b, partings, whys] = comparison;
  if (partings.empty()) {
    return fmt::format(fmt::runtime(screen.Pick("{} and {} decide alike: {} jobs\n",
                                                "{} 与 {} 的决策完全相同: {} 个作业\n")),
                       a.name, b.name, a.jobs.size());
  }
  const base::Instant first = a.jobs.front().submit;
  terminal::Table table;
  for (const std::string& heading :
       {std::string(screen.Word("TIME")), std::string(screen.Word("JOB")),
        std::string(screen.Word("GPUS")), a.name, b.name, std::string(screen.Word("WHY"))}) {
    table.headings.push_back(heading);
  }
  for (std::size_t i = 0; i < partings.size() && i < whys.size(); ++i) {
    const report::Parting& parting = partings[i];
    table.rows.push_back({{ClockOf(parting.at - first)},
                          {parting.job},
                          {Gpus(GpusOf(parting.gpu))},
                          {DeedText(parting.a, parting.at, screen)},
                          {DeedText(parting.b, parting.at, screen)},
                          {whys[i] ? WhyText(*whys[i], GpusOf(parting.gpu), screen) : ""}});
  }
  std::string text =
      fmt::format(fmt::runtime(screen.Pick(
                      "{} and {} part first at {}, about {}; {} of {} jobs fare otherwise.\n",
                      "{} 与 {} 最先在 {} 因 {} 而不同; {} / {} 个作业的经过不同。\n")),
                  a.name, b.name, ClockOf(partings.front().at - first), partings.front().job,
                  partings.size(), a.jobs.size());
  text += table.Text(screen);
  if (partings.size() > whys.size()) {
    text += fmt::format(fmt::runtime(screen.Pick("and {} more: -o csv, -o json\n",
                                                 "另有 {} 个: -o csv, -o json\n")),
                        partings.size() - whys.size());
  }
  return text;
}

json::object DeedJson(const Deed& deed, base::Instant first) {
  json::object out{{"does", WordOf(deed.what).name},
                   {"machines", json::array(deed.machines.begin(), deed.machines.end())}};
  if (deed.later != base::kNever) {
    out["until_s"] = static_cast<double>((deed.later - first).value) / 1'000;
  }
  return out;
}

json::object WhyJson(const replay::Why& why) {
  json::object out{{"waits_in", why.is_b ? "b" : "a"},
                   {"free_gpus", why.crowd.free_gpus},
                   {"ahead", why.crowd.ahead},
                   {"first_ahead", why.crowd.first}};
  if (why.reason) {
    out["reason_id"] = why.reason->id;
    out["reason"] = ReasonText(*why.reason, terminal::Language::kEnglish);
  }
  return out;
}

std::string Json(const replay::Comparison& comparison) {
  const auto& [a, b, partings, whys] = comparison;
  json::array rows;
  const base::Instant first = a.jobs.empty() ? base::Instant{} : a.jobs.front().submit;
  for (std::size_t i = 0; i < partings.size(); ++i) {
    const report::Parting& parting = partings[i];
    json::object row{{"at_s", static_cast<double>((parting.at - first).value) / 1'000},
                     {"job", parting.job},
                     {"gpus", GpusOf(parting.gpu)},
                     {"a", DeedJson(parting.a, first)},
                     {"b", DeedJson(parting.b, first)}};
    if (i < whys.size() && whys[i]) row["why"] = WhyJson(*whys[i]);
    rows.push_back(std::move(row));
  }
  const json::object out{
      {"a", a.name}, {"b", b.name}, {"jobs", a.jobs.size()}, {"partings", std::move(rows)}};
  return json::serialize(out) + "\n";
}

std::string Csv(const replay::Comparison& comparison) {
  const auto& [a, b, partings, whys] = comparison;
  std::string out = "at_s,job,gpus,a,a_does,a_until_s,b,b_does,b_until_s\n";
  for (const report::Parting& parting : partings) {
    const base::Instant first = a.jobs.front().submit;
    const auto since = [&](base::Instant at) {
      return at == base::kNever
                 ? ""
                 : fmt::format("{:.3f}", static_cast<double>((at - first).value) / 1'000);
    };
    fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{},{},{},{}\n", since(parting.at),
                   report::CsvCell(parting.job), Gpus(GpusOf(parting.gpu)), a.name,
                   WordOf(parting.a.what).name, since(parting.a.later), b.name,
                   WordOf(parting.b.what).name, since(parting.b.later));
  }
  return out;
}

}  // namespace

std::string ComparisonText(const replay::Comparison& comparison, const terminal::Screen& screen) {
  if (screen.format == terminal::Format::kJson) return Json(comparison);
  if (screen.format == terminal::Format::kCsv) return Csv(comparison);
  return Table(comparison, screen);
}

}  // namespace pondage::cmd
