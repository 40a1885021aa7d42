"""What the tests of faults share: a pool that an interpreter serves, started as each of them needs it."""
import subprocess
import unittest

import raw
from pool import PONDAGE, Pool, eventually


class Wrapped(Pool):
    """A pool whose server is started by `wrap`."""

    def __init__(self, *wrap, port=0):
        super().__init__()
        self.wrap = wrap
        self.port = port

    def start(self):
        self.begin()
        eventually("the server is ready", self.ready)

    def begin(self):
        command = [*self.wrap, PONDAGE, "serve", "--data", str(self.data), "--listen", f"127.0.0.1:{self.port}",
                   "--restart-delay", "1s", "--virtual-gpus", "4"]
        with open(self.root / "serve.log", "ab") as log:
            self.server = subprocess.Popen(command, stdout=log, stderr=log, env=self.env)


class Fault(unittest.TestCase):
    def pool(self, pool=None):
        pool = pool or Pool()
        pool.start()
        self.addCleanup(pool.__exit__)
        raw.serve_interpreter(pool)
        return pool

    def programs(self, pool, count):
        eventually(f"{count} programs", lambda: len(pool.programs()) == count, 15)
