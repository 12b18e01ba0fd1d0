#!/usr/bin/env python3
"""What a run of the tests skipped and why; with --strict an error where this machine could have run it.

    tools/skipped.py REPORTS [--strict]

REPORTS holds gtest's XML files (GTEST_OUTPUT=xml:REPORTS/) and the *.skipped lists of the shell tests. A skipped test
says what it needs as "needs KIND NAME"; anything else is an error with --strict, as nobody can tell whether it could run.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

SOURCE = pathlib.Path(__file__).resolve().parent.parent
NEED = re.compile(r"needs (fixture|weights|python|program|processor|file|browser) (\S+)")


def skipped_tests(reports):
    """(test, message) of every skipped test."""
    for path in sorted(reports.glob("*.xml")):
        for case in ElementTree.parse(path).iter("testcase"):
            for skip in case.iter("skipped"):
                name = f"{case.get('classname')}.{case.get('name')}"
                yield name, skip.get("message") or skip.text or ""
    for path in sorted(reports.glob("*.skipped")):
        for line in path.read_text().splitlines():
            yield tuple(line.split(": ", 1))


def first_folder(variable, beside):
    return pathlib.Path(os.environ.get(variable) or SOURCE / "../shared" / beside)


def cache():
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "addp"


def python_has(module):
    for python in (os.environ.get("ADDP_PYTHON"), *cache().glob("torch-*/bin/python")):
        if python and subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode == 0:
            return True
    return False


def is_here(kind, name):
    if kind == "fixture":
        folders = (first_folder("ADDP_FIXTURES", "fixtures"), SOURCE / "tests/fixtures")
        return any((folder / name).exists() for folder in folders)
    if kind == "weights":
        return (first_folder("ADDP_WEIGHTS", "weights") / name).exists()
    if kind == "python":
        return python_has(name)
    if kind == "program":
        return shutil.which(name) is not None
    if kind == "processor":
        return name in pathlib.Path("/proc/cpuinfo").read_text().split()
    if kind == "browser":  # what tools/setup-browser.sh brings
        programs = (shutil.which("chromium"), shutil.which("chromedriver"))
        return all(programs) and any(cache().glob("browser-tests-*/complete"))
    return os.access(name, os.W_OK)


def main():
    reports, strict = pathlib.Path(sys.argv[1]), "--strict" in sys.argv[2:]
    reasons = {}
    for test, message in skipped_tests(reports):
        found = NEED.search(message)
        reasons.setdefault(found.groups() if found else None, []).append(test)
    print(f"{sum(map(len, reasons.values()))} tests were skipped")
    wrong = False
    for need, tests in sorted(reasons.items(), key=str):
        reason = f"needs {need[0]} {need[1]}" if need else "without a known reason"
        could = need is None or is_here(*need)
        wrong = wrong or could
        print(f"  {len(tests)} {reason}{', which is here' if need and could else ''}: {', '.join(tests)}")
    if strict and wrong:
        print("tests were skipped that this machine could run", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
