"""Kernels and a program whose results depend on the order of their work, for tests that simulate them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import PROGRAM, REPOSITORY, is_sanitized, run

NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
KERNELS = REPOSITORY / "tests/checked_kernels/unsteady.cu"
LAUNCH = ("--grid", "4", "--block", "128", "--arg", "in:f32:iota:512", "--arg", "out=inout:f32:fill:512:0", "--arg", "i32:512")

needs_nvcc = pytest.mark.skipif(NVCC is None, reason="nvcc is not installed")
needs_stand_in = pytest.mark.skipif(not (PROGRAM.parent / "stand_in/libcublas.so.13").exists(), reason="no stand-in in this build")
not_sanitized = pytest.mark.skipif(is_sanitized(), reason="a program without sanitizers cannot load a library with them")

TWO_ORDERS = """
#include <cstdio>
__device__ unsigned counter;
__global__ void steady(float* out) { out[blockIdx.x * 64 + threadIdx.x] = 2.0f * threadIdx.x; }
__global__ void places(float* out) {
  if (threadIdx.x == 0) out[atomicAdd(&counter, 1u)] = float(blockIdx.x);
}
int main() {
  float* out;
  cudaMalloc(&out, 256 * sizeof(float));
  for (int i = 0; i < 3; ++i) steady<<<4, 64>>>(out);
  places<<<4, 64>>>(out);
  float first = 0;
  cudaMemcpy(&first, out, sizeof first, cudaMemcpyDeviceToHost);
  std::printf("first %g\\n", first);
}
"""


def compiled_kernels(folder: Path) -> Path:
    made = folder / "unsteady.ptx"
    subprocess.run([str(NVCC), "-std=c++20", "-arch=compute_90", "-lineinfo", "-ptx", str(KERNELS), "-o", str(made)], check=True,
                   capture_output=True)
    return made


def compiled_program(folder: Path) -> Path:
    (folder / "two_orders.cu").write_text(TWO_ORDERS, encoding="utf-8")
    subprocess.run([str(NVCC), "-cudart", "shared", "-arch=compute_75", "-lineinfo", "two_orders.cu", "-o", "two_orders"], check=True,
                   capture_output=True, cwd=folder)
    return folder / "two_orders"


def simulated(ptx: Path, kernel: str, *options: str) -> tuple[int, str]:
    """The exit code of a launch of the kernel, and what it has printed."""
    done = run("simulate", ptx, "--entry", kernel, *LAUNCH, *options)
    return done.returncode, done.stdout + done.stderr
