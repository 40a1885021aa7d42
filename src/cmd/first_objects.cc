#include "cmd/first_objects.h"

#include <boost/json.hpp>
#include <string>
#include <vector>

#include "manifest/kinds.h"
#include "manifest/object.h"
#include "manifest/pod.h"
#include "manifest/queue.h"

namespace pondage::cmd {
namespace {

using boost::json::array;
using boost::json::object;

object Metadata(const std::string& kind, const std::string& space, const std::string& name,
                base::Instant now) {
  object metadata{{"name", name}};
  if (!space.empty()) metadata["namespace"] = space;
  metadata["uid"] = manifest::UidFrom("first " + kind + " " + space + "/" + name);
  metadata["creationTimestamp"] = manifest::FormatTime(now);
  return metadata;
}

object Namespace(const std::string& name, base::Instant now) {
  object metadata = Metadata("Namespace", "", name, now);
  metadata["labels"] = object{{"kubernetes.io/metadata.name", name}};
  return {{"apiVersion", "v1"},
          {"kind", "Namespace"},
          {"metadata", std::move(metadata)},
          {"spec", object{{"finalizers", array{"kubernetes"}}}},
          {"status", object{{"phase", "Active"}}}};
}

object ServiceAccount(const std::string& space, base::Instant now) {
  return {{"apiVersion", "v1"},
          {"kind", "ServiceAccount"},
          {"metadata", Metadata("ServiceAccount", space, "default", now)}};
}

array PrinterColumns(const manifest::Kind& kind) {
  array columns;
  for (const manifest::Column& column : kind.columns) {
    if (column.path.empty()) continue;
    columns.push_back(object{{"name", column.name},
                             {"type", column.type},
                             {"jsonPath", "." + std::string(column.path)}});
  }
  return columns;
}

// Read-only: what the server serves is the table of kinds, this is how clients look for it.
object Definition(const manifest::Kind& kind, base::Instant now) {
  const object names{{"plural", kind.plural},
                     {"singular", kind.singular},
                     {"kind", kind.kind},
                     {"listKind", std::string(kind.kind) + "List"}};
  const object version{
      {"name", kind.version},
      {"served", true},
      {"storage", true},
      {"subresources", object{{"status", object{}}}},
      {"additionalPrinterColumns", PrinterColumns(kind)},
      {"schema",
       object{{"openAPIV3Schema",
               object{{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}}}}}};
  const auto holds = [now](const char* type, const char* reason) {
    return object{{"type", type},
                  {"status", "True"},
                  {"reason", reason},
                  {"message", ""},
                  {"lastTransitionTime", manifest::FormatTime(now)}};
  };
  return {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          {"metadata", Metadata("CustomResourceDefinition", "", std::string(kind.storage), now)},
          {"spec", object{{"group", kind.group},
                          {"names", names},
                          {"scope", kind.namespaced ? "Namespaced" : "Cluster"},
                          {"versions", array{version}}}},
          {"status", object{{"acceptedNames", names},
                            {"storedVersions", array{kind.version}},
                            {"conditions", array{holds("NamesAccepted", "NoConflicts"),
                                                 holds("Established", "InitialNamesAccepted")}}}}};
}

class FirstObjects {
 public:
  FirstObjects(const port::Store& store) : store_(store) {}

  void Want(const std::string& storage, const object& wanted, bool live = false) {
    const object& metadata = wanted.at("metadata").as_object();
    const auto* space = metadata.if_contains("namespace");
    port::Key key{storage, space == nullptr ? "" : std::string(space->as_string()),
                  std::string(metadata.at("name").as_string())};
    if (store_.Get(key)) return;
    manifest::Packed packed = manifest::Pack(wanted);
    batch_.changes.push_back({.key = std::move(key),
                              .uid = std::string(metadata.at("uid").as_string()),
                              .body = std::move(packed.body),
                              .splice = packed.splice,
                              .facets = manifest::Facets(wanted, {}),
                              .live = live});
  }

  const port::Batch& batch() const { return batch_; }

 private:
  const port::Store& store_;
  port::Batch batch_;
};

}  // namespace

base::Result<void> StoreFirstObjects(port::Store& store, base::Instant now) {
  FirstObjects first(store);
  for (const char* name : {"default", "kube-system", "kube-public"}) {
    first.Want("namespaces", Namespace(name, now));
    first.Want("serviceaccounts", ServiceAccount(name, now));
  }
  for (const manifest::Kind& kind : manifest::Kinds()) {
    if (kind.custom) {
      first.Want("customresourcedefinitions.apiextensions.k8s.io", Definition(kind, now));
    }
  }
  first.Want("queues.pondage.dev", manifest::DefaultQueue(now), /*live=*/true);
  if (first.batch().changes.empty()) return {};
  TRY_DO(store.Commit(first.batch()));
  return {};
}

}  // namespace pondage::cmd
