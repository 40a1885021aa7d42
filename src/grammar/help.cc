#include "grammar/help.h"

#include <fmt/core.h>

#include <algorithm>

#include "phrase/phrase.h"
#include "terminal/text.h"

namespace pondage::grammar {
namespace {

std::string_view In(const terminal::Screen& screen, std::string_view english,
                    std::string_view chinese) {
  return screen.language == terminal::Language::kChinese && !chinese.empty() ? chinese : english;
}

// The text in lines of at most `columns`, each behind `indent` spaces. Words are parted at spaces;
// a word of wide characters may be cut anywhere.
std::string Wrapped(std::string_view text, int columns, int indent) {
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  std::string out;
  std::string line;
  const auto flush = [&] {
    if (!line.empty()) out += margin + line + "\n";
    line.clear();
  };
  for (const std::string& word : terminal::Split(text, ' ')) {
    std::string rest = word;
    while (!rest.empty()) {
      const int room = columns - indent - terminal::Width(line) - (line.empty() ? 0 : 1);
      if (terminal::Width(rest) <= room) {
        line += (line.empty() ? "" : " ") + rest;
        break;
      }
      if (!line.empty() && terminal::Width(rest) <= columns - indent) {
        flush();
        continue;
      }
      // Longer than a line: as much of it as fits.
      std::string piece = terminal::Fit(rest, std::max(room, 2) + 1, false);
      constexpr std::string_view kMark = "…";
      if (piece.ends_with(kMark)) piece.resize(piece.size() - kMark.size());
      if (piece.empty()) {
        flush();
        if (room >= columns - indent) return out + margin + rest + "\n";
        continue;
      }
      line += (line.empty() ? "" : " ") + piece;
      rest.erase(0, piece.size());
      flush();
    }
  }
  flush();
  return out;
}

std::string FlagTitle(const Flag& flag) {
  std::string title = flag.letter != 0 ? fmt::format("-{}, --{}", flag.letter, flag.name)
                                       : fmt::format("    --{}", flag.name);
  if (!flag.choices.empty() && flag.words == 1) {
    title += fmt::format(" {}", flag.choices);
  } else if (!flag.value.empty()) {
    title += fmt::format(" {}", flag.value);
  }
  return title;
}

std::string FlagLines(std::span<const Flag> flags, const terminal::Screen& screen) {
  constexpr int kColumn = 28;
  std::string out;
  for (const Flag& flag : flags) {
    const std::string title = "  " + FlagTitle(flag);
    const std::string text = Wrapped(In(screen, flag.english, flag.chinese),
                                     std::clamp(screen.columns, 60, 100), kColumn);
    if (terminal::Width(title) + 2 <= kColumn) {
      out += terminal::Pad(title, kColumn) + text.substr(kColumn);
    } else {
      out += title + "\n" + text;
    }
  }
  return out;
}

std::string Title(const terminal::Screen& screen, const char* english, const char* chinese) {
  return screen.Out(terminal::Tint::kBold, screen.Pick(english, chinese)) + "\n";
}

}  // namespace

std::string UsageLine(const Command& command) {
  return fmt::format("pondage {}{}{}", command.name, command.words.empty() ? "" : " ",
                     command.words);
}

std::string OverviewText(const terminal::Screen& screen) {
  std::string out =
      screen.Pick("pondage: turns GPU servers into a shared pool for TensorFlow training\n\n",
                  "pondage: 把 GPU 服务器变成 TensorFlow 训练的共享资源池\n\n");
  out += Title(screen, "start here", "从这里开始");
  out += screen.Pick(
      "  pondage serve                              make this machine a pool\n"
      "  pondage run --gpus 1 -- python train.py    queue a program and follow it\n\n",
      "  pondage serve                              把本机变成资源池\n"
      "  pondage run --gpus 1 -- python train.py    排队, 运行并跟随程序\n\n");
  out += Title(screen, "commands", "命令");
  for (const Command& command : Commands()) {
    out += fmt::format("  {}{}\n", terminal::Pad(command.name, 12),
                       In(screen, command.english, command.chinese));
  }
  out += "\n";
  out += Title(screen, "flags of every command", "通用参数");
  out += FlagLines(GlobalFlags(), screen);
  out += screen.Pick(
      "\npondage COMMAND --help shows a command's page; pondage man PND-Q007 an error's.\n",
      "\npondage COMMAND --help 显示命令说明; pondage man PND-Q007 显示错误说明。\n");
  return out;
}

std::string HelpText(const Command& command, const terminal::Screen& screen) {
  const int columns = std::clamp(screen.columns, 60, 100);
  std::string out = UsageLine(command) + "\n\n";
  out += Wrapped(In(screen, command.english, command.chinese), columns, 0);
  if (!command.about_english.empty()) {
    out += "\n" + Wrapped(In(screen, command.about_english, command.about_chinese), columns, 0);
  }
  if (!command.flags.empty()) {
    out += "\n" + Title(screen, "flags", "参数") + FlagLines(command.flags, screen);
  }
  out += "\n" + Title(screen, "examples", "示例");
  for (const Example& example : command.examples) {
    const std::string_view text = In(screen, example.english, example.chinese);
    if (!text.empty()) out += fmt::format("  # {}\n", text);
    out += fmt::format("  {}\n", example.line);
  }
  out += "\n" + Title(screen, "flags of every command", "通用参数") +
         FlagLines(GlobalFlagsOf(command), screen);
  return out;
}

std::optional<std::string> ErrorPage(std::string_view id, const terminal::Screen& screen) {
  const std::string page = phrase::Page(id, screen.language);
  if (page.empty()) return std::nullopt;
  std::string out;
  for (const std::string& line : terminal::Split(page, '\n')) {
    out += line.empty() ? "\n" : Wrapped(line, std::clamp(screen.columns, 60, 100), 0);
  }
  return out;
}

std::string ErrorIndex(const terminal::Screen& screen) {
  std::string out = Title(screen, "error ids", "错误编号");
  for (const phrase::Message& message : phrase::All()) {
    out += fmt::format("  {}  {}\n", message.id, message.title.In(screen.language));
  }
  return out;
}

namespace {

std::string Roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) {
      out += fmt::format("\\&{}", c);
    } else {
      out += c;
    }
  }
  return out;
}

std::string RoffFlags(std::span<const Flag> flags, const terminal::Screen& screen) {
  std::string out;
  for (const Flag& flag : flags) {
    std::string title = FlagTitle(flag);
    title.erase(0, title.find_first_not_of(' '));
    out +=
        fmt::format(".TP\n.B {}\n{}\n", Roff(title), Roff(In(screen, flag.english, flag.chinese)));
  }
  return out;
}

}  // namespace

std::string RoffPage(const Command* command, const terminal::Screen& screen) {
  const std::string name =
      command == nullptr ? "pondage" : fmt::format("pondage-{}", command->name);
  std::string out =
      fmt::format(".TH \"{}\" 1 \"\" \"pondage {}\"\n.SH NAME\n", name, PONDAGE_VERSION);
  if (command == nullptr) {
    out +=
        "pondage \\- turns GPU servers into a shared pool for TensorFlow training\n.SH COMMANDS\n";
    for (const Command& each : Commands()) {
      out += fmt::format(".TP\n.B {}\n{}\n", Roff(each.name),
                         Roff(In(screen, each.english, each.chinese)));
    }
    return out + ".SH OPTIONS\n" + RoffFlags(GlobalFlags(), screen);
  }
  out += fmt::format("{} \\- {}\n.SH SYNOPSIS\n.B pondage {}\n{}\n", Roff(name),
                     Roff(In(screen, command->english, command->chinese)), Roff(command->name),
                     Roff(command->words));
  if (!command->about_english.empty()) {
    out += fmt::format(".SH DESCRIPTION\n{}\n",
                       Roff(In(screen, command->about_english, command->about_chinese)));
  }
  if (!command->flags.empty()) out += ".SH OPTIONS\n" + RoffFlags(command->flags, screen);
  out += ".SH EXAMPLES\n";
  for (const Example& example : command->examples) {
    out += fmt::format(".TP\n.B {}\n{}\n", Roff(example.line),
                       Roff(In(screen, example.english, example.chinese)));
  }
  return out + ".SH COMMON OPTIONS\n" + RoffFlags(GlobalFlagsOf(*command), screen);
}

}  // namespace pondage::grammar
