// The one table of kinds that the server serves: group, names, scope, columns, selectable fields,
// patch merge keys. Code of its own exists only where behaviour differs.
//
// Pure, constant. Names, columns and merge keys are those of Kubernetes and Kubeflow.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace pondage::manifest {

struct Column {
  std::string_view name;
  std::string_view type;  // string, integer, date
  std::string_view path;  // dotted path into the object, or "" when computed (see api/table)
  int priority = 0;       // > 0: wide only
};

struct Kind {
  std::string_view group;  // "" for v1
  std::string_view version;
  std::string_view kind;  // "TFJob"
  std::string_view plural;
  std::string_view singular;
  std::vector<std::string_view> short_names;
  bool namespaced = true;
  bool has_status = false;               // status subresource
  bool custom = false;                   // a custom resource: JSON only, no strategic merge
  bool in_all = false;                   // category "all"
  std::vector<std::string_view> verbs;   // as discovery prints them
  std::vector<std::string_view> fields;  // selectable, beside metadata.name/namespace
  bool name_first = true;                // false: Name is one of `columns`
  std::vector<Column> columns;           // behind Name
  std::string_view
      storage;  // kind part of port::Key: "tfjobs.kubeflow.org", "pods"; "": not stored
};

std::span<const Kind> Kinds();
const Kind* FindKind(std::string_view group, std::string_view plural);
const Kind* FindKindByName(std::string_view group, std::string_view kind);

// How a strategic merge patch treats a list: by the member that tells its elements apart ("name"),
// as a set of scalars ("=") or as one value ("").
std::string_view MergeKey(const Kind& kind, std::string_view list_field);

}  // namespace pondage::manifest
