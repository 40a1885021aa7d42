#include "cmd/simulate_size.h"

#include <fmt/core.h>

#include <algorithm>
#include <boost/json.hpp>
#include <iterator>

#include "terminal/screen.h"
#include "terminal/text.h"

namespace pondage::cmd {

namespace {

namespace json = boost::json;

std::string Length(double seconds) {
  return terminal::LongAge({static_cast<std::int64_t>(seconds * 1'000)});
}

std::vector<replay::Trial> BySize(const replay::Sized& sized) {
  std::vector<replay::Trial> trials = sized.trials;
  std::ranges::sort(trials, {}, &replay::Trial::machines);
  return trials;
}

// The fewest that did, and the most of fewer ones, which did not.
struct Ends {
  const replay::Trial* fewest = nullptr;
  const replay::Trial* below = nullptr;
};
Ends EndsOf(const std::vector<replay::Trial>& by_size) {
  Ends ends;
  for (const replay::Trial& trial : by_size) {
    if (trial.met) {
      ends.fewest = &trial;
      break;
    }
    ends.below = &trial;
  }
  return ends;
}

std::string ValuesText(const replay::Trial& trial, const std::vector<replay::Target>& targets) {
  std::string text;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    text += fmt::format("{}{} {}", i > 0 ? ", " : "", targets[i].name, Length(trial.values[i]));
  }
  return text;
}

std::string Table(const replay::Sized& sized, const std::vector<replay::Target>& targets,
                  const terminal::Screen& screen) {
  const std::vector<replay::Trial> trials = BySize(sized);
  const auto [fewest, below] = EndsOf(trials);
  std::string text = fmt::format(fmt::runtime(screen.Pick("{} machines ({}, {} GPUs) do: {}.",
                                                          "{} 台机器 ({}, {} 块 GPU) 足够: {}。")),
                                 fewest->machines, sized.fewest.run.machines, fewest->gpus,
                                 ValuesText(*fewest, targets));
  if (below != nullptr) {
    text += fmt::format(fmt::runtime(screen.Pick(" {} do not: {}.", " {} 台不够: {}。")),
                        below->machines, ValuesText(*below, targets));
  }
  terminal::Table table;
  table.headings = {screen.Word("MACHINES"), screen.Word("GPUS")};
  for (const replay::Target& target : targets) table.headings.push_back(target.name);
  table.headings.push_back(screen.Word("UNFINISHED"));
  table.headings.emplace_back();
  for (const replay::Trial& trial : trials) {
    std::vector<terminal::Cell> row{{std::to_string(trial.machines)}, {std::to_string(trial.gpus)}};
    for (const double value : trial.values) row.push_back({Length(value)});
    row.push_back({std::to_string(trial.unfinished)});
    row.push_back({trial.met ? screen.Pick("enough", "足够") : screen.Pick("too few", "不够")});
    table.rows.push_back(std::move(row));
  }
  return text + "\n" + table.Text(screen);
}

json::object TrialJson(const replay::Trial& trial, const std::vector<replay::Target>& targets) {
  json::object values;
  for (std::size_t i = 0; i < targets.size(); ++i) values[targets[i].name] = trial.values[i];
  return {{"machines", trial.machines},
          {"gpus", trial.gpus},
          {"seconds", std::move(values)},
          {"unfinished", trial.unfinished},
          {"met", trial.met}};
}

std::string Json(const replay::Sized& sized, const std::vector<replay::Target>& targets) {
  const std::vector<replay::Trial> trials = BySize(sized);
  const auto [fewest, below] = EndsOf(trials);
  json::array tried;
  for (const replay::Trial& trial : trials) tried.push_back(TrialJson(trial, targets));
  json::object wanted;
  for (const replay::Target& target : targets) wanted[target.name] = target.most_s;
  json::object out{{"wanted_s", std::move(wanted)}, {"fewest", TrialJson(*fewest, targets)}};
  out["below"] = below == nullptr ? json::value() : json::value(TrialJson(*below, targets));
  out["tried"] = std::move(tried);
  return json::serialize(out) + "\n";
}

std::string Csv(const replay::Sized& sized, const std::vector<replay::Target>& targets) {
  std::string out = "machines,gpus";
  for (const replay::Target& target : targets) out += fmt::format(",{}_s", target.name);
  out += ",unfinished,met\n";
  for (const replay::Trial& trial : BySize(sized)) {
    out += fmt::format("{},{}", trial.machines, trial.gpus);
    for (const double value : trial.values) out += fmt::format(",{:.3f}", value);
    out += fmt::format(",{},{}\n", trial.unfinished, trial.met ? 1 : 0);
  }
  return out;
}

}  // namespace

std::string SizedText(const replay::Sized& sized, const std::vector<replay::Target>& targets,
                      const terminal::Screen& screen) {
  if (screen.format == terminal::Format::kJson) return Json(sized, targets);
  if (screen.format == terminal::Format::kCsv) return Csv(sized, targets);
  return Table(sized, targets, screen);
}

}  // namespace pondage::cmd
