#include "plan/ground.h"

#include <algorithm>

#include "base/assert.h"

namespace pondage::plan {
namespace {

Form FormOf(const Shape& shape, fleet::States& states) {
  Form form;
  form.shape = &shape;
  form.gpus = TotalGpus(shape);
  form.members = MemberCount(shape);
  form.largest = LargestMember(shape);
  form.charge = ChargeOf(shape);
  form.anywhere = shape.avoid.empty() && !shape.topology.required;
  if (form.members > kMostMembers) return form;
  for (const Part& part : shape.parts) {
    form.parts.push_back({states.Number(part.demand), static_cast<int>(part.count)});
  }
  return form;
}

}  // namespace

Ground::Ground() {
  now_.emplace(states_, 0);
  healthy_.emplace(states_, 0);
  all_.emplace(states_, 0);
}

void Ground::Rebuild(const fleet::Fleet& fleet) {
  ++version_;
  domains_.clear();
  places_.clear();
  names_.clear();
  tainted_ = false;
  for (const auto& [name, place] : fleet.places()) {
    places_.push_back(&place);
    names_.push_back(name);
    tainted_ |= !place.node.taints.empty();
  }
  now_.emplace(states_, places_.size());
  healthy_.emplace(states_, places_.size());
  all_.emplace(states_, places_.size());
  for (std::size_t i = 0; i < places_.size(); ++i) {
    now_->Set(i, states_.NumberOf(*places_[i]));
    healthy_->Set(i, states_.NumberOfEmpty(places_[i]->node, false));
    all_->Set(i, states_.NumberOfEmpty(places_[i]->node, true));
  }
}

void Ground::Refresh(const fleet::Place& place) {
  const std::optional<std::size_t> node = Find(place.node.name);
  REQUIRE(node.has_value());
  now_->Set(*node, states_.NumberOf(place));
}

std::optional<std::size_t> Ground::Find(std::string_view name) const {
  const auto found = std::ranges::lower_bound(names_, name);
  if (found == names_.end() || *found != name) return {};
  return static_cast<std::size_t>(found - names_.begin());
}

ShapeId Ground::Number(const Shape& shape) {
  const auto next = static_cast<ShapeId>(forms_.size());
  const auto [found, is_new] = numbers_.try_emplace(shape, next);
  if (is_new) forms_.push_back(FormOf(found->first, states_));
  return found->second;
}

const fleet::NodeSet* Ground::Allowed(fleet::DemandId demand) {
  const auto at = static_cast<std::size_t>(demand);
  if (welcome_.size() <= at) welcome_.resize(at + 1);
  Welcome& known = welcome_[at];
  if (known.version != version_) {
    known.version = version_;
    const fleet::Demand& asked = states_.Asked(demand);
    known.all = !tainted_ && asked.node_selector.empty() && asked.affinity.empty();
    if (!known.all) {
      known.nodes = fleet::NodeSet(places_.size());
      for (std::size_t i = 0; i < places_.size(); ++i) {
        if (fleet::CarriesLabels(places_[i]->node, asked)) known.nodes.Put(i);
      }
    }
  }
  return known.all ? nullptr : &known.nodes;
}

fleet::NodeSet Ground::Welcoming(const Form& form) const {
  fleet::NodeSet nodes(places_.size());
  for (std::size_t i = 0; i < places_.size(); ++i) nodes.Put(i);
  for (const std::string& name : form.shape->avoid) {
    if (const std::optional<std::size_t> node = Find(name)) nodes.Drop(*node);
  }
  return nodes;
}

const std::map<std::string, fleet::NodeSet>& Ground::Domains(const std::string& level) {
  const auto [known, is_new] = domains_.try_emplace(level);
  if (!is_new) return known->second;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const fleet::Node& node = places_[i]->node;
    std::string domain = node.name;
    if (level != kNodeLevel) {
      const auto label = node.labels.find(level);
      if (label == node.labels.end()) continue;
      domain = label->second;
    }
    known->second.try_emplace(domain, places_.size()).first->second.Put(i);
  }
  return known->second;
}

}  // namespace pondage::plan
