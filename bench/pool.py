"""A Pondage server under measurement, and a client that keeps its connection."""

import http.client
import json
import os
import socket
import ssl
import sys
import threading
import time

from family import Family, Stuck

IMAGE = "bench/noop:1"
JOBS = "/apis/kubeflow.org/v1/namespaces/default/tfjobs"


class Pool:
    def __init__(self, programs, data, gpus=8):
        home = os.path.join(data, "..", "home")
        os.makedirs(home, exist_ok=True)
        self.data = data
        notices = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        notices.bind(data + ".notify")
        notices.settimeout(120)
        self.family = Family(
            [os.path.join(programs, "pondage"), "serve", "--data", data, "--listen", "127.0.0.1:0",
             "--virtual-gpus", str(gpus)],
            data + ".log", {**os.environ, "HOME": home, "XDG_CONFIG_HOME": home,
                            "NOTIFY_SOCKET": data + ".notify"})
        try:
            self._await_ready(notices)
        except Stuck:
            self.family.close()
            raise
        finally:
            notices.close()
            os.unlink(data + ".notify")
        self.address = _text(data, "address").removeprefix("https://")
        self.token = _text(data, "admin.token")

    def _await_ready(self, notices):
        """Told as a service manager is told, so that waiting takes no CPU from the server."""
        while True:
            try:
                notice = notices.recv(4096)
            except TimeoutError:
                raise Stuck("pondage serve is not ready: " + self.family.log()) from None
            if b"READY=1" in notice:
                self.ready_after = time.monotonic() - self.family.began
                return

    def client(self):
        return Client(self.address, self.token, os.path.join(self.data, "pki", "ca.crt"))

    def add_environment(self):
        """Jobs name an image; here it stands for this Python, which they do not use."""
        prefix = os.path.join(self.data, "..", "prefix")
        os.makedirs(os.path.join(prefix, "bin"), exist_ok=True)
        python = os.path.join(prefix, "bin", "python")
        if not os.path.exists(python):
            os.symlink(os.path.realpath(sys.executable), python)
        self.client().ok("POST", "/pondage/v1/environments",
                         {"image": IMAGE, "path": os.path.realpath(prefix)})

    def close(self):
        self.family.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def _text(directory, name):
    with open(os.path.join(directory, name)) as file:
        return file.read().strip()


class Client:
    def __init__(self, address, token, authority):
        context = ssl.create_default_context(cafile=authority)
        host, port = address.rsplit(":", 1)
        self.connection = http.client.HTTPSConnection(host, int(port), context=context, timeout=120)
        self.connection.connect()
        self.headers = {"Authorization": "Bearer " + token, "Content-Type": "application/json"}

    def send(self, method, path, body=None):
        self.connection.request(method, path, body, self.headers)
        return self.connection.getresponse()

    def ok(self, method, path, value=None):
        answer = self.send(method, path, None if value is None else json.dumps(value))
        body = answer.read()
        if answer.status not in (200, 201):
            raise Stuck(f"{method} {path}: {answer.status} {body[:300].decode(errors='replace')}")
        return json.loads(body)


def job(name, command):
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "TFJob",
        "metadata": {"name": name, "labels": {"team": "vision", "experiment": "baseline"}},
        "spec": {"tfReplicaSpecs": {"Worker": {"replicas": 1, "template": {"spec": {"containers": [{
            "name": "tensorflow", "image": IMAGE, "command": command,
            "resources": {"limits": {"nvidia.com/gpu": 1}}}]}}}}},
    }


class Finished(threading.Thread):
    """Counts the TFJobs that succeed from now on, by one watch."""

    def __init__(self, pool):
        super().__init__(daemon=True)
        client = pool.client()
        now = client.ok("GET", JOBS + "?limit=1")["metadata"]["resourceVersion"]
        self.stream = client.send("GET", f"{JOBS}?watch=true&resourceVersion={now}")
        self.names = set()
        self.failed = set()
        self.last = 0.0
        self.start()

    def run(self):
        try:
            while line := self.stream.readline():
                # Parsing a thousand jobs costs the client more than the pool: look at the end.
                if b'"type":"Succeeded"' in line or b'"type":"Failed"' in line:
                    self._take(json.loads(line)["object"])
        except (OSError, ValueError, http.client.HTTPException, AttributeError):
            pass  # the server was stopped

    def _take(self, seen):
        name = seen["metadata"]["name"]
        for condition in seen["status"]["conditions"]:
            if condition["status"] == "True" and condition["type"] in ("Succeeded", "Failed"):
                if name not in self.names:
                    self.last = time.monotonic()
                self.names.add(name)
                if condition["type"] == "Failed":
                    self.failed.add(name)
