// What will be free when, if everybody uses his whole time.
//
// Made once a cycle, from the hard limits of what runs; starts and reservations are entered in the
// order of the line. A job without a limit holds what it has for ever here. Single-threaded.
// Invariants:
//   1. A machine's steps have rising times; the first is what is free now.
//   2. A row names exactly the machines that have a step at its time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "base/instant.h"
#include "plan/ground.h"
#include "plan/place.h"

namespace pondage::plan {

struct Reservation {
  base::Instant at;
  std::vector<Seat> seats;  // exact GPUs
  bool told = false;        // the host was told of it as it is
};

class Calendar {
 public:
  Calendar(Ground& ground, const std::map<base::JobId, Holding>& holdings, base::Instant now);

  // What is held now is free again from `at` on.
  void Leave(const std::vector<Seat>& seats, base::Instant at);

  // They are held from `from` until `to`, which may be kNever.
  void Enter(const std::vector<Seat>& seats, base::Instant from, base::Instant to);

  // Keeps from everybody else, for nobody knows how long, what a member of `demand` could use of
  // the machine; `whole`: all of it. Returns whether something is left that might still be given.
  bool Close(std::size_t node, fleet::DemandId demand, bool whole);

  // The machine is out of service from `from` until `to`.
  void Close(std::size_t node, base::Instant from, base::Instant to);

  // The first instant from now on and before `before` at which the gang fits for all of its time.
  std::optional<Reservation> Find(const Form& form, std::optional<base::Millis> limit, Lost& lost,
                                  base::Instant before = base::kNever);

  // Whether these very GPUs are free then, for all of its time.
  bool IsFree(const Reservation& reservation, base::Instant from,
              std::optional<base::Millis> limit);

  // What is free on a machine all through from `from` until `to`.
  fleet::StateId Through(std::size_t node, base::Instant from, base::Instant to);

  // What is free now stands a moment before now: who is over his time goes now.
  base::Instant at_once() const { return now_ - base::Millis{1}; }

 private:
  struct Step {
    base::Instant at;
    fleet::StateId state = fleet::kOut;
  };
  struct Change {
    std::int32_t node = 0;
    fleet::StateId state = fleet::kOut;
  };
  struct Row {
    base::Instant at;
    std::vector<Change> changes;
  };
  // How many members of a part every machine takes; `sum` over machines.
  struct Count {
    std::vector<std::int16_t> members;
    std::int64_t sum = 0;
  };
  // A part whose members are counted through the rows.
  struct Counted {
    const NumberedPart& part;
    const fleet::NodeSet* allowed;  // null: everywhere
    Count count;
  };
  struct Taken {  // off a count, to be put back
    std::size_t part = 0;
    std::size_t node = 0;
    std::int16_t members = 0;
  };

  void Release(const Holding& holding, base::Instant at);
  void Split(std::size_t node, base::Instant at);
  void Write(std::size_t node, base::Instant at, fleet::StateId state);
  Row& RowAt(base::Instant at);
  int Capacity(const Change& change, fleet::DemandId demand, const fleet::NodeSet* allowed);
  void Put(Count& count, const Change& change, fleet::DemandId demand,
           const fleet::NodeSet* allowed);
  const Count& AtOnce(fleet::DemandId demand);
  bool FitsThrough(std::size_t row, base::Instant to, std::vector<Counted>& parts);
  std::optional<std::vector<Seat>> Seats(const Form& form, const Count& count, base::Instant from,
                                         base::Instant to, Lost& lost);
  std::optional<std::vector<Seat>> Choose(const NumberedPart& part, const Count& count,
                                          base::Instant from, base::Instant to);

  Ground& ground_;
  base::Instant now_;
  std::vector<std::vector<Step>> steps_;      // by machine
  std::vector<Row> rows_;                     // by time
  std::map<fleet::DemandId, Count> at_once_;  // what demands find now
  std::vector<Taken> taken_;                  // by FitsThrough
};

}  // namespace pondage::plan
