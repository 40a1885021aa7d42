"""A real `pondage serve` for a test: its own data directory, a free port, real kubectl beside it.

PONDAGE_BIN names the folder with `pondage` and `pondage-shim`. Everything ends with the test: the server by its pid,
programs by the directories of their shims.
"""
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

BIN = Path(os.environ["PONDAGE_BIN"])
PONDAGE = str(BIN / "pondage")


def eventually(what, condition, seconds=30):
    """Waits until `condition()` gives something true, and gives it."""
    deadline = time.monotonic() + seconds
    while True:
        got = condition()
        if got:
            return got
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.05)


class Pool:
    def __init__(self, *flags, virtual_gpus="4", restart_delay_s=1):
        self.root = Path(tempfile.mkdtemp(prefix="pondage-e2e-"))
        self.data = self.root / "data"
        self.flags = list(flags)
        self.virtual_gpus = virtual_gpus
        self.restart_delay_s = restart_delay_s
        self.server = None
        self.env = dict(os.environ, KUBECONFIG=str(self.data / "kubeconfig"), HOME=str(self.root),
                        XDG_CONFIG_HOME=str(self.root / "config"), KUBECACHEDIR=str(self.root / "kubecache"))
        for name in ("PONDAGE_SERVER", "PONDAGE_TOKEN", "VIRTUAL_ENV"):
            self.env.pop(name, None)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()
        self.end_programs()
        shutil.rmtree(self.root, ignore_errors=True)

    def start(self):
        command = [PONDAGE, "serve", "--data", str(self.data), "--listen", "127.0.0.1:0",
                   "--restart-delay", f"{self.restart_delay_s}s", *self.flags]
        if self.virtual_gpus:
            command += ["--virtual-gpus", self.virtual_gpus]
        log = open(self.root / "serve.log", "ab")
        self.server = subprocess.Popen(command, stdout=log, stderr=log, env=self.env)
        eventually("the server is ready", self.ready)

    def ready(self):
        if self.server.poll() is not None:
            raise AssertionError("the server ended:\n" + (self.root / "serve.log").read_text()[-4000:])
        if not (self.data / "kubeconfig").exists():
            return False
        return self.kubectl("get", "--raw", "/readyz", check=False).returncode == 0

    def crash(self):
        self.server.send_signal(signal.SIGKILL)
        self.server.wait()

    def stop(self):
        if self.server and self.server.poll() is None:
            self.server.terminate()
            self.server.wait(timeout=30)

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

    def programs(self):
        """pids of everything below the shims."""
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
        return found

    def end_programs(self):
        for pid in self.programs() + self.shims():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        eventually("no program is left", lambda: not self.shims(), 10)

    def run(self, *command, check=True, input=None, timeout=120, env=None):
        done = subprocess.run(command, env={**self.env, **(env or {})}, input=input, text=True, timeout=timeout,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if check and done.returncode != 0:
            raise AssertionError(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout}\n{done.stderr}\n"
                                 + (self.root / "serve.log").read_text()[-3000:])
        return done

    def kubectl(self, *words, kubectl=None, **more):
        return self.run(kubectl or os.environ.get("KUBECTL", "kubectl"), *words, **more)

    def pondage(self, *words, **more):
        return self.run(PONDAGE, *words, **more)

    def apply(self, manifest):
        return self.kubectl("apply", "-f", "-", input=json.dumps(manifest))

    def job(self, name):
        return json.loads(self.kubectl("get", "tfjob", name, "-o", "json").stdout)

    def holds(self, name, condition):
        done = self.kubectl("get", "tfjob", name, "-o", "json", check=False)
        if done.returncode != 0:
            return False
        conditions = json.loads(done.stdout).get("status", {}).get("conditions", [])
        return any(c["type"] == condition and c["status"] == "True" for c in conditions)

    def await_condition(self, name, condition, seconds=60):
        try:
            eventually(f"{name} is {condition}", lambda: self.holds(name, condition), seconds)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{json.dumps(self.job(name).get('status'), indent=1)}") from None


def tfjob(name, command, workers=1, gpus=1, image="fake", roles=None, restart="Never", annotations=None, **run_policy):
    """A TFJob of one command. `roles`: {"PS": 1, "Worker": 2} instead of workers."""
    def template(role):
        container = {"name": "tensorflow", "image": image, "command": command}
        if gpus and role in ("Worker", "Chief", "Master"):
            container["resources"] = {"limits": {"nvidia.com/gpu": gpus}}
        return {"spec": {"containers": [container], "terminationGracePeriodSeconds": run_policy.get("grace", 5)}}

    policy = {key: value for key, value in run_policy.items() if key != "grace"}
    return {"apiVersion": "kubeflow.org/v1", "kind": "TFJob",
            "metadata": {"name": name, "annotations": annotations or {}},
            "spec": {"runPolicy": policy,
                     "tfReplicaSpecs": {role: {"replicas": count, "restartPolicy": restart, "template": template(role)}
                                        for role, count in (roles or {"Worker": workers}).items()}}}
