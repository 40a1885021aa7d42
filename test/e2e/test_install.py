"""What `cmake --install` puts below a prefix: a program that finds its parts there, also when the prefix is moved."""
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import pool as pools
import junit

BUILD = pools.BIN.parent


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = Path(tempfile.mkdtemp(prefix="pondage-install-"))
        cls.addClassCleanup(shutil.rmtree, cls.root, ignore_errors=True)
        # As ./quickstart leaves the build folder: what its own line does not make is not there.
        shutil.rmtree(BUILD / "pages", ignore_errors=True)
        script = (pools.REPOSITORY / "quickstart").read_text()
        targets = re.search(r"^cmake --build build/release --target (.+)$", script, re.MULTILINE).group(1).split()
        subprocess.run(["cmake", "--build", BUILD, "--target", *targets], check=True, stdout=subprocess.PIPE)
        subprocess.run(["cmake", "--install", BUILD, "--prefix", cls.root / "first"], check=True, stdout=subprocess.PIPE)
        cls.prefix = cls.root / "second"
        (cls.root / "first").rename(cls.prefix)
        cls.program = str(cls.prefix / "bin/pondage")

    def test_a_job_of_the_moved_prefix_imports_the_module_of_that_prefix(self):
        before = pools.PONDAGE
        self.addCleanup(setattr, pools, "PONDAGE", before)
        pools.PONDAGE = self.program
        with pools.Pool() as pool:
            done = pool.pondage("run", "--yes", "--no-copy", "--image", "fake", "--", "python", "-c",
                                "import pondage; print(pondage.__file__)")
            self.assertEqual(done.stdout.strip(), str(self.prefix / "share/pondage/python/pondage/__init__.py"))
            self.assertNotIn("import pondage", pool.log())

    def test_without_its_shim_it_says_where_it_looked(self):
        alone = self.root / "alone"
        alone.mkdir()
        shutil.copy2(self.program, alone)
        done = subprocess.run([alone / "pondage", "serve", "--data", self.root / "data", "--listen", "127.0.0.1:0"],
                              text=True, stderr=subprocess.PIPE, timeout=60)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("PND-R001", done.stderr)
        self.assertIn(f"{alone}/../libexec/pondage", done.stderr)

    def test_pages_of_every_command_and_the_unit(self):
        names = subprocess.run([self.program, "help", "-o", "name"], check=True, text=True,
                               stdout=subprocess.PIPE).stdout.split()
        self.assertIn("run", names)
        pages = {page.name for page in (self.prefix / "share/man/man1").iterdir()}
        self.assertEqual(pages, {"pondage.1", *(f"pondage-{name}.1" for name in names)})
        for page in (self.prefix / "share/man/man1").iterdir():
            self.assertTrue(page.read_text().startswith(".TH "), page)
        unit = (self.prefix / "lib/systemd/system/pondage.service").read_text()
        self.assertIn(f"ExecStart={self.root}/first/bin/pondage serve", unit)
        for shell in ("bash-completion/completions/pondage", "zsh/site-functions/_pondage",
                      "fish/vendor_completions.d/pondage.fish"):
            self.assertIn("pondage", (self.prefix / "share" / shell).read_text())


if __name__ == "__main__":
    junit.main()
