"""pondage simulate: the same bytes twice and through the whole server, every form of the answer, and what it refuses."""
import csv
import io
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "report"))
import browser  # noqa: E402
import junit  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
PONDAGE = pathlib.Path(os.environ["PONDAGE_BIN"]).resolve() / "pondage"
LAB = """
fleet: [{servers: 2, gpus: 8}]
queues: [{name: vision, guarantee: 8}, {name: nlp, guarantee: 8}]
jobs:
  - {name: big, queue: vision, user: anna, gpus: 16, lasts: 3h, submitted: 30m}
  - {name: sweep, queue: nlp, user: ben, gpus: 2, lasts: 50m, times: 12, every: 9m}
  - {name: eval, queue: vision, gpus: 1, lasts: 20m, times: 8, every: 25m}
policy: {also-faster: 1.5}
"""
SACCT = """JobID|User|Account|Submit|Elapsed|Timelimit|AllocTRES
7|anna|vision|2024-01-02T03:04:05|01:00:00|2-00:00:00|cpu=64,gres/gpu=8,node=1
7.batch|||2024-01-02T03:04:05|01:00:00||cpu=64
8|ben|nlp|2024-01-02T03:04:06|00:10:00|UNLIMITED|gres/gpu=8,node=1
"""


class Simulate(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "lab.yaml").write_text(LAB)
        (self.folder / "jobs.txt").write_text(SACCT)

    def ask(self, *words):
        env = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "LC_ALL": "C.UTF-8"}
        return subprocess.run([PONDAGE, "simulate", *words], cwd=self.folder, env=env, text=True, capture_output=True)

    def answer(self, *words):
        done = self.ask(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_the_same_bytes_twice_and_through_the_server(self):
        words = ("lab.yaml", "--baseline", "islands", "--baseline", "srtf")
        for form in ("json", "csv"):
            once = self.answer(*words, "-o", form)
            self.assertEqual(once, self.answer(*words, "-o", form))
            self.assertEqual(once, self.answer(*words, "-o", form, "--whole"))

    def test_what_goes_wrong_is_drawn_by_the_seed(self):
        words = ("lab.yaml", "--faults", "mtbf=90m,repair=20m,limits=0.5..3", "--costs", "restart=60s,checkpoint-every=10m", "-o", "json")
        once = self.answer(*words)
        self.assertEqual(once, self.answer(*words, "--whole"))
        self.assertNotEqual(once, self.answer(*words, "--seed", "2"))
        run = json.loads(once)["runs"][0]
        self.assertGreater(run["figures"]["failures_per_job"], 0)
        self.assertGreater(run["figures"]["lost_gpu_hours"], 0)
        self.assertGreater(run["figures"]["cut"], 0)
        self.assertIn("a machine fails every 90 min, repair 20 min", run["costs"])

    def test_several_seeds_are_means_with_intervals(self):
        words = ("lab.yaml", "--faults", "mtbf=90m,repair=20m,arrivals=5m", "--seeds", "4")
        run = json.loads(self.answer(*words, "-o", "json"))["runs"][0]
        mean = run["seeds"]["figures"]["wait_s.mean"]
        alone = [json.loads(self.answer(*words[:3], "--seed", str(seed), "-o", "json"))["runs"][0]["figures"]["wait_s"]["mean"]
                 for seed in range(1, 5)]
        self.assertAlmostEqual(mean["mean"], statistics.mean(alone), places=6)
        self.assertAlmostEqual(mean["half_width_95"], 3.182 * statistics.stdev(alone) / 2, places=6)
        rows = list(csv.DictReader(io.StringIO(self.answer(*words, "-o", "csv"))))
        self.assertIn("wait_s.mean", [row["figure"] for row in rows])
        self.assertIn(" ±", self.answer(*words))

    def test_two_ways_are_compared_decision_by_decision(self):
        words = ("lab.yaml", "--compare", "pondage", "fifo")
        text = self.answer(*words)
        self.assertIn("pondage and fifo part first at 00:50:00, about sweep-5", text)
        self.assertIn("10 GPUs are free, it asks for 2; 1 came before and wait, first big for 16", text)
        self.assertIn("needs 16 GPUs", text)  # the pool's own reason, of the job that fifo starts and the pool does not
        self.assertIn("最先在 00:50:00", self.answer(*words, "--lang", "zh"))
        self.assertEqual(text, self.answer(*words, "--whole"))
        found = json.loads(self.answer(*words, "-o", "json"))["partings"]
        self.assertEqual(found[0]["a"], {"does": "starts", "machines": ["node-1"]})
        self.assertEqual(found[0]["b"]["does"], "waits")
        rows = list(csv.DictReader(io.StringIO(self.answer(*words, "-o", "csv"))))
        self.assertEqual([row["job"] for row in rows], [parting["job"] for parting in found])
        self.assertIn("decide alike", self.answer("lab.yaml", "--compare", "pondage", "pondage"))

    def test_the_fewest_machines_that_do(self):
        words = ("lab.yaml", "--policy", "fit", "--size-for", "p90-wait=10m")
        self.assertIn("3 machines (3 x 8, 24 GPUs) do: p90-wait 0 s. 2 do not: p90-wait 1 h 59 min.", self.answer(*words))
        answer = json.loads(self.answer(*words, "-o", "json", "--out", "page.html"))
        self.assertEqual((answer["fewest"]["machines"], answer["below"]["machines"]), (3, 2))
        self.assertTrue(all(trial["met"] == (trial["machines"] >= 3) for trial in answer["tried"]))
        self.assertIn('"3 machines"', (self.folder / "page.html").read_text())
        rows = list(csv.DictReader(io.StringIO(self.answer(*words, "-o", "csv"))))
        self.assertEqual([row["machines"] for row in rows], ["2", "3", "4"])

    def test_parts_of_gpus_and_types(self):
        traces = ROOT / "data" / "traces"
        figures = {}
        for policy in ("pondage", "bestfit", "fgd"):
            words = (str(traces / "gavel" / "max_min_fairness.csv"), "--trace", "gavel", "--speeds", str(traces / "gavel" / "throughputs.json"))
            run = json.loads(self.answer(*words, "--policy", policy, "-o", "json"))["runs"][0]
            self.assertEqual((run["figures"]["jobs"], run["figures"]["unfinished"]), (96, 0))
            figures[policy] = run["figures"]["jct_s"]["mean"]
        self.assertEqual(len(set(figures.values())), 3)
        (self.folder / "parts.yaml").write_text("fleet: [{servers: 1, gpus: 1}]\njobs: [{gpus: 0.5, lasts: 1h, times: 4}]\n")
        run = json.loads(self.answer("parts.yaml", "-o", "json"))["runs"][0]
        self.assertEqual(run["figures"]["makespan_s"], 7200)

    def test_what_slurm_did_is_live(self):
        lines = [line.split("|") for line in SACCT.splitlines()]
        starts = ("Start", "2024-01-02T03:04:05", "", "2024-01-02T05:00:00")
        (self.folder / "started.txt").write_text("\n".join("|".join([*line, start]) for line, start in zip(lines, starts)) + "\n")
        words = ("started.txt", "--trace", "slurm", "--machines", "1x8")
        self.assertIn("waits 55 min 55 s", self.answer(*words, "--compare", "pondage", "live"))
        runs = json.loads(self.answer(*words, "--baseline", "live", "-o", "json"))["runs"]
        self.assertEqual([(run["name"], run["figures"]["wait_s"]["max"]) for run in runs], [("live", 6954), ("pool", 3599)])

    def test_the_page_is_looked_at_in_a_browser(self):
        program = browser.chromium()
        if not program:
            self.skipTest("no Chromium: apt-get install chromium")
        chance = ("--faults", "mtbf=4h,repair=20m,arrivals=5m", "--costs", "restart=1m,checkpoint-every=10m", "--seeds", "3")
        self.answer("lab.yaml", "--baseline", "fit", "--out", "plain.html")
        self.answer("lab.yaml", "--baseline", "islands", *chance, "--out", "chance.html")
        self.answer("lab.yaml", "--policy", "fit", "--size-for", "p90-wait=10m", "--out", "size.html")
        (self.folder / "profile").mkdir()
        opened = browser.Browser(program, self.folder / "profile")
        self.addCleanup(opened.close)
        for page, runs in (("plain", 3), ("chance", 3), ("size", 2)):  # the lab asks for its jobs once more, 1.5 times as fast
            for look, width in (("lang=en&theme=light", 1280), ("lang=zh&theme=dark", 420)):
                faults, headline = browser.faults_of(opened, self.folder / f"{page}.html", look, width, runs)
                self.assertEqual(faults, [], (page, look))
                table = opened.value("document.getElementById('figures').innerText")
                self.assertEqual(" ± " in table, page == "chance", table)
                # 21 jobs a run, pale where they wait; a machine that fails parts a bar in two.
                self.assertGreaterEqual(opened.value("document.querySelectorAll('#gantt rect').length"), 18 * runs)
        self.assertIn("3 machines", opened.value("document.getElementById('scenes').innerText"))
        opened.open((self.folder / "chance.html").as_uri() + "#lang=en", 1280)
        self.assertIn("islands: 1 of 21 jobs do not end there", opened.value("document.getElementById('subline').textContent"))

    def test_every_form_says_the_same(self):
        figures = json.loads(self.answer("lab.yaml", "-o", "json"))
        self.assertEqual([run["name"] for run in figures["runs"]], ["pool", "pool, 1.5x jobs"])
        self.assertEqual(figures["runs"][0]["figures"]["jobs"], 21)
        rows = list(csv.DictReader(io.StringIO(self.answer("lab.yaml", "-o", "csv"))))
        waits = [float(row["wait_s"]) for row in rows if row["run"] == "pool"]
        self.assertAlmostEqual(sum(waits) / len(waits), figures["runs"][0]["figures"]["wait_s"]["mean"], places=3)
        self.assertIn("pool, 1.5x jobs", self.answer("lab.yaml"))
        self.answer("lab.yaml", "--out", "page.html")
        page = (self.folder / "page.html").read_text()
        self.assertTrue(page.startswith("<!doctype html>"))
        self.assertIn('"big"', page)

    def test_own_history_on_other_machines(self):
        figures = json.loads(self.answer("jobs.txt", "--trace", "slurm", "--machines", "1x8", "-o", "json"))["runs"][0]["figures"]
        self.assertEqual(figures["jobs"], 2)
        self.assertEqual(figures["wait_s"]["max"], 3599)
        self.assertEqual(json.loads(self.answer("jobs.txt", "--trace", "slurm", "--machines", "2x8", "-o", "json"))
                         ["runs"][0]["figures"]["wait_s"]["max"], 0)

    def test_what_is_refused_says_why(self):
        (self.folder / "parts.yaml").write_text("fleet: [{servers: 1, gpus: 1}]\njobs: [{gpus: 0.5, lasts: 1h}]\n")
        (self.folder / "bad.yaml").write_text("fleet:\n  - {servers: 2, gpu: 8}\n")
        rows = ((("none.yaml",), "none.yaml: there is no such file"), (("bad.yaml",), "line 2: fleet[0]: unknown field \"gpu\""),
                (("jobs.txt", "--trace", "slurm"), "--machines"), (("lab.yaml", "--out", "x.pdf"), "FILE.html"),
                (("lab.yaml", "--machines", "many"), "18x8"), (("lab.yaml", "--policy", "magic"), "magic"),
                (("lab.yaml", "--compare", "pondage"), "--compare"), (("lab.yaml", "--compare", "pondage", "magic"), "magic"),
                (("lab.yaml", "--compare", "fit", "fifo", "--out", "x.html"), "--compare does not go with --out"),
                (("lab.yaml", "--size-for", "p80-wait=1m"), "not like p90-wait=10m"),
                (("lab.yaml", "--size-for", "mean-jct=1s"), "more would change nothing"),
                (("parts.yaml", "--whole"), "play it without --whole"),
                (("lab.yaml", "--compare", "live", "fifo"), "nothing says when its jobs started"),
                (("lab.yaml", "--trace", "history"), "lab.yaml"), (("none.json", "--trace", "history"), "there is no such file"),
                (("lab.yaml", "--seeds", "3"), "nothing here is left to chance"),
                (("lab.yaml", "--faults", "mtbf=often"), "--faults: mtbf: \"often\" is not a length of time"),
                (("lab.yaml", "--faults", "mtbf=1d", "--baseline", "fifo"), "plain policies know no failing machines"))
        for words, why in rows:
            refused = self.ask(*words)
            self.assertEqual((refused.returncode, refused.stdout), (2, ""), words)
            self.assertIn(why, refused.stderr)


if __name__ == "__main__":
    junit.main()
