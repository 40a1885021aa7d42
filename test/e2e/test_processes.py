"""Replicas as real processes: the life of a TFJob, its faults, and the server's own death."""
import json
import os
import random
import re
import signal
import time
import unittest

from pool import FAKE_TF, FAKE_WORKER, Pool, eventually, tfjob
import junit


class WithPool(unittest.TestCase):
    """One pool of four virtual GPUs for all tests of a class; each uses a job name of its own."""

    @classmethod
    def setUpClass(cls):
        cls.pool = Pool().__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.pool.__exit__()

    def apply(self, name, command, **more):
        self.pool.apply(tfjob(name, command, **more))
        self.addCleanup(self.pool.kubectl, "delete", "tfjob", name, "--ignore-not-found", "--timeout=60s")

    def running(self, name, count):
        """The pids of the job's programs, once there are so many."""
        def programs():
            found = self.pool.programs(name)
            return len(found) == count and found
        return self.pool.await_that(f"{name} has {count} programs", name, programs)


class Life(WithPool):
    def test_a_job_runs_and_its_log_and_exit_are_kept(self):
        self.apply("hello", ["sh", "-c", "echo hello from $PONDAGE_REPLICA; echo to stderr >&2"])
        self.pool.await_condition("hello", "Succeeded")
        self.assertEqual(self.pool.logs("hello-worker-0"), "hello from worker-0\nto stderr\n")
        state = self.pool.pod("hello-worker-0")["status"]["containerStatuses"][0]["state"]
        self.assertEqual(state["terminated"]["exitCode"], 0)
        self.assertEqual(self.pool.programs("hello"), [])

    def test_the_programs_own_exit_code_is_kept(self):
        self.apply("seven", ["sh", "-c", "exit 7"])
        self.pool.await_condition("seven", "Failed")
        self.assertEqual(self.pool.status("seven")["cause"]["code"], 7)
        state = self.pool.pod("seven-worker-0")["status"]["containerStatuses"][0]["state"]
        self.assertEqual(state["terminated"]["exitCode"], 7)

    def test_a_program_that_does_not_exist_fails_and_says_so(self):
        self.apply("nothing", ["/nowhere/program"])
        self.pool.await_condition("nothing", "Failed")
        self.assertIn("/nowhere/program", json.dumps(self.pool.status("nothing")["cause"])
                      + self.pool.logs("nothing-worker-0"))

    def test_a_gang_waits_whole_with_a_reason_and_starts_whole(self):
        self.apply("holder", ["sleep", "600"], workers=3)
        self.pool.await_condition("holder", "Running")
        self.apply("pair", ["true"], workers=2)
        reason = eventually("a reason", lambda: self.pool.status("pair").get("reason"))
        self.assertEqual((reason["constraint"], reason["need"], reason["have"]), ("busy", 2, 1))
        self.assertEqual(self.pool.pods("pair"), {})
        self.pool.kubectl("delete", "tfjob", "holder")
        self.pool.await_condition("pair", "Succeeded")

    def test_what_a_replica_finds_in_its_environment(self):
        self.apply("config", ["sh", "-c", "echo $TF_CONFIG; echo gpus=$PONDAGE_GPUS cuda=[$CUDA_VISIBLE_DEVICES]; "
                                          "python -c 'import sys; print(sys.prefix)'"], workers=2)
        self.pool.await_condition("config", "Succeeded")  # by its first worker; the second one may be a little later
        self.pool.await_that("the second has ended", "config", lambda: (
            self.pool.pod("config-worker-1")["status"]["phase"] == "Succeeded"))
        config, gpus, prefix = self.pool.logs("config-worker-1").splitlines()
        cluster = json.loads(config)
        self.assertEqual(cluster["task"], {"type": "worker", "index": 1})
        self.assertEqual(len(set(cluster["cluster"]["worker"])), 2)
        for address in cluster["cluster"]["worker"]:
            self.assertRegex(address, r"^127\.0\.0\.1:\d+$")
        self.assertRegex(gpus, r"^gpus=virtual-\d cuda=\[\]$")
        self.assertEqual(prefix, str(self.pool.root / "python"))

    def test_an_image_without_an_environment_is_refused_with_those_that_exist(self):
        done = self.pool.kubectl("apply", "-f", "-", check=False,
                                 input=json.dumps(tfjob("stranger", ["true"], image="nobody/knows:1")))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("nobody/knows:1", done.stderr)
        self.assertIn("fake", done.stderr)

    def test_a_whole_tree_ends_with_its_job_even_when_deaf(self):
        script = "trap '' TERM; (trap '' TERM; setsid sleep 600) & sleep 600; sleep 600"
        self.apply("deaf", ["sh", "-c", script], grace=1)
        self.pool.await_condition("deaf", "Running")
        self.running("deaf", 3)
        self.pool.kubectl("delete", "tfjob", "deaf", "--timeout=30s")
        self.assertEqual(self.pool.programs("deaf"), [])

    def test_deleted_while_it_waits(self):
        self.apply("much", ["true"], gpus=4, workers=2)
        eventually("a reason", lambda: self.pool.status("much").get("reason"))
        self.pool.kubectl("delete", "tfjob", "much", "--timeout=30s")
        self.assertEqual(self.pool.job("much"), {})


class Restarts(WithPool):
    def test_a_killed_worker_restarts_the_whole_gang(self):
        self.apply("gang", ["sleep", "600"], workers=2, restart="OnFailure")
        before = self.running("gang", 2)
        uids = {pod["metadata"]["uid"] for pod in self.pool.pods("gang").values()}
        os.kill(self.pool.programs("gang", "worker-1")[0], signal.SIGKILL)
        self.pool.await_that("all new", "gang", lambda: len(set(self.pool.programs("gang")) - set(before)) == 2)
        self.assertFalse(set(self.pool.programs("gang")) & set(before))
        self.assertFalse(uids & {pod["metadata"]["uid"] for pod in self.pool.pods("gang").values()})
        status = self.pool.status("gang")
        self.assertEqual((status["restarts"], status["attempt"]), (1, 2))
        self.assertEqual((status["cause"]["replica"], status["cause"]["code"]), ("worker-1", 137))

    def test_a_lost_worker_of_a_parameter_server_job_restarts_alone_at_its_address(self):
        self.apply("servers", ["sh", "-c", "echo $TF_CONFIG; sleep 600"], restart="OnFailure",
                   roles={"Chief": 1, "PS": 1, "Worker": 2})
        self.running("servers", 8)  # a shell and a sleep each
        before = set(self.pool.programs("servers"))
        lost = set(self.pool.programs("servers", "worker-1"))
        os.kill(min(lost), signal.SIGKILL)
        self.pool.await_that("worker-1 is back", "servers",
                             lambda: len(set(self.pool.programs("servers", "worker-1")) - lost) == 2)
        self.assertEqual(set(self.pool.programs("servers")) & before, before - lost)
        first = self.pool.logs("servers-worker-1", "--previous")
        self.assertEqual(self.pool.logs("servers-worker-1"), first)
        self.assertEqual(self.pool.status("servers").get("attempt"), 1)

    def test_a_lost_parameter_server_restarts_all(self):
        self.apply("lostps", ["sleep", "600"], restart="OnFailure", roles={"Chief": 1, "PS": 1, "Worker": 1})
        before = self.running("lostps", 3)
        os.kill(self.pool.programs("lostps", "ps-0")[0], signal.SIGKILL)
        self.pool.await_that("all new", "lostps", lambda: len(set(self.pool.programs("lostps")) - set(before)) == 3)
        self.assertFalse(set(self.pool.programs("lostps")) & set(before))

    def test_the_chiefs_end_is_the_jobs_end(self):
        go = self.pool.root / "go"
        wait = ["sh", "-c", f"until [ -e {go} ]; do sleep 0.1; done"]
        serve = ["sleep", "600"]
        self.apply("chief", {"Chief": wait, "PS": serve, "Worker": serve}, roles={"Chief": 1, "PS": 2, "Worker": 2},
                   cleanPodPolicy="None")
        self.pool.await_condition("chief", "Running")
        go.touch()
        self.pool.await_condition("chief", "Succeeded")
        eventually("the others are stopped", lambda: not self.pool.programs("chief"))
        for name in ("chief-ps-0", "chief-ps-1", "chief-worker-0", "chief-worker-1"):
            state = lambda: self.pool.pod(name)["status"]["containerStatuses"][0]["state"]
            ended = self.pool.await_that("its end is told", "chief", lambda: state().get("terminated"))
            self.assertEqual((self.pool.pod(name)["status"]["phase"], ended["reason"], ended["exitCode"]),
                             ("Succeeded", "StoppedWithJob", 143))

    def test_logs_of_the_start_before_in_the_same_pod(self):
        seen = self.pool.root / "seen"
        self.apply("twice", ["sh", "-c", f"[ -e {seen} ] && echo second && exit; touch {seen}; echo first; exit 1"],
                   restart="OnFailure")
        self.pool.await_condition("twice", "Succeeded")
        self.assertEqual(self.pool.logs("twice-worker-0"), "second\n")
        self.assertEqual(self.pool.logs("twice-worker-0", "--previous"), "first\n")
        restarts = self.pool.pod("twice-worker-0")["status"]["containerStatuses"][0]["restartCount"]
        self.assertEqual(restarts, 1)

    def test_logs_of_the_attempt_before_in_another_pod(self):
        self.apply("attempts", ["sh", "-c", "echo attempt $PONDAGE_ATTEMPT; [ $PONDAGE_ATTEMPT -ge 2 ] || exit 1"],
                   workers=2, restart="OnFailure")
        self.pool.await_condition("attempts", "Succeeded")
        self.assertEqual(self.pool.logs("attempts-worker-0"), "attempt 2\n")
        self.assertEqual(self.pool.logs("attempts-worker-0", "--previous"), "attempt 1\n")

    def test_exit_code_policy_tells_the_programs_fault_from_the_machines(self):
        self.apply("permanent", ["sh", "-c", "exit 1"], restart="ExitCode")
        self.pool.await_condition("permanent", "Failed")
        seen = self.pool.root / "retried"
        self.apply("retryable", ["sh", "-c", f"[ -e {seen} ] && exit; touch {seen}; exit 130"], restart="ExitCode")
        self.pool.await_condition("retryable", "Succeeded")

    def test_backoff_limit_ends_it(self):
        self.apply("limited", ["sh", "-c", "exit 1"], workers=2, restart="OnFailure", backoffLimit=1)
        self.pool.await_condition("limited", "Failed")
        self.assertEqual(self.pool.status("limited")["restarts"], 1)


class StandIn(WithPool):
    """The habits of TensorFlow (test/fake_tf), one by one."""

    def train(self, name, *flags, workers=2, grace=30, restart="OnFailure", annotations=None, **more):
        self.checkpoints = self.pool.root / name
        self.apply(name, ["python", FAKE_WORKER, FAKE_TF, *flags], workers=workers, grace=grace, restart=restart,
                   annotations={"pondage.dev/checkpoint-dir": str(self.checkpoints), **(annotations or {})}, **more)

    def saved(self):
        """The step of the newest checkpoint on disk."""
        text = (self.checkpoints / "checkpoint").read_text()
        return int(re.search(r"ckpt-(\d+)", text).group(1))

    def starts(self, name):
        """Where the newest start of worker 0 began."""
        return int(re.search(r"START (\d+)", self.pool.await_log(f"{name}-worker-0", "START ")).group(1))

    def test_a_gang_trains_and_its_checkpoint_is_seen(self):
        self.train("trains", "--steps", "60", "--every", "20")
        self.pool.await_condition("trains", "Succeeded")
        checkpoint = self.pool.await_that("the checkpoint is seen", "trains", lambda: (
            self.pool.status("trains").get("checkpoint", {}).get("step") == 60
            and self.pool.status("trains")["checkpoint"]))
        self.assertEqual(checkpoint["path"], str(self.checkpoints / "ckpt-60"))

    def test_the_survivor_of_a_dead_peer_is_no_cause_and_all_resume_at_the_checkpoint(self):
        self.train("peer", "--steps", "100000", "--every", "10")
        self.pool.await_log("peer-worker-0", "SAVED 20")
        before = self.running("peer", 2)
        os.kill(self.pool.programs("peer", "worker-1")[0], signal.SIGKILL)
        self.pool.await_that("all new", "peer", lambda: len(set(self.pool.programs("peer")) - set(before)) == 2)
        self.assertFalse(set(self.pool.programs("peer")) & set(before))
        status = self.pool.status("peer")
        self.assertEqual((status["cause"]["replica"], status["cause"]["code"]), ("worker-1", 137))
        self.assertEqual(status["restarts"], 1)
        first = self.pool.logs("peer-worker-0", "--previous")
        self.assertNotIn("UnavailableError", first)  # it was killed before it could complain
        self.assertEqual(self.starts("peer"), int(re.findall(r"SAVED (\d+)", first)[-1]))

    def test_suspended_it_saves_leaves_with_42_and_resumes_there(self):
        self.train("leaves", "--steps", "100000", "--every", "0", "--save-on-term", workers=1)
        self.pool.await_log("leaves-worker-0", "START 0")
        eventually("a step", lambda: self.pool.status("leaves")["replicas"][0].get("step", 0) > 0)
        self.pool.suspend("leaves")
        self.pool.await_condition("leaves", "Suspended")
        eventually("no program", lambda: not self.pool.programs("leaves"))
        saved = self.saved()
        self.assertEqual(self.pool.status("leaves")["checkpoint"]["step"], saved)
        self.assertEqual(self.pool.status("leaves").get("restarts", 0), 0)
        self.pool.suspend("leaves", False)
        self.pool.await_condition("leaves", "Running")
        self.assertEqual(self.starts("leaves"), saved)
        self.assertFalse(self.pool.holds("leaves", "Suspended"))

    def test_suspended_a_gang_leaves_without_a_restart_counted(self):
        self.train("both", "--steps", "100000", "--every", "0", "--save-on-term")
        self.pool.await_log("both-worker-0", "START 0")
        self.pool.suspend("both")
        self.pool.await_condition("both", "Suspended")
        eventually("no program", lambda: not self.pool.programs("both"))
        status = self.pool.status("both")
        self.assertEqual(status.get("restarts", 0), 0)
        log = "/api/v1/namespaces/default/pods/both-worker-0/log"
        self.assertIn("START 0", self.pool.kubectl("get", "--raw", log).stdout)  # its Pod is gone
        self.pool.suspend("both", False)
        self.pool.await_condition("both", "Running")
        self.assertIn("START 0", self.pool.kubectl("get", "--raw", log + "?attempt=1").stdout)
        refused = self.pool.kubectl("get", "--raw", log + "?attempt=9", check=False)
        self.assertIn("has no attempt 9; it has", refused.stderr)
        self.assertFalse(self.pool.holds("both", "Failed"))

    def test_one_that_ignores_sigterm_is_killed_and_resumes_at_its_last_checkpoint(self):
        self.train("ignores", "--steps", "100000", "--every", "10", "--deaf", grace=1)
        self.pool.await_log("ignores-worker-0", "SAVED 20")
        self.pool.suspend("ignores")
        self.pool.await_condition("ignores", "Suspended")
        eventually("no program", lambda: not self.pool.programs("ignores"))
        saved = self.saved()
        self.pool.suspend("ignores", False)
        self.assertEqual(self.starts("ignores"), saved)
        self.assertEqual(self.pool.status("ignores").get("restarts", 0), 0)

    def test_one_that_waits_for_its_peer_for_ever_is_ended_by_its_start_up_time_out(self):
        lonely = ["sh", "-c", f"case $PONDAGE_REPLICA in worker-1) exec python {FAKE_WORKER} --absent;; "
                              f"*) exec python {FAKE_WORKER} {FAKE_TF};; esac"]
        self.apply("lonely", lonely, workers=2, restart="OnFailure", backoffLimit=1,
                   annotations={"pondage.dev/startup-timeout": "1s"})
        self.pool.await_condition("lonely", "Failed")
        self.assertEqual(self.pool.programs("lonely"), [])
        events = self.pool.kubectl("get", "events", "--field-selector=involvedObject.name=lonely").stdout
        self.assertIn("StartupTimeout", events)

    def test_deaf_while_it_waits_for_its_peer_it_is_deleted_all_the_same(self):
        self.apply("waits", ["python", FAKE_WORKER, FAKE_TF], workers=1, grace=1)
        self.pool.kubectl("delete", "tfjob", "waits", "--timeout=60s")
        self.assertEqual(self.pool.programs("waits"), [])

    def test_its_own_failure_counts_and_the_goal_is_reached_in_the_end(self):
        self.train("fails", "--steps", "100", "--every", "20", "--fail-at", "50", "--peer-death-ms", "0",
                   restart="OnFailure", backoffLimit=2)
        self.pool.await_condition("fails", "Failed")  # it resumes at 40, and fails at 50 again
        self.assertEqual(self.pool.status("fails")["restarts"], 2)
        self.assertEqual(self.pool.status("fails")["cause"]["code"], 1)

    def test_42_without_notice_is_a_restart_that_the_author_has_asked_for(self):
        self.train("again", "--steps", "20", "--every", "5", "--exit", "42", workers=1,
                   annotations={"pondage.dev/requeue-exit-code": "42"})
        self.pool.await_that("it came again", "again", lambda: self.pool.status("again").get("voluntary", 0) >= 2)
        self.assertFalse(self.pool.holds("again", "Failed"))


class ServerDeath(unittest.TestCase):
    def test_programs_outlive_the_server_and_are_adopted(self):
        with Pool() as pool:
            go = pool.root / "go"
            pool.apply(tfjob("long", ["sh", "-c", f"echo begun; until [ -e {go} ]; do sleep 0.1; done; echo done"],
                             workers=2))
            pool.apply(tfjob("short", ["sh", "-c", "sleep 1; exit 5"]))
            pool.await_condition("long", "Running")
            pool.await_condition("short", "Running")
            before = set(pool.programs("long", "worker-0"))
            pool.crash()
            eventually("the short one exits while no server is there", lambda: len(pool.shims()) == 2)
            time.sleep(2)  # as long as nobody is there, it is charged for nothing
            pool.start()
            pool.await_condition("short", "Failed")
            cause = pool.status("short")["cause"]
            self.assertEqual(cause["code"], 5)
            self.assertEqual(pool.job("short")["status"]["completionTime"], cause["time"][:19] + "Z")
            self.assertTrue(before & set(pool.programs("long", "worker-0")))
            go.touch()
            pool.await_condition("long", "Succeeded")
            self.assertEqual(pool.logs("long-worker-0"), "begun\ndone\n")
            self.assertEqual(pool.status("long")["attempt"], 1)

    def test_a_stop_that_was_ordered_is_carried_out_whoever_lives(self):
        with Pool() as pool:
            pool.apply(tfjob("deaf", ["sh", "-c", "trap '' TERM; while :; do sleep 1; done"], grace=2))
            pool.await_condition("deaf", "Running")
            pool.kubectl("delete", "tfjob", "deaf", "--wait=false")
            eventually("it is being deleted", lambda: "deletionTimestamp" in pool.job("deaf")["metadata"])
            pool.crash()
            eventually("its shim keeps the deadline", lambda: not pool.programs())
            pool.start()
            eventually("it is gone", lambda: not pool.job("deaf"))

    def test_sigterm_stops_the_server_and_leaves_the_jobs(self):
        with Pool() as pool:
            pool.apply(tfjob("stays", ["sleep", "600"], workers=2))
            pool.await_condition("stays", "Running")
            before = eventually("both run", lambda: len(found := pool.programs("stays")) == 2 and found)
            pool.stop()
            self.assertEqual(pool.server.returncode, 0)
            self.assertEqual(pool.programs("stays"), before)
            pool.start()
            self.assertEqual(pool.programs("stays"), before)
            pool.kubectl("delete", "tfjob", "stays", "--timeout=60s")
            self.assertEqual(pool.programs("stays"), [])

    def test_a_second_server_on_the_same_data_is_refused(self):
        with Pool() as pool:
            done = pool.pondage("serve", "--data", str(pool.data), "--listen", "127.0.0.1:0", check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(str(pool.data), done.stderr)
            self.assertTrue(pool.ready())

    def test_fifty_deaths_at_random_moments(self):
        seed = int(os.environ.get("PONDAGE_SEED", "1"))
        dice = random.Random(seed)
        with Pool() as pool:
            counted = pool.root / "counted"
            applied = []
            for _ in range(50):
                for _ in range(dice.randint(0, 2)):
                    name = f"job-{len(applied)}"
                    line = (f"echo $PONDAGE_JOB $PONDAGE_REPLICA $PONDAGE_ATTEMPT >> {counted}; "
                            f"sleep {dice.random():.2f}; echo done")
                    pool.apply(tfjob(name, ["sh", "-c", line], workers=dice.randint(1, 2)))
                    applied.append(name)
                time.sleep(dice.random() * 0.3)  # the random moment
                pool.crash()
                pool.start()
            for name in applied:
                pool.await_condition(name, "Succeeded", 120)
            starts = counted.read_text().splitlines()
            self.assertEqual(sorted(starts), sorted(set(starts)), f"a replica ran twice in one attempt, seed {seed}")
            eventually("no program is left", lambda: not pool.shims())
            for name in applied:
                job = pool.job(name)
                self.assertEqual(job["status"]["pondage"]["attempt"], 1)
                self.assertEqual(pool.logs(f"{name}-worker-0"), "done\n")
            members = sum(pool.job(name)["spec"]["tfReplicaSpecs"]["Worker"]["replicas"] for name in applied)
            self.assertEqual(len(starts), members)


if __name__ == "__main__":
    junit.main()
