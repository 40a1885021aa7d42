#include "grammar/invocation.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "grammar/nearest.h"
#include "terminal/text.h"

namespace pondage::grammar {
namespace {

using base::Fail;
using base::Kind;

base::Error Usage(const Command* command, std::string what) {
  const std::string page = command == nullptr ? "" : fmt::format(" {}", command->name);
  return {Kind::kInvalid, "PND-C002", "", fmt::format("{}\nsee: pondage{} --help", what, page)};
}

void AddFlag(CLI::App& app, const Flag& flag, Invocation& line) {
  const std::string name(flag.name);
  std::string spec = "--" + name;
  if (flag.letter != 0) spec = fmt::format("-{},{}", flag.letter, spec);
  if (flag.value.empty()) {
    app.add_flag_function(spec, [&line, name](std::int64_t count) {
      line.flags[name].assign(static_cast<std::size_t>(std::max<std::int64_t>(count, 0)), "");
    });
    return;
  }
  app.add_option_function<std::vector<std::string>>(
         spec,
         [&line, name](const std::vector<std::string>& values) {
           auto& all = line.flags[name];
           all.insert(all.end(), values.begin(), values.end());
         })
      ->expected(flag.words)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

std::vector<std::string> CommandNames() {
  std::vector<std::string> names;
  names.reserve(Commands().size());
  for (const Command& command : Commands()) names.emplace_back(command.name);
  return names;
}

std::vector<std::string> FlagNames(const Command* command) {
  std::vector<std::string> names;
  if (command != nullptr) {
    for (const Flag& flag : command->flags) names.push_back("--" + std::string(flag.name));
  }
  for (const Flag& flag : GlobalFlags()) names.push_back("--" + std::string(flag.name));
  return names;
}

const Flag* FlagNamed(const Command* command, std::string_view name) {
  const auto named = [&](const Flag& flag) { return flag.name == name; };
  if (command != nullptr) {
    const auto own = std::ranges::find_if(command->flags, named);
    if (own != command->flags.end()) return &*own;
  }
  const auto global = std::ranges::find_if(GlobalFlags(), named);
  return global == GlobalFlags().end() ? nullptr : &*global;
}

// -o prints what the command, or its verb, can print.
base::Result<void> CheckOutput(const Invocation& line) {
  if (!line.Has("output")) return {};
  const std::string_view outputs = OutputsOf(*line.command, line.words);
  const std::string value = line.Value("output");
  if (IsOneOf(value, outputs)) return {};
  std::string what(line.command->name);
  if (!line.command->lists.empty() && !line.words.empty()) what += " " + line.words[0];
  return std::unexpected(Usage(
      line.command,
      outputs.empty() ? fmt::format("{} takes no --output", what)
                      : fmt::format("--output of {} takes {}, not \"{}\"", what, outputs, value)));
}

base::Result<void> CheckFlags(const Invocation& line) {
  for (const auto& [name, values] : line.flags) {
    const Flag* flag = FlagNamed(line.command, name);
    if (flag == nullptr || flag->value.empty()) continue;
    const auto at_once = static_cast<std::size_t>(flag->words);
    if (values.size() % at_once != 0) {
      return std::unexpected(
          Usage(line.command, fmt::format("--{} takes {} values: {}", name, at_once, flag->value)));
    }
    if (values.size() > at_once && !flag->many) {
      return std::unexpected(
          Usage(line.command, fmt::format("--{} is given more than once", name)));
    }
    for (const std::string& value : values) {
      if (!flag->choices.empty() && !IsOneOf(value, flag->choices)) {
        return std::unexpected(Usage(
            line.command, fmt::format("--{} takes {}, not \"{}\"", name, flag->choices, value)));
      }
    }
  }
  return {};
}

base::Result<void> CheckWords(const Invocation& line) {
  const Command& command = *line.command;
  const int count = static_cast<int>(line.words.size());
  if (command.takes_program) {
    if (count > command.most) {
      const std::vector<std::string> extra(line.words.begin() + command.most, line.words.end());
      return std::unexpected(
          Usage(&command, fmt::format("put -- in front of the command: pondage {} ... -- {}",
                                      command.name, terminal::ShellQuote(extra))));
    }
    if (line.program.empty()) {
      return std::unexpected(Usage(&command, "no command: what is to be run stands behind --"));
    }
  }
  if (count < command.fewest) {
    return std::unexpected(
        Usage(&command, fmt::format("{} needs {}", command.name, command.words)));
  }
  if (count > command.most) {
    return std::unexpected(
        Usage(&command, fmt::format("{} does not take \"{}\"", command.name,
                                    line.words[static_cast<std::size_t>(command.most)])));
  }
  if (!command.verbs.empty() && count > 0 &&
      std::ranges::find(command.verbs, line.words[0]) == command.verbs.end()) {
    std::vector<std::string> verbs(command.verbs.begin(), command.verbs.end());
    return std::unexpected(
        Usage(&command, fmt::format("{} takes {}, not \"{}\"", command.name,
                                    terminal::Join(verbs, ", "), line.words[0])));
  }
  return {};
}

// What CLI11 did not understand, in our words.
base::Error NotUnderstood(const Command* command, const CLI::ParseError& error,
                          const std::vector<std::string>& words) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    for (const std::string& word : words) {
      if (!word.starts_with("-") || word == "-") continue;
      const std::string name = word.substr(0, word.find('='));
      const auto known = FlagNames(command);
      if (!name.starts_with("--") || std::ranges::find(known, name) != known.end()) continue;
      const std::string near = Nearest(name, known);
      return Usage(command, near.empty() ? fmt::format("no flag {}", name)
                                         : fmt::format("no flag {}; did you mean {}?", name, near));
    }
  }
  return Usage(command, error.what());
}

// What a command that does not exist is called here: words of kubectl, Slurm and others first.
std::string Meant(std::string_view word) {
  static constexpr std::pair<std::string_view, std::string_view> kElsewhere[] = {
      {"list", "ps"},       {"ls", "ps"},        {"jobs", "ps"},       {"squeue", "ps"},
      {"get", "show"},      {"status", "show"},  {"describe", "show"}, {"info", "show"},
      {"submit", "run"},    {"create", "apply"}, {"sbatch", "run"},    {"srun", "run"},
      {"cancel", "stop"},   {"kill", "stop"},    {"scancel", "stop"},  {"abort", "stop"},
      {"remove", "delete"}, {"rm", "delete"},    {"log", "logs"},      {"attach", "logs"},
      {"restart", "rerun"}, {"retry", "rerun"},  {"pause", "suspend"}, {"start", "resume"},
      {"why", "explain"},   {"sinfo", "nodes"},  {"gpus", "nodes"},    {"node", "nodes"},
      {"queues", "queue"},  {"login", "token"},  {"check", "doctor"},  {"server", "serve"},
  };
  for (const auto& [elsewhere, here] : kElsewhere) {
    if (word == elsewhere) return std::string(here);
  }
  return Nearest(word, CommandNames());
}

}  // namespace

std::string Invocation::Value(std::string_view flag, std::string_view otherwise) const {
  const auto found = flags.find(flag);
  if (found == flags.end() || found->second.empty()) return std::string(otherwise);
  return found->second.back();
}

std::vector<std::string> Invocation::Values(std::string_view flag) const {
  const auto found = flags.find(flag);
  return found == flags.end() ? std::vector<std::string>() : found->second;
}

base::Result<std::int64_t> Invocation::Number(std::string_view flag, std::int64_t otherwise,
                                              std::int64_t least, std::int64_t most) const {
  if (!Has(flag)) return otherwise;
  const std::string text = Value(flag);
  char* end = nullptr;
  const std::int64_t number = text.size() > 18 ? 0 : std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || end == nullptr || *end != '\0' || number < least || number > most) {
    return std::unexpected(Usage(
        command,
        fmt::format("--{} takes a number from {} to {}, not \"{}\"", flag, least, most, text)));
  }
  return number;
}

base::Result<std::optional<base::Millis>> Invocation::Length(std::string_view flag) const {
  if (!Has(flag)) return std::optional<base::Millis>();
  TRY(const base::Millis length, terminal::ParseLength(Value(flag)));
  return std::optional(length);
}

base::Result<std::optional<base::Bytes>> Invocation::Size(std::string_view flag) const {
  if (!Has(flag)) return std::optional<base::Bytes>();
  TRY(const base::Bytes size, terminal::ParseSize(Value(flag)));
  return std::optional(size);
}

base::Result<void> CheckSetting(std::string_view name, std::string_view value) {
  const Flag* flag = FlagNamed(nullptr, name);
  if (flag == nullptr || flag->choices.empty() || value.empty() || IsOneOf(value, flag->choices))
    return {};
  return Fail(Kind::kInvalid, "PND-C002", "",
              fmt::format("{} takes {}, not \"{}\"", name, flag->choices, value));
}

base::Result<Invocation> ParseLine(const std::vector<std::string>& words) {
  Invocation line;
  const auto divider = std::ranges::find(words, "--");
  std::vector<std::string> ours(words.begin(), divider);
  if (divider != words.end()) line.program.assign(divider + 1, words.end());

  CLI::App app;
  app.set_help_flag();
  app.require_subcommand(0, 1);
  for (const Flag& flag : GlobalFlags()) AddFlag(app, flag, line);
  std::vector<std::pair<CLI::App*, const Command*>> subs;
  for (const Command& command : Commands()) {
    CLI::App* sub = app.add_subcommand(std::string(command.name));
    sub->set_help_flag();
    for (const Flag& flag : command.flags) AddFlag(*sub, flag, line);
    for (const Flag& flag : GlobalFlags()) AddFlag(*sub, flag, line);
    sub->add_option("words", line.words);
    subs.emplace_back(sub, &command);
  }
  const auto chosen = [&]() -> const Command* {
    for (const auto& [sub, command] : subs) {
      if (sub->parsed()) return command;
    }
    return nullptr;
  };
  try {
    app.parse(std::vector<std::string>(ours.rbegin(), ours.rend()));
  } catch (const CLI::ParseError& error) {
    const Command* command = chosen();
    if (command == nullptr) {
      for (const std::string& word : ours) {
        if (word.starts_with("-")) continue;
        const std::string near = Meant(word);
        return std::unexpected(
            Usage(nullptr, near.empty()
                               ? fmt::format("no command \"{}\"", word)
                               : fmt::format("no command \"{}\"; did you mean {}?", word, near)));
      }
    }
    return std::unexpected(NotUnderstood(command, error, ours));
  }
  line.command = chosen();
  if (line.command == nullptr || line.Has("help")) return line;
  if (!line.program.empty() && !line.command->takes_program) {
    // A `--` that only guards words against being taken for flags.
    line.words.insert(line.words.end(), line.program.begin(), line.program.end());
    line.program.clear();
  }
  TRY_DO(CheckFlags(line));
  TRY_DO(CheckWords(line));
  TRY_DO(CheckOutput(line));
  return line;
}

}  // namespace pondage::grammar
