"""scripts/test.sh, --quick and --all: which tests run in which build, by their labels, in a small project of the same shape."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import REPOSITORY, SCRIPTS

CMAKE_LISTS = """
cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES NONE)
enable_testing()
foreach(target convladder convladder_optimised_tests convladder_short_tests)
  add_custom_target(${target})
endforeach()
add_test(NAME plain COMMAND true)
add_test(NAME pytest.scripts.one COMMAND true)
foreach(label slow long unmeasured)
  add_test(NAME is_${label} COMMAND true)
  set_tests_properties(is_${label} PROPERTIES LABELS ${label})
endforeach()
"""
LINT = '#!/bin/sh\n[ "$1" != --layers ] || [ ! -e upward ]\n'
ALWAYS = {"release plain", "release pytest.scripts.one"}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A test of each label, beside what builds and runs them."""
    for program in ("cmake", "ctest", "ninja"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    folder = tmp_path_factory.mktemp("speeds") / "project"
    (folder / "scripts").mkdir(parents=True)
    for name in ("common.sh", "test.sh", "test_summary.py"):
        shutil.copy2(SCRIPTS / name, folder / "scripts")
    (folder / "scripts/lint.sh").write_text(LINT)
    (folder / "scripts/lint.sh").chmod(0o755)
    shutil.copy2(REPOSITORY / "CMakePresets.json", folder)
    (folder / "CMakeLists.txt").write_text(CMAKE_LISTS)
    return folder


def run(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Calls test.sh as a user does."""
    return subprocess.run([str(project / "scripts/test.sh"), *arguments], capture_output=True, encoding="utf-8",
                          check=False, timeout=120, cwd=project, env=os.environ | {"CONVLADDER_NO_SETUP": "1"})


def ran(done: subprocess.CompletedProcess[str]) -> set[str]:
    """The tests with their builds, as they are listed with the time that each took."""
    return {f"{build} {name}" for build, name in re.findall(r"^ +[\d.]+ s  (\w+): (\S+)$", done.stdout, re.MULTILINE)}


@pytest.mark.parametrize(("arguments", "expected"), [
    ([], ALWAYS | {"release is_slow", "sanitized plain", "sanitized is_slow", "sanitized is_unmeasured"}),
    (["--quick"], ALWAYS | {"release is_unmeasured"}),
    (["--no-asan"], ALWAYS | {"release is_slow", "release is_unmeasured"}),
    (["--asan"], {"sanitized plain", "sanitized is_slow", "sanitized is_unmeasured"}),
    (["--all"], ALWAYS | {"release is_slow", "release is_long", "sanitized plain", "sanitized is_slow", "sanitized is_long",
                          "sanitized is_unmeasured"}),
    (["--quick", "-R", "is_"], {"release is_unmeasured"}),
], ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_the_labels_decide(project: Path, arguments: list[str], expected: set[str]) -> None:
    done = run(project, *arguments)
    assert ran(done) == expected
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == f"{len(expected) + 3} passed, 0 failed, 0 skipped", "and layers, comments, layout"


def test_a_use_that_is_not_allowed_fails(project: Path) -> None:
    (project / "upward").touch()
    done = run(project, "--quick")
    (project / "upward").unlink()
    assert done.returncode == 1 and "\nfailed: layers\n" in done.stdout


@pytest.mark.parametrize(("arguments", "message"), [
    (["--quick", "--all"], "--quick and --all are two speeds"),
    (["--quick", "--asan"], "leave out --asan"),
    (["--quick", "-k", "name"], "leave out --quick"),
])
def test_a_mistake_is_one_line(project: Path, arguments: list[str], message: str) -> None:
    done = run(project, *arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert message in done.stderr and done.stderr.count("\n") == 1
