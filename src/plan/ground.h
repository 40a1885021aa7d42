// The fleet and the shapes as the planner works on them: numbered, with what is free at a glance.
//
// Owned by the planner, single-threaded; follows the fleet machine by machine. Invariants:
//   1. Machines are numbered in the order of their names.
//   2. Between cycles now() is what the fleet says is free; a cycle undoes what it tried.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/view.h"
#include "plan/shape.h"

namespace pondage::plan {

using ShapeId = std::int32_t;

struct NumberedPart {
  fleet::DemandId demand = 0;
  int count = 0;
};

// A shape with what is known of it.
struct Form {
  const Shape* shape = nullptr;
  std::vector<NumberedPart> parts;
  std::int64_t gpus = 0;
  std::int64_t members = 0;
  int largest = 0;        // whole GPUs of the member that needs most
  base::MilliGpu charge;  // quota
  bool anywhere = true;   // no machine to avoid, no required level
  // On an empty fleet, as of `judged`.
  std::uint64_t judged = 0;
  bool ever = false;     // it fits at all
  bool healthy = false;  // ... without what is out of service
};

class Ground {
 public:
  Ground();
  Ground(const Ground&) = delete;
  Ground& operator=(const Ground&) = delete;

  // The set of machines, or what one of them is, changed; a grant on one changed.
  void Rebuild(const fleet::Fleet& fleet);
  void Refresh(const fleet::Place& place);

  std::size_t nodes() const { return places_.size(); }
  const fleet::Place& place(std::size_t node) const { return *places_[node]; }
  const std::string& name(std::size_t node) const { return names_[node]; }
  std::optional<std::size_t> Find(std::string_view name) const;

  fleet::States& states() { return states_; }
  const fleet::States& states() const { return states_; }
  fleet::View& now() { return *now_; }
  fleet::View& healthy() { return *healthy_; }        // as if nothing ran
  fleet::View& all() { return *all_; }                // ... and nothing was broken
  std::uint64_t version() const { return version_; }  // grows with each Rebuild

  ShapeId Number(const Shape& shape);
  Form& Of(ShapeId shape) { return forms_[static_cast<std::size_t>(shape)]; }

  // Machines whose labels and taints let the demand in. Null: all.
  const fleet::NodeSet* Allowed(fleet::DemandId demand);

  // Machines that the gang does not avoid.
  fleet::NodeSet Welcoming(const Form& form) const;
  // The domains of a level, by name. Machines without the label are in none.
  const std::map<std::string, fleet::NodeSet>& Domains(const std::string& level);

 private:
  struct Welcome {
    std::uint64_t version = 0;
    bool all = true;
    fleet::NodeSet nodes;
  };

  fleet::States states_;
  std::vector<const fleet::Place*> places_;
  std::vector<std::string> names_;
  std::optional<fleet::View> now_;
  std::optional<fleet::View> healthy_;
  std::optional<fleet::View> all_;
  bool tainted_ = false;  // some machine is
  std::uint64_t version_ = 0;
  std::map<Shape, ShapeId> numbers_;
  std::deque<Form> forms_;  // stay where they are
  std::vector<Welcome> welcome_;
  std::map<std::string, std::map<std::string, fleet::NodeSet>> domains_;  // by level
};

}  // namespace pondage::plan
