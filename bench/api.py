"""The API under load: Pondage, and beside it kube-apiserver with etcd where their programs are named."""

import json
import os
import resource
import subprocess

import kube
from family import Stuck
from pool import JOBS, Pool, job
from table import Row, mb, not_run

OBJECTS = 10_000
WATCHES = 1_000


def load(scene, server, verb, connections, count, first=0, table=False):
    """One run of bench_load; CPU seconds of the server are added to what it says."""
    argv = [scene.program("bench_load"), "--server", server.address, "--ca", server.authority,
            "--token", server.token_file, "--path", JOBS, "--body", _body(scene),
            "--connections", str(connections), "--count", str(count),
            "--first", str(first), verb]
    if table:
        argv.append("--table")
    before = server.cpu()
    done = subprocess.run(argv, capture_output=True, text=True, timeout=900, preexec_fn=_more_files)
    if done.returncode != 0:
        raise Stuck(f"{verb}: {done.stderr.strip()[:300]}")
    said = json.loads(done.stdout)
    said["cpu"] = server.cpu() - before
    said["resident"] = server.resident()
    return said


def _more_files():
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _body(scene):
    """A suspended TFJob: stored, judged, shown, and started by nobody."""
    path = os.path.join(scene.scratch, "body.json")
    if not os.path.exists(path):
        body = job("NAME", ["python", "/mnt/code/train.py"])
        body["spec"]["runPolicy"] = {"suspend": True}
        with open(path, "w") as file:
            json.dump(body, file)
    return path


class Served:
    """A Pondage server as load() wants it."""

    def __init__(self, pool):
        self.address = pool.address
        self.authority = os.path.join(pool.data, "pki", "ca.crt")
        self.token_file = os.path.join(pool.data, "admin.token")
        self.family = pool.family

    def cpu(self):
        return sum(self.family.cpu())

    def resident(self):
        return self.family.resident()[0]


def _steps(scene):
    """Label, and what load() takes; the objects are made by the first two."""
    objects = 1_000 if scene.quick else OBJECTS
    watches = 100 if scene.quick else WATCHES
    tenth = objects // 10
    of = f"list {objects:,}"
    return [
        ("create, 1 connection", ("create", 1, tenth)),
        ("create, 16 connections", ("create", 16, objects - tenth, tenth)),
        ("get, 1 connection", ("get", 1, objects // 2)),
        ("get, 16 connections", ("get", 16, objects)),
        (f"{of}, 1 connection", ("list", 1, 10)),
        (f"{of}, 16 connections", ("list", 16, 32)),
        (f"{of} as a Table, 1 connection", ("list", 1, 10, 0, True)),
        (f"{of} as a Table, 16 connections", ("list", 16, 32, 0, True)),
        ("patch, 1 connection", ("patch", 1, tenth)),
        ("patch, 16 connections", ("patch", 16, objects // 2)),
        (f"{watches:,} watchers, a change to all", ("watch", watches, 20)),
    ]


def measure(scene, server):
    """Label -> what bench_load said, for every step."""
    said = {}
    for label, what in _steps(scene):
        try:
            said[label] = load(scene, server, *what)
        except (Stuck, subprocess.TimeoutExpired) as trouble:
            said[label] = {"trouble": str(trouble)}
    return said


def _speed(said, watch):
    """Seconds that one takes: of the whole run for operations, of the slowest watch for changes."""
    return said["last_p50_ms"] / 1000 if watch else 1 / said["per_second"]


def _describe(said, watch):
    if "trouble" in said:
        return "failed: " + said["trouble"]
    if watch:
        return f"all have it after {said['last_p50_ms']:.1f} ms"
    return f"{said['per_second']:,.0f}/s"


def _details(name, said):
    if "trouble" in said:
        return f"{name}: {said['trouble']}"
    size = f"; {mb(said['bytes'])} each" if said["bytes"] > 100_000 else ""
    return (f"{name}: {said['p50_ms']:.2f} / {said['p99_ms']:.2f} ms p50/p99, {said['cpu']:.2f} s CPU "
            f"for {said['count']:,}, resident {mb(said['resident'])}{size}")


def api_rows(scene):
    with Pool(scene.programs, os.path.join(scene.directory("api"), "data")) as pool:
        pool.add_environment()
        ours = measure(scene, Served(pool))
        definition = pool.client().ok(
            "GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/tfjobs.kubeflow.org")
    why_not = kube.why_not()
    theirs = {}
    if not why_not:
        with kube.Kube(scene.directory("kube"), definition) as server:
            theirs = measure(scene, server)
    for label, one in ours.items():
        watch = "watchers" in label
        row = Row("API: " + label, _describe(one, watch), note=_details("Pondage", one))
        peer = theirs.get(label)
        if peer and "trouble" not in peer and "trouble" not in one:
            ratio = _speed(peer, watch) / _speed(one, watch)
            row.measured += f"; {ratio:.1f}x kube-apiserver"
            row.value, row.must_value, row.more_is_better = ratio, 1, True
        row.must = "faster"
        row.note += "; " + (_details("kube-apiserver + etcd", peer) if peer else
                            "kube-apiserver + etcd: not run, " + why_not)
        yield row
    yield _memory_row(ours, theirs, why_not)


def _memory_row(ours, theirs, why_not):
    most = [max((one["resident"] for one in said.values() if "resident" in one), default=0)
            for said in (ours, theirs)]
    what = "API: most resident memory of these rows, share of kube-apiserver + etcd's"
    if why_not:
        return not_run(what, f"{why_not}; Pondage: {mb(most[0])}", "0.1")
    share = most[0] / most[1]
    return Row(what, f"{share:.2f}", "0.1", "", share, 0.1, None,
               f"Pondage {mb(most[0])}, kube-apiserver and etcd {mb(most[1])}")
