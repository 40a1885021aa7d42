#include "session/waiting.h"

#include <fmt/core.h>

#include <chrono>
#include <thread>

#include "client/kube.h"
#include "terminal/interrupt.h"
#include "terminal/text.h"

namespace pondage::session {

base::Result<std::optional<view::JobView>> WaitUntil(
    client::Client& client, const std::string& space, const std::string& name,
    const std::function<bool(const view::JobView&)>& enough, std::optional<base::Millis> limit) {
  const auto begun = std::chrono::steady_clock::now();
  std::optional<view::JobView> last;
  bool done = false;
  bool gone = false;
  std::stop_source stop;
  terminal::Interrupt interrupt;
  std::jthread clock([&](std::stop_token ended) {
    while (!ended.stop_requested() && !stop.stop_requested()) {
      const auto passed = std::chrono::steady_clock::now() - begun;
      if (interrupt.Came() || (limit && passed > std::chrono::milliseconds(limit->value))) {
        stop.request_stop();
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  });
  client::Watching watching;
  bool seen = false;
  watching.on_change = [&](const client::Change& change) {
    seen = true;
    gone = change.type == client::Change::Type::kDeleted;
    if (!gone) last = view::ViewJob(change.object);
    done = gone || enough(*last);
    return !done;
  };
  watching.on_listed = [&] {
    if (!seen) gone = true;
    if (!seen) stop.request_stop();
  };
  watching.patience = std::chrono::hours(24);
  auto outcome = client::Watch(
      client,
      client::TfJobPath(space) + "?fieldSelector=" + client::PercentEncode("metadata.name=" + name),
      watching, stop.get_token());
  clock.request_stop();
  if (!outcome) return std::unexpected(outcome.error());
  if (!seen) {
    return base::Fail(base::Kind::kNotFound, "PND-C008", "",
                      fmt::format("no job \"{}\" in namespace {}", name, space));
  }
  if (gone) return std::optional<view::JobView>();
  if (done) return last;
  if (interrupt.Came()) return base::Fail(base::Kind::kUnavailable, "PND-C006", "", "interrupted");
  return base::Fail(
      base::Kind::kUnavailable, "PND-C006", "",
      fmt::format("job {} is {} after {}", name, last ? view::StateName(last->state) : "unknown",
                  terminal::LongAge(*limit)));
}

}  // namespace pondage::session
