"""The Kubeflow SDK 1.9 and the `kubernetes` Python client against a real server with real processes."""
import json
import os
import sys
import unittest
import urllib.error
import urllib.request
import warnings

from pool import REPOSITORY, Pool, eventually
import junit

try:
    import kubeflow.training
except ImportError:  # once more, where the clients are
    import subprocess
    made = subprocess.run([str(REPOSITORY / "test/e2e/python-clients")], check=True, text=True, stdout=subprocess.PIPE)
    python = made.stdout.strip()
    os.execv(python, [python, *sys.argv])

warnings.filterwarnings("ignore")
from kubeflow.training import KubeflowOrgV1ReplicaSpec as ReplicaSpec, KubeflowOrgV1RunPolicy as RunPolicy  # noqa: E402
from kubeflow.training import KubeflowOrgV1SchedulingPolicy as SchedulingPolicy  # noqa: E402
from kubeflow.training import KubeflowOrgV1TFJob as TFJob, KubeflowOrgV1TFJobSpec as TFJobSpec  # noqa: E402
from kubeflow.training import TrainingClient  # noqa: E402
from kubernetes import client, config, watch  # noqa: E402

LIMITS = {"memory": "4Gi", "cpu": "1.6"}


def tfjob(name, roles, command, limits=None, min_available=None):
    container = client.V1Container(name="tensorflow", image="fake", command=command,
                                   resources=client.V1ResourceRequirements(limits=limits))
    template = client.V1PodTemplateSpec(spec=client.V1PodSpec(containers=[container]))
    policy = RunPolicy(clean_pod_policy="None")
    if min_available:
        policy.scheduling_policy = SchedulingPolicy(min_available=min_available)
    return TFJob(api_version="kubeflow.org/v1", kind="TFJob", metadata=client.V1ObjectMeta(name=name),
                 spec=TFJobSpec(run_policy=policy, tf_replica_specs={
                     role: ReplicaSpec(replicas=count, restart_policy="Never", template=template)
                     for role, count in roles.items()}))


class WithClients(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pool = Pool(virtual_gpus="8").__enter__()
        cls.addClassCleanup(cls.pool.__exit__)
        kubeconfig = str(cls.pool.data / "kubeconfig")
        cls.training = TrainingClient(config_file=kubeconfig, namespace="default", job_kind="TFJob")
        config.load_kube_config(kubeconfig)
        cls.core = client.CoreV1Api()

    def wait(self, name, condition="Succeeded"):
        return self.training.wait_for_job_conditions(name, expected_conditions={condition}, wait_timeout=60,
                                                     polling_interval=1)

    def create(self, job, **more):
        self.training.create_job(job, namespace="default", **more)
        self.addCleanup(self.delete, job.metadata.name)

    def delete(self, name):
        try:
            self.training.delete_job(name)
        except RuntimeError:
            return
        eventually("it is gone", lambda: name not in [job.metadata.name for job in self.training.list_jobs()])

    def assert_ended_well(self, name):
        conditions = {c.type: c.status for c in self.training.get_job_conditions(name)}
        self.assertGreaterEqual(len(conditions), 2)
        self.assertEqual((conditions["Created"], conditions["Succeeded"]), ("True", "True"))
        for condition in ("Running", "Restarting", "Failed"):
            self.assertNotEqual(conditions.get(condition), "True")
        self.assertTrue(self.training.is_job_succeeded(name))
        self.assertTrue(self.training.is_job_created(name))
        self.assertFalse(self.training.is_job_running(name))
        self.assertFalse(self.training.is_job_failed(name))
        self.assertFalse(self.training.is_job_restarting(name))


class Sdk(WithClients):
    def test_create_list_wait_logs_names_delete(self):
        self.create(tfjob("mnist", {"Worker": 1}, ["python", "-c", "print('accuracy 0.98')"], LIMITS))
        self.assertEqual([job.metadata.name for job in self.training.list_jobs()], ["mnist"])
        self.assertEqual(self.wait("mnist").metadata.name, "mnist")
        self.assert_ended_well("mnist")
        self.assertEqual(self.training.get_job_pod_names("mnist"), ["mnist-worker-0"])
        self.assertEqual(self.training.get_job_pod_names("mnist", replica_type="worker", replica_index=0),
                         ["mnist-worker-0"])
        logs, events = self.training.get_job_logs("mnist", verbose=True)
        self.assertEqual(logs, {"mnist-worker-0": "accuracy 0.98\n"})
        self.assertTrue(any("mnist" in line for lines in events.values() for line in lines), events)
        self.training.delete_job("mnist")
        eventually("it is gone", lambda: not self.training.list_jobs())
        with self.assertRaises(RuntimeError):
            self.training.get_job("mnist")

    def test_min_available_above_the_sum_waits_until_it_is_lowered(self):
        job = tfjob("gang", {"Worker": 1}, ["true"], LIMITS, min_available=10)
        self.create(job)
        self.wait("gang", "Created")
        reason = eventually("it is looked at", lambda: self.pool.status("gang").get("reason"))
        self.assertIn("10", reason["message"])
        # One that came later has run to its end: the pool has looked at both.
        self.create(tfjob("later", {"Worker": 1}, ["true"], LIMITS))
        self.wait("later")
        self.assertFalse(self.training.is_job_running("gang"))
        self.assertFalse(self.training.is_job_succeeded("gang"))
        self.assertEqual(self.training.get_job_pods("gang"), [])
        job.spec.run_policy.scheduling_policy.min_available = 1
        self.training.update_job(job, "gang")
        self.wait("gang")
        self.assert_ended_well("gang")

    def test_chief_two_ps_four_workers(self):
        script = "case $PONDAGE_REPLICA in ps-*) exec sleep 600;; *) exit 0;; esac"
        self.create(tfjob("seven", {"Chief": 1, "PS": 2, "Worker": 4}, ["sh", "-c", script]))
        self.wait("seven")
        self.assert_ended_well("seven")
        events = self.core.list_namespaced_event("default", field_selector="involvedObject.name=seven").items
        reasons = [event.reason for event in events for _ in range(event.count or 1)]
        self.assertEqual(reasons.count("SuccessfulCreatePod"), 7)
        self.assertEqual(reasons.count("SuccessfulCreateService"), 7)
        self.assertEqual(len(self.training.get_job_pod_names("seven")), 7)
        self.assertEqual(self.training.get_job_pod_names("seven", is_master=True), ["seven-chief-0"])
        eventually("the ps are stopped", lambda: not self.pool.programs("seven"))

    def test_the_chief_of_serving_replicas_is_told_to_end(self):
        replica = ["python", str(REPOSITORY / "test/e2e/http_replica.py")]
        self.create(tfjob("serving", {"Chief": 1, "Ps": 2, "Worker": 4}, replica))
        self.wait("serving", "Running")
        spec = self.training.get_job_pods("serving", is_master=True)[0].spec
        config = json.loads(next(v.value for v in spec.containers[0].env if v.name == "TF_CONFIG"))
        self.assertEqual({role: len(members) for role, members in config["cluster"].items()},
                         {"chief": 1, "ps": 2, "worker": 4})
        for role, members in config["cluster"].items():  # each is where the others look for it
            for index, address in enumerate(members):
                seen = json.loads(self.ask(address, "/tfconfig"))
                self.assertEqual((seen["cluster"], seen["task"]), (config["cluster"], {"type": role, "index": index}))
        self.ask(config["cluster"]["chief"][0], "/exit?exitCode=0")
        self.wait("serving")
        self.assert_ended_well("serving")

    def ask(self, address, path):
        def answer():
            try:
                with urllib.request.urlopen(f"http://{address}{path}", timeout=10) as reply:
                    return reply.read() or b"{}"
            except urllib.error.URLError:  # it is not up yet
                return None
        return eventually(f"{address} answers", answer)

    def test_from_a_function(self):
        def train(parameters):
            import json
            import os
            task = json.loads(os.environ["TF_CONFIG"])["task"]
            print(f"{task['type']} {task['index']} learns at {parameters['rate']}")

        self.training.create_job(name="function", train_func=train, parameters={"rate": 0.1}, base_image="fake",
                                 num_workers=2, resources_per_worker={"gpu": 1}, env_vars={"MINE": "1"})
        self.addCleanup(self.delete, "function")
        self.wait("function")
        # The job has succeeded with its first worker; the second one may write a little later.
        logs = lambda: self.training.get_job_logs("function", is_master=False)[0]
        eventually("both have learnt", lambda: logs() == {
            f"function-worker-{i}": f"worker {i} learns at 0.1\n" for i in (0, 1)}, 10)

    def test_logs_are_followed_to_the_end(self):
        self.create(tfjob("follow", {"Worker": 1}, ["sh", "-c", "for i in 1 2 3 4 5; do echo $i; sleep 0.3; done"]))
        self.wait("follow", "Running")
        logs, _ = self.training.get_job_logs("follow", follow=True)
        self.assertEqual(logs, {"follow-worker-0": "12345"})  # the SDK joins lines
        self.wait("follow")

    def test_a_failure_ends_the_wait(self):
        self.create(tfjob("fails", {"Worker": 1}, ["sh", "-c", "exit 3"]))
        with self.assertRaises(RuntimeError):
            self.wait("fails")
        self.assertTrue(self.training.is_job_failed("fails"))

    def test_a_queue_that_is_not_there_is_waited_for(self):
        self.create(tfjob("queued", {"Worker": 1}, ["true"]), queue_name="nowhere")
        labels = self.training.get_job("queued").metadata.labels
        self.assertEqual(labels["kueue.x-k8s.io/queue-name"], "nowhere")
        reason = eventually("a reason", lambda: self.pool.status("queued").get("reason"))
        self.assertIn("nowhere", reason["message"])

    def test_what_the_sdk_refuses_and_what_is_missing(self):
        for wrong in ("Worker", "other"):
            with self.assertRaises(ValueError):
                self.training.get_job_pods("any", replica_type=wrong)
        for question in ("created", "running", "restarting", "succeeded", "failed"):
            with self.assertRaises(RuntimeError):
                getattr(self.training, f"is_job_{question}")("missing")


class KubernetesClient(WithClients):
    def test_a_job_is_watched_from_its_making_to_its_deletion(self):
        custom = client.CustomObjectsApi()
        where = ("kubeflow.org", "v1", "default", "tfjobs")
        body = client.ApiClient().sanitize_for_serialization(tfjob("watched", {"Worker": 1}, ["echo", "hello"]))
        begin = custom.list_namespaced_custom_object(*where)["metadata"]["resourceVersion"]
        custom.create_namespaced_custom_object(*where, body)
        types, conditions = [], []
        stream = watch.Watch()
        for event in stream.stream(custom.list_namespaced_custom_object, *where, resource_version=begin,
                                   timeout_seconds=60):
            types.append(event["type"])
            conditions += [c["type"] for c in event["object"].get("status", {}).get("conditions", [])
                           if c["status"] == "True" and c["type"] not in conditions]
            if "Succeeded" in conditions and event["type"] == "MODIFIED":
                self.assertEqual(self.core.read_namespaced_pod_log("watched-worker-0", "default"), "hello\n")
                if "deletionTimestamp" not in event["object"]["metadata"]:
                    custom.delete_namespaced_custom_object(*where, "watched")
            if event["type"] == "DELETED":
                stream.stop()
        self.assertEqual((types[0], types[-1]), ("ADDED", "DELETED"))
        self.assertEqual(conditions, ["Created", "Running", "Succeeded"])

    def test_pods_nodes_and_events_are_typed_objects(self):
        self.create(tfjob("typed", {"Worker": 2}, ["sleep", "600"], {"nvidia.com/gpu": 1}))
        self.wait("typed", "Running")
        listed = lambda: self.core.list_namespaced_pod("default", label_selector="training.kubeflow.org/job-name=typed").items
        # The job runs with its first worker.
        eventually("both run", lambda: [pod.status.phase for pod in listed()] == ["Running", "Running"], 10)
        pods = listed()
        self.assertEqual({pod.metadata.owner_references[0].kind for pod in pods}, {"TFJob"})
        node = self.core.list_node().items[0]
        self.assertEqual(node.status.capacity["nvidia.com/gpu"], "8")
        self.assertEqual({pod.spec.node_name for pod in pods}, {node.metadata.name})
        self.training.delete_job("typed", delete_options=client.V1DeleteOptions(propagation_policy="Foreground"))
        eventually("its pods are gone", lambda: not self.core.list_namespaced_pod("default").items)
        self.assertEqual(self.pool.programs("typed"), [])


if __name__ == "__main__":
    junit.main()
