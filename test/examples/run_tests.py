"""Runs the tests of one tier and says "N passed, N failed" at the end."""

import sys
import unittest

TIERS = {"unit": ["test_module", "test_tf_env"],
         "tensorflow": ["test_training"],
         "all": ["test_module", "test_tf_env", "test_training"]}


def main():
    suite = unittest.defaultTestLoader.loadTestsFromNames(TIERS[sys.argv[1]])
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    bad = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    print("%d passed, %d failed, %d skipped" %
          (result.testsRun - bad - len(result.skipped), bad, len(result.skipped)))
    sys.exit(1 if bad or result.testsRun == len(result.skipped) else 0)


if __name__ == "__main__":
    main()
