#include "plan/measure.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/assert.h"
#include "plan/place.h"

namespace pondage::plan {
namespace {

void Relax(fleet::Demand& demand, Want want) {
  switch (want) {
    case Want::kType:
      demand.gpu_type.clear();
      demand.or_types.clear();
      break;
    case Want::kLabel:
      demand.node_selector.clear();
      demand.affinity.clear();
      demand.tolerations = {{}};
      break;
    case Want::kGpu:
      demand.gpus = 0;
      demand.share = {};
      demand.gpu_memory = {};
      break;
    case Want::kCpu:
      demand.cpu = {};
      break;
    case Want::kMemory:
      demand.memory = {};
      break;
  }
}

bool FitsWithout(Ground& ground, fleet::View& view, const Shape& shape, Want want) {
  std::vector<Group> groups;
  for (const Part& part : shape.parts) {
    groups.push_back({base::Role::kWorker, static_cast<int>(part.count), part.demand});
    Relax(groups.back().demand, want);
  }
  return Fits(ground, view, ground.Of(ground.Number(ShapeOf(groups))));
}

std::int64_t Need(const Shape& shape, Want want) {
  if (want == Want::kCpu) return TotalMilliCpu(shape);
  if (want == Want::kMemory) return TotalBytes(shape);
  return TotalGpus(shape);
}

std::int64_t MemberNeed(const fleet::Demand& demand, Want want) {
  if (want == Want::kCpu) return demand.cpu.value;
  if (want == Want::kMemory) return demand.memory.value;
  return demand.gpus;
}

// GPU `gpu` of this machine would do for some member.
bool IsUsable(const fleet::Node& node, int gpu, const Shape& shape) {
  return std::ranges::any_of(shape.parts, [&](const Part& part) {
    return part.demand.gpus > 0 && fleet::CarriesLabels(node, part.demand) &&
           static_cast<std::size_t>(gpu) < node.gpus.size() &&
           fleet::IsOfType(node.gpus[static_cast<std::size_t>(gpu)], part.demand);
  });
}

bool IsWelcome(const fleet::Node& node, const Shape& shape) {
  return std::ranges::any_of(
      shape.parts, [&](const Part& part) { return fleet::CarriesLabels(node, part.demand); });
}

std::int64_t HaveIn(const fleet::Node& node, const fleet::Free& free, const Shape& shape,
                    Want want) {
  if (want == Want::kCpu) return IsWelcome(node, shape) ? std::max<std::int64_t>(0, free.cpu) : 0;
  if (want == Want::kMemory) {
    return IsWelcome(node, shape) ? std::max<std::int64_t>(0, free.memory) : 0;
  }
  std::int64_t gpus = 0;
  for (std::size_t gpu = 0; gpu < free.gpus.size(); ++gpu) {
    if (free.gpus[gpu] == fleet::kWhole && IsUsable(node, static_cast<int>(gpu), shape)) ++gpus;
  }
  return gpus;
}

const char* ResourceName(Want want) {
  switch (want) {
    case Want::kType:
      return "type";
    case Want::kLabel:
      return "label";
    case Want::kGpu:
      return "gpu";
    case Want::kCpu:
      return "cpu";
    case Want::kMemory:
      return "memory";
  }
  return "";
}

// The label that most machines lack, as "key=value"; the first in order of name where all have
// some.
std::string MissingLabel(const Ground& ground, const Shape& shape) {
  for (const Part& part : shape.parts) {
    for (const auto& [key, value] : part.demand.node_selector) {
      bool carried = false;
      for (std::size_t node = 0; node < ground.nodes() && !carried; ++node) {
        const auto& labels = ground.place(node).node.labels;
        const auto label = labels.find(key);
        carried = label != labels.end() && label->second == value;
      }
      if (!carried) return key + "=" + value;
    }
  }
  for (const Part& part : shape.parts) {
    if (part.demand.node_selector.empty()) continue;
    const auto& [key, value] = *part.demand.node_selector.begin();
    return key + "=" + value;
  }
  return {};
}

std::string MissingType(const std::set<std::string>& types, const Shape& shape) {
  for (const Part& part : shape.parts) {
    const bool present = types.contains(part.demand.gpu_type);
    if (!part.demand.gpu_type.empty() && !present) return part.demand.gpu_type;
  }
  return shape.parts.empty() ? "" : shape.parts.front().demand.gpu_type;
}

}  // namespace

Want WhatBinds(Ground& ground, fleet::View& view, const Shape& shape, bool kinds) {
  constexpr std::array kAll = {Want::kType, Want::kLabel, Want::kGpu, Want::kCpu, Want::kMemory};
  for (const Want want : kAll) {
    if (!kinds && (want == Want::kType || want == Want::kLabel)) continue;
    if (FitsWithout(ground, view, shape, want)) return want;
  }
  for (const Want want : {Want::kGpu, Want::kCpu, Want::kMemory}) {
    std::int64_t have = 0;
    for (std::size_t node = 0; node < view.nodes(); ++node) {
      const fleet::Free& free = view.states().Of(view.At(node));
      have += HaveIn(ground.place(node).node, free, shape, want);
    }
    if (have < Need(shape, want)) return want;
  }
  return Want::kGpu;
}

void Measure(const Ground& ground, const fleet::View& view, const Shape& shape, Want want,
             Refusal& refusal) {
  refusal.resource = ResourceName(want);
  refusal.need = Need(shape, want);
  refusal.have = refusal.block = refusal.block_need = 0;
  refusal.where.clear();
  for (const Part& part : shape.parts) {
    refusal.block_need = std::max(refusal.block_need, MemberNeed(part.demand, want));
  }
  std::set<std::string> types;
  for (std::size_t i = 0; i < view.nodes(); ++i) {
    const fleet::Node& node = ground.place(i).node;
    const std::int64_t here = HaveIn(node, view.states().Of(view.At(i)), shape, want);
    refusal.have += here;
    if (here > refusal.block) {
      refusal.block = here;
      refusal.where = node.name;
    }
    if (want != Want::kType || view.At(i) == fleet::kOut) continue;
    for (const fleet::Gpu& gpu : node.gpus) types.insert(gpu.type);
  }
  if (want == Want::kLabel) refusal.where = MissingLabel(ground, shape);
  if (want == Want::kType) {
    refusal.where = MissingType(types, shape);
    refusal.present.assign(types.begin(), types.end());
  }
}

void AddHolders(const fleet::Place& place, const Shape& shape, const std::string& resource,
                std::map<base::JobId, std::int64_t>& amounts) {
  const fleet::Node& node = place.node;
  if (!IsWelcome(node, shape)) return;
  const auto add = [&](base::JobId job, const fleet::Grant& grant) {
    std::int64_t& amount = amounts[job];
    if (resource == "cpu") {
      amount += grant.cpu.value;
    } else if (resource == "memory") {
      amount += grant.memory.value;
    } else {
      amount +=
          std::ranges::count_if(grant.gpus, [&](int gpu) { return IsUsable(node, gpu, shape); });
    }
  };
  for (const auto& [job, grants] : place.grants) {
    for (const fleet::Grant& grant : grants) add(job, grant);
  }
}

}  // namespace pondage::plan
