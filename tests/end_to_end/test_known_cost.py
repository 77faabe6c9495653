"""The kernels of known cost, in the forms in which harnesses can be pointed at them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable

import pytest

from conftest import PROGRAM, REPOSITORY, SCRIPTS, only_with_all, run

SOURCE = REPOSITORY / "docs/examples/duel/known_cost.cpp"
STRICT = ["-std=c++17", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"]


def build(folder: Path, name: str, *options: str) -> Path:
    """Without a single warning."""
    subprocess.run(["c++", *STRICT, str(SOURCE), "-o", name, *options], cwd=folder, check=True)
    return folder / name


@pytest.fixture(scope="module", name="plain")
def _plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("plain"), "known_cost")


@pytest.fixture(scope="module", name="google")
def _google(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("google"), "known_cost_google", "-DKNOWN_COST_GOOGLE", "-lbenchmark", "-lpthread")


def one_run(plain: Path, *words: str) -> dict[str, Any]:
    """What a run of the plain command says in JSON, after the line for people."""
    lines = subprocess.run([plain, *words], capture_output=True, text=True, check=True).stdout.splitlines()
    told = json.loads(lines[1])
    assert lines[0] == f"seconds: {told['seconds']:.9f}" and len(lines) == 2
    return told


def cpu_seconds(plain: Path, *words: str) -> float:
    return one_run(plain, *words)["cpu_seconds"]


def ratio_in_turns(base: Callable[[], float], more: Callable[[], float], expected: Callable[[float], bool]) -> float:
    """The fastest of `more` by the fastest of `base`, measured in turns: other programs only make a run longer, also one that
    shares a core with it. Ends with what is expected, or after forty turns."""
    bases, mores = [], []
    for _ in range(40):
        bases.append(base())
        mores.append(more())
        if len(bases) >= 5 and expected(min(mores) / min(bases)):
            break
    return min(mores) / min(bases)


@pytest.mark.parametrize("kernel", ["spin", "warm", "cold", "fresh", "lazy-read"])
def test_more_operations_are_more_work(plain: Path, kernel: str) -> None:
    base, more = one_run(plain, kernel), one_run(plain, kernel, "--extra", "5")
    assert (more["extra_percent"], more["operations"] * 100) == (5, base["operations"] * 105)
    assert base["result"] != more["result"] and base["seconds"] > 0
    assert one_run(plain, kernel)["result"] == base["result"], "the same work has the same result"


def test_twice_the_work_takes_twice_as_long(plain: Path) -> None:
    calls = ["spin", "--calls", "50"]
    twice = pytest.approx(2, rel=0.15)
    assert ratio_in_turns(lambda: cpu_seconds(plain, *calls), lambda: cpu_seconds(plain, *calls, "--extra", "100"),
                          lambda ratio: ratio == twice) == twice


def test_a_calibrated_spin_takes_as_long_as_it_says(plain: Path) -> None:
    told: list[dict[str, Any]] = []

    def calibrated() -> float:
        told.append(json.loads(
            subprocess.run([plain, "calibrate", "--microseconds", "2000"], capture_output=True, check=True).stdout))
        return told[-1]["nanoseconds_per_operation"] * 1e-9

    def measured() -> float:
        """As calibrate does it: of short runs, some have the processor for themselves on a busy machine, too."""
        return min(cpu_seconds(plain, "spin", "--operations", "100000") for _ in range(5)) / 100_000

    same = pytest.approx(1, rel=0.15)
    assert ratio_in_turns(calibrated, measured, lambda ratio: ratio == same) == same
    for one in told:
        assert one["operations"] * one["nanoseconds_per_operation"] == pytest.approx(2e6, rel=0.01)
    assert cpu_seconds(plain, "spin", "--operations", str(told[-1]["operations"])) > 0.85 * 2e-3


def test_lazy_output_costs_nothing_until_it_is_read(plain: Path) -> None:
    many = ["--calls", "100"]
    assert ratio_in_turns(lambda: cpu_seconds(plain, "lazy", *many), lambda: cpu_seconds(plain, "lazy-read", *many),
                          lambda ratio: ratio > 20) > 20


def test_a_walk_beyond_the_cache_takes_longer_a_step(plain: Path) -> None:
    many = ["--operations", "10000", "--calls", "10"]
    assert ratio_in_turns(lambda: cpu_seconds(plain, "warm", *many), lambda: cpu_seconds(plain, "cold", *many),
                          lambda ratio: ratio > 3) > 3


def test_a_worker_answers(plain: Path) -> None:
    asked = "".join(json.dumps({"op": "slot", "calls": 10, "case": case}) + "\n" for case in ("spin", "warm", "nope"))
    done = subprocess.run([plain, "worker", "spin", "warm"], input=asked + '{"op": "output", "case": "spin"}\n',
                          capture_output=True, text=True, check=True)
    spin, warm, error, output = (json.loads(line) for line in done.stdout.splitlines())
    assert spin["seconds"] > 1e-6 and warm["seconds"] > 1e-6 and error == {"error": "no such case: nope"}
    assert output == {"output": "done"}


def test_google_benchmark_measures_it_and_a_control_that_stays(google: Path) -> None:
    def times(kernel: str, extra: str) -> Callable[[], float]:
        def fastest() -> float:
            text = subprocess.run([google, f"--extra={extra}", f"--benchmark_filter=^{kernel}$", "--benchmark_min_time=0.002",
                                   "--benchmark_repetitions=5", "--benchmark_format=json"], capture_output=True, check=True).stdout
            return min(one["cpu_time"] for one in json.loads(text)["benchmarks"] if one["run_type"] == "iteration")

        return fastest

    for kernel, factor in (("spin", 2), ("control", 1)):
        expected = pytest.approx(factor, rel=0.2)
        assert ratio_in_turns(times(kernel, "0"), times(kernel, "100"), lambda ratio: ratio == expected) == expected


@pytest.mark.parametrize("words, says", [
    (["nope"], "no such kernel: nope; there are spin, warm, cold, fresh, lazy, lazy-read"),
    (["worker", "nope"], "no such kernel: nope"),
    ([], "no such kernel"),
    (["spin", "warm"], "one kernel at a time; warm is one more"),
    (["spin", "--extra", "x"], "--extra 'x': expected a whole number from 0 to 1000"),
    (["spin", "--extra"], "usage: "),
    (["spin", "--operations", "10", "--extra", "5"], "--operations: expected a multiple of 100"),
])
def test_bad_words_are_one_line(plain: Path, words: list[str], says: str) -> None:
    done = subprocess.run([plain, *words], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (3, "", 1)
    assert done.stderr.startswith("known_cost: ") and says in done.stderr


@only_with_all
def test_a_duel_finds_twice_the_work(plain: Path) -> None:
    command = f"{plain} spin --calls 100"
    done = run("duel", "--base-command", command, "--new-command", f"{command} --extra 100", "--rounds", "13",
               "--metric", "time=seconds: ([0-9.]+)", "--format", "json")
    (one,) = json.loads(done.stdout)["cases"]
    assert done.returncode in (1, 4) and one["verdict"] == "regressed", done


@only_with_all
def test_trials_are_recorded_and_become_tables(tmp_path: Path) -> None:
    script, output = SCRIPTS / "grade_comparators.py", tmp_path / "trials.jsonl"
    done = subprocess.run([sys.executable, script, "record", "--program", PROGRAM, "--kernels", "spin", "--levels", "0,100",
                           "--trials", "2", "--output", output], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    done = subprocess.run([sys.executable, script, "table", output], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("trials: spin 2\n") and done.stdout.count("convladder duel") == 2
