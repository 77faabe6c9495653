"""The program's own CUDA path, on the stand-in for the CUDA runtime: what it says it timed is what the virtual clock
says was spent."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any, Sequence

import pytest

from conftest import cases, record
from cuda_path import LAYER, lines_of, needs_program, on_stand_in

pytestmark = needs_program


def timed_by_clock(trace: Path) -> list[tuple[int, int, int]]:
    """Between two events in a row, of any process: kernels, the nanoseconds that they and the copies of constants before
    them took, and those between the events."""
    by_process: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for entry in lines_of(trace):
        by_process[entry["process"]].append(entry)
    found = []
    for entries in by_process.values():
        begin, kernels, busy = 0, 0, 0
        for entry in entries:
            if entry["what"] == "event":
                if kernels:
                    found.append((kernels, busy, entry["end_ns"] - begin))
                begin, kernels, busy = entry["end_ns"], 0, 0
            else:
                kernels += not entry["what"].startswith("[")
                busy += entry["end_ns"] - entry["begin_ns"]
    return found


@pytest.fixture(name="ladder_folder", scope="module")
def make_ladder_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where `ladder` has its record and its trace."""
    return tmp_path_factory.mktemp("ladder")


@pytest.fixture(name="ladder", scope="module")
def run_ladder(ladder_folder: Path) -> tuple[dict[str, Any], list[tuple[int, int, int]], str]:
    """The record of all stages, what the clock says, and what was printed."""
    folder = ladder_folder
    done = on_stand_in(folder, "run", "--device", "cuda", *LAYER, "--output", folder / "out",
                       trace=str(folder / "trace"))
    assert "crashed" not in done.stdout and done.returncode in (0, 1), done
    return record(folder / "out"), timed_by_clock(folder / "trace"), done.stdout


def test_every_stage_runs_and_its_times_are_predicted(ladder: tuple[dict[str, Any], Any, str]) -> None:
    document, _, printed = ladder
    stages = [one for one in document["cases"] if one["rung"] is not None]
    assert len(stages) >= 21 and {one["status"] for one in stages} == {"ok"}
    assert {one["time"]["kind"] for one in stages} == {"predicted"}
    assert {one["kind"] for one in document["ladders"]} == {"predicted"}
    assert "predicted" in printed and "measured" not in printed


def test_a_gpu_has_a_dozen_contexts_at_most(ladder: tuple[dict[str, Any], Any, str], ladder_folder: Path) -> None:
    """Of all processes that wrote into the trace, in the order in which they did."""
    assert len(ladder[0]["cases"]) > 12
    writers = [entry["process"] for entry in lines_of(ladder_folder / "trace")]
    first = {process: at for at, process in reversed(list(enumerate(writers)))}
    last = {process: at for at, process in enumerate(writers)}
    at_a_time = [sum(first[one] <= at <= last[one] for one in first) for at in first.values()]
    assert 2 <= max(at_a_time) <= 12


def test_what_the_gpu_has_no_memory_for_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process has nearly all of it: what is free is enough for a context and few images."""
    monkeypatch.setenv("CONVLADDER_TEST_GPU_FREE_BYTES", "700000000")
    done = on_stand_in(tmp_path, "run", "--device", "cuda", "--variant", "global-memory", "--shape", "1,64,64,4,5", "--batch",
                       "1,2000", "--repetitions", "1", "--output", tmp_path / "out", libraries=["nvml"])
    assert done.returncode == 0 and done.stderr == "", done
    found = {one["batch"]: one for one in record(tmp_path / "out")["cases"]}
    assert found[1]["status"] == "ok"
    # 2000 images of 64 x 64 and 4 maps of 60 x 60, beside a context of 640 MiB.
    assert found[2000]["status"] == "skipped"
    assert found[2000]["reason"] == ("batch 2000 needs 819 MB of the GPU's memory, 700 MB are free; "
                                     "the largest batch that fits is about 390")


def test_hot_is_the_kernels_and_nothing_else(ladder: tuple[dict[str, Any], list[tuple[int, int, int]], str]) -> None:
    document, clock, _ = ladder
    of_kernels = {(kernels, total) for kernels, total, between in clock if total == between}
    for one in document["cases"]:
        if one["status"] != "ok":
            continue
        hot = one["time"]
        for sample in hot["samples"]:
            calls = [calls for calls in (hot["iterations_per_sample"], hot["iterations_per_sample"] + 1)
                     if any(kernels % calls == 0 and abs(total - sample * calls) <= 1e-6 * total + 0.5
                            for kernels, total in of_kernels)]
            assert calls, (one["id"], sample, hot["iterations_per_sample"])


def test_a_sample_begins_with_an_input_and_an_l2_of_its_own_and_waits_for_nothing(tmp_path: Path) -> None:
    """By the real clock: a virtual one knows nothing of what caches hold."""
    done = on_stand_in(tmp_path, "run", "--device", "cuda", "--variant", "global-memory", *LAYER, "--benchmark_min_time=0.0005",
                       "--output", tmp_path / "out", trace=str(tmp_path / "trace"), trace_calls=True, real_clock={})
    assert done.returncode == 0, done
    lines = lines_of(tmp_path / "trace")
    calls = [line["call"] for line in lines if "call" in line]
    begins = [place for place, call in enumerate(calls) if call == "cudaCtxResetPersistingL2Cache"]
    assert len(begins) >= 6, "three samples each, hot and cold"
    for place in begins:
        assert calls[place - 2:place] == ["cudaLaunchKernel"] * 2, "the input is changed, the output poisoned"
        ahead = calls[place:calls.index("cudaEventRecord", place)]
        assert {"cudaDeviceSetLimit", "cudaStreamSetAttribute"} <= set(ahead)
        assert ahead.count("cudaLaunchKernel") >= 2, "the L2 is flushed, and a call fills it again"
        assert not [call for call in ahead if "Synchronize" in call or call in ("cudaMemcpy", "cudaMemset")]
    # What is written has to be written back, which a cold call would wait for: the L2 is flushed by reading.
    assert sum("gauge_read" in line.get("what", "") for line in lines) >= len(begins)


def test_cold_is_never_less(ladder: tuple[dict[str, Any], Any, str]) -> None:
    document, _, _ = ladder
    for one in document["cases"]:
        for cold in one["other_times"] if one["status"] == "ok" else ():
            if cold.get("cache") == "cold":
                assert cold["median"] >= one["time"]["median"] * (1 - 1e-6), one["id"]
                assert cold["iterations_per_sample"] >= 1


def faulty(tmp_path: Path, variant: str, *faults: dict[str, Any], arguments: Sequence[str] = (),
           **settings: Any) -> dict[str, dict[str, Any]]:
    """The cases of these variants under faults, by variant."""
    done = on_stand_in(tmp_path, "run", "--device", "cuda", "--variant", variant, *LAYER, "--output", tmp_path / "out", *arguments,
                       faults=list(faults), **settings)
    assert len(done.stderr.splitlines()) <= 1, done
    return {key.split("/")[1]: one for key, one in cases(record(tmp_path / "out")).items()}


def test_out_of_memory_is_a_status(tmp_path: Path) -> None:
    one = faulty(tmp_path, "global-memory", {"call": "cudaMalloc", "from": 2, "status": 2})["global-memory"]
    assert one["status"] == "launch failed" and "device memory" in one["reason"] and "\n" not in one["reason"]


def test_a_sticky_error_in_the_middle_of_a_round_ends_its_case(tmp_path: Path) -> None:
    one = faulty(
        tmp_path, "global-memory", {"call": "cudaEventRecord", "from": 6, "status": 700, "loses": True})["global-memory"]
    assert one["status"] == "launch failed" and "IllegalAddress" in one["reason"]


def test_a_driver_that_is_too_old_skips_with_its_reason(tmp_path: Path) -> None:
    one = faulty(tmp_path, "global-memory", driver_version=12040)["global-memory"]
    assert one["status"] == "skipped"
    assert "runs CUDA up to 12.4; this program needs CUDA 13.0, driver 580 or later" in one["reason"]


@pytest.mark.parametrize("status, reason", [(100, "no CUDA-capable device is detected"), (999, "unknown error")])
def test_without_a_device_the_cases_are_skipped(tmp_path: Path, status: int, reason: str) -> None:
    one = faulty(tmp_path, "global-memory", {"call": "cudaGetDeviceCount", "status": status})["global-memory"]
    assert (one["status"], one["reason"]) == ("skipped", f"no CUDA device (cudaGetDeviceCount: {reason})")


@pytest.mark.parametrize("visible, status", [("-1", "skipped"), ("", "skipped"), ("1", "skipped"), ("0", "ok")])
def test_a_device_that_is_hidden_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, visible: str, status: str) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    one = faulty(tmp_path, "global-memory")["global-memory"]
    assert one["status"] == status
    if status == "skipped":
        assert one["reason"] == "no CUDA device (cudaGetDeviceCount: no CUDA-capable device is detected)"


def test_an_exclusive_gpu_runs_one_case_at_a_time(tmp_path: Path) -> None:
    found = faulty(tmp_path, "global-memory,local-accumulation", exclusive=True)
    assert {one["status"] for one in found.values()} == {"ok"} and len(found) == 2


def test_a_kernel_that_never_ends_is_a_status_and_leaves_no_process(tmp_path: Path) -> None:
    one = faulty(tmp_path, "global-memory", {"call": "cudaDeviceSynchronize", "from": 3, "hangs": True},
                 arguments=["--timeout", "2"])["global-memory"]
    assert one["status"] == "timeout"


def test_a_device_that_falls_off_the_bus_fails_its_cases(tmp_path: Path) -> None:
    one = faulty(tmp_path, "global-memory", {"call": "*", "from": 40, "status": 999, "loses": True})["global-memory"]
    assert one["status"] == "launch failed" and "cudaErrorUnknown" in one["reason"]


@pytest.mark.parametrize("overlap", [[], ["--chunk", "2", "--overlap"]])
def test_networks_run_and_their_steps_are_predicted(tmp_path: Path, overlap: list[str]) -> None:
    done = on_stand_in(tmp_path, "network", "--network", "lenet28", "--variant", "best", "--device", "cuda", "--batch", "4", *overlap,
                       "--repetitions", "1", "--output", tmp_path / "out")
    assert done.returncode == 0 and "; predicted: op time" in " ".join(done.stdout.split()) and "measured" not in done.stdout, done
    (one,) = record(tmp_path / "out", "network")["cases"]
    assert one["status"] == "ok" and {step["time"]["kind"] for step in one["steps"]} == {"predicted"}


def test_fused_variants_and_their_parts_run(tmp_path: Path) -> None:
    done = on_stand_in(tmp_path, "run", "--problem", "fused-convolution", "--device", "cuda", "--layer", "lenet28.conv1",
                       "--batch", "2", "--repetitions", "1", "--output", tmp_path / "out")
    assert done.returncode == 0, done
    separate, fused = record(tmp_path / "out")["cases"]
    hot = [time for time in separate["other_times"] if time["of"].startswith("part ") and time["cache"] == "hot"]
    assert len(hot) == 3 and separate["time"]["median"] > fused["time"]["median"]
    assert sum(time["median"] for time in hot) == pytest.approx(separate["time"]["median"], rel=1e-3)


def test_a_sweep_is_predicted(tmp_path: Path) -> None:
    done = on_stand_in(tmp_path, "sweep", "--variant", "vectors-of-four", "--device", "cuda", *LAYER[:-2], "--limit", "3",
                       "--budget", "0.01", "--output", tmp_path / "out")
    assert done.returncode == 0 and "predicted times" in done.stdout and "measured" not in done.stdout, done
    document = json.loads((tmp_path / "out/sweep.json").read_text(encoding="utf-8"))
    (sweep,) = document["sweeps"]
    assert (sweep["scoring"]["kind"], sweep["tried"], len(document["cases"])) == ("predicted", 3, 3)
    assert {one["status"] for one in document["cases"]} == {"ok"} and min(one["value"] for one in sweep["of_default"].values()) <= 1


TINY_DUEL = ["duel", "--base-variant", "global-memory", "--new-variant", "local-accumulation", "--device", "cuda", "--shape",
             "1,8,8,2,3", "--batch", "2", "--rounds", "13"]


def test_a_duel_is_predicted_and_needs_no_second_look(tmp_path: Path) -> None:
    done = on_stand_in(tmp_path, *TINY_DUEL, "--output", tmp_path / "duel.json")
    document = json.loads((tmp_path / "duel.json").read_text(encoding="utf-8"))
    assert done.returncode == 0 and "predicted in turns" in done.stdout and "measured in turns" not in done.stdout, done
    assert document["notes"] == ["the times on cuda are those of a virtual clock: predicted, nothing was measured"]
    (one,) = document["cases"]
    assert (one["verdict"], one["sub_runs"], one["confirm"]["rounds"]) == ("pass", 1, [])
    times = {round["order"]: tuple(round["values"]) for round in one["screen"]["rounds"]}
    assert len({tuple(sorted(ns)) for ns in times.values()}) == 1, "every round finds the same"
    assert document["control"]["change"] == {"estimate": 0, "low": 0, "high": 0}


def test_a_duel_says_by_which_counters_and_where(tmp_path: Path) -> None:
    """A kernel that got slower is counted on both sides, for the lines of source that cost more."""
    done = on_stand_in(tmp_path, "duel", "--base-variant", "local-accumulation", "--new-variant", "global-memory", "--device", "cuda",
                       "--shape", "1,32,32,4,5", "--batch", "4", "--rounds", "13", "--output", tmp_path / "duel.json")
    (one,) = json.loads((tmp_path / "duel.json").read_text(encoding="utf-8"))["cases"]
    assert (done.returncode, one["verdict"]) == (1, "regressed"), done
    counted, *lines = one["causes"]
    assert counted.startswith("counted: ") and "global store" in counted, one["causes"]
    assert any(re.search(r"02_local_accumulation\.cu:\d+ \(100%.*-> 01_global_memory\.cu:\d+ \(\d+%", line) for line in lines), lines
    assert counted in " ".join(done.stdout.split())


def test_a_side_of_a_duel_that_fails_is_named(tmp_path: Path) -> None:
    done = on_stand_in(tmp_path, *TINY_DUEL, "--output", tmp_path / "duel.json",
                       faults=[{"call": "cudaMalloc", "from": 2, "status": 2}])
    (one,) = json.loads((tmp_path / "duel.json").read_text(encoding="utf-8"))["cases"]
    assert done.returncode == 1 and done.stderr == "", done
    # Which side comes first is drawn, and it is the first that needs the memory.
    assert one["verdict"] == "failed"
    assert re.match(r"(base|new): launch failed: output: needs \d", one["reason"]), one["reason"]


def test_check_simulates_and_leaves_the_gpu_alone(tmp_path: Path) -> None:
    done = on_stand_in(tmp_path, "check", "--variant", "global-memory", "--shape", "1,8,8,2,3", "--batch", "2",
                       "--format", "json", trace=str(tmp_path / "trace"), trace_calls=True,
                       faults=[{"call": "*", "status": 999}])
    assert done.returncode == 0 and done.stderr == "", done
    assert not any(line["call"] == "cudaMalloc" for line in lines_of(tmp_path / "trace") if "call" in line)
