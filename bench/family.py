"""Programs under measurement, with all that they start.

A family is one program and every process that comes of it, also those that leave it (shims, steps):
a small holder adopts and reaps them, so that their CPU time is added up by the kernel and none of
them outlives the measurement.
"""

import ctypes
import os
import signal
import subprocess
import sys
import time

TICK = os.sysconf("SC_CLK_TCK")
PR_SET_CHILD_SUBREAPER = 36


class Stuck(Exception):
    """Something did not happen in its time."""


def await_(what, seconds, check, pause=0.01):
    """The first true answer of check()."""
    end = time.monotonic() + seconds
    while True:
        answer = check()
        if answer:
            return answer
        if time.monotonic() > end:
            raise Stuck(f"{what}: not within {seconds} s")
        time.sleep(pause)


class Family:
    def __init__(self, argv, log, env=None):
        self.log_path = log
        with open(log, "wb") as out:
            self.holder = subprocess.Popen(
                [sys.executable, os.path.abspath(__file__), *argv],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=out, env=env)
        line = self.holder.stdout.readline()
        if not line:
            raise Stuck(f"{argv[0]} cannot be started: {self.log()}")
        pid, began = line.split()
        self.pid = int(pid)
        self.began = float(began)  # of the monotonic clock, just before it was started

    def log(self):
        with open(self.log_path, "rb") as text:
            return text.read().decode(errors="replace").strip()

    def alive(self):
        return _state(self.pid) not in ("", "Z")

    def fine_cpu(self):
        """CPU seconds of the program's threads that live, to the nanosecond."""
        total = 0
        for thread in os.listdir(f"/proc/{self.pid}/task"):
            with open(f"/proc/{self.pid}/task/{thread}/schedstat") as schedstat:
                total += int(schedstat.read().split()[0])
        return total / 1e9

    def cpu(self):
        """CPU seconds of the program, and of the others that have ended."""
        own, reaped = _times(self.pid)
        return own, reaped + _times(self.holder.pid)[1]

    def resident(self):
        """Bytes of the program now: resident, and its own share without the mapped files."""
        with open(f"/proc/{self.pid}/status") as status:
            fields = dict(line.split(":", 1) for line in status)
        kib = {name: int(fields[name].split()[0]) for name in ("VmRSS", "RssAnon")}
        return kib["VmRSS"] * 1024, kib["RssAnon"] * 1024

    def end_program(self, seconds=30):
        """SIGTERM to the program alone; the others go on."""
        if self.alive():
            os.kill(self.pid, signal.SIGTERM)
        await_("the program's end", seconds, lambda: not self.alive())

    def close(self):
        """Ends the program and whatever is left of it."""
        self.holder.stdin.close()
        try:
            self.holder.wait(60)
        except subprocess.TimeoutExpired:
            self.holder.kill()
            self.holder.wait()
        self.holder.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def _stat(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def _state(pid):
    stat = _stat(pid)
    return stat[0] if stat else ""


def _times(pid):
    stat = _stat(pid)
    if not stat:
        return 0.0, 0.0
    user, system, child_user, child_system = (int(field) / TICK for field in stat[11:15])
    return user + system, child_user + child_system


# The holder's side.


def _children(parent):
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            stat = _stat(int(name))
            if stat and int(stat[1]) == parent:
                found.append(int(name))
    return found


def _reap():
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return False
        if pid == 0:
            return True


def _end_all(program):
    """First the program, politely; then its orphans, which come to us as their parents end."""
    patience = time.monotonic() + 15
    if _state(program) not in ("", "Z"):
        os.kill(program, signal.SIGTERM)
    while _state(program) not in ("", "Z") and time.monotonic() < patience:
        _reap()
        time.sleep(0.01)
    patience = time.monotonic() + 30
    while _reap() and time.monotonic() < patience:
        for child in _children(os.getpid()):
            try:
                os.kill(child, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.01)


def _hold(argv):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the driver, which closes our input
    blocked = {signal.SIGCHLD}
    signal.pthread_sigmask(signal.SIG_BLOCK, blocked)
    began = time.monotonic()
    program = os.posix_spawn(argv[0], argv, os.environ, setsigmask=[],
                             file_actions=[(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                                           (os.POSIX_SPAWN_DUP2, 2, 1)])
    print(program, began, flush=True)
    os.set_blocking(0, False)
    while True:
        signal.sigtimedwait(blocked, 0.2)
        _reap()
        try:
            if os.read(0, 1) == b"":
                break
        except BlockingIOError:
            pass
    _end_all(program)


if __name__ == "__main__":
    _hold(sys.argv[1:])
