#include <fmt/format.h>

#include "manifest/annotations.h"
#include "manifest/object.h"
#include "manifest/pod.h"
#include "manifest/pod_spec.h"
#include "manifest/queue.h"
#include "manifest/trouble.h"

namespace pondage::manifest {

namespace json = boost::json;

namespace {

json::object EncodeGpu(const fleet::Gpu& gpu) {
  json::object out{{"id", json::string(gpu.id)}, {"type", json::string(gpu.type)}};
  out["memoryBytes"] = gpu.memory.value;
  if (gpu.numa != -1) out["numa"] = gpu.numa;
  if (gpu.island != -1) out["island"] = gpu.island;
  if (gpu.is_virtual) out["virtual"] = true;
  if (!gpu.healthy) out["healthy"] = false;
  if (gpu.foreign) out["foreign"] = true;
  return out;
}

fleet::Gpu DecodeGpu(const Reader& in) {
  fleet::Gpu out;
  out.id = in.Text("id");
  out.type = in.Text("type");
  out.memory = {in.Int("memoryBytes", 0, std::numeric_limits<std::int64_t>::max()).value_or(0)};
  out.numa = in.Int32("numa").value_or(-1);
  out.island = in.Int32("island").value_or(-1);
  out.is_virtual = in.Flag("virtual");
  out.healthy = in.Flag("healthy", true);
  out.foreign = in.Flag("foreign");
  return out;
}

// A label value made of free text: what a label cannot hold becomes '-'.
std::string LabelFrom(std::string_view text) {
  std::string label;
  for (const char c : text.substr(0, 63)) {
    const bool good = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                      c == '.' || c == '_';
    label += good ? c : '-';
  }
  const auto first = label.find_first_not_of("-._");
  if (first == std::string::npos) return "";
  return label.substr(first, label.find_last_not_of("-._") - first + 1);
}

// Labels by which people select nodes; those that the node brings win.
json::object LabelsOf(const fleet::Node& node, const MachineFacts& machine) {
  json::object labels;
  labels["kubernetes.io/hostname"] = LabelFrom(node.name);
  labels["kubernetes.io/os"] = "linux";
#if defined(__aarch64__)
  labels["kubernetes.io/arch"] = "arm64";
#else
  labels["kubernetes.io/arch"] = "amd64";
#endif
  if (!node.gpus.empty()) {
    const fleet::Gpu& first = node.gpus.front();
    labels["nvidia.com/gpu.product"] = LabelFrom(first.type);
    labels["nvidia.com/gpu.count"] = std::to_string(node.gpus.size());
    labels["nvidia.com/gpu.memory"] = std::to_string(first.memory.value >> 20);
    if (first.is_virtual) labels["pondage.dev/virtual-gpus"] = "true";
  }
  if (!machine.driver.empty())
    labels["nvidia.com/cuda.driver-version.full"] = LabelFrom(machine.driver);
  if (!machine.cuda.empty())
    labels["nvidia.com/cuda.runtime-version.full"] = LabelFrom(machine.cuda);
  for (const auto& [key, value] : node.labels) labels[key] = value;
  return labels;
}

json::object AmountsOf(const fleet::Node& node, std::size_t gpus) {
  return {{"cpu", json::string(node.cpu.value % 1000 == 0 ? std::to_string(node.cpu.value / 1000)
                                                          : fmt::format("{}m", node.cpu.value))},
          {"memory", json::string(node.memory.value % 1024 == 0
                                      ? fmt::format("{}Ki", node.memory.value / 1024)
                                      : std::to_string(node.memory.value))},
          {kGpuResource, json::string(std::to_string(gpus))},
          {"pods", "10000"}};
}

json::object ReadyCondition(const fleet::Node& node, base::Instant now) {
  const bool lost = node.health == fleet::Health::kLost;
  const json::string at(FormatTime(now));
  return {{"type", "Ready"},
          {"status", lost ? "Unknown" : "True"},
          {"lastHeartbeatTime", at},
          {"lastTransitionTime", at},
          {"reason", lost ? "NodeStatusUnknown" : "KubeletReady"},
          {"message", lost ? "the node gives no sign of life" : "the node's agent is ready"}};
}

json::object DiskCondition(const fleet::Node& node, base::Instant now) {
  const bool full = !node.trouble.empty();
  const json::string at(FormatTime(now));
  return {{"type", "DiskPressure"},
          {"status", full ? "True" : "False"},
          {"lastHeartbeatTime", at},
          {"lastTransitionTime", at},
          {"reason", full ? "KubeletHasDiskPressure" : "KubeletHasNoDiskPressure"},
          {"message", full ? json::string(node.trouble)
                           : json::string("there is room below the data directory")}};
}

}  // namespace

json::object MakeNode(const fleet::Node& node, const MachineFacts& machine, base::Instant now) {
  json::array gpus;
  std::size_t healthy = 0;
  for (const fleet::Gpu& gpu : node.gpus) {
    gpus.push_back(EncodeGpu(gpu));
    if (gpu.healthy) ++healthy;
  }
  json::object metadata{
      {"name", json::string(node.name)},
      {"uid", json::string(UidFrom("node/" + node.name))},
      {"creationTimestamp", json::string(FormatTime(now))},
      {"labels", LabelsOf(node, machine)},
      {"annotations", json::object{{kGpus, json::string(json::serialize(gpus))}}}};
  json::object spec;
  if (node.health == fleet::Health::kCordoned) spec["unschedulable"] = true;
  json::object info{{"kernelVersion", json::string(machine.kernel)},
                    {"osImage", json::string(machine.os_image)},
                    {"containerRuntimeVersion", "process://" PONDAGE_VERSION},
                    {"kubeletVersion", "v" PONDAGE_VERSION},
                    {"kubeProxyVersion", ""},
                    {"machineID", ""},
                    {"systemUUID", ""},
                    {"bootID", ""},
                    {"operatingSystem", "linux"},
                    {"architecture", metadata["labels"].as_object()["kubernetes.io/arch"]}};
  json::object status{
      {"capacity", AmountsOf(node, node.gpus.size())},
      {"allocatable", AmountsOf(node, healthy)},
      {"conditions", json::array{ReadyCondition(node, now), DiskCondition(node, now)}},
      {"addresses",
       json::array{json::object{{"type", "InternalIP"}, {"address", json::string(machine.address)}},
                   json::object{{"type", "Hostname"}, {"address", json::string(node.name)}}}},
      {"nodeInfo", std::move(info)}};
  return {{"apiVersion", "v1"},
          {"kind", "Node"},
          {"metadata", std::move(metadata)},
          {"spec", std::move(spec)},
          {"status", std::move(status)}};
}

base::Result<fleet::Node> DecodeNode(std::string_view bytes) {
  TRY(const json::value value, ParseJson(bytes));
  Trouble trouble;
  const Reader root(&value, "", trouble);
  const Reader metadata = root.Object("metadata");
  const Reader status = root.Object("status");
  fleet::Node out;
  out.name = metadata.Text("name");
  out.labels = metadata.Texts("labels");
  const Reader amounts = status.Object("allocatable");
  if (const json::value* cpu = amounts.Find("cpu")) {
    TRY(out.cpu, ParseCpu(*cpu));
  }
  if (const json::value* memory = amounts.Find("memory")) {
    TRY(out.memory, ParseBytes(*memory));
  }
  const auto annotations = metadata.Texts("annotations");
  if (const auto text = annotations.find(std::string(kGpus)); text != annotations.end()) {
    TRY(const json::value list, ParseJson(text->second));
    const json::object wrapped{{"gpus", list}};
    const Reader gpus(wrapped, metadata.PathOf("annotations"), trouble);
    gpus.Objects("gpus", [&out](const Reader& gpu) { out.gpus.push_back(DecodeGpu(gpu)); });
  }
  if (root.Object("spec").Flag("unschedulable")) out.health = fleet::Health::kCordoned;
  status.Objects("conditions", [&out](const Reader& condition) {
    if (condition.Text("type") == "Ready" && condition.Text("status") != "True") {
      out.health = fleet::Health::kLost;
    }
    if (condition.Text("type") == "DiskPressure" && condition.Text("status") == "True") {
      out.trouble = condition.Text("message");
      if (out.health == fleet::Health::kReady) out.health = fleet::Health::kCordoned;
    }
  });
  if (trouble.Any()) return trouble.Fail();
  return out;
}

}  // namespace pondage::manifest
