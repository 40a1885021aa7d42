"""The notice to leave: SIGTERM, seen even while the main thread is inside TensorFlow.

TensorFlow takes SIGTERM for itself when a MultiWorkerMirroredStrategy is made, so that a handler
set before is lost: arm() must come after the strategy. A Python handler runs only between two
Python instructions of the main thread, which may sit in a collective for ever; therefore the
signal's number goes into a pipe (signal.set_wakeup_fd) and a thread reads it there.
"""

import os
import signal
import sys
import threading

EXIT_SAVED = 42  # saved and left: run me again
EXIT_NOT_SAVED = 43  # could not save a common step: the last periodic checkpoint counts


class Notice:
    """One per process; arm() is called in the main thread."""

    def __init__(self):
        self._asked = threading.Event()
        self._settled = threading.Event()

    def arm(self, limit_s=None):
        """From now on SIGTERM is a notice. Unless settle() is called within `limit_s` seconds of
        it, the process leaves with EXIT_NOT_SAVED: a peer is gone or stuck."""
        read_end, write_end = os.pipe()
        os.set_blocking(write_end, False)
        previous = signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
        signal.signal(signal.SIGTERM, _nothing)
        os.register_at_fork(before=_hold, after_in_parent=_release, after_in_child=_disarm)
        thread = threading.Thread(target=self._watch, args=(read_end, previous, limit_s),
                                  name="pondage-notice", daemon=True)
        thread.start()

    def asked(self):
        """Whether this process was asked to leave."""
        return self._asked.is_set()

    def wait(self):
        """Returns when this process is asked to leave."""
        self._asked.wait()

    def settle(self):
        """The common step is reached, or the training is over: no more hurry."""
        self._settled.set()

    def _watch(self, read_end, previous, limit_s):
        while True:
            numbers = os.read(read_end, 64)
            if previous >= 0:
                _pass_on(previous, numbers)  # whoever listened before (asyncio) still hears
            if signal.SIGTERM in numbers and not self.asked():
                self._asked.set()
                if limit_s is not None:
                    self._start_limit(limit_s)

    def _start_limit(self, limit_s):
        threading.Thread(target=self._leave_unless_settled, args=(limit_s,),
                         name="pondage-limit", daemon=True).start()

    def _leave_unless_settled(self, limit_s):
        if not self._settled.wait(limit_s):
            leave(EXIT_NOT_SAVED,
                  "no common step within %g s of SIGTERM: a peer is gone or stuck" % limit_s)


def leave(code, why=""):
    """Ends the process at once. Not sys.exit(): TensorFlow's shutdown would wait for all peers."""
    try:
        sys.stdout.flush()
        if why:
            sys.stderr.write("pondage: %s; exit %d\n" % (why, code))
        sys.stderr.flush()
    except (OSError, ValueError):
        pass  # a closed log is no reason to stay
    finally:
        os._exit(code)


# A forked child must not keep the handler: its signals would go into the parent's pipe, and
# multiprocessing ends its children by SIGTERM, so the parent would take that for a notice. The
# signal is held back while forking, so that none arrives before the child is disarmed.
def _hold():
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])


def _release():
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])


def _disarm():
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _release()


def _pass_on(descriptor, numbers):
    try:
        os.write(descriptor, numbers)
    except OSError:
        pass  # full or closed: theirs to bear


def _nothing(signum, frame):
    """A Python-level handler must exist, or the wake-up descriptor hears nothing."""
