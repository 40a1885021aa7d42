#include "sim/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/assert.h"
#include "manifest/object.h"

namespace pondage::sim {
namespace {

constexpr base::Millis kTellAfter{5'000};
constexpr base::Millis kGiveUpAfter{120'000};
constexpr const char* kStopped = "it was stopped before it started";

std::string Text(const boost::json::value& object, std::string_view key) {
  const auto* found = object.is_object() ? object.get_object().if_contains(key) : nullptr;
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : "";
}

}  // namespace

base::Result<port::Launch> PlainLauncher::LaunchOf(const std::string& pod_body, int start) {
  TRY(const boost::json::value pod, manifest::ParseJson(pod_body));
  const boost::json::value& metadata = pod.at("metadata");
  const boost::json::value& labels = metadata.at("labels");
  port::Launch launch{.uid = Text(metadata, "uid"), .start = start};
  launch.env["JOB"] =
      Text(metadata, "namespace") + "/" + Text(labels, "training.kubeflow.org/job-name");
  launch.env["REPLICA"] = Text(labels, "training.kubeflow.org/replica-type") + "-" +
                          Text(labels, "training.kubeflow.org/replica-index");
  launch.env["NODE"] = Text(pod.at("spec"), "nodeName");
  launch.env["GPUS"] = Text(metadata.at("annotations"), "pondage.dev/gpus");
  return launch;
}

void Machine::Start(const std::string& uid, int start, MakeLaunch make) {
  claimed_.insert(uid);
  const auto old = programs_.find(uid);
  if (old != programs_.end() && old->second.launch.start >= start) return;  // carried out
  const auto asked = preparing_.find(uid);
  if (asked != preparing_.end() && asked->second.start >= start) return;
  const auto refused = refused_.find(uid);
  if (refused != refused_.end() && refused->second >= start) return;
  const base::Millis takes = preparing_time_();
  if (takes <= base::Millis{0}) return Begin(uid, start, make);
  const base::Instant now = clock_.Now();
  preparing_[uid] = {start, std::move(make), now + kTellAfter, now + takes, now + kGiveUpAfter};
}

// What a runner does on threads of its own.
void Machine::AdvanceStart(const std::string& uid, base::Instant now) {
  Preparing& preparing = preparing_.at(uid);
  if (preparing.ready <= now) {
    const Preparing done = preparing_.extract(uid).mapped();
    Begin(uid, done.start, done.make);
  } else if (preparing.give_up <= now) {
    Withdraw(uid, "its start was given up");
  } else if (preparing.tell <= now) {
    preparing.tell = base::kNever;
    sink_(port::Delayed{uid, preparing.start, "a file system does not answer"});
  }
}

bool Machine::Withdraw(const std::string& uid, const std::string& why) {
  const auto preparing = preparing_.extract(uid);
  if (!preparing) return false;
  Refuse({.uid = uid, .start = preparing.mapped().start, .message = why});
  return true;
}

void Machine::Refuse(port::NotStarted refusal) {
  refused_[refusal.uid] = refusal.start;
  if (sink_) sink_(std::move(refusal));
}

void Machine::Begin(const std::string& uid, int start, const MakeLaunch& make) {
  const auto made = make();
  if (!made) return Refuse(port::Refused(uid, start, made.error()));
  const port::Launch& launch = *made;
  Program program{.launch = launch,
                  .script = script_of_(launch.env.at("JOB"), launch.env.at("REPLICA")),
                  .job = launch.env.at("JOB"),
                  .replica = launch.env.at("REPLICA"),
                  .began = Stamp()};
  if (!program.script.serves_for_ever) {
    program.ends = clock_.Now() + program.script.run;
    program.ends_with = program.script.exit_code;
  }
  if (program.script.says_hello) program.says = clock_.Now() + program.script.startup;
  ++starts_[fmt::format("{}/{}", launch.uid, launch.start)];
  programs_.insert_or_assign(launch.uid, std::move(program));
  if (sink_) sink_(port::Started{launch.uid, launch.start, 1, Stamp()});
}

void Machine::Adopt(const std::vector<Known>& known) {
  for (const Known& expected : known) {
    claimed_.insert(expected.uid);
    const auto found = programs_.find(expected.uid);
    if (found != programs_.end() && found->second.launch.start == expected.start) {
      Tell(found->second);
      continue;
    }
    if (!expected.seen_started) continue;
    sink_(port::Exited{.uid = expected.uid,
                       .start = expected.start,
                       .code = 137,
                       .reason = "Lost",
                       .at = Stamp(),
                       .boot_id = fmt::format("boot-{}", boot_)});
  }
  for (auto& [uid, program] : programs_) {
    if (claimed_.contains(uid)) continue;
    program.alive = false;  // nobody's: it ends without a word
    program.forgotten = true;
  }
  sink_(port::AllTold{});
}

void Machine::Tell(const Program& program) {
  if (program.forgotten) return;
  sink_(port::Started{program.launch.uid, program.launch.start, 1, program.began});
  if (!program.alive) TellExit(program);
}

void Machine::Stop(const std::string& uid, base::Millis grace) {
  if (Withdraw(uid, kStopped)) return;
  const auto found = programs_.find(uid);
  if (found == programs_.end() || !found->second.alive) return;
  Program& program = found->second;
  program.kill_at = std::min(program.kill_at, clock_.Now() + grace);
  if (program.script.ignores_sigterm) return;
  const base::Instant leaves = clock_.Now() + program.script.save;
  if (leaves >= program.ends) return;
  program.ends = leaves;
  program.ends_with = program.script.exit_on_sigterm;
}

void Machine::Kill(const std::string& uid) {
  if (Withdraw(uid, kStopped)) return;
  const auto found = programs_.find(uid);
  if (found != programs_.end() && found->second.alive) found->second.kill_at = clock_.Now();
}

void Machine::Forget(const std::string& uid, int start) {
  if (const auto refused = refused_.find(uid);
      refused != refused_.end() && refused->second == start) {
    refused_.erase(refused);
  }
  const auto found = programs_.find(uid);
  if (found == programs_.end() || found->second.launch.start != start) return;
  if (!found->second.alive) found->second.forgotten = true;
}

void Machine::Erase(const std::string& uid) {
  Withdraw(uid, kStopped);
  refused_.erase(uid);
  erased_.insert(uid);
}

base::Instant Machine::NextEvent() const {
  base::Instant next = base::kNever;
  for (const auto& [uid, start] : preparing_) {
    next = std::min({next, start.tell, start.ready, start.give_up});
  }
  for (const auto& [uid, program] : programs_) {
    if (program.alive) next = std::min({next, program.ends, program.kill_at, program.says});
  }
  return next;
}

void Machine::Advance(base::Instant now) {
  std::vector<std::string> uids;
  uids.reserve(preparing_.size());
  for (const auto& [uid, start] : preparing_) uids.push_back(uid);
  for (const std::string& uid : uids) AdvanceStart(uid, now);
  for (auto& [uid, program] : programs_) {
    if (!program.alive) continue;
    if (program.says <= now) Say(program);
    if (program.ends <= now) {
      Exit(program, program.ends_with);
    } else if (program.kill_at <= now) {
      Exit(program, 137);
    }
  }
}

void Machine::Say(Program& program) {
  constexpr base::Millis kEvery{20'000};
  program.says = clock_.Now() + kEvery;
  program.steps += 10;
  if (!sink_) return;
  sink_(port::Said{.uid = program.launch.uid,
                   .start = program.launch.start,
                   .step = program.steps,
                   .checkpoint_step = program.script.saves ? program.steps : -1,
                   .at = Stamp()});
}

void Machine::Exit(Program& program, int code) {
  REQUIRE(program.alive);
  program.alive = false;
  program.code = code;
  program.exited = Stamp();
  program.exited_ms = clock_.Now().unix_ms;
  TellExit(program);
}

void Machine::TellExit(const Program& program) {
  if (!sink_) return;
  sink_(port::Exited{.uid = program.launch.uid,
                     .start = program.launch.start,
                     .code = program.code,
                     .reason = program.lost        ? "Lost"
                               : program.code == 0 ? "Completed"
                                                   : "Error",
                     .at = program.exited,
                     .at_monotonic_ms = program.exited_ms,
                     .boot_id = fmt::format("boot-{}", boot_)});
}

bool Machine::Strike(const std::string& uid, int code) {
  const auto found = programs_.find(uid);
  if (found == programs_.end() || !found->second.alive) return false;
  Exit(found->second, code);
  return true;
}

// What ran is gone; what is written on the disk of each start is not.
void Machine::LosePower() {
  ++boot_;
  for (auto& [uid, program] : programs_) {
    if (!program.alive) continue;
    program.lost = true;
    program.alive = false;
    program.code = 137;
    program.exited = Stamp();
    program.exited_ms = clock_.Now().unix_ms;
  }
}

std::vector<Machine::Running> Machine::Alive() const {
  std::vector<Running> alive;
  for (const auto& [uid, program] : programs_) {
    if (!program.alive) continue;
    Running running{uid, program.job, program.replica, {}};
    std::string rest = program.launch.env.at("GPUS");
    while (!rest.empty()) {
      const auto comma = rest.find(',');
      running.gpus.push_back(program.launch.env.at("NODE") + ":" + rest.substr(0, comma));
      rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
    }
    alive.push_back(std::move(running));
  }
  return alive;
}

}  // namespace pondage::sim
