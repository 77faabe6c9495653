"""`convladder simulate -- python -m pytest -p convladder`: each test has the findings of its own kernels, and fails if there are any."""

from __future__ import annotations

from collections import Counter
from typing import Any, Iterator

import pytest

from convladder.simulated.findings import findings_so_far, is_simulated, launches_so_far


class _SeenBefore:
    """The findings and launches up to the last report, in the process that runs the tests."""

    def __init__(self) -> None:
        self.findings = findings_so_far() if is_simulated() else Counter()
        self.launches = launches_so_far() if is_simulated() else Counter()

    def what_is_new(self) -> tuple[Counter[str], Counter[str]]:
        """Those since then."""
        before = self.findings, self.launches
        self.findings, self.launches = findings_so_far(), launches_so_far()
        return self.findings - before[0], self.launches - before[1]


class _Summary:
    """What all tests have, also of those that pytest-xdist runs in other processes."""

    def __init__(self) -> None:
        self.findings: Counter[str] = Counter()
        self.launches: Counter[str] = Counter()
        self.tests: set[str] = set()


_SEEN = pytest.StashKey[_SeenBefore]()
_SUMMARY = pytest.StashKey[_Summary]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """See pytest."""
    parser.getgroup("convladder").addoption(
        "--convladder-findings", choices=("fail", "show"), default="fail",
        help="under `convladder simulate`: whether a test with a finding fails (the default) or only shows it")


class _Collecting:
    """Adds up the reports of the tests."""

    def __init__(self, summary: _Summary) -> None:
        self.summary = summary

    def pytest_runtest_logreport(self, report: Any) -> None:
        """See pytest. With pytest-xdist this is called in the process that shows the results."""
        findings, launches = getattr(report, "convladder", ({}, {}))
        self.summary.findings.update(findings)
        self.summary.launches.update(launches)
        if findings:
            self.summary.tests.add(report.nodeid)


def pytest_configure(config: pytest.Config) -> None:
    """See pytest."""
    config.stash[_SEEN] = _SeenBefore()
    config.stash[_SUMMARY] = _Summary()
    config.pluginmanager.register(_Collecting(config.stash[_SUMMARY]), "convladder-summary")


def pytest_report_header() -> str:
    """See pytest."""
    return "convladder: " + ("kernels are simulated and checked" if is_simulated() else "no simulated GPU: convladder simulate -- python -m pytest ...")


def _times(count: int) -> str:
    return f" ({count} times)" if count > 1 else ""


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Adds what was found since the last report."""
    outcome: Any = yield
    if not is_simulated():
        return
    report = outcome.get_result()
    findings, launches = item.config.stash[_SEEN].what_is_new()
    report.convladder = (dict(findings), dict(launches))
    if not findings:
        return
    text = "\n".join(f"{one}{_times(count)}" for one, count in findings.items())
    if report.passed and item.config.getoption("--convladder-findings") == "fail":
        report.outcome = "failed"
        report.longrepr = f"convladder: {len(findings)} finding{'s' if len(findings) > 1 else ''} on the simulated GPU\n{text}"
    else:
        report.sections.append(("convladder: findings", text))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """One line, and the findings with how often they occurred."""
    if not is_simulated():
        return
    summary = config.stash[_SUMMARY]
    terminalreporter.section("convladder")
    terminalreporter.write_line(f"{len(summary.launches)} kernels, {sum(summary.launches.values())} launches, {len(summary.findings)} findings in "
                                f"{len(summary.tests)} tests")
    for text, count in summary.findings.most_common():
        terminalreporter.write_line(f"  {count:>8}  {text}")
