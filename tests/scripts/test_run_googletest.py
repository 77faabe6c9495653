"""tests/run_googletest.py and what scripts/test_summary.py makes of it, of a program whose tests end the process."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from conftest import REPOSITORY, SCRIPTS

SOURCE = r"""
#include <gtest/gtest.h>
#include <csignal>
#include <cstdlib>
#include <unistd.h>
TEST(Fine, Passes) {}
TEST(Fine, IsSkipped) { GTEST_SKIP() << "no such thing here"; }
TEST(Bad, Fails) { EXPECT_EQ(1, 2); }
TEST(Bad, IsKilled) { std::raise(SIGKILL); }
TEST(Bad, SaysThatAllIsWell) { std::_Exit(0); }
TEST(Bad, NeverEnds) { if (fork() == 0) { pause(); } pause(); }
TEST(Last, Passes) {}
class Numbers : public testing::TestWithParam<int> {};
TEST_P(Numbers, AreSmall) { EXPECT_LT(GetParam(), 2); }
INSTANTIATE_TEST_SUITE_P(Some, Numbers, testing::Values(1, 3));
class AtTheEnd : public testing::Environment {
  void TearDown() override { if (std::getenv("BAD_END")) std::_Exit(23); }
};
const auto* const environment = testing::AddGlobalTestEnvironment(new AtTheEnd);
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compiled from SOURCE."""
    folder = tmp_path_factory.mktemp("googletest")
    (folder / "tests.cpp").write_text(SOURCE)
    if shutil.which("g++") is None or not Path("/usr/include/gtest/gtest.h").exists():
        pytest.skip("no g++ or no GoogleTest")
    subprocess.run(["g++", "-w", "-o", "tests", "tests.cpp", "-lgtest", "-lgtest_main"], cwd=folder, check=True)
    return folder / "tests"


def run(program: Path, *arguments: str, **variables: str) -> tuple[int, list[str]]:
    """The exit status, and the summary of what ctest would report."""
    done = subprocess.run([str(REPOSITORY / "tests/run_googletest.py"), str(program), "--limit", "3", *arguments],
                          capture_output=True, encoding="utf-8", check=False, timeout=60, env=variables)
    report = program.parent / "report.xml"
    failure = "<failure/>" if done.returncode else ""
    report.write_text(f'<testsuite><testcase name="googletest.room" status="run">{failure}<system-out>'
                      f'{escape(done.stdout)}</system-out></testcase></testsuite>')
    told = subprocess.run([sys.executable, str(SCRIPTS / "test_summary.py"), f"sanitized={report}"],
                          capture_output=True, encoding="utf-8", check=False)
    assert told.returncode == done.returncode
    return done.returncode, told.stdout.splitlines()


def test_every_test_has_its_result_whatever_the_others_do(program: Path) -> None:
    failed = ["Bad.Fails", "Bad.IsKilled", "Bad.NeverEnds", "Bad.SaysThatAllIsWell", "Some/Numbers.AreSmall/1"]
    assert run(program) == (1, [*(f"failed: sanitized: googletest.room.{name}" for name in failed),
                                "skipped: 1 x no such thing here", "3 passed, 5 failed, 1 skipped"])


def test_a_filter_chooses(program: Path) -> None:
    assert run(program, "--filter=-Bad.*:*/1") == (
        0, ["skipped: 1 x no such thing here", "3 passed, 0 failed, 1 skipped"])
    assert run(program, "--filter=None.*") == (
        1, ["failed: sanitized: googletest.room", "0 passed, 1 failed, 0 skipped"])


def test_a_process_that_fails_behind_its_tests_is_seen(program: Path) -> None:
    assert run(program, "--filter=Fine.Passes", BAD_END="1") == (
        1, ["failed: sanitized: googletest.room.AfterTheTests", "1 passed, 1 failed, 0 skipped"])
