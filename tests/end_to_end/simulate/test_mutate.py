"""`mutate` as users type it: of a program with a lax test, of a ladder's stages, of a folder."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from conftest import REPOSITORY, assert_refused, run, start, wait_for
from lucky_stages import PLAIN, write_ladder
from two_orders import NVCC, needs_nvcc, needs_stand_in, not_sanitized

SCALE = """
#include <cstdio>
#include <cstdlib>
#include <cstring>
__global__ void scale(const float* in, float* out, int n, int unused) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (unused) out[0] = 77;
  if (i < n) {
    float value = 3 * in[i];
    out[i] = value;
  }
}
__global__ void rotate(float* data) {
  __shared__ float room[64];
  room[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = room[(threadIdx.x + 40) % 64];
}
__global__ void spread(int* pairs) { pairs[threadIdx.x] = 5 * threadIdx.x; }
__global__ void gather(const int* pairs, int* sums) { sums[threadIdx.x] = pairs[2 * threadIdx.x] + pairs[2 * threadIdx.x + 1]; }
int main(int, char** words) {
  const bool ends_with_0 = !std::strcmp(words[1], "prints");
  const int looks_at = !std::strcmp(words[1], "half") ? 128 : 256;
  float host[256], back[256], *in, *out;
  for (int i = 0; i < 256; ++i) host[i] = i + 1;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  scale<<<4, 64>>>(in, out, 256, 0);
  rotate<<<1, 64>>>(out);
  cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost);
  bool right = true;
  for (int i = 0; i < looks_at; ++i) right = right && back[i] == 3 * host[i < 64 ? (i + 40) % 64 : i];
  int sums[32], *pairs;
  cudaMalloc(&pairs, 96 * sizeof(int));
  spread<<<1, 64>>>(pairs);
  gather<<<1, 32>>>(pairs, pairs + 64);
  cudaMemcpy(sums, pairs + 64, sizeof sums, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 32; ++i) right = right && sums[i] == 5 * (4 * i + 1);
  std::puts(right ? "test PASSED" : "test FAILED");
  return right || ends_with_0 ? 0 : 1;
}
"""

SOURCE = SCALE.strip() + "\n"


def line(text: str) -> int:
    """The number of the line of the source that has this text."""
    return next(number for number, one in enumerate(SOURCE.splitlines(), 1) if text in one)


STORE, NEVER, BARRIER = line("out[i] = value"), line("out[0] = 77"), line("__syncthreads")

pytestmark = [needs_stand_in, not_sanitized]


@pytest.fixture(scope="module", name="program")
def _program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if NVCC is None:
        pytest.skip("nvcc is not installed")
    folder = tmp_path_factory.mktemp("scale")
    (folder / "scale.cu").write_text(SOURCE, encoding="utf-8")
    subprocess.run([str(NVCC), "-cudart", "shared", "-arch=compute_75", "-lineinfo", "scale.cu", "-o", "scale"], check=True,
                   capture_output=True, cwd=folder)
    return folder / "scale"


def verdicts(document: dict[str, Any]) -> dict[tuple[str, str, int], str]:
    """By kernel, kind and line."""
    return {(one["name"], one["mutant"]["kind"], (one["mutant"]["places"] or [{"line": 0}])[0]["line"]): one["verdict"]
            for one in document["mutants"]}


def mutants(*words: object) -> tuple[int, dict[tuple[str, str, int], str]]:
    done = run("mutate", "--format", "json", *words)
    return done.returncode, verdicts(json.loads(done.stdout))


def test_a_test_that_looks_at_all_of_it_rejects_every_mutant(program: Path) -> None:
    code, found = mutants("--", program, "all")
    assert code == 0
    wrong = {key: verdict for key, verdict in found.items() if verdict not in ("rejected", "not run", "equivalent")}
    neighbours = ("spread", "store-index", line("void spread"))
    assert wrong.pop(neighbours) == "unread", "the pairs' sums are the same"
    assert wrong == {}
    assert found["scale", "store-out", STORE] == found["scale", "zeros", STORE] == found["scale", "last-block", 0] == "rejected"
    assert found["rotate", "barrier-out", BARRIER] == "rejected", "in another order, of two warps"
    assert found["scale", "store-out", NEVER] == "not run"
    assert found["scale", "stale", 0] == "not run", "it is called once"


def test_a_test_that_looks_at_half_of_it_accepts_a_missing_block(program: Path) -> None:
    done = run("mutate", "--", program, "half")
    assert done.returncode == 1, done.stderr
    assert "the test accepts" in done.stdout and "last block does nothing" in done.stdout, done.stdout
    assert " of 1024 bytes of" in done.stdout and max(map(len, done.stdout.splitlines())) <= 100, done.stdout
    code, found = mutants("--kinds", "zeros,last-block", "--kernel", "scale", "--", program, "half")
    assert code == 1
    assert {kind for _, kind, _ in found} == {"zeros", "last-block"} and {name for name, _, _ in found} == {"scale"}


def test_a_program_that_ends_with_0_is_read(program: Path) -> None:
    code, found = mutants("--kinds", "zeros", "--", program, "prints")
    assert (code, set(found.values())) == (1, {"accepted", "not run"})
    for rule in (["--rejects", "FAILED$"], ["--accepts", "PASSED$"]):
        code, found = mutants("--kinds", "zeros", *rule, "--", program, "prints")
        assert (code, set(found.values())) == (0, {"rejected", "not run"}), rule


def test_a_record_is_gone_on_with(program: Path, tmp_path: Path) -> None:
    record = tmp_path / "mutants.json"
    first = run("mutate", "--most", "4", "--output", record, "--", program, "half")
    assert "not tried" in first.stdout, first.stdout
    begun = json.loads(record.read_text(encoding="utf-8"))
    assert sum(one["verdict"] not in ("not tried", "not run") for one in begun["mutants"]) == 4
    second = run("mutate", "--output", record, "--", program, "half")
    assert "4 of the verdicts were in" in second.stdout and "not tried" not in second.stdout, second.stdout
    begin = time.monotonic()
    third = run("mutate", "--output", record, "--", program, "half")
    assert third.returncode == 1 and time.monotonic() - begin < 20
    other_rule = run("mutate", "--output", record, "--rejects", "never printed", "--kinds", "zeros", "--", program, "half")
    assert "already" not in other_rule.stdout, other_rule.stdout
    schema = json.loads((REPOSITORY / "results/mutants.schema.json").read_text(encoding="utf-8"))
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(json.loads(record.read_text(encoding="utf-8")), schema)
    assert_refused(run("mutate", "--output", record, "--", program, "all"), "of another test")
    record.write_text("{}", encoding="utf-8")
    assert_refused(run("mutate", "--output", record, "--", program, "half"), "no record of mutants")


def test_the_faults_have_the_same_names_everywhere() -> None:
    schema = json.loads((REPOSITORY / "results/mutants.schema.json").read_text(encoding="utf-8"))
    known = schema["$defs"]["mutant"]["properties"]["kind"]["enum"]
    page = (REPOSITORY / "docs/use/mutate.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `([a-z-]+)` \|", page, re.MULTILINE)) == set(known)
    said = " ".join(run("mutate", "--help").stdout.split())
    assert f"only these faults: {', '.join(known)}" in said, said


def test_an_interrupt_keeps_what_is_known(program: Path, tmp_path: Path) -> None:
    record = tmp_path / "mutants.json"
    process = start("mutate", "--jobs", "1", "--output", record, "--", "bash", "-c", f"sleep 1; {program} all")
    wait_for(record, process)
    process.send_signal(signal.SIGINT)
    _, messages = process.communicate(timeout=60)
    assert process.returncode == 130
    assert f"the same command goes on with {record}" in messages
    tried = [one["verdict"] for one in json.loads(record.read_text(encoding="utf-8"))["mutants"]]
    assert "not tried" in tried and "rejected" in tried and "accepted" not in tried


def test_a_stage_that_has_changed_is_tried_again(tmp_path: Path) -> None:
    if NVCC is None:
        pytest.skip("nvcc is not installed")
    folder, record = write_ladder(tmp_path / "sums", {"plain": PLAIN}), tmp_path / "mutants.json"
    words = ("mutate", folder, "--kinds", "zeros,last-block", "--output", record)
    assert "already" not in run(*words).stdout
    assert "2 of the verdicts were in" in run(*words).stdout
    source = next(folder.glob("*.cu"))
    source.write_text(source.read_text(encoding="utf-8").replace("float sum = 0;", "float sum = 0.0f;"), encoding="utf-8")
    assert "already" not in run(*words).stdout


WAITS = """
__device__ int done[64], trips;
__global__ void row_sum(const float* x, float* y, int R, int C) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) atomicExch(&done[blockIdx.x], 0);
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicExch(&done[blockIdx.x], 1);
  }
  while (atomicAdd(&done[blockIdx.x], 0) == 0) atomicAdd(&trips, 1);
  float sum = 0;
  for (int c = 0; r < R && c < C; ++c) sum += x[r * C + c];
  if (r < R) y[r] = sum;
}
extern "C" void solve(const float* x, float* y, int R, int C) { row_sum<<<(R + 127) / 128, 128>>>(x, y, R, C); }
"""


def test_a_stage_that_waits_for_ever_is_ended_in_time(tmp_path: Path) -> None:
    if NVCC is None:
        pytest.skip("nvcc is not installed")
    folder = write_ladder(tmp_path / "sums", {"waits": WAITS})
    done = run("mutate", folder, "--kinds", "store-out", "--timeout", "2", "--format", "json")
    flag = WAITS.splitlines().index("    atomicExch(&done[blockIdx.x], 1);") + 1
    ended = [one for one in json.loads(done.stdout)["mutants"] if one["mutant"]["places"][0]["line"] == flag]
    assert [(one["verdict"], one["seconds"] < 30) for one in ended] == [("rejected", True)], ended


def test_a_launch_of_our_own_stages_is_ended_in_time() -> None:
    done = run("mutate", "--variant", "global-memory", "--size", "C6H40W40M16K5P2", "--batch", "3", "--kinds", "scaled", "--most", "1",
               "--timeout", "0.1", "--format", "json")
    tried = [(one["verdict"], one["seconds"] < 5) for one in json.loads(done.stdout)["mutants"] if one["seconds"] > 0]
    assert tried == [("rejected", True)], done


def test_what_cannot_be_tested_is_one_line(program: Path) -> None:
    assert_refused(run("mutate", "--", "/bin/false"), "fails without any mutant: exit code 1")
    nothing = run("mutate", "--", "/bin/true")
    assert nothing.returncode == 2 and "no kernel" in nothing.stdout + nothing.stderr, nothing
    assert_refused(run("mutate", "--rejects", "PASSED", "--", program, "all"), "it prints: test PASSED")
    assert_refused(run("mutate", "--kinds", "zero", "--", program, "all"), "unknown fault 'zero'")
    assert_refused(run("mutate", "--variant", "naive", "--", program, "all"), "is for a ladder")
    assert_refused(run("mutate", "--rejects", "3", "--problem", "softmax"), "--rejects is for a program")
    assert_refused(run("mutate"), "what is to be tested")
    assert_refused(run("mutate", "--kernel", "nobody", "--", program, "all"), "--kernel matches none of the kernels", "scale")
    assert_refused(run("mutate", "no-such-ladder"), "no-such-ladder")
    assert_refused(run("mutate", "--kernel", "(", "--", program, "all"), "is not a regular expression")


@needs_nvcc
def test_our_verification_accepts_nothing() -> None:
    code, found = mutants("--problem", "convolution", "--variant", "shared-memory,implicit-gemm", "--shape", "3,12,11,5,3,1,1",
                          "--batch", "3")
    assert code == 0
    assert "accepted" not in found.values() and "rejected" in found.values()


@needs_nvcc
def test_the_stages_of_a_folder(tmp_path: Path) -> None:
    folder = write_ladder(tmp_path / "sums", {"plain": PLAIN})
    code, found = mutants(folder)
    assert code == 0, found
    assert {kind for (_, kind, _), verdict in found.items() if verdict == "rejected"} >= {"store-out", "zeros", "last-block"}
