"""A plugin of pytest for python_suites.py: it keeps the drawn tests, runs programs as tests, and records each outcome when it is there, so
that nothing is lost with the process. It runs in the Python under test, and needs nothing but pytest."""

from __future__ import annotations

import fnmatch
import json
import os
import random
import runpy
import sys
from pathlib import Path
from typing import Any, Iterator

import pytest

_ORDER: dict[str, Any] = json.loads(Path(os.environ["CONVLADDER_SUITE_ORDER"]).read_text(encoding="utf-8"))


def _record(**entry: Any) -> None:
    with open(_ORDER["record"], "a", encoding="utf-8") as stream:
        stream.write(json.dumps(entry) + "\n")


class _Program(pytest.Item):
    """A file that is run as by `python FILE`."""

    def runtest(self) -> None:
        """See pytest."""
        _keep_one_size_of_benchmarks()
        before = sys.argv
        sys.argv = [str(self.path), *_ORDER["arguments"]]
        try:
            runpy.run_path(str(self.path), run_name="__main__")
        except SystemExit as end:
            assert end.code in (None, 0), f"exit code {end.code}"
        finally:
            sys.argv = before

    def reportinfo(self) -> tuple[Any, None, str]:
        """See pytest."""
        return self.path, None, self.nodeid


class _ProgramFile(pytest.File):
    def collect(self) -> Iterator[pytest.Item]:
        """See pytest."""
        yield _Program.from_parent(self, name="program")


def _keep_one_size_of_benchmarks() -> None:
    try:
        from triton.testing import Benchmark
    except ImportError:
        return
    original = Benchmark.__init__
    if getattr(original, "keeps_one_size", False):
        return

    def keep_one(self: Any, *arguments: Any, **named: Any) -> None:
        original(self, *arguments, **named)
        self.x_vals = self.x_vals[:1]

    keep_one.keeps_one_size = True  # type: ignore[attr-defined]
    Benchmark.__init__ = keep_one


def _keep_configurations(number: int) -> None:
    """Autotuners of Triton try the first ones only: each of them is compiled and simulated."""
    try:
        from triton.runtime.autotuner import Autotuner
    except ImportError:
        return
    original = Autotuner.prune_configs

    def keep(self: Any, *arguments: Any, **named: Any) -> list[Any]:
        return list(original(self, *arguments, **named))[:number]

    Autotuner.prune_configs = keep


@pytest.hookimpl(hookwrapper=True)
def pytest_collect_file(file_path: Path, parent: Any) -> Iterator[None]:
    """Programs are not imported to look for tests."""
    outcome: Any = yield
    if _ORDER["is_program"]:
        outcome.force_result([_ProgramFile.from_parent(parent, path=file_path)])


def _drawn(items: list[pytest.Item]) -> list[pytest.Item]:
    """A sample of the functions, and of each function's sets of parameters; the same for the same seed."""
    functions: dict[str, list[pytest.Item]] = {}
    for item in items:
        functions.setdefault(item.nodeid.partition("[")[0], []).append(item)
    seed, names = _ORDER["seed"], list(functions)
    if _ORDER["functions"] is not None:
        names = random.Random(f"{seed}").sample(names, min(len(names), _ORDER["functions"]))
    chosen = set()
    for name in names:
        sets = functions[name]
        chosen.update(item.nodeid for item in random.Random(f"{seed} {name}").sample(sets, min(len(sets), _ORDER["sets"])))
    return [item for item in items if item.nodeid in chosen]


def _why_left_out(item: pytest.Item) -> str | None:
    names = (item.nodeid, item.nodeid.partition("[")[0])
    for pattern, why in _ORDER["left_out"].items():
        if any(fnmatch.fnmatchcase(name, pattern.replace("[", "[[]")) for name in names):
            return str(why)
    return None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keeps what is drawn and not done. What is left out is not drawn, and is told once a function."""
    if _ORDER["configurations"] is not None:
        _keep_configurations(_ORDER["configurations"])
    left_out = {item.nodeid.partition("[")[0]: why for item in items if (why := _why_left_out(item)) is not None}
    for function, why in left_out.items():
        if function not in _ORDER["done"]:
            _record(id=function, outcome="left out", why=why, findings=[], seconds=0)
    kept = [item for item in _drawn([item for item in items if _why_left_out(item) is None]) if item.nodeid not in _ORDER["done"]]
    _record(collected=len(items), kept=len(kept))
    if len(kept) < len(items):
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept


def pytest_runtest_logstart(nodeid: str) -> None:
    """The time limit begins."""
    _record(start=nodeid)


_FAILURE = "\N{CROSS MARK}"
"""Tutorials of Triton print it and go on."""
_REPORTS: list[Any] = []


def pytest_runtest_logreport(report: Any) -> None:
    """Setup, call and teardown of a test come one after the other."""
    _REPORTS.append(report)


def _why(report: Any) -> tuple[str, str]:
    """(type of the error, its text)"""
    longrepr = report.longrepr
    crash = getattr(longrepr, "reprcrash", None)
    text = crash.message if crash is not None else str(longrepr)
    return text.partition(":")[0].rpartition(".")[2], text


def pytest_runtest_logfinish(nodeid: str) -> None:
    """One record a test."""
    reports, _REPORTS[:] = _REPORTS[:], []
    outcome, kind, why, text = "passed", "", "", ""
    findings: list[str] = []
    for report in reports:
        for title, section in report.sections:
            if title == "convladder: findings":
                findings += [line for line in section.splitlines() if line not in findings]
        if report.outcome == "skipped" and outcome == "passed":
            outcome = "skipped"
            why = getattr(report, "wasxfail", None) or (report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr))
            if hasattr(report, "wasxfail"):
                why = "expected to fail: " + why
        elif report.outcome == "failed" and outcome != "failed":
            outcome = "failed"
            kind, why = _why(report)
            text = str(report.longrepr)[-6000:]
        elif _ORDER["is_program"] and _FAILURE in report.capstdout:
            line = next(line for line in report.capstdout.splitlines() if _FAILURE in line)
            outcome, kind, why, text = "failed", "AssertionError", f"AssertionError: it prints {line}", report.capstdout[-6000:]
    if outcome == "passed" and findings:
        outcome = "finding"
    _record(id=nodeid, outcome=outcome, kind=kind, why=why, text=text, findings=findings, seconds=sum(report.duration for report in reports))


def pytest_collectreport(report: Any) -> None:
    """A file that cannot be imported."""
    if report.failed:
        _record(id=report.nodeid, outcome="failed", kind="collection", why=str(report.longrepr).strip().splitlines()[-1], text=str(report.longrepr)[-6000:],
                findings=[], seconds=0)
    elif report.skipped and report.nodeid.endswith(".py"):
        _record(id=report.nodeid, outcome="skipped", kind="", why=str(report.longrepr[2]), findings=[], seconds=0)


def pytest_sessionfinish() -> None:
    """All that was kept has run."""
    _record(end=True)
