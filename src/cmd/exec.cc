#include "client/exec.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <optional>

#include "client/kube.h"
#include "cmd/context.h"
#include "cmd/mains.h"
#include "terminal/raw.h"
#include "terminal/stream.h"
#include "view/job_view.h"

namespace pondage::cmd {
namespace {

client::WindowSize WindowNow() {
  winsize size{};
  if (ioctl(STDIN_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return {};
  return {size.ws_col, size.ws_row};
}

// The one that is asked for, else the first that runs: the chief, or worker 0.
base::Result<view::ReplicaPlace> Choose(const view::JobView& job, const std::string& wanted) {
  std::string replica;
  if (!wanted.empty()) {
    TRY(replica, view::ReplicaName(wanted));
  }
  const auto all = view::PlacesOf(job, "");
  for (const view::ReplicaPlace& place : all) {
    if (replica.empty() ? place.replica.starts_with("chief/") : place.replica == replica) {
      return place;
    }
  }
  if (replica.empty() && !all.empty()) return all.front();
  return std::unexpected(view::NoSuchReplica(job, replica));
}

}  // namespace

base::Result<int> ExecMain(Context& context) {
  const grammar::Invocation& line = context.line();
  TRY(client::Client * client, context.Server());
  TRY(const std::string space, context.Space());
  const std::string& name = line.words[0];
  TRY(const json::value object, client->Get(client::TfJobPath(space, name)));
  TRY(const view::ReplicaPlace place, Choose(view::ViewJob(object), line.Value("replica")));

  const terminal::Screen& screen = context.screen();
  client::ExecWish wish;
  wish.pod_path = client::PodPath(space, place.pod);
  wish.command = line.program;
  wish.in = line.Has("no-stdin") ? -1 : STDIN_FILENO;
  wish.terminal = wish.in >= 0 && screen.in_is_terminal && screen.out_is_terminal;
  wish.on_out = [](std::string_view bytes) { terminal::Print(bytes); };
  wish.on_err = [](std::string_view bytes) { terminal::Tell(bytes); };
  wish.window = WindowNow;
  std::optional<terminal::Raw> raw;
  if (wish.terminal) raw.emplace(STDIN_FILENO);
  return client::Exec(client->place(), wish);
}

}  // namespace pondage::cmd
