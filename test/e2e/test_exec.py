"""pondage exec against a real server: streams, exit codes, terminals."""
import os
import pty
import select
import struct
import subprocess
import termios
import time
import fcntl
import unittest

import pool as pools
import junit


class Exec(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pool = pools.Pool().__enter__()
        cls.addClassCleanup(cls.pool.__exit__)
        cls.pool.apply(pools.tfjob("long", ["sleep", "600"], workers=2))
        pools.eventually("both run", lambda: len(cls.pool.programs("long")) == 2)
        cls.pool.await_condition("long", "Running")

    def exec(self, *words, flags=(), **more):
        return self.pool.pondage("exec", "long", *flags, "--", *words, check=False, **more)

    def test_the_exit_code_is_the_programs_or_says_whose_it_is(self):
        for words, code in ((["true"], 0), (["sh", "-c", "exit 3"], 3), (["sh", "-c", "kill -9 $$"], 137),
                            (["/etc/passwd"], 126), (["no-such-program"], 127)):
            done = self.exec(*words)
            self.assertEqual(done.returncode, code, (words, done.stderr))
        for words, flags, text in ((["true"], ["--replica", "worker/7"], "PND-C016"), (["true"], ["--replica", "boss"], "PND-C002"),
                                   ([], [], "stands behind --")):
            done = self.exec(*words, flags=flags)
            self.assertEqual(done.returncode, 125, (flags, done.stderr))
            self.assertIn(text, done.stderr)
        done = self.pool.pondage("exec", "nobody", "--", "true", check=False)
        self.assertEqual((done.returncode, "PND-C008" in done.stderr), (125, True), done.stderr)

    def test_streams_are_apart_and_arguments_arrive_unchanged(self):
        done = self.exec("sh", "-c", 'printf "%s|" "$@"; echo trouble >&2', "sh", "a b", "ä&c=d", "", "*")
        self.assertEqual(done.stdout, "a b|ä&c=d||*|")
        self.assertEqual(done.stderr, "trouble\n")

    def test_it_is_in_the_replica_that_is_named(self):
        for replica in ("worker/0", "Worker-1"):
            done = self.exec("sh", "-c", "echo $PONDAGE_REPLICA $PONDAGE_JOB", flags=["--replica", replica])
            self.assertEqual(done.stdout, f"{replica.lower().replace('/', '-')} long\n")

    def test_input_of_any_size_passes_whole_and_its_end_is_seen(self):
        sent = os.urandom(3_000_000)
        done = subprocess.run([pools.PONDAGE, "exec", "long", "--", "cat"], input=sent, env=self.pool.env,
                              stdout=subprocess.PIPE, timeout=120, check=True)
        self.assertEqual(done.stdout, sent)
        self.assertEqual(self.exec("cat", flags=["--no-stdin"], input="x").stdout, "")

    def test_a_slow_reader_on_the_other_side_is_waited_for(self):
        done = subprocess.run([pools.PONDAGE, "exec", "long", "--", "sh", "-c", "sleep 1; wc -c"], input=b"x" * 2_000_000,
                              env=self.pool.env, stdout=subprocess.PIPE, timeout=120, check=True)
        self.assertEqual(done.stdout.strip(), b"2000000")

    def test_a_program_that_reads_nothing_ends_though_more_input_could_come(self):
        with subprocess.Popen([pools.PONDAGE, "exec", "long", "--", "true"], stdin=subprocess.PIPE, env=self.pool.env) as held:
            self.assertEqual(held.wait(60), 0)
            held.stdin.close()

    def test_a_terminal_has_its_size_and_keys_go_to_the_program(self):
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 101, 0, 0))
        before = termios.tcgetattr(slave)
        command = [pools.PONDAGE, "exec", "long", "--", "sh", "-c",
                   "trap 'echo interrupted' INT; test -t 0 && test -t 1 && stty size; echo ready; read line; "
                   "read line; echo got $line; exit 5"]
        program = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=self.pool.env)
        said = b""

        def until(text):
            nonlocal said
            deadline = time.monotonic() + 60
            while text not in said:
                self.assertLess(time.monotonic(), deadline, said)
                if select.select([master], [], [], 0.2)[0]:
                    said += os.read(master, 4096)

        until(b"ready")
        self.assertIn(b"33 101", said)
        os.write(master, b"\x03")  # Ctrl-C: the program's, not ours
        until(b"interrupted")
        os.write(master, b"word\r")
        os.write(master, b"word\r")
        until(b"got word")
        self.assertEqual(program.wait(60), 5)
        self.assertEqual(termios.tcgetattr(slave), before, "the terminal is as it was")
        os.close(master)
        os.close(slave)


if __name__ == "__main__":
    junit.main()
