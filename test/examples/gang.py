"""Starts the members of a distributed training on this machine and watches them.

For tests, and by hand:  python gang.py --worker 2 -- train.py --dir /tmp/out
"""

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

TOO_LATE_S = 240  # a training that takes longer hangs

# Keeps TensorFlow from asking a cloud's metadata host, and its start-up chatter out of the logs.
QUIET = {"TF_CPP_MIN_LOG_LEVEL": "2", "GCE_METADATA_IP": "127.0.0.1:9", "PYTHONUNBUFFERED": "1",
         "GRPC_FAIL_FAST": "use_caller"}


class Gang:
    """Members are named as in a TFJob: "worker-0"."""

    def __init__(self, command, roles, env=None, out_of_cluster=(), logs=None, python=None):
        """`command`: a script and its arguments; or role -> such a list."""
        self.python = python or os.environ.get("PONDAGE_TF_PYTHON") or sys.executable
        self.logs = logs or tempfile.mkdtemp(prefix="gang-")
        self._command = command
        self._env = dict(os.environ, **QUIET)
        self._env.update(env or {})
        addresses = iter(_free_addresses(sum(roles.values())))
        self._all = {role: [next(addresses) for _ in range(n)] for role, n in roles.items()}
        self._cluster = {r: a for r, a in self._all.items() if r not in out_of_cluster}
        self.members = {}

    def __enter__(self):
        for role, addresses in self._all.items():
            for index in range(len(addresses)):
                self.start(role, index)
        return self

    def __exit__(self, *_):
        for process in self.members.values():
            if process.poll() is None:
                process.kill()
            process.wait()

    def start(self, role, index):
        """Starts a member, or starts it again; its log goes on."""
        name = "%s-%d" % (role, index)
        command = self._command[role] if isinstance(self._command, dict) else self._command
        task = {"cluster": self._cluster, "task": {"type": role, "index": index}}
        env = dict(self._env, TF_CONFIG=json.dumps(task), PONDAGE_REPLICA=name)
        with open(self._log_path(name), "ab") as log:
            self.members[name] = subprocess.Popen([self.python] + list(command), env=env,
                                                  stdout=log, stderr=subprocess.STDOUT)

    def log(self, name):
        with open(self._log_path(name), encoding="utf-8", errors="replace") as log:
            return log.read()

    def lines(self, name, start):
        """The lines of a member's log that begin with `start`."""
        return [line for line in self.log(name).splitlines() if line.startswith(start)]

    def wait_for(self, name, start, count=1):
        """Waits until the member has printed `count` lines that begin with `start`."""
        def seen():
            return len(self.lines(name, start)) >= count

        self._wait(lambda: seen() or self.members[name].poll() is not None,
                   "%s says %r" % (name, start))
        if not seen():
            raise AssertionError("%s ended without saying %r:\n%s" % (name, start, self.log(name)))

    def wait_exit(self, *names):
        """Waits until the members (all, if none is named) have ended; their exit codes."""
        names = names or tuple(self.members)
        self._wait(lambda: all(self.members[n].poll() is not None for n in names),
                   "%s end" % ", ".join(names))
        return [self.members[name].returncode for name in names]

    def signal(self, number, *names):
        for name in names or tuple(self.members):
            self.members[name].send_signal(number)

    def _log_path(self, name):
        return os.path.join(self.logs, name + ".log")

    def _wait(self, condition, what):
        deadline = time.monotonic() + TOO_LATE_S
        while not condition():
            if time.monotonic() > deadline:
                raise AssertionError("waited in vain until %s\n%s" % (what, self.all_logs()))
            time.sleep(0.05)

    def all_logs(self):
        return "\n".join("== %s\n%s" % (name, self.log(name)[-4000:]) for name in self.members)


def complaints(log):
    """What TensorFlow says of members that left before the others, in the words of TF 2.21."""
    words = ("have crashed", "stopped sending heartbeats", "CoordinationServiceError", "StartAbort")
    return [line for line in log.splitlines() if any(word in line for word in words)]


def _free_addresses(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    addresses = ["127.0.0.1:%d" % each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return addresses


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    roles = ("chief", "worker", "ps", "evaluator")
    for role in roles:
        parser.add_argument("--" + role, type=int, default=0)
    parser.add_argument("command", nargs="+", help="-- SCRIPT ARGUMENTS")
    arguments = parser.parse_args()
    counts = {role: getattr(arguments, role) for role in roles if getattr(arguments, role)}
    with Gang(arguments.command, counts) as gang:
        signal.signal(signal.SIGTERM, lambda *_: gang.signal(signal.SIGTERM))
        # Workers and ps never leave by themselves: with a chief, its end is the end.
        gang.wait_exit(*(["chief-0"] if "chief" in counts else []))
        print(gang.all_logs())


if __name__ == "__main__":
    main()
