"""Where a training's checkpoints lie. The chief's are the only ones that count.

In a MultiWorkerMirrored training every member must save, since saving may need all of them; the
others write to a hidden folder beside, .<role>-<index>, and remove it at once.
"""

import os


class Checkpoints:
    """Saves and restores `tracked` (name -> trackable object) with its step."""

    def __init__(self, directory, tracked, chief, member, keep):
        import tensorflow as tf

        for name, value in tracked.items():
            if getattr(value, "built", True) is False:
                raise ValueError(
                    "%s has no variables yet, so nothing of it would be restored: build it first "
                    "(optimizer.build(model.trainable_variables) inside strategy.scope())" % name)
        self._files = tf.io.gfile
        self._step = tf.Variable(0, dtype=tf.int64, trainable=False)
        self._checkpoint = tf.train.Checkpoint(step=self._step, **tracked)
        self._directory = directory
        self._scratch = None if chief else os.path.join(directory, "." + member)
        self._manager = chief and tf.train.CheckpointManager(self._checkpoint, directory, keep)
        self._latest = tf.train.latest_checkpoint

    def restore(self):
        """Takes up the newest checkpoint; returns its step, 0 if there is none."""
        newest = self._latest(self._directory)
        if newest:
            try:
                self._checkpoint.restore(newest).assert_existing_objects_matched()
            except AssertionError as error:
                raise ValueError("%s is a checkpoint of another model; remove it or choose another "
                                 "directory: %s" % (newest, error)) from None
        return int(self._step.numpy())

    def save(self, step):
        """Saves; returns the path if it is the copy that counts, else None."""
        self._step.assign(step)
        if self._manager:
            return self._manager.save(checkpoint_number=step)
        # save(), as the manager does, and not write(): inside a strategy's scope the counter of
        # saves is a variable of all members, and they would wait for this one to make it.
        self._checkpoint.save(os.path.join(self._scratch, "ckpt"))
        self._files.rmtree(self._scratch)
        return None
