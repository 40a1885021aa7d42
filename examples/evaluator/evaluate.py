"""Looks at each new checkpoint of a training, on digits that it has never seen.

It is no part of the training: it makes no strategy, and it may start late, fail and start again. It
ends when it has seen the checkpoint of the last step.
"""

import argparse

import digits  # first: it chooses the Keras
import tensorflow as tf

LAST_STEP = digits.EPOCHS * digits.STEPS_PER_EPOCH

parser = argparse.ArgumentParser()
parser.add_argument("--dir", default="output", help="where the training puts its checkpoints")
arguments = parser.parse_args()

model = digits.make_model()
step = tf.Variable(0, dtype=tf.int64)
checkpoint = tf.train.Checkpoint(model=model, step=step)
_, (images, labels) = digits.load()
tf.summary.create_file_writer(arguments.dir + "/tensorboard/evaluator").set_as_default()

print("START", flush=True)
for path in tf.train.checkpoints_iterator(arguments.dir + "/ckpt"):
    checkpoint.restore(path).expect_partial()  # the optimizer's variables are not needed here
    loss, accuracy = model.evaluate(images, labels, verbose=0)
    tf.summary.scalar("accuracy", accuracy, step=step)
    tf.summary.flush()
    print("EVALUATED step=%d accuracy=%.4f" % (step, accuracy), flush=True)
    if step >= LAST_STEP:
        break

model.export(arguments.dir + "/model")
print("DONE step=%d accuracy=%.4f" % (step, accuracy), flush=True)
