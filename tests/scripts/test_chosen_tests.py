"""scripts/test.sh -k: the tests of pytest that are named, and nothing else, in a small project of the same shape."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import REPOSITORY, SCRIPTS

CMAKE_LISTS = """
cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES NONE)
enable_testing()
add_custom_target(everything ALL COMMAND false)
add_custom_target(convladder_pytest_programs)
add_test(NAME unit.never_run COMMAND false)
foreach(file scripts/test_colours.py scripts/test_shapes.py end_to_end/room/test_program.py end_to_end/test_listed.py)
  string(REGEX REPLACE "(/[a-z]+)?/test_(.*)[.]py" ".\\\\2" name "${file}")
  add_test(NAME pytest.${name} COMMAND /usr/bin/python3 ${PROJECT_SOURCE_DIR}/tests/run_pytest.py
           ${PROJECT_SOURCE_DIR}/tests/${file})
  set_tests_properties(pytest.${name} PROPERTIES SKIP_RETURN_CODE 77 ENVIRONMENT PROGRAM=built)
endforeach()
"""
FILES = {"scripts/test_colours.py": "def test_red(): pass\ndef test_green(): assert False, 'no green'\n",
         "scripts/test_shapes.py": "def test_round(): pass\ndef test_square_red(): pass\n",
         "end_to_end/room/test_program.py": "def test_red_program(): pass\ndef test_blue_program(): pass\n",
         # As one whose parameters the program lists: it cannot be collected before there is a program.
         "end_to_end/test_listed.py": "import os\nassert os.environ['PROGRAM'] == 'built'\ndef test_yellow(): pass\n"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Two folders of tests, of which one fails, beside what builds and runs them."""
    for program in ("cmake", "ctest", "ninja"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    folder = tmp_path / "project"
    (folder / "tests").mkdir(parents=True)
    (folder / "scripts").mkdir()
    for name in ("common.sh", "test.sh", "test_summary.py"):
        shutil.copy2(SCRIPTS / name, folder / "scripts")
    shutil.copy2(REPOSITORY / "tests/run_pytest.py", folder / "tests")
    shutil.copy2(REPOSITORY / "CMakePresets.json", folder)
    (folder / "CMakeLists.txt").write_text(CMAKE_LISTS)
    for name, text in FILES.items():
        (folder / "tests" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "tests" / name).write_text(text)
    return folder


def run(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Calls test.sh as a user does, without ctest's own variables of an outer test."""
    environment = {name: value for name, value in os.environ.items() if name != "CONVLADDER_PYTEST_NAMES"}
    return subprocess.run([str(project / "scripts/test.sh"), *arguments], capture_output=True, encoding="utf-8",
                          check=False, timeout=120, cwd=project, env=environment | {"CONVLADDER_NO_SETUP": "1"})


def summary(done: subprocess.CompletedProcess[str]) -> str:
    """The last line, that adds up all tests."""
    return done.stdout.splitlines()[-1]


def test_only_what_is_named_runs(project: Path) -> None:
    done = run(project, "--no-asan", "-k", "red and not program")
    assert (done.returncode, summary(done)) == (0, "2 passed, 0 failed, 0 skipped"), done.stdout + done.stderr
    assert "unit.never_run" not in done.stdout and not (project / "build/asan-ubsan").exists()


def test_one_that_fails_is_named(project: Path) -> None:
    done = run(project, "--no-asan", "-k", "green")
    assert (done.returncode, summary(done)) == (1, "0 passed, 1 failed, 0 skipped")
    assert "failed: release: pytest.scripts.colours" in done.stdout and "no green" in done.stdout


def test_with_sanitizers_too_but_for_the_scripts(project: Path) -> None:
    done = run(project, "-k", "red")
    assert (done.returncode, summary(done)) == (0, "4 passed, 0 failed, 0 skipped"), done.stdout + done.stderr
    done = run(project, "--asan", "-k", "red")
    assert (done.returncode, summary(done)) == (0, "1 passed, 0 failed, 0 skipped"), done.stdout + done.stderr


def test_a_file_that_needs_the_program_is_asked_by_it(project: Path) -> None:
    done = run(project, "--no-asan", "-k", "yellow")
    assert (done.returncode, summary(done)) == (0, "1 passed, 0 failed, 0 skipped"), done.stdout + done.stderr
    done = run(project, "--no-asan", "-k", "purple")
    assert (done.returncode, summary(done)) == (1, "0 passed, 0 failed, 0 skipped"), done.stdout + done.stderr


def test_no_name_that_matches_is_one_line(project: Path) -> None:
    (project / "tests/end_to_end/test_listed.py").unlink()
    done = run(project, "--no-asan", "-k", "purple")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "test.sh: no test of pytest has a name that matches 'purple'\n"
    assert not (project / "build").exists()


@pytest.mark.parametrize(("arguments", "message"), [
    (["-k"], "-k needs an expression"),
    (["-k", ""], "-k needs an expression"),
    (["-k", "red and ("], "-k: Wrong expression"),
    (["-k", "red", "--fuzz", "3"], "leave out --fuzz"),
    (["-k", "red", "-R", "unit"], "leave out -R"),
    (["-k", "red", "--tests-regex=unit"], "leave out --tests-regex=unit"),
])
def test_a_mistake_is_one_line(project: Path, arguments: list[str], message: str) -> None:
    done = run(project, *arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert message in done.stderr and done.stderr.count("\n") == 1
