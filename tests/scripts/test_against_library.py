"""The table of the best stages against the libraries: medians over runs, and goals that follow from them."""

from __future__ import annotations

import copy
import json
import re
import statistics
from pathlib import Path
from typing import Any

import pytest

from calls import Done, call
from conftest import CPU_STAGES, LAYERS, LIBRARIES, RecordMaker
from convladder_charts import known_text, table_text, units
from convladder_charts.goals import Goal, Standing, verdicts
from convladder_charts.known import Ratio

BEST = CPU_STAGES[-1][1]


def against(*arguments: object) -> Done:
    """What against_library.py does."""
    return call("against_library.py", *arguments)


def written_runs(folder: Path, *documents: dict[str, Any]) -> list[Path]:
    """A file for each."""
    paths = [folder / f"run{number}.json" for number in range(len(documents))]
    for path, document in zip(paths, documents):
        path.write_text(json.dumps(document), encoding="utf-8")
    return paths


def run_of(seed: int, batches: list[int]) -> dict[str, Any]:
    """A run on the CPU whose times depend on the seed."""
    return RecordMaker(batches=batches, seed=seed).add_cpu().record()


def row_of(document: dict[str, Any], layer: tuple[str, str], batch: int) -> dict[str, Any]:
    """The best stage's row in a ladder."""
    ladder = next(one for one in document["ladders"]
                  if (one["network"], one["layer"], one["batch"]) == (*layer, batch))
    return next(row for row in ladder["rows"] if row["variant"] == CPU_STAGES[-1][0])


def test_figures_are_medians_over_the_runs(tmp_path: Path) -> None:
    runs = [run_of(1, [10, 100, 1000]), run_of(2, [10, 100]), run_of(3, [100])]
    done = against(*written_runs(tmp_path, *runs))
    assert (done.returncode, done.stderr) == (0, "")
    lines = [line for line in done.stdout.splitlines() if line.startswith("| lenet")]
    assert len(lines) == len(LAYERS)
    for network, layer, _ in LAYERS:
        line = next(line for line in lines if f"| {network}.{layer} (100) |" in line)
        rows = [row_of(run, (network, layer), 100) for run in runs]
        assert f"6  {BEST}" in line
        for name in ("percent_of_library", "percent_of_floor"):
            value, low, high = (statistics.median(row[name][member] for row in rows) for member in ("value", "low", "high"))
            assert known_text.share(Ratio(value, low, high)) in line
        rate = statistics.median(row["gflop_per_s"] for row in rows)
        assert f"| {units.significant(rate)} |" in line
        assert f"| {units.percent(rate / 400.0 * 100)} |" in line
    for text in ("median of 3 runs", "Example CPU 7000", "FMA peak 400 GFLOP/s", LIBRARIES[1][1]):
        assert text in done.stdout


def test_the_times_of_a_virtual_clock_are_not_called_measured(tmp_path: Path) -> None:
    run = run_of(1, [100])
    for one in [*run["ladders"], *(case["time"] for case in run["cases"])]:
        one["kind"] = "predicted"
    done = against(*written_runs(tmp_path, run))
    assert done.returncode == 0 and "Predicted, median of 1 run on" in done.stdout and "easured" not in done.stdout


def test_the_stage_with_the_least_median_is_the_best(tmp_path: Path) -> None:
    runs = [run_of(seed, [100]) for seed in (1, 2, 3)]
    for run in runs[:2]:
        row_of(run, ("lenet72", "conv2"), 100)["median_ns"] *= 1000
    done = against(*written_runs(tmp_path, *runs))
    line = next(line for line in done.stdout.splitlines() if "lenet72.conv2" in line)
    assert CPU_STAGES[-2][1] in line and BEST not in line


def test_the_text_fits_the_terminal_and_goals_have_verdicts(tmp_path: Path) -> None:
    run = run_of(1, [100])
    done = against(*written_runs(tmp_path, run), "--format", "text", "--goals")
    assert done.returncode == 0
    table = done.stdout.split("\n\n")[0].splitlines()
    assert max(map(table_text.columns, table)) <= 100 and len(table) == 1 + len(LAYERS)
    verdicts = done.stdout.split("\n\n")[-1].splitlines()
    assert any(line.startswith("not measured: alexnet.conv1: at least 115%") for line in verdicts)
    row = row_of(run, ("lenet72", "conv1"), 100)
    met = row["percent_of_library"]["value"] >= 200 or row["percent_of_floor"]["value"] >= 90
    expected = f"{'met' if met else 'not met'}: lenet72.conv1: at least 200% of the library's speed"
    assert any(line.startswith(expected) for line in verdicts), verdicts


@pytest.mark.parametrize("share, floor, expected", [
    (210.0, 20.0, True), (120.0, 95.0, True), (120.0, 80.0, False), (None, 95.0, True), (None, None, None),
    (120.0, None, False), (None, 80.0, None)])
def test_a_goal_is_met_by_the_floor_instead(share: Any, floor: Any, expected: Any) -> None:
    goal = Goal("cpu", "lenet28.conv1", "fp32", "of_library", 200, or_floor=True)
    assert goal.is_met(Standing("lenet28.conv1", "fp32", share, floor, None)) is expected


def test_a_goal_just_missed_does_not_read_as_met() -> None:
    standing = Standing("lenet72.conv1", "fp32", None, 74.7, None)
    assert "not met: lenet72.conv1: at least 75% of the floor: 74.7%" in verdicts("cpu", lambda *_: standing)


def test_tf32_is_compared_with_the_library_in_tf32(tmp_path: Path) -> None:
    run = copy.deepcopy(run_of(1, [100]))
    for case in run["cases"]:
        rough = case["variant"] in ("compile-time", "onednn-blocked")
        case["verification"] = {"reference": "x", "tolerance": 1e-3 if rough else 1e-6, "images_compared": [0],
                                "elements_compared": 1, "before": None, "integers": None, "after": None}
    done = against(*written_runs(tmp_path, run))
    lines = [line for line in done.stdout.splitlines() if line.startswith("| lenet72.conv2")]
    assert len(lines) == 2
    assert f"5  {CPU_STAGES[-2][1]}" in lines[0] and "(100) tf32" in lines[1] and f"6  {BEST}" in lines[1]


def test_each_layer_names_its_fastest_library_where_they_differ(tmp_path: Path) -> None:
    run = run_of(1, [100])
    for row in next(one for one in run["ladders"] if one["layer"] == "conv2")["rows"]:
        if row["variant"] == "onednn-blocked":
            row["median_ns"] *= 10
    done = against(*written_runs(tmp_path, run))
    lines = [line for line in done.stdout.splitlines() if line.startswith("| lenet")]
    assert [LIBRARIES[1][1] in line for line in lines] == [True, True, False]
    assert f") ({LIBRARIES[0][1]}) |" in lines[2]
    plain = against(*written_runs(tmp_path, run), "--format", "text").stdout
    assert all(len(line) <= 100 for line in plain.splitlines())


def test_a_library_that_is_less_accurate_is_not_the_fastest(tmp_path: Path) -> None:
    run = RecordMaker(batches=[100]).add_cpu(libraries=[*LIBRARIES, ("rough", "Rough library", 0.1)]).record()
    for case in run["cases"]:
        case["verification"] = {"reference": "x", "tolerance": 1e-3 if case["variant"] == "rough" else 1e-6,
                                "images_compared": 1, "images_combined": 0, "elements_compared": 1,
                                "timed_calls_compared": 0, "before": None, "integers": None,
                                "after": None}
    done = against(*written_runs(tmp_path, run))
    assert done.returncode == 0 and LIBRARIES[1][1] in done.stdout and "Rough library" not in done.stdout


def gpu_run(batches: list[int], **facts: str) -> dict[str, Any]:
    """A run on a GPU of which these facts are known."""
    text = json.dumps(run_of(1, batches))
    for member in ("device", "family"):
        text = text.replace(f'"{member}": "cpu"', f'"{member}": "cuda"')
    run = json.loads(text)
    run["context"]["devices"][1] = {"kind": "cuda", "family": "cuda", "unavailable": None,
                                    "facts": {"name": "NVIDIA H100 80GB HBM3", **facts}}
    for one in run["ladders"]:
        one["floor"].update(flop=1e6 * one["batch"], bytes_read=2e4 * one["batch"], bytes_written=8e4 * one["batch"])
    return run


def test_goals_of_a_gpu_ask_for_a_batch_of_1000(tmp_path: Path) -> None:
    small, both = written_runs(tmp_path, gpu_run([10, 100]), gpu_run([100, 1000]))
    done = against(small, "--device", "cuda", "--goals")
    assert done.returncode == 0 and "lenet72.conv2 (100)" in done.stdout
    assert "- not measured at batch 1000 or more: lenet72.conv2: at least 100% of the library's speed" in done.stdout
    assert "- met" not in done.stdout and "- not met" not in done.stdout
    done = against(small, both, "--device", "cuda", "--goals")
    assert "lenet72.conv2 (1000)" in done.stdout and "1000 or more" not in done.stdout
    verdict = next(line for line in done.stdout.splitlines() if "met: lenet72.conv2: at least" in line)
    assert re.search(r"speed: \d+(\.\d)?% \([\d.]+ to [\d.]+\)$", verdict), verdict


def test_the_floor_by_the_data_sheet_stands_beside_the_measured_one(tmp_path: Path) -> None:
    sheet = {"data sheet of": "NVIDIA H100 SXM", "data sheet GFLOP/s": "66909", "data sheet GB/s": "3350"}
    run = gpu_run([1000], **sheet)
    done = against(*written_runs(tmp_path, run), "--device", "cuda", "--goals")
    assert "% of floor (bound) | % of the data sheet's floor (predicted) |" in done.stdout
    assert (f"by the data sheet of NVIDIA H100 SXM, predicted: {units.significant(66909)} GFLOP/s, "
            f"{units.significant(3350)} GB/s") in done.stdout
    row = row_of(run, ("lenet28", "conv1"), 1000)
    ladder = next(one for one in run["ladders"] if (one["network"], one["layer"]) == ("lenet28", "conv1"))
    nanoseconds = 1e9 / 66909 if ladder["floor"]["bytes"] is None else max(1e9 / 66909, 1e8 / 3350)
    share = 100 * nanoseconds / row["median_ns"]
    line = next(line for line in done.stdout.splitlines() if line.startswith("| lenet28.conv1"))
    assert f"| {units.percent(share)} |" in line
    assert f"({share:.0f}% of the data sheet's floor, predicted)" in done.stdout
    without = against(*written_runs(tmp_path, gpu_run([1000])), "--device", "cuda", "--goals")
    assert "data sheet" not in without.stdout
    plain = against(*written_runs(tmp_path, run), "--device", "cuda", "--format", "text").stdout
    assert "% sheet" in plain and all(len(line) <= 100 for line in plain.splitlines())


def test_what_cannot_be_compared_is_one_line(tmp_path: Path) -> None:
    other = run_of(2, [100])
    other["context"]["cpu"]["model"] = "Another CPU"
    only_skipped = RecordMaker(batches=[100]).add_skipped_cuda().record()
    first, second, third = written_runs(tmp_path, run_of(1, [100]), other, only_skipped)
    for arguments, expected in (((first, second), "expected runs of the same machine"),
                                ((third,), "no times of the device cpu"),
                                ((first, "--batch", "7"), "none of the layers in the goals has a time"),
                                ((first, "--device", "cuda"), "devices with times: cpu"),
                                ((tmp_path / "none.json",), "none.json")):
        done = against(*arguments)
        assert done.returncode == 3 and expected in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_what_holds_nothing_can_be_left_out(tmp_path: Path) -> None:
    good = written_runs(tmp_path, run_of(1, [100]))
    empty = tmp_path / "empty.json"
    empty.write_text("", encoding="utf-8")
    untimed = run_of(2, [100])
    untimed["ladders"] = []
    (tmp_path / "untimed.json").write_text(json.dumps(untimed), encoding="utf-8")
    paths = [empty, *good, tmp_path / "untimed.json"]
    assert against(*paths, "--goals").returncode == 3
    done = against(*paths, "--goals", "--leave-out-unusable")
    assert done.returncode == 0
    assert done.stdout == against(*good, "--goals").stdout
    assert [line.split(": ")[:2] for line in done.stderr.splitlines()] == [["against_library.py", "left out"]] * 2
    assert "empty.json" in done.stderr and "untimed.json" in done.stderr
    assert against(empty, "--leave-out-unusable").returncode == 3


def test_what_to_know_of_the_device_is_said(tmp_path: Path) -> None:
    run = run_of(1, [100])
    run["context"]["devices"][0]["warning"] = "its kernels were compiled from PTX"
    run["context"]["devices"][1]["warning"] = "of another device"
    done = against(*written_runs(tmp_path, run))
    assert "Attention: cpu: its kernels were compiled from PTX" in done.stdout
    assert "another device" not in done.stdout
