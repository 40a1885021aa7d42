#include "terminal/trouble.h"

#include <fmt/core.h>

#include <algorithm>

#include "phrase/phrase.h"
#include "terminal/text.h"

namespace pondage::terminal {

int ExitCodeOf(const base::Error& error) {
  if (error.id == "PND-C006") return kTimedOut;
  if (error.id == "PND-C015") return kNotAllowed;
  if (error.id == "PND-C003") return kUsage;
  if (error.id == "PND-C024") return kNegative;
  switch (error.kind) {
    case base::Kind::kNotFound:
      return kNotFound;
    case base::Kind::kForbidden:
      return kNotAllowed;
    case base::Kind::kUnavailable:
    case base::Kind::kCorrupt:
      return kNotReached;
    case base::Kind::kAlreadyExists:
    case base::Kind::kConflict:
    case base::Kind::kExpired:
      return kConflict;
    case base::Kind::kInvalid:
      return kUsage;
  }
  return kUsage;
}

namespace {

void Replace(std::string& text, std::string_view word, std::string_view with) {
  const std::size_t at = text.find(word);
  if (at != std::string::npos && !with.empty()) text.replace(at, word.size(), with);
}

// The value that a server's message calls invalid.
std::string_view InvalidValue(std::string_view message) {
  constexpr std::string_view kBefore = "Invalid value: \"";
  const std::size_t at = message.find(kBefore);
  if (at == std::string_view::npos) return {};
  message.remove_prefix(at + kBefore.size());
  return message.substr(0, message.find('"'));
}

}  // namespace

std::string TroubleText(const base::Error& error, const Screen& screen) {
  const phrase::Message* message = phrase::Find(error.id);
  auto lines = Split(error.message, '\n');
  // What was found is told in English; what it means, in the viewer's language, comes first.
  const bool plain =
      std::ranges::all_of(lines[0], [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  if (screen.language == Language::kChinese && message != nullptr && plain) {
    lines.insert(lines.begin(), std::string(message->title.chinese));
  }
  const std::string label = screen.Pick("error", "错误");
  std::string text = fmt::format(
      "{}: {}\n", screen.Err(Tint::kRed, error.id.empty() ? label : label + " " + error.id),
      Plain(lines[0]));
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (!lines[i].empty()) text += "  " + Plain(lines[i]) + "\n";
  }
  if (error.id.empty()) return text;
  const std::string page = fmt::format("{}: pondage man {}", screen.Pick("docs", "说明"), error.id);
  std::string step(message == nullptr ? "" : message->next.In(screen.language));
  if (step.empty()) return text + "  (" + page + ")\n";
  // What to type, with the thing's own name in it.
  const std::string_view object = error.object.contains('/') ? "" : std::string_view(error.object);
  Replace(step, "JOB", object);
  Replace(step, "QUEUE", object);
  Replace(step, "IMAGE", InvalidValue(error.message));
  return text + fmt::format("  {}: {}      ({})\n", screen.Pick("try", "试试"), step, page);
}

}  // namespace pondage::terminal
