// Where a plain policy puts what it starts, on machines of any kind: GPUs whole or in parts, of
// types, with cores and memory.
//
// Pure, and on its own: it shares nothing with the planner that it is compared with. Two ways:
//   best fit  the machine where least is left: free GPUs and cores after it, each over the largest
//             of any machine, added
//   FGD       fragmentation gradient descent (Weng et al., "Beware of Fragmentation", USENIX ATC
//             '23): a machine's free GPUs count as lost to a typical task as far as it cannot use
//             them; the machine where this, over all typical tasks, grows least. As the authors'
//             program does it, gradients are rounded to 100 steps of a sigmoid, by which far more
//             machines are equal: that is worth a point of the GPUs
// Of equal machines best fit takes the first, FGD the last. A part of a GPU goes onto the GPU where
// least is left, or the loss grows least.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace pondage::baseline {

enum class Placing : std::uint8_t { kBestFit, kFgd };

// "bestfit" "fgd".
std::optional<Placing> PlacingOf(std::string_view name);

struct Machine {
  int gpus = 0;
  int type = 0;  // of its GPUs, a number of the caller's
  std::int64_t cpu_milli = 0;
  std::int64_t memory = 0;
};

// `count` equal members of a gang. Whole GPUs, or a part of one.
struct Member {
  int count = 1;
  int gpus = 0;
  int part_milli = 0;  // > 0: instead of `gpus`
  std::int64_t cpu_milli = 0;
  std::int64_t memory = 0;
  std::vector<int> types;  // ascending; empty: any

  auto operator<=>(const Member&) const = default;
};

// What one member holds.
struct Seat {
  int machine = 0;
  std::vector<int> gpus;
  int milli_each = 0;
  std::int64_t cpu_milli = 0;
  std::int64_t memory = 0;
};

// For FGD: a member, and which share of all it is. Memory does not count.
struct TypicalMember {
  Member member;
  double share = 0;
};
// The most frequent ones that make up 95 % of all.
std::vector<TypicalMember> TypicalOf(const std::vector<Member>& members);

class Placer {
 public:
  Placer(std::vector<Machine> machines, Placing placing, std::vector<TypicalMember> typical = {});

  // All members or nothing: empty then. Requires at least one member.
  std::vector<Seat> Take(const std::vector<Member>& gang);
  void Give(const std::vector<Seat>& seats);

  std::int64_t held_milli_gpu() const { return held_milli_; }

 private:
  struct State {
    Machine machine;
    std::vector<int> free;  // milli of each GPU
    std::int64_t cpu_milli = 0, memory = 0;
    std::uint32_t version = 1;
  };
  struct Choice {
    std::uint32_t version = 0;  // of the machine's state that it is about
    bool fits = false;
    int gpu = -1;  // for a part
    double cost = 0;
  };

  std::optional<Seat> TakeOne(const Member& member);
  Choice Look(const State& state, const Member& member) const;
  double Cost(const State& before, const State& after) const;
  double Lost(const State& state) const;

  Placing placing_;
  std::vector<TypicalMember> typical_;
  std::vector<State> states_;
  double most_gpus_ = 1, most_cpu_ = 1;          // of any machine
  std::map<Member, std::vector<Choice>> known_;  // by machine, as of its version
  std::int64_t held_milli_ = 0;
};

}  // namespace pondage::baseline
