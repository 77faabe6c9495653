"""Untrusted submissions: cheats of every kind are refused or gain nothing, and honest stages that look strange pass."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from conftest import complaints, is_sanitized, run

pytestmark = pytest.mark.skipif(is_sanitized(), reason="sanitizers slow the harness down and no stage: no claim is believed")

HERE = Path(__file__).resolve().parent
SLOW = bool(os.environ.get("CONVLADDER_SLOW_TESTS"))

PROBLEM = {
    "name": "twice", "dimensions": {"N": {"name": "elements"}},
    "tensors": [{"name": "x", "role": "in", "type": "f32", "shape": ["N"]},
                {"name": "y", "role": "out", "type": "f32", "shape": ["N"], "compare": {"tolerance": 1e-6}}],
    "sizes": ["N20000"], "counted_sizes": ["N10000"], "work": {"flop": "N"}}

REFERENCE = """extern "C" void reference(const double* x, double* y, double* y_scale, int N) {
  for (int i = 0; i < N; ++i) {
    y[i] = 2 * x[i];
    y_scale[i] = y[i] < 0 ? -y[i] : y[i];
  }
}
"""


def ladder(folder: Path, stages: list[Path]) -> Path:
    folder.mkdir()
    (folder / "problem.json").write_text(json.dumps(PROBLEM), encoding="utf-8")
    (folder / "reference.cpp").write_text(REFERENCE, encoding="utf-8")
    for stage in [*stages, HERE / "cheats/handover.hpp"]:
        shutil.copy(stage, folder)
    return folder


def cases_of(tmp_path: Path, stages: list[Path], *more: str) -> dict[str, dict[str, object]]:
    """The cases of all stages by the stage's file name."""
    folder = tmp_path / "twice"
    if not folder.exists():
        ladder(folder, stages)
    shutil.rmtree(tmp_path / "out", ignore_errors=True)
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = run("run", folder, "--output", tmp_path / "out", "--timeout", 8, "--repetitions", 3,
               "--benchmark_min_time=0.001", "--quiet", "--no-report", *more, env=environment, timeout=900)
    assert done.returncode in (0, 1), done.stderr
    assert complaints(tmp_path / "out/run.json") == []
    cases = json.loads((tmp_path / "out/run.json").read_text(encoding="utf-8"))["cases"]
    found: dict[str, dict[str, object]] = {}
    for stage in stages:
        name = stage.stem.split("_", 1)[1].replace("_", "-")
        family = "cuda" if stage.suffix == ".cu" else "cpu"
        of_stage = [one for one in cases if one["variant"] == name and one["family"] == family]
        ran = [one for one in of_stage if one["status"] != "skipped"]
        found[stage.name] = (ran or of_stage)[0]
    return found


def expected(stage: Path) -> set[str]:
    line = re.search(r"^// expected: (.*)$", stage.read_text(encoding="utf-8"), re.MULTILINE)
    assert line is not None, stage.name
    return set(line.group(1).split(", "))


def is_slow(stage: Path) -> bool:
    return "\n// slow\n" in stage.read_text(encoding="utf-8")


CHEATS = sorted(one for one in (HERE / "cheats").iterdir() if one.suffix != ".hpp")
HONEST = sorted((HERE / "honest").iterdir())


def test_no_cheat_is_timed_that_did_not_do_its_work(tmp_path: Path) -> None:
    tried = [one for one in CHEATS if SLOW or not is_slow(one)]
    assert len(tried) >= 50
    wrong = []
    refused = 0
    for name, case in cases_of(tmp_path, tried, "--untrusted").items():
        if case["status"] == "skipped":
            continue
        refused += case["status"] not in ("ok", "unsupported")
        if case["status"] not in expected(HERE / "cheats" / name):
            wrong.append(f"{name}: {case['status']}: {case['reason']}")
        if case["status"] != "ok":
            assert case["reason"], name
            assert case["time"] is None, name
    assert wrong == []
    assert refused >= 25


@pytest.fixture(scope="module")
def place_of_honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """They are compiled once."""
    return tmp_path_factory.mktemp("honest")


@pytest.mark.parametrize("where", [[], ["--untrusted"]], ids=["in place", "apart"])
def test_honest_stages_that_look_strange_pass(place_of_honest: Path, where: list[str]) -> None:
    assert len(HONEST) >= 15
    cases = cases_of(place_of_honest, HONEST, *where)
    wrong = [f"{name}: {case['status']}: {case['reason']}" for name, case in cases.items()
             if case["status"] not in ("ok", "skipped")]
    assert wrong == []


BETWEEN_KERNELS = {
    "01_honest.cu": "twice<<<(N + 255) / 256, 256>>>(x, y, N);",
    "02_on_the_host.cu": "std::vector<float> values(N); cudaMemcpy(values.data(), x, 4ul * N, cudaMemcpyDeviceToHost);\n"
                         "  for (float& one : values) for (int k = 0; k < 400; ++k) one = one * 0.5F + one * (k == 0 ? 1.5F : 0.5F);\n"
                         "  cudaMemcpy(y, values.data(), 4ul * N, cudaMemcpyHostToDevice); empty<<<1, 1>>>();",
    "03_third_call.cu": "static int calls = 0; if (++calls == 3) { cudaMemset(y, 1, 4ul * N); empty<<<1, 1>>>(); return; }\n"
                        "  twice<<<(N + 255) / 256, 256>>>(x, y, N);",
    "04_fills_first.cu": "cudaMemset(y, 0, 4ul * N); twice<<<(N + 255) / 256, 256>>>(x, y, N);",
    "05_counted_on_the_device.cu": "count<<<1, 1>>>(); twice_but_third<<<(N + 255) / 256, 256>>>(x, y, N);"}


def test_the_counted_call_is_compared_and_its_work_between_kernels_is_predicted(tmp_path: Path) -> None:
    folder = ladder(tmp_path / "twice", [])
    for name, body in BETWEEN_KERNELS.items():
        (folder / name).write_text(
            "#include <vector>\n__device__ int calls_made;\n__global__ void empty() {}\n"
            "__global__ void count() { ++calls_made; }\n"
            "__global__ void twice(const float* x, float* y, int N) {\n"
            "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < N) y[i] = 2 * x[i];\n}\n"
            "__global__ void twice_but_third(const float* x, float* y, int N) {\n"
            "  if (calls_made == 3) return;\n"
            "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < N) y[i] = 2 * x[i];\n}\n"
            f'extern "C" void solve(const float* x, float* y, int N) {{\n  {body}\n}}\n', encoding="utf-8")
    done = run("run", folder, "--device", "simulated", "--output", tmp_path / "out", "--quiet", "--no-report",
               env=os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache")})
    assert complaints(tmp_path / "out/run.json") == []
    cases = {one["variant"]: one for one in json.loads((tmp_path / "out/run.json").read_text(encoding="utf-8"))["cases"]}
    if {one["status"] for one in cases.values()} == {"skipped"}:
        pytest.skip(cases["honest"]["reason"])
    assert done.returncode == 1, done.stderr
    assert cases["third-call"]["status"] == "incorrect"
    assert cases["counted-on-the-device"]["status"] == "incorrect"

    def predicted(name: str) -> float:
        return next(one["low"] for one in cases[name]["prediction"]["gpus"] if one["gpu"] == "h100")

    assert "beside" not in cases["honest"]["counters"]
    beside = cases["on-the-host"]["counters"]["beside"]
    assert beside["host_ns"] > 50e3
    assert beside["bus_ns"] > 2 * 40000 / 25
    assert predicted("on-the-host") > beside["host_ns"] + beside["bus_ns"]
    assert cases["fills-first"]["counters"]["beside"] == {"bus_ns": 0, "moved_bytes": 40000, "operations": 1,
                                                          "calls_ns": 0, "host_ns": 0}
    assert predicted("fills-first") > predicted("honest")


GOES_ON = """#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
static void work(const float* x, float* y, int from, int N) {
  for (int i = from; i < N; ++i) y[i] = 2 * x[i];
}
extern "C" void solve(const float* x, float* y, int N) {
  BODY
}
"""
LATE = {
    "01_all": "std::thread([=] { work(x, y, 0, N); }).detach();",
    "02_half": "std::thread([=] { work(x, y, N / 2, N); }).detach(); work(x, y, 0, N / 2);",
    "03_after_a_sleep": "std::thread([=] { std::this_thread::sleep_for(std::chrono::microseconds(50)); work(x, y, N / 8, N); })"
                        ".detach(); work(x, y, 0, N / 8);",
    "04_by_a_worker": """struct Job { const float* x; float* y; int N; };
  static std::mutex lock;
  static std::condition_variable wakes;
  static Job job{};
  static bool wanted = false;
  static const bool started = (std::thread([] {
    for (std::unique_lock<std::mutex> held(lock);;) {
      wakes.wait(held, [] { return wanted; });
      wanted = false;
      work(job.x, job.y, 0, job.N);
    }
  }).detach(), true);
  const std::lock_guard<std::mutex> held(lock);
  job = {x, y, N};
  wanted = started;
  wakes.notify_one();""",
    "05_the_end": "std::thread([=] { work(x, y, N - N / 16, N); }).detach(); work(x, y, 0, N - N / 16);"}


@pytest.mark.parametrize("where", [[], ["--untrusted"]], ids=["in place", "apart"])
def test_a_thread_that_goes_on_after_the_return_is_never_ok(tmp_path: Path, where: list[str]) -> None:
    sources = tmp_path / "sources"
    sources.mkdir()
    for name, body in LATE.items():
        (sources / f"{name}.cpp").write_text(GOES_ON.replace("BODY", body), encoding="utf-8")
    for _ in range(3):
        for name, case in cases_of(tmp_path, sorted(sources.iterdir()), *where).items():
            assert case["status"] in ("incorrect", "refused", "not judged"), (name, case["status"], case["reason"])


SUM = {
    "name": "total", "dimensions": {"N": {"name": "elements"}},
    "tensors": [{"name": "x", "role": "in", "type": "f32", "shape": ["N"]},
                {"name": "total", "role": "out", "type": "f32", "shape": [], "compare": {"tolerance": 1e-4}}],
    "sizes": ["N300000"], "work": {"flop": "N"}}


def test_an_answer_is_not_kept_where_one_element_does_not_show(tmp_path: Path) -> None:
    """Of a sum of very many numbers one replaced element stays within the tolerance."""
    folder = tmp_path / "total"
    folder.mkdir()
    (folder / "problem.json").write_text(json.dumps(SUM), encoding="utf-8")
    (folder / "reference.cpp").write_text(
        'extern "C" void reference(const double* x, double* total, double* total_scale, int N) {\n'
        "  for (int i = 0; i < N; ++i) *total += x[i], *total_scale = (i == 0 ? 0 : *total_scale) + (x[i] < 0 ? -x[i] : x[i]);\n"
        "}\n", encoding="utf-8")
    for name, works in {"01_honest": "true", "02_verified": "calls < 4", "03_sometimes": "calls % 3 == 0"}.items():
        (folder / f"{name}.cpp").write_text(
            'extern "C" void solve(const float* x, float* total, int N) {\n  static int calls = 0;\n'
            f"  static double kept = 0;\n  if ({works}) {{\n    kept = 0;\n    for (int i = 0; i < N; ++i) kept += x[i];\n"
            "  }\n  ++calls;\n  *total = kept;\n}\n", encoding="utf-8")
    done = run("run", folder, "--family", "cpu", "--output", tmp_path / "out", "--repetitions", 3,
               "--benchmark_min_time=0.004", "--quiet", "--no-report",
               env=os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache")})
    assert done.returncode == 1, done.stderr
    cases = json.loads((tmp_path / "out/run.json").read_text(encoding="utf-8"))["cases"]
    assert {one["variant"]: one["status"] for one in cases} == {"honest": "ok", "verified": "incorrect",
                                                                "sometimes": "incorrect"}


@pytest.mark.parametrize("what", ["zeros", "copy", "other"])
def test_a_problem_that_lets_anything_pass_is_refused(tmp_path: Path, what: str) -> None:
    folder = ladder(tmp_path / "twice", [HERE / "honest/08_exceptions.cpp"])
    problem = json.loads(json.dumps(PROBLEM))
    body = "y[i] = 2 * x[i]; y_scale[i] = 1e9;"
    if what == "copy":
        body = "y[i] = x[i]; y_scale[i] = 1;"
    if what == "other":
        body = "y[i] = 1; y_scale[i] = 1;"
    (folder / "problem.json").write_text(json.dumps(problem), encoding="utf-8")
    (folder / "reference.cpp").write_text(
        'extern "C" void reference(const double* x, double* y, double* y_scale, int N) {\n'
        f"  for (int i = 0; i < N; ++i) {{ {body} static_cast<void>(x); }}\n}}\n", encoding="utf-8")
    done = run("run", folder, "--output", tmp_path / "out", "--family", "cpu",
               env=os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache")})
    says = {"zeros": "an output of zeros", "copy": "a copy of 'x'", "other": "the answer to another input"}[what]
    assert done.returncode == 3
    assert f"{says} would pass" in done.stderr
    assert done.stderr.count("\n") == 1
