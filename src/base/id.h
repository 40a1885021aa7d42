// Names of things that cross rooms: a job by its number, a replica by job, role and index.
//
// Values; any thread.
#pragma once

#include <compare>
#include <cstdint>

namespace pondage::base {

// A job's number: the version at which it was first stored. It never changes, is never used twice,
// and grows with time, so it ends every comparison.
struct JobId {
  std::int64_t value = 0;
  auto operator<=>(const JobId&) const = default;
};

// The five roles of a TFJob, in the order in which they are created and judged.
enum class Role : std::uint8_t { kChief, kMaster, kPs, kWorker, kEvaluator };
inline constexpr int kRoles = 5;

// One Pod of a job. `incarnation` counts the Pods made for that index, from 1, over the job's whole
// life: a fact about an older incarnation is recognised and dropped.
struct ReplicaId {
  JobId job;
  Role role = Role::kWorker;
  std::int32_t index = 0;
  std::int32_t incarnation = 0;
  auto operator<=>(const ReplicaId&) const = default;
};

}  // namespace pondage::base
