#!/usr/bin/python3
"""Runs a sample of others' suites of Python tests on the simulated GPU, and counts what came of them.

A suite is read from the folder that its environment variable names (suite_table.py), and is skipped without. Each test has a time limit; what
ends the process is the outcome of its test alone. The same seed draws the same tests.

    CONVLADDER_TRITON_SOURCE=~/triton tests/suites/python_suites.py --python v/bin/python
    tests/suites/python_suites.py --python v/bin/python --suite triton-language --only 'test_core.py*' --functions 5 --output core.json

Exit status: 0 every drawn test passed or was skipped, 1 some did not, 2 a wrong argument, 3 it could not run, 77 no suite has a folder, 130
interrupted.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from suite_table import SUITES, Suite

HERE = Path(__file__).resolve().parent
PROGRAM = Path(os.environ.get("CONVLADDER_PROGRAM", HERE.parents[1] / "build/release/convladder"))
SKIPPED = 77
OUTCOMES = ("passed", "wrong", "finding", "error", "out of time", "skipped", "left out")
"""`wrong`: an assertion failed. `error`: anything else was raised, or the process ended. `skipped`: by the suite itself. `left out`: by the table."""
STARTS_WITHIN_S = 300
"""Importing torch and listing thousands of tests on a busy machine."""


class File(NamedTuple):
    """A file of a suite."""

    suite: Suite
    folder: Path
    path: str
    is_program: bool

    @property
    def name(self) -> str:
        """For messages and records."""
        return self.path + (" as a program" if self.is_program else "")


def files_of(suite: Suite, folder: Path, only: list[str]) -> list[File]:
    """The files that a suite has there and that the user wants."""
    found = []
    for globs, is_program in ((suite.tests, False), (suite.programs, True)):
        for path in sorted({path.relative_to(folder).as_posix() for glob in globs for path in folder.glob(glob)}):
            if not only or any(fnmatch.fnmatchcase(path, "*" + one) for one in only):
                found.append(File(suite, folder, path, is_program))
    return found


class FileRun:
    """The drawn tests of a file: a process of pytest, and another one whenever a test has ended it or has run for too long."""

    def __init__(self, file: File, choice: argparse.Namespace) -> None:
        self.file = file
        self.choice = choice
        self.results: list[dict[str, Any]] = []

    def run(self) -> list[dict[str, Any]]:
        """A record a test."""
        while self._one_process():
            pass
        for result in self.results:
            result["file"], result["suite"] = self.file.name, self.file.suite.name
            result["outcome"] = _outcome(result)
        return self.results

    def _one_process(self) -> bool:
        """Whether tests may be left."""
        with tempfile.TemporaryDirectory(prefix="convladder-suite-") as folder:
            self.record = Path(folder) / "record"
            self.record.touch()
            suite = self.file.suite
            order = {"record": str(self.record), "is_program": self.file.is_program, "left_out": suite.left_out,
                     "arguments": suite.program_arguments.get(self.file.path, ()),
                     "done": [one["id"] for one in self.results], "seed": self.choice.seed, "functions": self.choice.functions,
                     "sets": self.choice.sets}
            (Path(folder) / "order").write_text(json.dumps(order), encoding="utf-8")
            path = [str(HERE), *(str(self.file.folder / one) for one in suite.python_path), os.environ.get("PYTHONPATH")]
            environment = dict(os.environ, **suite.environment, CONVLADDER_SUITE_ORDER=f"{folder}/order", MPLBACKEND="Agg", PYTHONDONTWRITEBYTECODE="1",
                               PYTHONPATH=os.pathsep.join(filter(None, path)))
            command = [str(PROGRAM), "simulate", "--gpu", self.choice.gpu, "--checkers", self.choice.checkers, "--", self.choice.python,
                       "-m", "pytest", "-q", "-p", "convladder", "-p", "suite_plugin", "-p", "no:cacheprovider", "--convladder-findings", "show",
                       "--rootdir", str(self.file.folder), *suite.pytest_options, str(self.file.folder / self.file.path)]
            with open(f"{folder}/output", "w+", encoding="utf-8", errors="replace") as output:
                process = subprocess.Popen(command, cwd=folder, env=environment, stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
                try:
                    is_late = self._watch(process)
                finally:
                    if process.poll() is None:
                        os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
                output.seek(0)
                return self._read(is_late, process.returncode, output.read())

    def _watch(self, process: subprocess.Popen[bytes]) -> bool:
        """Waits until the process has ended (False) or its test has run for too long (True)."""
        seen, since, limit = "", time.monotonic(), STARTS_WITHIN_S
        while process.poll() is None:
            time.sleep(0.1)
            if time.monotonic() - since > limit:
                return True
            text = self.record.read_text(encoding="utf-8")
            if text != seen:
                seen, since = text, time.monotonic()
                limit = self.choice.seconds if '"start"' in text else STARTS_WITHIN_S
        return False

    def _read(self, is_late: bool, status: int, output: str) -> bool:
        entries = [json.loads(line) for line in self.record.read_text(encoding="utf-8").splitlines()]
        self.results += [one for one in entries if "id" in one]
        if any("end" in one for one in entries):
            return False
        done = {one["id"] for one in self.results}
        running = next((one["start"] for one in reversed(entries) if "start" in one), None)
        is_running = running is not None and running not in done
        last = ([""] + [line for line in output.splitlines() if line.strip()])[-1]
        why = f"{self.choice.seconds} s" if is_late else f"the process ended with status {status}: {last}"
        self.results.append({"id": running if is_running else self.file.path, "outcome": "out of time" if is_late else "failed", "kind": "process",
                             "why": why, "text": output[-6000:], "findings": [], "seconds": self.choice.seconds if is_late else 0})
        return is_running


def _outcome(result: dict[str, Any]) -> str:
    if result["outcome"] != "failed":
        return str(result["outcome"])
    return "wrong" if result["kind"] in ("AssertionError", "Failed", "assert") or result["why"].startswith("assert ") else "error"


def last_line(result: dict[str, Any]) -> str:
    """What tests with one cause have in common: the kind of the error and its line that says most, without numbers."""
    if result["outcome"] == "out of time":
        return "longer than " + result["why"]
    lines = [line.strip() for line in result["why"].splitlines() if line.strip()]
    if not lines:
        return str(result["outcome"])
    at = 0 if result["outcome"] in ("wrong", "skipped", "left out") else -1
    if at == 0 and lines[0] == "AssertionError:" and len(lines) > 1:
        at = 1
    text = lines[at] if lines[at].startswith(result.get("kind", "")) or not result.get("kind") else f"{result['kind']}: {lines[at]}"
    return re.sub(r"0x[0-9a-f]+|\d+(\.\d+)?(e[-+]\d+)?", "#", text)[:200]


def summary(results: list[dict[str, Any]]) -> dict[str, Any]:
    """Counts by suite and outcome, and the tests of each cause."""
    suites: dict[str, Counter[str]] = defaultdict(Counter)
    causes: dict[tuple[str, str], list[str]] = defaultdict(list)
    for one in results:
        suites[one["suite"]][one["outcome"]] += 1
        if one["outcome"] != "passed":
            what = re.sub(r"0x[0-9a-f]+|\d+", "#", one["findings"][0])[:200] if one["outcome"] == "finding" else last_line(one)
            causes[one["outcome"], what].append(one["id"])
    ordered = sorted(causes.items(), key=lambda item: (OUTCOMES.index(item[0][0]), -len(item[1])))
    return {"suites": {name: dict(counts) for name, counts in suites.items()},
            "causes": [{"outcome": outcome, "cause": cause, "tests": tests} for (outcome, cause), tests in ordered]}


def print_summary(found: dict[str, Any]) -> None:
    """As tables."""
    print(f"\n{'suite':<20}" + "".join(f"{outcome:>13}" for outcome in OUTCOMES))
    for name, counts in found["suites"].items():
        print(f"{name:<20}" + "".join(f"{counts.get(outcome, 0):>13}" for outcome in OUTCOMES))
    for cause in found["causes"]:
        print(f"\n{cause['outcome']}, {len(cause['tests'])}: {cause['cause']}")
        if cause["outcome"] not in ("skipped", "left out"):
            for test in cause["tests"][:5]:
                print(f"    {test}")


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def arguments() -> argparse.Namespace:
    """The command line, with what is wrong about it said in one line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog="suites:\n" + "\n".join(f"  {one.name:<20} {one.variable}: {one.source}" for one in SUITES))
    parser.add_argument("--python", default=sys.executable, help="of an environment with pytest and what the suites import (this one)")
    parser.add_argument("--suite", action="append", default=[], choices=[one.name for one in SUITES], help="only this suite; may be repeated")
    parser.add_argument("--only", action="append", default=[], metavar="GLOB", help="only files whose path ends so; may be repeated")
    parser.add_argument("--functions", type=_positive, metavar="N", help="draw so many functions of each file (all)")
    parser.add_argument("--sets", type=_positive, default=6, metavar="N", help="draw so many sets of parameters of each function (6)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=_positive, default=120, metavar="N", help="time limit of a test (120)")
    parser.add_argument("--jobs", type=_positive, default=1, metavar="N", help="so many files at once (1)")
    parser.add_argument("--gpu", default="h100", help="as of `convladder simulate` (h100)")
    parser.add_argument("--checkers", default="all", help="as of `convladder simulate` (all)")
    parser.add_argument("--output", type=Path, metavar="FILE", help="writes every outcome as JSON")
    choice = parser.parse_args()
    if not os.access(PROGRAM, os.X_OK):
        parser.exit(3, f"python_suites.py: {PROGRAM} is not there: build it, or name it in CONVLADDER_PROGRAM\n")
    if subprocess.run([choice.python, "-c", "import pytest"], capture_output=True, check=False).returncode != 0:
        parser.exit(3, f"python_suites.py: {choice.python} has no pytest: name another with --python\n")
    if choice.output and not choice.output.absolute().parent.is_dir():
        parser.error(f"--output: {choice.output.absolute().parent} is no folder")
    return choice


def main() -> int:
    """The exit status."""
    choice = arguments()
    files = []
    for suite in SUITES:
        if choice.suite and suite.name not in choice.suite:
            continue
        folder = os.environ.get(suite.variable, "")
        if not folder:
            print(f"{suite.name}: skipped: {suite.variable} does not name {suite.source}")
            continue
        if not Path(folder).is_dir():
            print(f"python_suites.py: {suite.variable} names {folder}, which is no folder", file=sys.stderr)
            return 3
        of_suite = files_of(suite, Path(folder).resolve(), choice.only)
        if not of_suite and not choice.only:
            print(f"python_suites.py: {folder} ({suite.variable}) has none of {', '.join(suite.tests + suite.programs)}", file=sys.stderr)
            return 3
        files += of_suite
    if not files:
        print("no suite to run")
        return SKIPPED
    results: list[dict[str, Any]] = []
    lock = threading.Lock()

    def one(file: File) -> None:
        begin = time.monotonic()
        of_file = FileRun(file, choice).run()
        with lock:
            results.extend(of_file)
            counts = Counter(result["outcome"] for result in of_file)
            print(f"{file.name}: {', '.join(f'{count} {outcome}' for outcome, count in counts.items()) or 'no test'}; {time.monotonic() - begin:.0f} s",
                  flush=True)
            if choice.output:
                choice.output.write_text(json.dumps({**summary(results), "tests": results}, indent=1), encoding="utf-8")

    with ThreadPoolExecutor(choice.jobs) as pool:
        for _ in pool.map(one, files):
            pass
    found = summary(results)
    print_summary(found)
    return 0 if all(cause["outcome"] in ("skipped", "left out") for cause in found["causes"]) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
