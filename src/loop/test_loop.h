// A loop around a store in memory, a runner that notes its orders and a clock set by hand: for
// tests.
//
// One thread. Not part of the server.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "loop/loop.h"
#include "manifest/object.h"
#include "manifest/pod.h"
#include "manifest/tfjob.h"
#include "port/faulty_store.h"
#include "port/memory_store.h"

namespace pondage::loop {

inline constexpr const char* kTfJobs = "tfjobs.kubeflow.org";

// Remembers what it was ordered to do.
class NotedRunner : public port::Runner {
 public:
  void Listen(Sink given) override { sink = std::move(given); }
  void Adopt(const std::vector<Known>& known) override {
    for (const Known& one : known) {
      orders.push_back((one.seen_started ? "adopt " : "expect ") + one.uid);
    }
    if (sink && !holds_back) sink(port::AllTold{});
  }
  void Start(const std::string& uid, int start, MakeLaunch make) override {
    if (const auto launch = make(); !launch) return sink(port::Refused(uid, start, launch.error()));
    orders.push_back("start " + uid);
    last_uid = uid;
  }
  void Stop(const std::string& uid, base::Millis grace) override {
    orders.push_back("stop " + uid);
    last_grace = grace;
  }
  void Kill(const std::string& uid) override { orders.push_back("kill " + uid); }
  void Forget(const std::string& uid, int) override { orders.push_back("forget " + uid); }
  void Erase(const std::string& uid) override { orders.push_back("erase " + uid); }

  Sink sink;
  bool holds_back = false;  // it is long in telling what became of those it adopted
  std::vector<std::string> orders;
  std::string last_uid;
  base::Millis last_grace;
};

class UidLauncher : public port::Launcher {
 public:
  base::Result<port::Launch> LaunchOf(const std::string& pod_body, int start) override {
    TRY(const auto pod, manifest::ParseJson(pod_body));
    if (fails) return base::Fail(base::Kind::kNotFound, "PND-E001", "", "no such environment");
    return port::Launch{.uid = std::string(pod.at("metadata").at("uid").as_string()),
                        .start = start};
  }
  void Discard(const std::string& job_body) override { discarded.push_back(job_body); }
  std::string ServedBy(const std::string& image) override {
    return served.empty() ? "" : image + " by " + served;
  }
  void DropClaim(const std::string& uid) override { dropped.push_back(uid); }
  bool fails = false;
  std::vector<std::string> dropped;  // data of claims
  std::string served;
  std::vector<std::string> discarded;
};

// Some of it cannot be read any more, or for a while nothing at all.
class WornStore : public port::MemoryStore {
 public:
  base::Result<port::Object> Get(const port::Key& key) const override {
    if (damaged.contains(key) && away) {
      return base::Fail(base::Kind::kUnavailable, "PND-S004", "", "the disk is away");
    }
    if (damaged.contains(key)) return Damage(key);
    return MemoryStore::Get(key);
  }
  base::Result<port::Listing> List(const port::ListQuery& query) const override {
    auto listing = MemoryStore::List(query);
    if (!listing) return listing;
    for (const port::Object& object : listing->objects) {
      if (damaged.contains(object.key)) return Damage(object.key);
    }
    return listing;
  }
  base::Result<std::vector<port::Key>> Live(const std::string& kind) const override {
    if (blind) return base::Fail(base::Kind::kUnavailable, "PND-S004", "", "the disk is away");
    return MemoryStore::Live(kind);
  }

  std::set<port::Key> damaged;
  bool blind = false;
  bool away = false;  // what is damaged cannot be read now, but perhaps later

 private:
  static std::unexpected<base::Error> Damage(const port::Key& key) {
    return base::Fail(base::Kind::kCorrupt, "PND-S003", key.name, "is not what was written");
  }
};

class LoopTest : public testing::Test {
 protected:
  LoopTest() : faulty_(store_, base::Random(1), {0, 0}) {
    clock_.Set({1'767'225'600'000});
    MakeLoop();
    fleet::Node node{.name = "n1", .cpu = {8'000}, .memory = {std::int64_t{1} << 36}};
    for (int i = 0; i < 2; ++i) node.gpus.push_back({.id = fmt::format("gpu-{}", i)});
    loop_->See(node, {});
    loop_->Turn();
    EXPECT_TRUE(
        Create("queues.pondage.dev", "", Object("pondage.dev/v1alpha1", "Queue", "default", {})));
  }

  void MakeLoop() {
    loop_ = std::make_unique<Loop>(settings_, faulty_, runner_, clock_, launcher_);
    runner_.Listen([this](port::Reading reading) { loop_->Tell(std::move(reading)); });
  }

  static boost::json::object Object(const std::string& version, const std::string& kind,
                                    const std::string& name, boost::json::object spec) {
    return {{"apiVersion", version},
            {"kind", kind},
            {"metadata",
             {{"name", name},
              {"namespace", "default"},
              {"uid", manifest::UidFrom(kind + name)},
              {"creationTimestamp", "2026-01-01T00:00:00Z"}}},
            {"spec", std::move(spec)}};
  }

  static boost::json::object Job(const std::string& name, int workers) {
    boost::json::object container{{"name", "tensorflow"},
                                  {"image", "tf"},
                                  {"command", {"train"}},
                                  {"resources", {{"limits", {{"nvidia.com/gpu", 1}}}}}};
    boost::json::object pod{{"spec", {{"containers", boost::json::array{container}}}}};
    return Object("kubeflow.org/v1", "TFJob", name,
                  {{"tfReplicaSpecs", {{"Worker", {{"replicas", workers}, {"template", pod}}}}}});
  }

  static port::Change ChangeOf(const std::string& kind, const std::string& space,
                               const boost::json::object& object) {
    manifest::Packed packed = manifest::Pack(object);
    return {.key = {kind, space, std::string(object.at("metadata").at("name").as_string())},
            .uid = std::string(object.at("metadata").at("uid").as_string()),
            .body = packed.body,
            .splice = packed.splice,
            .facets = manifest::Facets(object, {})};
  }

  base::Result<port::Written> Write(port::Write write) {
    std::optional<base::Result<port::Written>> answer;
    loop_->Submit(std::move(write), [&](base::Result<port::Written> written) { answer = written; });
    loop_->Turn();
    EXPECT_TRUE(answer.has_value()) << "every writer is answered";
    return answer.value_or(base::Fail(base::Kind::kUnavailable, "", "", "no answer"));
  }

  base::Result<port::Written> Create(const std::string& kind, const std::string& space,
                                     const boost::json::object& object) {
    return Write({.op = port::Write::Op::kCreate, .change = ChangeOf(kind, space, object)});
  }

  base::Result<port::Written> Delete(const std::string& kind, const std::string& name) {
    return Write({.op = port::Write::Op::kDelete, .change = {.key = {kind, "default", name}}});
  }

  base::Result<port::Written> Replace(const std::string& kind, const boost::json::object& object,
                                      const std::string& space = "default") {
    return Write({.op = port::Write::Op::kReplace, .change = ChangeOf(kind, space, object)});
  }

  boost::json::object Stored(const std::string& kind, const std::string& name,
                             const std::string& space = "default") {
    return manifest::ParseJson(*store_.Get({kind, space, name})->body)->as_object();
  }

  std::size_t Count(const std::string& kind) { return store_.List({.kind = kind})->objects.size(); }

  job::Status StatusOf(const std::string& name) {
    const auto object = store_.Get({kTfJobs, "default", name});
    const auto job = manifest::DecodeTfJob(*object->body, [](const std::string&) { return 0; });
    return job->status;
  }

  Settings settings_;
  port::ManualClock clock_;
  WornStore store_;
  port::FaultyStore faulty_;
  NotedRunner runner_;
  const std::shared_ptr<UidLauncher> launcher_ = std::make_shared<UidLauncher>();
  std::unique_ptr<Loop> loop_;
};

}  // namespace pondage::loop
