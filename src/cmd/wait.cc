#include <fmt/core.h>

#include "cmd/context.h"
#include "cmd/mains.h"
#include "session/waiting.h"
#include "terminal/trouble.h"
#include "view/job_view.h"

namespace pondage::cmd {
using base::Fail;
using base::Kind;

base::Result<int> WaitMain(Context& context) {
  const grammar::Invocation& line = context.line();
  TRY(client::Client * client, context.Server());
  TRY(const std::string space, context.Space());
  TRY(const auto limit, line.Length("timeout"));
  const std::string what = line.Value("for", "finished");
  const std::string& name = line.words[0];
  std::optional<base::Instant> saved_before;
  bool first = true;
  TRY(const auto job, session::WaitUntil(
                          *client, space, name,
                          [&](const view::JobView& view) {
                            if (first) saved_before = view.saved;
                            first = false;
                            if (view::IsEnd(view.state)) return true;
                            if (what == "running") return view.state == view::JobState::kRunning;
                            return what == "checkpoint" && view.saved && view.saved != saved_before;
                          },
                          limit));
  if (!job) {
    return Fail(Kind::kNotFound, "PND-C014", name, fmt::format("job {} was deleted", name));
  }
  if (context.screen().format == terminal::Format::kJson) context.Print(view::RenderJobLine(*job));
  if (line.Has("exit-status") && view::IsEnd(job->state)) {
    if (job->exit_code && (job->state == view::JobState::kSucceeded || *job->exit_code != 0)) {
      return static_cast<int>(*job->exit_code & 0xff);
    }
    return Fail(Kind::kInvalid, "PND-C014", name, fmt::format("{}: {}", name, job->failure));
  }
  if (job->state == view::JobState::kFailed) return terminal::kNegative;
  if (what == "checkpoint" && (!job->saved || job->saved == saved_before))
    return terminal::kNegative;
  return terminal::kDone;
}

}  // namespace pondage::cmd
