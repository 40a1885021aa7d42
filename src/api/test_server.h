// For tests only: ports in memory, a writer that applies what it is handed at once, and the API or
// a whole server over them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/json.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "api/api.h"
#include "api/meta.h"
#include "api/pki.h"
#include "api/server.h"
#include "api/table.h"
#include "api/tokens.h"
#include "base/test_directory.h"
#include "manifest/object.h"
#include "port/memory_store.h"

namespace pondage::api {

// Applies each write at once, by the rules of port::Writer. It knows no jobs.
class TestWriter : public port::Writer {
 public:
  explicit TestWriter(port::Store& store) : store_(store) {}

  void Submit(port::Write write, Done done) override {
    base::Result<port::Written> written;
    {
      const std::lock_guard lock(mutex_);
      ++submitted;
      if (before) before(write);
      written = Apply(write);
    }
    done(std::move(written));
  }

  // Called with the lock held, before a write is applied: to lose races on purpose.
  std::function<void(const port::Write&)> before;
  int submitted = 0;

  base::Result<port::Revision> Put(port::Change change) {
    return store_.Commit({.changes = {std::move(change)}, .records = {}});
  }

 private:
  base::Result<port::Written> Apply(const port::Write& write) {
    const auto old = store_.Get(write.change.key);
    if (write.op == port::Write::Op::kCreate) {
      if (old) return base::Fail(base::Kind::kAlreadyExists, "", "", "already exists");
      return Store(write);
    }
    if (!old) return std::unexpected(old.error());
    if ((write.expected && *write.expected != old->revision) ||
        (!write.expected_uid.empty() && write.expected_uid != old->uid)) {
      return base::Fail(base::Kind::kConflict, "", "", "moved");
    }
    if (write.op == port::Write::Op::kReplace) {
      if (*old->body == write.change.body) return port::Written{*old};
      TRY(port::Written written, Store(write));
      const bool released = manifest::IsBeingDeleted(write.change.body) &&
                            !write.change.body.contains("\"finalizers\":[\"");
      if (!released || write.dry_run) return written;
      return Delete(write, written.object);
    }
    return Delete(write, *old);
  }

  base::Result<port::Written> Store(const port::Write& write) {
    if (write.dry_run) {
      return port::Written{{.key = write.change.key,
                            .uid = write.change.uid,
                            .body = std::make_shared<const std::string>(write.change.body),
                            .splice = write.change.splice,
                            .facets = std::make_shared<const std::string>(write.change.facets)}};
    }
    port::Batch batch{.changes = {write.change}, .records = {}};
    batch.changes.insert(batch.changes.end(), write.with.begin(), write.with.end());
    TRY_DO(store_.Commit(batch));
    TRY(auto stored, store_.Get(write.change.key));
    return port::Written{std::move(stored)};
  }

  base::Result<port::Written> Delete(const port::Write& write, const port::Object& old) {
    if (write.dry_run) return port::Written{old, true};
    boost::json::object object = boost::json::parse(*old.body).as_object();
    boost::json::object& metadata = object["metadata"].as_object();
    port::Change change = write.change;
    change.uid = old.uid;
    change.facets = *old.facets;
    if (metadata.contains("finalizers") && !metadata["finalizers"].as_array().empty()) {
      metadata["deletionTimestamp"] = "2030-01-01T00:00:00Z";
      manifest::Packed packed = manifest::Pack(object);
      change.body = std::move(packed.body);
      change.splice = packed.splice;
      TRY_DO(Put(std::move(change)));
      TRY(auto stored, store_.Get(write.change.key));
      return port::Written{std::move(stored)};
    }
    change.deleted = true;
    change.body = *old.body;
    change.splice = old.splice;
    TRY_DO(Put(std::move(change)));
    return port::Written{old, true};
  }

  port::Store& store_;
  std::mutex mutex_;
};

// What was written, by uid and start; every line at one instant a second after the last.
class TestLogs : public port::Logs {
 public:
  void Write(const std::string& uid, int start, const std::string& bytes, bool ended = false) {
    const std::lock_guard lock(mutex_);
    auto& log = logs_[{uid, start}];
    log.bytes += bytes;
    log.ended = ended;
  }
  // What lies before `begin` is rotated away.
  void Rotate(const std::string& uid, int start, std::int64_t begin) {
    const std::lock_guard lock(mutex_);
    logs_[{uid, start}].begin = begin;
  }
  base::Result<port::LogChunk> Read(const std::string& uid, int start, std::int64_t offset,
                                    std::size_t limit) const override {
    const std::lock_guard lock(mutex_);
    const auto found = logs_.find({uid, start});
    if (found == logs_.end()) return base::Fail(base::Kind::kNotFound, "", uid, "nothing written");
    const auto size = static_cast<std::int64_t>(found->second.bytes.size());
    offset = std::clamp(offset, found->second.begin, size);
    port::LogChunk chunk;
    chunk.offset = offset;
    chunk.bytes = found->second.bytes.substr(static_cast<std::size_t>(offset), limit);
    chunk.ended =
        found->second.ended && offset + static_cast<std::int64_t>(chunk.bytes.size()) == size;
    return chunk;
  }
  base::Result<std::int64_t> TailOffset(const std::string& uid, int start,
                                        std::int64_t lines) const override {
    const std::lock_guard lock(mutex_);
    const std::string& bytes = logs_.at({uid, start}).bytes;
    std::size_t at = bytes.size();
    for (std::int64_t i = 0; i < lines && at > 0; ++i) {
      const auto before = at < 2 ? std::string::npos : bytes.rfind('\n', at - 2);
      at = before == std::string::npos ? 0 : before + 1;
    }
    return static_cast<std::int64_t>(at);
  }
  base::Result<std::int64_t> OffsetSince(const std::string&, int, base::Instant) const override {
    return 6;
  }
  base::Result<std::vector<port::LogMark>> Marks(const std::string&, int, std::int64_t from,
                                                 std::int64_t to) const override {
    ++asked_for_marks;
    std::vector<port::LogMark> marks;
    for (; from < to; ++from) marks.push_back({from, {1'700'000'000'000 + from}});
    return marks;
  }
  mutable std::atomic<int> asked_for_marks{0};

 private:
  struct Log {
    std::string bytes;
    bool ended = false;
    std::int64_t begin = 0;
  };
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, Log> logs_;
};

class TestTelemetry : public port::Telemetry {
 public:
  port::GpuInventory Gpus() const override {
    port::GpuInventory inventory;
    inventory.gpus.push_back({.id = "virtual-0", .type = "T4", .is_virtual = true});
    inventory.gpus.back().processes.push_back({.pid = 4711});
    return inventory;
  }
  std::vector<port::ReplicaReading> Replicas() const override { return replicas; }
  std::vector<port::ReplicaReading> replicas;
};

// Ports and tokens, with the namespace `default` in the store.
struct TestPorts {
  port::MemoryStore store;
  TestWriter writer{store};
  TestLogs logs;
  TestTelemetry telemetry;
  std::unique_ptr<TokenStore> tokens = *TokenStore::Open("");
  std::string admin = *tokens->Create({.name = "admin", .admin = true});
  std::string guest = *tokens->Create({.name = "guest", .namespaces = {"team"}});

  TestPorts() {
    for (const char* name : {"default", "team"}) {
      Put("", "namespaces",
          boost::json::object{{"apiVersion", "v1"},
                              {"kind", "Namespace"},
                              {"metadata", {{"name", name}, {"uid", name}}},
                              {"status", {{"phase", "Active"}}}});
    }
  }
  port::Revision Put(std::string_view group, std::string_view plural,
                     const boost::json::object& object) {
    auto revision = writer.Put(ChangeOf(*manifest::FindKind(group, plural), object));
    EXPECT_TRUE(revision);
    return *revision;
  }
  base::Instant Now() const { return {1'800'000'000'000}; }
};

// The API without a transport: requests as values.
struct TestApi : TestPorts {
  std::vector<std::function<void()>> tasks;
  Watchers watchers{store,
                    [this](std::function<void()> task) { tasks.push_back(std::move(task)); }};
  std::function<base::Result<void>()> admit_new;
  std::function<base::Result<void>(const boost::json::object&)> admit_tfjob;
  Api api{World{.store = store,
                .writer = writer,
                .logs = logs,
                .telemetry = telemetry,
                .tokens = *tokens,
                .now = [this] { return Now(); },
                .post = [this](std::function<void()> task) { tasks.push_back(std::move(task)); },
                .admit_new = [this]() -> base::Result<void> {
                  if (admit_new) return admit_new();
                  return {};
                },
                .admit_tfjob = [this](const boost::json::object& job) -> base::Result<void> {
                  if (admit_tfjob) return admit_tfjob(job);
                  return {};
                },
                .metrics = [] { return std::string("up 1\n"); }},
          watchers};

  void RunTasks() {
    while (!tasks.empty()) {
      auto task = std::move(tasks.front());
      tasks.erase(tasks.begin());
      task();
    }
  }
  Response Ask(const std::string& method, const std::string& target, std::string body = "",
               const std::string& type = "application/json", const std::string& accept = "",
               std::string token = "") {
    Request request = *MakeRequest(method, target);
    request.accept = accept;
    request.content_type = type;
    request.body = std::move(body);
    request.authorization = "Bearer " + (token.empty() ? admin : token);
    std::optional<Response> answer;
    api.Handle(std::move(request), [&](Response response) { answer = std::move(response); });
    RunTasks();
    EXPECT_TRUE(answer) << method << " " << target << " was not answered";
    return answer ? *std::move(answer) : Response{};
  }
  // The whole answer as JSON.
  boost::json::value Json(Response response) {
    if (response.stream) Drain(*response.stream, response.body);
    boost::system::error_code error;
    auto value = boost::json::parse(response.body, error);
    EXPECT_FALSE(error) << response.body;
    return value;
  }
  // What a stream says now; false: it ended.
  bool Drain(Stream& stream, std::string& out) {
    for (;;) {
      RunTasks();
      const Stream::Next next = stream.Fill(out);
      if (next == Stream::Next::kEnd || next == Stream::Next::kBroken) return false;
      if (next == Stream::Next::kWait) return true;
    }
  }
};

struct Ran {
  int code = -1;
  std::string output;
};

// A real server on a free port, with a directory for what clients keep.
struct TestServer : TestPorts {
  port::Exec* exec = nullptr;
  KeyPair authority = *MakeAuthority(RealNow());
  KeyPair certificate = *MakeServerCertificate(authority, {}, RealNow());
  Server server{ServerOptions{.listener = *Listener::On("127.0.0.1", 0),
                              .certificate_pem = certificate.certificate_pem,
                              .key_pem = certificate.key_pem,
                              .store = store,
                              .writer = writer,
                              .logs = logs,
                              .telemetry = telemetry,
                              .tokens = *tokens,
                              .now = [] { return RealNow(); },
                              .admit_new = nullptr,
                              .admit_tfjob = nullptr,
                              .metrics = [] { return std::string("up 1\n"); },
                              .exec = exec}};
  const base::TestDirectory place;
  const std::filesystem::path folder = place.path();

  explicit TestServer(port::Exec* programs = nullptr) : exec(programs) {
    const auto started = server.Start();
    EXPECT_TRUE(started) << (started ? "" : started.error().message);
    Write("kubeconfig", Kubeconfig(Url(), authority.certificate_pem, admin));
    Write("guest", Kubeconfig(Url(), authority.certificate_pem, guest, "team"));
    Write("ca.pem", authority.certificate_pem);
  }
  ~TestServer() { server.Stop(); }
  std::string Url() const { return "https://127.0.0.1:" + std::to_string(server.port()); }
  static base::Instant RealNow() {
    return {std::chrono::duration_cast<std::chrono::milliseconds>(
                std::chrono::system_clock::now().time_since_epoch())
                .count()};
  }
  std::string Write(const std::string& name, const std::string& text) {
    std::ofstream(folder / name) << text;
    return (folder / name).string();
  }
  // A shell command with the server's kubeconfig; standard output and error together.
  Ran Run(const std::string& command, const std::string& config = "kubeconfig") {
    const std::string shell = "cd " + folder.string() + " && export HOME=" + folder.string() +
                              " KUBECACHEDIR=" + folder.string() +
                              "/cache KUBECONFIG=" + (folder / config).string() + " && ( " +
                              command + " ) 2>&1";
    Ran ran;
    FILE* pipe = ::popen(shell.c_str(), "r");
    if (!pipe) return ran;
    std::array<char, 4096> part{};
    for (std::size_t got = 0; (got = ::fread(part.data(), 1, part.size(), pipe)) > 0;) {
      ran.output.append(part.data(), got);
    }
    const int status = ::pclose(pipe);
    ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return ran;
  }
  std::string Good(const std::string& command) {
    const Ran ran = Run(command);
    EXPECT_EQ(ran.code, 0) << command << "\n" << ran.output;
    return ran.output;
  }
};

}  // namespace pondage::api
