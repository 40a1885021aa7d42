// One walk through the waiting line: starts who may start, keeps for the others what they wait for.
//
// Made by the planner for each cycle that something happened before; single-threaded. It works on
// the planner's own state and takes back all it tried, save the cohorts' verdicts.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "plan/calendar.h"
#include "plan/ground.h"
#include "plan/line.h"
#include "plan/lost.h"
#include "plan/plan.h"

namespace pondage::plan {

// What a cycle works on.
struct Desk {
  const Policy& policy;
  queue::Tree& queues;  // starts are charged, and taken back at the end
  Ground& ground;
  Line& line;
  Lost& lost;
  const std::map<base::JobId, Holding>& holdings;
  std::map<base::JobId, Reservation>& reservations;  // of the cycle before; becomes this one's
  const std::set<base::JobId>& fresh;                // asked since the cycle before
  const std::vector<Outage>& outages;
  const std::map<std::string, int>& arrays;  // of each, jobs that run
  bool quiet = false;                        // a trial: nobody is told a verdict
};

class Cycle {
 public:
  Cycle(Desk desk, base::Instant now);
  ~Cycle();
  Cycle(const Cycle&) = delete;
  Cycle& operator=(const Cycle&) = delete;

  Plan Run();

 private:
  struct Started {
    const Ask* ask = nullptr;
    std::vector<Seat> seats;
    base::MilliGpu charge;
    std::optional<base::Millis> limit;
  };

  void Offer(Cohort& cohort);
  bool MayStart(Cohort& cohort, const Form& form);
  bool PassesLimits(Cohort& cohort, const Form& form);
  std::optional<queue::Over> OverUserLimit(const Cohort& cohort, const Form& form) const;
  Found Try(const Form& form, std::optional<base::Millis> limit);
  void Look(std::optional<base::Millis> limit);
  void Show(std::size_t node);
  Found TryShorter(const Ask& ask, const Form& form, std::optional<base::Millis>& limit);
  bool IsThrottled(const Cohort& cohort) const;
  bool IsHeldBack(const Cohort& cohort, const Form& form) const;
  void Start(Cohort& cohort, const Ask& ask, const Form& form, std::vector<Seat> seats,
             std::optional<base::Millis> limit);
  bool Reserve(const Ask& ask, const Form& form);
  std::optional<Reservation> Slot(const Ask& ask, const Form& form);
  std::optional<base::Millis> LimitOf(const Ask& ask) const;
  void KeepForUnknownTime(Cohort& cohort, const Form& form);
  void OpenCalendar();
  void Say();
  Verdict VerdictOf(const Cohort& cohort);
  Verdict RoomFor(ShapeId shape);

  Desk desk_;
  base::Instant now_;
  std::size_t mark_;
  Plan plan_;
  std::vector<Started> started_;
  std::map<std::pair<std::string, std::string>, base::MilliGpu> user_started_;  // queue, user
  std::map<std::string, int> of_array_;  // that run, with those started
  std::vector<base::JobId> starts_;      // ascending
  std::map<base::JobId, Reservation> reservations_;
  // Whether the search was complete. Room only shrinks: once failed, failed for this cycle.
  std::map<std::pair<ShapeId, std::optional<base::Millis>>, bool> failed_;
  std::set<std::string, std::less<>> full_levels_;  // an earlier gang waits for room under them
  std::optional<Calendar> calendar_;                // made when the first gang must wait
  std::optional<fleet::View> open_;                 // what a gang that ends by `shown_` may use
  base::Instant shown_ = base::kNever;
  std::set<std::size_t> promised_;  // machines whose calendar says more than now() does
  // Machines of which GPUs, or anything, might still be given to later gangs.
  std::vector<std::size_t> with_gpus_;
  std::vector<std::size_t> with_any_;
  std::map<ShapeId, bool> kept_;  // for these shapes for unknown time; whole machines or not
  std::map<std::string, std::vector<ShapeId>> strict_;  // who waits in a strict queue
  std::map<ShapeId, Verdict> room_;                     // after all starts
  bool blocked_ = false;                                // Backfill::kLine: somebody waits
};

// Fits the shape on an empty fleet? Writes what is known of it into the form.
void Judge(Ground& ground, Form& form);

}  // namespace pondage::plan
