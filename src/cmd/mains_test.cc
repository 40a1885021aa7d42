#include "cmd/mains.h"

#include <gtest/gtest.h>

#include "grammar/command.h"

namespace pondage::cmd {
namespace {

TEST(Mains, EveryCommandOfTheTableHasOne) {
  for (const grammar::Command& command : grammar::Commands()) {
    EXPECT_EQ(MainOf(command.name) == nullptr, command.name == "serve") << command.name;
  }
  EXPECT_EQ(MainOf("nonsense"), nullptr);
}

}  // namespace
}  // namespace pondage::cmd
