"""Runs the tests of one tier, says "N passed, N failed" at the end, and writes a JUnit report."""

import argparse
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import junit  # noqa: E402

TIERS = {"unit": ["test_module", "test_tf_env"],
         "tensorflow": ["test_training"],
         "all": ["test_module", "test_tf_env", "test_training"]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tier", nargs="?", choices=TIERS, default="all")
    parser.add_argument("--reports", metavar="DIR", help="a JUnit report goes there")
    arguments = parser.parse_args()
    suite = unittest.defaultTestLoader.loadTestsFromNames(TIERS[arguments.tier])
    result = unittest.TextTestRunner(verbosity=2, resultclass=junit.Result).run(suite)
    if arguments.reports:
        junit.write_report("examples", result.cases,
                           os.path.join(arguments.reports, "examples.xml"))
    passed, failed, skipped = junit.counts(result.cases)
    print("%d passed, %d failed, %d skipped" % (passed, failed, skipped))
    sys.exit(0 if passed and not failed and result.wasSuccessful() else 1)


if __name__ == "__main__":
    main()
