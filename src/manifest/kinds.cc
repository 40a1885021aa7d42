#include "manifest/kinds.h"

#include <algorithm>
#include <utility>

namespace pondage::manifest {

namespace {

using Words = std::vector<std::string_view>;

const Words kAllVerbs = {"create", "delete", "deletecollection", "get",
                         "list",   "patch",  "update",           "watch"};
const Words kReadVerbs = {"get", "list", "watch"};
const Words kCreateOnly = {"create"};

constexpr Column kAge = {"Age", "date", "metadata.creationTimestamp"};
constexpr Column kCreated = {"Created At", "date", "metadata.creationTimestamp"};

// A kind of group v1 with the usual verbs; the table below says what differs.
Kind Core(std::string_view kind, std::string_view plural, std::string_view singular) {
  return {.group = "",
          .version = "v1",
          .kind = kind,
          .plural = plural,
          .singular = singular,
          .short_names = {},
          .verbs = kAllVerbs,
          .fields = {},
          .columns = {kAge},
          .storage = plural};
}

Kind NamespaceKind() {
  Kind kind = Core("Namespace", "namespaces", "namespace");
  kind.short_names = {"ns"};
  kind.namespaced = false;
  kind.has_status = true;
  kind.verbs = {"create", "delete", "get", "list", "patch", "update", "watch"};
  kind.fields = {"status.phase"};
  kind.columns = {{"Status", "string", "status.phase"}, kAge};
  return kind;
}

Kind NodeKind() {
  Kind kind = Core("Node", "nodes", "node");
  kind.short_names = {"no"};
  kind.namespaced = false;
  kind.has_status = true;
  kind.fields = {"spec.unschedulable"};
  kind.columns = {{"Status", "string", ""},
                  {"Roles", "string", ""},
                  kAge,
                  {"Version", "string", "status.nodeInfo.kubeletVersion"},
                  {"Internal-IP", "string", "", 1},
                  {"External-IP", "string", "", 1},
                  {"OS-Image", "string", "status.nodeInfo.osImage", 1},
                  {"Kernel-Version", "string", "status.nodeInfo.kernelVersion", 1},
                  {"Container-Runtime", "string", "status.nodeInfo.containerRuntimeVersion", 1}};
  return kind;
}

Kind PodKind() {
  Kind kind = Core("Pod", "pods", "pod");
  kind.short_names = {"po"};
  kind.has_status = true;
  kind.in_all = true;
  kind.fields = {"spec.nodeName",
                 "spec.restartPolicy",
                 "spec.schedulerName",
                 "spec.serviceAccountName",
                 "spec.hostNetwork",
                 "status.phase",
                 "status.podIP",
                 "status.podIPs",
                 "status.nominatedNodeName"};
  kind.columns = {{"Ready", "string", ""},
                  {"Status", "string", ""},
                  {"Restarts", "string", ""},
                  kAge,
                  {"IP", "string", "status.podIP", 1},
                  {"Node", "string", "spec.nodeName", 1},
                  {"Nominated Node", "string", "status.nominatedNodeName", 1},
                  {"Readiness Gates", "string", "", 1}};
  return kind;
}

Kind EventKind() {
  Kind kind = Core("Event", "events", "event");
  kind.short_names = {"ev"};
  kind.fields = {"involvedObject.kind",
                 "involvedObject.namespace",
                 "involvedObject.name",
                 "involvedObject.uid",
                 "involvedObject.apiVersion",
                 "involvedObject.resourceVersion",
                 "involvedObject.fieldPath",
                 "reason",
                 "reportingComponent",
                 "source",
                 "type"};
  kind.name_first = false;
  kind.columns = {{"Last Seen", "string", ""},
                  {"Type", "string", "type"},
                  {"Reason", "string", "reason"},
                  {"Object", "string", ""},
                  {"Subobject", "string", "involvedObject.fieldPath", 1},
                  {"Source", "string", "", 1},
                  {"Message", "string", "message"},
                  {"First Seen", "string", "", 1},
                  {"Count", "string", "count", 1},
                  {"Name", "string", "metadata.name", 1}};
  return kind;
}

Kind ConfigMapKind() {
  Kind kind = Core("ConfigMap", "configmaps", "configmap");
  kind.short_names = {"cm"};
  kind.columns = {{"Data", "string", ""}, kAge};
  return kind;
}

Kind SecretKind() {
  Kind kind = Core("Secret", "secrets", "secret");
  kind.fields = {"type"};
  kind.columns = {{"Type", "string", "type"}, {"Data", "string", ""}, kAge};
  return kind;
}

Kind ServiceKind() {
  Kind kind = Core("Service", "services", "service");
  kind.short_names = {"svc"};
  kind.has_status = true;
  kind.in_all = true;
  kind.fields = {"spec.clusterIP", "spec.type"};
  kind.columns = {{"Type", "string", "spec.type"},
                  {"Cluster-IP", "string", "spec.clusterIP"},
                  {"External-IP", "string", ""},
                  {"Port(s)", "string", ""},
                  kAge,
                  {"Selector", "string", "", 1}};
  return kind;
}

Kind ServiceAccountKind() {
  Kind kind = Core("ServiceAccount", "serviceaccounts", "serviceaccount");
  kind.short_names = {"sa"};
  kind.columns = {{"Secrets", "string", ""}, kAge};
  return kind;
}

Kind ClaimKind() {
  Kind kind = Core("PersistentVolumeClaim", "persistentvolumeclaims", "persistentvolumeclaim");
  kind.short_names = {"pvc"};
  kind.has_status = true;
  kind.columns = {{"Status", "string", ""},
                  {"Volume", "string", "spec.volumeName"},
                  {"Capacity", "string", "status.capacity.storage"},
                  {"Access Modes", "string", ""},
                  {"StorageClass", "string", "spec.storageClassName"},
                  kAge,
                  {"VolumeMode", "string", "spec.volumeMode", 1}};
  return kind;
}

Kind PriorityClassKind() {
  Kind kind = Core("PriorityClass", "priorityclasses", "priorityclass");
  kind.group = "scheduling.k8s.io";
  kind.short_names = {"pc"};
  kind.namespaced = false;
  kind.columns = {{"Value", "integer", "value"},
                  {"Global-Default", "boolean", ""},
                  kAge,
                  {"PreemptionPolicy", "string", "preemptionPolicy"}};
  kind.storage = "priorityclasses.scheduling.k8s.io";
  return kind;
}

Kind LeaseKind() {
  Kind kind = Core("Lease", "leases", "lease");
  kind.group = "coordination.k8s.io";
  kind.columns = {{"Holder", "string", "spec.holderIdentity"}, kAge};
  kind.storage = "leases.coordination.k8s.io";
  return kind;
}

Kind DefinitionKind() {
  Kind kind =
      Core("CustomResourceDefinition", "customresourcedefinitions", "customresourcedefinition");
  kind.group = "apiextensions.k8s.io";
  kind.short_names = {"crd", "crds"};
  kind.namespaced = false;
  kind.verbs = kReadVerbs;
  kind.columns = {kCreated};
  kind.storage = "customresourcedefinitions.apiextensions.k8s.io";
  return kind;
}

Kind TfJobKind() {
  Kind kind = Core("TFJob", "tfjobs", "tfjob");
  kind.group = "kubeflow.org";
  kind.has_status = true;
  kind.custom = true;
  kind.in_all = true;
  kind.columns = {{"State", "string", ""}, kAge};
  kind.storage = "tfjobs.kubeflow.org";
  return kind;
}

Kind QueueKind() {
  Kind kind = Core("Queue", "queues", "queue");
  kind.group = "pondage.dev";
  kind.version = "v1alpha1";
  kind.namespaced = false;
  kind.has_status = true;
  kind.custom = true;
  kind.columns = {{"Guarantee", "string", ""},
                  {"Limit", "string", ""},
                  {"Used", "string", ""},
                  {"Borrowed", "string", ""},
                  {"Waiting", "integer", "status.waiting"},
                  kAge};
  kind.storage = "queues.pondage.dev";
  return kind;
}

// Asked, never stored.
Kind Review(std::string_view group, std::string_view name, std::string_view plural,
            std::string_view singular) {
  Kind kind = Core(name, plural, singular);
  kind.group = group;
  kind.namespaced = false;
  kind.verbs = kCreateOnly;
  kind.columns = {};
  kind.storage = "";
  return kind;
}

std::vector<Kind> MakeKinds() {
  return {ConfigMapKind(),
          EventKind(),
          NamespaceKind(),
          NodeKind(),
          ClaimKind(),
          PodKind(),
          SecretKind(),
          ServiceAccountKind(),
          ServiceKind(),
          DefinitionKind(),
          Review("authentication.k8s.io", "SelfSubjectReview", "selfsubjectreviews",
                 "selfsubjectreview"),
          Review("authorization.k8s.io", "SelfSubjectAccessReview", "selfsubjectaccessreviews",
                 "selfsubjectaccessreview"),
          Review("authorization.k8s.io", "SelfSubjectRulesReview", "selfsubjectrulesreviews",
                 "selfsubjectrulesreview"),
          LeaseKind(),
          TfJobKind(),
          QueueKind(),
          PriorityClassKind()};
}

// Kubernetes' merge keys by the name of the list.
constexpr std::pair<std::string_view, std::string_view> kMergeKeys[] = {
    {"containers", "name"},
    {"initContainers", "name"},
    {"ephemeralContainers", "name"},
    {"env", "name"},
    {"volumes", "name"},
    {"imagePullSecrets", "name"},
    {"secrets", "name"},
    {"schedulingGates", "name"},
    {"resourceClaims", "name"},
    {"volumeMounts", "mountPath"},
    {"volumeDevices", "devicePath"},
    {"hostAliases", "ip"},
    {"podIPs", "ip"},
    {"topologySpreadConstraints", "topologyKey"},
    {"conditions", "type"},
    {"addresses", "type"},
    {"ownerReferences", "uid"},
    {"finalizers", "="},
    {"podCIDRs", "="}};

}  // namespace

std::span<const Kind> Kinds() {
  static const std::vector<Kind> kinds = MakeKinds();
  return kinds;
}

const Kind* FindKind(std::string_view group, std::string_view plural) {
  for (const Kind& kind : Kinds()) {
    if (kind.group == group && kind.plural == plural) return &kind;
  }
  return nullptr;
}

const Kind* FindKindByName(std::string_view group, std::string_view name) {
  for (const Kind& kind : Kinds()) {
    if (kind.group == group && kind.kind == name) return &kind;
  }
  return nullptr;
}

std::string_view MergeKey(const Kind& kind, std::string_view list_field) {
  if (kind.custom) return "";
  if (list_field == "ports") return kind.kind == "Service" ? "port" : "containerPort";
  for (const auto& [field, key] : kMergeKeys) {
    if (field == list_field) return key;
  }
  return "";
}

}  // namespace pondage::manifest
