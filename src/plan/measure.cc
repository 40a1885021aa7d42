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
      break;
    case Want::kLabel:
      demand.node_selector.clear();
      break;
    case Want::kGpu:
      demand.gpus = 0;
      break;
    case Want::kCpu:
      demand.cpu = {};
      break;
    case Want::kMemory:
      demand.memory = {};
      break;
  }
}

bool FitsWithout(Rooms& rooms, Shape shape, Want want) {
  for (Part& part : shape.parts) Relax(part.demand, want);
  return Fits(rooms, shape);
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

std::int64_t HaveIn(const Room& room, const Shape& shape, Want want) {
  const fleet::Node& node = room.place->node;
  if (want == Want::kCpu) return IsWelcome(node, shape) ? std::max<std::int64_t>(0, room.cpu) : 0;
  if (want == Want::kMemory) {
    return IsWelcome(node, shape) ? std::max<std::int64_t>(0, room.memory) : 0;
  }
  return std::ranges::count_if(room.free, [&](int gpu) { return IsUsable(node, gpu, shape); });
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
std::string MissingLabel(const Rooms& rooms, const Shape& shape) {
  for (const Part& part : shape.parts) {
    for (const auto& [key, value] : part.demand.node_selector) {
      const bool carried = std::ranges::any_of(rooms.all(), [&](const Room& room) {
        const auto label = room.place->node.labels.find(key);
        return label != room.place->node.labels.end() && label->second == value;
      });
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

std::string MissingType(const Rooms& rooms, const Shape& shape) {
  for (const Part& part : shape.parts) {
    const bool present = std::ranges::any_of(rooms.all(), [&](const Room& room) {
      return std::ranges::any_of(room.place->node.gpus, [&](const fleet::Gpu& gpu) {
        return gpu.type == part.demand.gpu_type;
      });
    });
    if (!part.demand.gpu_type.empty() && !present) return part.demand.gpu_type;
  }
  return shape.parts.empty() ? "" : shape.parts.front().demand.gpu_type;
}

}  // namespace

Want WhatBinds(Rooms& rooms, const Shape& shape, bool kinds) {
  constexpr std::array kAll = {Want::kType, Want::kLabel, Want::kGpu, Want::kCpu, Want::kMemory};
  for (const Want want : kAll) {
    if (!kinds && (want == Want::kType || want == Want::kLabel)) continue;
    if (FitsWithout(rooms, shape, want)) return want;
  }
  for (const Want want : {Want::kGpu, Want::kCpu, Want::kMemory}) {
    std::int64_t have = 0;
    for (const Room& room : rooms.all()) have += HaveIn(room, shape, want);
    if (have < Need(shape, want)) return want;
  }
  return Want::kGpu;
}

void Measure(const Rooms& rooms, const Shape& shape, Want want, Refusal& refusal) {
  refusal.resource = ResourceName(want);
  refusal.need = Need(shape, want);
  refusal.have = refusal.block = refusal.block_need = 0;
  refusal.where.clear();
  for (const Part& part : shape.parts) {
    refusal.block_need = std::max(refusal.block_need, MemberNeed(part.demand, want));
  }
  std::set<std::string> types;
  for (const Room& room : rooms.all()) {
    const std::int64_t here = HaveIn(room, shape, want);
    refusal.have += here;
    if (here > refusal.block) {
      refusal.block = here;
      refusal.where = room.place->node.name;
    }
    for (const fleet::Gpu& gpu : room.place->node.gpus) types.insert(gpu.type);
  }
  if (want == Want::kLabel) refusal.where = MissingLabel(rooms, shape);
  if (want == Want::kType) {
    refusal.where = MissingType(rooms, shape);
    refusal.present.assign(types.begin(), types.end());
  }
}

void AddHolders(const Room& room, const Shape& shape, const std::string& resource,
                std::map<base::JobId, std::int64_t>& amounts) {
  const fleet::Node& node = room.place->node;
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
  for (const auto& [job, grants] : room.place->grants) {
    for (const fleet::Grant& grant : grants) add(job, grant);
  }
  for (const auto& [job, grant] : room.started) add(job, grant);
}

}  // namespace pondage::plan
