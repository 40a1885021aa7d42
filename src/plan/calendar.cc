#include "plan/calendar.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace pondage::plan {
namespace {

// Where it goes matters beyond how much is free there.
bool IsPicky(const Form& form) {
  return !form.anywhere || !form.shape->topology.level.empty();
}

// A mixed gang may need a search at each instant; so many are made for one reservation.
constexpr int kSearches = 16;

base::Instant EndOf(base::Instant at, std::optional<base::Millis> limit) {
  return limit ? at + *limit : base::kNever;
}

}  // namespace

Calendar::Calendar(Ground& ground, const std::map<base::JobId, Holding>& holdings,
                   base::Instant now)
    : ground_(ground), now_(now), steps_(ground.nodes()) {
  for (std::size_t node = 0; node < steps_.size(); ++node) {
    steps_[node].push_back({at_once(), ground.now().At(node)});
  }
  std::vector<std::pair<base::Instant, const Holding*>> ends;
  for (const auto& [job, holding] : holdings) {
    // One that is over its time is being stopped: it goes next.
    if (holding.ends_by) ends.emplace_back(std::max(*holding.ends_by, now), &holding);
  }
  std::ranges::sort(ends, {},
                    [](const auto& end) { return std::pair(end.first, end.second->job); });
  for (const auto& [at, holding] : ends) Release(*holding, at);
}

void Calendar::Release(const Holding& holding, base::Instant at) {
  for (const std::string& name : holding.nodes) {
    const std::optional<std::size_t> node = ground_.Find(name);
    if (!node || ground_.now().At(*node) == fleet::kOut) continue;
    const auto grants = ground_.place(*node).grants.find(holding.job);
    if (grants == ground_.place(*node).grants.end()) continue;
    fleet::StateId state = steps_[*node].back().state;
    for (const fleet::Grant& grant : grants->second) {
      state = ground_.states().Give(state, grant, ground_.healthy().At(*node));
    }
    Write(*node, at, state);
  }
}

// Rows of new times stand between the others.
Calendar::Row& Calendar::RowAt(base::Instant at) {
  if (rows_.empty() || rows_.back().at < at) return rows_.emplace_back(Row{at, {}});
  const auto row = std::ranges::lower_bound(rows_, at, {}, &Row::at);
  return row->at == at ? *row : *rows_.insert(row, Row{at, {}});
}

// From `at` until its next step the machine is in `state`.
void Calendar::Write(std::size_t node, base::Instant at, fleet::StateId state) {
  std::vector<Step>& steps = steps_[node];
  const auto step = std::ranges::lower_bound(steps, at, {}, &Step::at);
  const bool is_new = step == steps.end() || step->at != at;
  if (is_new) {
    steps.insert(step, {at, state});
  } else {
    step->state = state;
  }
  if (at == at_once()) {
    for (auto& [demand, count] : at_once_) {
      Put(count, {static_cast<std::int32_t>(node), state}, demand, ground_.Allowed(demand));
    }
    return;
  }
  std::vector<Change>& changes = RowAt(at).changes;
  if (is_new) {
    changes.push_back({static_cast<std::int32_t>(node), state});
    return;
  }
  const auto change = std::ranges::find(changes, static_cast<std::int32_t>(node), &Change::node);
  PROMISE(change != changes.end());
  change->state = state;
}

void Calendar::Split(std::size_t node, base::Instant at) {
  if (at == base::kNever) return;
  const std::vector<Step>& steps = steps_[node];
  const auto next = std::ranges::upper_bound(steps, at, {}, &Step::at);
  PROMISE(next != steps.begin());
  if ((next - 1)->at != at) Write(node, at, fleet::StateId((next - 1)->state));
}

void Calendar::Leave(const std::vector<Seat>& seats, base::Instant at) {
  fleet::States& states = ground_.states();
  for (const Seat& seat : seats) {
    Split(seat.node, at);
    const fleet::Grant grant = GrantOf(ground_, states, seat);
    const fleet::StateId most = ground_.healthy().At(seat.node);
    for (const Step& step : std::vector<Step>(steps_[seat.node])) {
      if (step.at >= at) Write(seat.node, step.at, states.Give(step.state, grant, most));
    }
  }
}

bool Calendar::Close(std::size_t node, fleet::DemandId demand, bool whole) {
  bool open = false;
  for (const Step& step : std::vector<Step>(steps_[node])) {
    const fleet::StateId state = ground_.states().Without(step.state, demand, whole);
    if (state != step.state) Write(node, step.at, state);
    open |= state != fleet::kOut && ground_.states().Of(state).MilliGpus() > 0;
  }
  return open;
}

void Calendar::Close(std::size_t node, base::Instant from, base::Instant to) {
  Split(node, from);
  Split(node, to);
  for (const Step& step : std::vector<Step>(steps_[node])) {
    if (step.at >= from && step.at < to) Write(node, step.at, fleet::kOut);
  }
}

void Calendar::Enter(const std::vector<Seat>& seats, base::Instant from, base::Instant to) {
  fleet::States& states = ground_.states();
  for (const Seat& seat : seats) {
    Split(seat.node, from);
    Split(seat.node, to);
    for (const Step& step : std::vector<Step>(steps_[seat.node])) {
      if (step.at < from || step.at >= to) continue;
      Write(seat.node, step.at, states.Take(step.state, seat.demand, seat.pick));
    }
  }
}

fleet::StateId Calendar::Through(std::size_t node, base::Instant from, base::Instant to) {
  const std::vector<Step>& steps = steps_[node];
  auto step = std::ranges::upper_bound(steps, from, {}, &Step::at);
  PROMISE(step != steps.begin());
  fleet::StateId state = (step - 1)->state;
  for (; step != steps.end() && step->at < to; ++step) {
    state = ground_.states().Both(state, step->state);
  }
  return state;
}

bool Calendar::IsFree(const Reservation& reservation, base::Instant from,
                      std::optional<base::Millis> limit) {
  const base::Instant to = EndOf(from, limit);
  std::map<std::size_t, fleet::StateId> left;
  for (const Seat& seat : reservation.seats) {
    if (seat.node >= steps_.size()) return false;
    const auto [state, is_new] = left.try_emplace(seat.node, fleet::kOut);
    if (is_new) state->second = Through(seat.node, from, to);
    if (!ground_.states().Has(state->second, seat.demand, seat.pick)) return false;
    state->second = ground_.states().Take(state->second, seat.demand, seat.pick);
  }
  return true;
}

int Calendar::Capacity(const Change& change, fleet::DemandId demand,
                       const fleet::NodeSet* allowed) {
  if (allowed != nullptr && !allowed->Has(static_cast<std::size_t>(change.node))) return 0;
  return ground_.states().Capacity(change.state, demand);
}

void Calendar::Put(Count& count, const Change& change, fleet::DemandId demand,
                   const fleet::NodeSet* allowed) {
  std::int16_t& members = count.members[static_cast<std::size_t>(change.node)];
  const int now = Capacity(change, demand, allowed);
  count.sum += now - members;
  members = static_cast<std::int16_t>(now);
}

const Calendar::Count& Calendar::AtOnce(fleet::DemandId demand) {
  const auto [known, is_new] = at_once_.try_emplace(demand);
  if (is_new) {
    const fleet::NodeSet* allowed = ground_.Allowed(demand);
    known->second.members.resize(steps_.size());
    for (std::size_t node = 0; node < steps_.size(); ++node) {
      const Change change{static_cast<std::int32_t>(node), steps_[node].front().state};
      Put(known->second, change, demand, allowed);
    }
  }
  return known->second;
}

std::optional<Reservation> Calendar::Find(const Form& form, std::optional<base::Millis> limit,
                                          Lost& lost, base::Instant before) {
  std::vector<Counted> parts;
  for (const NumberedPart& part : form.parts) {
    parts.push_back({part, ground_.Allowed(part.demand), AtOnce(part.demand)});
  }
  int searches =
      form.parts.size() > 1 || IsPicky(form) ? kSearches : static_cast<int>(rows_.size());
  for (std::size_t row = 0; row < rows_.size() && rows_[row].at < before; ++row) {
    bool enough = true;
    for (Counted& counted : parts) {
      for (const Change& change : rows_[row].changes) {
        Put(counted.count, change, counted.part.demand, counted.allowed);
      }
      enough &= counted.count.sum >= counted.part.count;
    }
    const base::Instant to = EndOf(rows_[row].at, limit);
    if (enough && FitsThrough(row, to, parts)) {
      if (searches-- == 0) break;
      if (auto seats = Seats(form, parts.front().count, rows_[row].at, to, lost)) {
        taken_.clear();
        return Reservation{rows_[row].at, *std::move(seats)};
      }
    }
    for (; !taken_.empty(); taken_.pop_back()) {
      Count& count = parts[taken_.back().part].count;
      count.members[taken_.back().node] =
          static_cast<std::int16_t>(count.members[taken_.back().node] + taken_.back().members);
      count.sum += taken_.back().members;
    }
  }
  taken_.clear();
  return {};
}

// Takes off the counts what is taken before `to`. Enough by number is not yet enough: it must be
// the same GPUs all the time, which Seats finds out.
bool Calendar::FitsThrough(std::size_t row, base::Instant to, std::vector<Counted>& parts) {
  for (std::size_t later = row + 1; later < rows_.size() && rows_[later].at < to; ++later) {
    for (std::size_t part = 0; part < parts.size(); ++part) {
      Counted& counted = parts[part];
      for (const Change& change : rows_[later].changes) {
        const auto node = static_cast<std::size_t>(change.node);
        std::int16_t& members = counted.count.members[node];
        if (members == 0) continue;
        const int less = members - Capacity(change, counted.part.demand, counted.allowed);
        if (less <= 0) continue;
        taken_.push_back({part, node, static_cast<std::int16_t>(less)});
        counted.count.sum -= less;
        members = static_cast<std::int16_t>(members - less);
      }
      if (counted.count.sum < counted.part.count) return false;
    }
  }
  return true;
}

std::optional<std::vector<Seat>> Calendar::Seats(const Form& form, const Count& count,
                                                 base::Instant from, base::Instant to, Lost& lost) {
  if (form.parts.size() == 1 && !IsPicky(form)) return Choose(form.parts.front(), count, from, to);
  fleet::View then(ground_.states(), steps_.size());
  for (std::size_t node = 0; node < steps_.size(); ++node) then.Set(node, Through(node, from, to));
  return PlaceGang(ground_, then, form, lost).seats;
}

// As Search does: the smallest block that takes all, else the largest.
std::optional<std::vector<Seat>> Calendar::Choose(const NumberedPart& part, const Count& count,
                                                  base::Instant from, base::Instant to) {
  std::vector<std::pair<int, std::size_t>> blocks;  // members, negated; machine
  for (std::size_t node = 0; node < count.members.size(); ++node) {
    if (count.members[node] > 0) blocks.emplace_back(-count.members[node], node);
  }
  std::ranges::sort(blocks);
  fleet::States& states = ground_.states();
  std::vector<Seat> seats;
  int wanted = part.count;
  std::size_t next = 0;
  while (wanted > 0 && next < blocks.size()) {
    std::size_t at = next;
    if (-blocks[next].first >= wanted) {
      const auto end =
          std::ranges::upper_bound(blocks, -wanted, {}, &std::pair<int, std::size_t>::first);
      const int smallest = (end - 1)->first;
      at = static_cast<std::size_t>(
          std::ranges::lower_bound(blocks, smallest, {}, &std::pair<int, std::size_t>::first) -
          blocks.begin());
      at = std::max(at, next);
    }
    const std::size_t node = blocks[at].second;
    blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(at));
    fleet::StateId state = Through(node, from, to);
    for (int i = std::min(states.Capacity(state, part.demand), wanted); i > 0; --i, --wanted) {
      seats.push_back({node, part.demand, states.PickFor(state, part.demand)});
      state = states.Take(state, part.demand, seats.back().pick);
    }
  }
  if (wanted > 0) return {};
  return seats;
}

}  // namespace pondage::plan
