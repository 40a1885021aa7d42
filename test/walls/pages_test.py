#!/usr/bin/env python3
"""Pages that users read stand in English and Chinese alike: same headings, same commands, and links that lead somewhere."""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop() if len(sys.argv) > 1 and pathlib.Path(sys.argv[-1]).is_dir() else ".").resolve()
PAIRS = [(ROOT / "README.md", ROOT / "README.zh-CN.md")]
PAIRS += [(page, ROOT / "docs/zh" / page.name) for page in sorted((ROOT / "docs/en").glob("*.md"))]


def outside_code(text):
    return re.sub(r"```.*?```", "", text, flags=re.S)


def levels(text):
    return [len(hashes) for hashes in re.findall(r"^(#+) ", outside_code(text), flags=re.M)]


def commands(text):
    """Code blocks without their comments, which are prose; blocks marked `text` are prose as a whole."""
    blocks = re.findall(r"```(?!text\n)[a-z]*\n(.*?)```", text, flags=re.S)
    return [[re.sub(r"\s*#.*", "", line) for line in block.splitlines()] for block in blocks]


class Pages(unittest.TestCase):
    def test_both_languages_say_the_same(self):
        for english, chinese in PAIRS:
            first, second = english.read_text(), chinese.read_text()
            self.assertEqual(levels(first), levels(second), f"headings of {chinese.name}")
            self.assertEqual(commands(first), commands(second), f"code blocks of {chinese.name}")
            self.assertEqual(first.count("\n| "), second.count("\n| "), f"table rows of {chinese.name}")

    def test_every_page_is_there_in_both(self):
        names = [{page.name for page in (ROOT / "docs" / language).glob("*.md")} for language in ("en", "zh")]
        self.assertEqual(*names)
        self.assertGreater(len(names[0]), 5)

    def test_the_quick_start_is_quick(self):
        for page in (ROOT / "docs/en/quickstart.md", ROOT / "README.md"):
            text = page.read_text()
            start = text.split("## The first minute")[-1].split("## A pool of your own")[0] if page.name == "README.md" else text
            self.assertLessEqual(len(start.split()), 400, page)

    def test_links_lead_somewhere(self):
        for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")]:
            for link in re.findall(r"\]\(([^)#]+)\)", outside_code(page.read_text())):
                if not re.match(r"[a-z]+:", link):
                    self.assertTrue((page.parent / link).exists(), f"{page.name} links to {link}")

    def test_files_that_are_named_exist(self):
        for page in [ROOT / "README.md", ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"]:
            for path in re.findall(r"`((?:src|test|tools|examples|docs|bench|python|deploy)/[\w./-]+)`", page.read_text()):
                self.assertTrue((ROOT / path).exists(), f"{page.name} names {path}")


if __name__ == "__main__":
    unittest.main()
