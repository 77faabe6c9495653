"""What a program on the stand-in is told that others leave open: what a kernel did before it was ended, whose memory an
address was meant for, what was read that nothing had written."""

from __future__ import annotations

import os
import pty
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from conftest import PROGRAM, REPOSITORY, is_sanitized, run, start

NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
SOURCES = [REPOSITORY / "tests/seeded_programs" / name for name in ("never_silent.cu", "callers.cu")]

pytestmark = [pytest.mark.skipif(NVCC is None, reason="nvcc is not installed"),
              pytest.mark.skipif(not (PROGRAM.parent / "stand_in/libcudart.so.13").exists(), reason="no stand-in in this build"),
              pytest.mark.skipif(is_sanitized(), reason="a program without sanitizers cannot load a library with them")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("never_silent")
    done = subprocess.run([str(NVCC), "-cudart", "shared", "-arch=compute_75", "-lineinfo", "-g", "-O2", "--extended-lambda",
                           *map(str, SOURCES), "-o", "program"], cwd=made, capture_output=True, encoding="utf-8",
                          timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return made


def line_of(comment: str) -> int:
    lines = [line for source in SOURCES for line in enumerate(source.read_text(encoding="utf-8").splitlines(), 1)]
    (found,) = [number for number, line in lines if line.endswith(f"// {comment}")]
    return found


def simulate(folder: Path, *words: object, options: tuple[str, ...] = (), prefix: tuple[str, ...] = ()) -> tuple[int, str, str]:
    """Exit code, output, and the report on one line without its tables."""
    done = run("simulate", *options, "--", *prefix, "./program", *map(str, words), cwd=folder)
    return done.returncode, done.stdout, re.sub(r"\s+", " ", done.stderr)


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGABRT"])
def test_a_signal_in_a_kernel_that_hangs_leaves_its_findings(name: str, folder: Path) -> None:
    number = signal.Signals[name]
    code, _, said = simulate(folder, "hang", int(number))
    assert code == 128 + number and f"ended by {name}" in said
    assert f"hangs was ended by {name}, with 0 of 1 blocks done: '" in said, said
    assert "findings: 2 memcheck: write of 8 bytes at offset 256 of 168 bytes of shared memory" in said, said


def test_timeout_and_a_limit_leave_them_as_well(folder: Path) -> None:
    code, _, said = simulate(folder, "hang", prefix=("timeout", "2"))
    assert code == 124 and "hangs was ended by SIGTERM" in said and "findings: none" not in said, said
    code, output, said = simulate(folder, "hang", options=("--limit", "2M"))
    assert code == 1 and "cudaErrorLaunchTimeout" in output, said  # the program itself exits with 0
    assert "hangs was ended after 2,000,000 instructions, with 0 of 1 blocks done" in said
    assert "findings: none" not in said


def test_a_long_kernel_shows_how_far_it_is(folder: Path) -> None:
    terminal, its_end = pty.openpty()
    process = start("simulate", "--limit", "4s", "--", "./program", "hang", cwd=folder, stderr=its_end)
    os.close(its_end)
    shown = b""
    try:
        while more := os.read(terminal, 65536):
            shown += more
    except OSError:  # the other end is closed
        pass
    os.close(terminal)
    assert process.wait() == 1
    assert re.search(rb" 0 %  hangs: 0 of 1 blocks, 0\.\d G instructions, \ds", shown), shown


def test_the_kind_of_a_copy_is_less_than_its_addresses(folder: Path) -> None:
    code, output, _ = simulate(folder, "kinds")
    assert code == 0 and output.splitlines() == [
        "1: cudaSuccess 4, up cudaSuccess, down cudaErrorInvalidValue",
        "2: cudaSuccess 4, up cudaErrorInvalidValue, down cudaSuccess",
        "3: cudaSuccess 4, up cudaErrorInvalidValue, down cudaErrorInvalidValue"]


@pytest.mark.parametrize("code", [0, 3])
def test_the_destructor_of_a_global_object_still_has_the_device(code: int, folder: Path) -> None:
    returned, output, said = simulate(folder, "global", code, options=("--leak-check",))
    assert output == 2 * "destructor: cudaSuccess, cudaSuccess, cudaSuccess, cudaSuccess\n" and returned == code, said
    assert "findings: none" in said


@pytest.mark.parametrize("count, step, text", [
    (1000, 1, "copy to the host of 416 bytes that nothing has written: bytes 3584 to 3999 of 'device memory 2'"),
    (897, 1, "copy to the host of 4 bytes that nothing has written: bytes 3584 to 3587 of"),
    (1792, 2, "copy to the host of 3584 bytes that nothing has written: the first is byte 4 of"),
    (3000, 3, "the first is byte 4 of"),
    (896, 1, "")])
def test_a_copy_to_the_host_of_what_nothing_has_written(count: int, step: int, text: str, folder: Path) -> None:
    code, _, said = simulate(folder, "unwritten", count, step, options=("--checkers", "initialization"))
    assert (code == 1) == bool(text), said
    if text:
        assert f"initcheck: {text}" in said or text in said, said
        assert f"in main, never_silent.cu line {line_of('the copy')}" in said, said


def test_padding_that_is_copied_to_the_host_is_a_note(folder: Path) -> None:
    code, _, said = simulate(folder, "padding")
    assert code == 0 and "findings: none" in said, said
    assert "initcheck, a note: copy to the host of 224 bytes that nothing has written" in said, said
    assert "they lie as padding does" in said


@pytest.mark.parametrize("distance, text", [
    (-(2 << 20), "2097152 bytes before the start of 'device memory 1'"),
    (-(2 << 30), "2147483648 bytes before the start of 'device memory 1'")])
def test_an_address_far_away_is_told_from_the_nearest_memory(distance: int, text: str, folder: Path) -> None:
    code, _, said = simulate(folder, "far", distance)
    assert code == 1 and text in said and "by cudaMalloc in main, never_silent.cu line" in said, said


def test_the_innermost_line_and_those_that_called_it(folder: Path) -> None:
    code, _, said = simulate(folder, "callers", options=("--checkers", "memory"))
    assert code == 1 and said.count("callers.h line 11 called from callers.cu line") == 2, said
    for comment in ("first caller", "second caller"):
        assert f"callers.h line 11 called from callers.cu line {line_of(comment)}, callers.h line 7 by block" in said, said


def test_a_launch_is_named_by_the_line_of_its_caller(folder: Path) -> None:
    _, _, said = simulate(folder, "stubs", options=("--checkers", "memory"))
    for kind in ("template", "nobody", "file"):
        assert f"launched in main, never_silent.cu line {line_of(kind + chr(39) + 's launch')}" in said, said


def test_checkers_know_only_memory_that_kernels_reach(folder: Path) -> None:
    code, output, said = simulate(folder, "large", 256, 100_000_000)
    found = re.search(r"most memory: .* of the device, (\d+(?:\.\d+)?) (MB|GB) of the host", said)
    assert code == 0 and output == "cudaSuccess cudaSuccess\n" and found is not None, said
    assert found[2] == "MB" and float(found[1]) < 60, said


def test_a_checker_without_memory_gives_up_and_the_program_does_not_hear_of_it(folder: Path) -> None:
    done = run("simulate", "--", "sh", "-c", "ulimit -v 1500000; exec ./program pages 128", cwd=folder)
    said = re.sub(r"\s+", " ", done.stderr)
    assert done.returncode == 2 and done.stdout == "cudaSuccess cudaSuccess\n", said
    assert "findings: none in what was seen" in said, said
    assert "the host had too little memory for racecheck, which did not see everything" in said, said
