"""Stages without solve: kernels in CUDA C++ and in PTX that their heads say how to launch, on the simulated device."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from conftest import PROGRAM, record, run

pytestmark = pytest.mark.skipif(not (PROGRAM.parent / "stand_in/libcudart.so.13").exists(), reason="no stand-in")

PROBLEM = {
    "name": "scaled", "dimensions": {"N": {"name": "elements"}, "B": {"name": "rows", "usual": 3}},
    "derived": {"HALF": "div(N, 2)"},
    "tensors": [{"name": "x", "role": "in", "type": "f32", "shape": ["B", "N"]},
                {"name": "y", "role": "out", "type": "f32", "shape": ["B", "N"], "compare": {"tolerance": 1e-6}}],
    "scalars": [{"name": "factor", "type": "f32", "value": "3"}],
    "sizes": ["N1000"], "work": {"flop": "B * N"}}

REFERENCE = """extern "C" void reference(const double* x, double* y, double*, double factor, int N, int B) {
  for (int i = 0; i < N * B; ++i) y[i] = factor * x[i];
}
"""

KERNELS = """#ifndef TILE
#define TILE 1
#endif
extern "C" __global__ void first(const float* x, float* y, float factor, int half, int n) {
  extern __shared__ float room[];
  room[threadIdx.x] = factor;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < half) y[blockIdx.y * n + i] = room[threadIdx.x] * x[blockIdx.y * n + i];
}
extern "C" __global__ void second(const float* x, float* y, float factor, int n, int b) {
  for (int i = n / 2 + threadIdx.x; i < n; i += blockDim.x) y[blockIdx.x * n + i] = factor * x[blockIdx.x * n + i];
}
"""

LAUNCHES = """// @parameter TILE 64 128
// @launch first grid(div(HALF + TILE - 1, TILE), B) block(TILE) shared(4 * TILE) args(x, y, factor, HALF, N)
// @launch second grid(B) block(32)
"""

# One thread for an element; the bound is a placeholder.
BY_HAND = """// @title By hand
// @launch scale grid(div(N * B + 127, 128)) block(128)
.version 7.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 x, .param .u64 y, .param .f32 factor, .param .u32 n, .param .u32 b)
{
  .reg .pred %p;
  .reg .f32 %f<3>;
  .reg .b32 %r<7>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  ld.param.f32 %f1, [factor];
  ld.param.u32 %r1, [n];
  ld.param.u32 %r2, [b];
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r3, 128, %r4;
  mul.lo.u32 %r6, %r1, %r2;
  setp.ge.u32 %p, %r5, BOUND;
  @%p bra done;
  mul.wide.u32 %rd3, %r5, 4;
  add.u64 %rd4, %rd1, %rd3;
  add.u64 %rd5, %rd2, %rd3;
  ld.global.f32 %f2, [%rd4];
  mul.f32 %f2, %f2, %f1;
  st.global.f32 [%rd5], %f2;
done:
  ret;
}
"""
RIGHT = BY_HAND.replace("BOUND", "%r6")
WRONG = BY_HAND.replace("BOUND", "100000")
LOAD_LINE = 1 + WRONG.splitlines().index("  ld.global.f32 %f2, [%rd4];")


def find_nvcc() -> str | None:
    return shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")


def ladder(folder: Path, stages: dict[str, str]) -> Path:
    folder.mkdir()
    (folder / "problem.json").write_text(json.dumps(PROBLEM), encoding="utf-8")
    (folder / "reference.cpp").write_text(REFERENCE, encoding="utf-8")
    for name, text in stages.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def cases_of(tmp_path: Path, stages: dict[str, str]) -> dict[str, dict[str, Any]]:
    folder = ladder(tmp_path / "scaled", stages)
    done = run("run", folder, "--device", "simulated", "--output", tmp_path / "out", "--quiet", "--no-report",
               env=os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache")}, timeout=600)
    assert done.returncode in (0, 1), done.stderr
    return {one["variant"]: one for one in record(tmp_path / "out")["cases"]}


def kernels(case: dict[str, Any]) -> list[str]:
    return [one["kernel"] for one in case["counters"]["kernels"]]


def test_ptx_by_hand_is_launched_as_its_head_says(tmp_path: Path) -> None:
    cases = cases_of(tmp_path, {"01_right.ptx": RIGHT, "02_wrong.ptx": WRONG,
                                "03_grid.ptx": RIGHT.replace("grid(div(N * B + 127, 128))", "grid(N / 128)"),
                                "04_broken.ptx": RIGHT.replace("mul.f32 %f2", "mul.f32 %g2"),
                                "05_other.ptx": RIGHT.replace("@launch scale", "@launch skale"),
                                "06_block.ptx": RIGHT.replace("block(128)", "block(4096)")})
    assert cases["right"]["status"] == "ok", cases["right"]["reason"]
    assert kernels(cases["right"]) == ["scale"]
    wrong = cases["wrong"]
    assert wrong["status"] == "launch failed"
    assert "past the end of 'x'" in wrong["reason"] and f"PTX line {LOAD_LINE}" in wrong["reason"], wrong["reason"]
    assert cases["grid"]["status"] == "launch failed"
    assert cases["grid"]["reason"].startswith("03_grid.ptx:2: @launch scale: grid: 'N / 128' is 7.8125, it must be")
    assert cases["broken"]["status"] == "launch failed"
    assert "04_broken.ptx:2: @launch scale: " in cases["broken"]["reason"]
    assert cases["other"]["status"] == "does not compile"
    assert "05_other.ptx:2: @launch skale: unknown kernel 'skale'; known: scale" in cases["other"]["reason"]
    assert cases["block"]["status"] == "launch failed"
    assert "06_block.ptx:2: @launch scale: cuLaunchKernel: " in cases["block"]["reason"]


@pytest.mark.skipif(find_nvcc() is None, reason="nvcc was not found")
def test_cuda_and_its_ptx_are_launched_alike(tmp_path: Path) -> None:
    nvcc = find_nvcc()
    assert nvcc is not None
    source = tmp_path / "kernels.cu"
    source.write_text(KERNELS, encoding="utf-8")
    subprocess.run([nvcc, "-ptx", "-O3", "-lineinfo", "-arch=compute_80", source, "-o", tmp_path / "kernels.ptx"], check=True)
    large = LAUNCHES.replace("shared(4 * TILE)", "shared(100 * 1024)")
    too_large = LAUNCHES.replace("shared(4 * TILE)", "shared(228 * 1024)")  # an H100 gives a block 227 KiB
    past = KERNELS.replace("i < n; i", "i <= n * gridDim.x; i")
    cases = cases_of(tmp_path, {"01_source.cu": LAUNCHES + KERNELS,
                                "02_compiled.ptx": LAUNCHES + (tmp_path / "kernels.ptx").read_text(encoding="utf-8"),
                                "03_large.cu": large + KERNELS,
                                "04_past.cu": LAUNCHES + past,
                                "05_grid.cu": LAUNCHES.replace("grid(B)", "grid(B - 3)") + KERNELS,
                                "06_block.cu": LAUNCHES.replace("block(32)", "block(2000)") + KERNELS,
                                "07_too_large.cu": too_large + KERNELS})
    for name in ("source", "compiled", "large"):
        assert cases[name]["status"] == "ok", cases[name]["reason"]
        assert kernels(cases[name]) == ["first", "second"]
    counters = [json.dumps([{key: value for key, value in one.items() if key != "kernel"}
                            for one in cases[name]["counters"]["kernels"]]) for name in ("source", "compiled")]
    assert counters[0] == counters[1]
    assert cases["past"]["status"] == "launch failed"
    line = 1 + (LAUNCHES + past).splitlines().index(
        next(one for one in past.splitlines() if "i <= n * gridDim.x" in one))
    assert f"04_past.cu line {line}" in cases["past"]["reason"], cases["past"]["reason"]
    assert cases["grid"]["status"] == "launch failed"
    assert cases["grid"]["reason"].startswith("05_grid.cu:3: @launch second: grid: 'B - 3' is 0, it must be")
    assert cases["block"]["status"] == "launch failed"
    assert cases["block"]["reason"].startswith("06_block.cu:3: @launch second: cudaErrorInvalid")
    assert cases["too-large"]["status"] == "launch failed"
    assert cases["too-large"]["reason"].startswith("07_too_large.cu:2: @launch first: cudaErrorInvalid")


def test_heads_that_are_wrong_are_named_with_their_line(tmp_path: Path) -> None:
    folder = ladder(tmp_path / "scaled", {"01_wrong.ptx": RIGHT.replace("block(128)", "block(C)")})
    done = run("run", folder, "--device", "simulated", "--output", tmp_path / "out",
               env=os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache")})
    assert done.returncode == 3
    assert "01_wrong.ptx:2: @launch scale: block: unknown name 'C'" in done.stderr
    assert done.stderr.count("\n") == 1
