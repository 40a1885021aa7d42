"""The same for `model.fit`: a callback that saves, resumes and leaves.

It works for Keras 3 (one process: Mirrored, CentralStorage, no strategy) and for tf_keras, whose
`fit` also runs under MultiWorkerMirroredStrategy with several workers.
"""

import sys

from .job import Job


def Callback(model, directory=None, every=100, **options):  # a class's name: Keras users expect one
    """Make it after model.compile(); it restores the model at once.

        keeper = pondage.Callback(model, every=50)
        model.fit(data, epochs=12, initial_epoch=keeper.initial_epoch, callbacks=[keeper])

    The arguments are those of pondage.Job. A training that left in the middle of an epoch does the
    rest of that epoch first, so the number of steps stays what it would have been.
    """
    keras = _keras_of(model)
    kind = type("Callback", (_Keeper, keras.callbacks.Callback), {})
    return kind(model, directory, every, options)


class _Keeper:
    """What every flavour of the callback does; Keras's own class is mixed in by Callback()."""

    def __init__(self, model, directory, every, options):
        super().__init__()
        import tensorflow as tf

        strategy = model.distribute_strategy
        with strategy.scope():
            if hasattr(model.optimizer, "build"):
                model.optimizer.build(model.trainable_variables)
        self._epoch = tf.Variable(0, dtype=tf.int64, trainable=False)  # whole epochs done ...
        self._batch = tf.Variable(0, dtype=tf.int64, trainable=False)  # ... and batches after them
        self.job = Job(strategy, directory, every, model=model, optimizer=model.optimizer,
                       epoch=self._epoch, batch=self._batch, **options)
        self.initial_epoch = int(self._epoch.numpy())
        self._done_before = int(self._batch.numpy())
        self._cut_short = False

    def on_epoch_begin(self, epoch, logs=None):
        self._this_epoch = epoch
        self._step_before = self.job.step - self._done_before

    def on_train_batch_end(self, batch, logs=None):
        done = self._done_before + batch + 1  # of this epoch; `batch` jumps by steps_per_execution
        per_epoch = self.params.get("steps")
        whole = per_epoch is not None and done >= per_epoch
        self._epoch.assign(self._this_epoch + whole)
        self._batch.assign(0 if whole else done)
        self.job.advance(self._step_before + done)
        if whole and self._done_before:
            self._cut_short = self.model.stop_training = True

    def on_epoch_end(self, epoch, logs=None):
        self._done_before = 0
        self._epoch.assign(epoch + 1)
        self._batch.assign(0)
        if self._cut_short:  # it ended this epoch, not the training
            self._cut_short = self.model.stop_training = False

    def on_train_end(self, logs=None):
        self.job.finish()


def _keras_of(model):
    """The Keras that `model` was made with: keras or tf_keras, whichever is loaded for it."""
    for kind in type(model).__mro__:
        root = kind.__module__.partition(".")[0]
        if root in ("keras", "tf_keras"):
            return sys.modules[root]
    raise TypeError("pondage.Callback needs a Keras model, not %r" % type(model))
