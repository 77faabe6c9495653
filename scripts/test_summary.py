#!/usr/bin/python3
"""Adds up what ctest reported: every test case, those of a file of pytest or of a program of GoogleTest one by one, and
why some were skipped."""

from __future__ import annotations

import argparse
import re
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path
from typing import Iterator, NamedTuple, Optional, Sequence

_PYTEST_CLOSING = re.compile(r"^=* ?((?:\d+ \w+, )*\d+ \w+) in [\d.]+s(?: \([\d:]+\))? ?=*$", re.MULTILINE)
_PYTEST_NONE_CHOSEN = re.compile(r"^=* ?\d+ deselected in [\d.]+s ?=*$", re.MULTILINE)
_PYTEST_SKIPPED = re.compile(r"^SKIPPED \[\d+\] \S+?: (.+)$", re.MULTILINE)
_PYTEST_WORDS = {"passed": "passed", "xfailed": "passed", "failed": "failed", "error": "failed", "errors": "failed",
                 "xpassed": "failed", "skipped": "skipped"}
_GOOGLE_TEST_SKIPPED = re.compile(r"^.*: Skipped\n(?:\s*\n)*(.+)$", re.MULTILINE)
_GOOGLE_TEST_RESULT = re.compile(r"\[ +(OK|FAILED|SKIPPED) +\] ([^\s,]+).* \((\d+) ms\)$", re.MULTILINE)
_GOOGLE_TEST_WORDS = {"OK": "passed", "FAILED": "failed", "SKIPPED": "skipped"}
_SKIP_LINE = re.compile(r"^skipped: (.+)$", re.MULTILINE)


class Duration(NamedTuple):
    """How long a test of ctest took: a file of pytest, a program of GoogleTest, or a test by itself."""

    seconds: float
    name: str
    longest: str = ""
    """Of a program of GoogleTest, its longest test and how long that took."""


class Result(NamedTuple):
    """One test case, or a number of them."""

    name: str
    status: str
    count: int = 1
    reason: str = ""


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Prints the slowest, the failed and the skipped tests and, last, 'N passed, N failed, N skipped'; 1 if any failed."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--check", action="append", default=[], metavar="NAME=STATUS[:REASON]",
                        help="a test that ctest does not know; the status is passed, failed or skipped")
    parser.add_argument("--slowest", type=int, default=0, metavar="N", help="list the N that took longest")
    parser.add_argument("reports", nargs="*", type=Path, metavar="[NAME=]JUNIT.xml",
                        help="reports of ctest --output-junit; the name stands before its tests'")
    options = parser.parse_args(arguments)
    results = [result for report in options.reports for result in _read(str(report))]
    results += [_check(text) for text in options.check]

    if options.slowest:
        durations = sorted(duration for report in options.reports for duration in _durations(str(report)))
        print(f"the slowest {options.slowest} tests:")
        for duration in reversed(durations[-options.slowest:]):
            print(f"{duration.seconds:8.1f} s  {duration.name}{duration.longest}")

    counts: Counter[str] = Counter()
    for result in results:
        counts[result.status] += result.count
    for name in sorted(result.name for result in results if result.status == "failed"):
        print(f"failed: {name}")
    reasons: Counter[str] = Counter()
    for result in results:
        if result.status == "skipped":
            reasons[result.reason or result.name] += result.count
    for reason, count in sorted(reasons.items()):
        print(f"skipped: {count} x {reason}")
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] or not counts["passed"] else 0


def _check(text: str) -> Result:
    name, _, status = text.partition("=")
    status, _, reason = status.partition(":")
    return Result(name, status, 1, reason)


def _durations(argument: str) -> Iterator[Duration]:
    prefix, _, path = argument.rpartition("=")
    try:
        suite = ElementTree.parse(path).getroot()
    except (OSError, ElementTree.ParseError):
        return  # _read says so
    for case in suite.iter("testcase"):
        inner = [(int(found[3]) / 1000, found[2])
                 for found in _GOOGLE_TEST_RESULT.finditer(case.findtext("system-out") or "")]
        longest = f", {max(inner)[0]:.1f} s of it {max(inner)[1]}" if len(inner) > 1 else ""
        yield Duration(float(case.get("time") or 0), f"{prefix}: {case.get('name')}", longest)


def _read(argument: str) -> Iterator[Result]:
    prefix, _, path = argument.rpartition("=")
    try:
        suite = ElementTree.parse(path).getroot()
    except (OSError, ElementTree.ParseError) as error:
        yield Result(f"{prefix}: ctest left no report ({error})", "failed")
        return
    for case in suite.iter("testcase"):
        name = f"{prefix}: {case.get('name')}"
        output = case.findtext("system-out") or ""
        google = (case.get("name") or "").startswith("googletest.")  # a whole program; others are of one test each
        inner = list(_google_results(name, output) if google else _pytest_results(name, output))
        if inner and (case.find("failure") is None) == all(result.status != "failed" for result in inner):
            yield from inner
        elif case.find("failure") is None and _PYTEST_NONE_CHOSEN.search(output):
            continue  # scripts/test.sh -k chose tests of other files
        elif case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
            yield Result(name, "skipped", 1, _reason(output) or name)
        else:
            yield Result(name, "failed" if case.find("failure") is not None else "passed")


def _pytest_results(name: str, output: str) -> Iterator[Result]:
    closings = _PYTEST_CLOSING.findall(output)
    if not closings:
        return
    why = "; ".join(dict.fromkeys(_PYTEST_SKIPPED.findall(output)))
    for part in closings[-1].split(", "):
        count, word = part.split(" ")
        if word in _PYTEST_WORDS:
            yield Result(name, _PYTEST_WORDS[word], int(count), why)


def _google_results(name: str, output: str) -> Iterator[Result]:
    begin = 0
    for found in _GOOGLE_TEST_RESULT.finditer(output):
        yield Result(f"{name}.{found[2]}", _GOOGLE_TEST_WORDS[found[1]], 1, _reason(output[begin:found.end()]))
        begin = found.end()


def _reason(output: str) -> str:
    for pattern in (_GOOGLE_TEST_SKIPPED, _SKIP_LINE):
        found = pattern.search(output)
        if found:
            return found.group(1).strip()
    return ""


if __name__ == "__main__":
    sys.exit(main())
