// Scenarios: what happens to a small pool, as text, with what was seen.
//
//   nodes n1 n2 gpus=4            queue lab guarantee=4 limit=8 parent=all
//   apply a workers=2 gpus=2 run=60s restart=OnFailure ...
//   tick 30s                      kill a worker-1 137
//   suspend a | resume a | delete a | delete-pod a-worker-0 | delete-node n1
//   scale a worker=3
//   crash                         (the server; programs go on)
//   power                         (the machine loses power)
//   clock -1h                     (somebody sets the wall's clock)
//   show [a ...]                  one line a job: "30s  a  Running  worker-0@n1:0 ..."
//   conditions a                  the list of conditions
//
// apply takes: chief master ps workers evaluator gpus queue restart clean backoff deadline ttl min
// grace suspend run exit term (exit code on SIGTERM, or "ignore") save hello saves, and any
// `key.with.dots/name=value` as an annotation.
//
// Pure but for the world it makes. After every command the laws are checked: a broken one ends the
// transcript with its sentence.
#pragma once

#include <string>
#include <string_view>

namespace pondage::sim {

std::string Play(std::string_view script);

}  // namespace pondage::sim
