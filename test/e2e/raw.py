"""HTTP to a pool as no well-behaved client would speak it, and what a test wants to know of the server's process."""
import http.client
import json
import os
import ssl
import sys

JOBS = "/apis/kubeflow.org/v1/namespaces/default/tfjobs"
MERGE = "application/merge-patch+json"


def trusting():
    """A TLS context that trusts anybody: these tests are about other things."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def address(pool):
    host, port = (pool.data / "address").read_text().strip().split("//")[1].rsplit(":", 1)
    return host, int(port)


def connect(pool):
    return http.client.HTTPSConnection(*address(pool), context=trusting(), timeout=60)


def admin(pool):
    return (pool.data / "admin.token").read_text().strip()


def ask(pool, method, path, body=None, kind="application/json", token=None, connection=None):
    """(status, answer): the answer parsed where it is JSON, else bytes."""
    headers = {"Authorization": "Bearer " + (admin(pool) if token is None else token)}
    if body is not None:
        headers["Content-Type"] = kind
        if not isinstance(body, (str, bytes)):
            body = json.dumps(body)
        if isinstance(body, str):
            body = body.encode()
    own = connection or connect(pool)
    try:
        own.request(method, path, body, headers)
        response = own.getresponse()
        answer = response.read()
    finally:
        if connection is None:
            own.close()
    try:
        return response.status, json.loads(answer)
    except ValueError:
        return response.status, answer


def said(answer):
    return answer.get("message", "") if isinstance(answer, dict) else answer.decode(errors="replace")


def create(pool, job, space="default", **more):
    return ask(pool, "POST", f"/apis/kubeflow.org/v1/namespaces/{space}/tfjobs", job, **more)


def suspend(pool, name, held):
    return ask(pool, "PATCH", f"{JOBS}/{name}", {"spec": {"runPolicy": {"suspend": held}}}, MERGE)


def serve_interpreter(pool, image="fake"):
    """Jobs of this image get the Python that runs the test."""
    prefix = pool.root / "interpreter"
    (prefix / "bin").mkdir(parents=True, exist_ok=True)
    if not (prefix / "bin/python").exists():
        (prefix / "bin/python").symlink_to(sys.executable)
    status, answer = ask(pool, "POST", "/pondage/v1/environments", {"image": image, "path": str(prefix)})
    assert status == 201, said(answer)


def memory_mb(pool):
    with open(f"/proc/{pool.server.pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) // 1024


def log_of(pool):
    return (pool.root / "serve.log").read_text()


def conditions(pool, name, space="default"):
    """Types of the conditions that hold; none when there is no such job."""
    status, job = ask(pool, "GET", f"/apis/kubeflow.org/v1/namespaces/{space}/tfjobs/{name}")
    if status != 200:
        return None
    return [c["type"] for c in job["status"].get("conditions", []) if c["status"] == "True"]


def own_status(pool, name):
    return pool.job(name)["status"].get("pondage", {})


def is_root():
    return os.geteuid() == 0
