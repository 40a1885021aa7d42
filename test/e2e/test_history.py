"""A server's own history, played again: the same decisions."""
import json
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import junit  # noqa: E402
from pool import PONDAGE, Pool, eventually  # noqa: E402

# name, GPUs a worker, workers, seconds, queue, user; then priority class, limit
JOBS = (("a0", 2, 1, 2.13, "a", "ann"), ("a1", 1, 1, 1.37, "a", "ben"), ("b0", 1, 1, 1.71, "b", "ann"), ("b1", 4, 1, 0.83, "b", "ben"),
        ("a2", 1, 2, 1.19, "a", "ann"), ("b2", 1, 1, 2.41, "b", "ann"), ("a3", 2, 2, 0.53, "a", "ben"), ("b3", 2, 1, 1.07, "b", "ben"),
        ("rush", 1, 1, 0.97, "a", "ben", "high"), ("cut", 1, 1, 60, "b", "ann", "", 2), ("a4", 1, 1, 0.59, "a", "ann"),
        ("b4", 1, 3, 1.43, "b", "ben"), ("a5", 3, 1, 0.67, "a", "ann"))


def tf_job(name, gpus, workers, seconds, queue, user, priority="", limit=None):
    container = {"name": "tensorflow", "image": "fake", "command": ["sleep", str(seconds)],
                 "resources": {"limits": {"nvidia.com/gpu": gpus}}}
    scheduling = {"queue": queue, **({"priorityClass": priority} if priority else {})}
    policy = {"schedulingPolicy": scheduling, **({"activeDeadlineSeconds": limit} if limit else {})}
    worker = {"replicas": workers, "template": {"spec": {"terminationGracePeriodSeconds": 5, "containers": [container]}}}
    return {"apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": {"name": name, "annotations": {"pondage.dev/user": user}},
            "spec": {"runPolicy": policy, "tfReplicaSpecs": {"Worker": worker}}}


class History(unittest.TestCase):
    def kubectl(self, pool, *words, given=None):
        done = subprocess.run([pool.kubectl_path, *words], env=pool.env, text=True, capture_output=True,
                              input=json.dumps(given) if given else None)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def finished(self, pool):
        jobs = json.loads(self.kubectl(pool, "get", "tfjobs", "-o", "json"))["items"]
        return all(any(c["type"] in ("Succeeded", "Failed") and c["status"] == "True" for c in job.get("status", {}).get("conditions", []))
                   for job in jobs)

    def test_what_was_decided_live_is_decided_again(self):
        with Pool(virtual_gpus="6") as pool:
            queues = [{"apiVersion": "pondage.dev/v1alpha1", "kind": "Queue", "metadata": {"name": name},
                       "spec": {"guarantee": {"nvidia.com/gpu": 3}}} for name in "ab"]
            high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 100}
            items = [*queues, high, *(tf_job(*job) for job in JOBS)]
            self.kubectl(pool, "apply", "-f", "-", given={"apiVersion": "v1", "kind": "List", "items": items})
            eventually("all jobs end", lambda: self.finished(pool), 120)
            history = pool.root / "history.json"
            history.write_text(self.kubectl(pool, "get", "nodes,queues.pondage.dev,priorityclasses,tfjobs", "-A", "-o", "json"))

            def compare(a, b, *more):
                done = subprocess.run([PONDAGE, "simulate", history, "--trace", "history", "--compare", a, b, "-o", "json", *more],
                                      env=pool.env, text=True, capture_output=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                return json.loads(done.stdout)

            for more in ((), ("--whole",)):
                again = compare("live", "pondage", *more)
                self.assertEqual(again["jobs"], len(JOBS))
                self.assertEqual(again["partings"], [])
            self.assertNotEqual(compare("live", "fifo")["partings"], [], "any other way to decide would do too")


if __name__ == "__main__":
    junit.main()
