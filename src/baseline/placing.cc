#include "baseline/placing.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "base/assert.h"

namespace pondage::baseline {

namespace {

constexpr int kWhole = 1'000;
constexpr std::int64_t kTypicalPercent = 95;

bool IsAllowed(const Member& member, const Machine& machine) {
  return member.types.empty() || std::ranges::binary_search(member.types, machine.type);
}

int Each(const Member& member) {
  return member.part_milli > 0 ? member.part_milli : kWhole;
}
int Count(const Member& member) {
  return member.part_milli > 0 ? 1 : member.gpus;
}

}  // namespace

std::optional<Placing> PlacingOf(std::string_view name) {
  if (name == "bestfit") return Placing::kBestFit;
  if (name == "fgd") return Placing::kFgd;
  return std::nullopt;
}

std::vector<TypicalMember> TypicalOf(const std::vector<Member>& members) {
  std::map<Member, std::int64_t> counts;
  std::int64_t all = 0;
  for (Member member : members) {
    const int count = std::exchange(member.count, 1);
    member.memory = 0;
    counts[member] += count;
    all += count;
  }
  std::vector<std::pair<std::int64_t, const Member*>> by_count;
  for (const auto& [member, count] : counts) by_count.emplace_back(count, &member);
  std::ranges::stable_sort(by_count, std::greater<>(), [](const auto& one) { return one.first; });
  std::vector<TypicalMember> typical;
  std::int64_t sum = 0;
  for (const auto& [count, member] : by_count) {
    if (sum * 100 >= all * kTypicalPercent) break;
    sum += count;
    typical.push_back({*member, static_cast<double>(count) / static_cast<double>(all)});
  }
  return typical;
}

Placer::Placer(std::vector<Machine> machines, Placing placing, std::vector<TypicalMember> typical)
    : placing_(placing), typical_(std::move(typical)) {
  for (const Machine& machine : machines) {
    most_gpus_ = std::max<double>(most_gpus_, kWhole * machine.gpus);
    most_cpu_ = std::max(most_cpu_, static_cast<double>(machine.cpu_milli));
    states_.push_back({machine, std::vector<int>(static_cast<std::size_t>(machine.gpus), kWhole),
                       machine.cpu_milli, machine.memory});
  }
}

std::vector<Seat> Placer::Take(const std::vector<Member>& gang) {
  std::vector<Seat> seats;
  for (const Member& member : gang) {
    for (int i = 0; i < member.count; ++i) {
      auto seat = TakeOne(member);
      if (!seat) {
        Give(seats);
        return {};
      }
      seats.push_back(*std::move(seat));
    }
  }
  return seats;
}

std::optional<Seat> Placer::TakeOne(const Member& member) {
  Member one = member;
  one.count = 1;
  std::vector<Choice>& known = known_[one];
  known.resize(states_.size());
  std::size_t best = states_.size();
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (known[i].version != states_[i].version) known[i] = Look(states_[i], one);
    if (!known[i].fits) continue;
    const bool is_better = best == states_.size() || known[i].cost < known[best].cost;
    const bool is_equal = !is_better && known[i].cost == known[best].cost;
    if (is_better || (is_equal && placing_ == Placing::kFgd)) best = i;
  }
  if (best == states_.size()) return std::nullopt;
  State& state = states_[best];
  Seat seat{.machine = static_cast<int>(best),
            .milli_each = Each(member),
            .cpu_milli = member.cpu_milli,
            .memory = member.memory};
  if (member.part_milli > 0) {
    seat.gpus.push_back(known[best].gpu);
  } else {
    for (std::size_t gpu = 0; static_cast<int>(seat.gpus.size()) < member.gpus; ++gpu) {
      if (state.free[gpu] == kWhole) seat.gpus.push_back(static_cast<int>(gpu));
    }
  }
  for (const int gpu : seat.gpus) state.free[static_cast<std::size_t>(gpu)] -= seat.milli_each;
  state.cpu_milli -= seat.cpu_milli;
  state.memory -= seat.memory;
  ++state.version;
  held_milli_ += seat.milli_each * static_cast<std::int64_t>(seat.gpus.size());
  return seat;
}

void Placer::Give(const std::vector<Seat>& seats) {
  for (const Seat& seat : seats) {
    State& state = states_[static_cast<std::size_t>(seat.machine)];
    for (const int gpu : seat.gpus) state.free[static_cast<std::size_t>(gpu)] += seat.milli_each;
    state.cpu_milli += seat.cpu_milli;
    state.memory += seat.memory;
    ++state.version;
    held_milli_ -= seat.milli_each * static_cast<std::int64_t>(seat.gpus.size());
  }
}

Placer::Choice Placer::Look(const State& state, const Member& member) const {
  Choice choice{.version = state.version};
  if (state.cpu_milli < member.cpu_milli || state.memory < member.memory) return choice;
  if (Count(member) > 0 && !IsAllowed(member, state.machine)) return choice;
  State after = state;
  after.cpu_milli -= member.cpu_milli;
  after.memory -= member.memory;
  if (member.part_milli == 0) {
    int left = member.gpus;
    for (int& free : after.free) {
      if (left > 0 && free == kWhole) --left, free = 0;
    }
    choice.fits = left == 0;
    if (choice.fits) choice.cost = Cost(state, after);
    return choice;
  }
  for (std::size_t gpu = 0; gpu < state.free.size(); ++gpu) {
    if (state.free[gpu] < member.part_milli) continue;
    after.free[gpu] -= member.part_milli;
    // Best fit looks at machines; of one machine's GPUs at what is left of each.
    const double cost = placing_ == Placing::kFgd ? Cost(state, after) : after.free[gpu];
    if (!choice.fits || cost < choice.cost) {
      choice = {state.version, true, static_cast<int>(gpu), cost};
    }
    after.free[gpu] += member.part_milli;
  }
  if (choice.fits && placing_ == Placing::kBestFit) {
    after.free[static_cast<std::size_t>(choice.gpu)] -= member.part_milli;
    choice.cost = Cost(state, after);
  }
  return choice;
}

double Placer::Cost(const State& before, const State& after) const {
  if (placing_ == Placing::kFgd) {
    constexpr int kSteps = 100;
    const double grows = (Lost(after) - Lost(before)) / kWhole;
    return -std::floor(kSteps / (1 + std::exp(grows)));
  }
  double free = 0;
  for (const int milli : after.free) free += milli;
  return free / most_gpus_ + static_cast<double>(after.cpu_milli) / most_cpu_;
}

// Milli-GPU that a typical task cannot use, on average: all that is free where it does not fit, or
// asks for none; else what is left on GPUs with too little.
double Placer::Lost(const State& state) const {
  const int all = std::accumulate(state.free.begin(), state.free.end(), 0);
  double lost = 0;
  for (const auto& [member, share] : typical_) {
    const int each = Each(member);
    int too_small = 0, enough = 0;
    for (const int free : state.free) {
      if (free < each) too_small += free;
      enough += free >= each ? 1 : 0;
    }
    const bool fits = Count(member) > 0 && enough >= Count(member) &&
                      member.cpu_milli <= state.cpu_milli && IsAllowed(member, state.machine);
    lost += share * (fits ? too_small : all);
  }
  return lost;
}

}  // namespace pondage::baseline
