"""`--schedules` and `--lines` as users type them: of a PTX file, of a program, and of a ladder's stages."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import PROGRAM, REPOSITORY, is_sanitized, run
from lucky_stages import PLAIN, write_ladder

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


@pytest.fixture(scope="module", name="ptx")
def _ptx(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("unsteady") / "unsteady.ptx"
    subprocess.run([str(NVCC), "-std=c++20", "-arch=compute_90", "-lineinfo", "-ptx", str(KERNELS), "-o", str(made)], check=True,
                   capture_output=True)
    return made


@pytest.fixture(scope="module", name="program")
def _program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("two_orders")
    (folder / "two_orders.cu").write_text(TWO_ORDERS, encoding="utf-8")
    subprocess.run([str(NVCC), "-cudart", "shared", "-arch=compute_75", "-lineinfo", "two_orders.cu", "-o", "two_orders"], check=True,
                   capture_output=True, cwd=folder)
    return folder / "two_orders"


def of(ptx: Path, kernel: str, *options: str) -> tuple[int, str]:
    done = run("simulate", ptx, "--entry", kernel, *LAUNCH, *options)
    return done.returncode, done.stdout + done.stderr


@needs_nvcc
def test_a_seed_gives_its_order_again(ptx: Path) -> None:
    code, said = of(ptx, "the_last_block_writes", "--schedules", "40")
    assert code == 1, said
    seed = re.search(r"with seed (\d+)", said)
    assert seed and "give other results" in said, said
    assert of(ptx, "the_last_block_writes", "--schedules", "1", "--seed", seed[1])[0] == 1
    assert of(ptx, "the_last_block_writes")[0] == 0


@needs_nvcc
def test_sums_that_round_differently_are_a_note(ptx: Path) -> None:
    code, said = of(ptx, "a_sum_of_floats_by_atomics", "--schedules", "100")
    assert code == 0, said
    assert "ordercheck, a note" in said and "sums of atomics in another order only" in said, said


@needs_nvcc
def test_two_locks_hang_in_some_order(ptx: Path) -> None:
    code, said = of(ptx, "two_locks_in_two_orders", "--schedules", "100")
    assert code == 1, said
    assert re.search(r"synccheck: in the order of seed \d+: waits forever", said), said


@needs_nvcc
def test_the_document_counts_the_orders(ptx: Path, tmp_path: Path) -> None:
    document = tmp_path / "all.json"
    of(ptx, "warps_that_meet_nowhere", "--checkers", "none", "--schedules", "25", "--output", str(document))
    orders = json.loads(document.read_text(encoding="utf-8"))["orders"]
    assert (orders["launches"], orders["orders"]) == (1, 25)
    assert 0 < orders["differing"] <= 25


@needs_nvcc
@pytest.mark.parametrize("words", [("--schedules", "-1"), ("--schedules", "many"), ("--seed", "-3")])
def test_bad_numbers_are_one_line(words: tuple[str, str], ptx: Path) -> None:
    code, said = of(ptx, "the_last_block_writes", *words)
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
@needs_stand_in
def test_a_sample_is_no_whole_launch(program: Path) -> None:
    done = run("simulate", "--schedules", "3", "--sample", "2", "--", program)
    assert (done.returncode, done.stderr.count("\n")) == (3, 1), done


@needs_nvcc
def test_lines_sum_up_to_the_counters(ptx: Path, tmp_path: Path) -> None:
    document = tmp_path / "all.json"
    code, said = of(ptx, "a_mean_of_a_sum_by_atomics", "--lines", "--output", str(document))
    assert code == 0, said
    assert "lines of a_mean_of_a_sum_by_atomics" in said and "atomicAdd(&sums[0]" in said, said
    made = json.loads(document.read_text(encoding="utf-8"))
    for figures in (made["lines"][0]["lines"], made["lines"][0]["instructions"]):
        sums: dict[str, float] = {}
        for line in figures:
            for name, value in line["counters"].items():
                sums[name] = sums.get(name, 0) + value
        for name, value in sums.items():
            assert made["counters"][name] == value, name
    assert abs(sum(line["share"] for line in made["lines"][0]["lines"]) - 1) < 1e-9


@needs_nvcc
def test_two_kernels_are_compared_by_line(ptx: Path, tmp_path: Path) -> None:
    page = tmp_path / "lines.html"
    done = run("simulate", ptx, "--entry", "the_first_block_takes_all", "--entry", "the_last_block_writes", *LAUNCH, "--lines", "--html",
               page)
    assert done.returncode == 0, done
    assert "lines that differ from A to B" in done.stdout, done.stdout
    text = page.read_text(encoding="utf-8")
    assert "From A to B" in text and "is_last" in text and "{{" not in text


@needs_nvcc
@needs_stand_in
@not_sanitized
def test_a_program_has_lines(program: Path, tmp_path: Path) -> None:
    page = tmp_path / "lines.html"
    done = run("simulate", "--lines", "--html", page, "--", program)
    assert done.returncode == 0, done
    assert "lines of places" in done.stderr and "if (threadIdx.x == 0) out[" in done.stderr, done.stderr
    assert "lines of steady" in done.stderr
    assert page.read_text(encoding="utf-8").count("<h2>") == 2


@needs_nvcc
def test_a_page_needs_lines(ptx: Path, tmp_path: Path) -> None:
    code, said = of(ptx, "the_last_block_writes", "--html", str(tmp_path / "page.html"))
    assert code == 3 and "--lines" in said, said


@needs_nvcc
@needs_stand_in
@not_sanitized
def test_the_document_of_a_program_is_as_its_schema_says(program: Path, tmp_path: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    document = tmp_path / "all.json"
    run("simulate", "--lines", "--schedules", "4", "--output", document, "--", program)
    schema = json.loads((REPOSITORY / "results/simulated_program.schema.json").read_text(encoding="utf-8"))
    made = json.loads(document.read_text(encoding="utf-8"))
    jsonschema.validate(made, schema)
    for kernel in made["processes"][0]["kernels"]:
        sums: dict[str, float] = {}
        for line in kernel["lines"]["lines"]:
            for name, value in line["counters"].items():
                sums[name] = sums.get(name, 0) + value
        assert sums["smsp__inst_executed.sum"] == kernel["counters"]["smsp__inst_executed.sum"]
        assert {name: kernel["counters"][name] for name in sums} == sums


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


@needs_nvcc
@needs_stand_in
@not_sanitized
def test_python_has_tables_of_orders_and_lines(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    monkeypatch.syspath_prepend(str(REPOSITORY / "python"))
    monkeypatch.setenv("CONVLADDER_PROGRAM", str(PROGRAM))
    import convladder
    done = convladder.simulate([str(program)], schedules=30, lines=True, progress=False)
    assert dict(zip(done.orders["kernel"], done.orders["orders"])) == {"places": 30, "steady": 90}
    assert set(done.lines["kernel"]) == {"places", "steady"} and (done.lines["share"] > 0).any()
