"""Runs the tests of one tier, says "N passed, N failed" at the end, and writes a JUnit report."""

import argparse
import os
import sys
import unittest
import xml.etree.ElementTree as ElementTree

TIERS = {"unit": ["test_module", "test_tf_env"],
         "tensorflow": ["test_training"],
         "all": ["test_module", "test_tf_env", "test_training"]}


class Result(unittest.TextTestResult):
    """Keeps what JUnit wants to know: each test with its outcome."""

    def __init__(self, *arguments, **more):
        super().__init__(*arguments, **more)
        self.cases = []  # (test, "" | "failure" | "error" | "skipped", text)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.cases.append((test, "", ""))

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.cases.append((test, "failure", self.failures[-1][1]))

    def addError(self, test, err):
        super().addError(test, err)
        self.cases.append((test, "error", self.errors[-1][1]))

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err:
            self.cases.append((subtest, "failure", str(err[1])))

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.cases.append((test, "skipped", reason))


def write_report(cases, path):
    suites = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(suites, "testsuite", name="examples", tests=str(len(cases)))
    for test, outcome, text in cases:
        case = ElementTree.SubElement(suite, "testcase", name=test.id())
        if outcome:
            ElementTree.SubElement(case, outcome, message=outcome).text = "".join(
                c for c in text if c.isprintable() or c in "\n\t")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    ElementTree.ElementTree(suites).write(path, encoding="utf-8", xml_declaration=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tier", nargs="?", choices=TIERS, default="all")
    parser.add_argument("--reports", metavar="DIR", help="a JUnit report goes there")
    arguments = parser.parse_args()
    suite = unittest.defaultTestLoader.loadTestsFromNames(TIERS[arguments.tier])
    result = unittest.TextTestRunner(verbosity=2, resultclass=Result).run(suite)
    if arguments.reports:
        write_report(result.cases, os.path.join(arguments.reports, "examples.xml"))
    outcomes = [outcome for _, outcome, _ in result.cases]
    passed, skipped = outcomes.count(""), outcomes.count("skipped")
    print("%d passed, %d failed, %d skipped" % (passed, len(outcomes) - passed - skipped, skipped))
    sys.exit(0 if passed and passed + skipped == len(outcomes) else 1)


if __name__ == "__main__":
    main()
