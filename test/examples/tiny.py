"""The smallest training of MultiWorkerMirroredStrategy: counts ones. For tests of leaving."""

import os
import time

import tensorflow as tf

import pondage

strategy = tf.distribute.MultiWorkerMirroredStrategy()
with strategy.scope():
    total = tf.Variable(0.0)

job = pondage.Job(strategy, every=int(os.environ.get("EVERY", 10)), limit_s=3, total=total)


@tf.function
def count():
    ones = strategy.run(lambda: tf.constant(1.0))
    total.assign_add(strategy.reduce("SUM", ones, axis=None))


if job.is_chief and "SLOW_SAVE_S" in os.environ:  # as a large model's on a slow disk
    save = job.save
    job.save = lambda: (time.sleep(float(os.environ["SLOW_SAVE_S"])), save())

print("START step=%d" % job.step, flush=True)
for step in job.steps(10**9):
    count()
