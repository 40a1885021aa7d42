#!/usr/bin/env python3
"""Makes src/manifest/field_table.cc from the Go types of Kubernetes.

    go mod download k8s.io/api@v0.32.3 k8s.io/apimachinery@v0.32.3
    tools/fields.py $(go env GOMODCACHE)/k8s.io > src/manifest/field_table.cc

Only facts are taken: the names, numbers and types of fields. One line for each message, one word for
each field: name ':' number flags type. Flags: ? a pointer (zero is a value), ! written even when zero,
* a list, % a map from strings, < a message whose members stand in its owner's JSON. Types: s string,
i integer, b boolean, y bytes, t time, u time with microseconds, q quantity, x integer or string,
r any JSON, else the name of a message. Number 0: never in protobuf.
"""
import re
import sys
import textwrap

VERSION = "0.32.3"
PACKAGES = {  # directory: prefix of names that core has too
    "api@v{v}/core/v1": "", "apimachinery@v{v}/pkg/apis/meta/v1": "",
    "api@v{v}/coordination/v1": "", "api@v{v}/scheduling/v1": "", "api@v{v}/authorization/v1": "",
    "api@v{v}/authentication/v1": "", "api@v{v}/policy/v1": "", "api@v{v}/events/v1": "Events",
}
ROOTS = ["Namespace", "Node", "Pod", "Event", "ConfigMap", "Secret", "Service", "ServiceAccount",
         "PersistentVolumeClaim", "PriorityClass", "Lease", "EventsEvent", "DeleteOptions", "Eviction",
         "Binding", "SelfSubjectAccessReview", "SelfSubjectRulesReview", "SelfSubjectReview",
         "TokenRequest"]
SCALARS = {"string": "s", "int32": "i", "int64": "i", "int": "i", "bool": "b", "byte": "y",
           "Time": "t", "MicroTime": "u", "Quantity": "q", "IntOrString": "x", "FieldsV1": "r",
           "RawExtension": "r", "UID": "s"}
# Custom resources have no protobuf. Kubeflow's own schema keeps of a template's metadata five members.
CUSTOM = """
TFJob apiVersion:0s kind:0s metadata:0ObjectMeta spec:0TFJobSpec status:0r
TFJobSpec enableDynamicWorker:0b runPolicy:0RunPolicy successPolicy:0s tfReplicaSpecs:0%ReplicaSpec
ReplicaSpec replicas:0i restartPolicy:0s template:0ReplicaTemplate
ReplicaTemplate metadata:0TemplateMeta spec:0PodSpec
TemplateMeta annotations:0%s finalizers:0*s labels:0%s name:0s namespace:0s
RunPolicy activeDeadlineSeconds:0i backoffLimit:0i cleanPodPolicy:0s managedBy:0s schedulingPolicy:0SchedulingPolicy suspend:0b ttlSecondsAfterFinished:0i
SchedulingPolicy minAvailable:0i minResources:0%q priorityClass:0s queue:0s scheduleTimeoutSeconds:0i
Queue apiVersion:0s kind:0s metadata:0ObjectMeta spec:0QueueSpec status:0r
QueueSpec parent:0s display:0s guarantee:0%q limit:0%q closed:0b held:0b maxRunSeconds:0i
"""
HEADER = """\
// Made by tools/fields.py from the Go types of Kubernetes {v}; the format is described there. Do not edit:
// change the tool and run it again. A test compares it with the Python client where that is installed.
#include "manifest/fields.h"

namespace pondage::manifest {{

// clang-format off
static constexpr std::string_view kFields = R"(
"""
FOOTER = """)";
// clang-format on

std::string_view FieldTable() {
  return kFields;
}

}  // namespace pondage::manifest
"""


def read_package(directory, prefix, taken):
    """Structs and aliases of one package, by the name that the table gives them."""
    text = open(f"{directory}/types.go").read()
    text = re.sub(r"(?m)^\s*//.*$", "", text)
    local = {}
    for match in re.finditer(r"(?ms)^type (\w+) struct \{\n(.*?)^\}", text):
        local[match[1]] = ("struct", match[2])
    for match in re.finditer(r"(?m)^type (\w+) ([\w\[\].]+)$", text):
        local[match[1]] = ("alias", match[2])
    names = {name: (prefix + name if name in taken else name) for name in local}
    return {names[name]: (*body, names) for name, body in local.items()}


def type_of(go, names, types):
    """(flags, type) of a Go type."""
    go = go.removeprefix("*")
    if go == "[]byte":
        return "", "y"
    if go.startswith("[]"):
        _, inner = type_of(go[2:], names, types)
        return "*", inner
    match = re.fullmatch(r"map\[[\w.]+\](.+)", go)
    if match:
        _, inner = type_of(match[1], names, types)
        return "%", inner
    bare = go.split(".")[-1]
    if bare in SCALARS:
        return "", SCALARS[bare]
    name = names.get(bare, bare) if "." not in go else bare
    kind, body, inner_names = types[name]
    if name == "ExtraValue":  # protobuf wraps this list; no request that is served holds it
        return "", "r"
    return type_of(body, inner_names, types) if kind == "alias" else ("", name)


def fields_of(name, types):
    _, body, names = types[name]
    for line in body.splitlines():
        match = re.match(r"\s*(\w+\s+)?([\w\[\].*]+)\s+`(.*)`", line)
        if not match:
            continue
        json = re.search(r'json:"([^",]*)([^"]*)"', match[3])
        proto = re.search(r'protobuf:"\w+,(\d+)', match[3])
        if not json or json[1] == "-":
            continue
        if match[2] == "metav1.TypeMeta" or match[2] == "TypeMeta":
            yield "apiVersion", 0, "", "s"
            yield "kind", 0, "", "s"
            continue
        flags, kind = type_of(match[2], names, types)
        flags += "?" if match[2].startswith("*") else ""
        inline = ",inline" in json[2]
        if inline:
            flags += "<"
        elif "omitempty" not in json[2]:
            flags += "!"
        number = int(proto[1]) if proto and "ExtraValue" not in match[2] else 0
        yield json[1] or kind, number, flags, kind


def main():
    root = sys.argv[1]
    types = {}
    for directory, prefix in PACKAGES.items():
        types |= read_package(f"{root}/{directory.format(v=VERSION)}", prefix, types)
    wanted, lines = list(ROOTS), {}
    wanted += ["ObjectMeta", "PodSpec"]
    while wanted:
        name = wanted.pop()
        if name in lines or len(name) == 1:
            continue
        lines[name] = []
        for field, number, flags, kind in fields_of(name, types):
            lines[name].append(f"{field}:{number}{flags}{kind}")
            wanted.append(kind)
    out = HEADER.format(v=VERSION)
    for name in sorted(lines):
        out += textwrap.fill(" ".join([name, *lines[name]]), 110, subsequent_indent="  ",
                             break_long_words=False, break_on_hyphens=False) + "\n"
    for line in CUSTOM.strip().splitlines():
        out += textwrap.fill(line, 110, subsequent_indent="  ", break_long_words=False) + "\n"
    sys.stdout.write(out + FOOTER)


if __name__ == "__main__":
    main()
