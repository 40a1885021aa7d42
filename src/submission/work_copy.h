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
#include "client/json.h"

namespace pondage::submission {

namespace json = boost::json;

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
  std::vector<std::string> left_out;     // relative; sockets, pipes and devices
  base::Bytes size;
};

// PND-C011, naming what is largest, when it would be over `limit` or 100,000 files.
base::Result<CopyPlan> PlanCopy(const std::string& directory, base::Bytes limit);
// Of a copy that another job runs in, as it lies there now.
base::Result<CopyPlan> PlanCopyOfCopy(const std::string& copy, base::Bytes limit);

inline constexpr base::Bytes kCopyLimit{std::int64_t{1} << 30};  // where no other is given

// Where the copies lie, below a server's data directory.
std::string CopiesOf(const std::string& data_dir);

// A TFJob that ran in the copy `from`, or below it, is to run in `to`.
void MoveJob(json::object& job, const std::string& from, const std::string& to);

// A symbolic link leads into the copy if it led into the directory, else where it led.
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
