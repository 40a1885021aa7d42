#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "client/kube.h"
#include "cmd/context.h"
#include "cmd/mains.h"
#include "session/event_queue.h"
#include "session/follow.h"
#include "session/log_place.h"
#include "terminal/text.h"
#include "terminal/trouble.h"
#include "view/job_view.h"

namespace pondage::cmd {
namespace {

using base::Fail;
using base::Kind;

base::Result<std::string> QueryOf(const grammar::Invocation& line) {
  std::string query;
  TRY(const std::int64_t tail, line.Number("tail", -1, 0, 100'000'000));
  if (tail >= 0) query += fmt::format("&tailLines={}", tail);
  TRY(const auto since, line.Length("since"));
  if (since)
    query += fmt::format("&sinceSeconds={}", std::max<std::int64_t>(since->value / 1000, 1));
  TRY(const std::int64_t attempt, line.Number("attempt", 0, 1, 1'000'000));
  if (attempt > 0) query += fmt::format("&attempt={}", attempt);
  if (line.Has("previous")) query += "&previous=true";
  return query;
}

std::string LogTarget(const std::string& space, const view::ReplicaPlace& source,
                      const std::string& query) {
  return client::PodPath(space, source.pod) + "/log?container=tensorflow" + query;
}

struct LogLine {
  std::string text;  // with its time in front
  bool end = false;
  std::optional<base::Error> error;
};

// One replica's log as a queue of lines, read ahead by a thread of its own.
struct Reader {
  std::string replica;
  session::EventQueue<LogLine> lines{2048};
  std::optional<LogLine> head;
  std::jthread thread;

  void Advance() {
    while (!(head = lines.Pop(std::chrono::seconds(1)))) {
    }
  }
};

// The server's stamp in front of a line; empty: it knows no time of this one.
std::string_view TimeOf(const LogLine& line) {
  return session::StampOf(line.text);
}

// Lines of all replicas in the order in which they were written.
base::Result<void> PrintMerged(Context& context, client::Client& client, const std::string& space,
                               const std::vector<view::ReplicaPlace>& sources,
                               const std::string& query) {
  std::vector<std::unique_ptr<Reader>> readers;
  int width = 0;
  for (const view::ReplicaPlace& source : sources) {
    auto& reader = readers.emplace_back(std::make_unique<Reader>());
    reader->replica = source.replica;
    width = std::max(width, terminal::Width(source.replica));
    reader->thread = std::jthread(
        [reader = reader.get(), fork = std::shared_ptr(client.Fork()),
         target = LogTarget(space, source, query + "&timestamps=true")](std::stop_token stop) {
          auto outcome = fork->Lines(
              target,
              [&](std::string_view line, bool) {
                return reader->lines.Push({std::string(line), false, {}}, stop);
              },
              stop);
          LogLine last{"", true, {}};
          if (!outcome) last.error = outcome.error();
          reader->lines.Push(std::move(last), stop);
        });
  }
  int spoke = 0;
  std::optional<base::Error> error;
  for (const auto& reader : readers) {
    reader->Advance();
    if (!reader->head->end) ++spoke;
    if (reader->head->error && !error) error = reader->head->error;
  }
  if (spoke == 0 && error) return std::unexpected(*error);
  const bool times = context.line().Has("timestamps");
  while (true) {
    Reader* first = nullptr;
    for (const auto& reader : readers) {
      if (reader->head->end) continue;
      if (first == nullptr || TimeOf(*reader->head) < TimeOf(*first->head)) first = reader.get();
    }
    if (first == nullptr) return {};
    std::string_view text = first->head->text;
    if (!times) text.remove_prefix(TimeOf(*first->head).size());
    context.Print(session::LogPrefix(first->replica, width, context.screen()) + std::string(text) +
                  "\n");
    first->Advance();
  }
}

base::Result<void> Download(Context& context, client::Client& client, const std::string& space,
                            const std::vector<view::ReplicaPlace>& sources,
                            const std::string& query, const std::string& folder) {
  std::error_code bad;
  std::filesystem::create_directories(folder, bad);
  for (const view::ReplicaPlace& source : sources) {
    std::string file_name = source.replica + ".log";
    std::ranges::replace(file_name, '/', '-');
    const std::string path = folder + "/" + file_name;
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    if (!file) return Fail(Kind::kInvalid, "PND-C010", "", fmt::format("cannot write {}", path));
    TRY_DO(client.Bytes(LogTarget(space, source, query),
                        [&](std::string_view bytes) {
                          file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
                          return file.good();
                        },
                        {}));
    file.close();
    if (!file) return Fail(Kind::kInvalid, "PND-C010", "", fmt::format("cannot write {}", path));
    context.Print(path + "\n");
  }
  return {};
}

}  // namespace

base::Result<int> LogsMain(Context& context) {
  const grammar::Invocation& line = context.line();
  TRY(client::Client * client, context.Server());
  TRY(const std::string space, context.Space());
  std::string replica;
  if (line.Has("replica")) {
    TRY(replica, view::ReplicaName(line.Value("replica")));
  }
  TRY(std::string query, QueryOf(line));
  TRY(const json::value object, client->Get(client::TfJobPath(space, line.words[0])));
  const view::JobView job = view::ViewJob(object);
  const auto sources = view::PlacesOf(job, replica);
  if (sources.empty()) {
    return std::unexpected(view::NoSuchReplica(job, replica));
  }
  // What never started wrote nothing that would say why.
  if (const std::string trouble = view::StartTrouble(job, context.screen()); !trouble.empty())
    context.Note(trouble + "\n");
  if (line.Has("download")) {
    TRY_DO(Download(context, *client, space, sources, query, line.Value("download")));
    return terminal::kDone;
  }
  // A stopped job writes nothing more until it is resumed: what there is, is shown.
  if (line.Has("follow") && !line.Has("attempt") && !line.Has("previous") &&
      job.state != view::JobState::kStopped) {
    return session::FollowLogs(*client, context.screen(), space, job.name,
                               {replica, query, line.Has("timestamps")});
  }
  if (sources.size() == 1) {
    if (line.Has("timestamps")) query += "&timestamps=true";
    TRY_DO(client->Bytes(LogTarget(space, sources[0], query),
                         [&](std::string_view bytes) {
                           context.Print(bytes);
                           return true;
                         },
                         {}));
    return terminal::kDone;
  }
  TRY_DO(PrintMerged(context, *client, space, sources, query));
  return terminal::kDone;
}

}  // namespace pondage::cmd
