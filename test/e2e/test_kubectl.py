"""The manifest that everybody has, to the letter, by real kubectl: 1.32 and the newest."""
import json
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from pool import Pool, eventually, kubectls, tfjob
import junit

MANIFEST = """\
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: tf-mnist-distributed}
spec:
  tfReplicaSpecs:
    Worker:
      replicas: 2
      template:
        spec:
          containers:
          - name: tensorflow
            image: tensorflow/tensorflow:2.12.0-gpu
            command: ["python", "/mnt/code/train.py"]
            resources: {limits: {nvidia.com/gpu: 1}}
"""
NAME = "tf-mnist-distributed"
PODS = [f"{NAME}-worker-0", f"{NAME}-worker-1"]

# Trains until it is told that this is enough.
TRAIN = """\
import json, os, sys, time
task = json.loads(os.environ["TF_CONFIG"])["task"]
print("I am", task["type"], task["index"], flush=True)
here = os.path.dirname(os.path.abspath(__file__))
step = 0
while not os.path.exists(os.path.join(here, "enough")):
    step += 1
    time.sleep(0.02)
print("trained" if step else "nothing to do", flush=True)
sys.exit(int(open(os.path.join(here, "enough")).read()))
"""


class Kubectl:
    """All of it once for each kubectl."""
    number = 0

    @classmethod
    def setUpClass(cls):
        cls.code = Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="pondage-e2e-code-")))
        (cls.code / "train.py").write_text(TRAIN)
        cls.pool = Pool("--mount", f"{cls.code}:/mnt/code").__enter__()
        cls.addClassCleanup(cls.pool.__exit__)
        cls.pool.kubectl_path = kubectls()[cls.number]
        cls.pool.add_environment("tensorflow/tensorflow:2.12.0-gpu", cls.pool.root / "python")
        cls.manifest = cls.pool.root / "tfjob.yaml"
        cls.manifest.write_text(MANIFEST)

    def setUp(self):
        self.enough = self.code / "enough"
        self.enough.unlink(missing_ok=True)
        self.addCleanup(self.kubectl, "delete", "-f", str(self.manifest), "--ignore-not-found")

    def kubectl(self, *words, **more):
        return self.pool.kubectl(*words, **more).stdout

    def in_background(self, *words):
        process = subprocess.Popen([self.pool.kubectl_path, *words], env=self.pool.env, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def finish(self, code=0):
        whole = self.code / "enough.part"
        whole.write_text(str(code))
        whole.rename(self.enough)

    def start(self):
        self.assertEqual(self.kubectl("apply", "-f", str(self.manifest)), f"tfjob.kubeflow.org/{NAME} created\n")
        self.kubectl("wait", "--for=condition=Running", f"tfjob/{NAME}", "--timeout=60s")  # one member is enough
        self.kubectl("wait", "--for=jsonpath={.status.phase}=Running", *(f"pod/{pod}" for pod in PODS), "--timeout=60s")

    def test_version(self):
        version = json.loads(self.kubectl("version", "-o", "json"))
        self.assertEqual(version["clientVersion"]["minor"], ["32", "35"][self.number])
        self.assertEqual(version["serverVersion"]["major"], "1")

    def test_apply_watch_wait_logs_and_delete(self):
        # The watch is there when it shows one that waits for ever.
        self.pool.apply(tfjob("waits", ["true"], image="fake", suspend=True))
        self.addCleanup(self.kubectl, "delete", "tfjob", "waits")
        watch = self.in_background("get", "tfjobs", "-w")
        self.assertEqual(watch.stdout.readline().split()[:3], ["NAME", "STATE", "AGE"])
        self.assertEqual(watch.stdout.readline().split()[0], "waits")
        self.start()
        self.assertIn("unchanged", self.kubectl("apply", "-f", str(self.manifest)))
        follow = self.in_background("logs", "-f", PODS[1])
        self.assertEqual(follow.stdout.readline(), "I am worker 1\n")  # while it runs
        self.assertIsNone(follow.poll())
        self.finish()
        self.assertEqual(self.kubectl("wait", "--for=condition=Succeeded", f"tfjob/{NAME}", "--timeout=60s"),
                         f"tfjob.kubeflow.org/{NAME} condition met\n")
        self.assertEqual(follow.communicate(timeout=60)[0], "trained\n")
        self.assertEqual(follow.returncode, 0)
        states = []
        while "Succeeded" not in states:
            line = watch.stdout.readline()
            self.assertTrue(line, states)
            name, state = line.split()[:2]
            if name == NAME:
                states.append(state)
        order = [state for i, state in enumerate(states) if i == 0 or states[i - 1] != state]
        self.assertEqual(order, ["Created", "Running", "Succeeded"])
        lines = self.kubectl("logs", "-l", f"training.kubeflow.org/job-name={NAME}", "--prefix", "--tail=1").splitlines()
        self.assertEqual(sorted(lines), [f"[pod/{pod}/tensorflow] trained" for pod in PODS])  # kubectl asks for all at once
        self.assertRegex(self.kubectl("logs", PODS[0], "--timestamps", "--tail=1"), r"^\d{4}-\d\d-\d\dT\S+Z trained\n$")
        self.assertEqual(self.kubectl("delete", "-f", str(self.manifest)),
                         f'tfjob.kubeflow.org "{NAME}" deleted\n' if self.number == 0
                         else f'tfjob.kubeflow.org "{NAME}" deleted from default namespace\n')
        self.assertEqual(self.kubectl("get", "pods,services", "-o", "name"), "")
        self.assertIn("NotFound", self.pool.kubectl("get", "tfjob", NAME, check=False).stderr)

    def test_get_shows_what_there_is(self):
        self.start()
        rows = [line.split() for line in self.kubectl("get", "pods").splitlines()]
        self.assertEqual([row[:4] for row in rows],
                         [["NAME", "READY", "STATUS", "RESTARTS"]] + [[pod, "1/1", "Running", "0"] for pod in PODS])
        self.assertEqual(self.kubectl("get", "services", "-o", "name").split(), [f"service/{pod}" for pod in PODS])
        node = self.kubectl("get", "nodes", "-o", "jsonpath={.items[0].status.capacity['nvidia\\.com/gpu']}")
        self.assertEqual(node, "4")
        self.assertIn(NAME, self.kubectl("get", "all"))
        wide = self.kubectl("get", "pods", "-o", "wide").splitlines()[1].split()
        self.assertIn("127.0.0.1", wide)
        stored = self.pool.job(NAME)
        self.assertEqual(stored["spec"]["tfReplicaSpecs"]["Worker"]["replicas"], 2)
        self.assertEqual(stored["status"]["replicaStatuses"]["Worker"]["active"], 2)
        yaml = self.kubectl("get", "tfjob", NAME, "-o", "yaml")
        self.assertIn("kind: TFJob", yaml)
        self.assertEqual(self.kubectl("get", "tfj", NAME, "-o", "name", check=False), "")  # no short name upstream either

    def test_describe_and_events(self):
        self.start()
        self.finish()
        self.kubectl("wait", "--for=condition=Succeeded", f"tfjob/{NAME}", "--timeout=60s")
        described = self.kubectl("describe", "tfjob", NAME)
        for text in (f"Name:         {NAME}", "Kind:         TFJob", "Tf Replica Specs", "TFJobSucceeded", "Events:",
                     f"Created pod: {PODS[0]}", f"Created service: {PODS[1]}"):
            self.assertIn(text, described)
        self.assertRegex(described, r"Normal +SuccessfulCreatePod +\S+( ago)? +tfjob-controller")
        pod = self.kubectl("describe", "pod", PODS[0])
        self.assertRegex(pod, r"Exit Code: +0")
        self.assertRegex(pod, r"Controlled By: +TFJob/" + NAME)
        self.assertRegex(pod, r"nvidia.com/gpu: +1")
        uid = self.pool.job(NAME)["metadata"]["uid"]  # events of namesakes before it are kept as well
        events = self.kubectl("get", "events", "--sort-by=.metadata.creationTimestamp",
                              f"--field-selector=involvedObject.uid={uid}")
        reasons = re.findall(r"Normal +(\S+)", events)
        self.assertEqual(reasons.count("SuccessfulCreatePod"), 2)
        self.assertEqual(reasons.count("SuccessfulCreateService"), 2)
        self.assertEqual(reasons.count("ExitedWithCode"), 2)
        self.assertEqual(reasons.count("TFJobSucceeded"), 1)
        newer = self.kubectl("events", "--for", f"tfjob/{NAME}")
        self.assertIn("TFJobSucceeded", newer)
        self.assertIn("nvidia.com/gpu", self.kubectl("describe", "nodes"))

    def test_without_a_restart_policy_a_failure_is_final(self):
        self.start()
        self.finish(code=3)
        self.kubectl("wait", "--for=condition=Failed", f"tfjob/{NAME}", "--timeout=60s")
        rows = [line.split() for line in self.kubectl("get", "tfjobs").splitlines()]
        self.assertEqual(rows[1][:2], [NAME, "Failed"])
        self.assertEqual(self.pool.status(NAME)["cause"]["code"], 3)

    def test_a_wait_that_is_in_vain_says_so(self):
        self.start()
        done = self.pool.kubectl("wait", "--for=condition=Succeeded", f"tfjob/{NAME}", "--timeout=1s", check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("timed out waiting for the condition", done.stderr)
        self.kubectl("wait", "--for=jsonpath={.status.pondage.stage}=bound", f"tfjob/{NAME}", "--timeout=30s")
        deleted = self.in_background("wait", "--for=delete", f"tfjob/{NAME}", "--timeout=60s")
        self.kubectl("delete", "tfjob", NAME)
        self.assertEqual(deleted.wait(timeout=60), 0, deleted.stdout.read())

    def test_a_wrong_manifest_is_refused_in_words(self):
        wrong = MANIFEST.replace("replicas: 2", "replicas: -1").replace("name: tensorflow\n", "name: other\n")
        done = self.pool.kubectl("apply", "-f", "-", input=wrong, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("spec.tfReplicaSpecs", done.stderr)
        typo = self.pool.kubectl("apply", "-f", "-", input=MANIFEST.replace("replicas: 2", "replica: 2"), check=False)
        self.assertIn('unknown field "spec.tfReplicaSpecs.Worker.replica"', typo.stderr)

    def test_a_list_is_applied_item_by_item(self):
        items = "".join(f"- {{apiVersion: v1, kind: ConfigMap, metadata: {{name: {name}}}}}\n" for name in "ab")
        made = self.pool.kubectl("apply", "-f", "-", input=f"apiVersion: v1\nkind: List\nitems:\n{items}").stdout
        self.assertEqual(made, "configmap/a created\nconfigmap/b created\n")
        self.kubectl("delete", "configmap", "a", "b")

    def test_dry_run_and_diff_change_nothing(self):
        self.kubectl("apply", "-f", str(self.manifest), "--dry-run=server")
        self.assertEqual(self.kubectl("get", "tfjobs", "-o", "name"), "")
        diff = self.pool.kubectl("diff", "-f", str(self.manifest), check=False)
        self.assertEqual(diff.returncode, 1, diff.stderr)
        self.assertIn("+kind: TFJob", diff.stdout)

    def test_suspended_and_resumed_by_patch_and_edited_by_label(self):
        self.start()
        self.pool.suspend(NAME)
        self.kubectl("wait", "--for=condition=Suspended", f"tfjob/{NAME}", "--timeout=60s")
        eventually("no pods", lambda: self.kubectl("get", "pods", "-o", "name") == "")
        self.pool.suspend(NAME, False)
        self.kubectl("wait", "--for=condition=Running", f"tfjob/{NAME}", "--timeout=60s")
        self.kubectl("label", "tfjob", NAME, "team=nlp")
        self.kubectl("annotate", "tfjob", NAME, "note=mine")
        self.assertEqual(self.kubectl("get", "tfjobs", "-l", "team=nlp", "-o", "name"), f"tfjob.kubeflow.org/{NAME}\n")


class Kubectl32(Kubectl, unittest.TestCase):
    number = 0


class KubectlNewest(Kubectl, unittest.TestCase):
    number = 1


if __name__ == "__main__":
    junit.main()
