"""Stages whose sums go from hand to hand (lucky_stages/): right ones in unusual ways, and such as are right by luck."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

HEADERS = Path(__file__).parent / "lucky_stages"
ROW_SUM = Path(__file__).parent / "row_sum"


def _names(kind: str) -> list[str]:
    text = (HEADERS / f"{kind}.cuh").read_text(encoding="utf-8")
    return re.findall(r"^__device__ inline float (\w+)\(float value\)", text, re.MULTILINE)


RIGHT = _names("right")
PLANTED = _names("planted")

ROW_SUMS = """#include "{kind}.cuh"
__global__ void row_sum(const float* x, float* y, int R, int C) {{
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int c = 0; r < R && c < C; ++c) sum += x[r * C + c];
  {calls}
  if (r < R) y[r] = sum;
}}
extern "C" void solve(const float* x, float* y, int R, int C) {{ row_sum<<<(R + 127) / 128, 128>>>(x, y, R, C); }}
"""
PLAIN = ROW_SUMS.replace('#include "{kind}.cuh"\n', "").format(calls="")
"""The sums go through nobody's hands."""
CONVOLUTION = """#include "{kind}.cuh"
__global__ void convolve(const float* x, const float* w, float* y, int C, int H, int W, int M, int K, int outputs) {{
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  const int columns = W - K + 1, rows = H - K + 1;
  const int column = at % columns, row = at / columns % rows, map = at / columns / rows % M, image = at / columns / rows / M;
  float sum = 0;
  for (int i = 0; at < outputs && i < C * K * K; ++i) {{
    const int c = i / K / K, p = i / K % K, q = i % K;
    sum += x[((image * C + c) * H + row + p) * W + column + q] * w[((map * C + c) * K + p) * K + q];
  }}
  {calls}
  if (at < outputs) y[at] = sum;
}}
extern "C" void solve(const float* input, const float* weights, float* output, int batch, int in_channels, int height,
                      int width, int out_channels, int kernel, int stride, int padding, int groups) {{
  const int outputs = batch * out_channels * (height - kernel + 1) * (width - kernel + 1);
  convolve<<<(outputs + 127) / 128, 128>>>(input, weights, output, in_channels, height, width, out_channels, kernel,
                                           outputs);
}}
"""


def stage(template: str, kind: str, *names: str) -> str:
    """A stage whose sums go through these functions."""
    return template.format(kind=kind, calls=" ".join(f"sum = {kind}::{name}(sum);" for name in names))


def stages(template: str, right_at_a_time: int, planted: list[str]) -> dict[str, str]:
    """By name: so many of the right functions in each stage, called right_1 and so on, and these planted ones."""
    groups = [RIGHT[first:first + right_at_a_time] for first in range(0, len(RIGHT), right_at_a_time)]
    right = {f"right_{number}": stage(template, "right", *group) for number, group in enumerate(groups, 1)}
    return right | {name: stage(template, "planted", name) for name in planted}


def write_headers(folder: Path) -> Path:
    """What the stages in this folder include."""
    folder.mkdir(parents=True, exist_ok=True)
    for kind in ("right", "planted"):
        shutil.copy(HEADERS / f"{kind}.cuh", folder)
    return folder


def write_ladder(folder: Path, sources: dict[str, str]) -> Path:
    """The ladder of sums of rows with these stages."""
    write_headers(folder)
    problem = json.loads((ROW_SUM / "problem.json").read_text(encoding="utf-8"))
    problem["sizes"] = problem["counted_sizes"] = ["R300C8"]  # three blocks
    (folder / "problem.json").write_text(json.dumps(problem), encoding="utf-8")
    shutil.copy(ROW_SUM / "reference.cpp", folder)
    for rung, (name, source) in enumerate(sources.items(), 1):
        (folder / f"{rung:02}_{name}.cu").write_text(source, encoding="utf-8")
    return folder
