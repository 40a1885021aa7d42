// Several runs of one workload side by side, and how they are written: JSON, CSV, one page of HTML.
//
// Pure: the same runs give the same bytes. The page asks for nothing over any network.
#pragma once

#include <string>
#include <vector>

#include "report/figures.h"
#include "report/run.h"

namespace pondage::report {

struct Result {
  Run run;                          // of the first seed
  Figures figures;                  // ... too
  std::vector<Figures> seeds = {};  // of all, where there are several
};

struct Report {
  std::string title;    // of the workload: "examples/three-teams.yaml"
  std::string source;   // which trace, how many rows
  std::string command;  // that makes this report again
  std::string version = PONDAGE_VERSION;
  std::vector<Result> results;  // as the story goes: islands first, then pools
};

Report ReportOf(std::string title, std::string source, std::string command, std::vector<Run> runs);

// All figures with what they rest on; no single jobs.
std::string ToJson(const Report& report);

// One line a job and run; of several seeds instead one a run and figure.
std::string ToCsv(const Report& report);

// A cell of it, as RFC 4180 has it.
std::string CsvCell(const std::string& text);

// One page in English and Chinese, light and dark: headline, use over time, waits by queue,
// completion times against baseline and bound, and for small runs who held which GPUs when.
std::string ToHtml(const Report& report);

}  // namespace pondage::report
