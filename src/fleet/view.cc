#include "fleet/view.h"

#include <bit>
#include <utility>

#include "base/assert.h"
#include "base/random.h"

namespace pondage::fleet {
namespace {

// Zobrist hashing: a number for each pair, added and taken away by exclusive or.
std::uint64_t HashOf(std::size_t node, StateId state) {
  if (state == kOut) return 0;
  base::Random random((static_cast<std::uint64_t>(node) << 32) ^ static_cast<std::uint64_t>(state));
  return random.Next();
}

}  // namespace

void NodeSet::Add(const NodeSet& other) {
  for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
}

void NodeSet::Cut(const NodeSet& other) {
  for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
}

std::optional<std::size_t> FirstIn(const NodeSet& set, const NodeSet* mask) {
  for (std::size_t i = 0; i < set.words().size(); ++i) {
    const std::uint64_t word = set.words()[i] & (mask == nullptr ? ~0ull : mask->words()[i]);
    if (word != 0) return i * 64 + static_cast<std::size_t>(std::countr_zero(word));
  }
  return {};
}

int CountIn(const NodeSet& set, const NodeSet* mask) {
  int count = 0;
  for (std::size_t i = 0; i < set.words().size(); ++i) {
    count += std::popcount(set.words()[i] & (mask == nullptr ? ~0ull : mask->words()[i]));
  }
  return count;
}

View::View(States& states, std::size_t nodes) : states_(&states), of_(nodes, kOut) {
  Members out{NodeSet(nodes), 0, -1};
  for (std::size_t node = 0; node < nodes; ++node) out.nodes.Put(node);
  out.count = static_cast<int>(nodes);
  sets_.push_back(std::move(out));
}

void View::Set(std::size_t node, StateId state) {
  REQUIRE(node < of_.size());
  if (of_[node] == state) return;
  if (marks_ > 0) trail_.push_back({node, of_[node]});
  Move(node, state);
}

void View::Move(std::size_t node, StateId state) {
  Leave(node, of_[node]);
  Enter(node, state);
}

void View::Leave(std::size_t node, StateId state) {
  Members& set = sets_[static_cast<std::size_t>(state)];
  set.nodes.Drop(node);
  hash_ ^= HashOf(node, state);
  whole_gpus_ -= states_->Of(state).WholeGpus();
  if (--set.count > 0 || state == kOut) return;
  const StateId last = live_.back();
  live_[static_cast<std::size_t>(set.place)] = last;
  sets_[static_cast<std::size_t>(last)].place = set.place;
  set.place = -1;
  live_.pop_back();
}

void View::Enter(std::size_t node, StateId state) {
  const auto at = static_cast<std::size_t>(state);
  if (sets_.size() <= at) sets_.resize(at + 1);
  Members& set = sets_[at];
  if (set.nodes.words().empty()) set.nodes = NodeSet(of_.size());
  set.nodes.Put(node);
  of_[node] = state;
  hash_ ^= HashOf(node, state);
  whole_gpus_ += states_->Of(state).WholeGpus();
  if (set.count++ > 0 || state == kOut) return;
  set.place = static_cast<int>(live_.size());
  live_.push_back(state);
}

std::size_t View::Mark() {
  ++marks_;
  return trail_.size();
}

void View::Undo(std::size_t mark) {
  REQUIRE(marks_ > 0 && mark <= trail_.size());
  while (trail_.size() > mark) {
    Move(trail_.back().node, trail_.back().before);
    trail_.pop_back();
  }
  --marks_;
}

void View::Keep(std::size_t mark) {
  REQUIRE(marks_ > 0 && mark <= trail_.size());
  if (--marks_ == 0) trail_.clear();
}

}  // namespace pondage::fleet
