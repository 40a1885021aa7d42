"""What strangers send: bad manifests, bombs, paths, tokens of too few rights. A clear answer each time, and no harm."""
import base64
import http.client
import json
import os
import socket
import threading
import unittest

import raw
from pool import Pool, eventually, tfjob


def changed(path, value, **more):
    """A good TFJob with one thing changed. `path` starts at the Worker's pod spec, or at the top with '/'."""
    job = tfjob("bad", ["true"], **more)
    where = job if path.startswith("/") else job["spec"]["tfReplicaSpecs"]["Worker"]["template"]["spec"]
    steps = path.strip("/").split("/")
    for step in steps[:-1]:
        where = where[int(step)] if isinstance(where, list) else where.setdefault(step, {})
    where[steps[-1]] = value
    return job


class Input(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pool = Pool("-v")
        cls.addClassCleanup(cls.pool.__exit__)
        cls.pool.start()
        raw.serve_interpreter(cls.pool)

    def refuses(self, job, word, status=422):
        got, answer = raw.create(self.pool, job)
        self.assertEqual(got, status, (job, raw.said(answer)))
        self.assertIn(word, raw.said(answer))
        name = job["metadata"]["name"] if isinstance(job, dict) else ""
        if name == "bad":
            self.assertEqual(raw.ask(self.pool, "GET", f"{raw.JOBS}/bad")[0], 404)

    def test_numbers_that_no_pool_has(self):
        workers = "/spec/tfReplicaSpecs/Worker/replicas"
        for value, word in ((10**9, "at most 10000 replicas"), (-1, "greater than or equal to 0"),
                            (1.5, "whole number"), ("2", "whole number"), (10**30, "whole number"),
                            (True, "whole number"), ([1], "whole number")):
            self.refuses(changed(workers, value), word)
        for value, word in ((10**18, "more than any machine has"), (-1, "greater than or equal to 0"), (0.5, "integer"),
                            ("many", "no quantity"), ("1e19", "too large"), ("10Ei", "too large"), ("1.5", "integer")):
            job = changed("containers/0/resources", {"limits": {"nvidia.com/gpu": value}})
            self.refuses(job, word)
        for path, value in (("/spec/runPolicy/backoffLimit", -1), ("/spec/runPolicy/ttlSecondsAfterFinished", -5),
                            ("/spec/runPolicy/activeDeadlineSeconds", 1e300),
                            ("terminationGracePeriodSeconds", -1), ("terminationGracePeriodSeconds", 2**70)):
            self.refuses(changed(path, value), path.rsplit("/", 1)[-1])

    def test_types_and_names(self):
        rows = [("/spec", "text"), ("/spec/tfReplicaSpecs", []), ("/spec/tfReplicaSpecs/Worker", 7),
                ("containers", {}), ("containers/0/command", "sh -c true"), ("containers/0/command", [1]),
                ("containers/0/env", {"A": "b"}), ("containers/0/image", 5), ("volumes", "x"),
                ("/metadata/labels", ["a"]), ("/metadata/annotations", {"a": 1})]
        for path, value in rows:
            status, answer = raw.create(self.pool, changed(path, value))
            self.assertIn(status, (400, 422), (path, raw.said(answer)))
            self.assertTrue(raw.said(answer))
        for name in ("../up", "a/b", "..", "Upper", "a" * 64, "a.b", "-a", "a\n", "ä", "", "a" * 55 + "-00000000"):
            self.assertEqual(raw.create(self.pool, tfjob(name, ["true"]))[0], 422, name)
        self.refuses(changed("/spec/tfReplicaSpecs/Boss", {"replicas": 1}), "Boss")
        self.refuses(changed("containers/0/name", "other"), "tensorflow")
        self.refuses(changed("containers/0/image", "nobody/has:this"), "there are: fake")
        self.refuses(changed("containers/0/image", "nobody/has:this"), "containers[0].image: Invalid value: ")
        self.refuses(changed("/metadata/labels", {"bad label": "x y"}), "label")

    def test_paths_stay_where_they_belong(self):
        def mounted(volume, **mount):
            job = changed("volumes", [{"name": "v", **volume}])
            pod = job["spec"]["tfReplicaSpecs"]["Worker"]["template"]["spec"]
            pod["containers"][0]["volumeMounts"] = [{"name": "v", "mountPath": "/data", **mount}]
            return job

        empty = {"emptyDir": {}}
        outside = {"items": [{"key": "a", "path": "../../outside"}], "name": "map"}
        for job, word in ((mounted(empty, subPath="../../../etc"), "subPath"), (mounted(empty, subPath="/etc"), "subPath"),
                          (mounted(empty, mountPath="/data/../../etc"), "mountPath"),
                          (mounted(empty, mountPath="data"), "mountPath"), (mounted({"hostPath": {"path": "../x"}}), "path"),
                          (mounted({"hostPath": {"path": "/etc/../root"}}), "path"), (mounted({"configMap": outside}), "path"),
                          (changed("volumes", [{"name": "../v", "emptyDir": {}}]), "name")):
            self.refuses(job, word)
        data = str(self.pool.data)
        for job, word in ((mounted(empty, mountPath="/etc"), "mountPath"), (mounted(empty, mountPath="/usr/"), "mountPath"),
                          (mounted(empty, mountPath=data), "mountPath"), (mounted(empty, mountPath=data + "/./replicas"), "mountPath"),
                          (mounted(empty, mountPath=str(self.pool.root)), "mountPath"),
                          (mounted({"hostPath": {"path": data}}), "data directory"),
                          (mounted({"hostPath": {"path": data + "/persistent/x"}}), "data directory"),
                          (mounted({"hostPath": {"path": str(self.pool.root)}}, subPath="data/pki"), "data directory"),
                          (mounted({"hostPath": {"path": "/srv", "type": "Folder"}}), "type"),
                          (changed("securityContext", {"sysctls": [{"name": "kernel.msgmax", "value": "1"}]}), "sysctls"),
                          (changed("containers/0/securityContext", {"privileged": True}), "privileged"),
                          (changed("containers/0/securityContext", {"capabilities": {"add": ["SYS_ADMIN"]}}), "capabilities"),
                          (changed("securityContext", {"runAsNonRoot": True, "runAsUser": 0}), "securityContext")):
            self.refuses(job, word)
        for kind, field in (("configmaps", "ConfigMap"), ("secrets", "Secret")):
            body = {"apiVersion": "v1", "kind": field, "metadata": {"name": "map"}, "data": {"../up": ""}}
            self.assertEqual(raw.ask(self.pool, "POST", f"/api/v1/namespaces/default/{kind}", body)[0], 422)
        # Names that get past admission reach no directory: the replica says why it did not start.
        for name, volume in (("claim", {"persistentVolumeClaim": {"claimName": "../../up"}}),
                             ("secret", {"secret": {"secretName": "../up"}})):
            job = mounted(volume)
            job["metadata"]["name"] = name
            status, answer = raw.create(self.pool, job)
            if status == 201:
                self.pool.await_condition(name, "Failed")
                self.assertEqual(raw.own_status(self.pool, name)["cause"]["reason"], "StartFailed")
            else:
                self.assertEqual(status, 422, raw.said(answer))
        for path in ("/../../etc/passwd", "/api/v1/namespaces/default/pods/..%2f..%2fadmin.token/log", "//api/v1",
                     "/api/v1/namespaces/default/pods/%00/log", "/api/v1/namespaces/default/pods/a%2fb/log", "/%"):
            self.assertIn(raw.ask(self.pool, "GET", path)[0], (400, 404), path)

    def test_what_the_pool_says_to_a_program_cannot_be_forged(self):
        forged = {"TF_CONFIG": "forged", "PONDAGE_GPUS": "forged", "CUDA_VISIBLE_DEVICES": "forged",
                  "PONDAGE_REPLICA": "forged"}
        job = tfjob("forger", ["sh", "-c", "env"], workers=2)
        container = job["spec"]["tfReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][0]
        container["env"] = [{"name": name, "value": value} for name, value in forged.items()]
        status, answer = raw.create(self.pool, job)
        if status == 422:
            self.assertIn("env", raw.said(answer))
            return
        self.pool.await_condition("forger", "Succeeded")
        seen = dict(line.split("=", 1) for line in self.pool.kubectl("logs", "forger-worker-0").stdout.splitlines())
        self.assertNotIn("forged", [seen.get(name) for name in forged], seen)
        for name, word in (("A=B", "name"), ("", "name"), ("ä", "name")):
            self.refuses(changed("containers/0/env", [{"name": name, "value": "x"}]), word)
        self.refuses(changed("containers/0/env", [{"name": "X", "value": "a\0b"}]), "zero byte")

    def test_a_job_cannot_bring_its_own_end(self):
        job = tfjob("liar", ["true"])
        job["status"] = {"conditions": [{"type": "Succeeded", "status": "True"}]}
        job["metadata"].update(uid="1", creationTimestamp="1970-01-01T00:00:00Z", generation=99)
        status, made = raw.create(self.pool, job)
        self.assertEqual(status, 201)
        self.assertNotEqual(made["metadata"]["uid"], "1")
        self.assertEqual(made["metadata"]["generation"], 1)
        self.assertNotIn("Succeeded", [c["type"] for c in made["status"]["conditions"]])
        self.pool.await_condition("liar", "Succeeded")

    def test_an_emptied_status_does_not_run_a_job_again(self):
        counted = self.pool.root / "counted"
        raw.create(self.pool, tfjob("once", ["sh", "-c", f"echo run >> {counted}"]))
        patch = lambda: raw.ask(self.pool, "PATCH", f"{raw.JOBS}/once/status", {"status": {"conditions": []}}, raw.MERGE)
        eventually("it may be written", lambda: patch()[0] == 200)  # refused while it runs
        raw.create(self.pool, tfjob("after", ["true"]))
        self.pool.await_condition("after", "Succeeded")
        self.assertEqual(counted.read_text(), "run\n")

    def test_unknown_fields_are_named(self):
        job = changed("containers/0/comand", ["true"])
        connection = raw.connect(self.pool)
        connection.request("POST", raw.JOBS + "?dryRun=All&fieldValidation=Warn", json.dumps(job),
                           {"Authorization": "Bearer " + raw.admin(self.pool), "Content-Type": "application/json"})
        response = connection.getresponse()
        response.read()
        self.assertIn("comand", response.headers.get("Warning", ""))
        status, answer = raw.ask(self.pool, "POST", raw.JOBS + "?fieldValidation=Strict", job)
        self.assertIn(status, (400, 422))
        self.assertIn("comand", raw.said(answer))

    def test_bodies_that_are_none(self):
        good = json.dumps(tfjob("bad", ["true"]))
        rows = [b"", b"{", good[:-1].encode(), good.encode() + b"}", b"[]", b"null", b"7", b'"text"', b"\xff\xfe{}",
                good.replace("bad", "b\\ud800").encode(), b'{"kind":"Pod"}', b'{"a":1,"a":2}']
        for body in rows:
            self.assertIn(raw.ask(self.pool, "POST", raw.JOBS, body)[0], (400, 415, 422), body)
        for kind in ("text/plain", "application/xml", "application/vnd.kubernetes.protobuf"):
            self.assertIn(raw.ask(self.pool, "POST", raw.JOBS, good, kind)[0], (400, 415), kind)
        self.assertEqual(raw.ask(self.pool, "GET", "/readyz")[0], 200)

    def test_bombs(self):
        laughs = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n" + "".join(
            f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12))
        rows = [b"[" * 2_900_000, b"{" * 2_900_000, b'{"a":' * 500_000, b"[" * 500 + b"]" * 500, laughs.encode(),
                b"- " * 1_400_000, b"? " * 1_400_000, b"--- {}\n" * 400_000, b"k: [" + b"a," * 1_400_000 + b"]",
                b'{"kind":"LA"},{ist","items":[{"kind":"A"},{"kind":"B"}]}', b"a: b\n...\n,", b"&a " * 900_000,
                b"x" * 3_200_000]
        before = raw.memory_mb(self.pool)
        for body in rows:
            for kind in ("application/yaml", "application/json"):
                try:
                    status, _ = raw.ask(self.pool, "POST", raw.JOBS, body, kind)
                    self.assertIn(status, (400, 413, 422), (body[:30], kind))
                except (OSError, http.client.HTTPException):
                    self.assertGreater(len(body), 3 << 20, body[:30])
                self.assertEqual(raw.ask(self.pool, "GET", "/readyz")[0], 200)
        self.assertLess(raw.memory_mb(self.pool) - before, 700)

    def test_three_megabytes(self):
        many = {f"key-{i}": "x" * 1000 for i in range(900)}
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "large"}, "data": many}
        path = "/api/v1/namespaces/default/configmaps"
        self.assertEqual(raw.ask(self.pool, "POST", path, body)[0], 201)
        job = changed("/metadata/annotations", {"much": "y" * 200_000})
        job["metadata"]["name"] = "large"
        self.assertEqual(raw.create(self.pool, job)[0], 201)
        self.pool.await_condition("large", "Succeeded")
        env = [{"name": f"V{i}", "value": "z" * 100} for i in range(20_000)]
        heavy = changed("containers/0/env", env)
        heavy["metadata"]["name"] = "heavy"  # 2.5 MB: more than the kernel takes as an environment
        status, answer = raw.create(self.pool, heavy)
        if status == 201:
            eventually("it ends", lambda: set(raw.conditions(self.pool, "heavy")) & {"Failed", "Succeeded"})
        else:
            self.assertEqual(status, 422, raw.said(answer))

    def test_http_that_is_none(self):
        for line in (b"\0\0\0\0", b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 5000 + b"\r\n", b"GET " + b"/a" * 50_000 + b" HTTP/1.1\r\n\r\n",
                     b"POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
                     b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n", b"BREW /pot HTTP/1.1\r\nHost: x\r\n\r\n",
                     b"GET / HTTP/9.9\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"):
            with raw.trusting().wrap_socket(socket.create_connection(raw.address(self.pool), timeout=20)) as tls:
                try:
                    tls.sendall(line)
                    answer = tls.recv(200)
                except OSError:
                    answer = b""
                self.assertFalse(answer.startswith(b"HTTP/1.1 200"), line[:40])
        with socket.create_connection(raw.address(self.pool), timeout=20) as plain:  # no TLS at all
            plain.sendall(b"GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n")
            self.assertFalse(plain.recv(200).startswith(b"HTTP/1.1 200"))
        self.assertEqual(raw.ask(self.pool, "GET", "/readyz")[0], 200)


class Rights(unittest.TestCase):
    def test_a_limited_account_tries_everything_else(self):
        pool = Pool()
        self.addCleanup(pool.__exit__)
        pool.start()
        raw.serve_interpreter(pool)
        for name in ("alice", "bob"):
            raw.ask(pool, "POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        bob = raw.ask(pool, "POST", "/pondage/v1/tokens", {"name": "bob", "namespaces": ["bob"]})[1]["token"]
        raw.create(pool, tfjob("hers", ["sleep", "600"]), "alice")
        eventually("it runs", lambda: "Running" in raw.conditions(pool, "hers", "alice"))
        alice, jobs = "/api/v1/namespaces/alice", "/apis/kubeflow.org/v1/namespaces/alice/tfjobs"
        node = raw.ask(pool, "GET", "/api/v1/nodes")[1]["items"][0]["metadata"]["name"]
        queues, own = "/apis/pondage.dev/v1alpha1/queues", "/apis/kubeflow.org/v1/namespaces/bob/tfjobs"
        reads = [f"{alice}/{kind}" for kind in ("secrets", "pods", "events", "configmaps", "pods/hers-worker-0/log")]
        reads += [jobs, jobs + "/hers", alice, "/api/v1/secrets", "/api/v1/pods", "/api/v1/namespaces", "/metrics",
                  "/api/v1/secrets?watch=1", "/apis/kubeflow.org/v1/tfjobs", "/pondage/v1/tokens",
                  "/api/v1/namespaces/bob/../alice/secrets", "/api/v1/namespaces/bob/%2e%2e/alice/secrets",
                  "/api/v1/namespaces/Alice/secrets", "/api/v1/namespaces//secrets", "/api/v1/namespaces/*/secrets",
                  "/api/v1/namespaces/bob/pods/hers-worker-0/log"]
        for path in reads:
            self.assertIn(raw.ask(pool, "GET", path, token=bob)[0], (403, 404), path)
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x"}}
        writes = [("POST", "/pondage/v1/tokens", {"name": "evil", "admin": True}), ("DELETE", "/pondage/v1/tokens/admin", None),
                  ("POST", "/pondage/v1/backup", {"path": "/tmp/stolen.sqlite"}),
                  ("DELETE", "/pondage/v1/environments?image=fake", None), ("POST", alice + "/secrets", secret),
                  ("POST", "/api/v1/namespaces", {"metadata": {"name": "n"}}), ("DELETE", "/api/v1/namespaces/bob", None),
                  ("DELETE", alice, None), ("DELETE", jobs, None), ("DELETE", jobs + "/hers", None),
                  ("DELETE", alice + "/pods/hers-worker-0", None),
                  ("POST", alice + "/pods/hers-worker-0/eviction", {"apiVersion": "policy/v1", "kind": "Eviction"}),
                  ("DELETE", "/api/v1/nodes/" + node, None), ("DELETE", queues + "/default", None),
                  ("POST", queues, {"metadata": {"name": "mine"}}), ("POST", jobs, tfjob("his", ["true"])),
                  ("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": "top"}, "value": 9}),
                  ("DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/tfjobs.kubeflow.org", None)]
        for method, path, body in writes:
            self.assertEqual(raw.ask(pool, method, path, body, token=bob)[0], 403, (method, path))
        for path, body in ((jobs + "/hers", {"spec": {"runPolicy": {"suspend": True}}}),
                           (queues + "/default", {"spec": {}}), ("/api/v1/nodes/" + node, {"spec": {"unschedulable": True}})):
            self.assertEqual(raw.ask(pool, "PATCH", path, body, raw.MERGE, token=bob)[0], 403, path)
        for wrong in ("", "x", bob[:-1], bob + "x", "pnd_" + "0" * 64):
            self.assertEqual(raw.ask(pool, "GET", own, token=wrong)[0], 401)
        self.assertEqual(raw.ask(pool, "GET", own, token=bob)[0], 200)
        self.assertEqual(raw.create(pool, tfjob("mine", ["true"]), "bob", token=bob)[0], 201)
        self.assertIn("Running", raw.conditions(pool, "hers", "alice"))

    def test_secrets_stand_in_no_log(self):
        pool = Pool("-v")
        self.addCleanup(pool.__exit__)
        pool.start()
        raw.serve_interpreter(pool)
        word = "correct-horse-battery"
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"word": word}}
        self.assertEqual(raw.ask(pool, "POST", "/api/v1/namespaces/default/secrets", secret)[0], 201)
        job = tfjob("reader", ["sh", "-c", "test $WORD = " + word[:7] + "-horse-battery"])
        container = job["spec"]["tfReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][0]
        container["env"] = [{"name": "WORD", "valueFrom": {"secretKeyRef": {"name": "s", "key": "word"}}}]
        raw.create(pool, job)
        pool.await_condition("reader", "Succeeded")
        bob = raw.ask(pool, "POST", "/pondage/v1/tokens", {"name": "bob", "namespaces": ["default"]})[1]["token"]
        raw.ask(pool, "GET", raw.JOBS, token=bob)
        raw.ask(pool, "GET", raw.JOBS, token="pnd_wrong-token")
        pool.crash()
        pool.start()
        pool.stop()
        said = raw.log_of(pool)
        for hidden in (word, base64.b64encode(word.encode()).decode(), bob, raw.admin(pool), "pnd_"):
            self.assertNotIn(hidden, said)
        kept = [file for file in (pool.data / "replicas").rglob("*") if file.is_file()]
        self.assertTrue(kept)
        for file in kept:
            if word.encode() in file.read_bytes():
                self.assertEqual(file.stat().st_mode & 0o077, 0, f"{file} holds a secret and others may read it")
        for name in ("admin.token", "kubeconfig", "tokens.json", "pondage.sqlite", "pki/ca.key", "pki/server.key"):
            self.assertEqual((pool.data / name).stat().st_mode & 0o077, 0, name)


class Many(unittest.TestCase):
    def test_thousands_of_jobs_at_once(self):
        count = int(os.environ.get("PONDAGE_MANY", "2000"))
        pool = Pool()
        self.addCleanup(pool.__exit__)
        pool.start()
        raw.serve_interpreter(pool)
        wrong = []

        def submit(part):
            connection = raw.connect(pool)
            for index in range(part, count, 8):
                status, answer = raw.create(pool, tfjob(f"many-{index}", ["true"], workers=8), connection=connection)
                if status != 201:
                    wrong.append(raw.said(answer))

        threads = [threading.Thread(target=submit, args=(part,)) for part in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
        self.assertEqual(len(raw.ask(pool, "GET", raw.JOBS)[1]["items"]), count)
        raw.create(pool, tfjob("small", ["true"]))  # behind all of them, and the only one that can start
        pool.await_condition("small", "Succeeded", 20)
        self.assertLess(raw.memory_mb(pool), 40 + count // 100)
        pool.crash()
        pool.start()
        self.assertEqual(len(raw.ask(pool, "GET", raw.JOBS)[1]["items"]), count + 1)
        raw.ask(pool, "DELETE", raw.JOBS)
        eventually("all are gone", lambda: not raw.ask(pool, "GET", raw.JOBS)[1]["items"], 30)
        raw.create(pool, tfjob("after", ["true"]))
        pool.await_condition("after", "Succeeded", 20)


if __name__ == "__main__":
    unittest.main(verbosity=2, warnings="ignore")
