#include "grammar/command.h"

namespace pondage::grammar {

std::span<const Command> Commands() {
  static const std::vector<Command> kAll = [] {
    std::vector<Command> all;
    for (auto part : {JobCommands, PoolCommands, ToolCommands}) {
      for (Command& command : part()) all.push_back(std::move(command));
    }
    return all;
  }();
  return kAll;
}

const Command* FindCommand(std::string_view name) {
  for (const Command& command : Commands()) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

std::span<const Flag> GlobalFlags() {
  static const std::vector<Flag> kGlobal{
      {"output", 'o', "FORMAT", "how to print the answer", "输出格式", false, kEveryOutput},
      {"server", 0, "URL", "the server to ask, https://HOST:PORT", "服务器地址, https://主机:端口"},
      {"kubeconfig", 0, "FILE", "kubeconfig that names the server", "指明服务器的 kubeconfig 文件"},
      {"namespace", 'n', "NS", "namespace of the jobs", "作业所在的命名空间"},
      {"color", 0, "WHEN", "colours: always, never or auto", "颜色: always, never 或 auto", false,
       "always|never|auto"},
      {"ascii", 0, "", "bars and arrows in plain letters", "用普通字符画条形和箭头"},
      {"no-header", 0, "", "tables without headings", "表格不带标题行"},
      {"lang", 0, "LANG", "language of texts: en or zh", "文字语言: en 或 zh", false, "en|zh"},
      {"timeout", 0, "LENGTH", "give up after this long (wait, stop, requests)",
       "超过此时长就放弃 (wait, stop, 请求)"},
      {"quiet", 'q', "", "no progress on stderr", "不在 stderr 显示进度"},
      {"verbose", 'v', "", "what the server is asked, on stderr",
       "在 stderr 显示向服务器发出的请求"},
      {"help", 'h', "", "show this page", "显示本页"},
  };
  return kGlobal;
}

std::vector<Flag> GlobalFlagsOf(const Command& command) {
  std::vector<Flag> flags;
  for (const Flag& flag : GlobalFlags()) {
    const bool output = flag.choices == kEveryOutput;
    if (output && command.outputs.empty()) continue;
    if (!command.globals.empty() && !IsOneOf(flag.name, command.globals)) continue;
    flags.push_back(flag);
    if (output) flags.back().choices = command.outputs;
  }
  return flags;
}

std::string_view OutputsOf(const Command& command, const std::vector<std::string>& words) {
  if (command.lists.empty()) return command.outputs;
  const std::string_view verb = words.empty() ? command.first_verb : words[0];
  return IsOneOf(verb, command.lists) ? command.outputs : "";
}

bool IsOneOf(std::string_view value, std::string_view choices) {
  while (true) {
    const std::size_t bar = choices.find('|');
    if (value == choices.substr(0, bar)) return !value.empty();
    if (bar == std::string_view::npos) return false;
    choices.remove_prefix(bar + 1);
  }
}

}  // namespace pondage::grammar
