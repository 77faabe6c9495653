"""`convladder simulate -- python -m pytest -p convladder`: each test has the findings of its own kernels, and fails if there are any."""

from __future__ import annotations

from collections import Counter
from typing import Any, Iterator

import pytest

from convladder.findings import findings_so_far, is_simulated, launches_so_far

_FINDINGS = pytest.StashKey["Counter[str]"]()
_TESTS = pytest.StashKey["Counter[str]"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """See pytest."""
    parser.getgroup("convladder").addoption(
        "--convladder-findings", choices=("fail", "show"), default="fail",
        help="under `convladder simulate`: whether a test with a finding fails (the default) or only shows it")


def pytest_configure(config: pytest.Config) -> None:
    """See pytest."""
    config.stash[_FINDINGS] = findings_so_far() if is_simulated() else Counter()
    config.stash[_TESTS] = Counter()


def pytest_report_header() -> str:
    """See pytest."""
    return "convladder: " + ("kernels are simulated and checked" if is_simulated() else "no simulated GPU: convladder simulate -- python -m pytest ...")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Adds what was found since the last report."""
    outcome: Any = yield
    if not is_simulated():
        return
    report = outcome.get_result()
    now = findings_so_far()
    new = now - item.config.stash[_FINDINGS]
    item.config.stash[_FINDINGS] = now
    if not new:
        return
    item.config.stash[_TESTS][item.nodeid] += len(new)
    text = "\n".join(f"{one}{f' ({count} times)' if count > 1 else ''}" for one, count in new.items())
    report.sections.append(("convladder: findings", text))
    if report.passed and item.config.getoption("--convladder-findings") == "fail":
        report.outcome = "failed"
        report.longrepr = f"convladder: {len(new)} finding{'s' if len(new) > 1 else ''} on the simulated GPU"


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """One line, and the findings with how often they occurred."""
    if not is_simulated():
        return
    kernels, found = launches_so_far(), config.stash[_FINDINGS]
    terminalreporter.section("convladder")
    terminalreporter.write_line(f"{len(kernels)} kernels, {sum(kernels.values())} launches, {len(found)} findings in "
                                f"{len(config.stash[_TESTS])} tests")
    for text, count in found.most_common():
        terminalreporter.write_line(f"  {count:>8}  {text}")
