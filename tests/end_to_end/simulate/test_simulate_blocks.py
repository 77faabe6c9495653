"""`convladder simulate` with blocks that wait for each other: grid.sync() and clusters, as nvcc compiles them."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from conftest import assert_refused, run

if TYPE_CHECKING:
    from pathlib import Path

NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
SOURCE = """#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void sums(unsigned* parts, unsigned* out) {
  cg::grid_group grid = cg::this_grid();
  for (unsigned round = 0; round < 2; ++round) {
    if (threadIdx.x == 0) parts[blockIdx.x] += blockIdx.x + round;
    grid.sync();
    unsigned sum = 0;
    for (unsigned i = 0; i < gridDim.x; ++i) sum += parts[i];
    grid.sync();
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
  }
}
__global__ void __cluster_dims__(2) histogram(const int* in, int* bins) {
  __shared__ int part[16];
  cg::cluster_group cluster = cg::this_cluster();
  part[threadIdx.x] = 0;
  cluster.sync();
  const int bin = in[blockIdx.x * 16 + threadIdx.x] % 32;
  atomicAdd(cluster.map_shared_rank(part, bin / 16) + bin % 16, 1);
  cluster.sync();
  atomicAdd(&bins[cluster.block_rank() * 16 + threadIdx.x], part[threadIdx.x]);
}
"""
SUMS = ("--entry", "sums", "--block", "64", "--arg", "parts=inout:u32:fill:300:0", "--arg", "out=out:u32:300")
HISTOGRAM = ("--entry", "histogram", "--block", "16", "--arg", "in=in:i32:iota:96", "--arg", "bins=inout:i32:fill:32:0")


@pytest.fixture(scope="module", name="kernels")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with blocks.ptx."""
    if NVCC is None:
        pytest.skip("nvcc is not installed")
    folder = tmp_path_factory.mktemp("blocks")
    (folder / "blocks.cu").write_text(SOURCE, encoding="utf-8")
    subprocess.run([NVCC, "-arch=sm_90", "-ptx", "-o", "blocks.ptx", "blocks.cu"], check=True, cwd=folder)
    return folder


def test_the_blocks_of_a_cooperative_launch_meet(kernels: Path) -> None:
    total = sum(2 * block + 1 for block in range(40))
    done = run("simulate", "blocks.ptx", *SUMS, "--grid", "40", "--cooperative", "--save", "out=out.json", cwd=kernels)
    assert done.returncode == 0 and f"  {total} {total} {total} " in done.stdout, done
    done = run("simulate", "blocks.ptx", *SUMS, "--grid", "40", cwd=kernels)
    assert done.returncode == 1 and "a trap was executed" in done.stdout, done
    done = run("simulate", "blocks.ptx", *SUMS, "--grid", "300", "--cooperative", "--shared", "200000", cwd=kernels)
    assert done.returncode == 1 and "a cooperative launch of 300 blocks; NVIDIA H100 SXM holds 132" in done.stdout, done


def test_the_blocks_of_a_cluster_share_a_histogram(kernels: Path) -> None:
    done = run("simulate", "blocks.ptx", *HISTOGRAM, "--grid", "6", "--expect", "bins=fill:32:3", cwd=kernels)
    assert done.returncode == 0 and "findings: none" in done.stdout, done
    assert_refused(run("simulate", "blocks.ptx", *HISTOGRAM, "--grid", "5", cwd=kernels),
                   "--grid 5: a grid of 5 x 1 x 1 blocks is no multiple of clusters of 2 x 1 x 1")
    assert_refused(run("simulate", "blocks.ptx", *HISTOGRAM, "--grid", "6", "--cluster", "3", cwd=kernels),
                   "--cluster 3: clusters of 3 x 1 x 1 blocks, but the kernel was compiled for clusters of 2 x 1 x 1")
