// What placing members on a machine loses of the future's room.
//
// Pure but for what it remembers: each (state, demand, count) is worked out once. The idea is that
// of FGD (Weng et al., "Beware of Fragmentation", USENIX ATC '23): a machine's free GPUs count as
// lost as far as what is typically asked cannot use them, and a member goes where this grows least.
// Two terms are ours: GPUs that would be left without cores or memory count in part, and GPUs of a
// type that few machines have and many insist on have a price.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "fleet/states.h"
#include "fleet/view.h"
#include "plan/policy.h"

namespace pondage::plan {

// What is asked, and how often.
struct Typical {
  fleet::Demand demand;
  std::int64_t weight = 1;
};

class Lost {
 public:
  Lost(fleet::States& states, const Policy& policy);

  // Until told otherwise: 1, 2, 4 and 8 whole GPUs alike. CPU-only demands count nothing.
  void Expect(const std::vector<Typical>& typical);

  // The machines changed: prices anew. `empty`: as if nothing ran.
  void Supply(const fleet::View& empty);

  // All states got other numbers.
  void Clear();

  struct Cost {
    std::int64_t lost = 0;  // less is better
    int gpu = -1;           // the best one for a part of a GPU
  };
  // Of `members` of this demand together. Requires that so many fit.
  Cost Of(fleet::StateId state, fleet::DemandId demand, int members);

 private:
  struct Class {
    std::int64_t weight = 0;  // of kTotal
    fleet::DemandId demand = 0;
    int gpus = 0;
    int milli = 0;  // of each
    std::int64_t cpu = 0;
    std::int64_t memory = 0;
  };

  Cost WorkOut(fleet::StateId state, fleet::DemandId demand, int members);
  Cost Part(const fleet::Free& free, std::int64_t before, fleet::DemandId demand) const;
  std::int64_t Before(fleet::StateId state);
  std::int64_t Unusable(const fleet::Free& free) const;
  std::int64_t UnusableFor(const fleet::Free& free, const Class& asked) const;
  std::int64_t Price(const fleet::Free& free, std::size_t gpu, int milli) const;

  fleet::States& states_;
  Policy policy_;
  std::vector<Class> classes_;
  std::vector<std::int64_t> prices_;  // by type, of kTotal for each milli
  std::size_t known_ = 0;             // costs remembered, of all demands
  std::map<std::pair<fleet::DemandId, int>, std::vector<Cost>> costs_;  // by state; gpu -2: not yet
  std::vector<std::int64_t> before_;                                    // by state; -1: not yet
};

}  // namespace pondage::plan
