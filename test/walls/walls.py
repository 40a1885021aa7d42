#!/usr/bin/env python3
"""The walls of the house, as checks: who may include whom, what pure rooms may call, and tidy facts.

Usage: walls.py includes|purity|tidy --source DIR [--build DIR]
Prints one line an offence and ends with 1 when there is any. Known old offenders stand in ratchet.txt,
one `rule path` a line: they may stay until they are mended, new ones fail, and a line that is no longer
true fails too.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

LIBRARY_HEADERS = {
    "boost": ("boost/",),
    "boost-json": ("boost/json", "boost/system/", "boost/container/", "boost/core/"),
    "boost-uuid": ("boost/uuid/",),
    "openssl": ("openssl/",),
    "sqlite3": ("sqlite3.h",),
    "yaml-cpp": ("yaml-cpp/",),
    "zlib": ("zlib.h",),
    "protobuf": ("google/protobuf/",),
    "prometheus-cpp": ("prometheus/",),
    "spdlog": ("spdlog/",),
    "dl": ("dlfcn.h",),
    "CLI11": ("CLI/",),
}
FREE_HEADERS = ("fmt/",)
TEST_HEADERS = ("gtest/", "gmock/", "rapidcheck")
IMPURE_HEADERS = {
    "atomic", "condition_variable", "filesystem", "fstream", "future", "iostream", "latch", "mutex",
    "random", "semaphore", "shared_mutex", "stop_token", "syncstream", "thread", "unordered_map",
    "unordered_set",
}

# Undefined symbols, demangled, that a pure room must not have.
IMPURE_SYMBOLS = re.compile(
    r"std::chrono::_V2::\w+_clock::now|std::random_device|std::(this_thread|thread|jthread)\b"
    r"|std::(condition_variable|mutex|basic_[io]?fstream|basic_filebuf|filesystem)\b"
    r"|^(clock_gettime|gettimeofday|time|clock|localtime|localtime_r|nanosleep|usleep|sleep)(@|$)"
    r"|^(open|open64|openat|fopen|fopen64|read|pread|pread64|write|pwrite|pwrite64|close|unlink|rename"
    r"|stat|fstat|mkdir|opendir|readdir|mmap|mmap64|ioctl)(@|$)"
    r"|^(socket|connect|bind|listen|accept|accept4|send|sendto|sendmsg|recv|recvfrom|recvmsg|poll"
    r"|epoll_\w+|select)(@|$)"
    r"|^(pthread_create|pthread_mutex_lock|fork|vfork|execv\w*|posix_spawn\w*|system|popen)(@|$)"
    r"|^(getenv|secure_getenv|setenv|putenv|getrandom|rand|srand|random|arc4random)(@|$)"
)

LONGEST_FILE = 800
LONGEST_STEP = 100
LONGEST_README = 40
DRAWERS = {"util", "utils", "common", "misc", "core", "lib", "helper", "helpers"}
CODE_SUFFIXES = {".cc", ".h", ".py", ".js", ".ts", ".css", ".html", ".cmake", ".sh"}
# Written in pieces, so that this file does not offend itself. Paths of one machine, and hosts that a
# clean clone must not depend on.
FORBIDDEN = [
    re.compile(pattern)
    for pattern in (
        r"(?<![\w.~-])/wo" + r"rk/(?!\d)", "/ro" + r"ot/\w", "/home/[a-z]+/", r"\.\./sha" + r"red\b",
        "pypi" + r"\.org", "files\\.pythonhosted" + r"\.org", "registry\\.npmjs" + r"\.org",
        "proxy\\.golang" + r"\.org",
    )
]
QUOTED = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
ANGLED = re.compile(r"^\s*#\s*include\s+<([^>]+)>", re.M)


class Rooms:
    """rooms.txt: for each room what it may include, its libraries, whether it is pure."""

    def __init__(self, text):
        self.uses, self.libraries, self.pure = {}, {}, set()
        nouns = []
        for line in text.splitlines():
            line = line.split("#")[0].strip()
            if match := re.fullmatch(r"nouns\s*=\s*(.*)", line):
                nouns = match[1].split()
            elif match := re.fullmatch(r"([a-z]+)(\*?):([^|]*)(?:\|(.*))?", line):
                room, star, uses, libraries = match.groups()
                names = []
                for use in uses.split():
                    names += nouns if use == "nouns" else list(self.uses) if use == "all" else [use]
                self.uses[room] = set(names) | ({"base"} if room != "base" else set())
                self.libraries[room] = (libraries or "").split()
                if star:
                    self.pure.add(room)
            elif line:
                raise ValueError(f"rooms.txt: not understood: {line}")

    def cycle(self):
        """A room that reaches itself, or None."""
        for start in self.uses:
            seen, edge = set(), set(self.uses[start])
            while edge:
                room = edge.pop()
                if room == start:
                    return start
                if room not in seen:
                    seen.add(room)
                    edge |= self.uses.get(room, set())
        return None


def sources(root, *suffixes):
    return sorted(p for p in (root / "src").rglob("*") if p.is_file() and p.suffix in suffixes)


def is_test_code(path):
    return path.stem.endswith("_test") or path.stem.startswith("test_") or path.stem == "small_world"


def room_of(root, path):
    return path.relative_to(root / "src").parts[0]


def check_includes(root, _build):
    rooms = Rooms((root / "rooms.txt").read_text())
    if looped := rooms.cycle():
        yield "cycle", "rooms.txt", f"room {looped} reaches itself"
    for room, uses in rooms.uses.items():
        for use in sorted(uses - set(rooms.uses)):
            yield "unknown-room", "rooms.txt", f"room {room} names {use}, which has no line"
    for path in sources(root, ".cc", ".h"):
        room, where = room_of(root, path), str(path.relative_to(root))
        text = path.read_text()
        # A folder without a line is a program of its own: it may include itself alone.
        allowed = rooms.uses.get(room, set()) | {room}
        for name in QUOTED.findall(text):
            if name.split("/")[0] not in allowed or "/" not in name:
                yield "include", where, f'room {room} must not include "{name}"'
        headers = FREE_HEADERS + tuple(
            prefix for library in rooms.libraries.get(room, []) for prefix in LIBRARY_HEADERS[library]
        )
        is_test = is_test_code(path)
        for name in ANGLED.findall(text):
            is_standard = re.fullmatch(r"[a-z_]+", name)
            if is_standard and room in rooms.pure and not is_test and name in IMPURE_HEADERS:
                yield "impure-header", where, f"pure room {room} must not include <{name}>"
            if is_standard or name.startswith(headers) or (is_test and name.startswith(TEST_HEADERS)):
                continue
            is_system = not any(name.startswith(p) for ps in LIBRARY_HEADERS.values() for p in ps)
            if not is_system or name.startswith(TEST_HEADERS):
                yield "library", where, f"room {room} has no library for <{name}>"
            elif room in rooms.pure and not is_test:
                yield "impure-header", where, f"pure room {room} must not include <{name}>"


def check_purity(root, build):
    rooms = Rooms((root / "rooms.txt").read_text())
    seen = 0
    for room in sorted(rooms.pure):
        archive = build / f"libroom_{room}.a"
        if not archive.exists():
            continue
        seen += 1
        listing = subprocess.run(
            ["nm", "-uC", str(archive)], check=True, capture_output=True, text=True
        ).stdout
        for symbol in impure_symbols(listing):
            yield "impure-symbol", f"src/{room}", f"pure room {room} calls {symbol}"
    if seen == 0:
        yield "impure-symbol", "src", f"no archive of a pure room in {build}: build first"


def impure_symbols(listing):
    names = (line.strip()[2:].strip() for line in listing.splitlines() if line.strip().startswith("U "))
    return sorted({name for name in names if IMPURE_SYMBOLS.search(name)})


def opens_with_a_sentence(text):
    """The first comment starts with a capital and its first paragraph holds a full stop."""
    lines = text.splitlines()
    paragraph = []
    for line in lines:
        if not line.startswith("// "):
            break
        paragraph.append(line[3:])
    first = " ".join(paragraph)
    return bool(re.match(r"[A-Z`0-9]", first)) and bool(re.search(r"[.:](\s|$)", first))


def check_tidy(root, build):
    rooms = Rooms((root / "rooms.txt").read_text())
    for path in tracked(root):
        where = str(path.relative_to(root))
        if {part.lower() for part in path.relative_to(root).parts[:-1]} & DRAWERS or (
            path.suffix in CODE_SUFFIXES and path.stem.lower() in DRAWERS
        ):
            yield "drawer", where, "is a drawer: name the thing, or move it to its owner"
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        if path.suffix in CODE_SUFFIXES or path.name == "CMakeLists.txt":
            yield from code_facts(where, text)
        for pattern in FORBIDDEN:
            if found := pattern.search(text):
                yield "forbidden", where, f"names {found[0]}, which no other machine has"
    for path in sources(root, ".h"):
        text, where = path.read_text(), str(path.relative_to(root))
        if not opens_with_a_sentence(text):
            yield "header", where, "does not open with a sentence that says what the thing is"
        if "#pragma once" not in text:
            yield "header", where, "has no #pragma once"
    for folder in sorted(p for p in (root / "src").iterdir() if p.is_dir()):
        yield from readme_facts(root, folder)
        if folder.name not in rooms.uses and not (folder / "CMakeLists.txt").exists():
            yield "room", f"src/{folder.name}", "has no line in rooms.txt"
    yield from unbuilt_tests(root, build)


def tracked(root):
    listing = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        check=False, capture_output=True,
    )
    if listing.returncode == 0:
        names = [n for n in listing.stdout.decode().split("\0") if n]
    else:  # a tree without git, such as a source archive
        names = [str(p.relative_to(root)) for p in root.rglob("*") if "build" not in p.parts]
    return sorted(root / n for n in names if (root / n).is_file())


def code_facts(where, text):
    length = text.count("\n")
    longest = LONGEST_STEP if where == "src/pool/step.cc" else LONGEST_FILE
    if length > longest:
        yield "length", where, f"has {length} lines, {longest} are allowed"
    for line in text.splitlines():
        if re.search(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b(?!\(#\d+\))", line):
            yield "todo", where, f"has no issue number: {line.strip()[:60]}"


def readme_facts(root, folder):
    readme = folder / "README.md"
    where = str(folder.relative_to(root))
    if not any(folder.glob("*.cc")):
        return
    if not readme.exists():
        yield "readme", where, "has no README.md"
    elif readme.read_text().count("\n") > LONGEST_README:
        yield "readme", where, f"its README.md has more than {LONGEST_README} lines"


def unbuilt_tests(root, build):
    commands = build / "compile_commands.json" if build else None
    if commands is None or not commands.exists():
        return
    built = {pathlib.Path(c["file"]).resolve() for c in json.loads(commands.read_text())}
    for path in sources(root, ".cc"):
        if path.stem.endswith("_test") and path.resolve() not in built:
            yield "unbuilt-test", str(path.relative_to(root)), "is a test that nobody builds"


CHECKS = {"includes": check_includes, "purity": check_purity, "tidy": check_tidy}
RULES = {
    "includes": {"cycle", "unknown-room", "include", "impure-header", "library"},
    "purity": {"impure-symbol"},
    "tidy": {"drawer", "forbidden", "header", "length", "readme", "room", "todo", "unbuilt-test"},
}


def judge(check, root, build, ratchet):
    """Lines to print: new offences, and ratchet lines of this check that are no longer true."""
    offences = list(CHECKS[check](root, build))
    found = {(rule, where) for rule, where, _ in offences}
    known = {tuple(line.split(maxsplit=1)) for line in ratchet.splitlines()
             if line.strip() and not line.startswith("#")}
    for rule, where, why in offences:
        if (rule, where) not in known:
            yield f"{where}: {why} [{rule}]"
    for rule, where in sorted(known - found):
        if rule in RULES[check]:
            yield f"{where}: no longer offends: take `{rule} {where}` out of ratchet.txt"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("check", choices=CHECKS)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.check == "purity" and arguments.build is None:
        parser.error("purity needs --build")
    ratchet = pathlib.Path(__file__).with_name("ratchet.txt")
    lines = list(judge(arguments.check, arguments.source.resolve(), arguments.build,
                       ratchet.read_text() if ratchet.exists() else ""))
    print("\n".join(lines) or f"{arguments.check}: the walls stand")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
