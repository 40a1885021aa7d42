"""kube-apiserver with etcd on loopback, everything below one directory."""

import http.client
import json
import os
import secrets
import socket
import ssl
import subprocess

from family import Family, Stuck, await_

VARIABLES = ("PONDAGE_KUBE_APISERVER", "PONDAGE_ETCD")


def why_not():
    """Why it cannot be measured here; empty: it can."""
    for variable in VARIABLES:
        program = os.environ.get(variable)
        if not program:
            return f"{variable} names no program"
        if not os.access(program, os.X_OK):
            return f"{variable}: {program} is no program"
    return ""


def _free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def _openssl(*argv):
    done = subprocess.run(["openssl", *argv], capture_output=True, text=True)
    if done.returncode != 0:
        raise Stuck("openssl: " + done.stderr.strip())


class Kube:
    """Both as their own documents start them for one machine; etcd syncs its log, as Pondage does."""

    def __init__(self, base, definition):
        self.base = base
        self.families = []
        self.authority = self._at("server.crt")
        self.token_file = self._at("token")
        try:
            self._start()
            self._define(definition)
        except (Stuck, OSError):
            self.close()
            raise

    def _at(self, name):
        return os.path.join(self.base, name)

    def _start(self):
        _openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                 "-days", "2", "-subj", "/CN=bench", "-addext", "subjectAltName=IP:127.0.0.1",
                 "-keyout", self._at("server.key"), "-out", self._at("server.crt"))
        _openssl("genrsa", "-out", self._at("sa.key"), "2048")
        _openssl("rsa", "-in", self._at("sa.key"), "-pubout", "-out", self._at("sa.pub"))
        self.token = secrets.token_hex(16)
        for name, text in (("token", self.token),
                           ("tokens.csv", f"{self.token},admin,admin,system:masters\n")):
            with open(os.open(self._at(name), os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
                file.write(text)
        client, peer, self.port = _free_port(), _free_port(), _free_port()
        self.address = f"127.0.0.1:{self.port}"
        self._run("PONDAGE_ETCD", "--name=bench", f"--data-dir={self._at('etcd')}", "--log-level=warn",
                  f"--listen-client-urls=http://127.0.0.1:{client}",
                  f"--advertise-client-urls=http://127.0.0.1:{client}",
                  f"--listen-peer-urls=http://127.0.0.1:{peer}",
                  f"--initial-advertise-peer-urls=http://127.0.0.1:{peer}",
                  f"--initial-cluster=bench=http://127.0.0.1:{peer}",
                  f"--quota-backend-bytes={4 << 30}", "--auto-compaction-retention=5m")
        self._run("PONDAGE_KUBE_APISERVER", f"--etcd-servers=http://127.0.0.1:{client}",
                  "--bind-address=127.0.0.1", f"--secure-port={self.port}",
                  "--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none",
                  f"--tls-cert-file={self._at('server.crt')}",
                  f"--tls-private-key-file={self._at('server.key')}",
                  f"--token-auth-file={self._at('tokens.csv')}", "--authorization-mode=RBAC",
                  "--service-account-issuer=https://kubernetes.default.svc",
                  f"--service-account-key-file={self._at('sa.pub')}",
                  f"--service-account-signing-key-file={self._at('sa.key')}",
                  "--service-cluster-ip-range=10.96.0.0/16")
        await_("kube-apiserver", 120, lambda: self._get("/readyz") == 200, pause=0.2)

    def _run(self, variable, *argv):
        program = os.environ[variable]
        self.families.append(Family([program, *argv], self._at(variable + ".log"), {**os.environ}))

    def _send(self, method, path, value=None):
        context = ssl.create_default_context(cafile=self.authority)
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=context, timeout=30)
        try:
            connection.request(method, path, None if value is None else json.dumps(value),
                               {"Authorization": "Bearer " + self.token,
                                "Content-Type": "application/json"})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def _get(self, path):
        for family in self.families:
            if not family.alive():
                raise Stuck("it ended: " + family.log()[-500:])
        try:
            return self._send("GET", path)[0]
        except OSError:
            return 0

    def _define(self, definition):
        """The same kind as Pondage serves, without a schema to check against: the least work."""
        meta = definition["metadata"]
        definition = {**definition, "metadata": {"name": meta["name"]}}
        definition.pop("status", None)
        for version in definition["spec"]["versions"]:
            version["schema"] = {"openAPIV3Schema": {"type": "object",
                                                     "x-kubernetes-preserve-unknown-fields": True}}
        status, body = self._send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                                  definition)
        if status != 201:
            raise Stuck(f"the CustomResourceDefinition: {status} {body[:300]}")
        path = "/apis/kubeflow.org/v1/namespaces/default/tfjobs"
        await_("TFJobs at kube-apiserver", 60, lambda: self._get(path) == 200, pause=0.2)

    def cpu(self):
        return sum(sum(family.cpu()) for family in self.families)

    def resident(self):
        return sum(family.resident()[0] for family in self.families)

    def close(self):
        for family in reversed(self.families):
            family.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
