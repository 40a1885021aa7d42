#include "base/assert.h"
#include "shim/wire.h"
#include "targets.h"

namespace pondage::fuzz {

void ShimRecord(std::string_view input) {
  if (const auto spec = shim::DecodeSpec(input)) {
    PROMISE(shim::DecodeSpec(shim::Encode(*spec)) == *spec);
  }
  if (const auto ended = shim::DecodeEnded(input)) {
    PROMISE(shim::DecodeEnded(shim::Encode(*ended)) == *ended);
  }
  if (const auto state = shim::DecodeState(input)) {
    PROMISE(shim::DecodeState(shim::Encode(*state)) == *state);
  }
  if (const auto ended = shim::DecodeExecEnded(input)) {
    PROMISE(shim::DecodeExecEnded(shim::Encode(*ended)) == *ended);
  }
  if (const auto exec = shim::DecodeExec(input)) {
    PROMISE(shim::DecodeExec(shim::Encode(*exec)) == *exec);
  }
  if (const auto command = shim::DecodeCommand(input)) {
    PROMISE(shim::DecodeCommand(shim::Encode(*command)) == *command);
  }
}

void ModuleMessage(std::string_view input) {
  const shim::Said before{.step = 7, .checkpoint_step = 5, .checkpoint_path = "p"};
  shim::Said said = before;
  if (!shim::TakeModuleMessage(input, said)) PROMISE(said == before);
  PROMISE(said.step >= -1 && said.checkpoint_step >= -1 && said.input_wait_permille >= -1);
  PROMISE(said.input_wait_permille <= 1000);
}

}  // namespace pondage::fuzz
