"""tools/tf-env, with a stand-in for Python: what it installs, when, and what it says when it fails."""

import os
import subprocess
import tempfile
import unittest

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Knows `-c`, which asks its version, `-m venv DIR`, which copies it there, `-m pip` and `-`.
PYTHON = """#!/bin/bash
case "$1 $2" in
  "-c "*) echo "${FAKE_VERSION:-3.11}" ;;
  "-m venv") mkdir -p "$3/bin"; cp "$0" "$3/bin/python" ;;
  "-m pip") echo "$*" >> "$FAKE_LOG"
            echo "Downloading tensorflow_cpu.whl"; [ -z "${FAKE_NO_INDEX:-}" ] ;;
  "- ") cat > /dev/null; [ -z "${FAKE_BROKEN:-}" ] || { echo "no AVX" >&2; exit 1; } ;;
esac
"""

DF = """#!/bin/bash
printf 'Filesystem 1M-blocks Used Available Capacity Mounted\\n/dev/disk 100000 0 %s 0%% /\\n' "${FAKE_FREE_MB:-50000}"
"""


class TfEnv(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.here = temporary.name
        self.python = self.program("python3", PYTHON)
        self.program("df", DF)
        self.log = os.path.join(self.here, "log")

    def program(self, name, text):
        path = os.path.join(self.here, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o755)
        return path

    def run_it(self, *arguments, **env):
        return subprocess.run(
            [os.path.join(REPOSITORY, "tools", "tf-env"), os.path.join(self.here, "env")] +
            list(arguments), capture_output=True, text=True,
            env=dict(os.environ, PATH=f"{self.here}:{os.environ['PATH']}",
                     PONDAGE_PYTHON=self.python, FAKE_LOG=self.log, **env))

    def installs(self):
        if not os.path.exists(self.log):
            return []
        with open(self.log, encoding="utf-8") as file:
            return file.read().splitlines()

    def test_it_says_what_it_fetches_and_names_the_interpreter_last(self):
        done = self.run_it("cpu")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, os.path.join(self.here, "env", "bin", "python") + "\n")
        self.assertIn("Downloading tensorflow_cpu.whl", done.stderr)
        self.assertIn("cpu.txt", self.installs()[0])
        self.assertIn("--no-deps", self.installs()[1])

    def test_a_second_time_it_has_nothing_to_do(self):
        first, count = self.run_it("cpu"), len(self.installs())
        second = self.run_it("cpu")
        self.assertEqual(second.stdout, first.stdout)
        self.assertIn("is ready", second.stderr)
        self.assertEqual(len(self.installs()), count)

    def test_another_flavour_or_python_is_installed_anew(self):
        self.run_it("cpu")
        self.run_it("cuda")
        self.assertIn("cuda.txt", self.installs()[2])
        self.run_it("cuda", FAKE_VERSION="3.12")
        self.assertEqual(len(self.installs()), 6)

    def test_without_an_index_it_says_so_and_goes_on_later(self):
        failed = self.run_it("cpu", FAKE_NO_INDEX="1")
        self.assertEqual(failed.returncode, 1)
        self.assertIn("PIP_INDEX_URL", failed.stderr)
        self.assertEqual(self.run_it("cpu").returncode, 0)

    def test_a_tensorflow_that_does_not_start_is_not_called_ready(self):
        failed = self.run_it("cpu", FAKE_BROKEN="1")
        self.assertEqual(failed.returncode, 1)
        self.assertIn("no AVX", failed.stderr)
        self.assertNotIn("is ready", self.run_it("cpu").stderr)

    def test_a_python_without_tensorflow_is_refused_before_anything_is_fetched(self):
        failed = self.run_it("cpu", FAKE_VERSION="3.8")
        self.assertEqual(failed.returncode, 1)
        self.assertIn("Python 3.8", failed.stderr)
        self.assertEqual(self.installs(), [])

    def test_without_room_it_says_how_much_is_needed_before_anything_is_fetched(self):
        for flavour, free in (("cpu", "2999"), ("cuda", "8999")):
            failed = self.run_it(flavour, FAKE_FREE_MB=free)
            self.assertEqual(failed.returncode, 1)
            self.assertIn(f"has {free} MB of free space", failed.stderr)
        self.assertEqual(self.installs(), [])

    def test_an_unknown_flavour_is_refused(self):
        self.assertIn("cpu or cuda", self.run_it("tpu").stderr)


if __name__ == "__main__":
    unittest.main()
