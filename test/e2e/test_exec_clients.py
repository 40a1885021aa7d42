"""Programs inside running replicas: both kubectls and the Python client, over the real server and shim."""
import hashlib
import json
import os
import pty
import sys
import termios
import struct
import fcntl
import subprocess
import unittest
import warnings

from pool import REPOSITORY, Pool, eventually, kubectls, tfjob
import junit
import raw

try:
    import kubernetes
except ImportError:  # once more, where the clients are
    made = subprocess.run([str(REPOSITORY / "test/e2e/python-clients")], check=True, text=True, stdout=subprocess.PIPE)
    python = made.stdout.strip()
    os.execv(python, [python, *sys.argv])

warnings.filterwarnings("ignore")
from kubernetes import client, config  # noqa: E402
from kubernetes.stream import stream  # noqa: E402

POD = "busy-worker-0"


class Exec(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pool = Pool().__enter__()
        cls.addClassCleanup(cls.pool.__exit__)
        cls.pool.apply(tfjob("busy", ["sleep", "600"]))
        cls.pool.await_that("it runs", "busy", lambda: cls.pool.pod(POD).get("status", {}).get("phase") == "Running")
        config.load_kube_config(str(cls.pool.data / "kubeconfig"))
        cls.core = client.CoreV1Api()

    def each_kubectl(self):
        for path in kubectls():
            with self.subTest(kubectl=path):
                yield path

    def test_output_and_exit_code(self):
        for kubectl in self.each_kubectl():
            done = self.pool.run(kubectl, "exec", POD, "--", "sh", "-c", "echo hi; echo bad >&2; exit 3", check=False)
            self.assertEqual((done.returncode, done.stdout), (3, "hi\n"))
            self.assertIn("bad", done.stderr)

    def test_it_is_in_the_replica(self):
        done = self.pool.kubectl("exec", POD, "--", "sh", "-c", "echo $PONDAGE_JOB")
        self.assertEqual(done.stdout, "busy\n")

    def test_a_megabyte_through_cat(self):
        data = os.urandom(1 << 20)
        for kubectl in self.each_kubectl():
            done = subprocess.run([kubectl, "exec", "-i", POD, "--", "cat"], env=self.pool.env, input=data,
                                  stdout=subprocess.PIPE, timeout=60, check=True)
            self.assertEqual(hashlib.sha256(done.stdout).hexdigest(), hashlib.sha256(data).hexdigest())

    def test_a_terminal(self):
        for kubectl in self.each_kubectl():
            master, slave = pty.openpty()
            fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 101, 0, 0))
            look = 'while [ "$(stty size)" != "33 101" ]; do sleep 0.05; done; tty; read word; echo got $word; exit 4'
            process = subprocess.Popen([kubectl, "exec", "-it", POD, "--", "sh", "-c", look], env=self.pool.env,
                                       stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
            os.close(slave)
            seen = b""
            while b"/dev/pts/" not in seen:
                seen += os.read(master, 4096)
            os.write(master, b"word\r")
            while b"got word" not in seen:
                seen += os.read(master, 4096)
            self.assertEqual(process.wait(60), 4)
            os.close(master)

    def test_the_python_client(self):
        def run(*command, **more):
            return stream(self.core.connect_get_namespaced_pod_exec, POD, "default", command=list(command), stdout=True,
                          stderr=True, tty=False, **more)
        self.assertEqual(run("echo", "from python", stdin=False), "from python\n")
        talk = run("sh", "-c", "read line; echo got $line; exit 5", stdin=True, _preload_content=False)
        talk.write_stdin("a line\n")
        talk.run_forever(timeout=60)
        self.assertEqual(talk.read_stdout(), "got a line\n")
        self.assertEqual(talk.returncode, 5)
        words = b"x" * (1 << 20)
        talk = run("sh", "-c", f"head -c {len(words)} | wc -c", stdin=True, _preload_content=False)
        talk.write_stdin(words)
        talk.run_forever(timeout=60)
        self.assertEqual(talk.read_stdout().strip(), str(len(words)))

    def test_a_client_that_goes_takes_its_program_with_it(self):
        mark = "54321"
        process = subprocess.Popen([self.pool.kubectl_path, "exec", POD, "--", "sleep", mark], env=self.pool.env)
        find = lambda: [pid for pid in self.pool.programs() if _words(pid) == ["sleep", mark]]  # noqa: E731
        eventually("it runs", find)
        process.kill()
        process.wait()
        eventually("it is gone", lambda: not find())
        self.assertEqual(self.pool.pod(POD)["status"]["phase"], "Running")

    def test_who_may(self):
        status, made = raw.ask(self.pool, "POST", "/pondage/v1/tokens", {"name": "guest", "namespaces": ["team"]})
        self.assertEqual(status, 201, made)
        path = f"/api/v1/namespaces/default/pods/{POD}/exec?command=true&stdout=1"
        status, answer = raw.ask(self.pool, "GET", path, token=made["token"])
        self.assertEqual(status, 403, answer)
        self.assertIn("pods/exec", raw.said(answer))

    def test_what_cannot_be(self):
        for words, why in ((["nobody", "--", "true"], "not found"), ([POD, "-c", "x", "--", "true"], "x"),
                           ([POD, "--", "no-such-program"], "no-such-program")):
            done = self.pool.kubectl("exec", *words, check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(why, done.stderr + done.stdout)


class Objects(unittest.TestCase):
    """What kubectl users bring with them: a claim, a TPU."""

    @classmethod
    def setUpClass(cls):
        cls.pool = Pool().__enter__()
        cls.addClassCleanup(cls.pool.__exit__)

    @staticmethod
    def claim(name):
        return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name},
                "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}

    @staticmethod
    def on_claim(name, claim, command):
        job = tfjob(name, ["sh", "-c", command], gpus=1)
        spec = job["spec"]["tfReplicaSpecs"]["Worker"]["template"]["spec"]
        spec["volumes"] = [{"name": "r", "persistentVolumeClaim": {"claimName": claim}}]
        spec["containers"][0]["volumeMounts"] = [{"name": "r", "mountPath": "/mnt/results"}]
        return job

    def test_a_job_waits_for_its_claim_and_says_so(self):
        why = ("waits for PersistentVolumeClaim later in namespace default, which does not exist; "
               "make it with kubectl apply")
        self.pool.apply(self.on_claim("early", "later", "echo done"))
        self.assertEqual(self.pool.status("early")["reason"]["message"], why)
        self.assertEqual(self.pool.kubectl("get", "pods", "-l", "training.kubeflow.org/job-name=early").stdout, "")
        for words in (("explain", "early"), ("show", "early"), ("ps",)):
            self.assertIn("PersistentVolumeClaim later", self.pool.pondage(*words).stdout)
        self.assertIn(why, self.pool.kubectl("get", "events").stdout)
        self.pool.crash()
        self.pool.start()
        self.assertEqual(self.pool.status("early")["reason"]["message"], why)
        self.pool.apply(self.claim("later"))
        self.pool.await_condition("early", "Succeeded")

    def test_data_lives_as_long_as_its_claim_and_no_longer(self):
        both = [self.on_claim("first", "shared", "echo kept > /mnt/results/file; while [ ! -e /mnt/results/end ]; do sleep 0.1; done"),
                self.claim("shared")]  # the job first, as the examples have it
        self.pool.kubectl("apply", "-f", "-", input="".join(f"---\n{json.dumps(one)}\n" for one in both))
        self.pool.await_condition("first", "Running")
        uid = self.pool.kubectl("get", "pvc", "shared", "-o", "jsonpath={.metadata.uid}").stdout
        kept = self.pool.data / "persistent" / uid / "file"
        eventually("its file", kept.exists)
        self.pool.kubectl("delete", "pvc", "shared", "--wait=false")
        self.pool.crash()
        self.pool.start()
        self.assertEqual(kept.read_text(), "kept\n")
        self.assertIn("deletionTimestamp", self.pool.kubectl("get", "pvc", "shared", "-o", "json").stdout)
        (kept.parent / "end").touch()
        self.pool.await_condition("first", "Succeeded")
        self.assertTrue(kept.exists())  # its Pod is still there to be looked at
        self.pool.kubectl("delete", "tfjob", "first")
        eventually("the claim is gone", lambda: self.pool.kubectl("get", "pvc", "shared", check=False).returncode != 0)
        self.assertFalse(kept.parent.exists())
        self.pool.apply(self.claim("shared"))
        self.pool.apply(self.on_claim("second", "shared", "ls -A /mnt/results; echo end"))
        self.pool.await_condition("second", "Succeeded")
        self.assertEqual(self.pool.logs("second-worker-0"), "end\n")

    def test_a_claim_is_there_for_the_next_job(self):
        self.pool.apply(self.claim("results"))
        self.assertIn("Bound", self.pool.kubectl("get", "pvc", "results").stdout)
        for name, command in (("writes", "echo kept > /mnt/results/file"), ("reads", "cat /mnt/results/file")):
            job = tfjob(name, ["sh", "-c", command], gpus=0)
            spec = job["spec"]["tfReplicaSpecs"]["Worker"]["template"]["spec"]
            spec["volumes"] = [{"name": "r", "persistentVolumeClaim": {"claimName": "results"}}]
            spec["containers"][0]["volumeMounts"] = [{"name": "r", "mountPath": "/mnt/results"}]
            self.pool.apply(job)
            self.pool.await_condition(name, "Succeeded")
        self.assertEqual(self.pool.logs("reads-worker-0"), "kept\n")

    def test_the_tpu_example_gets_its_environment(self):
        manifest = (REPOSITORY / "examples/tpu/tfjob.yaml").read_text()
        refused = self.pool.kubectl("apply", "-f", "-", input=manifest, check=False)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("tensorflow/tensorflow:2.21.0", refused.stderr)  # no environment serves it yet
        self.pool.add_environment("tensorflow/tensorflow:2.21.0", self.pool.root / "python")
        manifest = manifest.replace("/srv/pondage/examples", str(REPOSITORY / "examples")) \
            .replace("[python, /examples/tpu/train.py]", "[python, -c, 'import os; print(os.environ[\"KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS\"])']")
        self.pool.kubectl("apply", "-f", "-", input=manifest)
        self.pool.await_condition("tpu", "Succeeded")
        self.assertEqual(self.pool.logs("tpu-worker-0"), "grpc://10.0.0.2:8470\n")

    def test_a_tpu_asked_for_as_a_resource_is_refused_with_its_reason(self):
        job = tfjob("wants-tpu", ["true"], gpus=0)
        container = job["spec"]["tfReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][0]
        container["resources"] = {"limits": {"google.com/tpu": 8}}
        done = self.pool.kubectl("apply", "-f", "-", input=json.dumps(job), check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn('Unsupported value: "google.com/tpu": supported values:', done.stderr)


def _words(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().decode().split("\0")[:-1]
    except OSError:
        return []


if __name__ == "__main__":
    junit.main()
