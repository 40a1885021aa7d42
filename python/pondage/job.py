"""A training as the pool sees it: steps, checkpoints, and leaving when asked."""

import atexit
import os
import time

from . import agreement
from .checkpoints import Checkpoints
from .notice import EXIT_SAVED, Notice, leave
from .report import reporter
from .server import wait_until_gone

LINGER_S = 30  # the chief's, when a peer stays


class Job:
    """Make it after the strategy and everything that it shall save; it restores at once.

    strategy   any tf.distribute strategy
    directory  of the training; checkpoints go to DIR/ckpt. Without it they go to the folder
               $PONDAGE_CHECKPOINT_DIR, else to ./ckpt. All members must see it.
    every      save after so many steps; 0: only at the end and when asked to leave
    keep       how many checkpoints stay
    limit_s    how long to wait, once asked to leave, for a step that all members reach
    log        gets one line for each checkpoint; None: silence
    tracked    what is saved: model=model, optimizer=optimizer, or any other trackable object

    After a resume `step` is the number of steps done. The position in the data is not saved: give
    job.step as the seed to shuffle(), so that a resumed training sees a new order, not the old
    beginning again.
    """

    def __init__(self, strategy, directory=None, every=100, keep=2, limit_s=20, log=print,
                 **tracked):
        reporter.hello()
        self.checkpoint_directory = _checkpoint_directory(directory)
        self.is_chief = agreement.is_chief(strategy)
        self._every = every
        self._log = log or (lambda line: None)
        self._checkpoints = Checkpoints(self.checkpoint_directory, tracked, self.is_chief,
                                        _member(strategy), keep)
        self.step = self._saved_step = self._checkpoints.restore()
        self._peers = agreement.peers(strategy)
        total, members = agreement.over(strategy)
        self._agreement = agreement.Agreement(total, members, self.step)
        self._notice = Notice()
        self._notice.arm(limit_s)

    def steps(self, total, by=1):
        """Counts from the step reached to `total`; one turn of the loop is `by` steps.

        Between two turns it saves, reports, and leaves with exit code 42 when asked to. Do not
        leave the loop by `break` on one member only: the others would wait for it.
        """
        while self.step < total:
            yield self.step
            self.advance(min(self.step + by, total), total)
        self.finish()

    def advance(self, step, total=None):
        """`step` steps are done; for loops that steps() does not fit. May not return."""
        before, self.step = self.step, step
        reporter.step(step)
        if step == total:
            return
        if self._agreement.reached(step, self._notice.asked()):
            self._notice.settle()
            self.save()
            _flush_summaries()
            reporter.step(step, last=True)
            reporter.last_chance()
            self._part()
            leave(EXIT_SAVED, "asked to leave, step %d is saved" % step)
        if self._every and step // self._every > before // self._every:
            self.save()

    def finish(self):
        """The last step is done: saves it. From here on SIGTERM no longer ends the program."""
        self._notice.settle()
        self.save()
        reporter.step(self.step, last=True)
        reporter.last_chance()

    def end(self):
        """The last line of a program on several workers: they end together, with exit code 0.

        To those that stay, a member that is not heard of for seconds has crashed, and an
        interpreter's end takes seconds. So each does what is registered for the end, and when all
        have, they leave at once; the chief last, since the others talk to it until they are gone.
        """
        if not self._peers:
            return
        _flush_summaries()
        atexit._run_exitfuncs()
        self._part()
        leave(0)

    def _part(self):
        """Returns when this member may leave: the others first, the chief when they are gone."""
        if not self._peers:
            return
        import tensorflow as tf

        try:
            self._agreement.meet()
        except tf.errors.OpError:
            return  # what matters is done; whom TensorFlow misses does not come
        if self.is_chief:
            agreement.dismiss()
            deadline = time.monotonic() + LINGER_S
            for peer in self._peers:
                wait_until_gone(peer, deadline - time.monotonic())
        else:
            agreement.await_dismissal(LINGER_S)

    def save(self):
        """Saves the step reached, if it is not saved yet. Called by all members or by none."""
        if self.step == self._saved_step:
            return
        path = self._checkpoints.save(self.step)
        self._saved_step = self.step
        if path:
            reporter.checkpoint(self.step, path)
        self._log("SAVED step=%d %s" % (self.step, path or "(the chief's copy counts)"))


def _checkpoint_directory(directory):
    if directory:
        chosen = os.path.join(directory, "ckpt")
    else:
        chosen = os.environ.get("PONDAGE_CHECKPOINT_DIR") or "ckpt"
    return chosen if "://" in chosen else os.path.abspath(chosen)  # gs:// and the like stay


def _member(strategy):
    resolver = strategy.cluster_resolver
    if agreement.processes(strategy) < 2:
        return ""
    return "%s-%d" % (resolver.task_type, resolver.task_id)


def _flush_summaries():
    """What the default writer of tf.summary holds back would be lost with the process."""
    import tensorflow as tf

    tf.summary.flush()
