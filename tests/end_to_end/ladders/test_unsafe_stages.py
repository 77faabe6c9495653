"""CUDA stages of a user's own whose results are right by luck: the checkers find what is wrong, and no command calls them ok."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from conftest import run
from cuda_path import needs_program, on_stand_in

ROW_SUM = Path(__file__).resolve().parents[1] / "row_sum"

needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None and not Path("/usr/local/cuda/bin/nvcc").exists(),
                                reason="nvcc is not installed")

SUM = """#include <cuda_runtime.h>
__global__ void row_sum(const float* x, float* y, int R, int C) {{
  __shared__ float sums[64];
  const int lane = threadIdx.x;
  float sum = 0;
  for (int c = lane; c < C; c += 32) sum += x[blockIdx.x * C + c];
  {kept}
  for (int half = 16; half > 0; half /= 2) {{
    {added}
  }}
  {left}
}}
extern "C" void solve(const float* x, float* y, int R, int C) {{ row_sum<<<R, 32>>>(x, y, R, C); }}
"""
RIGHT = {"kept": "sums[lane] = sum; __syncthreads();",
         "added": "if (lane < half) sums[lane] += sums[lane + half]; __syncthreads();",
         "left": "if (lane == 0) y[blockIdx.x] = sums[0];"}
PLANTED = {
    "race": ("unsafe", "racecheck", {"added": "if (lane < half) sums[lane] += sums[lane + half];"}),
    "unwritten": ("unsafe", "initcheck", {"left": "if (lane == 0) y[blockIdx.x] = sums[0] + (sums[40] == 1e30f ? 1 : 0);"}),
    "beyond": ("launch failed", "memcheck", {"left": "if (lane == 0) y[blockIdx.x] = sums[0] + (x[R * C] == 1e30f ? 1 : 0);"}),
    "barrier": ("launch failed", "synccheck", {"kept": "sums[lane] = sum; if (lane < 16) __syncthreads(); __syncthreads();"}),
}


def folder_of(tmp_path: Path, **stages: dict[str, str]) -> Path:
    """The problem of row sums with a right stage, and these above it."""
    folder = tmp_path / "row_sum"
    folder.mkdir()
    for name in ("problem.json", "reference.cpp"):
        shutil.copy(ROW_SUM / name, folder)
    for rung, (name, changes) in enumerate({"right": {}, **stages}.items(), 1):
        (folder / f"{rung:02}_{name}.cu").write_text(SUM.format(**{**RIGHT, **changes}), encoding="utf-8")
    return folder


def cases_of(record: Path) -> dict[str, Any]:
    """The cases of a record by their variants."""
    return {one["variant"]: one for one in json.loads(record.read_text(encoding="utf-8"))["cases"]}


@needs_nvcc
def test_what_is_right_by_luck_is_unsafe_in_a_run(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, **{name: changes for name, (_, _, changes) in PLANTED.items()})
    done = run("run", folder, "--device", "simulated", "--output", tmp_path / "out", "--no-report")
    assert done.returncode == 1, done
    cases = cases_of(tmp_path / "out/run.json")
    assert cases["right"]["status"] == "ok"
    assert cases["right"]["checkers"]["findings"] == [] and cases["right"]["checkers"]["not_checked"] is None
    for name, (status, checker, _) in PLANTED.items():
        case = cases[name]
        assert case["status"] == status, case
        assert case["time"] is None and case["counters"] is None
        assert checker in case["reason"] and f"{name}.cu line " in case["reason"], case["reason"]
        if status == "unsafe":
            assert any(one["checker"] == checker for one in case["checkers"]["findings"])
    assert "memory, initialisation, races and barriers: 3 cases checked, 2 cases unsafe" in done.stdout
    assert any(line.split()[:3] == ["2", "race", "unsafe"] for line in done.stdout.splitlines()), done.stdout


@needs_nvcc
def test_one_who_does_not_want_to_know_is_told_what_is_not_known(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, race=PLANTED["race"][2])
    done = run("run", folder, "--device", "simulated", "--output", tmp_path / "out", "--no-report", "--no-checkers")
    assert done.returncode == 0, done
    assert cases_of(tmp_path / "out/run.json")["race"]["checkers"]["not_checked"] == "--no-checkers"
    assert "2 cases not checked for memory, initialisation, races and barriers: --no-checkers" in done.stdout


@needs_nvcc
def test_what_is_right_by_luck_has_no_rank(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    submissions = tmp_path / "submissions"
    submissions.mkdir()
    for name in ("race", "beyond"):
        (submissions / f"{name}.cu").write_text(SUM.format(**{**RIGHT, **PLANTED[name][2]}), encoding="utf-8")
    done = run("rank", folder, submissions, "--device", "simulated", "--output", tmp_path / "out")
    assert done.returncode == 1, done
    rows = json.loads((tmp_path / "out/rank.json").read_text(encoding="utf-8"))["rankings"][0]["rows"]
    by_name = {row["name"]: row for row in rows}
    for name in ("race", "beyond"):
        assert by_name[name]["rank"] is None and by_name[name]["status"] == PLANTED[name][0], by_name[name]


@needs_program
def test_what_is_measured_on_a_gpu_is_checked_on_the_simulated_device(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, race=PLANTED["race"][2])
    done = on_stand_in(tmp_path, "run", folder, "--device", "cuda", "--output", tmp_path / "out", "--no-report",
                       "--repetitions", 3)
    assert done.returncode == 1, done
    cases = cases_of(tmp_path / "out/run.json")
    assert cases["right"]["status"] == "ok" and cases["right"]["checkers"]["not_checked"] is None
    assert cases["race"]["status"] == "unsafe" and cases["race"]["time"] is None


CONVOLUTION = """__global__ void convolve(const float* x, const float* w, float* y, int C, int H, int W, int M, int K, int outputs) {
  __shared__ float beside[64];
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  beside[threadIdx.x] = threadIdx.x;
  const float nothing = 0 * beside[threadIdx.x ^ 1];
  if (at >= outputs) return;
  const int columns = W - K + 1, rows = H - K + 1;
  const int column = at % columns, row = at / columns % rows, map = at / columns / rows % M, image = at / columns / rows / M;
  float sum = nothing;
  for (int c = 0; c < C; ++c)
    for (int p = 0; p < K; ++p)
      for (int q = 0; q < K; ++q)
        sum += x[((image * C + c) * H + row + p) * W + column + q] * w[((map * C + c) * K + p) * K + q];
  y[at] = sum;
}
extern "C" void solve(const float* input, const float* weights, float* output, int batch, int in_channels, int height,
                      int width, int out_channels, int kernel, int stride, int padding, int groups) {
  const int outputs = batch * out_channels * (height - kernel + 1) * (width - kernel + 1);
  convolve<<<(outputs + 63) / 64, 64>>>(input, weights, output, in_channels, height, width, out_channels, kernel, outputs);
}
"""


@needs_nvcc
def test_a_convolution_of_ones_own_is_checked_in_a_layer_and_in_a_network(tmp_path: Path) -> None:
    stage = tmp_path / "beside.cu"
    stage.write_text(CONVOLUTION, encoding="utf-8")
    done = run("run", "--with", stage, "--variant", "beside", "--layer", "lenet28.conv1", "--batch", 3, "--device",
               "simulated", "--output", tmp_path / "run")
    assert done.returncode == 1, done
    case = cases_of(tmp_path / "run/run.json")["beside"]
    assert case["status"] == "unsafe" and "racecheck" in case["reason"], case["reason"]
    assert case["checkers"]["work"] == "lenet28.conv1/1"
    done = run("network", "--network", "lenet28", "--with", stage, "--variant", "beside", "--batch", 1, "--device",
               "simulated", "--output", tmp_path / "network")
    assert done.returncode == 1, done
    network = json.loads((tmp_path / "network/network.json").read_text(encoding="utf-8"))["cases"][0]
    assert network["status"] == "unsafe" and network["reason"].startswith("conv1: racecheck"), network["reason"]
