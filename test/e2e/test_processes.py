"""Replicas as real processes: the life of a TFJob, faults, and the server's own death."""
import json
import os
import random
import signal
import sys
import unittest

from pool import Pool, eventually, tfjob


class Processes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pool = Pool()
        cls.pool.__enter__()
        cls.pool.pondage("env", "add", "fake", sys.prefix)

    @classmethod
    def tearDownClass(cls):
        cls.pool.__exit__()

    def test_a_job_runs_and_its_log_and_exit_are_kept(self):
        self.pool.apply(tfjob("hello", ["sh", "-c", "echo hello from $PONDAGE_REPLICA; exit 0"]))
        self.pool.await_condition("hello", "Succeeded")
        self.assertEqual(self.pool.kubectl("logs", "hello-worker-0").stdout, "hello from worker-0\n")
        self.assertEqual(self.pool.programs(), [])

    def test_the_programs_own_exit_code_is_kept(self):
        self.pool.apply(tfjob("seven", ["sh", "-c", "exit 7"]))
        self.pool.await_condition("seven", "Failed")
        self.assertEqual(self.pool.job("seven")["status"]["pondage"]["cause"]["code"], 7)

    def test_a_gang_waits_whole_and_starts_whole(self):
        self.pool.apply(tfjob("holder", ["sleep", "600"], workers=3))
        self.pool.await_condition("holder", "Running")
        self.pool.apply(tfjob("pair", ["true"], workers=2))
        reason = eventually("a reason", lambda: self.pool.job("pair")["status"]["pondage"].get("reason"))
        self.assertEqual(reason["constraint"], "busy")
        self.assertEqual(json.loads(self.pool.kubectl(
            "get", "pods", "-l", "training.kubeflow.org/job-name=pair", "-o", "json").stdout)["items"], [])
        self.pool.kubectl("delete", "tfjob", "holder")
        self.pool.await_condition("pair", "Succeeded")

    def test_tf_config_and_environment(self):
        self.pool.apply(tfjob("config", ["sh", "-c", "echo $TF_CONFIG; echo gpus=$PONDAGE_GPUS cuda=[$CUDA_VISIBLE_DEVICES]"],
                              workers=2))
        self.pool.await_condition("config", "Succeeded")
        config, gpus = self.pool.kubectl("logs", "config-worker-1").stdout.splitlines()
        cluster = json.loads(config)
        self.assertEqual(cluster["task"], {"type": "worker", "index": 1})
        self.assertEqual(len(set(cluster["cluster"]["worker"])), 2)
        self.assertRegex(gpus, r"^gpus=virtual-\d cuda=\[\]$")

    def test_a_killed_worker_restarts_the_whole_gang(self):
        self.pool.apply(tfjob("gang", ["sleep", "600"], workers=2, restart="OnFailure"))
        self.pool.await_condition("gang", "Running")
        eventually("two programs", lambda: len(self.programs_of("gang")) == 2)
        before = self.programs_of("gang")
        os.kill(before[0], signal.SIGKILL)
        eventually("two new programs", lambda: len(set(self.programs_of("gang")) - set(before)) == 2)
        self.assertFalse(set(self.programs_of("gang")) & set(before))
        status = self.pool.job("gang")["status"]["pondage"]
        self.assertEqual((status["restarts"], status["attempt"]), (1, 2))
        self.pool.kubectl("delete", "tfjob", "gang")

    def programs_of(self, job):
        found = []
        for pid in self.pool.programs():
            try:
                with open(f"/proc/{pid}/environ", "rb") as file:
                    if f"PONDAGE_JOB={job}".encode() in file.read().split(b"\0"):
                        found.append(pid)
            except OSError:
                continue
        return sorted(found)

    def test_a_deaf_program_is_killed_at_its_deadline_and_its_tree_with_it(self):
        script = "trap '' TERM; (trap '' TERM; sleep 600) & sleep 600; sleep 600"
        self.pool.apply(tfjob("deaf", ["sh", "-c", script], grace=1))
        self.pool.await_condition("deaf", "Running")
        self.pool.kubectl("delete", "tfjob", "deaf", "--timeout=20s")
        self.assertEqual(self.programs_of("deaf"), [])

    def test_logs_of_an_attempt_before(self):
        script = "echo attempt $PONDAGE_ATTEMPT; [ $PONDAGE_ATTEMPT -ge 2 ] || exit 1"
        self.pool.apply(tfjob("twice", ["sh", "-c", script], restart="OnFailure"))
        self.pool.await_condition("twice", "Succeeded")
        self.assertIn("attempt", self.pool.kubectl("logs", "twice-worker-0").stdout)


class ServerDeath(unittest.TestCase):
    def test_programs_outlive_the_server_and_are_adopted(self):
        with Pool() as pool:
            pool.pondage("env", "add", "fake", sys.prefix)
            pool.apply(tfjob("long", ["sh", "-c", "echo begun; sleep 3; echo done"], workers=2))
            pool.apply(tfjob("short", ["sh", "-c", "sleep 1; exit 5"]))
            pool.await_condition("long", "Running")
            pool.await_condition("short", "Running")
            programs = pool.programs()
            pool.crash()
            self.assertTrue(set(programs) & set(pool.programs()))
            eventually("the short one exits while no server is there", lambda: len(pool.shims()) <= 2, 10)
            pool.start()
            pool.await_condition("short", "Failed")
            self.assertEqual(pool.job("short")["status"]["pondage"]["cause"]["code"], 5)
            pool.await_condition("long", "Succeeded")
            self.assertEqual(pool.kubectl("logs", "long-worker-0").stdout, "begun\ndone\n")
            self.assertEqual(pool.job("long")["status"]["pondage"]["attempt"], 1)

    def test_fifty_deaths_at_random_moments(self):
        dice = random.Random(int(os.environ.get("PONDAGE_SEED", "1")))
        with Pool() as pool:
            pool.pondage("env", "add", "fake", sys.prefix)
            counted = pool.root / "counted"
            applied = 0
            for _ in range(50):
                for _ in range(dice.randint(0, 2)):
                    name = f"job-{applied}"
                    line = f"echo $PONDAGE_JOB $PONDAGE_REPLICA $PONDAGE_ATTEMPT >> {counted}; sleep {dice.random():.2f}"
                    done = pool.kubectl("apply", "-f", "-", check=False, input=json.dumps(
                        tfjob(name, ["sh", "-c", line], workers=dice.randint(1, 2))))
                    if done.returncode == 0:
                        applied += 1
                eventually("a moment", lambda: True)
                pool.server.poll()
                import time
                time.sleep(dice.random() * 0.3)
                pool.crash()
                pool.start()
            for index in range(applied):
                pool.await_condition(f"job-{index}", "Succeeded", 120)
            starts = counted.read_text().splitlines()
            self.assertEqual(len(starts), len(set(starts)), "a replica ran twice in one attempt")
            eventually("no program is left", lambda: not pool.programs())
            for index in range(applied):
                self.assertEqual(pool.job(f"job-{index}")["status"]["pondage"]["attempt"], 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
