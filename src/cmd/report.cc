#include <fmt/core.h>
#include <sys/utsname.h>

#include <filesystem>
#include <fstream>

#include "client/kube.h"
#include "cmd/context.h"
#include "cmd/mains.h"
#include "terminal/document.h"
#include "terminal/text.h"
#include "terminal/trouble.h"
#include "view/redact.h"

namespace pondage::cmd {
namespace {

json::object Machine() {
  utsname names{};
  uname(&names);
  json::object machine{
      {"system", names.sysname}, {"kernel", names.release}, {"architecture", names.machine}};
  for (const std::string& line :
       terminal::Split(client::ReadWholeFile("/etc/os-release").value_or(""), '\n')) {
    if (line.starts_with("PRETTY_NAME=")) machine["distribution"] = line.substr(12);
  }
  machine["memory"] = terminal::Split(client::ReadWholeFile("/proc/meminfo").value_or(""), '\n')[0];
  machine["load"] = terminal::Split(client::ReadWholeFile("/proc/loadavg").value_or(""), '\n')[0];
  return machine;
}

// What the server says to a question, or why it says nothing.
json::value Answer(client::Client& client, const std::string& target) {
  auto answer = client.Get(target);
  if (answer) return view::Redacted(*answer);
  return json::object{{"error", answer.error().message}};
}

json::object SettingsOf(const Context& context) {
  json::object settings;
  for (const auto& [key, setting] : context.settings().all()) {
    settings[key] = json::object{{"value", setting.value}, {"origin", setting.origin}};
  }
  return settings;
}

void AddServer(client::Client& client, json::object& report) {
  report["server"] = json::object{{"url", client.place().Url()},
                                  {"origin", client.place().origin},
                                  {"version", Answer(client, "/version")},
                                  {"info", Answer(client, "/pondage/v1/info")}};
  report["nodes"] = Answer(client, "/api/v1/nodes");
  report["gpus"] = Answer(client, "/pondage/v1/gpus");
  report["queues"] = Answer(client, "/apis/pondage.dev/v1alpha1/queues");
  report["environments"] = Answer(client, "/pondage/v1/environments");
}

void AddJob(client::Client& client, const std::string& space, const std::string& name,
            json::object& report) {
  report["job"] = Answer(client, client::TfJobPath(space, name));
  report["pods"] = Answer(client, client::PodPath(space) + "?" + client::PodsOfJob(name));
  report["events"] = Answer(
      client, "/api/v1/namespaces/" + client::PercentEncode(space) +
                  "/events?fieldSelector=" + client::PercentEncode("involvedObject.name=" + name));
}

}  // namespace

base::Result<int> ReportMain(Context& context) {
  const grammar::Invocation& line = context.line();
  json::object report{{"schema", "pondage.report/1"},
                      {"asOf", terminal::Rfc3339(terminal::Now())},
                      {"client", PONDAGE_VERSION},
                      {"machine", Machine()},
                      {"settings", SettingsOf(context)}};
  auto client = context.Server();
  if (client) {
    AddServer(**client, report);
    if (!line.words.empty()) {
      TRY(const std::string space, context.Space());
      AddJob(**client, space, line.words[0], report);
    }
  } else {
    report["server"] = json::object{{"error", client.error().message}};
  }
  const std::string text = terminal::ToPrettyJson(report);
  if (!line.Has("out")) {
    context.Print(text);
    return terminal::kDone;
  }
  std::ofstream file(line.Value("out"), std::ios::trunc);
  file << text;
  file.close();
  if (!file)
    return base::Fail(base::Kind::kInvalid, "PND-C010", "",
                      fmt::format("cannot write {}", line.Value("out")));
  context.Print(line.Value("out") + "\n");
  context.Note(context.screen().Pick(
      "secrets, tokens and values of variables are left out; look at it before you send it\n",
      "其中不含秘密, 令牌和变量的值; 发送前请查看\n"));
  return terminal::kDone;
}

}  // namespace pondage::cmd
