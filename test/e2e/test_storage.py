"""File systems that fail: full, damaged, away. The pool goes on with what there is."""
import ctypes
import errno
import os
import socket
import subprocess
import tempfile
from pathlib import Path

import raw
from fault import Fault, Wrapped
from pool import eventually, tfjob
import junit


class Disk(Fault):
    def small_disk(self):
        if not raw.is_root():
            self.skipTest("mounting needs root")
        place = tempfile.mkdtemp(prefix="pondage-disk-")
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1200m", "tmpfs", place]).returncode != 0:
            self.skipTest("nothing may be mounted here")
        self.addCleanup(os.rmdir, place)
        self.addCleanup(subprocess.run, ["umount", "-l", place], check=True)
        return Path(place)

    def fill(self, disk, left_mb=0):
        with open(disk / "ballast", "ab") as ballast:
            if left_mb:
                os.posix_fallocate(ballast.fileno(), 0, os.statvfs(disk).f_bavail * 4096 - (left_mb << 20))
                return
            for size in (1 << 20, 4096):
                try:
                    while True:
                        os.write(ballast.fileno(), b"x" * size)
                except OSError as error:
                    self.assertEqual(error.errno, errno.ENOSPC)

    def test_a_full_disk_stops_nothing_for_ever(self):
        disk = self.small_disk()
        pool = Wrapped()
        pool.data = disk / "data"
        pool.env["KUBECONFIG"] = str(pool.data / "kubeconfig")
        self.pool(pool)
        gate = pool.root / "gate"
        raw.create(pool, tfjob("runs", ["sh", "-c", f"while [ ! -e {gate} ]; do sleep 0.1; done; exit 3"]))
        pool.await_condition("runs", "Running")
        for number in range(20):
            raw.create(pool, tfjob(f"old-{number}", ["sh", "-c", "seq 20000"]))
        for number in range(20):
            pool.await_condition(f"old-{number}", "Succeeded")

        self.fill(disk, left_mb=200)  # below the floor
        eventually("it takes nothing new", lambda: "SchedulingDisabled" in pool.kubectl("get", "nodes").stdout
                   or "DiskPressure" in self.pressed(pool), 15)
        self.assertEqual(raw.create(pool, tfjob("held", ["true"]))[0], 201)
        reason = eventually("a reason", lambda: raw.own_status(pool, "held").get("reason"))
        self.assertIn("MiB are free below the data directory", reason["message"])

        self.fill(disk)
        answers = [raw.create(pool, tfjob(f"more-{i}", ["true"], annotations={"x": "y" * 20000})) for i in range(4)]
        refused = [answer for status, answer in answers if status != 201]
        self.assertTrue(refused)
        for answer in refused:
            self.assertEqual((answer["code"], answer["reason"]), (503, "ServiceUnavailable"))
            self.assertIn("the disk is full", answer["message"])
            self.assertIn("(PND-S004)", answer["message"])
        self.assertEqual(raw.ask(pool, "PATCH", f"{raw.JOBS}/runs", {"metadata": {"labels": {"seen": "yes"}}},
                                 raw.MERGE)[0], 200, "what there is can change")
        kept = set(os.listdir(pool.data / "replicas"))
        deleted = pool.pondage("delete", "--finished", "--yes")
        self.assertEqual(deleted.returncode, 0, deleted.stderr)
        eventually("their files are gone", lambda: len(kept - set(os.listdir(pool.data / "replicas"))) == 20)
        self.fill(disk)
        gate.touch()  # it ends while nothing can be written
        eventually("its program is gone", lambda: not pool.programs(), 10)
        self.assertEqual(raw.ask(pool, "GET", raw.JOBS)[0], 200, "reading goes on")
        port = raw.address(pool)[1]
        pool.crash()
        with socket.create_server(("127.0.0.1", port)):  # another took its port meanwhile
            pool.port = self.other_port()
            pool.begin()
            eventually("it starts all the same", lambda: f"find this server at https://127.0.0.1:{pool.port}" in
                       raw.log_of(pool))
            pool.crash()
        pool.port = 0
        pool.start()  # ... and so does starting
        self.assertEqual(raw.address(pool)[1], port, "where everybody looks for it")
        self.assertLess(raw.log_of(pool).count("the disk is full"), 12, "the log is not flooded")

        os.unlink(disk / "ballast")
        pool.await_condition("runs", "Failed", 20)
        self.assertEqual(raw.own_status(pool, "runs")["cause"]["code"], 3)
        pool.await_condition("held", "Succeeded", 20)
        there = {job["metadata"]["name"] for job in raw.ask(pool, "GET", raw.JOBS)[1]["items"]}
        for index, (status, _) in enumerate(answers):
            self.assertEqual(f"more-{index}" in there, status == 201, "what was answered holds")

    def other_port(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return probe.getsockname()[1]

    def test_the_doctor_searches_a_store_for_damage(self):
        pool = self.pool()
        raw.create(pool, tfjob("whole", ["true"], annotations={"note": "a note that is easily found " * 50}))
        pool.await_condition("whole", "Succeeded")
        doctor = lambda: pool.pondage("doctor", "--data", str(pool.data), check=False)
        used = doctor()
        self.assertIn("PND-S002", used.stderr)
        pool.stop()
        self.assertIn("every page and row is whole", doctor().stdout)
        store = pool.data / "pondage.sqlite"
        content = bytearray(store.read_bytes())
        content[content.index(b"easily found")] ^= 1
        store.write_bytes(content)
        found = doctor()
        self.assertEqual(found.returncode, 1, found.stderr)
        self.assertIn("broken", found.stdout)

    def pressed(self, pool):
        node = raw.ask(pool, "GET", "/api/v1/nodes")[1]["items"][0]
        return [c["type"] for c in node["status"]["conditions"] if c["status"] == "True"]


class DeadMount:
    """A file system that never answers, as a network share whose server is away: FUSE with nobody behind it."""

    def __init__(self):
        self.path = tempfile.mkdtemp(prefix="pondage-dead-")
        self.device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
        options = f"fd={self.device},rootmode=40000,user_id=0,group_id=0"
        if ctypes.CDLL(None, use_errno=True).mount(b"dead", self.path.encode(), b"fuse", 0, options.encode()) != 0:
            number = ctypes.get_errno()
            self.revive()
            raise OSError(number, os.strerror(number))

    def revive(self):
        """What hangs there is told that it is gone."""
        if self.device is None:
            return
        os.close(self.device)
        self.device = None
        subprocess.run(["umount", "-l", self.path], stderr=subprocess.DEVNULL)
        os.rmdir(self.path)


class Away(Fault):
    def test_a_file_system_that_hangs_holds_up_its_own_jobs_alone(self):
        try:
            dead = DeadMount()
        except OSError as error:
            self.skipTest(f"no FUSE file system can be mounted here: {error}")
        pool = self.pool()
        self.addCleanup(dead.revive)

        def hanging(name):
            job = tfjob(name, ["true"])
            spec = job["spec"]["tfReplicaSpecs"]["Worker"]["template"]["spec"]
            spec["volumes"] = [{"name": "share", "hostPath": {"path": dead.path}}]
            spec["containers"][0]["volumeMounts"] = [{"name": "share", "mountPath": "/data"}]
            return job

        def runs(name):
            self.assertEqual(raw.create(pool, tfjob(name, ["true"]))[0], 201)
            pool.await_condition(name, "Succeeded", 20)

        for name in ("away", "gone", "kept"):
            self.assertEqual(raw.create(pool, hanging(name))[0], 201)
        runs("beside")
        eventually("it is told what does not answer",
                   lambda: f"still preparing away-worker-0: {dead.path} does not answer"
                   in pool.kubectl("describe", "tfjob", "away").stdout)
        pool.suspend("away")
        pool.await_condition("away", "Suspended", 10)
        pool.kubectl("delete", "tfjob", "gone", "--timeout=10s")
        runs("meanwhile")
        pool.stop()  # within its time, whatever hangs
        pool.start()
        runs("afterwards")
        self.assertEqual(pool.status("kept")["replicas"][0].get("started"), None)
        dead.revive()
        pool.await_condition("kept", "Failed", 30)
        self.assertEqual(pool.programs(), [])


if __name__ == "__main__":
    junit.main()
