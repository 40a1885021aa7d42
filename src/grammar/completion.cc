#include "grammar/completion.h"

#include <fmt/core.h>

#include <algorithm>

#include "grammar/command.h"
#include "terminal/text.h"

namespace pondage::grammar {
namespace {

constexpr std::string_view kAskJobs = "pondage ps -a -o name --timeout 2s 2>/dev/null";

std::string Names() {
  std::vector<std::string> names;
  names.reserve(Commands().size());
  for (const Command& command : Commands()) names.emplace_back(command.name);
  return terminal::Join(names, " ");
}

std::vector<Flag> FlagsOf(const Command& command) {
  std::vector<Flag> all = command.flags;
  const std::vector<Flag> global = GlobalFlagsOf(command);
  all.insert(all.end(), global.begin(), global.end());
  return all;
}

std::string Spaced(std::string_view choices) {
  std::string words(choices);
  std::ranges::replace(words, '|', ' ');
  return words;
}

std::string Verbs(const Command& command) {
  return terminal::Join(std::vector<std::string>(command.verbs.begin(), command.verbs.end()), " ");
}

std::string BashCase(const Command& command) {
  std::vector<std::string> flags;
  for (const Flag& flag : FlagsOf(command)) flags.push_back(fmt::format("--{}", flag.name));
  std::string out =
      fmt::format("    {})\n      flags=\"{}\"\n", command.name, terminal::Join(flags, " "));
  if (command.completes == Completes::kJobs)
    out += "      words=\"$(" + std::string(kAskJobs) + ")\"\n";
  if (command.completes == Completes::kVerbs)
    out += fmt::format("      words=\"{}\"\n", Verbs(command));
  if (command.completes == Completes::kFiles) out += "      files=yes\n";
  if (command.name == "help") out += fmt::format("      words=\"{}\"\n", Names());
  return out + "      ;;\n";
}

std::string BashScript() {
  std::string cases;
  for (const Command& command : Commands()) cases += BashCase(command);
  std::string choices;
  for (const Flag& flag : GlobalFlags()) {
    if (flag.choices.empty()) continue;
    choices += fmt::format(
        "    --{}{})\n      COMPREPLY=($(compgen -W \"{}\" -- \"$word\"))\n      return\n      "
        ";;\n",
        flag.name, flag.letter != 0 ? fmt::format("|-{}", flag.letter) : "", Spaced(flag.choices));
  }
  return fmt::format(
      R"bash(# completion of pondage for bash; use it with: source <(pondage completion bash)
_pondage() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}"
  local command="" flags="" words="" files="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ "${{COMP_WORDS[i]}}" == "--" ]]; then
      compopt -o default
      return
    fi
    if [[ -z "$command" && "${{COMP_WORDS[i]}}" != -* ]]; then command="${{COMP_WORDS[i]}}"; fi
  done
  case "$before" in
{}    -f|--filename|--kubeconfig|--config|--data|--out|--write|--download|--mount)
      compopt -o default
      return
      ;;
  esac
  if [[ -z "$command" ]]; then
    COMPREPLY=($(compgen -W "{}" -- "$word"))
    return
  fi
  case "$command" in
{}  esac
  if [[ "$word" == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$word"))
  elif [[ -n "$files" ]]; then
    compopt -o default
  else
    COMPREPLY=($(compgen -W "$words" -- "$word"))
  fi
}}
complete -F _pondage pondage
)bash",
      choices, Names(), cases);
}

// Text inside single quotes of zsh's _arguments, where brackets and colons mean something.
std::string ZshText(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else if (c == '[' || c == ']' || c == ':') {
      out += fmt::format("\\{}", c);
    } else {
      out += c;
    }
  }
  return out;
}

std::string ZshCase(const Command& command) {
  std::string out = fmt::format("    {})\n      _arguments", command.name);
  for (const Flag& flag : FlagsOf(command)) {
    std::string spec =
        fmt::format("{}--{}[{}]", flag.many ? "*" : "", flag.name, ZshText(flag.english));
    for (int word = 0; word < flag.words; ++word) {
      if (!flag.choices.empty()) {
        spec += fmt::format(":{}:({})", flag.name, Spaced(flag.choices));
      } else if (!flag.value.empty()) {
        spec += fmt::format(":{}:_files", ZshText(flag.value));
      }
    }
    out += fmt::format(" \\\n        '{}'", spec);
  }
  switch (command.completes) {
    case Completes::kJobs:
      out += " \\\n        '*:job:_pondage_jobs'";
      break;
    case Completes::kVerbs:
      out += fmt::format(" \\\n        '1:verb:({})'", Verbs(command));
      break;
    case Completes::kFiles:
      out += " \\\n        '*:file:_files'";
      break;
    case Completes::kNothing:
      out += command.takes_program ? " \\\n        '*::command:_normal'" : "";
      break;
  }
  return out + "\n      ;;\n";
}

std::string ZshScript() {
  std::string cases;
  std::string names;
  for (const Command& command : Commands()) {
    cases += ZshCase(command);
    names += fmt::format("    '{}:{}'\n", command.name, ZshText(command.english));
  }
  return fmt::format(R"zsh(#compdef pondage
# completion of pondage for zsh; use it with: source <(pondage completion zsh)
_pondage_jobs() {{
  local -a jobs
  jobs=(${{(f)"$({})"}})
  compadd -a jobs
}}
_pondage() {{
  local -a commands
  commands=(
{}  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
{}  esac
}}
compdef _pondage pondage
)zsh",
                     kAskJobs, names, cases);
}

std::string FishQuote(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string FishScript() {
  std::string out =
      "# completion of pondage for fish; use it with: pondage completion fish | source\n"
      "complete -c pondage -f\n";
  for (const Command& command : Commands()) {
    out += fmt::format("complete -c pondage -n __fish_use_subcommand -a {} -d {}\n", command.name,
                       FishQuote(command.english));
    const std::string here =
        fmt::format("complete -c pondage -n '__fish_seen_subcommand_from {}'", command.name);
    for (const Flag& flag : FlagsOf(command)) {
      out += fmt::format("{} -l {}{}{} -d {}\n", here, flag.name,
                         flag.letter != 0 ? fmt::format(" -s {}", flag.letter) : "",
                         !flag.choices.empty()
                             ? fmt::format(" -x -a {}", FishQuote(Spaced(flag.choices)))
                         : !flag.value.empty() ? " -r -F"
                                               : "",
                         FishQuote(flag.english));
    }
    if (command.completes == Completes::kJobs) out += fmt::format("{} -a '({})'\n", here, kAskJobs);
    if (command.completes == Completes::kVerbs)
      out += fmt::format("{} -a {}\n", here, FishQuote(Verbs(command)));
    if (command.completes == Completes::kFiles) out += here + " -F\n";
  }
  return out;
}

}  // namespace

std::string CompletionScript(std::string_view shell) {
  if (shell == "zsh") return ZshScript();
  if (shell == "fish") return FishScript();
  return BashScript();
}

}  // namespace pondage::grammar
