"""The rows of the table that need nothing but Pondage. Each gives Row objects."""

import json
import os
import statistics
import subprocess
import tempfile
import threading
import time

from family import Stuck, await_
from pool import JOBS, Finished, Pool, job
from table import Row, mb, ms, percentile


class Scene:
    """What every row needs: where the programs are, where to write, how much to do."""

    def __init__(self, programs, scratch, quick):
        self.programs = programs
        self.scratch = scratch
        self.quick = quick

    def directory(self, name):
        """A new one. None is removed before the end: ext4 makes files slowly where some were just
        deleted, which would be measured too."""
        return tempfile.mkdtemp(prefix=name + "-", dir=self.scratch)

    def program(self, name):
        return os.path.join(self.programs, name)


def started(path):
    """What the no-op program wrote: name -> nanoseconds of the wall clock."""
    try:
        with open(path) as file:
            lines = file.read().split("\n")[:-1]
    except FileNotFoundError:
        return {}
    return {name: int(at) for name, at in (line.split() for line in lines)}


def seeded(scene, name, count):
    """A data directory with `count` finished jobs: clones of one that really ran."""
    base = scene.directory(name)
    data = os.path.join(base, "data")
    with Pool(scene.programs, data) as pool:
        pool.add_environment()
        finished = Finished(pool)
        pool.client().ok("POST", JOBS, job("kept-00000000", [scene.program("bench_noop"),
                                                            os.path.join(base, "began"), "kept"]))
        await_("a job's end", 30, lambda: finished.names)
    done = subprocess.run([scene.program("bench_seed"), os.path.join(data, "pondage.sqlite"),
                           str(count)], check=True, capture_output=True, text=True)
    size = os.path.getsize(os.path.join(data, "pondage.sqlite"))
    return data, f"{done.stdout.strip()}; {mb(size)} of store"


def start_rows(scene):
    base = scene.directory("start")
    empty = []
    cpu = []
    for i in range(5 if scene.quick else 15):
        with Pool(scene.programs, os.path.join(base, str(i))) as pool:
            empty.append(pool.ready_after)
            cpu.append(pool.family.fine_cpu())
    yield Row("serve, start to ready: empty store (first start: also makes its certificates)",
              ms(statistics.median(empty)), "150 ms", "50 ms",
              statistics.median(empty) * 1000, 150, 50,
              f"{len(empty)} starts, {ms(min(empty))} to {ms(max(empty))}; "
              f"CPU {ms(statistics.median(cpu))}")

    count = 10_000 if scene.quick else 100_000
    data, what = seeded(scene, "kept", count)
    full = []
    cpu = []
    resident = []
    for _ in range(3 if scene.quick else 9):
        with Pool(scene.programs, data) as pool:
            full.append(pool.ready_after)
            cpu.append(pool.family.fine_cpu())
            resident.append(pool.family.resident()[0])
    yield Row(f"serve, start to ready: {count:,} finished jobs kept",
              ms(statistics.median(full)), "1.5 s", "300 ms",
              statistics.median(full) * 1000, 1500, 300,
              f"{len(full)} starts, {ms(min(full))} to {ms(max(full))}; "
              f"CPU {ms(statistics.median(cpu))}; resident {mb(max(resident))}; {what}")


def memory_rows(scene):
    base = scene.directory("idle")
    with Pool(scene.programs, os.path.join(base, "data")) as pool:
        pool.client().ok("GET", JOBS)
        time.sleep(2)  # two rounds of its housekeeping
        resident, own = pool.family.resident()
    yield Row("resident memory: idle", mb(resident), "40 MB", "20 MB", resident / 1e6, 40, 20,
              f"{mb(own)} of it not mapped from files")

    kept = 1_000 if scene.quick else 10_000
    running = 100
    data, _ = seeded(scene, "memory", kept)
    with Pool(scene.programs, data, gpus=running) as pool:
        client = pool.client()
        for i in range(running):
            client.ok("POST", JOBS, job(f"sleeper-{i}", ["/bin/sleep", "3600"]))
        await_("100 running jobs", 60, lambda: _running(client) == running, pause=0.2)
        time.sleep(2)
        resident, own = pool.family.resident()
        shims = _resident_of("pondage-shim", pool.data)
    yield Row(f"resident memory: {kept:,} jobs kept, {running} running", mb(resident), "120 MB",
              "60 MB", resident / 1e6, 120, 60,
              f"{mb(own)} of it not mapped from files; the {len(shims)} shims, shared pages divided "
              f"among them: {mb(sum(shims))}")


def _running(client):
    pods = client.ok("GET", "/api/v1/namespaces/default/pods?fieldSelector=status.phase%3DRunning")
    return len(pods["items"])


def _resident_of(program, data):
    """Proportional sizes of the processes of this program that work below `data`."""
    sizes = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.path.basename(os.readlink(f"/proc/{pid}/exe")) != program:
                continue
            if not os.readlink(f"/proc/{pid}/cwd").startswith(os.path.realpath(data)):
                continue
            with open(f"/proc/{pid}/smaps_rollup") as rollup:
                pss = next(line for line in rollup if line.startswith("Pss:"))
            sizes.append(int(pss.split()[1]) * 1024)
        except (OSError, StopIteration):
            continue
    return sizes


def latency_rows(scene):
    base = scene.directory("latency")
    began = os.path.join(base, "began")
    count = 50 if scene.quick else 300
    sent = {}
    answered = []
    with Pool(scene.programs, os.path.join(base, "data")) as pool:
        pool.add_environment()
        finished = Finished(pool)
        client = pool.client()
        for i in range(-5, count):  # the first ones warm caches on both sides
            name = f"noop-{i + 5}"
            body = json.dumps(job(name, [scene.program("bench_noop"), began, name]))
            at = time.time_ns()
            answer = client.send("POST", JOBS, body)
            answer.read()
            if answer.status != 201:
                raise Stuck(f"POST: {answer.status}")
            if i >= 0:
                sent[name] = at
                answered.append((time.time_ns() - at) / 1e9)
            await_("the job's end", 30, lambda n=name: n in finished.names, pause=0.002)
        own, others = pool.family.cpu()
        resident = pool.family.resident()[0]
    start = started(began)
    waits = [(start[name] - at) / 1e9 for name, at in sent.items()]
    for share, must, aim in ((50, 15, 5), (99, 60, 20)):
        value = percentile(waits, share)
        yield Row(f"1-GPU no-op job, create to process started, idle pool: p{share}", ms(value),
                  f"{must} ms", f"{aim} ms", value * 1000, must, aim,
                  f"{count} jobs one after the other; answer to the create after "
                  f"{ms(percentile(answered, share))}; CPU a job {ms(own / (count + 5))} server, "
                  f"{ms(others / (count + 5))} shim and program; resident {mb(resident)}")


def throughput(scene, count, clients):
    """Seconds for `count` no-op jobs from the first create to the last success, and what it took."""
    base = scene.directory("throughput")
    began = os.path.join(base, "began")
    with Pool(scene.programs, os.path.join(base, "data")) as pool:
        pool.add_environment()
        finished = Finished(pool)
        names = iter([f"noop-{i}" for i in range(count)])
        lock = threading.Lock()
        errors = []

        def submit():
            client = pool.client()
            while True:
                with lock:
                    name = next(names, None)
                if name is None:
                    return
                try:
                    client.ok("POST", JOBS, job(name, [scene.program("bench_noop"), began, name]))
                except (Stuck, OSError) as error:
                    errors.append(str(error))
                    return

        threads = [threading.Thread(target=submit) for _ in range(clients)]
        before = pool.family.cpu()
        begin = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        submitted = time.monotonic() - begin
        if errors:
            raise Stuck(errors[0])
        await_(f"{count} finished jobs", 600, lambda: len(finished.names) >= count, pause=0.002)
        elapsed = finished.last - begin
        after = pool.family.cpu()
        resident = pool.family.resident()[0]
    if finished.failed or len(started(began)) != count:
        raise Stuck(f"{len(finished.failed)} jobs failed, {len(started(began))} of {count} ran")
    return {"seconds": elapsed, "submitted": submitted, "resident": resident,
            "server": after[0] - before[0], "others": after[1] - before[1]}


def size_rows(scene):
    for name, must, aim in (("pondage", 25, 12), ("pondage-shim", 1.5, 1)):
        stripped = os.path.join(scene.directory("size"), name)
        subprocess.run(["strip", "-o", stripped, scene.program(name)], check=True)
        size = os.path.getsize(stripped)
        yield Row(f"{name}, stripped", mb(size), f"{must} MB", f"{aim} MB", size / 1e6, must, aim,
                  f"{mb(os.path.getsize(scene.program(name)))} with its symbols")
