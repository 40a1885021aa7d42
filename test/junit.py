"""What a Python suite's JUnit report needs: each test with its outcome.

For test files that are programs of their own:  if __name__ == "__main__": junit.main()
The report goes to the folder that PONDAGE_REPORTS names, if it does.
"""
import os
import sys
import unittest
import xml.etree.ElementTree as ElementTree


class Result(unittest.TextTestResult):
    def __init__(self, *arguments, **more):
        super().__init__(*arguments, **more)
        self.cases = []  # (name, "" | "failure" | "error" | "skipped", text)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.cases.append((test.id(), "", ""))

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.cases.append((test.id(), "failure", self.failures[-1][1]))

    def addError(self, test, err):
        super().addError(test, err)
        self.cases.append((test.id(), "error", self.errors[-1][1]))

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err:
            self.cases.append((subtest.id(), "failure", str(err[1])))

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.cases.append((test.id(), "skipped", reason))

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self.cases.append((test.id(), "", ""))

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.cases.append((test.id(), "failure", "it was expected to fail"))


def write_report(suite_name, cases, path):
    suites = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(suites, "testsuite", name=suite_name, tests=str(len(cases)))
    for name, outcome, text in cases:
        case = ElementTree.SubElement(suite, "testcase", name=name)
        if outcome:
            ElementTree.SubElement(case, outcome, message=outcome).text = "".join(
                c for c in text if c.isprintable() or c in "\n\t")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    ElementTree.ElementTree(suites).write(path, encoding="utf-8", xml_declaration=True)


def counts(cases):
    """(passed, failed, skipped)"""
    outcomes = [outcome for _, outcome, _ in cases]
    passed, skipped = outcomes.count(""), outcomes.count("skipped")
    return passed, len(outcomes) - passed - skipped, skipped


def main():
    """unittest.main() with a report; a name of a test or class may be given, as there."""
    runner = unittest.TextTestRunner(verbosity=2, resultclass=Result)
    result = unittest.main(testRunner=runner, exit=False).result
    folder = os.environ.get("PONDAGE_REPORTS")
    if folder:
        name = os.path.splitext(os.path.basename(sys.argv[0]))[0]
        write_report(name, result.cases, os.path.join(folder, name + ".xml"))
    passed, failed, _ = counts(result.cases)
    sys.exit(0 if passed and not failed and result.wasSuccessful() else 1)
