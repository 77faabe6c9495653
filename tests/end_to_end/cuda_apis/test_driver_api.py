"""The CUDA driver API on the simulated device: libcuda.so.1, alone and beside the runtime."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from stand_in import (
    LIBRARIES,
    SOURCES,
    driver_functions,
    run_on_stand_in,
    stub_library,
    succeed,
    toolkit,
)


def launches(report: dict[str, Any]) -> dict[str, int]:
    """By kernel."""
    return {kernel["name"]: kernel["predicted"]["count"] for kernel in report["kernels"]}


def test_a_program_of_the_driver_api(tmp_path: Path):
    headers = toolkit() / "include"
    stub_library(tmp_path, "cuda", driver_functions(), "1")
    program = tmp_path / "driver_api"
    succeed("g++", "-std=c++20", "-Wall", "-pthread", f"-I{headers}", f"-I{SOURCES}",
            *sorted((SOURCES / "driver_api").glob("*.cpp")), "-o", program, f"-L{tmp_path}", "-lcuda")
    done, reports = run_on_stand_in(program, tmp_path)
    assert (done.stdout, done.returncode) == ("all as documented\n", 0), done.stdout + done.stderr
    assert len(reports) == 1
    assert reports[0]["not_supported"] == {"cuMulticastCreate": 1}
    assert reports[0]["calls"]["cuLaunchKernel"] >= 4
    assert "cudaLaunchKernel" not in reports[0]["calls"]
    assert launches(reports[0]) == {"calls": 1, "of_64": 1, "sample": 1, "scale": 5, "tile": 1}


@pytest.mark.parametrize("linked", ["shared", "static"])
def test_a_program_of_both_apis(tmp_path: Path, linked: str):
    toolkit()
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("no nvcc")
    stub_library(tmp_path, "cuda", driver_functions(), "1")
    program = tmp_path / "both_apis"
    succeed(nvcc, "-arch=compute_75", "-cudart", linked, SOURCES / "both_apis.cu", "-o", program, f"-L{tmp_path}", "-lcuda")
    done, reports = run_on_stand_in(program, tmp_path, print=True)
    assert (done.stdout, done.returncode) == ("all as documented\n", 0), done.stdout + done.stderr
    assert done.stderr == ""
    assert launches(reports[0]) == {"add": 3, "store": 1}


def test_everything_that_is_declared_is_there(tmp_path: Path):
    """A program that asks for a function which is declared gets it, and the answer that it is not supported."""
    headers = toolkit() / "include"
    source = tmp_path / "declared.c"
    names: set[str] = set()
    for options in ([], ["-D__CUDA_API_VERSION_INTERNAL"]):
        source.write_text("#include <cuda.h>\n#include <cudaProfiler.h>\n", encoding="utf-8")
        text = succeed("gcc", "-E", "-P", *options, f"-I{headers}", source)
        names |= set(re.findall(r"\bCUresult\s+(cu[A-Z]\w*)\s*\(", text))
    assert len(names) > 600
    exported = succeed("nm", "-D", "--defined-only", LIBRARIES / "libconvladder_cuda.so")
    there = set(re.findall(r"^\w* *[TAW] (\w+)", exported, re.MULTILINE))
    assert names - there == set()
