// completion, man and help: pages made of the table of commands.
#include <fmt/core.h>

#include "cmd/context.h"
#include "cmd/mains.h"
#include "grammar/completion.h"
#include "grammar/help.h"
#include "terminal/trouble.h"

namespace pondage::cmd {
using base::Fail;
using base::Kind;

base::Result<int> CompletionMain(Context& context) {
  context.Print(grammar::CompletionScript(context.line().words[0]));
  return terminal::kDone;
}

base::Result<int> ManMain(Context& context) {
  const auto& words = context.line().words;
  const terminal::Screen& screen = context.screen();
  const grammar::Command* command = words.empty() ? nullptr : grammar::FindCommand(words[0]);
  if (context.line().Has("roff")) {
    if (!words.empty() && command == nullptr) {
      return Fail(Kind::kNotFound, "PND-C002", "", fmt::format("no command \"{}\"", words[0]));
    }
    context.Print(grammar::RoffPage(command, screen));
    return terminal::kDone;
  }
  if (words.empty()) {
    context.Print(grammar::OverviewText(screen) + "\n" + grammar::ErrorIndex(screen));
    return terminal::kDone;
  }
  if (command != nullptr) {
    context.Print(grammar::HelpText(*command, screen));
    return terminal::kDone;
  }
  std::string id = words[0];
  for (char& c : id) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
  const auto page = grammar::ErrorPage(id, screen);
  if (!page)
    return Fail(Kind::kNotFound, "PND-C002", "",
                fmt::format("no command and no error id \"{}\"", words[0]));
  context.Print(*page);
  return terminal::kDone;
}

base::Result<int> HelpMain(Context& context) {
  const auto& words = context.line().words;
  const grammar::Command* command = words.empty() ? nullptr : grammar::FindCommand(words[0]);
  if (!words.empty() && command == nullptr) {
    return Fail(Kind::kInvalid, "PND-C002", "", fmt::format("no command \"{}\"", words[0]));
  }
  if (command == nullptr && context.screen().format == terminal::Format::kName) {
    for (const grammar::Command& each : grammar::Commands()) {
      context.Print(std::string(each.name) + "\n");
    }
    return terminal::kDone;
  }
  context.Print(command == nullptr ? grammar::OverviewText(context.screen())
                                   : grammar::HelpText(*command, context.screen()));
  return terminal::kDone;
}

}  // namespace pondage::cmd
