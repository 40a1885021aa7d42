#include "sim/world.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "manifest/charge.h"
#include "manifest/kinds.h"
#include "manifest/object.h"
#include "manifest/pod.h"
#include "manifest/queue.h"
#include "manifest/tfjob.h"

namespace pondage::sim {
namespace {

constexpr const char* kTfJobs = "tfjobs.kubeflow.org";
constexpr base::Instant kBeginning{1'767'225'600'000};  // 2026-01-01T00:00:00Z

boost::json::object TemplateOf(const JobPlan& plan, base::Role role) {
  const bool computes = role == base::Role::kWorker || !plan.replicas.contains(base::Role::kWorker);
  boost::json::object container{{"name", "tensorflow"}, {"image", "model"}, {"command", {"train"}}};
  if (computes && plan.gpus > 0) {
    container["resources"] = {{"limits", {{"nvidia.com/gpu", plan.gpus}}}};
  }
  return {{"spec",
           {{"terminationGracePeriodSeconds", plan.grace_s},
            {"containers", boost::json::array{std::move(container)}}}}};
}

boost::json::object ManifestOf(const JobPlan& plan, base::Instant now) {
  boost::json::object roles;
  for (const auto& [role, replicas] : plan.replicas) {
    roles[job::RoleName(role)] = {{"replicas", replicas},
                                  {"restartPolicy", plan.restart},
                                  {"template", TemplateOf(plan, role)}};
  }
  boost::json::object policy{{"suspend", plan.suspend}};
  if (!plan.clean.empty()) policy["cleanPodPolicy"] = plan.clean;
  if (plan.backoff) policy["backoffLimit"] = *plan.backoff;
  if (plan.deadline_s) policy["activeDeadlineSeconds"] = *plan.deadline_s;
  if (plan.ttl_s) policy["ttlSecondsAfterFinished"] = *plan.ttl_s;
  boost::json::object gang;
  if (!plan.queue.empty()) gang["queue"] = plan.queue;
  if (plan.min_available) gang["minAvailable"] = *plan.min_available;
  if (!gang.empty()) policy["schedulingPolicy"] = std::move(gang);
  boost::json::object annotations;
  for (const auto& [key, value] : plan.annotations) annotations[key] = value;
  boost::json::object spec{{"runPolicy", std::move(policy)}, {"tfReplicaSpecs", std::move(roles)}};
  if (plan.dynamic_worker) spec["enableDynamicWorker"] = true;
  if (plan.all_workers) spec["successPolicy"] = "AllWorkers";
  return {{"apiVersion", "kubeflow.org/v1"},
          {"kind", "TFJob"},
          {"metadata",
           {{"name", plan.name},
            {"namespace", "default"},
            {"uid", manifest::UidFrom(fmt::format("{} {}", plan.name, now.unix_ms))},
            {"creationTimestamp", manifest::FormatTime(now)},
            {"annotations", std::move(annotations)}}},
          {"spec", std::move(spec)}};
}

// The key of an object in namespace "default" or in cluster scope, as its kind has it.
port::Key KeyOf(const std::string& kind, const std::string& name) {
  const auto known = std::ranges::find(manifest::Kinds(), kind, &manifest::Kind::storage);
  REQUIRE(known != manifest::Kinds().end());
  return {kind, known->namespaced ? "default" : "", name};
}

port::Change ChangeOf(const std::string& kind, const boost::json::object& object) {
  const boost::json::object& metadata = object.at("metadata").as_object();
  const auto* space = metadata.if_contains("namespace");
  manifest::Packed packed = manifest::Pack(object);
  return {.key = {kind, space == nullptr ? "" : std::string(space->as_string()),
                  std::string(metadata.at("name").as_string())},
          .uid = std::string(metadata.at("uid").as_string()),
          .body = std::move(packed.body),
          .splice = packed.splice,
          .facets = manifest::Facets(object, {})};
}

}  // namespace

World::World(std::uint64_t seed, bool faulty_store) : random_(seed), machine_(clock_) {
  clock_.Set(kBeginning);
  if (faulty_store) {
    faulty_ = std::make_unique<port::FaultyStore>(memory_, base::Random(random_.Next()),
                                                  port::FaultyStore::Odds{});
  }
  machine_.Play([this](const std::string& job, const std::string& replica) {
    Script script = scripts_.at(job);
    const bool has_chief = !pool().jobs().empty() && replica.starts_with("ps");
    script.serves_for_ever = script.serves_for_ever || has_chief;
    return script;
  });
  MakeLoop();
}

void World::MakeLoop() {
  loop::Settings settings;
  settings.node_name = "n1";
  server_clock_ =
      std::make_unique<port::ForwardClock>([this] { return (now() + wall_ahead_).unix_ms * 1000; },
                                           [this] { return now().unix_ms * 1000; });
  port::Store& store = faulty_ ? static_cast<port::Store&>(*faulty_) : memory_;
  loop_ = std::make_unique<loop::Loop>(settings, store, machine_, *server_clock_, launcher_);
  machine_.Listen([this](port::Reading reading) { loop_->Tell(std::move(reading)); });
  due_ = server_clock_->Now();
}

void World::AddNode(fleet::Node node) {
  loop_->See(std::move(node), {});
  due_ = server_clock_->Now();
  Turn();
}

base::Result<void> World::AddQueue(const std::string& name, const std::string& parent,
                                   int guarantee, std::optional<int> limit) {
  boost::json::object spec{{"guarantee", {{"nvidia.com/gpu", guarantee}}}};
  if (!parent.empty()) spec["parent"] = parent;
  if (limit) spec["limit"] = {{"nvidia.com/gpu", *limit}};
  const boost::json::object queue{{"apiVersion", "pondage.dev/v1alpha1"},
                                  {"kind", "Queue"},
                                  {"metadata",
                                   {{"name", name},
                                    {"uid", manifest::UidFrom("queue " + name)},
                                    {"creationTimestamp", manifest::FormatTime(now())}}},
                                  {"spec", std::move(spec)}};
  return Write({.op = port::Write::Op::kCreate, .change = ChangeOf("queues.pondage.dev", queue)});
}

base::Result<void> World::Apply(const JobPlan& plan) {
  scripts_["default/" + plan.name] = plan.script;
  boost::json::object object = ManifestOf(plan, now());
  manifest::Canonicalise(object);
  return Write({.op = port::Write::Op::kCreate, .change = ChangeOf(kTfJobs, object)});
}

base::Result<void> World::Delete(const std::string& kind, const std::string& name) {
  return Write({.op = port::Write::Op::kDelete, .change = {.key = KeyOf(kind, name)}});
}

base::Result<void> World::SetSuspend(const std::string& job, bool suspend) {
  return Edit(kTfJobs, job, [suspend](boost::json::object& object) {
    object["spec"].as_object()["runPolicy"].as_object()["suspend"] = suspend;
  });
}

base::Result<void> World::SetReplicas(const std::string& job, base::Role role, int replicas) {
  return Edit(kTfJobs, job, [&](boost::json::object& object) {
    boost::json::object& roles = object["spec"].as_object()["tfReplicaSpecs"].as_object();
    roles[job::RoleName(role)].as_object()["replicas"] = replicas;
  });
}

base::Result<void> World::Edit(const std::string& kind, const std::string& name,
                               const std::function<void(boost::json::object&)>& edit) {
  TRY(const port::Object old, memory_.Get(KeyOf(kind, name)));
  TRY(boost::json::value value, manifest::ParseJson(*old.body));
  edit(value.as_object());
  return Write({.op = port::Write::Op::kReplace,
                .change = ChangeOf(kind, value.as_object()),
                .expected = old.revision});
}

base::Result<void> World::Write(port::Write write) {
  base::Result<void> outcome;
  loop_->Submit(std::move(write), [&outcome](base::Result<port::Written> written) {
    if (!written) outcome = std::unexpected(written.error());
  });
  Turn();
  return outcome;
}

bool World::Strike(const std::string& job, const std::string& replica, int code) {
  for (const Machine::Running& running : machine_.Alive()) {
    if (running.job != "default/" + job || running.replica != replica) continue;
    machine_.Strike(running.uid, code);
    due_ = server_clock_->Now();
    return true;
  }
  return false;
}

void World::CrashServer() {
  machine_.Deafen();
  loop_.reset();
  MakeLoop();
}

void World::LosePower() {
  machine_.LosePower();
  CrashServer();
}

void World::SetClock(base::Millis by) {
  wall_ahead_ = wall_ahead_ + by;
  machine_.SetWall(wall_ahead_);
}

void World::FairWeather() {
  if (faulty_) faulty_->SetOdds({0, 0});
  machine_.Hamper([] { return base::Millis{0}; });
}

void World::Turn() {
  due_ = loop_->Turn();
}

base::Instant World::NextEvent() const {
  const base::Millis wait = due_ - server_clock_->Now();
  const base::Instant due = due_ == base::kNever ? due_ : now() + std::max(wait, base::Millis{0});
  return std::min(due, machine_.NextEvent());
}

void World::Pass(base::Millis length, const std::function<void()>& each) {
  const base::Instant until = now() + length;
  while (NextEvent() <= until) {
    clock_.Set(std::max(now(), NextEvent()));
    machine_.Advance(now());
    Turn();
    each();
  }
  clock_.Set(until);
}

std::optional<boost::json::object> World::Stored(const std::string& kind,
                                                 const std::string& name) const {
  const auto object = memory_.Get(KeyOf(kind, name));
  if (!object) return std::nullopt;
  auto value = manifest::ParseJson(*object->body);
  return value ? std::optional(std::move(value->as_object())) : std::nullopt;
}

std::string World::Line(const std::string& name) const {
  const auto stored = Stored(kTfJobs, name);
  if (!stored) return name + "  gone";
  const auto job =
      manifest::DecodeTfJob(boost::json::serialize(*stored), [](const std::string&) { return 0; });
  if (!job) return name + "  unreadable";
  const job::Status& status = job->status;
  std::string line = name + "  ";
  line += status.conditions.empty() ? "-" : status.conditions.back().type;
  for (const job::Replica& replica : status.replicas) {
    if (!replica.grant) continue;
    line +=
        fmt::format("  {}-{}@{}", job::RoleLabel(replica.role), replica.index, replica.grant->node);
    for (const int gpu : replica.grant->gpus) line += fmt::format(":{}", gpu);
  }
  if (status.restarts > 0) line += fmt::format("  restarts={}", status.restarts);
  if (status.stage == job::Stage::kWaiting && status.reason) {
    line += fmt::format("  [{}] {}", status.reason->constraint, status.reason->message);
  }
  return line;
}

std::vector<std::string> World::BrokenLaws() const {
  std::vector<std::string> broken = pool::BrokenLaws(pool());
  std::map<std::string, std::string> users;
  for (const Machine::Running& running : machine_.Alive()) {
    for (const std::string& gpu : running.gpus) {
      const auto [user, is_new] = users.emplace(gpu, running.job + " " + running.replica);
      if (!is_new) broken.push_back("two programs on GPU " + gpu + ": " + user->second);
    }
  }
  for (const auto& [start, times] : machine_.starts()) {
    if (times > 1) broken.push_back("started twice: " + start);
  }
  return broken;
}

std::vector<ledger::Entry> World::Charges() const {
  std::vector<ledger::Entry> charges;
  const auto lines = memory_.Records("ledger", 0, 1'000'000);
  for (const std::string& line : *lines) {
    auto entry = manifest::DecodeCharge(line);
    REQUIRE(entry.has_value());
    charges.push_back(std::move(*entry));
  }
  return charges;
}

std::string World::Everything() const {
  std::string all;
  for (const manifest::Kind& kind : manifest::Kinds()) {
    if (kind.storage.empty()) continue;
    const auto listed = memory_.List({.kind = std::string(kind.storage)});
    for (const port::Object& object : listed->objects) {
      all += fmt::format("{} {}\n", object.revision, *object.body);
    }
  }
  const auto charges = memory_.Records("ledger", 0, 1'000'000);
  for (const std::string& charge : *charges) all += charge + "\n";
  return all;
}

}  // namespace pondage::sim
