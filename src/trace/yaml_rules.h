// The parts of a workload file about what goes wrong and what it costs; flags are read by them too.
//
// Used inside this room; they throw Wrong. What a field does not say stays as it is.
#pragma once

#include "trace/workload.h"
#include "trace/yaml_field.h"

namespace pondage::trace {

void ReadFaults(Field field, Faults& faults);
void ReadPolicy(Field field, Policy& policy);
// The fields of a policy that say what a disturbance costs.
void ReadCosts(Field& field, Policy& policy);

}  // namespace pondage::trace
