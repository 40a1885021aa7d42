// What the end of a program means for its job, by restartPolicy and exit code.
//
// Pure; any thread. As Kubeflow has it; what is ours beside: docs/decisions/0011.
#pragma once

#include "job/machine.h"
#include "job/spec.h"
#include "job/status.h"

namespace pondage::job {

enum class Meaning : std::uint8_t {
  kDone,     // this index is finished
  kAgain,    // it is to run again
  kFatal,    // the job has failed
  kIgnored,  // a dynamic worker that is not missed
};
struct Reading {
  Meaning meaning = Meaning::kIgnored;
  bool counted = false;    // kAgain: against backoffLimit; else it was a disruption
  bool voluntary = false;  // kAgain: the program asked for it, without our notice
  bool in_place = false;   // kAgain: in the same Pod
  bool permanent = false;  // kFatal: by its exit code, under policy ExitCode
};

// Requires that `replica.exit` is set.
Reading ReadExit(const Spec& spec, const Replica& replica);

// Whether `a` happened before `b`: by the machine's monotonic clock within one boot, else by time.
bool IsEarlier(const Exit& a, const Exit& b);

// The pause before the next try when `streak` short runs have failed before.
base::Millis RestartDelay(int streak, const Settings& settings);

RestartPolicy PolicyOf(const Spec& spec, Role role);
base::Millis GraceOf(const Spec& spec, Role role);
base::Millis LongestGrace(const Spec& spec);

// Whether the end of one of this role ends the attempt of all: a gang's member, a lost ps.
bool EndsAttempt(const Spec& spec, Role role);
// Whether an index of this role, once finished, stays so when the job starts again (O11).
bool StaysFinished(const Spec& spec, Role role);
// Whether this role runs the training loop: it says steps, saves, and leaves before the others.
bool Leads(const Spec& spec, Role role);

}  // namespace pondage::job
