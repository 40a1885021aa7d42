#include "terminal/trouble.h"

#include <fmt/core.h>

#include "phrase/phrase.h"
#include "terminal/text.h"

namespace pondage::terminal {

int ExitCodeOf(const base::Error& error) {
  if (error.id == "PND-C006") return kTimedOut;
  if (error.id == "PND-C015") return kNotAllowed;
  if (error.id == "PND-C003") return kUsage;
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

std::string TroubleText(const base::Error& error, const Screen& screen) {
  const auto lines = Split(error.message, '\n');
  const std::string label = screen.Pick("error", "错误");
  std::string text = fmt::format(
      "{}: {}\n", screen.Err(Tint::kRed, error.id.empty() ? label : label + " " + error.id),
      Plain(lines[0]));
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (!lines[i].empty()) text += "  " + Plain(lines[i]) + "\n";
  }
  if (error.id.empty()) return text;
  const phrase::Message* message = phrase::Find(error.id);
  const std::string_view next =
      message == nullptr ? std::string_view() : message->next.In(screen.language);
  const std::string page = fmt::format("{}: pondage man {}", screen.Pick("docs", "说明"), error.id);
  if (next.empty()) return text + "  (" + page + ")\n";
  std::string step(next);
  const std::size_t job = step.find("JOB");
  if (job != std::string::npos && !error.object.empty() && !error.object.contains('/')) {
    step.replace(job, 3, error.object);
  }
  return text + fmt::format("  {}: {}      ({})\n", screen.Pick("try", "试试"), step, page);
}

}  // namespace pondage::terminal
