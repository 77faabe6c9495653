"""tests/suites/python_suites.py, which runs others' suites of Python tests: on a made-up one, and, where CONVLADDER_TRITON_SOURCE names a
folder, on a few of Triton's."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import PROGRAM, REPOSITORY, is_sanitized

STAND_IN = PROGRAM.parent / "stand_in"
PYTHON = os.environ.get("CONVLADDER_PYTHON", "/usr/bin/python3")
TRITON = os.environ.get("CONVLADDER_TRITON_SOURCE", "")

pytestmark = [pytest.mark.skipif(not (STAND_IN / "libcudart.so.13").exists(), reason="no stand-in in this build"),
              pytest.mark.skipif(is_sanitized(), reason="a program without sanitizers cannot load a library with them")]

MADE_UP = """
import ctypes, os, pytest, time
cuda = ctypes.CDLL("libcudart.so.13")
def read(written):
    place, host = ctypes.c_void_p(), ctypes.create_string_buffer(64)
    cuda.cudaMalloc(ctypes.byref(place), 64)
    cuda.cudaMemset(place, 0, ctypes.c_size_t(written))
    cuda.cudaMemcpy(host, place, ctypes.c_size_t(64), 2)
@pytest.mark.parametrize("n", range(10))
def test_right(n): read(64)
def test_found(): read(32)
def test_wrong(): assert 1 + 1 == 3
def test_raises(): raise RuntimeError("no room for 7")
@pytest.mark.skip(reason="another GPU")
def test_skipped(): pass
def test_ends(): os._exit(9)
def test_waits(): time.sleep(100)
def test_last(): read(64)
"""


def run_suites(folder: str | Path, output: Path, *options: str, python: str = "/usr/bin/python3") -> subprocess.CompletedProcess[str]:
    """The runner on a folder as Triton's source, or FlagGems'."""
    environment = dict(os.environ, CONVLADDER_TRITON_SOURCE=str(folder), CONVLADDER_FLAGGEMS_SOURCE=str(folder), CONVLADDER_PROGRAM=str(PROGRAM))
    return subprocess.run([REPOSITORY / "tests/suites/python_suites.py", "--python", python, "--output", output, *options], env=environment,
                          capture_output=True, encoding="utf-8", check=False)


def outcomes(output: Path) -> dict[str, str]:
    """By the test's name."""
    tests: list[dict[str, Any]] = json.loads(output.read_text(encoding="utf-8"))["tests"]
    return {one["id"].rpartition("::")[2]: one["outcome"] for one in tests}


def test_every_outcome_is_told_apart(tmp_path: Path) -> None:
    for name, text in (("unit/cuda/test_it.py", MADE_UP), ("unit/cuda/test_broken.py", "import no_such_package\n")):
        (tmp_path / "python/test" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "python/test" / name).write_text(text, encoding="utf-8")
    output = tmp_path / "output.json"
    done = run_suites(tmp_path, output, "--suite", "triton-cuda", "--sets", "3", "--seconds", "4")
    assert done.returncode == 1, done.stdout + done.stderr
    found = outcomes(output)
    assert sum(name.startswith("test_right") for name in found) == 3, "of ten sets of parameters"
    others = {name: outcome for name, outcome in found.items() if not name.startswith("test_right")}
    assert others == {"test_found": "finding", "test_wrong": "wrong", "test_raises": "error", "test_skipped": "skipped", "test_ends": "error",
                      "test_waits": "out of time", "test_last": "passed", "python/test/unit/cuda/test_broken.py": "error"}
    assert "error, 1: RuntimeError: no room for #" in done.stdout
    assert "the process ended with status" in done.stdout
    done = run_suites(tmp_path, output, "--suite", "triton-cuda", "--sets", "3", "--only", "test_it.py", "--functions", "1")
    again = run_suites(tmp_path, tmp_path / "again.json", "--suite", "triton-cuda", "--sets", "3", "--only", "test_it.py", "--functions", "1")
    assert done.returncode == again.returncode and outcomes(output) == outcomes(tmp_path / "again.json"), "one seed, one draw"


def test_a_suite_has_its_folders_options_and_environment(tmp_path: Path) -> None:
    for name, text in (("src/of_the_suite.py", "NUMBER = 7\n"),
                       ("tests/conftest.py", "def pytest_addoption(parser):\n    parser.addoption('--mode')\n    parser.addoption('--ref')\n"),
                       ("tests/test_it.py", "import of_the_suite, os\ndef test_all(request):\n"
                                            "    assert (request.config.getoption('--mode'), os.environ['GEMS_VENDOR']) == ('quick', 'nvidia')\n")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    done = run_suites(tmp_path, tmp_path / "output.json", "--suite", "flaggems")
    assert done.returncode == 0, done.stdout + done.stderr
    assert outcomes(tmp_path / "output.json") == {"test_all": "passed"}


def test_without_a_folder_it_is_skipped_with_a_reason(tmp_path: Path) -> None:
    done = run_suites("", tmp_path / "output.json", "--suite", "triton-cuda")
    assert done.returncode == 77 and "triton-cuda: skipped: CONVLADDER_TRITON_SOURCE does not name" in done.stdout
    done = run_suites(tmp_path / "none", tmp_path / "output.json", "--suite", "triton-cuda")
    assert done.returncode == 3 and done.stderr.endswith("which is no folder\n")
    done = run_suites(tmp_path, tmp_path / "output.json", "--suite", "triton-cuda")
    assert done.returncode == 3 and "has none of python/test/unit/cuda/test_*.py" in done.stderr


@pytest.mark.skipif(not TRITON, reason="CONVLADDER_TRITON_SOURCE does not name a checkout of Triton")
def test_some_of_tritons(tmp_path: Path) -> None:
    if subprocess.run([PYTHON, "-c", "import torch, triton, pytest"], capture_output=True, check=False).returncode != 0:
        pytest.skip("CONVLADDER_PYTHON names no python with torch, Triton and pytest")
    done = run_suites(TRITON, tmp_path / "output.json", "--suite", "triton-language", "--only", "test_standard.py", "--functions", "4", "--sets", "1",
                      python=PYTHON)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed" in outcomes(tmp_path / "output.json").values()
