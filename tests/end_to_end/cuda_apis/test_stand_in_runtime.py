"""What the CUDA runtime's stand-in has beyond launches and copies: graphs, arrays and textures, managed variables, pools,
kernels in several files. Each is a program of tests/stand_in, which says itself what is not as documented."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from stand_in import SOURCES, driver_functions, run_on_stand_in, stub_library, succeed, toolkit

ALL_RIGHT = ("all as documented\n", "", 0)
ALL_CHECKERS = ["memory", "initialization", "race", "synchronization"]
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
    _, reports = run_on_stand_in(program, tmp_path)
    assert "cudaErrorInvalidPitchValue" in [failure["name"] for failure in reports[0]["failures"]]


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


@pytest.mark.parametrize("checkers", [[], ["memory", "race"]])
def test_a_failed_assertion_is_on_the_standard_error_as_the_driver_writes_it(tmp_path: Path, checkers: list[str]):
    source = tmp_path / "asserts.cu"
    source.write_text("#include <cassert>\n__global__ void k(unsigned n) { assert(threadIdx.x + 1 < n); }\n"
                      "int main() { k<<<1, 4>>>(3); return cudaDeviceSynchronize() == cudaErrorAssert ? 0 : 1; }\n", encoding="utf-8")
    program = compiled(tmp_path, str(source))
    for settings in ({"checkers": checkers}, {"real_clock": WARM}):
        done, _ = run_on_stand_in(program, tmp_path, **settings)
        lines = [line for line in done.stderr.splitlines() if "Assertion" in line]
        assert done.returncode == 0 and lines == [
            f"{source}:2: void k(unsigned int): block: [0,0,0], thread: [{thread},0,0] Assertion `threadIdx.x + 1 < n` failed."
            for thread in (2, 3)], done.stderr


def test_managed_variables(tmp_path: Path):
    assert outcome(compiled(tmp_path, "managed_variables.cu"), tmp_path) == ALL_RIGHT


def test_kernels_and_functions_of_several_files(tmp_path: Path):
    program = compiled(tmp_path, "linked_kernels.cu", "linked_functions.cu", options=("-rdc=true",))
    printed = "functions\nkernels\nfunctions\nkernels\nall as documented\n"
    assert outcome(program, tmp_path) == (printed, "", 0)


def test_kernels_that_launch_kernels(tmp_path: Path):
    program = compiled(tmp_path, "kernels_of_kernels.cu", options=("-rdc=true",))
    printed = "cudaErrorInvalidValue: invalid argument\nall as documented\n"
    assert outcome(program, tmp_path) == (printed, "", 0)
    assert outcome(program, tmp_path, real_clock=WARM) == (printed, "", 0)
    done, reports = run_on_stand_in(program, tmp_path, checkers=ALL_CHECKERS)
    assert (done.stdout, done.returncode, reports[-1]["findings"]) == (printed, 0, [])
    launches = {kernel["name"]: kernel["predicted"]["count"] for kernel in reports[-1]["kernels"]}
    assert launches["(anonymous namespace)::one"] == 64


def test_several_devices(tmp_path: Path):
    driver = stub_library(tmp_path, "cuda", driver_functions(), "1")
    program = compiled(tmp_path, "several_devices.cu", options=(str(driver),))
    assert outcome(program, tmp_path, gpu_count=3) == ALL_RIGHT
    assert outcome(program, tmp_path, gpu_count=3, checkers=ALL_CHECKERS) == ALL_RIGHT


def test_virtual_memory_and_clusters(tmp_path: Path):
    driver = stub_library(tmp_path, "cuda", driver_functions(), "1")
    program = compiled(tmp_path, "virtual_memory.cu", options=(str(driver),))
    assert outcome(program, tmp_path) == ALL_RIGHT


def test_memory_of_two_processes(tmp_path: Path):
    assert outcome(compiled(tmp_path, "two_processes.cu"), tmp_path) == ALL_RIGHT


def test_what_is_out_of_reach(tmp_path: Path):
    driver = stub_library(tmp_path, "cuda", driver_functions(), "1")
    program = compiled(tmp_path, "out_of_reach.cu", options=("-rdc=true", str(driver)))
    for case, kernel, problem in (
            ("peer", "read_peer", "which is memory of device 1 and out of reach of device 0 (peer access)"),
            ("unmapped", "write_unmapped", "inside the addresses of 'virtual memory 1', where nothing is mapped"),
            ("child", "child", "0 bytes past the end of 'device memory 1' (128 bytes)")):
        done, _ = run_on_stand_in(program, tmp_path, case, gpu_count=2)
        assert done.stdout == "cudaErrorIllegalAddress\n"
        done, reports = run_on_stand_in(program, tmp_path, case, gpu_count=2, checkers=["memory"])
        assert done.stdout == "cudaSuccess\n"
        (finding,) = reports[-1]["findings"]
        assert kernel in finding["kernel"]
        assert problem in finding["problem"]
        assert finding["launcher"].startswith("parent") == (case == "child"), finding["launcher"]
    # A copy by a kernel carries what nothing has written along.
    _, reports = run_on_stand_in(program, tmp_path, "copied", gpu_count=2, checkers=["initialization"])
    (finding,) = reports[-1]["findings"]
    assert finding["problem"] == "copy to the host of 32 bytes that nothing has written: bytes 32 to 63 of 'device memory 1'"
