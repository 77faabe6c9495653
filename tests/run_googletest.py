#!/usr/bin/python3
"""Runs the tests of a GoogleTest program in one process, for ctest: with sanitizers, to start a process for each takes
as long as most of the tests.

A test that ends the process, or takes too long, has failed; those behind it run in another process.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import threading
from typing import Optional, Sequence

_RUNS = re.compile(r"\[ RUN +\] (\S+)")
_RESULT = re.compile(r"\[ +(OK|FAILED|SKIPPED) +\] ([^\s,]+).* \(\d+ ms\)$")


class Process:
    """One run of the program; its output is passed on as it comes."""

    def __init__(self, program: str, names: Sequence[str], limit: float) -> None:
        self.results: dict[str, str] = {}
        """OK, FAILED or SKIPPED, by the test's name."""
        self.current: Optional[str] = None
        """The test that runs, or ran when the process ended."""
        self.too_long = False
        self._limit = limit
        self._process = subprocess.Popen([program, "--gtest_color=no", "--gtest_filter=" + ":".join(names)],
                                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
                                         errors="replace", start_new_session=True)

    def wait(self) -> int:
        """Until it ends; its exit status, negative for a signal."""
        assert self._process.stdout
        watch = self._watch()
        try:
            for line in self._process.stdout:
                print(line, end="", flush=True)
                if found := _RUNS.search(line):
                    self.current = found[1]
                    watch.cancel()
                    watch = self._watch()
                if found := _RESULT.search(line):
                    self.results[found[2]] = found[1]
                    self.current = None
            return self._process.wait()
        finally:
            watch.cancel()
            self._end()

    def _watch(self) -> threading.Timer:
        """What ends the process if no other test begins for too long."""
        timer = threading.Timer(self._limit, self._give_up)
        timer.daemon = True
        timer.start()
        return timer

    def _give_up(self) -> None:
        self.too_long = True
        self._end()

    def _end(self) -> None:
        """Whatever it has started ends as well."""
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """0 if every test passed or was skipped, 1 otherwise."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("program")
    parser.add_argument("--filter", default="*", help="as --gtest_filter, for example '-Sums.*'")
    parser.add_argument("--limit", type=float, default=300.0, metavar="SECONDS", help="for each test (default: 300)")
    options = parser.parse_args(arguments)
    names = _listed(options.program, options.filter)
    if not names:
        print(f"{options.program} has no test that matches '{options.filter}'")
        return 1
    failed = False
    while names:
        process = Process(options.program, names, options.limit)
        status = process.wait()
        failed = failed or status != 0
        left = [name for name in names if name not in process.results]
        why = (f"took more than {options.limit:g} s" if process.too_long
               else f"signal {-status}" if status < 0 else f"exit code {status}")
        if left:
            # Also where a process says that all is well and has left out a test.
            broken = process.current if process.current in left else left[0]
            _fail(broken, f"the process ended here: {why}")
            left.remove(broken)
            failed = True
        elif status != 0 and "FAILED" not in process.results.values():
            _fail("AfterTheTests", f"all of them had ended when the process failed: {why}")  # leaks, for example
        names = left
    return 1 if failed else 0


def _listed(program: str, chosen: str) -> list[str]:
    """The tests that the filter chooses; those that are disabled are none."""
    done = subprocess.run([program, "--gtest_list_tests", f"--gtest_filter={chosen}"], stdout=subprocess.PIPE,
                          encoding="utf-8", check=True)
    suite, names = "", []
    for line in done.stdout.splitlines():
        text = line.split("#")[0].rstrip()
        if text.startswith("  "):
            names.append(suite + text.strip())
        elif re.fullmatch(r"\S+\.", text):
            suite = text
    return [name for name in names if "DISABLED_" not in name]


def _fail(name: str, why: str) -> None:
    """Reports a failure as GoogleTest does."""
    print(f"\n{why}\n[  FAILED  ] {name} (0 ms)", flush=True)


if __name__ == "__main__":
    sys.exit(main())
