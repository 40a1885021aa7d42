"""The workers of a training whose accuracy is watched by an evaluator (evaluate.py)."""

import argparse

import digits  # first: it chooses the Keras
import tensorflow as tf

import pondage

parser = argparse.ArgumentParser()
parser.add_argument("--dir", default="output", help="for the checkpoints; the evaluator reads them")
arguments = parser.parse_args()

strategy = tf.distribute.MultiWorkerMirroredStrategy()  # it finds its peers by TF_CONFIG
with strategy.scope():
    model = digits.make_model()

# Keeps more checkpoints than usual: the evaluator must not be overtaken by their removal.
keeper = pondage.Callback(model, arguments.dir, every=digits.STEPS_PER_EPOCH, keep=5)


# Each digit is moved a little every time it is shown: the model learns its shape, not its place.
def move(image, label):
    return tf.image.random_crop(tf.pad(image, [[2, 2], [2, 2], [0, 0]]), image.shape), label


(images, labels), _ = digits.load()
dataset = tf.data.Dataset.from_tensor_slices((images, labels))
dataset = dataset.cache().shuffle(len(images), seed=keeper.job.step).repeat().map(move)
dataset = dataset.batch(digits.BATCH).prefetch(2)

print("START step=%d replicas=%d" % (keeper.job.step, strategy.num_replicas_in_sync), flush=True)
model.fit(
    dataset,
    epochs=digits.EPOCHS,
    steps_per_epoch=digits.STEPS_PER_EPOCH,
    initial_epoch=keeper.initial_epoch,
    callbacks=[keeper],
    verbose=2 if keeper.job.is_chief else 0)
print("DONE step=%d" % keeper.job.step, flush=True)

# All end together: to those that stay, one that leaves earlier looks like a crash.
keeper.job.end()
