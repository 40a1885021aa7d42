"""Every example and every promise of the module, with real TensorFlow.

Real trainings, and how many processes each starts:
  1  two workers, custom loop, whole                    2
  2  ... both asked to leave, resumed with one          2 + 1
"""

import os
import re
import signal
import sys
import tempfile
import unittest

from gang import Gang

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXAMPLES = os.path.join(REPOSITORY, "examples")
ENV = {"PYTHONPATH": os.path.join(REPOSITORY, "python")}
GOAL = 0.95


class Training(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.out = os.path.join(directory.name, "out")

    def example(self, script, roles, *options, **more):
        command = [os.path.join(EXAMPLES, script), "--dir", self.out] + list(options)
        return Gang(command, roles, env=ENV, **more)

    def saved_steps(self, gang, name):
        return [int(re.search(r"step=(\d+)", line).group(1))
                for line in gang.lines(name, "SAVED")]

    def assert_trained(self, gang, name):
        done = gang.lines(name, "DONE")
        self.assertEqual(len(done), 1, gang.log(name))
        accuracy = float(re.search(r"accuracy=([\d.]+)", done[0]).group(1))
        self.assertGreaterEqual(accuracy, GOAL)

    def assert_results(self):
        """A SavedModel and TensorBoard's events are there; nobody left scratch files."""
        self.assertTrue(os.path.exists(os.path.join(self.out, "model", "saved_model.pb")))
        self.assertTrue(any(name.startswith("events.out.tfevents")
                            for _, _, names in os.walk(self.out) for name in names))
        self.assertEqual([n for n in os.listdir(self.out) if n.startswith(".")], [])


class CustomLoop(Training):
    SCRIPT = "mwms_custom_loop/train.py"

    def test_two_workers_train_to_the_goal(self):
        with self.example(self.SCRIPT, {"worker": 2}) as gang:
            self.assertEqual(gang.wait_exit(), [0, 0], gang.all_logs())
            self.assert_trained(gang, "worker-0")
            self.assert_trained(gang, "worker-1")
            self.assert_results()

    def test_one_of_two_is_asked_to_leave_both_do_and_one_alone_resumes(self):
        with self.example(self.SCRIPT, {"worker": 2}) as gang:
            gang.wait_for("worker-0", "step=", count=3)
            gang.signal(signal.SIGTERM, "worker-1")
            self.assertEqual(gang.wait_exit(), [42, 42], gang.all_logs())
            saved = self.saved_steps(gang, "worker-0")[-1]
            self.assertEqual(saved, self.saved_steps(gang, "worker-1")[-1])
            self.assertGreater(saved, 40)
        with self.example(self.SCRIPT, {"worker": 1}, "--steps", str(saved + 30)) as gang:
            self.assertEqual(gang.wait_exit(), [0], gang.all_logs())
            self.assertEqual(gang.lines("worker-0", "START"),
                             ["START step=%d replicas=1" % saved])


if __name__ == "__main__":
    unittest.main()
