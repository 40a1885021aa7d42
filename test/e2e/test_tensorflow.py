"""Real TensorFlow in a real pool: trained to the goal, a worker lost, asked to leave, the server lost.

The interpreter with TensorFlow is PONDAGE_TF_PYTHON, else what tools/tf-env has made in $PONDAGE_HOME/tensorflow. Five
trainings; each start of one costs some seconds of two processes or more. The examples' own manifests are applied; all
that is changed are the job's name, where the examples lie, and how long it trains.
"""
import os
import re
import signal
import subprocess
import unittest
from pathlib import Path

from pool import REPOSITORY, Pool, eventually
import junit
from examples.gang import complaints

GOAL = 0.95
LONG = 300  # seconds until a training hangs
SHORT = "--steps=240, --every=20"


def tf_prefix():
    home = Path(os.environ.get("PONDAGE_HOME", REPOSITORY / ".pondage"))
    python = os.environ.get("PONDAGE_TF_PYTHON", str(home / "tensorflow/bin/python"))
    return subprocess.run([python, "-c", "import sys; print(sys.prefix)"], check=True, text=True,
                          stdout=subprocess.PIPE).stdout.strip()


class TensorFlow(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pool = Pool().__enter__()
        cls.addClassCleanup(cls.pool.__exit__)
        cls.pool.add_environment("tensorflow/tensorflow:2.21.0", tf_prefix())

    def train(self, example, name, arguments=""):
        manifest = (REPOSITORY / "examples" / example / "tfjob.yaml").read_text()
        own = example.replace("_", "-")
        self.assertIn(f"name: {own}\n", manifest)
        manifest = manifest.replace(f"name: {own}\n", f"name: {name}\n").replace(f"claimName: {own}", f"claimName: {name}")
        manifest = manifest.replace("/srv/pondage/examples", str(REPOSITORY / "examples"))
        if arguments:
            self.assertIn("[--dir=/output]", manifest)
            manifest = manifest.replace("[--dir=/output]", f"[--dir=/output, {arguments}]")
        self.pool.kubectl("apply", "-f", "-", input=manifest)
        self.addCleanup(self.pool.kubectl, "delete", "tfjob", name, "--ignore-not-found", "--timeout=120s")

    def lines(self, pod, start, *flags):
        return [line for line in self.pool.logs(pod, *flags).splitlines() if line.startswith(start)]

    def steps(self, pod, start, *flags):
        return [int(re.search(r"step=(\d+)", line).group(1)) for line in self.lines(pod, start, *flags)]

    def accuracy(self, pod):
        return float(re.search(r"accuracy=([\d.]+)", self.lines(pod, "DONE")[0]).group(1))

    def test_two_workers_train_to_the_goal(self):
        self.train("mwms_custom_loop", "goal")
        self.pool.await_condition("goal", "Succeeded", LONG)
        self.assertEqual(self.lines("goal-worker-0", "START"), ["START step=0 replicas=2"])
        self.assertGreater(self.accuracy("goal-worker-0"), GOAL)
        self.assertEqual(self.accuracy("goal-worker-1"), self.accuracy("goal-worker-0"))
        for pod in ("goal-worker-0", "goal-worker-1"):
            self.assertEqual(complaints(self.pool.logs(pod)), [], "TensorFlow says that somebody crashed")
        checkpoint = self.pool.await_that("its last checkpoint is seen", "goal", lambda: (
            self.pool.status("goal")["checkpoint"]["step"] == 800 and self.pool.status("goal")["checkpoint"]))
        self.assertIn("ckpt-800", checkpoint["path"])
        self.assertEqual(self.pool.status("goal").get("restarts", 0), 0)

    def test_a_worker_lost_to_kill_9_restarts_the_gang_at_its_checkpoint(self):
        self.train("mwms_custom_loop", "lost", SHORT)
        self.pool.await_log("lost-worker-0", "SAVED step=40", LONG)
        before = set(self.pool.programs("lost"))
        os.kill(self.pool.programs("lost", "worker-1")[0], signal.SIGKILL)
        self.pool.await_that("it restarts", "lost", lambda: self.pool.status("lost").get("attempt") == 2)
        self.assertEqual(self.pool.status("lost")["cause"]["replica"], "worker-1")
        self.pool.await_condition("lost", "Succeeded", LONG)
        self.assertFalse(before & set(self.pool.programs("lost")))
        saved = self.steps("lost-worker-0", "SAVED", "--previous")[-1]
        self.assertGreaterEqual(saved, 40)
        for pod in ("lost-worker-0", "lost-worker-1"):
            self.assertEqual(self.steps(pod, "START", "--previous"), [0])
            self.assertEqual(self.lines(pod, "START"), [f"START step={saved} replicas=2"])
            self.assertEqual(len(self.lines(pod, "DONE")), 1)
        self.assertEqual(self.pool.status("lost")["restarts"], 1)

    def test_asked_to_leave_it_saves_exits_42_and_resumes_at_that_step(self):
        self.train("mwms_custom_loop", "leaves", SHORT.replace("20", "1000"))  # it saves only when it is asked to
        self.pool.await_log("leaves-worker-0", "step=40 ", LONG)
        self.pool.suspend("leaves")
        self.pool.await_condition("leaves", "Suspended")
        eventually("no program", lambda: not self.pool.programs("leaves"))
        saved = self.pool.status("leaves")["checkpoint"]["step"]
        self.assertGreaterEqual(saved, 40)
        self.pool.suspend("leaves", False)
        self.pool.await_condition("leaves", "Succeeded", LONG)
        for pod in ("leaves-worker-0", "leaves-worker-1"):
            self.assertIn(saved, self.steps(pod, "SAVED", "--previous") or [saved])
            self.assertEqual(self.lines(pod, "START"), [f"START step={saved} replicas=2"])
        self.assertEqual(self.steps("leaves-worker-0", "SAVED", "--previous"), [saved])
        status = self.pool.status("leaves")
        self.assertEqual((status.get("restarts", 0), status.get("voluntary", 0)), (0, 0))

    def test_parameter_servers_and_workers_are_stopped_when_the_chief_is_done(self):
        self.train("parameter_server", "servers", "--steps=400")
        self.pool.await_condition("servers", "Succeeded", LONG)
        self.assertEqual(len(self.lines("servers-chief-0", "DONE")), 1)
        eventually("the others are stopped", lambda: not self.pool.programs("servers"))
        counts = self.pool.job("servers")["status"]["replicaStatuses"]
        self.assertEqual(counts["Chief"]["succeeded"], 1)
        self.assertTrue(all(role.get("active", 0) == 0 and role.get("failed", 0) == 0 for role in counts.values()), counts)

    def test_the_server_is_lost_in_the_middle_and_nothing_is_noticed(self):
        self.train("mwms_custom_loop", "unnoticed", SHORT)
        self.pool.await_log("unnoticed-worker-0", "SAVED step=20", LONG)
        before = self.pool.programs("unnoticed")
        self.pool.crash()
        self.pool.start()
        self.assertEqual(self.pool.programs("unnoticed"), before)
        self.pool.await_condition("unnoticed", "Succeeded", LONG)
        self.assertEqual(self.lines("unnoticed-worker-0", "START"), ["START step=0 replicas=2"])
        self.assertEqual(self.steps("unnoticed-worker-0", "SAVED"), list(range(20, 241, 20)))
        status = self.pool.status("unnoticed")
        self.assertEqual((status["attempt"], status.get("restarts", 0)), (1, 0))


if __name__ == "__main__":
    junit.main()
