#include "terminal/screen.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <cwchar>

extern char** environ;

namespace pondage::terminal {
namespace {

// One character of UTF-8 at the front of `text` and how many bytes it takes; broken bytes count as
// one character each.
struct Letter {
  char32_t code = 0xFFFD;
  std::size_t bytes = 1;
};

Letter FirstLetter(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 1;
  if (length == 1 || lead > 0xF4 || text.size() < length) return {};
  char32_t code = lead & (0x7F >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3F);
  }
  return {code, length};
}

// Bytes of the escape sequence at the front, 0 when there is none.
std::size_t EscapeLength(std::string_view text) {
  if (text.empty() || text[0] != '\x1b') return 0;
  if (text.size() == 1) return 1;
  if (text[1] == '[') {
    std::size_t at = 2;
    while (at < text.size() && (text[at] < 0x40 || text[at] > 0x7e)) ++at;
    return std::min(at + 1, text.size());
  }
  if (text[1] == ']') {
    std::size_t at = 2;
    while (at < text.size() && text[at] != '\a' && text[at] != '\x1b') ++at;
    if (at < text.size() && text[at] == '\x1b') ++at;
    return std::min(at + 1, text.size());
  }
  return 2;
}

// glibc's width table of the built-in UTF-8 locale, whatever locale the user has.
int LetterWidth(char32_t code) {
  static const locale_t kUtf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  if (code < 0x7f) return code < 0x20 ? 0 : 1;
  const locale_t before = uselocale(kUtf8);
  const int width = ::wcwidth(static_cast<wchar_t>(code));
  uselocale(before);
  return std::max(width, 0);
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return lower;
}

const char* TintCode(Tint tint) {
  switch (tint) {
    case Tint::kNone:
      return "";
    case Tint::kBold:
      return "1";
    case Tint::kDim:
      return "2";
    case Tint::kRed:
      return "31";
    case Tint::kGreen:
      return "32";
    case Tint::kYellow:
      return "33";
    case Tint::kBlue:
      return "34";
    case Tint::kMagenta:
      return "35";
    case Tint::kCyan:
      return "36";
  }
  return "";
}

std::string Tinted(bool colour, Tint tint, std::string_view text) {
  if (!colour || tint == Tint::kNone || text.empty()) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", TintCode(tint), text);
}

}  // namespace

Surroundings Surroundings::OfThisProcess() {
  Surroundings around;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos) {
      around.environment.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  around.out_is_terminal = isatty(STDOUT_FILENO) != 0;
  around.err_is_terminal = isatty(STDERR_FILENO) != 0;
  around.in_is_terminal = isatty(STDIN_FILENO) != 0;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    around.columns = size.ws_col;
  } else if (const std::string columns = around.Variable("COLUMNS"); !columns.empty()) {
    around.columns = std::clamp(std::atoi(columns.c_str()), 20, 1000);
  }
  return around;
}

std::string Surroundings::Variable(std::string_view name) const {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string() : found->second;
}

bool WantsColour(std::string_view flag, const Surroundings& around, bool is_terminal) {
  if (flag == "always") return true;
  if (flag == "never") return false;
  if (!around.Variable("NO_COLOR").empty()) return false;
  for (const char* name : {"CLICOLOR_FORCE", "FORCE_COLOR"}) {
    const std::string value = around.Variable(name);
    if (!value.empty() && value != "0") return true;
  }
  if (around.Variable("TERM") == "dumb") return false;
  return is_terminal;
}

bool IsUtf8(const Surroundings& around) {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string value = Lower(around.Variable(name));
    if (value.empty()) continue;
    return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

Language LanguageOf(std::string_view flag, const Surroundings& around) {
  std::string value(flag);
  for (const char* name : {"PONDAGE_LANG", "LC_ALL", "LC_MESSAGES", "LANG"}) {
    if (value.empty()) value = around.Variable(name);
  }
  return Lower(value).starts_with("zh") ? Language::kChinese : Language::kEnglish;
}

std::string Screen::Out(Tint tint, std::string_view text) const {
  return Tinted(colour_out, tint, text);
}

std::string Screen::Err(Tint tint, std::string_view text) const {
  return Tinted(colour_err, tint, text);
}

int Width(std::string_view text) {
  int columns = 0;
  while (!text.empty()) {
    if (const std::size_t escape = EscapeLength(text); escape > 0) {
      text.remove_prefix(escape);
      continue;
    }
    const Letter letter = FirstLetter(text);
    columns += LetterWidth(letter.code);
    text.remove_prefix(letter.bytes);
  }
  return columns;
}

std::string Fit(std::string_view text, int columns, bool ascii) {
  if (Width(text) <= columns) return std::string(text);
  const std::string_view mark = ascii ? "..." : "…";
  int left = columns - Width(mark);
  if (left < 0) return std::string(static_cast<std::size_t>(std::max(columns, 0)), '.');
  std::string kept;
  while (!text.empty()) {
    const Letter letter = FirstLetter(text);
    left -= LetterWidth(letter.code);
    if (left < 0) break;
    kept += text.substr(0, letter.bytes);
    text.remove_prefix(letter.bytes);
  }
  return kept + std::string(mark);
}

std::string FitTinted(std::string_view text, int columns, bool ascii) {
  if (Width(text) <= columns) return std::string(text);
  const std::string_view mark = ascii ? "..." : "…";
  int left = columns - Width(mark);
  std::string kept;
  while (!text.empty()) {
    if (const std::size_t escape = EscapeLength(text); escape > 0) {
      kept += text.substr(0, escape);
      text.remove_prefix(escape);
      continue;
    }
    const Letter letter = FirstLetter(text);
    left -= LetterWidth(letter.code);
    if (left < 0) break;
    kept += text.substr(0, letter.bytes);
    text.remove_prefix(letter.bytes);
  }
  return kept + std::string(mark) + "\x1b[0m";
}

std::string Pad(std::string_view text, int columns) {
  std::string padded(text);
  const int missing = columns - Width(text);
  if (missing > 0) padded.append(static_cast<std::size_t>(missing), ' ');
  return padded;
}

std::string Plain(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    if (const std::size_t escape = EscapeLength(text); escape > 0) {
      text.remove_prefix(escape);
      continue;
    }
    const Letter letter = FirstLetter(text);
    const bool control = letter.code < 0x20 || (letter.code >= 0x7f && letter.code < 0xa0);
    plain += control ? std::string(" ") : std::string(text.substr(0, letter.bytes));
    text.remove_prefix(letter.bytes);
  }
  return plain;
}

std::string Bar(int permille, int columns, bool ascii) {
  static constexpr const char* kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const int share = std::clamp(permille, 0, 1000);
  if (ascii) {
    const int full = (share * columns + 500) / 1000;
    return std::string(static_cast<std::size_t>(full), '#') +
           std::string(static_cast<std::size_t>(columns - full), '.');
  }
  const int eighths = share * columns * 8 / 1000;
  std::string bar;
  for (int i = 0; i < eighths / 8; ++i) bar += "█";
  int drawn = eighths / 8;
  if (eighths % 8 != 0) {
    bar += kEighths[eighths % 8];
    ++drawn;
  }
  return bar + std::string(static_cast<std::size_t>(columns - drawn), ' ');
}

std::string Table::Text(const Screen& screen) const {
  std::vector<int> widths(headings.size(), 0);
  if (screen.header) {
    for (std::size_t i = 0; i < headings.size(); ++i) widths[i] = Width(headings[i]);
  }
  std::vector<std::vector<Cell>> plain = rows;
  for (auto& row : plain) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i].text = Plain(row[i].text);
      widths[i] = std::max(widths[i], Width(row[i].text));
    }
  }
  int before_last = 0;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) before_last += widths[i] + 2;
  const int room = std::max(screen.columns - before_last, 8);

  std::string text;
  const auto add_row = [&](const std::vector<Cell>& row) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool last = i + 1 == row.size();
      const std::string shown =
          last && screen.out_is_terminal ? Fit(row[i].text, room, screen.ascii) : row[i].text;
      line += screen.Out(row[i].tint, shown);
      if (!last) {
        line.append(static_cast<std::size_t>(widths[i] - Width(row[i].text) + 2), ' ');
      }
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  if (screen.header && !headings.empty()) {
    std::vector<Cell> titles;
    titles.reserve(headings.size());
    for (const std::string& heading : headings) titles.push_back({heading, Tint::kBold});
    add_row(titles);
  }
  for (const auto& row : plain) add_row(row);
  return text;
}

}  // namespace pondage::terminal
