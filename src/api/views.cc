#include "api/views.h"

#include <set>

#include "api/auth.h"
#include "api/pager.h"
#include "api/problem.h"
#include "manifest/object.h"
#include "manifest/pod.h"

namespace pondage::api {

namespace json = boost::json;

namespace {

constexpr std::string_view kTokens = "/pondage/v1/tokens";

bool MayListPods(const Identity& identity, const std::string& space) {
  return MayAccess(identity, {.verb = "list", .resource = "pods", .space = space});
}

// Which GPUs replicas hold, and no word of whose: a limited token, too, sees what is free.
json::array HeldGpus(const World& world) {
  json::array held;
  Pager pager(world.store, {.kind = std::string(manifest::FindKind("", "pods")->storage)}, {});
  if (!pager.Begin()) return held;
  for (auto pod = pager.Next(); pod && *pod; pod = pager.Next()) {
    const auto bound = manifest::DecodeBoundPod(*(*pod)->body);
    if (!bound || bound->ended) continue;
    for (const int index : bound->grant.gpus)
      held.push_back({{"node", bound->grant.node}, {"index", index}});
  }
  return held;
}

Response Gpus(const Request& request, const World& world) {
  const bool sees_all = MayListPods(request.identity, "");
  const port::GpuInventory inventory = world.telemetry.Gpus();
  json::array gpus;
  for (const port::GpuReading& gpu : inventory.gpus) {
    json::array processes;
    for (const auto& process : gpu.processes) {
      if (!sees_all) continue;  // whose it is is not known
      processes.push_back({{"pid", process.pid}, {"memoryBytes", process.memory.value}});
    }
    gpus.push_back({{"id", gpu.id},
                    {"type", gpu.type},
                    {"memoryBytes", gpu.memory.value},
                    {"memoryUsedBytes", gpu.memory_used.value},
                    {"pci", gpu.pci},
                    {"numa", gpu.numa},
                    {"island", gpu.island},
                    {"utilisationPercent", gpu.utilisation_percent},
                    {"temperatureC", gpu.temperature_c},
                    {"powerW", gpu.power_w},
                    {"virtual", gpu.is_virtual},
                    {"healthy", gpu.healthy},
                    {"processes", std::move(processes)}});
  }
  json::object seen{
      {"driver", inventory.driver}, {"cuda", inventory.cuda}, {"gpus", std::move(gpus)}};
  if (!sees_all) seen["held"] = HeldGpus(world);
  return JsonResponse(seen);
}

// The uids of Pods that this one may see, of all that the namespaces of its token hold.
std::set<std::string> PodsSeenBy(const Identity& identity, const World& world) {
  std::set<std::string> uids;
  for (const std::string& space : identity.namespaces) {
    if (space == "*" || !MayListPods(identity, space)) continue;
    Pager pager(world.store,
                {.kind = std::string(manifest::FindKind("", "pods")->storage), .space = space}, {});
    if (!pager.Begin()) continue;
    for (auto pod = pager.Next(); pod && *pod; pod = pager.Next()) uids.insert((*pod)->uid);
  }
  return uids;
}

Response Replicas(const Request& request, const World& world) {
  const bool sees_all = MayListPods(request.identity, "");
  const auto seen = sees_all ? std::set<std::string>() : PodsSeenBy(request.identity, world);
  json::array replicas;
  for (const port::ReplicaReading& reading : world.telemetry.Replicas()) {
    if (!sees_all && !seen.contains(reading.uid)) continue;
    replicas.push_back({{"uid", reading.uid},
                        {"step", reading.step},
                        {"checkpointStep", reading.checkpoint_step},
                        {"inputWaitPermille", reading.input_wait_permille},
                        {"cpuMs", reading.cpu_ms},
                        {"memoryBytes", reading.memory_bytes},
                        {"time", manifest::FormatTime(reading.at)}});
  }
  return JsonResponse(json::object{{"replicas", std::move(replicas)}});
}

json::object Shown(const Identity& identity) {
  return {{"name", identity.name},
          {"admin", identity.admin},
          {"namespaces", json::value_from(identity.namespaces)},
          {"verbs", json::value_from(identity.verbs)}};
}

Response TokenProblem(const base::Error& error) {
  manifest::Kind kind;
  kind.plural = "tokens";
  Problem problem = FromError(error, kind, error.object);
  problem.message = error.message + " (" + error.id + ")";
  return ToResponse(problem);
}

bool Texts(const json::object& from, std::string_view key, std::vector<std::string>& texts) {
  const json::value* list = from.if_contains(key);
  if (!list) return true;
  if (!list->is_array()) return false;
  for (const auto& text : list->get_array()) {
    if (!text.is_string()) return false;
    texts.emplace_back(text.get_string());
  }
  return true;
}

Response CreateToken(const Request& request, const World& world) {
  const auto document = manifest::ParseJson(request.body);
  if (!document || !document->is_object()) {
    return ToResponse(BadRequest("a token is {\"name\":.., \"namespaces\":[..], \"verbs\":[..]}"));
  }
  const json::object& from = document->get_object();
  Identity identity;
  const json::value* name = from.if_contains("name");
  const json::value* admin = from.if_contains("admin");
  if (name && name->is_string()) identity.name = std::string(name->get_string());
  identity.admin = admin && admin->is_bool() && admin->get_bool();
  if (!Texts(from, "namespaces", identity.namespaces) || !Texts(from, "verbs", identity.verbs)) {
    return ToResponse(BadRequest("namespaces and verbs of a token are lists of strings"));
  }
  const auto secret = world.tokens.Create(identity);
  if (!secret) return TokenProblem(secret.error());
  json::object shown = Shown(identity);
  shown["token"] = *secret;
  return JsonResponse(shown, 201);
}

Response Tokens(const Request& request, const World& world) {
  const std::string_view rest = std::string_view(request.path).substr(kTokens.size());
  if (rest.empty() && request.method == "GET") {
    json::array tokens;
    for (const Token& token : world.tokens.All()) tokens.push_back(Shown(token.identity));
    return JsonResponse(json::object{{"tokens", std::move(tokens)}});
  }
  if (rest.empty() && request.method == "POST") return CreateToken(request, world);
  if (rest.starts_with('/') && request.method == "DELETE") {
    const std::string name(rest.substr(1));
    if (name == request.identity.name) {
      return ToResponse(BadRequest("a token cannot revoke itself: make another one first"));
    }
    if (const auto revoked = world.tokens.Revoke(name); !revoked)
      return TokenProblem(revoked.error());
    return JsonResponse(json::object{{"name", name}, {"revoked", true}});
  }
  return ToResponse(MethodNotAllowed());
}

}  // namespace

Response View(const Request& request, const World& world) {
  const std::string_view path = request.path;
  if (path == kTokens || path.starts_with("/pondage/v1/tokens/")) return Tokens(request, world);
  if (request.method != "GET") return ToResponse(MethodNotAllowed());
  if (path == "/pondage/v1/gpus") return Gpus(request, world);
  if (path == "/pondage/v1/replicas") return Replicas(request, world);
  return TextResponse("404 page not found\n", 404);
}

}  // namespace pondage::api
