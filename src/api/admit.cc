#include "api/admit.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "api/meta.h"
#include "api/promises.h"
#include "api/table.h"
#include "manifest/annotations.h"
#include "manifest/data.h"
#include "manifest/names.h"
#include "manifest/object.h"
#include "manifest/queue.h"
#include "manifest/tfjob.h"

namespace pondage::api {

namespace json = boost::json;
using job::FieldError;
using job::FieldErrorKind;
using manifest::Kind;

namespace {

using Errors = std::vector<FieldError>;

constexpr std::size_t kDataBytes = 1 << 20;

json::object& Sub(json::object& object, std::string_view key) {
  json::value& value = object[key];
  if (!value.is_object()) value = json::object();
  return value.get_object();
}

void Default(json::object& object, std::string_view key, json::value value) {
  if (json::value& member = object[key]; member.is_null()) member = std::move(value);
}

FieldError Immutable(std::string path) {
  return {FieldErrorKind::kInvalid, std::move(path), "Invalid value: field is immutable"};
}

bool Same(const json::object& one, const json::object& other, std::string_view path) {
  const json::value* a = At(one, path);
  const json::value* b = At(other, path);
  return a && b ? *a == *b : (!a || a->is_null()) && (!b || b->is_null());
}

// A map of texts whose keys may be files' names.
void CheckData(const json::object& object, std::string_view field, bool base64, Errors& errors) {
  const json::value* value = object.if_contains(field);
  if (!value || value->is_null()) return;
  if (!value->is_object()) {
    errors.push_back(
        {FieldErrorKind::kInvalid, std::string(field), "Invalid value: must be a map of strings"});
    return;
  }
  std::size_t bytes = 0;
  for (const auto& [key, text] : value->get_object()) {
    const std::string path = fmt::format("{}[{}]", field, std::string_view(key));
    if (!manifest::IsDataKey(key)) {
      errors.push_back({FieldErrorKind::kInvalid, path,
                        fmt::format("Invalid value: \"{}\": a key has at most 253 letters, digits, "
                                    "'-', '_' and '.'",
                                    std::string_view(key))});
    }
    if (!text.is_string() || (base64 && !manifest::FromBase64(text.get_string()))) {
      errors.push_back(
          {FieldErrorKind::kInvalid, path,
           base64 ? "Invalid value: must be base64" : "Invalid value: must be a string"});
      continue;
    }
    bytes += text.get_string().size();
  }
  if (bytes > (base64 ? kDataBytes * 4 / 3 : kDataBytes)) {
    errors.push_back({FieldErrorKind::kTooLong, std::string(field),
                      fmt::format("Too long: may not be more than {} bytes", kDataBytes)});
  }
}

void CheckImmutable(const json::object& object, const json::object& old, Errors& errors) {
  const json::value* flag = old.if_contains("immutable");
  if (!flag || !flag->is_bool() || !flag->get_bool()) return;
  for (const std::string_view field : {"data", "binaryData", "immutable"}) {
    if (!Same(object, old, field)) {
      errors.push_back({FieldErrorKind::kForbidden, std::string(field),
                        "Forbidden: field is immutable when `immutable` is set"});
    }
  }
}

void AdmitSecret(json::object& secret, const json::object* old, Errors& errors) {
  if (json::value* plain = secret.if_contains("stringData"); plain && plain->is_object()) {
    json::object& data = Sub(secret, "data");
    for (const auto& [key, value] : secret["stringData"].get_object()) {
      if (value.is_string()) {
        data[key] = manifest::ToBase64(value.get_string());
      } else {
        errors.push_back({FieldErrorKind::kInvalid,
                          fmt::format("stringData[{}]", std::string_view(key)),
                          "Invalid value: must be a string"});
      }
    }
  }
  secret.erase("stringData");
  Default(secret, "type", old ? old->at("type") : json::value("Opaque"));
  CheckData(secret, "data", true, errors);
  if (!old) return;
  if (!Same(secret, *old, "type")) errors.push_back(Immutable("type"));
  CheckImmutable(secret, *old, errors);
}

void AdmitConfigMap(json::object& map, const json::object* old, Errors& errors) {
  CheckData(map, "data", false, errors);
  CheckData(map, "binaryData", true, errors);
  if (old) CheckImmutable(map, *old, errors);
}

void AdmitNamespaceObject(json::object& space, const json::object* old) {
  Sub(MetadataOf(space), "labels")["kubernetes.io/metadata.name"] = TextAt(space, "metadata.name");
  if (old) return;
  Sub(space, "spec")["finalizers"] = json::array{"kubernetes"};
  space["status"] = {{"phase", "Active"}};
}

// A claim is a directory of the pool: bound as soon as it is there.
void AdmitClaim(json::object& claim, const json::object* old, Errors& errors) {
  json::object& spec = Sub(claim, "spec");
  if (!old) {
    Default(spec, "accessModes", json::array{"ReadWriteOnce"});
    Default(spec, "volumeName", json::value("pvc-" + TextAt(claim, "metadata.uid")));
    Default(spec, "volumeMode", "Filesystem");
  } else if (!Same(claim, *old, "spec.accessModes") || !Same(claim, *old, "spec.volumeName")) {
    errors.push_back({FieldErrorKind::kForbidden, "spec",
                      "Forbidden: spec is immutable after creation except resources.requests"});
  }
  json::object status{{"phase", "Bound"}, {"accessModes", spec["accessModes"]}};
  if (const json::value* requests = At(claim, "spec.resources.requests")) {
    status["capacity"] = *requests;
  }
  claim["status"] = std::move(status);
}

// No cluster network stands behind a Service here: all are headless.
void AdmitService(json::object& service, Errors& errors) {
  json::object& spec = Sub(service, "spec");
  Default(spec, "type", "ClusterIP");
  Default(spec, "clusterIP", "None");
  if (TextAt(service, "spec.clusterIP").empty()) spec["clusterIP"] = "None";
  Default(spec, "sessionAffinity", "None");
  if (json::value* ports = spec.if_contains("ports"); ports && ports->is_array()) {
    for (std::size_t i = 0; i < ports->get_array().size(); ++i) {
      json::value& port = ports->get_array()[i];
      const json::value* number =
          port.is_object() ? port.get_object().if_contains("port") : nullptr;
      if (!number || !number->is_int64() || number->get_int64() < 1 ||
          number->get_int64() > 65535) {
        errors.push_back({FieldErrorKind::kInvalid, fmt::format("spec.ports[{}].port", i),
                          "Invalid value: must be between 1 and 65535, inclusive"});
        continue;
      }
      const json::value target = *number;
      Default(port.get_object(), "protocol", "TCP");
      Default(port.get_object(), "targetPort", target);
    }
  }
  Default(service, "status", {{"loadBalancer", json::object()}});
}

void AdmitPriorityClass(json::object& priority, const json::object* old, Errors& errors) {
  const json::value* value = priority.if_contains("value");
  if (!value || !value->is_int64()) {
    errors.push_back(
        {FieldErrorKind::kRequired, "value", "Required value: must be a whole number"});
  } else if (value->get_int64() > 1'000'000'000 || value->get_int64() < -2'147'483'648) {
    errors.push_back({FieldErrorKind::kForbidden, "value",
                      "Forbidden: maximum allowed value of a user defined priority is 1000000000"});
  }
  if (old && !Same(priority, *old, "value")) errors.push_back(Immutable("value"));
}

void AdmitPod(const json::object& pod, const json::object* old, Errors& errors) {
  if (old && !Same(pod, *old, "spec")) {
    errors.push_back({FieldErrorKind::kForbidden, "spec",
                      "Forbidden: the pool makes the pods of a TFJob and their spec never changes; "
                      "change the TFJob instead"});
  }
}

Outcome<Warnings> AdmitTfJob(const Kind& kind, json::object& tfjob, const json::object* old,
                             const World& world) {
  const std::string name = TextAt(tfjob, "metadata.name");
  manifest::Canonicalise(tfjob);
  auto draft = manifest::DraftOf(tfjob);
  if (!draft) {
    return Refuse(BadRequest(fmt::format(
        "TFJob in version \"v1\" cannot be handled as a TFJob: {}{}{}", draft.error().object,
        draft.error().object.empty() ? "" : ": ", draft.error().message)));
  }
  std::optional<job::Draft> previous;
  if (old) {
    if (auto stored = manifest::DraftOf(*old)) previous = *std::move(stored);
  }
  job::Findings findings = job::Validate(*draft, previous ? &*previous : nullptr);
  if (!findings.errors.empty()) return Refuse(Invalid(kind, name, findings.errors));
  const bool same_spec = old && Same(tfjob, *old, "spec");
  if (world.admit_tfjob && !same_spec) {
    if (const auto taken = world.admit_tfjob(tfjob); !taken) {
      const base::Error& error = taken.error();
      const std::string id = error.id.empty() ? "" : " (" + error.id + ")";
      return Refuse(Invalid(
          kind, name,
          {{FieldErrorKind::kInvalid, error.object.empty() ? "spec.tfReplicaSpecs" : error.object,
            "Invalid value: " + error.message + id}}));
    }
  }
  if (!same_spec) {
    std::ranges::move(manifest::Warnings(tfjob), std::back_inserter(findings.warnings));
  }
  return std::move(findings.warnings);
}

}  // namespace

Outcome<Warnings> Admit(const Kind& kind, json::object& object, const json::object* old,
                        const World& world) {
  if (kind.kind == "TFJob") return AdmitTfJob(kind, object, old, world);
  Errors errors;
  if (kind.kind == "Queue") errors = manifest::ValidateQueue(object);
  if (kind.kind == "Secret") AdmitSecret(object, old, errors);
  if (kind.kind == "ConfigMap") AdmitConfigMap(object, old, errors);
  if (kind.kind == "Namespace") AdmitNamespaceObject(object, old);
  if (kind.kind == "PersistentVolumeClaim") AdmitClaim(object, old, errors);
  if (kind.kind == "Service") AdmitService(object, errors);
  if (kind.kind == "PriorityClass") AdmitPriorityClass(object, old, errors);
  if (kind.kind == "Pod") AdmitPod(object, old, errors);
  if (!errors.empty()) return Refuse(Invalid(kind, TextAt(object, "metadata.name"), errors));
  if (kind.kind != "Queue") return Warnings{};
  const auto queue = manifest::DecodeQueue(json::serialize(object));
  return queue ? BrokenPromises(world.store, *queue) : Warnings{};
}

void ClaimUser(json::object& tfjob, const json::object* old, const Identity& identity,
               Warnings& warnings) {
  const auto user_of = [](const json::object& object) {
    const json::value* annotations = At(object, "metadata.annotations");
    const json::value* user = annotations && annotations->is_object()
                                  ? annotations->get_object().if_contains(manifest::kUser)
                                  : nullptr;
    return user && user->is_string() ? std::string(user->get_string()) : std::string();
  };
  const std::string wish = user_of(tfjob);
  if (identity.admin && !wish.empty()) return;
  const std::string user = old == nullptr ? identity.name : user_of(*old);
  if (wish == user) return;
  if (!wish.empty()) {
    warnings.push_back(fmt::format("metadata.annotations[{}]: {} is ignored: the job is {}'s",
                                   manifest::kUser, wish, user.empty() ? "nobody" : user));
  }
  json::object& annotations = Sub(MetadataOf(tfjob), "annotations");
  annotations.erase(manifest::kUser);
  if (!user.empty()) annotations[manifest::kUser] = user;
}

Outcome<void> AdmitNamespace(const Route& route, const World& world) {
  static const Kind& kNamespace = *manifest::FindKind("", "namespaces");
  if (!route.kind->namespaced) return {};
  const auto space = world.store.Get({"namespaces", "", route.space});
  if (!space) return Refuse(FromError(space.error(), kNamespace, route.space));
  if (!manifest::IsBeingDeleted(*space->body)) return {};
  Problem problem = Forbidden(
      *route.kind, route.name,
      fmt::format("unable to create new content in namespace {} because it is being terminated",
                  route.space));
  problem.causes.push_back({"NamespaceTerminating",
                            fmt::format("namespace {} is being terminated", route.space),
                            "metadata.namespace"});
  return Refuse(std::move(problem));
}

Outcome<void> AdmitCreation(const Route& route, std::string_view name) {
  if (route.kind->kind == "Pod") {
    return Refuse(Forbidden(*route.kind, name,
                            "pods are made by the pool, for the replicas of a TFJob "
                            "(kubeflow.org/v1); create a TFJob instead"));
  }
  if (route.kind->kind == "Node") {
    return Refuse(Forbidden(*route.kind, name, "the pool itself registers the machine it runs on"));
  }
  return {};
}

Outcome<void> AdmitStatus(const Route& route) {
  if (route.kind->kind == "Pod" || route.kind->kind == "Node" || route.kind->kind == "Queue" ||
      route.kind->kind == "Namespace" || route.kind->kind == "PersistentVolumeClaim") {
    return Refuse(Forbidden(*route.kind, route.name, "its status is written by the pool alone"));
  }
  return {};
}

Outcome<void> AdmitDeletion(const Route& route) {
  if (route.kind->kind == "Node") {
    return Refuse(Forbidden(*route.kind, route.name,
                            "the pool itself registers the machine it runs on; to keep new jobs "
                            "off it: kubectl cordon"));
  }
  if (route.kind->kind != "Namespace") return {};
  for (const std::string_view name : {"default", "kube-system", "kube-public"}) {
    if (route.name == name) {
      return Refuse(Forbidden(*route.kind, route.name, "this namespace may not be deleted"));
    }
  }
  return {};
}

}  // namespace pondage::api
