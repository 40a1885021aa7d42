"""A real `pondage serve` for a test: its own data directory, a free port, real kubectl beside it.

PONDAGE_BIN names the folder with `pondage` and `pondage-shim`; without it, what the release build has made. Everything
ends with the test: the server by its pid, programs by the directories of their shims.
"""
import json
import os
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import venv
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "test"))
BIN = Path(os.environ.get("PONDAGE_BIN", REPOSITORY / "build/release/bin")).resolve()
PONDAGE = str(BIN / "pondage")
FAKE_TF = str(BIN / "fake_tf")
FAKE_WORKER = str(REPOSITORY / "test/e2e/fake_worker.py")


def eventually(what, condition, seconds=60):
    """Waits until `condition()` gives something true, and gives it."""
    deadline = time.monotonic() + seconds
    pause = 0.02
    while True:
        got = condition()
        if got:
            return got
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(pause)
        pause = min(0.5, pause * 1.2)  # what trains for a minute is not to share its cores with who watches


def kubectls():
    """Two kubectls, 1.32 and the newest."""
    script = str(REPOSITORY / "test/e2e/kubectls")
    return subprocess.run([script], check=True, stdout=subprocess.PIPE, text=True).stdout.split()


def default_kubectl():
    return os.environ.get("KUBECTL") or shutil.which("kubectl") or kubectls()[0]


class Pool:
    """with Pool() as pool: ...   An environment `fake`, a plain Python (`python`: of that prefix), is known to it."""

    def __init__(self, *flags, virtual_gpus="4", restart_delay="1s", python=None,
                 listen="127.0.0.1:0"):
        self.root = Path(tempfile.mkdtemp(prefix="pondage-e2e-"))
        self.data = self.root / "data"
        self.flags = [*flags, "--restart-delay", restart_delay, "--virtual-gpus", virtual_gpus]
        self.server = None
        self.python = python
        self.listen = listen
        self.kubectl_path = default_kubectl()
        self.env = dict(os.environ, KUBECONFIG=str(self.data / "kubeconfig"), HOME=str(self.root),
                        XDG_CONFIG_HOME=str(self.root / "config"), KUBECACHEDIR=str(self.root / "kubecache"))
        for name in ("PONDAGE_SERVER", "PONDAGE_TOKEN", "VIRTUAL_ENV"):
            self.env.pop(name, None)

    def __enter__(self):
        try:
            self.start()
            if not self.python:
                self.python = self.root / "python"
                venv.create(self.python, symlinks=True)
            self.add_environment("fake", self.python)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.stop()
        self.end_programs()
        shutil.rmtree(self.root, ignore_errors=True)

    # ---- the server

    def start(self):
        command = [PONDAGE, "serve", "--data", str(self.data), "--listen", self.listen, *self.flags]
        with open(self.root / "serve.log", "ab") as log:
            self.server = subprocess.Popen(command, stdout=log, stderr=log, env=self.env)
        eventually("the server is ready", self.ready)

    def ready(self):
        if self.server.poll() is not None:
            raise AssertionError("the server ended:\n" + self.log())
        return (self.data / "address").exists() and self.ask("/readyz") is not None

    def log(self):
        return (self.root / "serve.log").read_text(errors="replace")[-4000:]

    def crash(self):
        self.server.send_signal(signal.SIGKILL)
        self.server.wait()

    def stop(self):
        if self.server and self.server.poll() is None:
            self.server.terminate()
            try:
                self.server.wait(timeout=30)
            except subprocess.TimeoutExpired:
                self.crash()
                raise AssertionError("the server does not stop:\n" + self.log()) from None

    # ---- what runs

    def shims(self):
        """pids of the shims of this pool, by what their working directory is."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                where = os.readlink(process / "cwd")
                name = (process / "comm").read_text().strip()
            except OSError:
                continue
            if name.startswith("pondage-shim") and where.startswith(str(self.data)):
                found.append(int(process.name))
        return found

    def programs(self, job=None, replica=None):
        """pids of everything below the shims, or what of it is of that job and replica."""
        children = {}
        for process in Path("/proc").glob("[0-9]*"):
            try:
                parent = int((process / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except (OSError, IndexError):
                continue
            children.setdefault(parent, []).append(int(process.name))
        found, look = [], self.shims()
        while look:
            below = children.get(look.pop(), [])
            found += below
            look += below
        if job:
            found = [pid for pid in found if _has(pid, f"PONDAGE_JOB={job}")]
        if replica:
            found = [pid for pid in found if _has(pid, f"PONDAGE_REPLICA={replica}")]
        return sorted(found)

    def end_programs(self):
        for pid in self.programs() + self.shims():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        eventually("no program is left", lambda: not self.shims(), 10)

    # ---- clients

    def run(self, *command, check=True, input=None, timeout=120, env=None):
        done = subprocess.run(command, env={**self.env, **(env or {})}, input=input, text=True, timeout=timeout,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if check and done.returncode != 0:
            raise AssertionError(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout}\n{done.stderr}\n{self.log()}")
        return done

    def ask(self, path):
        """The body of a GET; None where there is nothing, or nobody. Cheaper than kubectl, for those who wait."""
        context = ssl.create_default_context(cafile=str(self.data / "pki/ca.crt"))
        token = (self.data / "admin.token").read_text().strip()
        request = urllib.request.Request((self.data / "address").read_text().strip() + path,
                                         headers={"Authorization": "Bearer " + token})
        try:
            with urllib.request.urlopen(request, context=context, timeout=30) as answer:
                return answer.read().decode(errors="replace")
        except (urllib.error.URLError, ConnectionError):
            return None

    def kubectl(self, *words, **more):
        return self.run(self.kubectl_path, *words, **more)

    def pondage(self, *words, **more):
        return self.run(PONDAGE, *words, **more)

    def add_environment(self, image, prefix):
        self.pondage("env", "add", image, str(prefix))

    def apply(self, manifest):
        return self.kubectl("apply", "-f", "-", input=json.dumps(manifest))

    def pod(self, name):
        return json.loads(self.ask(f"/api/v1/namespaces/default/pods/{name}") or "{}")

    def job(self, name):
        """As it is stored; {} when it is not."""
        return json.loads(self.ask(f"/apis/kubeflow.org/v1/namespaces/default/tfjobs/{name}") or "{}")

    def status(self, name):
        return self.job(name).get("status", {}).get("pondage", {})

    def pods(self, job):
        listed = self.ask(f"/api/v1/namespaces/default/pods?labelSelector=training.kubeflow.org/job-name={job}")
        return {pod["metadata"]["name"]: pod for pod in json.loads(listed or '{"items": []}')["items"]}

    def logs(self, pod, *flags):
        return self.kubectl("logs", pod, *flags).stdout

    def suspend(self, name, suspended=True):
        patch = {"spec": {"runPolicy": {"suspend": suspended}}}
        self.kubectl("patch", "tfjob", name, "--type=merge", "-p", json.dumps(patch))

    def holds(self, name, condition):
        conditions = self.job(name).get("status", {}).get("conditions", [])
        return any(c["type"] == condition and c["status"] == "True" for c in conditions)

    def await_condition(self, name, condition, seconds=60):
        self.await_that(f"{name} is {condition}", name, lambda: self.holds(name, condition), seconds)

    def await_log(self, pod, text, seconds=60):
        """Waits until the log of the pod holds the text, and gives the log."""
        def log():
            found = self.ask(f"/api/v1/namespaces/default/pods/{pod}/log") or ""
            return text in found and found
        return self.await_that(f"{pod} says {text!r}", pod.rsplit("-", 2)[0], log, seconds)

    def await_that(self, what, job, condition, seconds=60):
        """eventually(), and on failure what the job looks like."""
        try:
            return eventually(what, condition, seconds)
        except AssertionError as error:
            shown = json.dumps(self.job(job).get("status"), indent=1)
            logs = "".join(f"\n-- {pod}\n{self.kubectl('logs', pod, check=False).stdout[-2000:]}" for pod in self.pods(job))
            raise AssertionError(f"{error}\n{shown}{logs}\n{self.log()}") from None


def _has(pid, variable):
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return variable.encode() in file.read().split(b"\0")
    except OSError:
        return False


def tfjob(name, command, workers=1, gpus=1, image="fake", roles=None, restart=None, annotations=None, grace=5,
          **run_policy):
    """A TFJob of one command. `roles`: {"PS": 1, "Worker": 2} instead of workers; `command` may be a command of each."""
    def replica(role, count):
        container = {"name": "tensorflow", "image": image,
                     "command": command[role] if isinstance(command, dict) else command}
        if gpus and role in ("Worker", "Chief", "Master"):
            container["resources"] = {"limits": {"nvidia.com/gpu": gpus}}
        pod = {"containers": [container], "terminationGracePeriodSeconds": grace}
        return {"replicas": count, "template": {"spec": pod}, **({"restartPolicy": restart} if restart else {})}

    return {"apiVersion": "kubeflow.org/v1", "kind": "TFJob",
            "metadata": {"name": name, "annotations": annotations or {}},
            "spec": {"runPolicy": run_policy,
                     "tfReplicaSpecs": {role: replica(role, count)
                                        for role, count in (roles or {"Worker": workers}).items()}}}
