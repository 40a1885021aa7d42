// The tables of the store, their version, and the way from an older version to this one.
//
// Called with the file locked for this process, before any other use.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "store/database.h"

namespace pondage::store {

// What stands in every store's header ("Pond").
inline constexpr std::int64_t kApplicationId = 0x506f6e64;

// Script i leads from version i to i + 1; together they make a new store. A released one never
// changes.
extern const std::span<const char* const> kSteps;

// Brings the tables to version steps.size(), in one transaction. PND-S001: the file is newer.
base::Result<void> Migrate(Database& database, std::span<const char* const> steps);

// Facet lines that have an index: those that clients select by all the time. Changing the rule
// needs a step that fills the index anew.
bool IsIndexedFacet(std::string_view line);

}  // namespace pondage::store
