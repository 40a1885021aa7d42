"""Starts the stand-in for TensorFlow (test/fake_tf) as the member of a gang that TF_CONFIG names.

    python fake_worker.py PROGRAM --save-on-term ...   worker 0 waits for worker 1, worker 1 connects to it
    python fake_worker.py --absent                     a member that never comes
"""
import json
import os
import signal
import sys

if sys.argv[1] == "--absent":
    while True:
        signal.pause()

config = json.loads(os.environ.get("TF_CONFIG", '{"cluster": {"worker": []}, "task": {"index": 0}}'))  # one is alone
workers, index = config["cluster"]["worker"], config["task"]["index"]
command = sys.argv[1:]
checkpoints = os.environ.get("PONDAGE_CHECKPOINT_DIR")
if checkpoints and index == 0:  # the chief's is the one that counts
    command += ["--checkpoint-dir", checkpoints]
if len(workers) == 2:
    command += ["--peer", workers[0]] if index else ["--listen", workers[0].rsplit(":", 1)[1]]
os.execv(command[0], command)
