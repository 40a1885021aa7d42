"""Stands for the shim in tests: a datagram socket, and what arrived at it."""

import os
import socket
import tempfile
import threading


class Listener:
    def __init__(self, test):
        self._directory = tempfile.TemporaryDirectory()
        test.addCleanup(self._directory.cleanup)
        self.path = os.path.join(self._directory.name, "socket")
        self.open()
        test.addCleanup(self.close)

    def open(self):
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(self.path)
        self._socket.setblocking(False)

    def close(self):
        self._socket.close()
        if os.path.exists(self.path):
            os.unlink(self.path)

    def lines(self):
        arrived = []
        while True:
            try:
                arrived.append(self._socket.recv(65536).decode())
            except BlockingIOError:
                return arrived


class Reading:
    """Reads all the time, for a training that says more than a socket's queue holds.

        with Reading(listener) as lines: ...
    """

    def __init__(self, listener):
        self._listener = listener
        self._lines = []
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._read)

    def __enter__(self):
        self._thread.start()
        return self._lines

    def __exit__(self, *_):
        self._done.set()
        self._thread.join()
        self._lines += self._listener.lines()

    def _read(self):
        while not self._done.wait(0.05):
            self._lines += self._listener.lines()
