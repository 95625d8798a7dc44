"""Runs unittest and writes a report that machines read. Usage: python -c SOURCE REPORT NAMES FILE...

NAMES is a JSON list of test ids to keep (all when empty). Without files everything is discovered.
"""
import json
import os
import sys
import traceback
import unittest

report_path, names, files = sys.argv[1], set(json.loads(sys.argv[2])), sys.argv[3:]
cases = []


class Report(unittest.TestResult):
    def note(self, test, outcome, error=None):
        message = "".join(traceback.format_exception(*error))[-2000:] if error else ""
        cases.append({"name": test.id(), "outcome": outcome, "message": message})

    def addSuccess(self, test):
        self.note(test, "passed")

    def addFailure(self, test, error):
        self.note(test, "failed", error)

    def addError(self, test, error):
        self.note(test, "errored", error)

    def addSkip(self, test, reason):
        cases.append({"name": test.id(), "outcome": "skipped", "message": reason})

    def addExpectedFailure(self, test, error):
        self.note(test, "passed")

    def addUnexpectedSuccess(self, test):
        self.note(test, "failed")

    def addSubTest(self, test, subtest, error):
        if error is not None:
            failed = issubclass(error[0], test.failureException)
            self.note(test, "failed" if failed else "errored", error)


def flat(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from flat(item)
        else:
            yield item


def found(path):
    """Tests of a file or a folder; a folder without __init__.py is its own root."""
    folder, pattern = (path, "test*.py") if os.path.isdir(path) else (os.path.dirname(path) or ".", os.path.basename(path))
    package = os.path.exists(os.path.join(folder, "__init__.py"))
    root = "." if package or folder == "." else folder
    return flat(unittest.TestLoader().discover(folder, pattern=pattern, top_level_dir=root))


if not files:
    files = [name for name in ("tests", "test") if os.path.isdir(name)] or ["."]
tests, seen, broken = [], set(), False
for path in files:
    for test in found(path):
        if test.id() not in seen:
            seen.add(test.id())
            broken = broken or type(test).__name__ == "_FailedTest"
            tests.append(test)
if names:
    tests = [test for test in tests if test.id() in names]
result = Report()
unittest.TestSuite(tests).run(result)
with open(report_path, "w", encoding="utf-8") as out:
    json.dump({"cases": cases, "broken": broken}, out)
sys.exit(0 if all(case["outcome"] in ("passed", "skipped") for case in cases) else 1)
