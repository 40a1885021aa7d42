"""The module's promises that need no TensorFlow."""

import os
import signal
import socket
import subprocess
import sys
import threading
import unittest

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(REPOSITORY, "python"))

from listener import Listener  # noqa: E402
from pondage import agreement, report, server, timed  # noqa: E402


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


class Reports(unittest.TestCase):
    def setUp(self):
        self.shim = Listener(self)
        self.clock = Clock()
        self.reporter = report.Reporter(self.shim.path, self.clock)

    def test_each_message_is_one_line_with_the_version_first(self):
        self.reporter.hello()
        self.reporter.step(7)
        self.reporter.checkpoint(50, "/data/my dir/ckpt-50")
        self.reporter.input_wait(125)
        self.assertEqual(self.shim.lines(),
                         ["1 hello", "1 step 7", "1 checkpoint 50 /data/my dir/ckpt-50",
                          "1 input-wait 125"])

    def test_steps_first_at_once_then_one_a_second(self):
        for step in range(1, 31):
            self.reporter.step(step)
            self.clock.now += 0.125
        self.assertEqual(self.shim.lines(), ["1 step 1", "1 step 9", "1 step 17", "1 step 25"])

    def test_the_last_step_is_not_held_back(self):
        self.reporter.step(1)
        self.reporter.step(2, last=True)
        self.assertEqual(self.shim.lines(), ["1 step 1", "1 step 2"])

    def test_checkpoints_are_never_held_back(self):
        for step in (1, 2, 3):
            self.reporter.checkpoint(step, "/c")
        self.assertEqual(len(self.shim.lines()), 3)

    def test_a_hello_and_the_newest_checkpoint_wait_for_a_listener_that_is_not_there_yet(self):
        self.shim.close()
        self.reporter.hello()
        self.reporter.checkpoint(50, "/c-50")
        self.reporter.checkpoint(100, "/c-100")
        self.reporter.step(101)
        self.shim.open()
        self.clock.now += 1
        self.reporter.step(102)
        self.assertEqual(self.shim.lines(), ["1 hello", "1 checkpoint 100 /c-100", "1 step 102"])

    def test_a_full_socket_neither_blocks_nor_loses_the_checkpoint(self):
        sent = 0
        while self.reporter._try("step %d" % sent):
            sent += 1
            self.assertLess(sent, 100000, "the socket is never full")
        self.reporter.checkpoint(5, "/c-5")
        self.assertEqual(len(self.shim.lines()), sent)
        self.reporter.input_wait(1)
        self.assertEqual(self.shim.lines(), ["1 checkpoint 5 /c-5", "1 input-wait 1"])

    def test_before_the_end_a_late_listener_is_waited_for_but_not_long(self):
        self.shim.close()

        def open_at_the_third_look(seconds):
            self.clock.now += seconds
            if self.clock.now > 100.05:
                self.shim.open()

        late = report.Reporter(self.shim.path, self.clock, open_at_the_third_look)
        late.checkpoint(800, "/c-800")
        late.last_chance()
        self.assertEqual(self.shim.lines(), ["1 checkpoint 800 /c-800"])

        self.shim.close()
        late = report.Reporter(self.shim.path, self.clock,
                               lambda seconds: setattr(self.clock, "now", self.clock.now + seconds))
        late.checkpoint(801, "/c-801")
        began = self.clock.now
        late.last_chance()
        self.assertLess(self.clock.now - began, 1)

    def test_what_does_not_fit_one_line_is_not_sent(self):
        self.reporter.checkpoint(1, "/two\nlines")
        self.reporter.checkpoint(2, "/" + "x" * 4096)
        self.reporter.step(3)
        self.assertEqual(self.shim.lines(), ["1 step 3"])

    def test_without_a_socket_nothing_happens(self):
        quiet = report.Reporter("")
        quiet.hello()
        quiet.step(1)
        report.Reporter("/" + "long" * 100).hello()  # longer than a socket's path may be
        report.Reporter("/nowhere/socket").checkpoint(1, "/c")

    def run_script(self, code):
        env = dict(os.environ, PONDAGE_SOCKET=self.shim.path,
                   PYTHONPATH=os.path.join(REPOSITORY, "python"))
        subprocess.run([sys.executable, "-c", code], env=env, check=True)
        return self.shim.lines()

    def test_import_needs_no_tensorflow(self):
        self.run_script("import sys, pondage; sys.exit('tensorflow' in sys.modules)")

    def test_who_saves_by_himself_never_says_hello(self):
        # By a hello without a step the pool would kill it where others are asked to leave.
        self.assertEqual(self.run_script("import pondage"), [])
        lines = self.run_script("import sys, pondage\n"
                                "sys.modules['pondage.timed'].INTERVAL_S = 0\n"
                                "next(pondage.timed('ab'))")
        self.assertEqual([line.split()[1] for line in lines], ["input-wait"])


class InputWait(unittest.TestCase):
    def test_the_share_of_waiting_is_reported_once_a_second(self):
        clock, reports = Clock(), []

        def slow():
            while True:
                clock.now += 0.03  # the wait
                yield "batch"

        batches = timed(slow(), report=reports.append, clock=clock)
        for _ in range(25):
            self.assertEqual(next(batches), "batch")
            clock.now += 0.07  # the computing
        self.assertEqual(len(reports), 2)
        for permille in reports:
            self.assertAlmostEqual(permille, 300, delta=30)

    def test_the_end_of_the_data_passes_through(self):
        self.assertEqual(list(timed([1, 2, 3], report=self.fail)), [1, 2, 3])


class Agreeing(unittest.TestCase):
    def test_alone_the_own_flag_decides_at_every_step(self):
        alone = agreement.Agreement(None, 1, step=0)
        self.assertFalse(alone.reached(1, asked=False))
        self.assertTrue(alone.reached(2, asked=True))

    def test_all_members_leave_after_the_same_step(self):
        for asked_at in range(1, 40):
            left = _two_members(step_s=(0.05, 0.05), asked_at=asked_at)
            self.assertIsNotNone(left[0])
            self.assertEqual(left[0], left[1])
            self.assertLess(left[0] - asked_at, agreement.STEPS_BETWEEN)
            self.assertGreaterEqual(left[0], asked_at)

    def test_members_of_different_speed_ask_each_other_at_the_same_steps(self):
        left = _two_members(step_s=(0.011, 0.059), asked_at=33)
        self.assertIsNotNone(left[0])
        self.assertEqual(left[0], left[1])

    def test_slow_steps_agree_each_time_and_fast_ones_share(self):
        for steps, seconds, want in ((1, 3.0, 1), (1, 0.1, 2), (10, 0.1, 10), (10, 5.0, 1),
                                     (1, 0.0, 10)):
            self.assertEqual(agreement.steps_until_next(steps, seconds), want)

    def test_at_the_end_all_meet_in_a_sum_and_one_alone_waits_for_nobody(self):
        sums = []
        agreement.Agreement(sums.append, 2, step=0).meet()
        self.assertEqual(sums, [(0.0, 0.0)])  # returns when all have called it
        agreement.Agreement(None, 1, step=0).meet()


class AllReduce:
    """Adds up the pairs of two threads; breaks when one calls it and the other never does."""

    def __init__(self):
        self._given = []
        self._all_gave = threading.Barrier(2, timeout=20)
        self._all_took = threading.Barrier(2, action=self._given.clear, timeout=20)

    def __call__(self, pair):
        self._given.append(pair)
        self._all_gave.wait()
        total = [sum(column) for column in zip(*self._given)]
        self._all_took.wait()
        return total


def _two_members(step_s, asked_at):
    """The steps after which two members leave, when the first is asked to at step `asked_at`."""
    total, left = AllReduce(), [None, None]

    def train(index):
        clock = Clock()
        member = agreement.Agreement(total, 2, 0, clock)
        for step in range(1, 200):
            clock.now += step_s[index]
            if member.reached(step, asked=index == 0 and step >= asked_at):
                left[index] = step
                return

    threads = [threading.Thread(target=train, args=(index,)) for index in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return left


class Leaving(unittest.TestCase):
    """Of a process, by a real SIGTERM."""

    def child(self, code):
        env = dict(os.environ, PYTHONPATH=os.path.join(REPOSITORY, "python"))
        process = subprocess.Popen([sys.executable, "-c", code], env=env, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "armed\n")
        return process

    def test_a_notice_is_seen_while_the_main_thread_is_stuck_outside_of_python(self):
        process = self.child(
            "from pondage.notice import *; import threading; n = Notice(); n.arm()\n"
            "def see(): n.wait(); leave(42, 'seen')\n"
            "threading.Thread(target=see).start(); print('armed', flush=True)\n"
            "import ctypes; c = ctypes.CDLL(None); mutex = ctypes.create_string_buffer(64)\n"
            "c.pthread_mutex_lock(mutex); c.pthread_mutex_lock(mutex)")  # for ever
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(30), 42)

    def test_without_a_common_step_it_leaves_with_43(self):
        process = self.child("from pondage.notice import *; n = Notice(); n.arm(limit_s=0.1)\n"
                             "print('armed', flush=True); import time; time.sleep(600)")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(30), 43)
        self.assertIn("no common step within 0.1 s", process.stderr.read())

    def test_once_settled_the_limit_is_off(self):
        process = self.child("from pondage.notice import *; n = Notice(); n.arm(limit_s=0.05)\n"
                             "n.settle(); print('armed', flush=True)\n"
                             "n.wait(); n._settled.wait(); import time; time.sleep(0.3)")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(30), 0)

    def test_who_listened_for_signals_before_still_hears(self):
        process = self.child(
            "import os, signal; r, w = os.pipe(); os.set_blocking(w, False)\n"
            "signal.set_wakeup_fd(w)\n"
            "from pondage.notice import *; Notice().arm(); print('armed', flush=True)\n"
            "os._exit(os.read(r, 1)[0])")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(30), signal.SIGTERM)


    def test_the_end_of_a_forked_child_is_not_a_notice_to_its_parent(self):
        process = self.child(
            "import multiprocessing, os, signal, sys, time\n"
            "from pondage.notice import *; n = Notice(); n.arm()\n"
            "child = multiprocessing.get_context('fork').Process(target=time.sleep, args=(600,))\n"
            "child.start(); child.terminate(); child.join(20); child.kill()\n"
            "print('armed', flush=True)\n"
            "sys.exit(10 * n.asked() + (child.exitcode != -signal.SIGTERM))")
        self.assertEqual(process.wait(30), 0)


class ServersLinger(unittest.TestCase):
    def setUp(self):
        self.chief = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(self.chief.close)
        self.address = "127.0.0.1:%d" % self.chief.getsockname()[1]

    def test_until_the_chief_is_gone(self):
        looks = []

        def sleep(seconds):
            looks.append(seconds)
            if len(looks) == 3:
                self.chief.close()

        server.wait_until_gone(self.address, limit_s=600, sleep=sleep)
        self.assertEqual(len(looks), 3)

    def test_but_not_for_ever(self):
        clock = Clock()

        def sleep(seconds):
            clock.now += seconds

        server.wait_until_gone(self.address, limit_s=2, clock=clock, sleep=sleep)
        self.assertGreaterEqual(clock.now, 102)


if __name__ == "__main__":
    unittest.main()
