"""How much of its time a training waits for input."""

import time

from .report import reporter

INTERVAL_S = 1.0


class timed:
    """Wraps an iterator of batches and reports the time spent waiting for it.

        batches = pondage.timed(iter(dataset))
        ... train_step(next(batches)) ...

    Take the batch outside of the tf.function: a wait inside of it cannot be told from computing.
    """

    def __init__(self, iterator, report=reporter.input_wait, clock=time.perf_counter):
        self._iterator = iter(iterator)
        self._report = report
        self._clock = clock
        self._waited = 0.0
        self._since = clock()

    def __iter__(self):
        return self

    def __next__(self):
        before = self._clock()
        batch = next(self._iterator)
        after = self._clock()
        self._waited += after - before
        if after - self._since >= INTERVAL_S:
            self._report(round(1000 * self._waited / (after - self._since)))
            self._waited, self._since = 0.0, after
        return batch
