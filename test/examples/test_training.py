"""Every example and every promise of the module, with real TensorFlow.

It is started thirteen times; each start costs some seconds of each process:

  example           what                                                       processes
  mwms_custom_loop  one of two members is asked to leave: both do               2
                    one alone resumes and trains to the goal                    1
  mwms_fit          all are asked to leave in the middle of an epoch            2
                    resumed, to the goal                                        2
  parameter_server  all are asked to leave at once: the chief saves first       3
                    resumed, to the goal; then worker and ps leave              3
  mirrored          to the goal                                                 1
  central_storage   to the goal                                                 1
  evaluator         to the goal                                                 3
  tpu               says which TPU it would use                                 1
  (tiny.py)         a frozen peer: exit 43                                      2
                    the chief saves long: its peer waits for it                 2
                    a member that waits for its peer is deaf                    1
"""

import os
import re
import signal
import tempfile
import time
import unittest

from gang import Gang, complaints
from listener import Listener, Reading

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXAMPLES = os.path.join(REPOSITORY, "examples")
TINY = os.path.join(REPOSITORY, "test", "examples", "tiny.py")
GOAL = 0.95


class Training(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.out = os.path.join(directory.name, "out")
        self.env = {"PYTHONPATH": os.path.join(REPOSITORY, "python")}

    def example(self, script, roles):
        return Gang([os.path.join(EXAMPLES, script), "--dir", self.out], roles, env=self.env)

    def steps(self, gang, name, start):
        """The steps in a member's lines that begin with `start`."""
        return [int(re.search(r"step=(\d+)", line).group(1)) for line in gang.lines(name, start)]

    def assert_left_together(self, gang, *names):
        """All exited 42 and saved the same step last; returns it."""
        self.assertEqual(set(gang.wait_exit(*names)), {42}, gang.all_logs())
        last = {self.steps(gang, name, "SAVED")[-1] for name in names}
        self.assertEqual(len(last), 1, gang.all_logs())
        return last.pop()

    def assert_trained(self, gang, name):
        done = gang.lines(name, "DONE")
        self.assertEqual(len(done), 1, gang.log(name))
        accuracy = float(re.search(r"accuracy=([\d.]+)", done[0]).group(1))
        self.assertGreaterEqual(accuracy, GOAL)

    def assert_ended_together(self, gang, *names):
        """Nobody took another for crashed."""
        for name in names:
            self.assertEqual(complaints(gang.log(name)), [], gang.all_logs())

    def assert_results(self):
        """A SavedModel and TensorBoard's events are there; nobody left scratch files."""
        self.assertTrue(os.path.exists(os.path.join(self.out, "model", "saved_model.pb")))
        self.assertTrue(any(name.startswith("events.out.tfevents")
                            for _, _, names in os.walk(os.path.join(self.out, "tensorboard"))
                            for name in names))
        self.assertEqual([name for _, folders, _ in os.walk(self.out) for name in folders
                          if name.startswith(".")], [])


class CustomLoop(Training):
    def test_one_of_two_is_asked_to_leave_both_do_and_one_alone_resumes(self):
        script = "mwms_custom_loop/train.py"
        with self.example(script, {"worker": 2}) as gang:
            gang.wait_for("worker-0", "step=", count=3)
            gang.signal(signal.SIGTERM, "worker-1")
            saved = self.assert_left_together(gang, "worker-0", "worker-1")
            self.assertGreater(saved, 40)

        shim = Listener(self)
        self.env["PONDAGE_SOCKET"] = shim.path
        with Reading(shim) as reports, self.example(script, {"worker": 1}) as gang:
            self.assertEqual(gang.wait_exit(), [0], gang.all_logs())
            self.assertEqual(gang.lines("worker-0", "START"),
                             ["START step=%d replicas=1" % saved])
            self.assert_trained(gang, "worker-0")
            self.assert_results()
        self.assertEqual(reports[0], "1 hello")
        self.assertEqual(reports[1], "1 step %d" % (saved + 1))
        self.assertEqual(reports[-2:], ["1 checkpoint 800 %s/ckpt/ckpt-800" % self.out,
                                        "1 step 800"])
        self.assertTrue(any(line.startswith("1 input-wait ") for line in reports), reports)


class Fit(Training):
    def test_all_leave_in_the_middle_of_an_epoch_and_resume_there(self):
        per_epoch, epochs = 70, 7
        with self.example("mwms_fit/train.py", {"worker": 2}) as gang:
            gang.wait_for("worker-0", "SAVED step=100")
            gang.signal(signal.SIGTERM)
            saved = self.assert_left_together(gang, "worker-0", "worker-1")
        self.env["PYTHONPATH"] += ":" + self.slow_ending()
        with self.example("mwms_fit/train.py", {"worker": 2}) as gang:
            self.assertEqual(gang.wait_exit(), [0, 0], gang.all_logs())
            self.assert_ended_together(gang, "worker-0", "worker-1")
            for name in gang.members:
                self.assertEqual(gang.lines(name, "AT EXIT"), ["AT EXIT"])
            self.assertEqual(gang.lines("worker-0", "START"),
                             ["START step=%d replicas=2" % saved])
            self.assertEqual(gang.lines("worker-0", "Epoch")[0],
                             "Epoch %d/%d" % (saved // per_epoch + 1, epochs))
            # The epoch that was left is not begun anew: the number of steps stays the same.
            self.assertEqual(self.steps(gang, "worker-1", "DONE"), [per_epoch * epochs])
            self.assert_trained(gang, "worker-0")
            self.assert_results()


    def slow_ending(self):
        """A folder for PYTHONPATH: what is registered for the chief's end takes longer than TensorFlow
        waits for a peer that is silent (10 s)."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        with open(os.path.join(folder.name, "sitecustomize.py"), "w", encoding="ascii") as file:
            file.write("import atexit, os, time\n"
                       "def end():\n"
                       "    time.sleep(15 * (os.environ['PONDAGE_REPLICA'] == 'worker-0'))\n"
                       "    print('AT EXIT', flush=True)\n"
                       "atexit.register(end)\n")
        return folder.name


class ParameterServer(Training):
    ROLES = {"chief": 1, "worker": 1, "ps": 1}

    def test_all_are_asked_at_once_the_chief_saves_and_all_resume(self):
        with self.example("parameter_server/train.py", self.ROLES) as gang:
            gang.wait_for("chief-0", "step=", count=3)
            gang.signal(signal.SIGTERM)
            self.assertEqual(gang.wait_exit(), [42, 42, 42], gang.all_logs())
            saved = self.steps(gang, "chief-0", "SAVED")[-1]
            self.assertGreaterEqual(saved, 60)
        with self.example("parameter_server/train.py", self.ROLES) as gang:
            self.assertEqual(gang.wait_exit("chief-0"), [0], gang.all_logs())
            self.assertEqual(self.steps(gang, "chief-0", "START"), [saved])
            self.assert_trained(gang, "chief-0")
            self.assert_results()
            gang.signal(signal.SIGTERM, "worker-0", "ps-0")
            self.assertEqual(gang.wait_exit("worker-0", "ps-0"), [42, 42], gang.all_logs())


class OneProcess(Training):
    def test_mirrored(self):
        self.train("mirrored/train.py", replicas=2)

    def test_central_storage(self):
        self.train("central_storage/train.py", replicas=2)

    def train(self, script, replicas):
        with self.example(script, {"worker": 1}) as gang:
            self.assertEqual(gang.wait_exit(), [0], gang.all_logs())
            self.assertEqual(gang.lines("worker-0", "START"),
                             ["START step=0 replicas=%d" % replicas])
            self.assert_trained(gang, "worker-0")
            self.assert_results()


class Evaluator(Training):
    def test_it_sees_the_training_to_its_last_step(self):
        commands = {role: [os.path.join(EXAMPLES, "evaluator", script), "--dir", self.out]
                    for role, script in (("worker", "train.py"), ("evaluator", "evaluate.py"))}
        with Gang(commands, {"worker": 2, "evaluator": 1}, env=self.env) as gang:
            self.assertEqual(gang.wait_exit(), [0, 0, 0], gang.all_logs())
            self.assertGreater(len(gang.lines("evaluator-0", "EVALUATED")), 1)
            self.assertEqual(self.steps(gang, "evaluator-0", "DONE"),
                             self.steps(gang, "worker-0", "DONE"))
            self.assert_ended_together(gang, "worker-0", "worker-1")
            self.assert_trained(gang, "evaluator-0")
            self.assert_results()


class Tpu(Training):
    def test_the_resolver_finds_the_tpu_in_the_environment(self):
        self.env["KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS"] = "grpc://10.0.0.2:8470"
        command = [os.path.join(EXAMPLES, "tpu", "train.py"), "--check"]
        with Gang(command, {"worker": 1}, env=self.env) as gang:
            self.assertEqual(gang.wait_exit(), [0], gang.all_logs())
            self.assertEqual(gang.lines("worker-0", "TPU"),
                             ["TPU master=grpc://10.0.0.2:8470 workers=10.0.0.2:8470"])


    def test_without_one_it_says_so_in_a_sentence(self):
        with Gang([os.path.join(EXAMPLES, "tpu", "train.py"), "--check"], {"worker": 1}, env=self.env) as gang:
            self.assertEqual(gang.wait_exit(), [1])
            said = gang.log("worker-0")
        self.assertIn("no TPU: ", said)
        self.assertIn("set KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS=", said)
        self.assertNotIn("Traceback", said)


class Leaving(Training):
    def test_a_frozen_peer_makes_a_common_step_impossible(self):
        self.env["PONDAGE_CHECKPOINT_DIR"] = self.out
        with Gang([TINY], {"worker": 2}, env=self.env) as gang:
            gang.wait_for("worker-0", "SAVED step=10 %s/ckpt-10" % self.out)
            gang.signal(signal.SIGSTOP, "worker-1")
            gang.signal(signal.SIGTERM, "worker-0")
            self.assertEqual(gang.wait_exit("worker-0"), [43], gang.all_logs())
            self.assertIn("no common step within 3 s", gang.log("worker-0"))

    def test_a_chief_that_saves_longer_than_tensorflow_waits_for_a_silent_peer(self):
        self.env.update(PONDAGE_CHECKPOINT_DIR=self.out, EVERY="0", SLOW_SAVE_S="15")
        with Gang([TINY], {"worker": 2}, env=self.env) as gang:
            for name in gang.members:
                gang.wait_for(name, "START")
            gang.signal(signal.SIGTERM)
            self.assert_left_together(gang, "worker-0", "worker-1")
            self.assert_ended_together(gang, "worker-0", "worker-1")

    def test_a_member_that_waits_for_its_peer_is_deaf_until_it_is_killed(self):
        shim = Listener(self)
        self.env["PONDAGE_SOCKET"] = shim.path
        gang = Gang([TINY], {"worker": 2}, env=self.env)
        self.addCleanup(gang.__exit__)
        gang.start("worker", 0)
        process = gang.members["worker-0"]
        while not _tensorflow_has_sigterm(process.pid):
            self.assertIsNone(process.poll(), gang.log("worker-0"))
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        while _pending(process.pid, signal.SIGTERM):
            time.sleep(0.05)
        self.assertIsNone(process.poll(), "it heard SIGTERM: then the whole grace need not pass")
        self.assertEqual(shim.lines(), [], "the module is not in use yet")


def _tensorflow_has_sigterm(pid):
    return _in_set(pid, "SigCgt", signal.SIGTERM)


def _pending(pid, number):
    return _in_set(pid, "ShdPnd", number)


def _in_set(pid, field, number):
    with open("/proc/%d/status" % pid, encoding="ascii") as status:
        mask = next(line.split()[1] for line in status if line.startswith(field + ":"))
    return bool(int(mask, 16) >> (number - 1) & 1)


if __name__ == "__main__":
    unittest.main()
