"""A ladder and submissions for it whose work is known: `factor` times the work of the fastest."""

from __future__ import annotations

import json
from pathlib import Path

REFERENCE = """
#include <cmath>
extern "C" void reference(const double* x, double* y, double* y_scale, int R, int C) {
  for (int r = 0; r < R; ++r) {
    y[r] = y_scale[r] = 0;
    for (int c = 0; c < C; ++c) y[r] += x[r * C + c], y_scale[r] += std::abs(x[r * C + c]);
  }
}
"""
CUDA = """
__global__ void sums(const float* x, float* y, int R, int C) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  if (r < R) for (int c = 0; c < C; ++c) sum += x[r * C + c];
  if (r < R) y[r] = sum;
}
extern "C" void solve(const float* x, float* y, int R, int C) { sums<<<(R + 31) / 32, 32>>>(x, y, R, C); }
"""
CUDA_FAST = """
__global__ void sums(const float* x, float* y, int R, int C) {
  float sum = 0;
  for (int c = threadIdx.x; c < C; c += 32) sum += x[blockIdx.x * C + c];
  for (int other = 16; other > 0; other /= 2) sum += __shfl_down_sync(~0u, sum, other);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
extern "C" void solve(const float* x, float* y, int R, int C) { sums<<<R, 32>>>(x, y, R, C); }
"""
BROKEN = {
    "wrong": ("incorrect", """
extern "C" void solve(const float* x, float* y, int R, int C) {
  for (int r = 0; r < R; ++r) y[r] = x[r * C];
}"""),
    "keeper": ("incorrect", """
#include <vector>
static std::vector<float> kept;  // its last answer to a question of that size
extern "C" void solve(const float* x, float* y, int R, int C) {
  if (kept.size() == (unsigned)R) { for (int r = 0; r < R; ++r) y[r] = kept[r]; return; }
  kept.assign(R, 0);
  for (int r = 0; r < R; ++r) { for (int c = 0; c < C; ++c) kept[r] += x[r * C + c]; y[r] = kept[r]; }
}"""),
    "crasher": ("crashed", 'extern "C" void solve(const float*, float*, int, int) { *(volatile int*)nullptr = 1; }'),
    "hanger": ("timeout", 'extern "C" void solve(const float*, float*, int, int) { for (volatile int i = 0;; i = i) {} }'),
    "typo": ("does not compile", 'extern "C" void solve(const float* x, float* y, int R, int C) { flaot sum; }'),
}
"""What becomes of them, and their sources."""


def source(factor: int) -> str:
    """Sums of rows, computed `factor` times."""
    return f"""
extern "C" void solve(const float* x, float* y, int R, int C) {{
  for (int again = 0; again < {factor}; ++again) {{
    for (int r = 0; r < R; ++r) {{
      float sum = 0;
      for (int c = 0; c < C; ++c) sum += x[r * C + c];
      y[r] = sum;
    }}
    asm volatile("" ::: "memory");  // none of it is left out
  }}
}}
"""


def write_ladder(folder: Path, sizes: list[str], stages: dict[str, str]) -> Path:
    """A ladder with these stages."""
    folder.mkdir()
    problem = {
        "name": "row-sums", "title": "Sums of rows", "dimensions": {"R": {"name": "rows"}, "C": {"name": "columns"}},
        "tensors": [{"name": "x", "role": "in", "type": "f32", "shape": ["R", "C"],
                     "fill": {"kind": "uniform", "low": -1, "high": 1}},
                    {"name": "y", "role": "out", "type": "f32", "shape": ["R"], "compare": {"tolerance": 1e-5}}],
        "sizes": sizes, "counted_sizes": ["R16C64"], "work": {"flop": "R * (C - 1)"}}
    (folder / "problem.json").write_text(json.dumps(problem), encoding="utf-8")
    (folder / "reference.cpp").write_text(REFERENCE, encoding="utf-8")
    for name, text in stages.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def write_submissions(folder: Path, files: dict[str, str]) -> Path:
    """A folder with these files, in folders of people where their names say so."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder
