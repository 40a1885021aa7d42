"""A thousand no-op jobs on eight GPUs: Pondage beside Slurm, same machine, program and concurrency."""

import getpass
import os
import shutil
import socket
import statistics
import subprocess
import threading
import time

from family import Family, Stuck, await_
from rows import started, throughput
from table import Row, mb, not_run

PROGRAMS = ("slurmctld", "slurmd", "munged", "sbatch", "squeue", "sinfo")

COMMON = """
ClusterName=bench
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={base}/munge.socket
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
StateSaveLocation={base}/state
SlurmdSpoolDir={base}/spool
SlurmctldPidFile={base}/slurmctld.pid
SlurmdPidFile={base}/slurmd.pid
SlurmctldLogFile={base}/slurmctld.log
SlurmdLogFile={base}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
GresTypes=gpu
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs=8 RealMemory=1000 Gres=gpu:8 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""

# By Slurm's own guide for high throughput: little logging, no accounting, short memory, and a scheduler
# that runs at once instead of every few seconds. Which of its two schedulers does better depends on
# the machine: both are run, the faster one counts.
QUIET = """
PriorityType=priority/basic
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/none
MinJobAge=10
SlurmctldDebug=error
SlurmdDebug=error
PropagateResourceLimits=NONE
"""
NOW = "sched_interval=1,sched_min_interval=0,batch_sched_delay=0"
TUNED = (
    QUIET + f"SchedulerType=sched/builtin\nSchedulerParameters=default_queue_depth=2000,{NOW}\n",
    QUIET + f"SchedulerType=sched/backfill\nSchedulerParameters=default_queue_depth=100,{NOW},bf_interval=1\n",
)


def missing():
    return [name for name in PROGRAMS if _find(name) is None]


def _find(name):
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin:/sbin")


def _free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


class Slurm:
    """munged, slurmctld and slurmd on loopback, all their files below `base`."""

    def __init__(self, base, extra):
        self.base = base
        self.host = socket.gethostname().split(".")[0]
        for name in ("state", "spool"):
            os.makedirs(os.path.join(base, name))
        text = COMMON.format(host=self.host, base=base, user=getpass.getuser(),
                             ports=_free_ports(2)) + extra
        self.config = os.path.join(base, "slurm.conf")
        self._write("slurm.conf", text)
        for i in range(8):
            self._write(f"gpu{i}", "")  # stands for a device file: Slurm wants one for each GPU
        self._write("gres.conf", f"NodeName={self.host} Name=gpu File={base}/gpu[0-7]\n")
        self._write("munge.key", os.urandom(1024))
        self.env = {**os.environ, "SLURM_CONF": self.config}
        self.families = []
        try:
            self._start()
        except Stuck:
            self.close()
            raise

    def _write(self, name, content):
        path = os.path.join(self.base, name)
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        os.chmod(path, 0o600 if name.endswith("key") else 0o644)

    def _run(self, name, *argv):
        path = self.base
        family = Family([_find(name), *argv], os.path.join(path, name + ".out"), self.env)
        self.families.append(family)
        return family

    def _start(self):
        at = lambda name: os.path.join(self.base, name)  # noqa: E731
        # --force: below a temporary directory, which anybody may write to
        self._run("munged", "--foreground", "--force", "--socket", at("munge.socket"), "--key-file",
                  at("munge.key"), "--pid-file", at("munged.pid"), "--log-file", at("munged.log"),
                  "--seed-file", at("munged.seed"))
        await_("munge's socket", 10, lambda: os.path.exists(at("munge.socket")))
        self._run("slurmctld", "-D", "-f", self.config)
        self._run("slurmd", "-D", "-f", self.config)
        await_("Slurm's node", 60, self._idle, pause=0.2)

    def _idle(self):
        for family in self.families:
            if not family.alive():
                raise Stuck(f"Slurm ended: {family.log()[-500:]}")
        seen = subprocess.run([_find("sinfo"), "-h", "-o", "%t %G"], env=self.env,
                              capture_output=True, text=True)
        return seen.stdout.strip() == "idle gpu:8"

    def submit(self, script, *more):
        done = subprocess.run(
            [_find("sbatch"), "-Q", "--gres=gpu:1", "-n1", "-o", "/dev/null", "-D", "/", *more, script],
            env=self.env, capture_output=True, text=True)
        if done.returncode != 0:
            raise Stuck("sbatch: " + done.stderr.strip())

    def empty(self):
        seen = subprocess.run([_find("squeue"), "-h", "-o", "%i"], env=self.env,
                              capture_output=True, text=True)
        return seen.returncode == 0 and not seen.stdout.strip()

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


def slurm_run(scene, extra, count, clients):
    """Seconds for the same jobs with Slurm; each submission is one sbatch, `clients` at a time."""
    base = scene.directory("slurm")
    began = os.path.join(base, "began")
    script = os.path.join(base, "job.sh")
    with open(script, "w") as file:
        file.write(f"#!/bin/sh\nexec {scene.program('bench_noop')} {began} $SLURM_JOB_ID\n")
    with Slurm(base, extra) as slurm:
        left = iter(range(count))
        lock = threading.Lock()
        errors = []

        def submit():
            while not errors:
                with lock:
                    if next(left, None) is None:
                        return
                try:
                    slurm.submit(script)
                except Stuck as error:
                    errors.append(str(error))

        threads = [threading.Thread(target=submit) for _ in range(clients)]
        before = slurm.cpu()
        begin = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        submitted = time.monotonic() - begin
        if errors:
            raise Stuck(errors[0])
        await_(f"{count} jobs of Slurm", 1200, lambda: len(started(began)) >= count, pause=0.02)
        await_("Slurm's empty queue", 120, slurm.empty, pause=0.05)
        return {"seconds": time.monotonic() - begin, "submitted": submitted,
                "cpu": slurm.cpu() - before, "resident": slurm.resident()}


def throughput_rows(scene):
    count, clients, rounds = (100, 16, 1) if scene.quick else (1000, 16, 3)
    runs = [throughput(scene, count, clients) for _ in range(rounds)]
    ours = statistics.median(run["seconds"] for run in runs)
    what = f"{count:,} no-op jobs, {clients} clients, 8 virtual GPUs"
    middle = sorted(runs, key=lambda run: run["seconds"])[len(runs) // 2]
    yield Row(f"{what}: Pondage", f"{ours:.2f} s ({count / ours:.0f} jobs/s)",
              note=f"median of {rounds}; submitted after {middle['submitted']:.2f} s; CPU "
                   f"{middle['server']:.2f} s server, {middle['others']:.2f} s shims and programs; "
                   f"resident {mb(middle['resident'])}")
    for name, settings, must, aim in (("at its defaults", ("",), 50, 100),
                                      ("tuned for throughput", TUNED, 10, 20)):
        label = f"{what}: times faster than Slurm {name}"
        lacking = missing()
        if lacking:
            yield not_run(label, "not installed: " + " ".join(lacking), f"{must}x", f"{aim}x")
            continue
        tried = [(slurm_run(scene, extra, count, clients), extra) for extra in settings]
        theirs, extra = min(tried, key=lambda run: run[0]["seconds"])
        ratio = theirs["seconds"] / ours
        yield Row(label, f"{ratio:.1f}x", f"{must}x", f"{aim}x", ratio, must, aim,
                  f"Slurm {theirs['seconds']:.1f} s ({count / theirs['seconds']:.1f} jobs/s), "
                  f"submitted after {theirs['submitted']:.1f} s; CPU of its daemons and steps "
                  f"{theirs['cpu']:.1f} s; resident {mb(theirs['resident'])}; "
                  f"{' '.join(extra.split()) or 'nothing set but what it needs to run'}",
                  more_is_better=True)
