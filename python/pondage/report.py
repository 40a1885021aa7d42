"""What a replica tells the pool: one line per datagram to the socket named by PONDAGE_SOCKET.

Reporting never blocks and never fails: a training must not suffer because nobody listens.
"""

import os
import socket
import time

VERSION = 1
MAX_BYTES = 4096
STEP_INTERVAL_S = 1.0
LAST_CHANCE_S = 0.5


class Reporter:
    """Sends lines to `path`; with an empty path it does nothing."""

    def __init__(self, path, clock=time.monotonic, sleep=time.sleep):
        self._path = path
        self._clock = clock
        self._sleep = sleep
        self._socket = None
        self._unsent = {}  # lines that must arrive once, the newest of each kind
        self._next_step_at = None
        if path:
            self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            self._socket.setblocking(False)

    def hello(self):
        """This replica leaves its saving to the module: until its first step it may be killed.

        Not said at import: a script may use something else of the module and save by itself."""
        self._send_surely("hello", "hello")

    def step(self, step, last=False):
        """`step` steps are done. At most one a second is sent, the first and the last at once."""
        now = self._clock()
        if not last and self._next_step_at is not None and now < self._next_step_at:
            return
        self._next_step_at = now + STEP_INTERVAL_S
        self._send("step %d" % step)

    def checkpoint(self, step, path):
        """The checkpoint of `step` is complete on disk at `path`."""
        self._send_surely("checkpoint", "checkpoint %d %s" % (step, path))

    def input_wait(self, permille):
        """The share of the last seconds in which the training waited for its input."""
        self._send("input-wait %d" % permille)

    def last_chance(self):
        """Before the process ends: waits a moment for a listener that is behind."""
        deadline = self._clock() + LAST_CHANCE_S
        while not self._flush() and self._clock() < deadline:
            self._sleep(0.02)

    def _send_surely(self, kind, text):
        self._unsent[kind] = text
        self._flush()

    def _send(self, text):
        if self._flush():
            self._try(text)

    def _flush(self):
        """Sends what is owed; false if something still is."""
        for kind, text in list(self._unsent.items()):
            if not self._try(text):
                return False
            del self._unsent[kind]
        return True

    def _try(self, text):
        """False if it is worth trying again later: nobody listens, or the listener is behind."""
        if self._socket is None:
            return True
        line = ("%d %s" % (VERSION, text)).encode("utf-8", "surrogateescape")
        if len(line) > MAX_BYTES or b"\n" in line:
            return True  # cannot be said in one line
        try:
            self._socket.sendto(line, self._path)
            return True
        except OSError:
            return False


reporter = Reporter(os.environ.get("PONDAGE_SOCKET", ""))
