// How text looks on the screen it goes to: colour, width in columns, language, plain letters.
//
// Values; Screen is made once at the start from flags, environment and the two streams.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "phrase/phrase.h"

namespace pondage::terminal {

using phrase::Language;
enum class Format { kTable, kWide, kJson, kYaml, kCsv, kName };

// What the rules below look at, so that they can be tested without a terminal.
struct Surroundings {
  std::map<std::string, std::string, std::less<>> environment;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  bool in_is_terminal = false;
  int columns = 80;

  static Surroundings OfThisProcess();
  std::string Variable(std::string_view name) const;  // empty when unset
};

// --color always|never > NO_COLOR > CLICOLOR_FORCE, FORCE_COLOR > TERM=dumb > is it a terminal.
bool WantsColour(std::string_view flag, const Surroundings& around, bool is_terminal);

// Whether the locale's character set is UTF-8 (LC_ALL, LC_CTYPE, LANG: the first that is set).
bool IsUtf8(const Surroundings& around);

// PONDAGE_LANG, else LC_ALL, LC_MESSAGES, LANG; `zh...` is Chinese.
Language LanguageOf(std::string_view flag, const Surroundings& around);

enum class Tint { kNone, kBold, kDim, kRed, kGreen, kYellow, kBlue, kMagenta, kCyan };

struct Screen {
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  bool in_is_terminal = false;
  bool colour_out = false;
  bool colour_err = false;
  bool ascii = false;
  int columns = 80;
  Language language = Language::kEnglish;
  Format format = Format::kTable;
  bool header = true;
  bool quiet = false;
  bool verbose = false;  // what the server is asked is told

  // The text in the viewer's language.
  const char* Pick(const char* english, const char* chinese) const {
    return language == Language::kChinese ? chinese : english;
  }
  // A heading or state in the viewer's language.
  std::string Word(std::string_view english) const {
    return std::string(phrase::Word(english, language));
  }
  std::string Out(Tint tint, std::string_view text) const;  // tinted for stdout
  std::string Err(Tint tint, std::string_view text) const;  // tinted for stderr
};

// Columns the text takes on a terminal: East Asian wide characters take two, combining ones none,
// escape sequences none.
int Width(std::string_view text);

// The text cut so that it takes at most `columns`, with a mark where something was cut off.
std::string Fit(std::string_view text, int columns, bool ascii);

// The same for text with escape sequences in it: they are kept, and ended where something was cut
// off.
std::string FitTinted(std::string_view text, int columns, bool ascii);

// The text with spaces behind it up to `columns`.
std::string Pad(std::string_view text, int columns);

// The text without control characters and escape sequences: what others wrote must not steer the
// terminal.
std::string Plain(std::string_view text);

// A bar of `columns` columns of which `permille` is filled.
std::string Bar(int permille, int columns, bool ascii);

struct Cell {
  std::string text;
  Tint tint = Tint::kNone;
};

// Rows under headings, columns as wide as their widest cell. On a terminal the last column is cut
// so that no row wraps; elsewhere nothing is shortened.
struct Table {
  std::vector<std::string> headings;
  std::vector<std::vector<Cell>> rows;

  std::string Text(const Screen& screen) const;
};

}  // namespace pondage::terminal
