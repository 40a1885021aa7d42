#include "plan/sentence.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <vector>

namespace pondage::plan {
namespace {

// Cores to a tenth, memory to a mebibyte: what is asked is rounded up, what there is down, so that
// the sentence never says that 4 of 4 are too few.
std::string Amount(const std::string& resource, std::int64_t value, bool up) {
  constexpr std::int64_t kMebi = std::int64_t{1} << 20;
  if (resource == "cpu") {
    const std::int64_t tenths = value / 100 + (up && value % 100 != 0 ? 1 : 0);
    return tenths % 10 == 0 ? fmt::format("{}", tenths / 10)
                            : fmt::format("{}.{}", tenths / 10, tenths % 10);
  }
  if (resource == "memory") {
    const std::int64_t mebi = value / kMebi + (up && value % kMebi != 0 ? 1 : 0);
    return mebi % 1024 == 0 ? fmt::format("{} GiB", mebi / 1024) : fmt::format("{} MiB", mebi);
  }
  return fmt::format("{}", value);
}

std::string Utc(base::Instant at) {
  const std::chrono::sys_time<std::chrono::milliseconds> time{
      std::chrono::milliseconds(at.unix_ms)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::seconds>(time - day));
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02} UTC", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

std::string Names(const std::vector<base::JobId>& jobs, const NameOf& name_of, bool more) {
  std::string names;
  for (const base::JobId job : jobs) {
    const std::string name = name_of(job);
    if (!name.empty()) names += (names.empty() ? "" : ", ") + name;
  }
  return names.empty() || !more ? names : names + ", ...";
}

}  // namespace

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
    case Constraint::kReserved:
      return "reserved";
    case Constraint::kIncomplete:
      return "incomplete";
    case Constraint::kThrottled:
      return "throttled";
    case Constraint::kAbsent:
      return "absent";
  }
  return "";
}

phrase::Values Facts(const Refusal& refusal, const NameOf& name_of) {
  const std::string& resource = refusal.resource;
  phrase::Values values{
      {"need", Amount(resource, refusal.need, true)},
      {"have", Amount(resource, refusal.have, false)},
      {"block", Amount(resource, refusal.block, false)},
      {"limit", std::to_string(refusal.limit)},
      {"used", std::to_string(refusal.used)},
      {"where", refusal.where},
      {"what", refusal.what},
      {"ahead_count", std::to_string(refusal.ahead_count)},
  };
  // One member that needs it all is said otherwise than several that need some of it together.
  if (refusal.block_need > 0 && refusal.block_need == refusal.need) {
    if (refusal.need > 1) values["single"] = "yes";
  } else if (refusal.block_need > 1) {
    values["block_need"] = Amount(resource, refusal.block_need, true);
  }
  if (refusal.need > refusal.have) {
    values["missing"] = Amount(resource, refusal.need - refusal.have, true);
  }
  if (refusal.until) values["until"] = Utc(*refusal.until);
  const auto shown = static_cast<int>(refusal.ahead.size());
  values["ahead"] = Names(refusal.ahead, name_of, refusal.ahead_count > shown);
  values["holders"] = Names(refusal.holders, name_of, false);
  for (const std::string& type : refusal.present) {
    values["present"] += (values["present"].empty() ? "" : ", ") + type;
  }
  return values;
}

std::string Sentence(const Refusal& refusal, phrase::Language language, const NameOf& name_of) {
  std::string sentence = phrase::Text(refusal.id, language, Facts(refusal, name_of));
  if (!refusal.proven) sentence += phrase::Text("PND-Q020", language, {});
  return sentence;
}

std::string Sentence(const Refusal& refusal) {
  return Sentence(refusal, phrase::Language::kEnglish, [](base::JobId) { return std::string(); });
}

}  // namespace pondage::plan
