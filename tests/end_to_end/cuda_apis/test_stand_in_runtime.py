"""What the CUDA runtime's stand-in has beyond launches and copies: graphs, arrays and textures, managed variables, pools,
kernels in several files. Each is a program of tests/stand_in, which says itself what is not as documented."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from stand_in import SOURCES, driver_functions, run_on_stand_in, stub_library, succeed, toolkit

ALL_RIGHT = ("all as documented\n", "", 0)
WARM: dict[str, Any] = {"ramp_ms": 0}
"""The real clock, by which execution is put off: what the host finds is the same."""


def compiled(folder: Path, *sources: str, options: tuple[str, ...] = (),
             arch: tuple[str, ...] = ("-arch=compute_75",)) -> Path:
    """The program; skips the test where it cannot be made."""
    toolkit()
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("no nvcc")
    program = folder / "program"
    files = [SOURCES / name for name in sources]
    succeed(nvcc, "-std=c++17", *arch, "-cudart", "shared", "-lineinfo", *options, *files, "-o", program)
    return program


def outcome(program: Path, tmp_path: Path, **settings: Any) -> tuple[str, str, int]:
    done, _ = run_on_stand_in(program, tmp_path, print=True, **settings)
    return done.stdout, done.stderr, done.returncode


def test_graphs(tmp_path: Path):
    program = compiled(tmp_path, "graphs.cu")
    assert outcome(program, tmp_path) == ALL_RIGHT
    assert outcome(program, tmp_path, real_clock=WARM) == ALL_RIGHT


def test_arrays_textures_and_surfaces(tmp_path: Path):
    program = compiled(tmp_path, "arrays.cu")
    assert outcome(program, tmp_path) == ALL_RIGHT
    assert outcome(program, tmp_path, real_clock=WARM) == ALL_RIGHT
    assert outcome(program, tmp_path, checkers=["memory", "initialization", "race"]) == ALL_RIGHT


def test_pools_peers_attributes_of_streams_and_advice(tmp_path: Path):
    driver = stub_library(tmp_path, "cuda", driver_functions(), "1")
    program = compiled(tmp_path, "pools_and_peers.cu", options=(str(driver),))
    assert outcome(program, tmp_path) == ALL_RIGHT
    assert outcome(program, tmp_path, real_clock=WARM) == ALL_RIGHT


def test_attributes_of_launches_and_functions(tmp_path: Path):
    program = compiled(tmp_path, "launch_attributes.cu", arch=("-arch=compute_90",))
    assert outcome(program, tmp_path) == ALL_RIGHT


def test_an_aborting_program_leaves_its_report(tmp_path: Path):
    source = tmp_path / "abort.cu"
    source.write_text("#include <cstdlib>\n__global__ void k() {}\nint main() { k<<<1, 1>>>(); std::abort(); }\n",
                      encoding="utf-8")
    done, reports = run_on_stand_in(compiled(tmp_path, str(source)), tmp_path)
    assert done.returncode == -6
    assert [kernel["name"] for kernel in reports[0]["kernels"]] == ["k"]


def test_managed_variables(tmp_path: Path):
    assert outcome(compiled(tmp_path, "managed_variables.cu"), tmp_path) == ALL_RIGHT


def test_kernels_and_functions_of_several_files(tmp_path: Path):
    program = compiled(tmp_path, "linked_kernels.cu", "linked_functions.cu", options=("-rdc=true",))
    printed = "functions\nkernels\nfunctions\nkernels\nall as documented\n"
    assert outcome(program, tmp_path) == (printed, "", 0)


def test_kernels_that_launch_kernels_are_refused_by_name(tmp_path: Path):
    source = tmp_path / "nested.cu"
    source.write_text("""
        #include <cstdio>
        __global__ void inner() {}
        __global__ void outer() { inner<<<1, 1>>>(); }
        int main() { outer<<<1, 1>>>(); std::puts(cudaGetErrorName(cudaGetLastError())); }
    """, encoding="utf-8")
    program = compiled(tmp_path, str(source), options=("-rdc=true",))
    done, reports = run_on_stand_in(program, tmp_path)
    assert done.stdout == "cudaErrorNotSupported\n"
    (why,) = reports[0]["unseen"]
    assert why.startswith("the kernel outer cannot be simulated: it launches the kernel inner at "), why
    assert why.endswith(", and kernels that launch kernels are not supported") and "'" not in why, why
