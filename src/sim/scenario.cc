#include "sim/scenario.h"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <sstream>
#include <vector>

#include "job/spec.h"
#include "sim/world.h"

namespace pondage::sim {
namespace {

struct Line {
  std::string verb;
  std::vector<std::string> words;               // without "="
  std::map<std::string, std::string> settings;  // key=value
};

Line Split(const std::string& text) {
  std::istringstream in(text);
  Line line;
  in >> line.verb;
  for (std::string word; in >> word;) {
    const auto equals = word.find('=');
    if (equals == std::string::npos) {
      line.words.push_back(word);
    } else {
      line.settings[word.substr(0, equals)] = word.substr(equals + 1);
    }
  }
  return line;
}

int Number(const std::string& text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// "90", "90s", "5m", "2h", "250ms"
base::Millis Length(const std::string& text) {
  const std::int64_t number = Number(text);
  if (text.ends_with("ms")) return {number};
  if (text.ends_with("m")) return {number * 60'000};
  if (text.ends_with("h")) return {number * 3'600'000};
  return {number * 1'000};
}

std::optional<base::Role> RoleOf(const std::string& word) {
  return job::RoleFromName(word == "workers" ? "worker" : word);
}

class Player {
 public:
  std::string Run(std::string_view script) {
    std::istringstream lines{std::string(script)};
    for (std::string text; std::getline(lines, text);) {
      if (text.empty() || text.starts_with('#')) continue;
      Do(Split(text));
      for (const std::string& broken : world_.BrokenLaws())
        return seen_ + "BROKEN " + broken + "\n";
    }
    return seen_;
  }

 private:
  void Do(const Line& line) {
    if (line.verb == "nodes") {
      AddNodes(line);
    } else if (line.verb == "apply") {
      Apply(line);
    } else if (line.verb == "tick") {
      world_.Pass(Length(line.words.at(0)));
    } else if (line.verb == "show") {
      Show(line);
    } else if (line.verb == "addresses") {
      Addresses(line.words.at(0));
    } else if (line.verb == "conditions") {
      Conditions(line.words.at(0));
    } else {
      Act(line);
    }
  }

  void Act(const Line& line) {
    const std::string& name = line.words.empty() ? line.verb : line.words[0];
    if (line.verb == "queue") {
      const auto limit = line.settings.find("limit");
      Say(world_.AddQueue(
          name, Setting(line, "parent"), Number(Setting(line, "guarantee")),
          limit == line.settings.end() ? std::nullopt : std::optional(Number(limit->second))));
    } else if (line.verb == "kill") {
      if (!world_.Strike(name, line.words.at(1), Number(line.words.at(2)))) {
        seen_ += fmt::format("{} does not run\n", line.words.at(1));
      }
      world_.Pass(base::Millis{0});
    } else if (line.verb == "suspend" || line.verb == "resume") {
      Say(world_.SetSuspend(name, line.verb == "suspend"));
    } else if (line.verb == "delete") {
      Say(world_.Delete("tfjobs.kubeflow.org", name));
    } else if (line.verb == "delete-pod") {
      Say(world_.Delete("pods", name));
    } else if (line.verb == "delete-node") {
      Say(world_.Delete("nodes", name));
    } else if (line.verb == "delete-queue") {
      Say(world_.Delete("queues.pondage.dev", name));
    } else if (line.verb == "cordon" || line.verb == "uncordon") {
      Say(world_.Edit("nodes", name, [&line](boost::json::object& node) {
        node["spec"].as_object()["unschedulable"] = line.verb == "cordon";
      }));
    } else if (line.verb == "scale") {
      for (const auto& [role, count] : line.settings) {
        Scale(name, role, Number(count));
      }
    } else if (line.verb == "crash") {
      world_.CrashServer();
      world_.Pass(base::Millis{0});
    } else if (line.verb == "clock") {
      world_.SetClock(Length(name));
    } else if (line.verb == "power") {
      world_.LosePower();
      world_.Pass(base::Millis{0});
    } else {
      seen_ += "unknown command " + line.verb + "\n";
    }
  }

  void Scale(const std::string& name, const std::string& role, int count) {
    const auto known = RoleOf(role);
    if (known) return Say(world_.SetReplicas(name, *known, count));
    seen_ += "unknown role " + role + "\n";
  }

  static std::string Setting(const Line& line, const std::string& key) {
    const auto found = line.settings.find(key);
    return found == line.settings.end() ? "" : found->second;
  }

  void AddNodes(const Line& line) {
    for (const std::string& name : line.words) {
      fleet::Node node{.name = name, .cpu = {64'000}, .memory = {std::int64_t{256} << 30}};
      for (int i = 0; i < Number(Setting(line, "gpus")); ++i) {
        node.gpus.push_back(
            {.id = fmt::format("virtual-{}", i), .type = "model", .is_virtual = true});
      }
      world_.AddNode(std::move(node));
    }
  }

  void Apply(const Line& line) {
    JobPlan plan{.name = line.words.at(0)};
    for (const auto& [key, value] : line.settings) Set(plan, key, value);
    names_.push_back(plan.name);
    Say(world_.Apply(plan));
  }

  static void Set(JobPlan& plan, const std::string& key, const std::string& value) {
    const auto role = RoleOf(key);
    if (role)
      plan.replicas[*role] = Number(value);
    else if (key == "gpus")
      plan.gpus = Number(value);
    else if (key == "queue")
      plan.queue = value;
    else if (key == "restart")
      plan.restart = value;
    else if (key == "clean")
      plan.clean = value;
    else if (key == "backoff")
      plan.backoff = Number(value);
    else if (key == "deadline")
      plan.deadline_s = Length(value).value / 1000;
    else if (key == "ttl")
      plan.ttl_s = Length(value).value / 1000;
    else if (key == "min")
      plan.min_available = Number(value);
    else if (key == "grace")
      plan.grace_s = Length(value).value / 1000;
    else if (key == "suspend")
      plan.suspend = value == "true";
    else
      SetScript(plan, key, value);
  }

  static void SetScript(JobPlan& plan, const std::string& key, const std::string& value) {
    if (key == "run")
      plan.script.run = Length(value);
    else if (key == "exit")
      plan.script.exit_code = Number(value);
    else if (key == "save")
      plan.script.save = Length(value);
    else if (key == "hello")
      plan.script.says_hello = value == "true";
    else if (key == "saves")
      plan.script.saves = plan.script.says_hello = value == "true";
    else if (key == "term" && value == "ignore")
      plan.script.ignores_sigterm = true;
    else if (key == "term")
      plan.script.exit_on_sigterm = Number(value);
    else
      plan.annotations[key] = value;
  }

  void Say(const base::Result<void>& outcome) {
    if (!outcome) seen_ += "refused: " + outcome.error().message + "\n";
  }

  std::string Clock() const { return fmt::format("{}s", (world_.now() - began_).value / 1000); }

  void Show(const Line& line) {
    for (const std::string& name : line.words.empty() ? names_ : line.words) {
      seen_ += fmt::format("{:>5}  {}\n", Clock(), world_.Line(name));
    }
  }

  // Who has an address of its own for the others.
  void Addresses(const std::string& name) {
    seen_ += fmt::format("{:>5}  {}", Clock(), name);
    for (const auto& [id, job] : world_.pool().jobs()) {
      if (job.identity.name != name) continue;
      for (const job::Replica& replica : job.status.replicas) {
        seen_ += fmt::format("  {}-{} {}", job::RoleLabel(replica.role), replica.index,
                             replica.port != 0 ? "has one" : "has none");
      }
    }
    seen_ += "\n";
  }

  void Conditions(const std::string& name) {
    seen_ += fmt::format("{:>5}  {}", Clock(), name);
    if (const auto job = world_.Stored("tfjobs.kubeflow.org", name)) {
      for (const auto& condition : job->at("status").at("conditions").as_array()) {
        seen_ += fmt::format("  {}={}({})", std::string(condition.at("type").as_string()),
                             std::string(condition.at("status").as_string()),
                             std::string(condition.at("reason").as_string()));
      }
    }
    seen_ += "\n";
  }

  World world_{1};
  const base::Instant began_ = world_.now();
  std::vector<std::string> names_;
  std::string seen_;
};

}  // namespace

std::string Play(std::string_view script) {
  return Player().Run(script);
}

}  // namespace pondage::sim
