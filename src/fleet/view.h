// One look at all machines: the state of each, and the machines of each state.
//
// What planning works on: changed by trials, which a trail undoes. Machines are numbered in the
// order of their names. Single-threaded; the states must outlive it. Invariants:
//   1. A machine is in exactly one state's set; live() are the states that some machine is in.
//   2. Hash() depends on the states of the machines alone: a trial that was undone leaves it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "fleet/states.h"

namespace pondage::fleet {

// A set of machines.
class NodeSet {
 public:
  NodeSet() = default;
  explicit NodeSet(std::size_t nodes) : words_((nodes + 63) / 64) {}
  void Put(std::size_t node) { words_[node / 64] |= std::uint64_t{1} << node % 64; }
  void Drop(std::size_t node) { words_[node / 64] &= ~(std::uint64_t{1} << node % 64); }
  bool Has(std::size_t node) const { return (words_[node / 64] >> node % 64 & 1) != 0; }
  void Add(const NodeSet& other);
  void Cut(const NodeSet& other);  // to what is in both
  auto operator<=>(const NodeSet&) const = default;
  std::vector<std::uint64_t>& words() { return words_; }
  const std::vector<std::uint64_t>& words() const { return words_; }

 private:
  std::vector<std::uint64_t> words_;
};

// The first machine in both sets, the machines in both; without a mask: in the first.
std::optional<std::size_t> FirstIn(const NodeSet& set, const NodeSet* mask);
int CountIn(const NodeSet& set, const NodeSet* mask);

class View {
 public:
  View(States& states, std::size_t nodes);

  States& states() const { return *states_; }
  std::size_t nodes() const { return of_.size(); }
  StateId At(std::size_t node) const { return of_[node]; }
  void Set(std::size_t node, StateId state);

  const std::vector<StateId>& live() const { return live_; }  // without kOut, in any order
  const NodeSet& In(StateId state) const { return sets_[static_cast<std::size_t>(state)].nodes; }
  int CountOf(StateId state) const { return sets_[static_cast<std::size_t>(state)].count; }

  // Whole free GPUs in all.
  std::int64_t whole_gpus() const { return whole_gpus_; }

  // Undo brings back every state as of Mark. Marks nest.
  std::size_t Mark();
  void Undo(std::size_t mark);
  void Keep(std::size_t mark);  // what was done since stays done

  std::uint64_t Hash() const { return hash_; }

 private:
  struct Members {
    NodeSet nodes;
    int count = 0;
    int place = -1;  // in live_
  };
  struct Step {
    std::size_t node = 0;
    StateId before = kOut;
  };

  void Move(std::size_t node, StateId state);
  void Leave(std::size_t node, StateId state);
  void Enter(std::size_t node, StateId state);

  States* states_;
  std::vector<StateId> of_;
  std::vector<Members> sets_;
  std::vector<StateId> live_;
  std::vector<Step> trail_;
  int marks_ = 0;
  std::int64_t whole_gpus_ = 0;
  std::uint64_t hash_ = 0;
};

}  // namespace pondage::fleet
