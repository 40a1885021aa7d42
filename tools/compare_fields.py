#!/usr/bin/env python3
"""Compares src/manifest/field_table.cc with the types of the Kubernetes Python client.

    tools/compare_fields.py src/manifest/field_table.cc

Prints one line for each difference, then how many messages were compared. Ends with 77 when the client
(version 32, of Kubernetes 1.32) is not installed.
"""
import re
import sys

try:
    import kubernetes
    from kubernetes.client import models
except ImportError:
    sys.exit(77)
if not kubernetes.__version__.startswith("32."):
    sys.exit(77)

NAMES = {"Event": "CoreV1Event", "EventsEvent": "EventsV1Event", "EventSeries": "CoreV1EventSeries",
         "EventsEventSeries": "EventsV1EventSeries", "Toleration": "V1Toleration"}
# What the client's models cannot say: quantities are strings there.
SCALARS = {"s": {"str"}, "i": {"int"}, "b": {"bool"}, "y": {"str"}, "t": {"datetime"}, "u": {"datetime"},
           "q": {"str"}, "x": {"object"}, "r": {"object"}}


def table(path):
    text = re.search(r'R"\(\n(.*?)\)"', open(path).read(), re.S)[1]
    text = re.sub(r"\n +", " ", text)
    messages = {}
    for line in text.splitlines():
        name, *words = line.split()
        messages[name] = [re.fullmatch(r"([\w$]+):(\d+)([?!*%<]*)(\w+)", word).groups() for word in words]
    return messages


def members(name, messages):
    for field, _, flags, kind in messages[name]:
        if "<" in flags:
            yield from members(kind, messages)
        else:
            yield field, flags, kind


def matches(flags, kind, client):
    if "*" in flags:
        inner = re.fullmatch(r"list\[(.*)\]", client)
    elif "%" in flags:
        inner = re.fullmatch(r"dict\(str, (.*)\)", client)
    else:
        inner = re.fullmatch(r"(.*)", client)
    if not inner:
        return False
    if len(kind) == 1:
        return inner[1] in SCALARS[kind] or kind == "r"
    return inner[1] == NAMES.get(kind, "V1" + kind)


def main():
    messages = table(sys.argv[1])
    compared = 0
    for name in messages:
        model = getattr(models, NAMES.get(name, "V1" + name), None)
        if model is None:
            continue
        compared += 1
        ours = {field: (flags, kind) for field, flags, kind in members(name, messages)}
        theirs = {model.attribute_map[key]: kind for key, kind in model.openapi_types.items()}
        for field in sorted(ours.keys() | theirs.keys()):
            if field not in ours or field not in theirs:
                print(f"{name}.{field}: only in {'the client' if field in theirs else 'the table'}")
            elif not matches(*ours[field], theirs[field]):
                print(f"{name}.{field}: {''.join(ours[field])} here, {theirs[field]} in the client")
    print(f"compared {compared}")


if __name__ == "__main__":
    main()
