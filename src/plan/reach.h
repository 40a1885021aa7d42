// What a gang could use, whatever is free: machines and GPUs of them; and whether two gangs could
// want the same.
//
// Numbered, so that what two of them share is worked out once. Good for one set of machines;
// single-threaded.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "plan/ground.h"

namespace pondage::plan {

using ReachId = std::int32_t;

class Reaches {
 public:
  explicit Reaches(Ground& ground) : ground_(ground) {}

  ReachId Of(const Form& form);

  struct Shared {
    bool gpus = false;      // some GPU would do for both
    bool machines = false;  // some machine would
  };
  Shared SharedBy(ReachId a, ReachId b);

 private:
  // Of members of one demand. Machines whose labels and size let one in.
  struct Part {
    fleet::NodeSet machines;
    bool gpus = false;
    std::vector<std::int32_t> types;  // ascending; empty: all
    auto operator<=>(const Part&) const = default;
  };
  using Reach = std::vector<Part>;  // ascending, each once

  Shared WorkOut(const Part& a, const Part& b);

  Ground& ground_;
  std::map<Reach, ReachId> numbers_;
  std::vector<const Reach*> reaches_;
  std::map<std::pair<ReachId, ReachId>, Shared> shared_;
};

}  // namespace pondage::plan
