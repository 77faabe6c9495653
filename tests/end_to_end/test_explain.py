"""Predictions in the record of a real run, `explain`, and how they stand beside what others published."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import ALL, REPOSITORY, assert_refused, cases, record, run

GPUS = ["k80", "v100", "a100", "h100", "h200"]
K80_LADDER = ["global-memory", "local-accumulation", "block-remap", "loop-unrolling", "compile-time"]
"""The stages of the published Kepler ladders that have a stage of ours with the same idea, slowest first."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, sanitized: bool) -> Path:
    """A run at the batch of the published ladder; the simulated device executes 8 images of it. All stages, which take half a
    minute, with scripts/test.sh --all."""
    path = tmp_path_factory.mktemp("explained") / "run"
    done = run("run", "--device", "simulated", "--network", "lenet28", "--batch", "10000", "--output", path, "--quiet",
               *(["--variant", ",".join(K80_LADDER)] if sanitized or not ALL else []))
    if done.returncode != 0 and "simulated" in done.stderr:
        pytest.skip(f"no simulated device: {done.stderr.strip()}")
    if not any(one["counters"] for one in cases(record(path)).values()):
        pytest.skip("nothing was counted: this build has no PTX")
    return path


def explained(folder: Path, *arguments: object) -> Any:
    """The explanation as data."""
    done = run("explain", folder / "run.json", "--format", "json", *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def test_every_counted_case_is_predicted_for_every_gpu(folder: Path) -> None:
    found = [one for one in record(folder)["cases"] if one["counters"]]
    assert len(found) >= len(K80_LADDER)
    for one in found:
        assert [gpu["gpu"] for gpu in one["prediction"]["gpus"]] == GPUS
        assert one["time"] is None and one["prediction"]["kind"] == "predicted"
        assert one["prediction"]["roofline"]["flop"] >= one["work"]["flop"]


def test_the_order_of_the_published_kepler_ladder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    group = explained(folder, "--gpu", "k80")["groups"][0]
    published = {one["variant"]: one for one in group["published"] if one["gpu"] == "k80"}
    assert list(published) == K80_LADDER
    with capsys.disabled():
        print("\nK80, lenet28.conv1, batch 10000: published, predicted (ms)")
        for name, one in published.items():
            print(f"  {name:20} {one['ns'] / 1e6:8.1f} {one['predicted_low'] / 1e6:8.1f} – "
                  f"{one['predicted_high'] / 1e6:.1f}")
    if not any(one["resources"] for one in record(folder)["cases"]):
        pytest.skip("no ptxas reported registers in this build: the ranges are too wide to have an order")
    # What holds: from the stage with a local sum on, the published times lie in the ranges, and the ranges' middles are
    # in the published order. The first stage's published 2848 ms is longer than any reading of its counters; nobody has
    # explained it, and nothing here is tuned to it.
    middles = [(one["predicted_low"] * one["predicted_high"]) ** 0.5 for one in published.values()]
    assert middles == sorted(middles, reverse=True)
    for name in K80_LADDER[1:]:
        assert published[name]["predicted_low"] <= published[name]["ns"] <= published[name]["predicted_high"], name
    assert published["global-memory"]["ns"] > published["global-memory"]["predicted_high"]


def test_the_text_fits_the_terminal_and_never_shows_a_prediction_as_measured(folder: Path) -> None:
    done = run("explain", folder / "run.json", "--gpu", "all", "--numbers")
    assert (done.returncode, done.stderr) == (0, "")
    assert all(len(line) <= 100 for line in done.stdout.splitlines())
    words, figures = done.stdout.split("\nPREDICTED")
    assert "measured" not in words and "measured on" not in figures
    assert "NVIDIA H200 SXM" in figures and "published by others" in figures
    markdown = run("explain", folder / "run.json", "--numbers", "--format", "markdown").stdout
    assert "| stage | predicted |" in markdown and "- **local-accumulation: " in markdown


def test_each_step_is_a_sentence_from_its_counters(folder: Path) -> None:
    """The same in the terminal and in the record, and as the counters have it."""
    short = run("explain", folder / "run.json").stdout
    done = run("explain", folder / "run.json", "--all")
    assert (done.returncode, done.stderr) == (0, "") and "PREDICTED" not in done.stdout
    best = next(one["summary"]["best"] for one in record(folder)["ladders"] if one["steps"])
    assert f" {best}: " in short and len(short.splitlines()) <= len(done.stdout.splitlines())
    text = " ".join(done.stdout.split())
    [ladder] = [one for one in record(folder)["ladders"] if one["steps"]]
    assert explained(folder)["ladders"][0]["steps"] == ladder["steps"]
    for step in ladder["steps"]:
        binds = (step["binds"] or "").removeprefix("Predicted for an H100: ")
        assert " ".join(filter(None, (step["relieved"], binds[:1].upper() + binds[1:]))) in text
    sectors = {one["variant"]: one["counters"]["totals"]["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"]
               for one in record(folder)["cases"] if one["counters"]}
    fewer = round(sectors["global-memory"] / sectors["local-accumulation"])
    step = next(one for one in ladder["steps"] if one["variant"] == "local-accumulation")
    assert step["builds_on"] == "global-memory" and f"1/{fewer} of the sectors to global memory" in step["relieved"]


def test_steps_name_the_lines_where_a_counter_changed(folder: Path) -> None:
    """As the counters have it: the lines are those of the source, and their shares and rates what the record says."""
    text = " ".join(run("explain", folder / "run.json", "--all").stdout.split())
    [ladder] = [one for one in record(folder)["ladders"] if one["steps"]]
    counted = {one["variant"]: one["counters"] for one in record(folder)["cases"] if one["counters"]}
    sectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"
    requests = "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"
    said = []
    for variant in ("global-memory", "local-accumulation"):
        [*_, line] = sorted(counted[variant]["lines"], key=lambda one: one["counters"].get(sectors, 0))
        source = next((REPOSITORY / "variants/convolution/cuda").rglob(line["file"])).read_text(encoding="utf-8").splitlines()
        assert source[line["line"] - 1].strip().startswith("y[")  # a store
        share = round(100 * line["counters"][sectors] / counted[variant]["totals"][sectors])
        rate = line["counters"][sectors] / line["counters"][requests]
        said.append(f"{line['file']}:{line['line']} ({share}%, {rate:.3g} a store)")
    cited = f"sectors to global memory: {' -> '.join(said)}"
    step = next(one for one in ladder["steps"] if one["variant"] == "local-accumulation")
    assert cited in step["lines"] and cited in text
    for counters in counted.values():
        for name, total in counters["totals"].items():
            lines = sum(line["counters"].get(name, 0) for line in counters["lines"])
            assert lines <= total * (1 + 1e-12), name
        executed = sum(line["counters"].get("smsp__inst_executed.sum", 0) for line in counters["lines"])
        assert executed >= 0.7 * counters["totals"]["smsp__inst_executed.sum"]


def test_what_is_not_there_is_not_explained(folder: Path, tmp_path: Path) -> None:
    """A stage whose lower ones are missing, failed ones beside it, and a record of failed ones alone."""
    document = record(folder)
    [one] = [case for case in document["cases"] if case["variant"] == "compile-time"]
    failed = [case | {"status": "crashed", "reason": "signal <11> & more", "counters": None, "prediction": None}
              for case in document["cases"] if case["variant"] in K80_LADDER[:3]]
    document["variants"] = [variant for variant in document["variants"] if variant["name"] in K80_LADDER]
    (tmp_path / "run.json").write_text(json.dumps(document | {"cases": [one, *failed]}), encoding="utf-8")
    done = run("explain", tmp_path / "run.json")
    assert (done.returncode, done.stderr) == (0, "")
    assert "compile-time: nothing below it has a result." in done.stdout
    assert done.stdout.count("signal <11> & more") == 1
    (tmp_path / "run.json").write_text(json.dumps(document | {"cases": failed}), encoding="utf-8")
    assert_refused(run("explain", tmp_path / "run.json"), "no stage was measured or counted")


def test_a_measured_gpu_stands_beside(folder: Path, tmp_path: Path) -> None:
    document = record(folder)
    simulated = next(one for one in document["cases"] if one["variant"] == "compile-time" and one["counters"])
    h100 = next(one for one in simulated["prediction"]["gpus"] if one["gpu"] == "h100")
    time = {"kind": "measured", "of": "layer", "unit": "ns", "median": 2 * h100["low"], "interval": None,
            "samples": [2 * h100["low"]], "iterations_per_sample": 1, "stopped_because": "once"}
    measured = simulated | {"id": simulated["id"].replace("simulated/", "cuda/"), "device": "cuda", "counters": None,
                            "prediction": None, "time": time}
    document["cases"].append(measured)
    document["context"]["devices"].append({"kind": "cuda", "family": "cuda", "unavailable": None,
                                           "facts": {"name": "NVIDIA Example"}})
    document["context"]["devices"] = [one for one in document["context"]["devices"] if one["unavailable"] is None]
    (tmp_path / "run.json").write_text(json.dumps(document), encoding="utf-8")
    done = run("explain", tmp_path / "run.json", "--numbers")
    assert (done.returncode, done.stderr) == (0, "")
    assert "measured on NVIDIA Example" in " ".join(done.stdout.split())
    assert f"0.50 – {h100['high'] / h100['low'] / 2:.2f}" in " ".join(done.stdout.split())


@pytest.mark.parametrize("arguments, words", [
    (["--gpu", "h10"], ["unknown --gpu 'h10'", "h100"]),
    (["--format", "html"], ["unknown format 'html'", "markdown"]),
    (["--case", "nothing"], ["no stage that --case matches was measured or counted"]),
    (["--layer", "lenet28.conv9"], ["unknown --layer 'lenet28.conv9'", "lenet28.conv1"]),
    (["--case", "("], ["--case '(' is not a regular expression"]),
])
def test_bad_options_are_one_line(folder: Path, arguments: list[str], words: list[str]) -> None:
    assert_refused(run("explain", folder / "run.json", *arguments), *words)


@pytest.mark.parametrize("change, words", [
    (lambda one: one.update(prediction={"gpus": 1}), ["cases[0]: prediction: gpus: expected a list"]),
    (lambda one: one["prediction"]["gpus"][0].update(low=-1), ["gpus[0]: low: expected a number above 0 ns"]),
    (lambda one: one["prediction"]["gpus"][0]["kernels"][0].pop("occupancy"), ["occupancy: expected an object"]),
    (lambda one: one.update(prediction=None, counters={"kernels": [{}], "totals": {}, "modelled": {}}), ["counters"]),
    (lambda one: one["counters"]["totals"].update({"smsp__inst_executed_op_barrier.sum": "x"}), []),
])
def test_bad_records_are_one_line(folder: Path, tmp_path: Path, change: Any, words: list[str]) -> None:
    document = record(folder)
    one = next(one for one in document["cases"] if one["counters"])
    change(one)
    document["cases"] = [one]
    (tmp_path / "run.json").write_text(json.dumps(document), encoding="utf-8")
    done = run("explain", tmp_path / "run.json")
    if words:
        assert_refused(done, "run.json" if words != ["counters"] else "counters", *words)
    else:
        assert done.returncode in (0, 3) and "terminate" not in done.stderr
