// The rows of the catalogue, one table a letter; phrase.h is the way in.
//
// Constant data; any thread.
#pragma once

#include <span>

#include "phrase/phrase.h"

namespace pondage::phrase {

std::span<const Message> ApiRows();          // A
std::span<const Message> CommandRows();      // C
std::span<const Message> EnvironmentRows();  // E
std::span<const Message> JobRows();          // J
std::span<const Message> ManifestRows();     // M
std::span<const Message> NodeRows();         // N
std::span<const Message> QueueRows();        // Q
std::span<const Message> RunRows();          // R
std::span<const Message> StoreRows();        // S

}  // namespace pondage::phrase
