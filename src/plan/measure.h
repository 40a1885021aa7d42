// How much of a resource there is for a gang, and which resource is short.
//
// Pure. `view` decides what is asked about: what is free now, or an empty fleet.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "plan/ground.h"
#include "plan/plan.h"
#include "plan/shape.h"

namespace pondage::plan {

enum class Want { kType, kLabel, kGpu, kCpu, kMemory };

// The first whose relaxation alone would let the gang fit; where none does, the first that is short
// by its sum, else GPUs. Types and labels are asked about when `kinds` is set: only an empty fleet
// lacks a kind. `view` is left as it was. Requires that the gang does not fit.
Want WhatBinds(Ground& ground, fleet::View& view, const Shape& shape, bool kinds);

// Writes resource, need, have, block, block_need, where (the largest block) and types present.
void Measure(const Ground& ground, const fleet::View& view, const Shape& shape, Want want,
             Refusal& refusal);

// Adds what each job holds on this machine of what the gang could use.
void AddHolders(const fleet::Place& place, const Shape& shape, const std::string& resource,
                std::map<base::JobId, std::int64_t>& amounts);

}  // namespace pondage::plan
