"""The contract of the command line, row by row: words in; exit code, streams and form of the answer out."""
import csv
import io
import json
import os
import pty
import pwd
import re
import subprocess
import time
import unittest
import venv
from pathlib import Path

import pool as pools
import junit

DONE, NEGATIVE, USAGE, NOT_FOUND, NOT_ALLOWED, NOT_REACHED, TIMED_OUT, CONFLICT = range(8)
LISTS = ("ps -a", "nodes", "queue", "env", "token", "doctor", "top --once", "config show", "version", "explain done-1")


class CommandLine(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pool = pools.Pool().__enter__()
        cls.addClassCleanup(cls.pool.__exit__)
        cls.file = cls.pool.root / "job.json"
        cls.file.write_text(json.dumps(pools.tfjob("applied", ["true"])))
        run = ("run", "--yes", "--no-copy", "--image", "fake", "--restarts", "0", "--name")
        cls.pool.pondage(*run, "done-1", "--", "true")
        cls.pool.pondage(*run, "bad-1", "--", "sh", "-c", "exit 9", check=False)
        cls.pool.pondage(*run, "long-1", "--detach", "--gpus", "1", "--", "sleep", "600")
        cls.pool.await_condition("long-1", "Running")
        cls.pool.pondage(*run, "waits-1", "--detach", "--gpus", "4", "--", "true")

    def ask(self, words, **more):
        return self.pool.pondage(*(words.split() if isinstance(words, str) else words), check=False, **more)

    def test_exit_codes_of_both_families(self):
        run = "run --yes --no-copy --image fake --restarts 0"
        rows = [("ps", DONE), ("version", DONE), ("show done-1", DONE), ("logs done-1", DONE), ("help", DONE),
                ("wait done-1", DONE), ("wait bad-1", NEGATIVE), ("wait bad-1 --exit-status", 9),
                ("wait long-1 --timeout 1s", TIMED_OUT), ("wait long-1 --for running", DONE),
                ("nonsense", USAGE), ("ps --nonsense", USAGE), ("show", USAGE), ("ps -o xml", USAGE),
                ("man PND-Q007", DONE), ("man PND-X999", NOT_FOUND), ("env add only-one", USAGE),
                ("show nobody", NOT_FOUND), ("logs nobody", NOT_FOUND), ("stop nobody", NOT_FOUND),
                ("explain nobody", NOT_FOUND), ("delete nobody", NOT_FOUND), ("rerun nobody", NOT_FOUND),
                ("logs done-1 --replica worker/5", NOT_FOUND), ("wait nobody", NOT_FOUND), ("nodes show nobody", NOT_FOUND),
                ("queue show nobody", NOT_FOUND), ("env rm nobody", NOT_FOUND), ("token revoke nobody", NOT_FOUND),
                ("ps --server https://127.0.0.1:1", NOT_REACHED), ("apply -f /no/such/file", USAGE),
                (f"{run} --detach --queue nobody -- true", NOT_FOUND), (f"{run} --queue nobody -- true", 125),
                (f"{run} --detach --name long-1 -- true", CONFLICT), ("run --detach --gpus 99 --no-copy --image fake -- true", NOT_ALLOWED),
                (f"{run} -- sh -c true", 0), (f"{run} -- false", 1), (f"{run} -- no-such-program", 127),
                ("delete long-1", USAGE), ("--version", DONE), ("config set lang=fr", USAGE),
                ("resume done-1", NEGATIVE), ("suspend bad-1", NEGATIVE), ("stop done-1 bad-1", NEGATIVE),
                ("nodes drain nobody", NOT_FOUND), ("ps --queue nobody", NOT_FOUND), ("serve --lisen 1:2", USAGE),
                (f"{run} --detach --priority nobody -- true", NOT_FOUND), (f"{run} --detach --memory 16 -- true", USAGE),
                (f"{run} --detach --mount /no/such:/data -- true", USAGE),
                ("run --detach --no-copy --image fake -- python no-such.py", USAGE)]
        for words, code in rows:
            with self.subTest(words):
                done = self.ask(words, input="")
                self.assertEqual(done.returncode, code, done.stdout + done.stderr)
                if code not in (DONE, 1, 9) and words != f"{run} -- no-such-program":
                    self.assertRegex(done.stderr, r"^(.*\n)*error PND-[A-Z]\d{3}: ", "an error has an id")
                    self.assertIn("pondage man PND-", done.stderr)
        self.assertTrue(self.pool.programs("long-1"), "what was not confirmed is not deleted")

    def test_a_refusal_names_what_would_be_right(self):
        node = self.ask("nodes -o name").stdout.split()[0]
        for words, wanted in (("resume done-1", "job done-1 has finished: it succeeded\n  try: pondage rerun done-1 "),
                              ("stop bad-1", "try: pondage rerun bad-1 "), ("serve --lisen 1:2", "did you mean --listen?"),
                              ("nodes drain nobody", f"there are: .*{node}"), ("ps --queue nobody", "there are: .*default"),
                              ("run --no-copy --image fake -- python no-such.py", "there is no no-such.py in "),
                              ("run --image fake --mount /no/such:/data -- true", "--mount: /no/such does not exist")):
            with self.subTest(words):
                done = self.ask(words, input="")
                self.assertRegex(done.stderr, wanted)
                self.assertNotIn("ps -a", done.stderr)
        self.assertEqual(self.ask("--version").stdout, self.ask("version --client").stdout)

    def test_rights_and_a_wrong_token(self):
        wrong = {"PONDAGE_SERVER": (self.pool.data / "address").read_text().strip(), "PONDAGE_TOKEN": "wrong",
                 "PONDAGE_CA": str(self.pool.data / "pki/ca.crt"), "KUBECONFIG": ""}
        self.assertEqual(self.ask("ps", env=wrong).returncode, NOT_ALLOWED)
        other = str(self.pool.root / "li.kubeconfig")
        made = self.ask(("token", "create", "li", "--write", other))
        self.assertIn(f"only {pwd.getpwuid(os.geteuid()).pw_name} can read {other}", made.stderr)
        self.assertIn(f"chown ACCOUNT {other}", made.stderr)
        self.assertIn("fake", self.ask("env ls", env={"KUBECONFIG": other}).stdout)
        self.assertEqual(self.ask(("env", "rm", "fake"), env={"KUBECONFIG": other}).returncode, NOT_ALLOWED)
        self.assertEqual(self.ask("ps", env={"KUBECONFIG": other}).returncode, DONE)
        self.assertEqual(self.ask("stop long-1 -n default", env={"KUBECONFIG": other}).returncode, NOT_ALLOWED)

    def test_a_rerun_says_when_its_image_is_not_what_it_was(self):
        folders = [self.pool.root / "then", self.pool.root / "now"]
        for folder in folders:
            venv.create(folder, symlinks=True)
        digest = "fixed@sha256:" + "7" * 64
        for image in ("tag:1", digest):
            self.pool.add_environment(image, folders[0])
        for image, name in (("tag:1", "tag-1"), (digest, "fixed-1")):
            self.pool.pondage("run", "--yes", "--no-copy", "--image", image, "--restarts", "0", "--name", name, "--", "true")
            self.assertEqual(self.ask(f"rerun {name} --same-digest").returncode, DONE)
            self.pool.pondage("env", "rm", image)
            self.pool.add_environment(image, folders[1])
        refused, warned = self.ask("rerun tag-1 --same-digest"), self.ask("rerun tag-1")
        self.assertEqual((refused.returncode, warned.returncode), (NOT_ALLOWED, DONE))
        self.assertIn("PND-E006", refused.stderr)
        for said in (refused.stderr, warned.stderr):
            for folder in folders:
                self.assertIn(f"{folder} (Python 3.", said)
        fixed = self.ask("rerun fixed-1 --same-digest")
        self.assertEqual((fixed.returncode, "warning" in fixed.stderr), (DONE, False), fixed.stderr)
        self.assertEqual(self.ask("rerun waits-1 --same-digest").returncode, NOT_ALLOWED, "it never ran")

    def test_every_list_in_every_format(self):
        for words in LISTS:
            with self.subTest(words):
                answer = json.loads(self.ask(f"{words} -o json").stdout)
                self.assertRegex(answer["schema"], r"^pondage\.[a-z]+/1$")
                self.assertRegex(answer["asOf"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
                self.assertTrue(answer["items"])
                for item in answer["items"]:
                    self.assertIsInstance(item["name"], str)
                    for key, value in item.items():
                        if re.search(r"(Percent|Bytes|Seconds|Gpus|Watts|Celsius)$", key):
                            self.assertTrue(value is None or type(value) is int, (key, value))
                names = self.ask(f"{words} -o name").stdout.split("\n")[:-1]
                self.assertEqual(names, [item["name"] for item in answer["items"]])
                rows = list(csv.DictReader(io.StringIO(self.ask(f"{words} -o csv").stdout)))
                self.assertEqual([row["name"] for row in rows], names)
                self.assertIn(f"schema: {answer['schema']}", self.ask(f"{words} -o yaml").stdout)
                table = self.ask(f"{words} -o table")
                self.assertEqual(table.returncode, DONE)
                self.assertNotIn("\x1b", table.stdout, "no colour in a pipe")
                self.assertNotIn("as of", table.stdout, "nothing but rows in a pipe")

    def test_every_output_of_every_command_works_or_is_refused(self):
        lab = self.pool.root / "lab.yaml"
        lab.write_text("fleet: [{servers: 1, gpus: 2}]\njobs: [{name: a, gpus: 1, lasts: 1h}]\n")
        lines = {"run": "run --yes --no-copy --image fake --detach X -- true", "apply": f"apply --dry-run -f {self.file} X",
                 "ps": "ps -a X", "show": "show done-1 X", "explain": "explain waits-1 X", "wait": "wait done-1 X",
                 "rerun": "rerun done-1 X", "top": "top --once X", "queue": "queue X", "nodes": "nodes X", "env": "env X",
                 "token": "token X", "doctor": "doctor X", "config": "config X", "version": "version X", "help": "help X",
                 "simulate": f"simulate {lab} X",
                 "report": "report X", "logs": "logs done-1 X", "stop": "stop done-1 X", "suspend": "suspend done-1 X",
                 "resume": "resume done-1 X", "delete": "delete done-1 X", "exec": "exec long-1 X -- true",
                 "backup": f"backup {self.pool.root}/copied X", "completion": "completion bash X", "man": "man ps X"}
        self.assertEqual(set(lines) | {"serve"}, set(self.ask("help -o name").stdout.split()))
        node = json.loads(self.ask("nodes -o json").stdout)["items"][0]["name"]
        rows = [*lines.items(), ("run", "run --yes --no-copy --image fake --dry-run X -- true"),
                ("run", "run --yes --no-copy --image fake X -- true"), ("queue", "queue show default X"),
                ("nodes", f"nodes show {node} X"), ("queue", "queue set default held=false X")]
        for command, line in rows:
            for value in ("table", "wide", "json", "yaml", "csv", "name"):
                with self.subTest(line, value=value):
                    done = self.ask(line.replace("X", f"-o {value}"))
                    if done.returncode in (USAGE, 125) and "--output" in done.stderr:
                        self.assertEqual(done.stdout, "")
                        self.assertRegex(done.stderr, r"takes table\|\w+|takes no --output|goes with --detach")
                        continue
                    self.assertEqual(done.returncode, self.ask(line.replace("X", "")).returncode, done.stderr)
                    if value == "json":
                        json.loads(done.stdout)
                    elif value == "yaml":
                        self.assertRegex(done.stdout, r"^[A-Za-z]+: ")
                    elif value == "csv":
                        self.assertTrue(list(csv.DictReader(io.StringIO(done.stdout))))
                    elif value == "name":
                        self.assertTrue(all(re.fullmatch(r"[^ ]+", name) for name in done.stdout.split("\n")[:-1]), done.stdout)

    def test_colour_by_flag_and_environment(self):
        red = "\x1b["
        rows = [({}, "", False), ({"CLICOLOR_FORCE": "1"}, "", True), ({"FORCE_COLOR": "0"}, "", False),
                ({"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, "", False), ({"NO_COLOR": ""}, "--color always", True),
                ({"NO_COLOR": "1"}, "--color always", True), ({"CLICOLOR_FORCE": "1"}, "--color never", False)]
        for env, flag, coloured in rows:
            with self.subTest((env, flag)):
                self.assertEqual(red in self.ask(f"ps -a {flag}", env=env).stdout, coloured)

    def test_languages_say_the_same_of_the_same(self):
        for words in ("ps -a", "show done-1", "explain waits-1", "queue", "nodes", "doctor", "top --once", "help", "help run"):
            with self.subTest(words):
                english = self.ask(f"{words} --lang en", env={"LC_ALL": "C.UTF-8"}).stdout
                chinese = self.ask(f"{words} --lang zh", env={"LC_ALL": "C.UTF-8"}).stdout
                self.assertTrue(re.search(r"[\u4e00-\u9fff]", chinese), chinese)
                self.assertFalse(re.search(r"[\u4e00-\u9fff]", english), english)
        machine = [json.loads(self.ask(f"ps -a -o json --lang {lang}").stdout)["items"] for lang in ("en", "zh")]
        self.assertEqual([item["state"] for item in machine[0]], [item["state"] for item in machine[1]])

    def test_a_closed_pipe_ends_quietly(self):
        for words in ("ps -a", "help", "logs done-1", "man"):
            read, write = os.pipe()
            os.close(read)
            done = subprocess.run([pools.PONDAGE, *words.split()], env=self.pool.env, text=True, stdout=write,
                                  stderr=subprocess.PIPE, timeout=60)
            os.close(write)
            self.assertEqual((done.returncode, done.stderr), (0, ""), words)

    def test_what_is_printed_for_people_stays_off_stdout(self):
        done = self.ask(("run", "--yes", "--no-copy", "--image", "fake", "--", "printf", "only this"))
        self.assertEqual(done.stdout, "only this")
        self.assertIn("PLAN", done.stderr)
        quiet = self.ask(("run", "-q", "--yes", "--no-copy", "--image", "fake", "--", "printf", "only this"))
        self.assertEqual((quiet.stdout, quiet.stderr), ("only this", ""))

    def test_the_same_key_is_the_same_job(self):
        words = ("run", "--detach", "--yes", "--no-copy", "--image", "fake", "--idempotency-key", "night", "--")
        first = self.ask((*words, "true"))
        self.assertEqual(self.ask((*words, "true")).stdout, first.stdout)
        self.assertEqual(self.ask((*words, "false")).returncode, CONFLICT)

    def at_once(self, count, *words):
        """So many of the same `pondage run --detach` at the same moment: what each said."""
        work = self.pool.root / "work"
        work.mkdir(exist_ok=True)
        (work / "train.sh").write_text("pwd")
        command = [pools.PONDAGE, "run", "--detach", "--yes", "--image", "fake", *words, "--", "sh", "train.sh"]
        running = [subprocess.Popen(command, cwd=work, env=self.pool.env, text=True, stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE) for _ in range(count)]
        said = [(*program.communicate(timeout=120), program.returncode) for program in running]
        for _, wrong, code in said:
            self.assertEqual(code, 0, wrong)
        return [out.strip() for out, _, _ in said]

    def test_many_at_once_are_as_many_jobs_each_in_its_own_copy(self):
        names = [name for _ in range(3) for name in self.at_once(5)]
        self.assertEqual(len(set(names)), 15)
        for name in names:
            self.pool.await_condition(name, "Succeeded")
            copy = self.pool.job(name)["metadata"]["annotations"]["pondage.dev/workdir"]
            self.assertTrue(os.path.basename(copy).startswith(f"default.{name}-"), (name, copy))
            self.assertEqual(self.pool.pondage("logs", name).stdout, copy + "\n")

    def test_a_rerun_has_a_copy_of_its_own(self):
        work = self.pool.root / "again"
        work.mkdir()
        (work / "train.sh").write_text("echo x >>ran; pwd")
        self.pool.run("sh", "-c", f"cd {work} && exec \"$0\" \"$@\"", pools.PONDAGE, "run", "--yes", "--image", "fake",
                      "--checkpoint-dir", "ckpt", "--name", "again-1", "--", "sh", "train.sh")
        notes = lambda name: self.pool.job(name)["metadata"]["annotations"]
        copy = lambda name: Path(notes(name)["pondage.dev/workdir"])
        for old, new, goes in (("again-1", "again-2", "again-1"), ("again-2", "again-3", "again-3")):
            self.assertEqual(self.ask(f"rerun {old}").stdout, new + "\n")
            self.pool.await_condition(new, "Succeeded")
            self.assertEqual(self.pool.pondage("logs", new).stdout, f"{copy(new)}\n")
            self.assertEqual(notes(new)["pondage.dev/checkpoint-dir"], f"{copy(new)}/ckpt")
            self.assertEqual((copy(new) / "ran").read_text(), (copy(old) / "ran").read_text() + "x\n")
            gone, stays = copy(goes), copy(old if goes == new else new)
            self.pool.pondage("delete", "--yes", goes)
            pools.eventually("its copy is gone", lambda: not gone.exists())
            self.assertTrue((stays / "train.sh").exists(), "the other's is not")
        shared = self.ask("rerun again-2 --share-copy")
        self.assertEqual(shared.stdout, "again-3\n")
        self.assertIn("the new job runs in the working copy of again-2", shared.stderr)
        self.pool.await_condition("again-3", "Succeeded")
        self.assertEqual(copy("again-3"), copy("again-2"))
        self.pool.pondage("delete", "--yes", "again-3")
        self.assertTrue((copy("again-2") / "train.sh").exists(), "it was never its own")
        large = self.ask("rerun again-2 --copy-limit 1")
        self.assertIn("PND-C011", large.stderr)
        self.assertEqual(self.pool.job("again-4"), {})

    @unittest.skipUnless(os.geteuid() == 0, "only root can hide a directory from one command")
    def test_a_rerun_from_where_the_copy_is_not_seen_runs_in_it(self):
        """As on another machine, or by an account that may not read it."""
        work = self.pool.root / "afar"
        work.mkdir()
        (work / "train.sh").write_text("echo x >>ran; pwd")
        self.pool.run("sh", "-c", f"cd {work} && exec \"$0\" \"$@\"", pools.PONDAGE, "run", "--yes", "--image", "fake",
                      "--name", "afar-1", "--", "sh", "train.sh")
        copy = Path(self.pool.job("afar-1")["metadata"]["annotations"]["pondage.dev/workdir"])
        hide = 'mount -t tmpfs none "$0" && exec "$@"'
        again = self.pool.run("unshare", "-m", "sh", "-c", hide, self.pool.data / "work",
                              pools.PONDAGE, "rerun", "afar-1", check=False)
        self.assertEqual((again.returncode, again.stdout), (DONE, "afar-2\n"), again.stderr)
        for part in (f"cannot read {copy}: No such file or directory; ", "runs in the working copy of afar-1",
                     "deleting afar-1 takes it away"):
            self.assertIn(part, again.stderr)
        self.pool.await_condition("afar-2", "Succeeded")
        self.assertEqual(self.pool.pondage("logs", "afar-2").stdout, f"{copy}\n")
        self.assertEqual((copy / "ran").read_text(), "x\nx\n")

    def test_where_no_thread_can_be_had_it_says_so(self):
        """Threads get stacks as large as the limit: with this one none can be had."""
        without = ("prlimit", f"--stack={200 << 40}:unlimited", pools.PONDAGE)
        for words, code in (("wait done-1", NOT_REACHED), ("logs -f long-1", NOT_REACHED),
                            ("run --yes --no-copy --image fake --name lone-1 -- true", 125), ("ps", DONE)):
            done = self.pool.run(*without, *words.split(), check=False)
            self.assertEqual(done.returncode, code, f"{words}: {done.stderr}")
            if code != DONE:
                self.assertIn("error: this machine gives no thread", done.stderr)
        self.pool.await_condition("lone-1", "Succeeded")

    def test_many_at_once_with_one_key_are_one_job(self):
        names = self.at_once(5, "--idempotency-key", "once")
        self.assertEqual(len(set(names)), 1)
        copies = [copy for copy in os.listdir(self.pool.data / "work") if copy.startswith(f"default.{names[0]}-")]
        own = self.pool.job(names[0])["metadata"]["annotations"]["pondage.dev/workdir"]
        self.assertEqual(copies, [os.path.basename(own)], "those of the others are gone")

    def test_apply_says_what_it_did(self):
        said = [self.ask(("apply", "-f", str(self.file))).stdout for _ in range(2)]
        self.assertEqual(said, ["tfjob/applied created\n", "tfjob/applied unchanged\n"])
        self.assertEqual(self.ask(("apply", "-f", "-"), input=self.file.read_text()).stdout, "tfjob/applied unchanged\n")

    def test_finished_jobs_are_deleted_by_age_and_no_others(self):
        self.pool.kubectl("create", "namespace", "heap")
        run = "run -n heap --yes --no-copy --image fake --restarts 0 --name"
        self.ask(f"{run} ended-1 -- true")
        self.ask(f"{run} ended-2 -- false")
        self.ask(f"{run} lives-1 --detach -- sleep 600")
        left = lambda: set(self.ask("ps -a -n heap -o name").stdout.split())
        self.assertEqual(self.ask("delete -n heap --older-than 1h").returncode, USAGE)
        self.assertEqual(self.ask("delete -n heap --finished --older-than 1h").returncode, DONE)
        self.assertEqual(len(left()), 3)
        done = self.ask("delete -n heap --finished")
        self.assertEqual(done.stdout.split("\n")[:2], ["tfjob/ended-1 deleted", "tfjob/ended-2 deleted"])
        pools.eventually("those are gone", lambda: len(left()) == 1)
        self.assertIn("no such job has ended", self.ask("delete -n heap --finished").stdout)
        self.assertEqual(self.ask("stop -n heap lives-1").returncode, DONE, "without a terminal nobody is asked")

    def test_a_failure_that_is_tried_again_says_how_to_end_that(self):
        tries = self.ask(["run", "--yes", "--no-copy", "--image", "fake", "--restarts", "1", "--name", "tries-1", "--",
                          "sh", "-c", "exit 3"])
        self.assertEqual(tries.returncode, 3)
        self.assertEqual(tries.stderr.count("pondage stop tries-1"), 1, tries.stderr)
        self.assertIn("--restarts 0", tries.stderr)
        self.assertIn("pondage doctor --job tries-1", tries.stderr)

    def test_a_script_that_the_copy_will_not_hold_is_refused(self):
        here, beside = self.pool.root / "here", self.pool.root / "beside"
        for place in (here, beside):
            place.mkdir()
        (beside / "train.py").write_text("print('trained')")
        run = f'cd {here} && exec "$0" run --image fake --restarts 0 "$@" -- python ../beside/train.py'
        done = self.pool.run("sh", "-c", run, pools.PONDAGE, check=False)
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertIn(f"../beside/train.py lies outside {here}", done.stderr)
        done = self.pool.run("sh", "-c", run, pools.PONDAGE, "--yes", "--no-copy", check=False)
        self.assertEqual((done.returncode, done.stdout), (0, "trained\n"), done.stderr)

    def test_a_slow_reader_gets_all_of_the_output(self):
        run = ["run", "--yes", "--no-copy", "--image", "fake", "--restarts", "0", "--", "sh", "-c",
               "i=0; while [ $i -lt 40 ]; do head -c 200000 /dev/zero | tr '\\0' x; echo; i=$((i+1)); done; echo the last words"]
        program = subprocess.Popen([pools.PONDAGE, *run], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=self.pool.env)
        got = 0
        while block := program.stdout.read1(1 << 20):
            got, last = got + len(block), block
            time.sleep(0.5 if got > 1 << 20 else 0)  # longer by far than the job runs
        self.assertEqual((program.wait(), got), (DONE, 40 * 200001 + len("the last words\n")))
        self.assertTrue(last.endswith(b"the last words\n"))
        program.stdout.close()

    def test_a_dry_run_records_nothing(self):
        known = self.ask("env ls -o json").stdout
        self.assertEqual(self.ask("run --yes --no-copy --dry-run -- python3 -c pass").returncode, DONE)
        self.assertEqual(self.ask("env ls -o json").stdout, known)

    def test_a_manifest_that_names_what_runs_asks_as_its_name_does(self):
        self.ask("run --yes --no-copy --image fake --name listed-1 --detach -- sleep 600")
        file = self.pool.root / "listed.yaml"
        file.write_text("apiVersion: kubeflow.org/v1\nkind: TFJob\nmetadata: {name: listed-1}\n")
        for words in (["listed-1"], ["-f", str(file)]):
            refused = self.ask(["delete", *words])
            self.assertEqual(refused.returncode, USAGE, refused.stderr)
        self.assertEqual(self.ask(["delete", "-f", str(file), "--yes"]).stdout, "tfjob/listed-1 deleted\n")

    def test_a_token_is_not_made_where_its_file_cannot_be(self):
        refused = self.ask("token create writes --write /nonexistent/kubeconfig")
        self.assertEqual(refused.returncode, USAGE, refused.stderr)
        self.assertNotIn("writes", self.ask("token").stdout)
        self.assertEqual(self.ask(f"token create writes --write {self.pool.root}/writes.kubeconfig").returncode, DONE)

    def test_the_exit_code_is_that_of_the_command_whatever_jobs_are_called(self):
        for command in ("show run", "show exec", "delete --yes wait"):
            self.assertEqual(self.ask(command).returncode, NOT_FOUND, command)
        self.assertEqual(self.ask("run --no-such-flag -- true").returncode, 125)

    def test_verbose_tells_what_the_server_is_asked(self):
        said = self.ask("ps -v").stderr
        self.assertRegex(said, r"GET /apis/kubeflow.org/v1/\S+ 200 \d+ ms\n")
        self.assertEqual(self.ask("ps").stderr, "")

    def test_stopping_what_has_saved_nothing_is_asked_for_on_a_terminal(self):
        for answer, code in ((b"n\n", NEGATIVE), (b"\n", NEGATIVE)):
            master, slave = pty.openpty()
            program = subprocess.Popen([pools.PONDAGE, "stop", "waits-1", "long-1"], stdin=slave, stdout=slave, stderr=slave,
                                       env=self.pool.env)
            os.close(slave)
            os.write(master, answer)
            self.assertEqual(program.wait(60), code)
            self.assertIn("long-1 was not seen to save a checkpoint", os.read(master, 65536).decode())
            os.close(master)
        self.assertTrue(self.pool.programs("long-1"))
        self.assertFalse(self.pool.job("waits-1")["spec"].get("runPolicy", {}).get("suspend"), "all or none of them")

    def test_ctrl_c_detaches_and_says_how_to_return(self):
        master, slave = pty.openpty()
        command = [pools.PONDAGE, "run", "--yes", "--no-copy", "--image", "fake", "--name", "held-1", "--", "sleep", "600"]
        program = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=self.pool.env,
                                   start_new_session=True, preexec_fn=lambda: __import__("fcntl").ioctl(0, __import__("termios").TIOCSCTTY, 0))
        os.close(slave)
        self.pool.await_condition("held-1", "Running")
        os.write(master, b"\x03")
        self.assertEqual(program.wait(60), 130)
        said = os.read(master, 65536).decode()
        self.assertIn("pondage logs -f held-1", said)
        self.assertIn("pondage stop held-1", said)
        self.assertTrue(self.pool.programs("held-1"), "the job lives on")
        os.close(master)


if __name__ == "__main__":
    junit.main()
