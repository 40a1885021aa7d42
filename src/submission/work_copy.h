// The copy of a working directory that a job runs in: what belongs to it, how large it is, and its
// making.
//
// One thread. Patterns as in .gitignore: `*` `?` `[...]` `**`, a slash binds to the top, one at the
// end means directories, `!` takes back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"
#include "base/result.h"

namespace pondage::submission {

class Ignore {
 public:
  // Patterns of a .pondageignore behind the built-in ones (.git, caches of Python).
  explicit Ignore(std::string_view patterns);
  // `path`: relative, without a slash in front.
  bool Ignores(std::string_view path, bool is_directory) const;

 private:
  struct Pattern {
    std::string text;
    bool negated = false, directories = false, anchored = false;
  };
  std::vector<Pattern> patterns_;
};

struct CopyPlan {
  std::string source;
  std::vector<std::string> directories;  // relative, parents first
  std::vector<std::string> files;        // relative; regular files and symbolic links
  base::Bytes size;
};

// PND-C011, naming what is largest, when it would be over `limit` or 100,000 files.
base::Result<CopyPlan> PlanCopy(const std::string& directory, base::Bytes limit);

// Into `target`, which must not exist; it and what it holds are readable by the owner only.
// Whatever was made is taken away again on an error.
base::Result<void> MakeCopy(const CopyPlan& plan, const std::string& target);

// A job's copy from its making until the job is sent. The server knows a job's copy by its name,
// `<namespace>.<job>-<letters>`, so it is named anew with the job. What is not kept goes with this.
class WorkCopy {
 public:
  // Below `folder`, for a job of this namespace; makes nothing.
  WorkCopy(std::string folder, std::string space, CopyPlan plan);
  ~WorkCopy();
  WorkCopy(const WorkCopy&) = delete;
  WorkCopy& operator=(const WorkCopy&) = delete;

  std::string PathFor(const std::string& job) const;
  // Made, or renamed, so that it lies at PathFor(job).
  base::Result<void> BelongTo(const std::string& job);
  void Keep() { made_.reset(); }  // a job uses it
  const CopyPlan& plan() const { return plan_; }

 private:
  std::string folder_, space_, letters_;
  CopyPlan plan_;
  std::optional<std::string> made_;
};

}  // namespace pondage::submission
