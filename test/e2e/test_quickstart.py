"""The first minute of a new user: ./quickstart ends with a trained model, a pool that answers, and a way to stop it."""
import os
import re
import subprocess
import unittest

import pool as pools
import junit
from examples.gang import complaints
from test_tensorflow import tf_prefix


class Quickstart(unittest.TestCase):
    def test_it_trains_and_leaves_a_pool_that_answers_until_it_is_stopped(self):
        with_no_pool = pools.Pool()  # only its directories and environment are used
        self.addCleanup(with_no_pool.__exit__)
        home = with_no_pool.root / "home of quickstart"
        with_no_pool.data = home / "pool"
        env = {**with_no_pool.env, "PONDAGE_HOME": str(home), "PONDAGE_TF_PYTHON": f"{tf_prefix()}/bin/python"}
        env.pop("KUBECONFIG")

        def quickstart(*words):
            return subprocess.run([pools.REPOSITORY / "quickstart", *words], env=env, text=True, timeout=800,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

        self.addCleanup(quickstart, "stop")
        done = quickstart()
        self.assertEqual(done.returncode, 0, done.stdout[-3000:])
        accuracy = [float(found) for found in re.findall(r"DONE accuracy=([\d.]+)", done.stdout)]
        self.assertTrue(accuracy and min(accuracy) > 0.95, done.stdout[-3000:])
        self.assertEqual(complaints(done.stdout), [], "TensorFlow says that somebody crashed")
        # What it names as the next step works as it stands there: no variable but PATH is needed.
        self.assertIn(f"export PATH={pools.BIN}:$PATH", done.stdout)
        listed = subprocess.run(["pondage", "ps", "-a", "-o", "name"], text=True, stdout=subprocess.PIPE, check=True,
                                env={**env, "PATH": f"{pools.BIN}:{os.environ['PATH']}"})
        self.assertEqual(listed.stdout, "train-1\n")
        self.assertIn("./quickstart stop", done.stdout)
        folder = re.search(r"^  cd (.+)$", done.stdout, re.M).group(1)
        self.assertRegex(done.stdout, r"\n  pondage run .* -- python train\.py\n")
        self.assertTrue((pools.REPOSITORY / folder / "train.py").is_file(), folder)

        stopped = quickstart("stop")
        self.assertIn("the pool is stopped", stopped.stdout)
        self.assertEqual(subprocess.run([pools.PONDAGE, "ps"], env=env, stderr=subprocess.DEVNULL).returncode, 5)
        self.assertTrue((home / "digits/model").is_dir(), "what was trained stays")
        self.assertIn("no pool", quickstart("stop").stdout)
        self.assertEqual(quickstart("nonsense").returncode, 2)


if __name__ == "__main__":
    junit.main()
