"""scripts/test_summary.py --slowest: which tests took longest, of the reports of several builds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from conftest import SCRIPTS

RELEASE = """<testsuite>
<testcase name="pytest.scripts.charts" time="31.25" status="run"><system-out>3 passed in 31.20s</system-out></testcase>
<testcase name="docs.page" time="0.5" status="run"><system-out>done</system-out></testcase>
<testcase name="never.started" status="notrun"><system-out/></testcase>
</testsuite>"""
SANITIZED = """<testsuite>
<testcase name="googletest.devices" time="40.04" status="run"><system-out>
[       OK ] Lanes.Add (1500 ms)
[       OK ] Lanes.Multiply (38000 ms)
[  SKIPPED ] Lanes.Divide (0 ms)
</system-out></testcase>
</testsuite>"""


def summary(tmp_path: Path, *arguments: str) -> list[str]:
    """The lines that are printed of both reports."""
    (tmp_path / "release.xml").write_text(RELEASE)
    (tmp_path / "sanitized.xml").write_text(SANITIZED)
    done = subprocess.run([sys.executable, str(SCRIPTS / "test_summary.py"), *arguments,
                           f"release={tmp_path}/release.xml", f"sanitized={tmp_path}/sanitized.xml"],
                          capture_output=True, encoding="utf-8", check=True)
    return done.stdout.splitlines()


def test_the_slowest_of_all_builds_come_first(tmp_path: Path) -> None:
    assert summary(tmp_path, "--slowest", "3") == [
        "the slowest 3 tests:",
        "    40.0 s  sanitized: googletest.devices, 38.0 s of it Lanes.Multiply",
        "    31.2 s  release: pytest.scripts.charts",
        "     0.5 s  release: docs.page",
        "skipped: 1 x release: never.started", "skipped: 1 x sanitized: googletest.devices.Lanes.Divide",
        "6 passed, 0 failed, 2 skipped"]


def test_nothing_is_listed_unless_asked_for(tmp_path: Path) -> None:
    assert summary(tmp_path)[0].startswith("skipped: ")
