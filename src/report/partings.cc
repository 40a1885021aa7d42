#include "report/partings.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

namespace pondage::report {

namespace {

struct Event {
  Deed::What what = Deed::What::kStarts;
  base::Instant at;
  const Stay* stay = nullptr;
};

std::vector<Event> EventsOf(const Job& job) {
  std::vector<Event> events;
  for (const Stay& stay : job.stays) {
    const bool last = &stay == &job.stays.back();
    events.push_back({Deed::What::kStarts, stay.from, &stay});
    const bool ends = last && (job.finished || job.cut);
    events.push_back({ends ? Deed::What::kEnds : Deed::What::kLeaves, stay.to, &stay});
  }
  return events;
}

// The same machines by another name are the same.
bool IsAlike(const Event& a, const Event& b, base::Millis tolerance) {
  const auto as_many = [](const Stay& one, const Stay& other) {
    return one.machines.empty() || other.machines.empty() ||
           one.machines.size() == other.machines.size();
  };
  const base::Millis apart = std::max(a.at, b.at) - std::min(a.at, b.at);
  return a.what == b.what && apart <= tolerance &&
         (a.what != Deed::What::kStarts || as_many(*a.stay, *b.stay));
}

// What happens at `at`, given the events that are still to come.
Deed DeedAt(base::Instant at, const std::vector<Event>& events, std::size_t next) {
  if (next == events.size()) {
    const bool waits = next == 0 || events.back().what == Deed::What::kLeaves;
    if (waits) return {};
    return {.what = Deed::What::kGone, .machines = events.back().stay->machines};
  }
  const Event& event = events[next];
  Deed deed{.what = event.what, .machines = event.stay->machines};
  if (event.at == at) return deed;
  deed.later = event.at;
  deed.what = event.what == Deed::What::kStarts ? Deed::What::kWaits : Deed::What::kRuns;
  return deed;
}

std::optional<Parting> PartingOf(const Job& a, const Job& b, base::Millis tolerance) {
  const std::vector<Event> of_a = EventsOf(a), of_b = EventsOf(b);
  std::size_t next = 0;
  while (next < of_a.size() && next < of_b.size() && IsAlike(of_a[next], of_b[next], tolerance))
    ++next;
  if (next == of_a.size() && next == of_b.size()) return std::nullopt;
  const auto at = [&](const std::vector<Event>& events) {
    return next < events.size() ? events[next].at : base::kNever;
  };
  const base::Instant first = std::min(at(of_a), at(of_b));
  return Parting{first, a.name, a.gpu, DeedAt(first, of_a, next), DeedAt(first, of_b, next)};
}

}  // namespace

std::vector<Parting> Partings(const Run& a, const Run& b, base::Millis tolerance) {
  std::map<std::string_view, const Job*> in_b;
  for (const Job& job : b.jobs) in_b[job.name] = &job;
  std::vector<Parting> partings;
  for (const Job& job : a.jobs) {
    const auto other = in_b.find(job.name);
    if (other == in_b.end()) continue;
    if (auto parting = PartingOf(job, *other->second, tolerance))
      partings.push_back(*std::move(parting));
  }
  std::ranges::stable_sort(partings, {}, &Parting::at);
  return partings;
}

Crowd CrowdAt(const Run& run, base::Instant at, const std::string& name) {
  Crowd crowd;
  base::MilliGpu held;
  bool is_before = true;
  for (const Job& job : run.jobs) {
    is_before = is_before && job.name != name;
    if (job.submit > at) continue;
    const bool runs = std::ranges::any_of(
        job.stays, [&](const Stay& stay) { return stay.from <= at && at < stay.to; });
    if (runs) held += job.gpu;
    const bool is_over =
        !job.stays.empty() && (job.finished || job.cut) && job.stays.back().to <= at;
    if (runs || is_over || !is_before) continue;
    if (++crowd.ahead > 1) continue;
    crowd.first = job.name;
    crowd.first_gpus = static_cast<double>(job.gpu.value) / 1'000;
  }
  crowd.free_gpus = static_cast<double>((run.gpu - held).value) / 1'000;
  return crowd;
}

}  // namespace pondage::report
