// Directory trees that take their time to remove: renamed at once, removed one after
// the other on a thread for that.
//
// Any thread.
#pragma once

#include <filesystem>

namespace pondage::agent {

// Nobody finds it under its name any more.
void DiscardTree(const std::filesystem::path& tree);
bool IsDiscarded(const std::filesystem::path& entry);
// What a server before this one began to remove in that folder.
void FinishDiscards(const std::filesystem::path& folder);

}  // namespace pondage::agent
