"""Loads and stores of the host itself in managed and pinned memory: found where it has not waited, and only there."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import PROGRAM, REPOSITORY, is_sanitized, run

NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
SOURCE = REPOSITORY / "tests/seeded_programs/host_accesses.cu"

pytestmark = [pytest.mark.skipif(NVCC is None, reason="nvcc is not installed"),
              pytest.mark.skipif(not (PROGRAM.parent / "stand_in").is_dir(), reason="no stand-in in this build"),
              pytest.mark.skipif(is_sanitized(), reason="a program without sanitizers cannot load a library with them")]

RIGHT = ["device", "stream", "event", "query", "a copy that waits", "memset", "copied into managed memory", "both read",
         "other elements", "halves", "two buffers in turns", "a function of the host", "a callback", "a flag", "a flag of the host",
         "a counter", "a graph that is waited for", "a thread that meets a call", "a thread that has waited", "freed", "written to a file"]
LUCKY = {
    "not waited": "read after write at byte 20 of 'managed memory 1' by the host, which has not waited for fill in the default stream",
    "the sum": "read after write at byte 0 of 'managed memory 2' by the host, which has not waited for total in the default stream",
    "other stream": "which has not waited for fill in stream 1",
    "event of before": "which has not waited for fill in stream 1",
    "stored into": "write after write at byte 65532 of 'managed memory 1' by the host, which has not waited for fill",
    "input changed": "write after read at byte 20 of 'managed memory 1' by the host, which has not waited for total",
    "copy out": "read after write at byte 20 of 'pinned memory 3' by the host, which has not waited for a copy in stream 1",
    "copy in": "write after read at byte 20 of 'pinned memory 3' by the host, which has not waited for a copy in stream 1",
    "memset": "which has not waited for a memset in the default stream",
    "of pinned memory": "read after write at byte 124 of 'pinned memory 3' by the host, which has not waited for fill in stream 1",
    "a thread": "by the host, which has not waited for fill in the default stream",
    "memcpy": "read after write at byte 0 of 'pinned memory 3' by the host",
    "a file": "a call of the system before this one has failed (EFAULT): the host has given it memory in use, as 'managed memory 1' is",
    "a graph": "by the host, which has not waited for fill in a graph",
    "at the end": "read after write at byte 20 of 'managed memory 1' by the host",
}


@pytest.fixture(scope="module", name="program")
def _program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("host") / "host_accesses"
    subprocess.run([str(NVCC), "-std=c++20", "-cudart", "shared", "-arch=compute_75", "-lineinfo", "-g", str(SOURCE), "-o",
                    str(made)], check=True, capture_output=True)
    return made


def report(program: Path, kind: str, how: str, *options: str) -> tuple[int, str]:
    done = run("simulate", *options, "--", program, kind, how)
    assert "done" in done.stdout, done
    return done.returncode, re.sub(r"\s+", " ", done.stderr)


@pytest.mark.parametrize("how", RIGHT)
def test_a_host_that_has_waited_has_no_findings(how: str, program: Path) -> None:
    code, said = report(program, "right", how)
    assert (code, "findings: none" in said) == (0, True), said


@pytest.mark.parametrize("how", LUCKY)
def test_a_host_that_has_not_waited_is_found(how: str, program: Path) -> None:
    code, said = report(program, "lucky", how)
    assert (code, LUCKY[how] in said, "findings: 1" in said) == (1, True, True), said


def test_all_ways_of_the_program_are_tried(program: Path) -> None:
    for kind, ways in (("right", RIGHT), ("lucky", list(LUCKY))):
        done = run("simulate", "--", program, kind)
        assert sorted(ways) == sorted(done.stdout.splitlines())


def test_the_line_of_the_access_is_named(program: Path) -> None:
    lines = SOURCE.read_text(encoding="utf-8").splitlines()
    (number,) = [number for number, line in enumerate(lines, 1) if '{"not waited"' in line]
    assert f"host_accesses.cu line {number}" in report(program, "lucky", "not waited")[1]


def test_it_is_racechecks(program: Path) -> None:
    code, said = report(program, "lucky", "not waited", "--checkers", "memory,initialization")
    assert (code, "findings: none" in said) == (0, True), said


def test_a_program_that_handles_faults_itself_still_does(program: Path) -> None:
    code, said = report(program, "handled", "not waited")
    assert "by the host, which has not waited for fill" in said and "exit code 9" in said, said
    assert code == 9, said  # the program's own
