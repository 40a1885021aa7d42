"""Root's pool whose jobs run as an account of their own (`serve --run-as`): real only as root, and it says so otherwise."""
import grp
import json
import os
import pwd
import shutil
import subprocess
import tempfile
import unittest
import venv
from pathlib import Path

from pool import PONDAGE, Pool, eventually, tfjob
import junit


def why_not():
    if os.geteuid() != 0:
        return "only root can make an account and run jobs as it"
    missing = [name for name in ("useradd", "userdel", "groupadd", "groupdel") if not shutil.which(name)]
    return "not on this machine: " + " ".join(missing) if missing else None


@unittest.skipIf(why_not(), why_not())
class RunAs(unittest.TestCase):
    """One pool and one temporary account, a member of a group beside its own, for all tests."""

    @classmethod
    def setUpClass(cls):
        cls.name = f"pondage-t{os.getpid()}"
        cls.team = cls.name + "g"
        cls.place = Path(tempfile.mkdtemp(prefix="pondage-run-as-"))
        cls.addClassCleanup(shutil.rmtree, cls.place, ignore_errors=True)
        cls.place.chmod(0o755)
        cls.home = cls.place / "home"
        subprocess.run(["groupadd", cls.team], check=True)
        cls.addClassCleanup(subprocess.run, ["groupdel", cls.team], check=True)
        subprocess.run(["useradd", "--create-home", "--home-dir", cls.home, "--groups", cls.team, cls.name],
                       check=True, capture_output=True)
        cls.addClassCleanup(subprocess.run, ["userdel", cls.name], check=True)
        cls.account = pwd.getpwnam(cls.name)
        # The Python of this test may lie where only root goes; the machine's own serves everyone.
        cls.pool = Pool("--run-as", cls.name, python="/usr")
        cls.pool.root.chmod(0o755)
        cls.pool.__enter__()
        cls.addClassCleanup(cls.pool.__exit__)

    @staticmethod
    def made(name, command, volumes=(), mounts=(), security=None, container_security=None, **more):
        job = tfjob(name, command, **more)
        pod = job["spec"]["tfReplicaSpecs"]["Worker"]["template"]["spec"]
        pod["volumes"] = list(volumes)
        pod["securityContext"] = security or {}
        pod["containers"][0]["volumeMounts"] = list(mounts)
        pod["containers"][0]["securityContext"] = container_security or {}
        return job

    def apply(self, name, command, **more):
        self.pool.apply(self.made(name, command, **more))
        self.addCleanup(self.pool.kubectl, "delete", "tfjob", name, "--ignore-not-found", "--timeout=60s")

    def output(self, name, script, **more):
        self.apply(name, ["sh", "-c", script], **more)
        self.pool.await_condition(name, "Succeeded")
        return self.pool.logs(f"{name}-worker-0")

    def owner(self, pid):
        return os.stat(f"/proc/{pid}").st_uid

    def running(self, name):
        self.pool.await_condition(name, "Running")
        return eventually("its program", lambda: self.pool.programs(name))

    def test_account_groups_home_and_place(self):
        said = self.output("who", "id -un; id -gn; id -Gn; echo $HOME $USER $LOGNAME; cd; touch here && pwd; "
                                  "cd - >/dev/null; echo x >mine && cat mine; echo err >/dev/stderr").splitlines()
        self.assertEqual(said[:2], [self.name, self.name])
        self.assertEqual(set(said[2].split()), {self.name, self.team})
        self.assertEqual(said[3:], [f"{self.home} {self.name} {self.name}", str(self.home), "x", "err"])

    def test_a_security_context_is_kept(self):
        team = grp.getgrnam(self.team).gr_gid
        look = "id -g; id -G; grep NoNewPrivs /proc/self/status | cut -f2; stat -c '%g %A' /s"
        shown = {"volumes": [{"name": "s", "emptyDir": {}}], "mounts": [{"name": "s", "mountPath": "/s"}]}
        own = self.account.pw_gid
        said = self.output("kept-context", look, security={"fsGroup": team, "runAsNonRoot": True, "supplementalGroups": [team]},
                           **shown).splitlines()
        self.assertEqual((said[0], set(said[1].split()), said[3]), (str(own), {str(own), str(team)}, f"{team} drwxrwsr-x"))
        said = self.output("strict-context", "id -G; grep NoNewPrivs /proc/self/status | cut -f2",
                           security={"supplementalGroupsPolicy": "Strict"},
                           container_security={"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}).splitlines()
        self.assertEqual(said, [str(own), "1"])
        for security, word in (({"runAsUser": 0}, "runAsUser 0"), ({"fsGroup": 0}, "fsGroup 0"),
                               ({"supplementalGroups": [0]}, "supplementalGroups 0")):
            job = self.made("refused", ["true"], security=security)
            done = self.pool.kubectl("apply", "-f", "-", input=json.dumps(job), check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(f"{word} is not allowed", done.stderr)

    def test_a_user_that_a_pod_chooses_is_in_no_other_group(self):
        with Pool(python="/usr") as closed:  # root's, which was told of no account
            closed.root.chmod(0o755)
            self.assertIn(self.team, subprocess.run(["id", "-Gn", self.name], capture_output=True, text=True).stdout)
            closed.apply(self.made("chosen", ["sh", "-c", "id -u; id -G"], security={"runAsUser": self.account.pw_uid}))
            closed.await_condition("chosen", "Succeeded")
            self.assertEqual(closed.logs("chosen-worker-0").split(),
                             [str(self.account.pw_uid), str(self.account.pw_gid)])

    def test_what_is_roots_stays_roots(self):
        said = self.output("peek", f"cd {self.pool.data}; cat admin.token pondage.sqlite kubeconfig pki/ca.key; "
                                   "ls . replicas; cat replicas/*/spec; kill -9 $PPID; echo still here")
        self.assertTrue(said.endswith("still here\n"), said)
        for line in filter(None, said.splitlines()[:-1]):
            self.assertRegex(line, "(?i)permission denied|not permitted|no such file", said)

    def test_a_working_copy_made_by_root_is_the_jobs(self):
        source = Path(tempfile.mkdtemp(prefix="pondage-source-"))
        self.addCleanup(shutil.rmtree, source)
        (source / "deep").mkdir()
        (source / "deep/train.sh").write_text("pwd | tr -d '\\n' >deep/result\n")
        done = self.pool.run("sh", "-c", f"cd {source} && exec \"$0\" \"$@\"", PONDAGE,
                             "run", "--image", "fake", "--name", "copied", "--yes", "--", "sh", "deep/train.sh", check=False)
        self.addCleanup(self.pool.kubectl, "delete", "tfjob", "copied", "--ignore-not-found", "--timeout=60s")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr + self.pool.log())
        copy = Path(self.pool.job("copied")["metadata"]["annotations"]["pondage.dev/workdir"])
        self.assertEqual((copy / "deep/result").read_text(), str(copy))
        self.assertEqual((copy / "deep/result").stat().st_uid, self.account.pw_uid)
        self.assertFalse((source / "deep/result").exists())
        self.pool.kubectl("delete", "tfjob", "copied")
        eventually("the copy is gone", lambda: not copy.exists())

    def someone(self):
        """One more account of the machine, and what starts `pondage` as it, in its project."""
        name = f"{self.name}o"
        home = self.place / "other"
        subprocess.run(["useradd", "--create-home", "--home-dir", home, name], check=True, capture_output=True)
        self.addCleanup(subprocess.run, ["userdel", "--remove", name], check=True, capture_output=True)
        account = pwd.getpwnam(name)
        project = home / "project"
        project.mkdir()
        (project / "words").write_text("mine\n")
        shutil.copy2(PONDAGE, self.place / "pondage")
        for path in (project, project / "words"):
            os.chown(path, account.pw_uid, account.pw_gid)

        def pondage(pool, *words):
            config = home / "config"
            config.unlink(missing_ok=True)
            pool.pondage("token", "revoke", name, check=False)
            pool.pondage("token", "create", name, "--write", str(config))
            os.chown(config, account.pw_uid, account.pw_gid)
            env = {"HOME": str(home), "PATH": "/usr/local/bin:/usr/bin:/bin", "KUBECONFIG": str(config)}
            return subprocess.run([self.place / "pondage", *words], cwd=project, env=env, user=account.pw_uid,
                                  group=account.pw_gid, extra_groups=[], text=True, capture_output=True, timeout=120)
        return name, account, pondage

    def test_another_account_of_the_machine_runs_what_it_has(self):
        name, account, pondage = self.someone()
        self.assertEqual((self.pool.data / "work").stat().st_mode & 0o7777, 0o1733)
        done = pondage(self.pool, "run", "--name", "theirs", "--yes", "--", "sh", "-c",
                       "id -un; cat words; echo more >result; python -c 'print(40 + 2)'")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr + self.pool.log())
        self.assertEqual(done.stdout.split(), [self.name, "mine", "42"])
        job = json.loads(self.pool.ask(f"/apis/kubeflow.org/v1/namespaces/{name}/tfjobs/theirs"))
        copy = Path(job["metadata"]["annotations"]["pondage.dev/workdir"])
        self.assertEqual({path.stat().st_uid for path in (copy, copy / "words", copy / "result")},
                         {self.account.pw_uid})
        reads = lambda who, path: subprocess.run(["cat", path], user=who.pw_uid, group=who.pw_gid, extra_groups=[],
                                                 capture_output=True, text=True, cwd="/").stdout
        self.assertEqual(reads(account, copy / "words"), "mine\n", "who asked for it reads it")
        self.assertEqual(reads(account, copy / "result"), "more\n", "... and what was made there")
        self.assertEqual(reads(pwd.getpwnam("nobody"), copy / "result"), "", "nobody else does")
        again = pondage(self.pool, "rerun", "theirs")
        self.assertRegex(again.stdout, r"^theirs-\d\n$", again.stderr)
        self.pool.kubectl("delete", "tfjob", "theirs", "-n", name)
        eventually("the copy is gone", lambda: not copy.exists())
        with Pool() as closed:
            done = pondage(closed, "run", "--yes", "--", "true")
            self.assertIn("PND-C019", done.stderr)
            self.assertIn(f"closed to the account {name}", done.stderr)
            self.assertIn("--run-as", done.stderr)

    def test_an_environment_that_the_account_cannot_reach_is_refused_at_once(self):
        closed = self.place / "roots"
        venv.create(closed / "env", symlinks=True)
        for name in ("python", "python3"):  # the Python of this test may lie where only root goes
            (closed / "env/bin" / name).unlink(missing_ok=True)
            (closed / "env/bin" / name).symlink_to("/usr/bin/python3")
        self.pool.add_environment("roots", closed / "env")
        closed.chmod(0o700)
        done = self.pool.pondage("run", "--yes", "--no-copy", "--image", "roots", "--", "python3", "-c", "1", check=False)
        self.assertNotEqual(done.returncode, 0)
        for part in ("PND-E003", str(closed / "env/bin/python"), f"the account {self.name}"):
            self.assertIn(part, done.stderr)

    def test_an_environment_that_bars_the_account_is_not_registered(self):
        for barred, mode in ((".", 0o700), ("env", 0o750), ("env/bin", 0o700), ("env/bin/python", 0o744)):
            with self.subTest(barred):
                place = Path(tempfile.mkdtemp(dir=self.place))
                place.chmod(0o755)
                (place / "env/bin").mkdir(parents=True)
                python = place / "env/bin/python"
                python.write_text('#!/bin/sh\nexec /usr/bin/python3 "$@"\n')
                python.chmod(0o755)
                culprit = place / barred
                culprit.chmod(mode)
                done = self.pool.pondage("env", "add", "barred", place / "env", check=False)
                self.assertNotEqual(done.returncode, 0)
                for part in ("PND-E003", f"the account {self.name}", f"chmod o+{'rx' if culprit == python else 'x'} {culprit}"):
                    self.assertIn(part, done.stderr)
                self.assertNotIn("barred", self.pool.pondage("env").stdout)
                culprit.chmod(0o755)  # as it was told
                self.pool.add_environment("barred", place / "env")
                self.pool.pondage("env", "rm", "barred")

    def test_an_environment_whose_python_is_a_link_to_where_the_account_may_not_go(self):
        hidden, env = self.place / "hidden", self.place / "linked"
        hidden.mkdir()
        shutil.copy("/bin/true", hidden / "python")
        hidden.chmod(0o700)
        (env / "bin").mkdir(parents=True)
        (env / "bin/python").symlink_to(hidden / "python")
        done = self.pool.pondage("env", "add", "linked", env, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(f"chmod o+x {hidden}", done.stderr)

    def test_volumes_belong_to_the_account(self):
        self.pool.apply({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "results"},
                         "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}})
        self.pool.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "words"}, "data": {"a": "alpha"}})
        self.pool.apply({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "key"}, "stringData": {"k": "hush"}})
        said = self.output(
            "volumes", "cat /words/a /key/k; echo kept >/out/file; cd /not/there/yet; echo x >y && stat -c %U y",
            volumes=[{"name": "out", "persistentVolumeClaim": {"claimName": "results"}}, {"name": "tmp", "emptyDir": {}},
                     {"name": "words", "configMap": {"name": "words"}}, {"name": "key", "secret": {"secretName": "key"}}],
            mounts=[{"name": "out", "mountPath": "/out", "subPath": "run/1"}, {"name": "tmp", "mountPath": "/not/there/yet"},
                    {"name": "words", "mountPath": "/words"}, {"name": "key", "mountPath": "/key"}])
        self.assertEqual(said, f"alphahush{self.name}\n")
        uid = self.pool.kubectl("get", "pvc", "results", "-o", "jsonpath={.metadata.uid}").stdout
        kept = self.pool.data / "persistent" / uid / "run/1/file"
        self.assertEqual((kept.read_text(), kept.stat().st_uid), ("kept\n", self.account.pw_uid))

    def test_a_host_path_goes_where_the_account_may_go(self):
        closed = self.place / "closed"
        (closed / "inner").mkdir(parents=True)
        (closed / "inner/file").write_text("root's\n")
        closed.chmod(0o700)
        team = self.place / "team"
        (team / "inner").mkdir(parents=True)
        (team / "inner/file").write_text("the team's\n")
        shutil.chown(team, group=self.team)
        team.chmod(0o750)

        def show(name, path):
            self.apply(name, ["cat", "/shown/file"], volumes=[{"name": "v", "hostPath": {"path": str(path)}}],
                       mounts=[{"name": "v", "mountPath": "/shown"}])
        show("allowed", team / "inner")
        self.pool.await_condition("allowed", "Succeeded")
        self.assertEqual(self.pool.logs("allowed-worker-0"), "the team's\n")
        show("refused", closed / "inner")
        self.pool.await_condition("refused", "Failed")
        why = json.dumps(self.pool.job("refused")["status"])
        self.assertIn(f"cannot be reached by {self.name}", why)

    def test_nothing_is_made_in_what_is_mounted_around_a_mount(self):
        roots = self.place / "around"
        roots.mkdir()
        (roots / "there").mkdir()
        host = {"name": "h", "hostPath": {"path": str(roots)}}
        inner = [{"name": "e", "emptyDir": {}}, {"name": "f", "hostPath": {"path": "/etc/hostname"}}]
        for name, at in [("made-dir", {"name": "e", "mountPath": "/x/newdir"}),
                         ("made-file", {"name": "f", "mountPath": "/x/nologin"})]:
            self.apply(name, ["true"], volumes=[host, *inner], mounts=[at, {"name": "h", "mountPath": "/x"}])
            self.pool.await_condition(name, "Failed")
            self.assertIn("which is mounted around it", json.dumps(self.pool.job(name)["status"]))
        self.assertEqual(os.listdir(roots), ["there"])
        self.pool.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "inner"}, "data": {"a": "alpha"}})
        words = {"name": "w", "configMap": {"name": "inner"}}
        said = self.output("nested", "cat /e/words/a; touch /e/mine /x/there/mine && echo .",
                           volumes=[host, *inner, words],
                           mounts=[{"name": "h", "mountPath": "/x"}, {"name": "e", "mountPath": "/x/there"},
                                   {"name": "e", "mountPath": "/e"}, {"name": "w", "mountPath": "/e/words"}])
        self.assertEqual(said, "alpha.\n")
        self.assertEqual(os.listdir(roots / "there"), [])

    def test_checkpoints_that_it_cannot_read_are_not_told_of(self):
        closed = self.place / "payroll"
        closed.mkdir(mode=0o700)
        self.apply("spy", ["sleep", "600"], annotations={"pondage.dev/checkpoint-dir": str(closed)})
        self.running("spy")
        (closed / "payroll-2027.xlsx").write_text("root's")
        self.test_checkpoints_that_only_it_can_read_are_seen()  # the same looks see what is no secret
        self.assertIsNone(self.pool.status("spy").get("checkpoint"))

    def test_checkpoints_that_only_it_can_read_are_seen(self):
        place = self.home / "ckpt"
        self.apply("saver", ["sh", "-c", f"umask 077; mkdir -p {place}; printf 'model_checkpoint_path: \"ckpt-7\"\\n' "
                                         f">{place}/checkpoint; exec sleep 600"],
                   annotations={"pondage.dev/checkpoint-dir": str(place)})
        seen = eventually("its checkpoint", lambda: self.pool.status("saver").get("checkpoint"))
        self.assertEqual(seen["step"], 7)

    def test_it_is_stopped_taken_over_and_killed_like_any_other(self):
        self.apply("kept", ["sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.1; done"], grace=1)
        self.pool.await_log("kept-worker-0", "ready")
        before = [pid for pid in self.running("kept") if self.owner(pid) == self.account.pw_uid][0]
        with subprocess.Popen([PONDAGE, "exec", "kept", "--", "sh", "-c", "trap '' HUP; echo $$; exec sleep 600"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=self.pool.env) as inside:
            beside = int(inside.stdout.readline())
            self.assertEqual(self.owner(beside), self.account.pw_uid)
            self.pool.crash()
            self.assertNotEqual(inside.wait(60), 0)
        eventually("what was run beside it ends with the server", lambda: not os.path.exists(f"/proc/{beside}"))
        self.pool.start()
        eventually("it is running", lambda: self.pool.holds("kept", "Running"))
        self.assertEqual(self.owner(before), self.account.pw_uid)
        self.assertIn(before, self.pool.programs("kept"))
        said = self.pool.kubectl("exec", "kept-worker-0", "--", "sh", "-c", "id -un; id -Gn; cat /etc/shadow; echo $HOME",
                                 check=False)
        self.assertEqual(said.stdout.splitlines()[0], self.name, said.stderr)
        self.assertEqual(set(said.stdout.splitlines()[1].split()), {self.name, self.team})
        self.assertEqual(said.stdout.splitlines()[2:], [str(self.home)])
        self.assertIn("Permission denied", said.stderr)
        self.pool.kubectl("delete", "tfjob", "kept", "--timeout=60s")
        eventually("it is gone", lambda: not self.pool.programs("kept"))


if __name__ == "__main__":
    junit.main()
