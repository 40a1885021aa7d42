// Readers: the files of public traces, Slurm's accounting and our own YAML, each into one Workload.
//
// Pure but for the Files they are given. Bad input is an error that names the file, the line and
// the column (or the YAML field); nothing is guessed. Each reader says what it leaves out.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/instant.h"
#include "base/result.h"
#include "trace/files.h"
#include "trace/workload.h"

namespace pondage::trace {

enum class Format { kPondage, kOpenb, kPhilly, kMuri, kTiresias, kPollux, kGavel, kSlurm };

std::optional<Format> FormatOf(std::string_view name);  // "philly"
std::string_view NameOf(Format format);

// What to take of a trace, and what it does not say itself.
struct Take {
  std::optional<base::Instant> from, until;  // submitted in [from, until)
  std::set<std::string> queues;              // of these tenants alone; empty: all
  std::vector<Machines> fleet;               // instead of the trace's own
  std::string machines;                      // its file of machines, where it has one of its own
  std::string speeds;                        // Gavel: throughputs; Pollux: folder of models
  bool at_once = false;                      // everything submitted at the first instant
};

base::Result<Workload> Read(const Files& files, Format format, const std::string& path,
                            const Take& take = {});

// The pieces, for tests and fuzzing.
// openb: pods; `gpu_milli` counts for pods of one GPU. QoS is the queue.
base::Result<std::vector<Job>> Openb(std::string_view pods);
base::Result<std::vector<Machines>> OpenbMachines(std::string_view nodes);
// Philly: the virtual cluster is the queue; wall time is read as UTC.
base::Result<std::vector<Job>> Philly(std::string_view jobs);
base::Result<std::vector<Machines>> PhillyMachines(std::string_view machines);
// Muri (milliseconds) and Tiresias (seconds) share their columns.
base::Result<std::vector<Job>> Muri(std::string_view jobs, std::int64_t unit_ms);
// Gavel: steps, and steps a second by type; duration is that on the fastest type. Co-location is
// left out.
base::Result<std::vector<Job>> Gavel(std::string_view jobs, std::string_view throughputs_json);
// sacct --parsable2 with at least JobID, Submit, Elapsed and AllocTRES or ReqTRES; job steps and
// jobs without GPUs are left out.
base::Result<std::vector<Job>> Slurm(std::string_view sacct);

}  // namespace pondage::trace
