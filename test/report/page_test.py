#!/usr/bin/env python3
"""Opens reports in a headless Chromium: no request leaves the page, nothing is said on the console, every
chart is drawn, both languages and both themes work. Writes pictures beside the pages.

Usage: page_test.py SAMPLE_REPORT FOLDER   (skips, with exit 77, where there is no Chromium)
"""

import pathlib
import subprocess
import sys
import tempfile

from browser import Browser, chromium, faults_of


def check(browser, path, look, width, runs, folder):
    name = f"{path.stem}-{look.replace('lang=', '').replace('&theme=', '-')}-{width}"
    faults, headline = faults_of(browser, path, look, width, runs, folder / f"{name}.png")
    return headline, [f"{name}: {fault}" for fault in faults]


def main():
    sample, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    program = chromium()
    if not program:
        print("no Chromium: apt-get install chromium")
        return 77
    folder.mkdir(parents=True, exist_ok=True)
    faults, headlines = [], {}
    with tempfile.TemporaryDirectory() as profile:
        browser = Browser(program, profile)
        try:
            for kind, runs in (("three-teams", 3), ("small", 1)):
                page = folder / f"{kind}.html"
                subprocess.run([sample, kind, page], check=True, stdout=subprocess.DEVNULL)
                for look, width in (("lang=en&theme=light", 1280), ("lang=zh&theme=dark", 1280), ("lang=en&theme=dark", 420)):
                    headlines[kind, look], found = check(browser, page, look, width, runs, folder)
                    faults += found
                # The switches change what they say they change.
                before = browser.value("document.documentElement.lang + document.documentElement.dataset.theme")
                browser.value("document.getElementById('language').click(); document.getElementById('theme').click()")
                after = browser.value("document.documentElement.lang + document.documentElement.dataset.theme")
                if (before, after) != ("endark", "zhlight"):
                    faults.append(f"{kind}: switches: {before} -> {after}")
                rows = browser.value("document.querySelectorAll('#gantt rect').length")
                if (rows > 0) != (kind == "small"):
                    faults.append(f"{kind}: {rows} bars of the Gantt chart")
        finally:
            browser.close()
    if "2.1 times the work" not in headlines["three-teams", "lang=en&theme=light"]:
        faults.append(f"headline: {headlines}")
    print("\n".join(faults) or f"the page is well: {headlines['three-teams', 'lang=en&theme=light']}")
    return 1 if faults else 0


sys.exit(main())
