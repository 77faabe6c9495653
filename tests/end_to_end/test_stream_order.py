"""Work of several streams on the same memory, in whole programs: found where nothing orders it, and only there."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import PROGRAM, REPOSITORY, is_sanitized, run

NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
SOURCE = REPOSITORY / "tests/seeded_programs/streams.cu"

pytestmark = [pytest.mark.skipif(NVCC is None, reason="nvcc is not installed"),
              pytest.mark.skipif(not (PROGRAM.parent / "stand_in/libcublas.so.13").exists(), reason="no stand-in in this build"),
              pytest.mark.skipif(is_sanitized(), reason="a program without sanitizers cannot load a library with them")]

RIGHT = ["event", "stream", "device", "query", "blocking streams and the default one", "copy in the stream", "halves", "counter",
         "freed", "graph"]
LUCKY = {
    "": "read after write at byte 0 of 'device memory 1': twice in stream 2 is not ordered with fill in stream 1",
    "event of before": "twice in stream 2 is not ordered with fill in stream 1",
    "other stream": "twice in stream 2 is not ordered with fill in stream 1",
    "recorded only": "twice in stream 2 is not ordered with fill in stream 1",
    "copy": "read after write at byte 0 of 'device memory 1': a copy in the default stream is not ordered with fill in stream 1",
    "memset": "write after write at byte 0 of 'device memory 1': a memset in stream 2 is not ordered with a memset in stream 1",
    "pinned": "a copy in stream 2 is not ordered with a copy in stream 1",
    "overwritten while it is read": "write after read at byte 0 of 'device memory 1': fill in stream 2 is not ordered with twice in"
                                    " stream 1",
    "library": "cublasSscal in stream 2 is not ordered with fill in stream 1",
    "graph that shares": "fill in a graph is not ordered with fill in a graph",
}


@pytest.fixture(scope="module", name="program")
def _program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("streams") / "streams"
    subprocess.run([str(NVCC), "-std=c++20", "-cudart", "shared", "-arch=compute_75", "-lineinfo", "-g", str(SOURCE), "-lcublas",
                    "-o", str(made)], check=True, capture_output=True)
    return made


def report(program: Path, how: str, *options: str) -> tuple[int, str]:
    done = run("simulate", *options, "--", program, how)
    assert "done" in done.stdout, done
    return done.returncode, re.sub(r"\s+", " ", done.stderr)


@pytest.mark.parametrize("how", RIGHT)
def test_ordered_work_has_no_findings(how: str, program: Path) -> None:
    code, said = report(program, how)
    assert (code, "findings: none" in said) == (0, True), said


@pytest.mark.parametrize("how", LUCKY)
def test_work_in_no_order_is_found(how: str, program: Path) -> None:
    code, said = report(program, how)
    assert (code, LUCKY[how] in said) == (1, True), said


def test_it_is_racechecks(program: Path) -> None:
    assert report(program, "", "--checkers", "memory")[0] == 0


def test_the_place_in_the_program_is_named(program: Path) -> None:
    lines = SOURCE.read_text(encoding="utf-8").splitlines()
    (load,) = [number for number, line in enumerate(lines, 1) if line.endswith("// twice's load")]
    (copy,) = [number for number, line in enumerate(lines, 1) if line.endswith("// the copy that does not wait")]
    assert "in twice, PTX line" in report(program, "")[1] and f"streams.cu line {load}" in report(program, "")[1]
    assert f"in main, streams.cu line {copy}" in report(program, "copy")[1]
