// The Python `kubernetes` client and the Kubeflow SDK against a real server, and HTTP's corners by
// Python's own sockets. PONDAGE_TEST_PYTHON names an interpreter that has kubernetes 32 and
// kubeflow-training 1.9; without it a virtual environment is made below the build directory, once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "api/test_server.h"

namespace pondage::api {
namespace {

using ::testing::HasSubstr;

constexpr const char* kClients = R"py(
import sys, warnings
warnings.filterwarnings("ignore")
from kubernetes import client, config, watch
config.load_kube_config(sys.argv[1])
core = client.CoreV1Api()

made = core.create_namespaced_config_map("default", client.V1ConfigMap(
    metadata=client.V1ObjectMeta(name="m", labels={"a": "b"}), data={"x": "1"}))
assert made.metadata.uid and made.metadata.resource_version
core.patch_namespaced_config_map("m", "default", {"data": {"y": "2"}})
core.patch_namespaced_config_map("m", "default", [{"op": "remove", "path": "/data/x"}])
assert core.read_namespaced_config_map("m", "default").data == {"y": "2"}
listed = core.list_namespaced_config_map("default", label_selector="a=b", limit=1)
assert [item.metadata.name for item in listed.items] == ["m"]
made = core.read_namespaced_config_map("m", "default")
made.data["z"] = "3"
core.replace_namespaced_config_map("m", "default", made)
try:
    core.replace_namespaced_config_map("m", "default", made)
    raise SystemExit("a stale replace was taken")
except client.ApiException as error:
    assert error.status == 409, error

seen = []
stream = watch.Watch()
for event in stream.stream(core.list_namespaced_config_map, "default",
                           resource_version=listed.metadata.resource_version, timeout_seconds=20):
    seen.append(event["type"])
    if event["type"] == "MODIFIED":
        core.delete_namespaced_config_map("m", "default")
    if event["type"] == "DELETED":
        stream.stop()
assert seen[-1] == "DELETED", seen

pods = core.list_namespaced_pod("default")
assert pods.items[0].spec.containers[0].name == "tensorflow"
assert core.read_namespaced_pod_log("p", "default") == "hello\n"
assert core.list_node().items == []
assert client.VersionApi().get_code().minor == "32"
custom = client.CustomObjectsApi()
assert custom.list_cluster_custom_object("pondage.dev", "v1alpha1", "queues")["items"] == []
review = client.AuthorizationV1Api().create_self_subject_access_review(
    client.V1SelfSubjectAccessReview(spec=client.V1SelfSubjectAccessReviewSpec(
        resource_attributes=client.V1ResourceAttributes(verb="list", resource="pods"))))
assert review.status.allowed
print("clients are content")
)py";

constexpr const char* kTraining = R"py(
import sys, warnings
warnings.filterwarnings("ignore")
from kubeflow.training import TrainingClient, KubeflowOrgV1TFJob, KubeflowOrgV1TFJobSpec
from kubeflow.training import KubeflowOrgV1ReplicaSpec, KubeflowOrgV1RunPolicy, constants
from kubernetes import client
training = TrainingClient(config_file=sys.argv[1], namespace="default", job_kind="TFJob")
job = KubeflowOrgV1TFJob(
    api_version="kubeflow.org/v1", kind="TFJob", metadata=client.V1ObjectMeta(name="sdk"),
    spec=KubeflowOrgV1TFJobSpec(
        run_policy=KubeflowOrgV1RunPolicy(clean_pod_policy="None"),
        tf_replica_specs={"Worker": KubeflowOrgV1ReplicaSpec(
            replicas=1, restart_policy="Never",
            template=client.V1PodTemplateSpec(spec=client.V1PodSpec(containers=[client.V1Container(
                name="tensorflow", image="i", command=["true"],
                resources=client.V1ResourceRequirements(limits={"nvidia.com/gpu": 1}))])))}))
training.create_job(job, namespace="default")
assert training.get_job("sdk").metadata.name == "sdk"
assert [j.metadata.name for j in training.list_jobs()] == ["sdk"]
job.spec.tf_replica_specs["Worker"].replicas = 2
training.update_job(job, "sdk")
assert training.get_job("sdk").spec.tf_replica_specs["Worker"].replicas == 2
client.CustomObjectsApi().patch_namespaced_custom_object_status(
    "kubeflow.org", "v1", "default", "tfjobs", "sdk",
    {"status": {"conditions": [{"type": "Succeeded", "status": "True", "reason": "TFJobSucceeded",
                                "message": "done", "lastTransitionTime": "2024-01-01T00:00:00Z"}]}})
training.wait_for_job_conditions("sdk")
assert training.is_job_succeeded("sdk") and not training.is_job_failed("sdk")
assert training.get_job_pods("sdk") == []
training.delete_job("sdk")
try:
    training.get_job("sdk")
    raise SystemExit("it is still there")
except RuntimeError:
    pass
print("the SDK is content")
)py";

// Raw HTTP over TLS: what no client library would send.
constexpr const char* kCorners = R"py(
import socket, ssl, sys, json
port, ca, token = int(sys.argv[1]), sys.argv[2], sys.argv[3]
context = ssl.create_default_context(cafile=ca)
context.set_alpn_protocols(["h2", "http/1.1"])

def connect():
    raw = socket.create_connection(("127.0.0.1", port), timeout=30)
    return context.wrap_socket(raw, server_hostname="localhost")

def ask(text, body=b"", sock=None):
    own = sock or connect()
    own.sendall(text.replace("\n", "\r\n").encode() + body)
    file = own.makefile("rb")
    status = int(file.readline().split()[1])
    headers = {}
    while (line := file.readline().strip()):
        name, value = line.decode().split(": ", 1)
        headers[name.lower()] = value
    if headers.get("transfer-encoding") == "chunked":
        content = b""
        while (size := int(file.readline(), 16)) > 0:
            content += file.read(size)
            file.readline()
        file.readline()
    else:
        content = file.read(int(headers.get("content-length", 0)))
    return status, headers, content

auth = f"Authorization: Bearer {token}\n"
assert connect().selected_alpn_protocol() == "http/1.1"
one = connect()
for _ in range(3):  # kept alive, lists chunked between
    assert ask("GET /readyz HTTP/1.1\nHost: x\n\n", sock=one)[2] == b"ok"
    assert ask("GET /api/v1/namespaces HTTP/1.1\nHost: x\n" + auth + "\n", sock=one)[0] == 200
assert ask("HEAD /version HTTP/1.1\nHost: x\nConnection: close\n\n")[0] == 200
assert ask("rubbish\n\n")[0] == 400
assert ask("GET /%zz HTTP/1.1\nHost: x\n\n")[0] == 400
assert ask("GET / HTTP/1.1\nHost: x\nBig: " + "x" * 70000 + "\n\n")[0] == 431
big = 3 * 1024 * 1024 + 1
status, _, content = ask("POST /api/v1/namespaces/default/configmaps HTTP/1.1\nHost: x\n" + auth +
                         f"Content-Length: {big}\n\n")
assert status == 413 and json.loads(content)["reason"] == "RequestEntityTooLarge", content
# A large body of a stranger is not waited for.
status, _, content = ask("POST /api/v1/namespaces/default/configmaps HTTP/1.1\nHost: x\n"
                         "Content-Length: 1000000\n\n")
assert status == 401, content
# Also when the whole body is sent: the answer is not lost under it.
status, _, content = ask("POST /api/v1/namespaces/default/configmaps HTTP/1.1\nHost: x\n" + auth +
                         f"Content-Length: {2 * big}\n\n", b"x" * 2 * big)
assert status == 413, content
body = json.dumps({"metadata": {"name": "big"}, "data": {"a": "x" * 1000000}}).encode()
two = connect()
two.sendall(("POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: x\r\n" +
             auth.replace("\n", "\r\n") + "Expect: 100-continue\r\nContent-Type: application/json\r\n" +
             f"Content-Length: {len(body)}\r\n\r\n").encode())
assert b"100 Continue" in two.recv(100)
assert ask("", body, sock=two)[0] == 201
# HTTP/1.0 gets no chunks, and the end is the end of the connection.
old = connect()
old.sendall(("GET /api/v1/namespaces HTTP/1.0\r\n" + auth.replace("\n", "\r\n") + "\r\n").encode())
content = b""
while (part := old.recv(65536)):
    content += part
assert json.loads(content.split(b"\r\n\r\n", 1)[1])["kind"] == "NamespaceList"
# A thousand connections that say nothing are in nobody's way.
idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(int(sys.argv[4]))]
assert ask("GET /readyz HTTP/1.1\nHost: x\n\n")[2] == b"ok"
# Plain HTTP on this port is refused without harm.
plain = socket.create_connection(("127.0.0.1", port))
plain.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
plain.settimeout(30)
try:
    while plain.recv(1000):
        pass
except ConnectionResetError:
    pass
print("corners are round")
)py";

boost::json::object Pod() {
  return boost::json::parse(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p",
    "namespace":"default","uid":"u"},"spec":{"nodeName":"here","containers":[{"name":"tensorflow",
    "image":"i"}]},"status":{"phase":"Running","containerStatuses":[{"name":"tensorflow","ready":true,
    "restartCount":0,"image":"i","imageID":"","state":{"running":{}}}]}})")
      .as_object();
}

class Python : public ::testing::Test {
 protected:
  // An interpreter with the clients; empty: none could be had.
  std::string Interpreter() {
    if (const char* named = std::getenv("PONDAGE_TEST_PYTHON")) return named;
    const std::string venv = std::string(PONDAGE_BIN_DIR) + "/../python-clients";
    const Ran ran =
        server.Run("test -e " + venv + "/done || (python3 -m venv " + venv + " && " + venv +
                   "/bin/pip install -q 'kubernetes==32.*' 'kubeflow-training==1.9.*' && "
                   "touch " +
                   venv + "/done)");
    return ran.code == 0 ? venv + "/bin/python" : "";
  }
  void RunClients(const char* script, const std::string& says) {
    const std::string python = Interpreter();
    if (python.empty()) GTEST_SKIP() << "no interpreter with the Python clients";
    server.Put("", "pods", Pod());
    server.logs.Write("u", 0, "hello\n", true);
    server.Write("script.py", script);
    EXPECT_THAT(server.Good(python + " script.py kubeconfig"), HasSubstr(says));
  }
  TestServer server;
};

TEST_F(Python, KubernetesClient) {
  RunClients(kClients, "clients are content");
}
TEST_F(Python, KubeflowSdk) {
  RunClients(kTraining, "the SDK is content");
}

TEST_F(Python, CornersOfHttp) {
  server.Write("script.py", kCorners);
  EXPECT_THAT(
      server.Good("ulimit -n 4096; python3 script.py " + std::to_string(server.server.port()) +
                  " ca.pem " + server.admin + " 1000"),
      HasSubstr("corners are round"));
}

// Streams that are open end with the server, and the port is free again.
TEST_F(Python, StopsWithOpenStreams) {
  const std::string config = " --kubeconfig " + (server.folder / "kubeconfig").string();
  FILE* watcher = ::popen(("kubectl get cm -w" + config + " >/dev/null 2>&1").c_str(), "r");
  ASSERT_NE(watcher, nullptr);
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (server.server.watchers() == 0 && std::chrono::steady_clock::now() < until) {
    std::this_thread::yield();
  }
  const bool watched = server.server.watchers() > 0;
  server.server.Stop();
  ::pclose(watcher);
  const bool has_kubectl = server.Run("command -v kubectl").code == 0;
  EXPECT_EQ(watched, has_kubectl);
}

}  // namespace
}  // namespace pondage::api
