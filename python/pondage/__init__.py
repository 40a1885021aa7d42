"""Lets a TensorFlow training save, leave and resume when the Pondage pool asks for it.

    job = pondage.Job(strategy, model=model, optimizer=optimizer)  # after the strategy is made
    for step in job.steps(600):                                    # instead of range(600)
        train_step(next(batches))

Outside of a pool the script runs unchanged; SIGTERM then still saves and leaves.
"""

from .job import Job
from .keras_callback import Callback
from .server import serve_forever
from .timed import timed

__all__ = ["Callback", "Job", "serve_forever", "timed"]
__version__ = "0.1.0"
