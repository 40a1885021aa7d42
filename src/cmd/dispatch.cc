#include "cmd/dispatch.h"

#include <algorithm>
#include <string>
#include <system_error>

#include "cmd/context.h"
#include "cmd/mains.h"
#include "grammar/help.h"
#include "terminal/stream.h"
#include "terminal/trouble.h"

namespace pondage::cmd {
namespace {

// Attached `run`, `exec`, and `wait --exit-status`, stand for the job: every number is the
// program's, so our own failures all share 125.
bool StandsForJob(const std::vector<std::string>& words) {
  const auto end = std::ranges::find(words, "--");
  const auto has = [&](std::string_view word) {
    return std::find(words.begin(), end, word) != end;
  };
  // The first that is a command: what is wrong with a line may keep it from being read.
  const auto first =
      std::find_if(words.begin(), end, [](const auto& word) { return grammar::FindCommand(word); });
  const std::string_view command = first == end ? std::string_view() : std::string_view(*first);
  if (command == "exec") return true;
  if (command == "run") return !has("--detach") && !has("-d") && !has("--dry-run");
  return command == "wait" && has("--exit-status");
}

int Tell(const base::Error& error, const terminal::Screen& screen, bool stands_for_job) {
  terminal::Tell(terminal::TroubleText(error, screen));
  return stands_for_job ? terminal::kPondageFailed : terminal::ExitCodeOf(error);
}

// What follows a job reads on threads of its own.
base::Result<int> Outcome(Context& context) {
  try {
    return MainOf(context.line().command->name)(context);
  } catch (const std::system_error& none) {
    return base::Fail(base::Kind::kUnavailable, "", "",
                      std::string("this machine gives no thread or the like: ") + none.what());
  }
}

}  // namespace

bool AsksForHelp(const std::vector<std::string>& words) {
  const auto end = std::ranges::find(words, "--");
  return std::any_of(words.begin(), end,
                     [](const std::string& word) { return word == "--help" || word == "-h"; });
}

int Dispatch(const std::vector<std::string>& words) {
  const terminal::Surroundings around = terminal::Surroundings::OfThisProcess();
  const bool stands_for_job = StandsForJob(words);
  auto settings = client::Settings::Load(around, client::ReadWholeFile);
  auto line = grammar::ParseLine(words);
  auto screen = ScreenFor(line ? *line : grammar::Invocation(),
                          settings ? *settings : client::Settings(), around);
  if (!line) return Tell(line.error(), *screen, stands_for_job);
  if (!settings) return Tell(settings.error(), *screen, stands_for_job);
  if (line->command == nullptr || line->Has("help")) {
    Context context(*line, around, *std::move(settings), *screen);
    context.Print(line->command == nullptr ? grammar::OverviewText(*screen)
                                           : grammar::HelpText(*line->command, *screen));
    return line->command == nullptr && !line->Has("help") && !words.empty() ? terminal::kUsage
                                                                            : terminal::kDone;
  }
  Context context(*std::move(line), around, *std::move(settings), *screen);
  auto outcome = Outcome(context);
  context.NoteWarnings();
  return outcome ? *outcome : Tell(outcome.error(), context.screen(), stands_for_job);
}

}  // namespace pondage::cmd
