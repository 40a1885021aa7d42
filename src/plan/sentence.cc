#include <fmt/format.h>

#include "plan/plan.h"

namespace pondage::plan {

const char* ConstraintName(Constraint constraint) {
  switch (constraint) {
    case Constraint::kNever:
      return "never";
    case Constraint::kLimit:
      return "limit";
    case Constraint::kBusy:
      return "busy";
    case Constraint::kFragmented:
      return "fragmented";
    case Constraint::kOrder:
      return "order";
    case Constraint::kHeld:
      return "held";
    case Constraint::kNoQueue:
      return "noqueue";
    case Constraint::kUnhealthy:
      return "unhealthy";
    case Constraint::kIncomplete:
      return "incomplete";
  }
  return "";
}

std::string Sentence(const Refusal& refusal) {
  return fmt::format("{}: needs {}, {} free", ConstraintName(refusal.constraint), refusal.need,
                     refusal.have);
}

}  // namespace pondage::plan
