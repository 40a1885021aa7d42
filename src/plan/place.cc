#include "plan/place.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace pondage::plan {
namespace {

// Machines looked at by the search for one mixed gang. Enough for every gang of up to five demands
// on a few machines; a bound for the rest.
constexpr std::int64_t kStepBudget = 200'000;

// The machines that a member may be on, of those in `within`; null: all.
class Mask {
 public:
  Mask(Ground& ground, fleet::DemandId demand, const fleet::NodeSet* within)
      : nodes_(ground.Allowed(demand)) {
    if (nodes_ != nullptr && within != nullptr) {
      both_ = *nodes_;
      both_.Cut(*within);
      nodes_ = &both_;
    } else if (within != nullptr) {
      nodes_ = within;
    }
  }
  Mask(const Mask&) = delete;
  Mask& operator=(const Mask&) = delete;

  const fleet::NodeSet* nodes() const { return nodes_; }
  bool Has(std::size_t node) const { return nodes_ == nullptr || nodes_->Has(node); }

 private:
  const fleet::NodeSet* nodes_;
  fleet::NodeSet both_;
};

// Members of the part that fit, counted up to `enough`.
std::int64_t RoomFor(Ground& ground, const fleet::View& view, const NumberedPart& part,
                     const fleet::NodeSet* within, std::int64_t enough) {
  const Mask mask(ground, part.demand, within);
  const fleet::NodeSet* allowed = mask.nodes();
  std::int64_t sum = 0;
  for (const fleet::StateId state : view.live()) {
    const int capacity = ground.states().Capacity(state, part.demand);
    if (capacity == 0) continue;
    const int nodes =
        allowed == nullptr ? view.CountOf(state) : fleet::CountIn(view.In(state), allowed);
    sum += std::int64_t{nodes} * capacity;
    if (sum >= enough) break;
  }
  return sum;
}

class Search {
 public:
  Search(Ground& ground, fleet::View& view, const Form& form, Lost& lost,
         const fleet::NodeSet* within)
      : ground_(ground),
        states_(ground.states()),
        view_(view),
        form_(form),
        lost_(lost),
        within_(within) {}

  bool Greedily();
  bool Exhaustively(bool& proven);
  std::vector<Seat> TakeSeats() { return std::move(seats_); }

 private:
  struct Spot {
    std::size_t node = 0;
    int members = 0;
  };

  bool SeatPart(const NumberedPart& part);
  Spot BestSpot(fleet::DemandId demand, const fleet::NodeSet* allowed, int wanted);
  void Sit(std::size_t node, fleet::DemandId demand);
  bool CanSit(std::size_t node, fleet::DemandId demand);
  void Reset(std::size_t mark);

  Ground& ground_;
  fleet::States& states_;
  fleet::View& view_;
  const Form& form_;
  Lost& lost_;
  const fleet::NodeSet* within_;  // null: everywhere
  std::vector<Seat> seats_;
};

// Among machines that take all that are wanted the one where least is lost, else the one that takes
// most. So a gang touches few machines and large blocks stay whole.
Search::Spot Search::BestSpot(fleet::DemandId demand, const fleet::NodeSet* allowed, int wanted) {
  Spot best;
  std::int64_t least = 0;
  for (const fleet::StateId state : view_.live()) {
    const int members = std::min(states_.Capacity(state, demand), wanted);
    if (members < std::max(1, best.members)) continue;
    const std::int64_t lost = lost_.Of(state, demand, members).lost;
    if (members == best.members && lost > least) continue;
    const auto node = fleet::FirstIn(view_.In(state), allowed);
    if (!node) continue;
    if (members == best.members && lost == least && *node > best.node) continue;
    best = {*node, members};
    least = lost;
  }
  return best;
}

bool Search::SeatPart(const NumberedPart& part) {
  const Mask mask(ground_, part.demand, within_);
  for (int wanted = part.count; wanted > 0;) {
    const Spot spot = BestSpot(part.demand, mask.nodes(), wanted);
    if (spot.members == 0) return false;
    for (int i = 0; i < spot.members; ++i) Sit(spot.node, part.demand);
    wanted -= spot.members;
  }
  return true;
}

void Search::Sit(std::size_t node, fleet::DemandId demand) {
  const fleet::StateId state = view_.At(node);
  Seat seat{node, demand, states_.PickFor(state, demand)};
  if (seat.pick.share > 0) {
    if (const int gpu = lost_.Of(state, demand, 1).gpu; gpu >= 0) {
      const std::int32_t kind = states_.Of(state).kind;
      seat.pick = {{gpu}, states_.PartOn(kind, static_cast<std::size_t>(gpu), demand)};
    }
  }
  view_.Set(node, states_.Take(state, demand, seat.pick));
  seats_.push_back(std::move(seat));
}

bool Search::Greedily() {
  const std::size_t mark = view_.Mark();
  seats_.reserve(static_cast<std::size_t>(form_.members));
  for (const NumberedPart& part : form_.parts) {
    if (SeatPart(part)) continue;
    view_.Undo(mark);
    seats_.clear();
    return false;
  }
  view_.Keep(mark);
  return true;
}

bool Search::CanSit(std::size_t node, fleet::DemandId demand) {
  if (states_.Capacity(view_.At(node), demand) == 0) return false;
  const fleet::NodeSet* allowed = ground_.Allowed(demand);
  return (allowed == nullptr || allowed->Has(node)) && (within_ == nullptr || within_->Has(node));
}

// Depth first over members; equal members stand on machines of rising number, so that no
// arrangement is tried twice under another name.
bool Search::Exhaustively(bool& proven) {
  std::vector<fleet::DemandId> members;
  for (const NumberedPart& part : form_.parts) {
    members.insert(members.end(), static_cast<std::size_t>(part.count), part.demand);
  }
  const std::size_t whole = view_.Mark();
  std::vector<std::size_t> marks;
  std::size_t from = 0;  // first machine to look at for the next member
  for (std::int64_t steps = 0; seats_.size() < members.size();) {
    const fleet::DemandId demand = members[seats_.size()];
    std::size_t node = from;
    while (node < view_.nodes() && ++steps <= kStepBudget && !CanSit(node, demand)) ++node;
    proven = steps <= kStepBudget;
    if (proven && node < view_.nodes()) {
      marks.push_back(view_.Mark());
      Sit(node, demand);
      const bool same_next = seats_.size() < members.size() && members[seats_.size()] == demand;
      from = same_next ? node : 0;
    } else if (!proven || seats_.empty()) {
      for (; !marks.empty(); marks.pop_back()) view_.Undo(marks.back());
      view_.Undo(whole);
      seats_.clear();
      return false;
    } else {
      from = seats_.back().node + 1;
      view_.Undo(marks.back());
      marks.pop_back();
      seats_.pop_back();
    }
  }
  for (; !marks.empty(); marks.pop_back()) view_.Keep(marks.back());
  view_.Keep(whole);
  return true;
}

}  // namespace

bool HasRoom(Ground& ground, const fleet::View& view, const Form& form,
             const fleet::NodeSet* within) {
  if (form.members > kMostMembers) return false;
  return std::ranges::all_of(form.parts, [&](const NumberedPart& part) {
    return RoomFor(ground, view, part, within, part.count) >= part.count;
  });
}

namespace {

Found PlaceWithin(Ground& ground, fleet::View& view, const Form& form, Lost& lost,
                  const fleet::NodeSet* within) {
  Found found;
  if (!HasRoom(ground, view, form, within)) return found;
  Search search(ground, view, form, lost, within);
  bool placed = search.Greedily();
  if (!placed && form.parts.size() > 1) placed = search.Exhaustively(found.proven);
  if (placed) found.seats = search.TakeSeats();
  return found;
}

// Domains with what they hold of the gang's largest part, the smallest first.
std::vector<std::pair<std::int64_t, fleet::NodeSet>> Sorted(Ground& ground, const fleet::View& view,
                                                            const Form& form,
                                                            const fleet::NodeSet& welcoming) {
  std::vector<std::pair<std::int64_t, fleet::NodeSet>> domains;
  for (const auto& [name, nodes] : ground.Domains(form.shape->topology.level)) {
    fleet::NodeSet here = nodes;
    here.Cut(welcoming);
    const std::int64_t room =
        RoomFor(ground, view, form.parts.front(), &here, std::int64_t{kMostMembers} * 1000);
    if (room > 0) domains.emplace_back(room, std::move(here));
  }
  std::ranges::stable_sort(domains, {}, [](const auto& domain) { return domain.first; });
  return domains;
}

Found PlaceInDomains(Ground& ground, fleet::View& view, const Form& form, Lost& lost) {
  Found found;
  if (form.parts.empty()) return PlaceWithin(ground, view, form, lost, nullptr);
  const fleet::NodeSet welcoming = ground.Welcoming(form);
  const auto domains = Sorted(ground, view, form, welcoming);
  for (const auto& [room, nodes] : domains) {
    Found here = PlaceWithin(ground, view, form, lost, &nodes);
    if (here.seats) return here;
    found.proven &= here.proven;
  }
  if (form.shape->topology.required) return found;
  fleet::NodeSet several(ground.nodes());
  for (auto domain = domains.rbegin(); domain != domains.rend(); ++domain) {
    several.Add(domain->second);
    Found here = PlaceWithin(ground, view, form, lost, &several);
    if (here.seats) return here;
  }
  return PlaceWithin(ground, view, form, lost, &welcoming);
}

}  // namespace

Found PlaceGang(Ground& ground, fleet::View& view, const Form& form, Lost& lost) {
  if (!form.shape->topology.level.empty()) return PlaceInDomains(ground, view, form, lost);
  if (form.anywhere) return PlaceWithin(ground, view, form, lost, nullptr);
  const fleet::NodeSet welcoming = ground.Welcoming(form);
  return PlaceWithin(ground, view, form, lost, &welcoming);
}

bool Fits(Ground& ground, fleet::View& view, const Form& form) {
  if (form.parts.size() <= 1 && form.anywhere) return HasRoom(ground, view, form);
  const std::size_t mark = view.Mark();
  Lost lost(ground.states(), {.packing = Packing::kBestFit});
  const bool fits = PlaceGang(ground, view, form, lost).seats.has_value();
  view.Undo(mark);
  return fits;
}

fleet::Grant GrantOf(const Ground& ground, const fleet::States& states, const Seat& seat) {
  const fleet::Demand& demand = states.Asked(seat.demand);
  return {ground.name(seat.node), seat.pick.gpus, demand.cpu, demand.memory, {seat.pick.share}};
}

}  // namespace pondage::plan
