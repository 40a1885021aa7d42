"""What goes wrong on a machine: deaths, reboots, programs that will not go. Nothing is lost or run twice."""
import collections
import glob
import json
import os
import random
import re
import shutil
import signal
import subprocess
import threading
import time

import raw
from fault import Fault, Wrapped
from pool import PONDAGE, eventually, tfjob
import junit


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
        for status in (raw.own_status(pool, name) for name in names):
            self.assertEqual(status["attempt"], 1, status)

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

    def test_without_threads_a_server_says_so_and_leaves_what_there_was(self):
        """Threads get stacks as large as the limit: with this one none can be had."""
        pool = self.pool()
        self.assertEqual(raw.create(pool, tfjob("runs", ["sleep", "600"], gpus=0))[0], 201)
        pool.await_condition("runs", "Running")
        pool.stop()
        done = pool.run("prlimit", f"--stack={200 << 40}:unlimited", PONDAGE, "serve", "--data", str(pool.data),
                        "--listen", "127.0.0.1:0", "--virtual-gpus", "4", check=False, timeout=20)
        self.assertEqual(done.returncode, 1)
        self.assertIn("error PND-A033: this machine gives the server no thread", done.stderr)
        self.programs(pool, 1)
        pool.start()
        self.assertEqual(raw.own_status(pool, "runs")["attempt"], 1)

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


if __name__ == "__main__":
    junit.main()
