"""`--schedules` as users type it: of a PTX file, of a program, and of a ladder's stages."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from conftest import run
from lucky_stages import PLAIN, write_ladder
from two_orders import compiled_kernels, compiled_program, needs_nvcc, needs_stand_in, not_sanitized, simulated

HEAP = """
__device__ float* kept[128];
__global__ void heap(float* out) {
  float* own = static_cast<float*>(malloc(16));
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  own[0] = i;
  out[i] = own[0];
  kept[i] = own;
  free(own);
}
"""


@pytest.fixture(scope="module", name="ptx")
def _ptx(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled_kernels(tmp_path_factory.mktemp("unsteady"))


@pytest.fixture(scope="module", name="program")
def _program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled_program(tmp_path_factory.mktemp("two_orders"))


@needs_nvcc
def test_a_seed_gives_its_order_again(ptx: Path) -> None:
    code, said = simulated(ptx, "the_last_block_writes", "--schedules", "40")
    assert code == 1, said
    seed = re.search(r"with seed (\d+)", said)
    assert seed and "give other results" in said, said
    assert simulated(ptx, "the_last_block_writes", "--schedules", "1", "--seed", seed[1])[0] == 1
    assert simulated(ptx, "the_last_block_writes")[0] == 0


@needs_nvcc
def test_sums_that_round_differently_are_a_note(ptx: Path) -> None:
    code, said = simulated(ptx, "a_sum_of_floats_by_atomics", "--schedules", "100")
    assert code == 0, said
    assert "ordercheck, a note" in said and "sums of atomics in another order only" in said, said


@needs_nvcc
def test_two_locks_hang_in_some_order(ptx: Path) -> None:
    code, said = simulated(ptx, "two_locks_in_two_orders", "--schedules", "100")
    assert code == 1, said
    assert re.search(r"synccheck: in the order of seed \d+: waits forever", said), said


@needs_nvcc
def test_the_document_counts_the_orders(ptx: Path, tmp_path: Path) -> None:
    document = tmp_path / "all.json"
    simulated(ptx, "warps_that_meet_nowhere", "--checkers", "none", "--schedules", "25", "--output", str(document))
    orders = json.loads(document.read_text(encoding="utf-8"))["orders"]
    assert (orders["launches"], orders["orders"]) == (1, 25)
    assert 0 < orders["differing"] <= 25


@needs_nvcc
@pytest.mark.parametrize("words", [("--schedules", "-1"), ("--schedules", "many"), ("--seed", "-3")])
def test_bad_numbers_are_one_line(words: tuple[str, str], ptx: Path) -> None:
    code, said = simulated(ptx, "the_last_block_writes", *words)
    assert (code, len(said.strip().splitlines())) == (3, 1), said


@needs_nvcc
@needs_stand_in
@not_sanitized
def test_a_program_says_which_kernel_depends_on_the_order(program: Path, tmp_path: Path) -> None:
    document = tmp_path / "all.json"
    done = run("simulate", "--schedules", "30", "--output", document, "--", program)
    assert done.stdout == "first 0\n", done
    assert done.returncode == 1, done
    said = re.sub(r"\s+", " ", done.stderr)
    assert "other orders of the work, seeds 1 to 30" in said, said
    assert "4 launches of 2 kernels" in said, said
    kernels = {one["name"]: one["orders"] for one in json.loads(document.read_text(encoding="utf-8"))["processes"][0]["kernels"]}
    assert (kernels["steady"]["launches"], kernels["steady"]["differing"]) == (3, 0)
    assert kernels["places"]["differing"] > 0


@needs_nvcc
def test_a_seed_is_of_an_order(ptx: Path) -> None:
    code, said = simulated(ptx, "the_last_block_writes", "--seed", "3")
    assert (code, len(said.strip().splitlines())) == (3, 1) and "--schedules" in said, said


@needs_nvcc
def test_memory_of_a_kernel_lies_elsewhere_each_time(tmp_path: Path) -> None:
    (tmp_path / "heap.cu").write_text(HEAP, encoding="utf-8")
    done = run("simulate", tmp_path / "heap.cu", "--grid", "2", "--block", "64", "--arg", "out:f32:128", "--schedules", "10")
    assert done.returncode == 0, done
    assert "orders: other orders were not tried: it launches kernels, or allocates memory" in done.stdout, done.stdout


@needs_nvcc
@needs_stand_in
def test_a_sample_is_no_whole_launch(program: Path) -> None:
    done = run("simulate", "--schedules", "3", "--sample", "2", "--", program)
    assert (done.returncode, done.stderr.count("\n")) == (3, 1), done


LOCKED = """
__global__ void row_sum(const float* x, float* y, int R, int C) {
  __shared__ unsigned lock;
  __shared__ volatile float sum;
  if (threadIdx.x == 0) {
    lock = 0;
    sum = 0;
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
    float part = 0;
    for (int c = threadIdx.x / 32; c < C; c += 4) part += x[blockIdx.x * C + c];
    while (atomicCAS(&lock, 0u, 1u) != 0u) {}
    __threadfence_block();
    sum = sum + part;
    __threadfence_block();
    atomicExch(&lock, 0u);
  }
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
extern "C" void solve(const float* x, float* y, int R, int C) { row_sum<<<R, 128>>>(x, y, R, C); }
"""


@needs_nvcc
@needs_stand_in
@not_sanitized
def test_a_right_stage_that_rounds_in_the_order_of_its_warps(tmp_path: Path) -> None:
    ladder = write_ladder(tmp_path / "ladder", {"plain": PLAIN, "locked": LOCKED})
    assert run("check", ladder).returncode == 0
    done = run("check", ladder, "--schedules", "20", "--verbose")
    assert done.returncode == 1, done
    plain, locked = (next(line for line in done.stdout.splitlines() if f"/{name}/" in line) for name in ("plain", "locked"))
    assert "nothing found, deterministic over 20 schedules of each launch" in plain, done.stdout
    assert "unsafe" in locked and "schedules give other results" in locked, done.stdout
    measured = run("run", ladder, "--device", "simulated", "--no-report", "--schedules", "20", "--output", tmp_path / "run")
    assert "1 of 2 cases deterministic over 20 schedules" in measured.stdout, measured.stdout
    cases = {one["variant"]: one for one in json.loads((tmp_path / "run/run.json").read_text(encoding="utf-8"))["cases"]}
    assert {name: one["status"] for name, one in cases.items()} == {"plain": "ok", "locked": "unsafe"}
    assert cases["plain"]["checkers"]["orders"]["differing"] == 0 < cases["locked"]["checkers"]["orders"]["differing"]
