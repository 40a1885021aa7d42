#include "manifest/pod.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/uuid/name_generator.hpp>
#include <boost/uuid/uuid_io.hpp>

#include "base/assert.h"
#include "job/tf_config.h"
#include "manifest/annotations.h"
#include "manifest/environment.h"
#include "manifest/object.h"
#include "manifest/pod_spec.h"

namespace pondage::manifest {

namespace json = boost::json;

namespace {

json::string Text(std::string_view text) {
  return json::string(text);
}

// The member as an object, made when there is none.
json::object& ObjectIn(json::object& parent, std::string_view key) {
  json::value& value = parent[key];
  if (!value.is_object()) value.emplace_object();
  return value.get_object();
}

json::object TemplateOf(const job::Spec& spec, job::Role role) {
  const auto found = spec.roles.find(role);
  if (found == spec.roles.end()) return {};
  auto value = ParseJson(found->second.template_json);
  return value && value->is_object() ? std::move(value->get_object()) : json::object();
}

// The first four are the Service's selector too.
json::object LabelsOf(const job::Identity& identity, const job::Replica& replica) {
  std::string job_name = identity.name;
  std::ranges::replace(job_name, '/', '-');
  return {{kOperatorName, kController},
          {kJobName, Text(job_name)},
          {kReplicaType, job::RoleLabel(replica.role)},
          {kReplicaIndex, Text(std::to_string(replica.index))}};
}

bool IsMaster(const job::Spec& spec, const job::Replica& replica) {
  if (replica.role == job::Role::kChief || replica.role == job::Role::kMaster) return true;
  return !spec.Has(job::Role::kChief) && !spec.Has(job::Role::kMaster) &&
         replica.role == job::Role::kWorker && replica.index == 0;
}

json::array OwnerOf(const job::Identity& identity) {
  return {json::object{{"apiVersion", "kubeflow.org/v1"},
                       {"kind", "TFJob"},
                       {"name", Text(identity.name)},
                       {"uid", Text(identity.uid)},
                       {"controller", true},
                       {"blockOwnerDeletion", true}}};
}

const char* PodRestartPolicy(const job::Spec& spec, job::Role role) {
  const auto found = spec.roles.find(role);
  if (found == spec.roles.end()) return "Never";
  switch (found->second.restart) {
    case job::RestartPolicy::kAlways:
      return "Always";
    case job::RestartPolicy::kOnFailure:
      return "OnFailure";
    case job::RestartPolicy::kNever:
    case job::RestartPolicy::kExitCode:
      return "Never";
  }
  return "Never";
}

json::object MetadataOf(const job::Identity& identity, const job::Spec& spec,
                        const job::Status& status, const job::Replica& replica,
                        json::object& pod_template, base::Instant now) {
  const json::object written = std::move(ObjectIn(pod_template, "metadata"));
  json::object out;
  out["name"] = job::ReplicaName(identity.name, replica.role, replica.index);
  out["namespace"] = identity.space;
  out["uid"] = PodUid(identity, replica.role, replica.index, replica.incarnation);
  out["creationTimestamp"] = FormatTime(now);
  json::object& labels = ObjectIn(out, "labels");
  json::object& annotations = ObjectIn(out, "annotations");
  if (const json::value* theirs = written.if_contains("labels"); theirs && theirs->is_object()) {
    labels = theirs->get_object();
  }
  if (const json::value* theirs = written.if_contains("annotations");
      theirs && theirs->is_object()) {
    annotations = theirs->get_object();
  }
  for (const auto& [key, value] : LabelsOf(identity, replica)) labels[key] = value;
  if (IsMaster(spec, replica)) labels[kJobRole] = "master";
  annotations[kAttempt] = std::to_string(status.attempt);
  annotations[kIncarnation] = std::to_string(replica.incarnation);
  if (replica.grant) {
    annotations[kGpus] = fmt::format("{}", fmt::join(replica.grant->gpus, ","));
  }
  if (replica.port > 0) annotations[kPort] = std::to_string(replica.port);
  out["ownerReferences"] = OwnerOf(identity);
  if (const json::value* finalizers = written.if_contains("finalizers");
      finalizers && finalizers->is_array()) {
    out["finalizers"] = *finalizers;
  }
  return out;
}

job::AddressOf LoopbackAddresses(const job::Spec& spec, const job::Status& status) {
  return [&spec, &status](job::Role role, int index) {
    int port = spec.roles.contains(role) ? spec.roles.at(role).port : kDefaultPort;
    for (const job::Replica& replica : status.replicas) {
      if (replica.role == role && replica.index == index && replica.port > 0) port = replica.port;
    }
    return fmt::format("127.0.0.1:{}", port);
  };
}

// The JSON of the main container; nullptr without containers.
json::object* MainContainerIn(json::object& spec) {
  json::value* list = spec.if_contains("containers");
  if (list == nullptr || !list->is_array()) return nullptr;
  json::object* first = nullptr;
  for (json::value& one : list->get_array()) {
    json::object* container = one.if_object();
    if (container == nullptr) continue;
    const json::value* name = container->if_contains("name");
    if (name != nullptr && name->is_string() && name->get_string() == kMainContainer) {
      return container;
    }
    if (first == nullptr) first = container;
  }
  return first;
}

void AddDefaultPort(json::object& container) {
  json::value& ports = container["ports"];
  if (!ports.is_array()) ports.emplace_array();
  for (const json::value& port : ports.get_array()) {
    const json::value* name = port.is_object() ? port.get_object().if_contains("name") : nullptr;
    if (name != nullptr && name->is_string() && name->get_string() == kPortName) return;
  }
  ports.get_array().push_back({{"name", kPortName}, {"containerPort", kDefaultPort}});
}

void AddVariable(json::object& container, const std::string& name, const std::string& value) {
  json::value& env = container["env"];
  if (!env.is_array()) env.emplace_array();
  env.get_array().push_back({{"name", Text(name)}, {"value", Text(value)}});
}

}  // namespace

std::string UidFrom(std::string_view text) {
  // The namespace UUID of RFC 4122 for names of no other kind.
  static const boost::uuids::name_generator_sha1 kNames(boost::uuids::ns::oid());
  return boost::uuids::to_string(kNames(text.data(), text.size()));
}

std::string PodUid(const job::Identity& identity, job::Role role, int index, int incarnation) {
  return UidFrom(
      fmt::format("pod/{}/{}/{}/{}", identity.uid, job::RoleLabel(role), index, incarnation));
}

json::object MakePod(const job::Identity& identity, const job::Spec& spec,
                     const job::Status& status, const job::Replica& replica,
                     const fleet::Node* node, base::Instant now) {
  json::object pod_template = TemplateOf(spec, replica.role);
  json::object pod{{"apiVersion", "v1"}, {"kind", "Pod"}};
  pod["metadata"] = MetadataOf(identity, spec, status, replica, pod_template, now);
  json::object& pod_spec = ObjectIn(pod_template, "spec");
  pod_spec["restartPolicy"] = PodRestartPolicy(spec, replica.role);
  if (replica.grant) pod_spec["nodeName"] = replica.grant->node;
  if (!pod_spec.contains("terminationGracePeriodSeconds")) {
    pod_spec["terminationGracePeriodSeconds"] = 30;
  }
  Trouble ignored;  // the template was admitted
  const PodSpec decoded = DecodePodSpec(Reader(pod_spec, "spec", ignored));
  if (json::object* container = MainContainerIn(pod_spec)) {
    AddDefaultPort(*container);
    for (const auto& [name, value] :
         PoolEnvironment(identity, spec, status, replica, MainContainer(decoded), node)) {
      AddVariable(*container, name, value);
    }
    const auto config =
        job::TfConfig(spec, replica.role, replica.index, LoopbackAddresses(spec, status));
    if (config) AddVariable(*container, "TF_CONFIG", *config);
  }
  pod["spec"] = std::move(pod_spec);
  return pod;
}

json::object MakeService(const job::Identity& identity, const job::Spec& spec,
                         const job::Replica& replica, base::Instant now) {
  const std::string name = job::ReplicaName(identity.name, replica.role, replica.index);
  json::object pod_template = TemplateOf(spec, replica.role);
  json::array ports;
  if (json::object* container = MainContainerIn(ObjectIn(pod_template, "spec"))) {
    AddDefaultPort(*container);
    std::vector<std::string> taken;
    for (const json::value& one : container->at("ports").get_array()) {
      Trouble ignored;
      const Reader port(&one, "port", ignored);
      const std::string its = port.Text("name");
      const auto number = port.Int("containerPort", 1, 65535);
      if (its.empty() || !number || std::ranges::find(taken, its) != taken.end()) continue;
      taken.push_back(its);
      const std::string protocol = port.Text("protocol");
      ports.push_back({{"name", Text(its)},
                       {"protocol", protocol.empty() ? Text("TCP") : Text(protocol)},
                       {"port", *number},
                       {"targetPort", *number}});
    }
  }
  const json::object labels = LabelsOf(identity, replica);
  json::object metadata{{"name", Text(name)},
                        {"namespace", Text(identity.space)},
                        {"uid", Text(UidFrom(fmt::format("service/{}/{}", identity.uid, name)))},
                        {"creationTimestamp", Text(FormatTime(now))},
                        {"labels", labels},
                        {"ownerReferences", OwnerOf(identity)}};
  json::object service{
      {"apiVersion", "v1"}, {"kind", "Service"}, {"metadata", std::move(metadata)}};
  service["spec"] = json::object{{"clusterIP", "None"},       {"clusterIPs", json::array{"None"}},
                                 {"type", "ClusterIP"},       {"publishNotReadyAddresses", true},
                                 {"ports", std::move(ports)}, {"selector", labels}};
  service["status"] = json::object{{"loadBalancer", json::object()}};
  return service;
}

json::object MakeEvent(const About& about, const job::Note& note, std::string_view component,
                       std::string_view event_name, base::Instant now) {
  const json::string at = Text(FormatTime(now));
  const std::string space = about.space.empty() ? "default" : about.space;
  json::object metadata{
      {"name", Text(event_name)},
      {"namespace", Text(space)},
      {"uid", Text(UidFrom(fmt::format("event/{}/{}/{}", about.uid, event_name, now.unix_ms)))},
      {"creationTimestamp", at}};
  json::object involved{{"kind", Text(about.kind)},
                        {"namespace", Text(about.space)},
                        {"name", Text(about.name)},
                        {"uid", Text(about.uid)},
                        {"apiVersion", Text(about.api_version)}};
  if (about.space.empty()) involved.erase("namespace");
  return {{"apiVersion", "v1"},
          {"kind", "Event"},
          {"metadata", std::move(metadata)},
          {"involvedObject", std::move(involved)},
          {"reason", Text(note.reason)},
          {"message", Text(note.message)},
          {"source", json::object{{"component", Text(component)}}},
          {"firstTimestamp", at},
          {"lastTimestamp", at},
          {"count", 1},
          {"type", note.warning ? "Warning" : "Normal"},
          {"eventTime", nullptr},
          {"reportingComponent", Text(component)},
          {"reportingInstance", ""}};
}

}  // namespace pondage::manifest
