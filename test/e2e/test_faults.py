"""What goes wrong on a machine: full disks, deaths, reboots, programs that will not go. Nothing is lost or run twice."""
import collections
import ctypes
import errno
import glob
import json
import os
import random
import re
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path

import raw
from pool import PONDAGE, Pool, eventually, tfjob


class Wrapped(Pool):
    """A pool whose server is started by `wrap`."""

    def __init__(self, *wrap, port=0):
        super().__init__()
        self.wrap = wrap
        self.port = port

    def start(self):
        self.begin()
        eventually("the server is ready", self.ready)

    def begin(self):
        command = [*self.wrap, PONDAGE, "serve", "--data", str(self.data), "--listen", f"127.0.0.1:{self.port}",
                   "--restart-delay", "1s", "--virtual-gpus", "4"]
        with open(self.root / "serve.log", "ab") as log:
            self.server = subprocess.Popen(command, stdout=log, stderr=log, env=self.env)


class Fault(unittest.TestCase):
    def pool(self, pool=None):
        pool = pool or Pool()
        pool.start()
        self.addCleanup(pool.__exit__)
        raw.serve_interpreter(pool)
        return pool

    def programs(self, pool, count):
        eventually(f"{count} programs", lambda: len(pool.programs()) == count, 15)


class Programs(Fault):
    def test_why_a_program_did_not_start_is_seen_by_everyone(self):
        pool = self.pool()
        rows = [("none", ["/no/such/program"], 127, "/no/such/program"),
                ("unknown", ["no-such-word"], 127, "no-such-word"),
                ("text", ["/etc/passwd"], 126, "/etc/passwd"),
                ("folder", ["/tmp"], 126, "/tmp")]
        for name, command, code, _ in rows:
            self.assertEqual(raw.create(pool, tfjob(name, command))[0], 201)
        for name, _, code, word in rows:
            pool.await_condition(name, "Failed")
            self.assertEqual(raw.own_status(pool, name)["cause"]["code"], code, name)
            events = pool.kubectl("describe", "tfjob", name).stdout.split("Events:")[1]
            self.assertRegex(events, rf"Warning +StartFailed .*{name}-worker-0 cannot start: .*{word}")
            pod = json.loads(pool.kubectl("get", "pod", f"{name}-worker-0", "-o", "json").stdout)["status"]
            self.assertEqual((pod["phase"], pod["reason"]), ("Failed", "StartFailed"))
            self.assertIn(word, pod["message"])

    def test_a_fork_bomb_ends_with_its_job(self):
        pool = self.pool()
        bomb = ("import os, time\nfor i in range(1500):\n  try:\n    if os.fork() == 0:\n      if i % 2: os.setsid()\n"
                "      time.sleep(600)\n  except OSError: break\nprint('done', flush=True)\ntime.sleep(600)")
        raw.create(pool, tfjob("bomb", ["python", "-c", bomb], grace=1))
        eventually("the bomb is spent", lambda: "done" in pool.kubectl("logs", "bomb-worker-0", check=False).stdout)
        self.assertGreater(len(pool.programs()), 1000)
        pool.kubectl("delete", "tfjob", "bomb", "--timeout=20s")
        self.assertEqual((pool.programs(), pool.shims()), ([], []))

    def test_memory_that_runs_out_is_named(self):
        pool = self.pool()
        job = tfjob("eater", ["python", "-c", "x = b'x' * (400 << 20); print(len(x))"])
        container = job["spec"]["tfReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][0]
        container["resources"]["limits"]["memory"] = "64Mi"
        raw.create(pool, job)
        eventually("an end", lambda: set(raw.conditions(pool, "eater")) & {"Succeeded", "Failed"})
        if "Succeeded" in raw.conditions(pool, "eater"):
            self.skipTest("no control group of memory on this machine")
        self.assertEqual(raw.own_status(pool, "eater")["cause"]["reason"], "OOMKilled")
        self.assertIn("OOMKilled", pool.kubectl("get", "pod", "eater-worker-0").stdout)

    def test_a_million_lines(self):
        pool = self.pool()
        before = raw.memory_mb(pool)
        raw.create(pool, tfjob("chatty", ["sh", "-c", "seq 1000000"]))
        pool.await_condition("chatty", "Succeeded")
        lines = pool.kubectl("logs", "chatty-worker-0").stdout.splitlines()
        self.assertEqual((len(lines), lines[0], lines[-1]), (1000000, "1", "1000000"))
        self.assertEqual(pool.kubectl("logs", "chatty-worker-0", "--tail=2").stdout, "999999\n1000000\n")
        self.assertLess(raw.memory_mb(pool) - before, 50)

    def test_a_killed_shim_takes_its_program_along_and_the_gang_starts_anew(self):
        pool = self.pool()
        raw.create(pool, tfjob("gang", ["sleep", "600"], workers=2, restart="OnFailure"))
        pool.await_condition("gang", "Running")
        self.programs(pool, 2)
        before = pool.programs()
        os.kill(pool.shims()[0], signal.SIGKILL)
        eventually("a second attempt", lambda: raw.own_status(pool, "gang")["attempt"] == 2)
        eventually("new programs", lambda: len(pool.programs()) == 2 and not set(pool.programs()) & set(before))


class Life(Fault):
    """What people do to jobs while they live."""

    def test_a_namespace_goes_with_its_jobs(self):
        pool = self.pool()
        space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lab"}}
        self.assertEqual(raw.ask(pool, "POST", "/api/v1/namespaces", space)[0], 201)
        raw.create(pool, tfjob("same", ["true"]), "lab")
        eventually("one is finished", lambda: "Succeeded" in raw.conditions(pool, "same", "lab"))
        stubborn = ["sh", "-c", "trap '' TERM; while :; do sleep 1; done"]
        raw.create(pool, tfjob("running", stubborn, workers=2, grace=1), "lab")
        raw.create(pool, tfjob("same", ["sleep", "600"]))
        pool.await_condition("same", "Running")
        raw.create(pool, tfjob("waiting", ["true"], workers=4), "lab")
        eventually("both run", lambda: len(pool.shims()) == 3)
        raw.ask(pool, "DELETE", "/api/v1/namespaces/lab")
        status, answer = raw.create(pool, tfjob("late", ["true"]), "lab")
        self.assertEqual(status, 403, raw.said(answer))
        eventually("it is gone", lambda: raw.ask(pool, "GET", "/api/v1/namespaces/lab")[0] == 404, 15)
        self.assertEqual(len(pool.programs()), 1, "the job of the same name in the other namespace")
        self.assertEqual(raw.ask(pool, "POST", "/api/v1/namespaces", space)[0], 201)
        for kind in ("pods", "services", "events"):
            self.assertEqual(raw.ask(pool, "GET", f"/api/v1/namespaces/lab/{kind}")[1]["items"], [], kind)
        raw.create(pool, tfjob("again", ["true"]), "lab")
        eventually("the new one is used", lambda: "Succeeded" in raw.conditions(pool, "again", "lab"))

    def test_the_machine_itself_stays(self):
        pool = self.pool()
        raw.create(pool, tfjob("long", ["sleep", "600"]))
        pool.await_condition("long", "Running")
        nodes = [n["metadata"]["name"] for n in raw.ask(pool, "GET", "/api/v1/nodes")[1]["items"]]
        for path in (f"/api/v1/nodes/{nodes[0]}", "/api/v1/nodes"):
            status, answer = raw.ask(pool, "DELETE", path)
            self.assertEqual(status, 403, path)
            self.assertIn("kubectl cordon", raw.said(answer))
        self.assertIn("Running", raw.conditions(pool, "long"))
        for path in ("/api/v1/namespaces", "/api/v1/namespaces/default"):
            self.assertIn(raw.ask(pool, "DELETE", path)[0], (403, 405), "default cannot go")
        self.assertEqual(raw.conditions(pool, "long"), ["Created", "Running"])

    def test_a_job_can_be_deleted_in_every_state(self):
        pool = self.pool()
        jobs = {"waiting": tfjob("waiting", ["true"], workers=5),
                "suspended": tfjob("suspended", ["sleep", "600"], suspend=True),
                "running": tfjob("running", ["sleep", "600"]),
                "deaf": tfjob("deaf", ["sh", "-c", "trap '' TERM; while :; do sleep 1; done"], grace=1),
                "restarting": tfjob("restarting", ["false"], restart="OnFailure"),
                "succeeded": tfjob("succeeded", ["true"]),
                "failed": tfjob("failed", ["false"])}
        for job in jobs.values():
            self.assertEqual(raw.create(pool, job)[0], 201)
        reached = {"waiting": "Created", "suspended": "Suspended", "running": "Running", "deaf": "Running",
                   "restarting": "Created", "succeeded": "Succeeded", "failed": "Failed"}
        for name, condition in reached.items():
            pool.await_condition(name, condition)
        eventually("a restart", lambda: raw.own_status(pool, "restarting").get("restarts"))
        for name in jobs:  # and one at once, while its program is being started
            raw.ask(pool, "DELETE", f"{raw.JOBS}/{name}")
        raw.create(pool, tfjob("starting", ["sleep", "600"]))
        raw.ask(pool, "DELETE", f"{raw.JOBS}/starting")
        eventually("all are gone", lambda: not raw.ask(pool, "GET", raw.JOBS)[1]["items"], 15)
        eventually("no program is left", lambda: not pool.shims(), 5)
        for kind in ("pods", "services"):
            self.assertEqual(raw.ask(pool, "GET", f"/api/v1/namespaces/default/{kind}")[1]["items"], [], kind)
        raw.create(pool, tfjob("all", ["true"], workers=4))
        pool.await_condition("all", "Succeeded")

    def test_edits_under_a_running_job_end_in_what_was_said_last(self):
        pool = self.pool()
        raw.create(pool, tfjob("job", ["sleep", "600"]))
        pool.await_condition("job", "Running")
        for count in (2, 4, 3):
            patch = {"spec": {"tfReplicaSpecs": {"Worker": {"replicas": count}}}}
            self.assertEqual(raw.ask(pool, "PATCH", f"{raw.JOBS}/job", patch, raw.MERGE)[0], 200)
        eventually("three", lambda: len(pool.programs()) == 3 and raw.conditions(pool, "job") == ["Created", "Running"], 15)
        for turn in range(9):
            raw.suspend(pool, "job", turn % 2 == 0)
            time.sleep(0.05 * (turn % 3))  # so that it lands in different states
        eventually("held", lambda: not pool.shims(), 15)
        self.assertEqual(raw.conditions(pool, "job"), ["Created", "Suspended"])
        raw.suspend(pool, "job", False)
        eventually("again", lambda: len(pool.programs()) == 3, 15)
        self.assertNotIn("Failed", raw.conditions(pool, "job"))

    def test_a_finished_job_keeps_its_end(self):
        pool = self.pool()
        raw.create(pool, tfjob("done", ["true"]))
        pool.await_condition("done", "Succeeded")
        pool.kubectl("label", "tfjob", "done", "kept=yes")
        pool.apply(tfjob("done", ["false"], workers=2))
        raw.suspend(pool, "done", True)
        raw.suspend(pool, "done", False)
        pool.crash()
        pool.start()
        raw.create(pool, tfjob("next", ["true"]))
        pool.await_condition("next", "Succeeded")
        self.assertEqual(raw.conditions(pool, "done"), ["Created", "Succeeded"])
        self.assertEqual(pool.job("done")["metadata"]["labels"], {"kept": "yes"})
        self.assertEqual(raw.own_status(pool, "done")["attempt"], 1)


class Machine(Fault):
    def test_a_reboot(self):
        """Server, shims and programs are gone at once, and no exit was written down."""
        pool = self.pool()
        raw.create(pool, tfjob("again", ["sleep", "600"], workers=2, restart="OnFailure"))
        raw.create(pool, tfjob("never", ["sleep", "600"]))
        for name in ("again", "never"):
            pool.await_condition(name, "Running")
        pool.crash()
        left = pool.programs()
        for pid in pool.shims() + left:  # the shims first: a machine that stops writes nothing down
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for spec in glob.glob(os.path.join(pool.data, "replicas", "*", "spec")):
            with open(spec, "rb") as file:
                text = file.read()
            with open(spec, "wb") as file:  # of the boot before this one
                file.write(re.sub(rb"(?m)^boot-id (\d+) .*$", rb"boot-id 3 old", text))
        pool.start()
        pool.await_condition("never", "Failed")
        self.assertEqual(raw.own_status(pool, "never")["cause"]["reason"], "NodeLost")
        eventually("a second attempt", lambda: raw.own_status(pool, "again")["attempt"] == 2)
        self.programs(pool, 2)

    def test_deaths_while_people_work(self):
        """kill -9 between any two of create, delete, suspend and resume."""
        dice = random.Random(int(os.environ.get("PONDAGE_SEED", "1")))
        pool = self.pool()
        counted = pool.root / "counted"
        names, acknowledged, deleted = [], set(), set()

        def work():
            for _ in range(6):
                try:
                    what = dice.random()
                    if what < 0.6 or not names:
                        names.append(f"job-{len(names)}")
                        line = f"echo $PONDAGE_JOB $PONDAGE_REPLICA $PONDAGE_ATTEMPT >> {counted}; sleep {dice.random():.2f}"
                        if raw.create(pool, tfjob(names[-1], ["sh", "-c", line], workers=dice.randint(1, 3)))[0] == 201:
                            acknowledged.add(names[-1])
                    elif what < 0.75:
                        deleted.add(dice.choice(names))
                        raw.ask(pool, "DELETE", f"{raw.JOBS}/{sorted(deleted)[-1]}")
                    else:
                        raw.suspend(pool, dice.choice(names), dice.random() < 0.4)
                except OSError:
                    pass  # the server is dead
                except Exception as error:  # http.client's own words for the same
                    self.assertRegex(type(error).__module__, "http|ssl|json")

        for _ in range(8):
            worker = threading.Thread(target=work)
            worker.start()
            time.sleep(dice.random() * 0.25)  # the moment of death
            pool.crash()
            worker.join()
            pool.start()
        for name in names:
            raw.suspend(pool, name, False)
        jobs = lambda: raw.ask(pool, "GET", raw.JOBS)[1]["items"]
        ended = lambda job: any(c["type"] in ("Succeeded", "Failed") for c in job["status"]["conditions"])
        eventually("all have ended", lambda: all(map(ended, jobs())), 60)
        there = {job["metadata"]["name"]: job for job in jobs()}
        self.assertEqual([n for n in acknowledged if n not in there and n not in deleted], [], "lost")
        for name, job in there.items():
            self.assertNotIn("cause", job["status"]["pondage"], name)
        starts = collections.Counter(counted.read_text().splitlines() if counted.exists() else [])
        self.assertEqual([start for start, times in starts.items() if times > 1], [], "run twice")
        eventually("no program is left", lambda: not pool.shims())
        queue = "/apis/pondage.dev/v1alpha1/queues/default"
        eventually("its numbers are true", lambda: raw.ask(pool, "GET", queue)[1]["status"].get("used", {}).get(
            "nvidia.com/gpu", "0") == "0", 5)

    def test_deaths_right_after_a_create(self):
        """kill -9 while a program is being started and that is not written down yet."""
        dice = random.Random(int(os.environ.get("PONDAGE_SEED", "1")))
        pool = self.pool()
        counted = pool.root / "counted"
        names = [f"job-{i}" for i in range(25)]
        for name in names:
            line = f"echo {name} >> {counted}; exec sleep 600"
            self.assertEqual(raw.create(pool, tfjob(name, ["sh", "-c", line], gpus=0))[0], 201)
            time.sleep(dice.random() * 0.012)
            pool.crash()
            pool.start()
        started = lambda name: raw.own_status(pool, name)["replicas"][0].get("startedAt")
        eventually("all run", lambda: all(map(started, names)))
        self.programs(pool, len(names))
        self.assertEqual(sorted(counted.read_text().split()), sorted(names), "each once")
        self.assertEqual([raw.own_status(pool, name)["attempt"] for name in names], [1] * len(names))

    def test_what_nobody_owns_goes_after_the_start(self):
        """The server ended between the commit of a delete and the erasing."""
        pool = self.pool()
        self.assertEqual(raw.create(pool, tfjob("kept", ["echo", "words"], gpus=0))[0], 201)
        pool.await_condition("kept", "Succeeded")
        replica = next((pool.data / "replicas").iterdir())
        pool.crash()
        shutil.copytree(replica, pool.data / "replicas/nobodys", ignore=shutil.ignore_patterns("*.sock"))
        (pool.data / "volumes/nobodys").mkdir(parents=True)
        (pool.data / "volumes/nobodys/token").write_text("a Secret in plain text")
        pool.start()
        there = lambda: [p for p in ("replicas", "volumes") if (pool.data / p / "nobodys").exists()]
        eventually("nothing of it is left", lambda: not there())
        self.assertEqual(pool.logs("kept-worker-0"), "words\n")

    def test_a_directory_is_of_one_server_and_must_be_writable(self):
        pool = self.pool()
        rows = [(str(pool.data), "PND-S002", "is using this store"), ("/proc/here", "PND-S004", "/proc/here"),
                ("/etc/passwd", "PND-S004", "/etc/passwd")]
        for data, code, words in rows:
            done = pool.run(PONDAGE, "serve", "--data", data, "--listen", "127.0.0.1:0", check=False, timeout=20)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(code, done.stderr)
            self.assertIn(words, done.stderr)
        done = pool.run(PONDAGE, "serve", "--data", str(pool.root / "other"), "--listen",
                        "127.0.0.1:%d" % raw.address(pool)[1], check=False, timeout=20)
        self.assertIn("Address already in use", done.stderr)
        self.assertEqual(raw.ask(pool, "GET", "/readyz")[0], 200)

    def test_a_machine_that_is_renamed_does_not_count_twice(self):
        if not raw.is_root() or subprocess.run(["unshare", "-u", "true"]).returncode != 0:
            self.skipTest("needs a host name of its own")
        pool = self.pool(Wrapped())
        raw.create(pool, tfjob("long", ["sleep", "600"]))
        pool.await_condition("long", "Running")
        pool.stop()
        pool.wrap = ["unshare", "-u", "sh", "-c", 'hostname renamed; exec "$@"', "sh"]
        pool.start()
        self.assertEqual(len(raw.ask(pool, "GET", "/api/v1/nodes")[1]["items"]), 1)
        raw.create(pool, tfjob("four", ["true"], workers=4))
        reason = eventually("a reason", lambda: raw.own_status(pool, "four").get("reason"))
        self.assertEqual(reason["constraint"], "busy")
        self.assertIn("Running", raw.conditions(pool, "long"))


class Followed(Fault):
    def test_who_follows_a_log_misses_nothing_when_the_server_returns(self):
        pool = self.pool(Wrapped())
        raw.create(pool, tfjob("talks", ["sh", "-c", "i=0; while :; do i=$((i+1)); echo line $i; sleep 0.02; done"]))
        pool.await_log("talks-worker-0", "line 20\n")

        def numbers(path):
            return [int(line.split()[-1]) for line in path.read_text().split("\n")[:-1]]
        followers = []
        for flags in ("--tail 3", "--tail 0", "--since 1h", "--tail 3 --timestamps", ""):
            path = pool.root / f"followed{len(followers)}"
            with open(path, "wb") as out:
                program = subprocess.Popen([PONDAGE, "logs", "-f", "talks", *flags.split()], env=pool.env, stdout=out)
            self.addCleanup(program.wait)
            self.addCleanup(program.kill)
            followers.append((flags, program, path))
            eventually(f"{flags} shows lines", lambda: len(numbers(path)) > 10)
        for end in (pool.stop, pool.crash):
            end()
            written = max(numbers(path)[-1] for _, _, path in followers)
            pool.start()
            for flags, program, path in followers:
                eventually(f"{flags} goes on", lambda: program.poll() is None and numbers(path)[-1] > written + 50)
        for flags, program, path in followers:
            seen = numbers(path)
            self.assertEqual(seen, list(range(seen[0], seen[-1] + 1)), flags)
            stamps = [line.count("Z line ") for line in path.read_text().split("\n")[:-1]]
            self.assertEqual(set(stamps), {1 if "timestamps" in flags else 0}, flags)


class Memory(Fault):
    def test_what_many_connections_took_is_given_back(self):
        pool = self.pool()
        context = ssl.create_default_context(cafile=str(pool.data / "pki/ca.crt"))
        memory = lambda: int(next(line.split()[1] for line in open(f"/proc/{pool.server.pid}/status") if "VmRSS" in line))

        def connected():
            connection = context.wrap_socket(socket.create_connection(raw.address(pool)), server_hostname="127.0.0.1")
            connection.sendall(b"GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n")
            self.assertTrue(connection.recv(100))
            return connection

        def come_and_go(count):
            many = [connected() for _ in range(count)]
            most = memory()
            for connection in many:
                connection.close()
            return most
        come_and_go(100)  # what is needed once is there
        before = memory()
        self.assertLess(come_and_go(400) - before, 400 * 130, "KiB")
        eventually("it is the machine's again", lambda: memory() - before < 400 * 20, 20)


class Disk(Fault):
    def small_disk(self):
        if not raw.is_root():
            self.skipTest("mounting needs root")
        place = tempfile.mkdtemp(prefix="pondage-disk-")
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1200m", "tmpfs", place]).returncode != 0:
            self.skipTest("nothing may be mounted here")
        self.addCleanup(os.rmdir, place)
        self.addCleanup(subprocess.run, ["umount", "-l", place], check=True)
        return Path(place)

    def fill(self, disk, left_mb=0):
        with open(disk / "ballast", "ab") as ballast:
            if left_mb:
                os.posix_fallocate(ballast.fileno(), 0, os.statvfs(disk).f_bavail * 4096 - (left_mb << 20))
                return
            for size in (1 << 20, 4096):
                try:
                    while True:
                        os.write(ballast.fileno(), b"x" * size)
                except OSError as error:
                    self.assertEqual(error.errno, errno.ENOSPC)

    def test_a_full_disk_stops_nothing_for_ever(self):
        disk = self.small_disk()
        pool = Wrapped()
        pool.data = disk / "data"
        pool.env["KUBECONFIG"] = str(pool.data / "kubeconfig")
        self.pool(pool)
        gate = pool.root / "gate"
        raw.create(pool, tfjob("runs", ["sh", "-c", f"while [ ! -e {gate} ]; do sleep 0.1; done; exit 3"]))
        pool.await_condition("runs", "Running")

        self.fill(disk, left_mb=200)  # below the floor
        eventually("it takes nothing new", lambda: "SchedulingDisabled" in pool.kubectl("get", "nodes").stdout
                   or "DiskPressure" in self.pressed(pool), 15)
        self.assertEqual(raw.create(pool, tfjob("held", ["true"]))[0], 201)
        reason = eventually("a reason", lambda: raw.own_status(pool, "held").get("reason"))
        self.assertIn("MiB are free below the data directory", reason["message"])

        self.fill(disk)
        answers = [raw.create(pool, tfjob(f"more-{i}", ["true"], annotations={"x": "y" * 20000})) for i in range(4)]
        refused = [answer for status, answer in answers if status != 201]
        self.assertTrue(refused)
        for answer in refused:
            self.assertEqual((answer["code"], answer["reason"]), (503, "ServiceUnavailable"))
            self.assertIn("the disk is full (PND-S004)", answer["message"])
        gate.touch()  # it ends while nothing can be written
        eventually("its program is gone", lambda: not pool.programs(), 10)
        self.assertEqual(raw.ask(pool, "GET", raw.JOBS)[0], 200, "reading goes on")
        port = raw.address(pool)[1]
        pool.crash()
        with socket.create_server(("127.0.0.1", port)):  # another took its port meanwhile
            pool.port = self.other_port()
            pool.begin()
            eventually("it starts all the same", lambda: f"find this server at https://127.0.0.1:{pool.port}" in
                       raw.log_of(pool))
            pool.crash()
        pool.port = 0
        pool.start()  # ... and so does starting
        self.assertEqual(raw.address(pool)[1], port, "where everybody looks for it")
        self.assertLess(raw.log_of(pool).count("the disk is full"), 12, "the log is not flooded")

        os.unlink(disk / "ballast")
        pool.await_condition("runs", "Failed", 20)
        self.assertEqual(raw.own_status(pool, "runs")["cause"]["code"], 3)
        pool.await_condition("held", "Succeeded", 20)
        there = {job["metadata"]["name"] for job in raw.ask(pool, "GET", raw.JOBS)[1]["items"]}
        for index, (status, _) in enumerate(answers):
            self.assertEqual(f"more-{index}" in there, status == 201, "what was answered holds")

    def other_port(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return probe.getsockname()[1]

    def test_the_doctor_searches_a_store_for_damage(self):
        pool = self.pool()
        raw.create(pool, tfjob("whole", ["true"], annotations={"note": "a note that is easily found " * 50}))
        pool.await_condition("whole", "Succeeded")
        doctor = lambda: pool.pondage("doctor", "--data", str(pool.data), check=False)
        used = doctor()
        self.assertIn("PND-S002", used.stderr)
        pool.stop()
        self.assertIn("every page and row is whole", doctor().stdout)
        store = pool.data / "pondage.sqlite"
        content = bytearray(store.read_bytes())
        content[content.index(b"easily found")] ^= 1
        store.write_bytes(content)
        found = doctor()
        self.assertEqual(found.returncode, 1, found.stderr)
        self.assertIn("broken", found.stdout)

    def pressed(self, pool):
        node = raw.ask(pool, "GET", "/api/v1/nodes")[1]["items"][0]
        return [c["type"] for c in node["status"]["conditions"] if c["status"] == "True"]


class DeadMount:
    """A file system that never answers, as a network share whose server is away: FUSE with nobody behind it."""

    def __init__(self):
        self.path = tempfile.mkdtemp(prefix="pondage-dead-")
        self.device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
        options = f"fd={self.device},rootmode=40000,user_id=0,group_id=0"
        if ctypes.CDLL(None, use_errno=True).mount(b"dead", self.path.encode(), b"fuse", 0, options.encode()) != 0:
            number = ctypes.get_errno()
            self.revive()
            raise OSError(number, os.strerror(number))

    def revive(self):
        """What hangs there is told that it is gone."""
        if self.device is None:
            return
        os.close(self.device)
        self.device = None
        subprocess.run(["umount", "-l", self.path], stderr=subprocess.DEVNULL)
        os.rmdir(self.path)


class Away(Fault):
    def test_a_file_system_that_hangs_holds_up_its_own_jobs_alone(self):
        try:
            dead = DeadMount()
        except OSError as error:
            self.skipTest(f"no FUSE file system can be mounted here: {error}")
        pool = self.pool()
        self.addCleanup(dead.revive)

        def hanging(name):
            job = tfjob(name, ["true"])
            spec = job["spec"]["tfReplicaSpecs"]["Worker"]["template"]["spec"]
            spec["volumes"] = [{"name": "share", "hostPath": {"path": dead.path}}]
            spec["containers"][0]["volumeMounts"] = [{"name": "share", "mountPath": "/data"}]
            return job

        def runs(name):
            self.assertEqual(raw.create(pool, tfjob(name, ["true"]))[0], 201)
            pool.await_condition(name, "Succeeded", 20)

        for name in ("away", "gone", "kept"):
            self.assertEqual(raw.create(pool, hanging(name))[0], 201)
        runs("beside")
        eventually("it is told what does not answer",
                   lambda: f"still preparing away-worker-0: {dead.path} does not answer"
                   in pool.kubectl("describe", "tfjob", "away").stdout)
        pool.suspend("away")
        pool.await_condition("away", "Suspended", 10)
        pool.kubectl("delete", "tfjob", "gone", "--timeout=10s")
        runs("meanwhile")
        pool.stop()  # within its time, whatever hangs
        pool.start()
        runs("afterwards")
        self.assertEqual(pool.status("kept")["replicas"][0].get("started"), None)
        dead.revive()
        pool.await_condition("kept", "Failed", 30)
        self.assertEqual(pool.programs(), [])


class Clients(Fault):
    def test_slow_watchers_and_idle_connections_cost_little(self):
        pool = self.pool()
        raw.create(pool, tfjob("big", ["true"], workers=9))
        before = raw.memory_mb(pool)
        watchers = []
        for _ in range(5):
            plain = socket.create_connection(raw.address(pool))
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            watchers.append(raw.trusting().wrap_socket(plain))
            watchers[-1].sendall(f"GET {raw.JOBS}?watch=1 HTTP/1.1\r\nHost: x\r\n"
                                 f"Authorization: Bearer {raw.admin(pool)}\r\n\r\n".encode())
        idle = [socket.create_connection(raw.address(pool)) for _ in range(1000)]
        connection = raw.connect(pool)
        for index in range(300):
            patch = {"metadata": {"annotations": {"text": "x" * 100000, "index": str(index)}}}
            self.assertEqual(raw.ask(pool, "PATCH", f"{raw.JOBS}/big", patch, raw.MERGE, connection=connection)[0], 200)
        self.assertEqual(raw.ask(pool, "GET", "/readyz")[0], 200)
        # Five watchers of 30 MB each, and a thousand connections, are not kept in memory.
        self.assertLess(raw.memory_mb(pool) - before, 150)
        for one in watchers + idle:
            one.close()
        mine = lambda: len(os.listdir(f"/proc/{pool.server.pid}/fd"))
        eventually("their descriptors are given back", lambda: mine() < 200, 20)

    def test_connections_take_no_files_from_the_pool(self):
        """As many as the process may have files: jobs start all the same, and people get through when some leave."""
        pool = self.pool(Wrapped("prlimit", "--nofile=256:256"))
        admin = raw.connect(pool)
        self.assertEqual(raw.ask(pool, "GET", "/readyz", connection=admin)[0], 200)
        idle = []
        for _ in range(400):
            idle.append(socket.create_connection(raw.address(pool)))
        for index in range(4):
            self.assertEqual(raw.create(pool, tfjob(f"job-{index}", ["true"]), connection=admin)[0], 201)
        done = lambda: [raw.ask(pool, "GET", f"{raw.JOBS}/job-{i}", connection=admin)[1]["status"]["conditions"][-1]["type"]
                        for i in range(4)]
        eventually("all succeed", lambda: done() == ["Succeeded"] * 4, 20)
        for one in idle:
            one.close()
        eventually("newcomers get through", lambda: pool.kubectl("get", "tfjobs", check=False).returncode == 0, 20)
        self.assertLess(raw.log_of(pool).count("could not be accepted"), 20)

    def test_a_certificate_that_expires_is_renewed_while_the_server_runs(self):
        pool = self.pool()
        pki = pool.data / "pki"
        served = lambda: subprocess.run(
            ["openssl", "x509", "-noout", "-enddate", "-serial"], text=True, check=True, stdout=subprocess.PIPE,
            input=ssl.get_server_certificate(raw.address(pool))).stdout
        first = served()
        request = pool.run("openssl", "req", "-new", "-key", str(pki / "server.key"), "-subj", "/CN=pondage").stdout
        short = pool.run("openssl", "x509", "-req", "-days", "2", "-CA", str(pki / "ca.crt"), "-CAkey",
                         str(pki / "ca.key"), "-CAcreateserial", input=request).stdout
        (pki / "server.crt").write_text(short)
        eventually("another certificate", lambda: served() != first, 15)
        pool.run("openssl", "x509", "-noout", "-checkend", str(300 * 86400), "-in", str(pki / "server.crt"))
        self.assertEqual(pool.kubectl("get", "tfjobs", check=False).returncode, 0, "kubectl trusts it")


if __name__ == "__main__":
    unittest.main(verbosity=2, warnings="ignore")
