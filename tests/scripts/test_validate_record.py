"""Every rule of validate_record.py fires on a record that breaks it, and on no other."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, Callable

import pytest

from conftest import CUDA_STAGES, LAYERS, SCRIPTS, RecordMaker, name_of
from network_records import MIXED, NetworkRecordMaker
from validate_record import problems

Change = Callable[[dict[str, Any]], Any]


def validate(*paths: Path) -> subprocess.CompletedProcess[str]:
    """Calls the program as a user does."""
    return subprocess.run([str(SCRIPTS / "validate_record.py"), *map(str, paths)], capture_output=True,
                          encoding="utf-8", check=False, timeout=120)


def test_a_good_record_has_no_problems(run: dict[str, Any], written: Callable[[Any], Path]) -> None:
    done = validate(written(run))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_predicted_and_incomplete_records_are_good() -> None:
    maker = RecordMaker(layers=LAYERS[:1])
    stages = [(name_of(title), title, 10.0 / rung) for rung, title in enumerate(CUDA_STAGES, 1)]
    document = maker.add_cpu(stages, [], device="simulated", family="cuda", kind="predicted").record()
    assert problems(document) == []
    document["complete"] = False
    document["planned"].append("cpu/later/lenet28.conv1/10")
    assert problems(document) == []


@pytest.mark.parametrize("complete", [True, False])
def test_a_record_that_was_cut_off_counts_with_its_whole_cases(run: dict[str, Any], tmp_path: Path,
                                                               complete: bool) -> None:
    """At every line: what is whole before it is used, and one line says so."""
    cases = run["cases"][:3]
    head = {name: value for name, value in run.items() if name not in ("ceilings", "cases", "ladders", "leave_one_out")}
    text = json.dumps({**head, "complete": complete, "cases": cases, "ladders": []}, indent=1) + "\n"
    lines = text.splitlines(keepends=True)
    first = lines.index(' "cases": [\n')
    path = tmp_path / "run.json"
    for cut in range(first, len(lines) - 1, 40):
        path.write_text("".join(lines[:cut + 1])[:-1], encoding="utf-8")
        whole = sum(line.rstrip("\n,") == "  }" for line in lines[first:cut + 1])
        done = validate(path)
        assert (done.returncode, done.stdout) == (0, ""), done
        assert done.stderr == f"{path}: cut off in the middle; whole cases that are used: {whole}\n"


def set_at(*path: Any, to: Any) -> Change:
    """A change of one value."""
    def change(document: Any) -> None:
        for part in path[:-1]:
            document = document[part]
        document[path[-1]] = to(document[path[-1]]) if callable(to) else to
    return change


CASE, TIME = ("cases", 0), ("cases", 0, "time")
ROW = ("ladders", 0, "rows", 1)
SKIPPED = ("cases", 72)
RULES: dict[str, tuple[Change, str, str]] = {
    "schema": (set_at(*CASE, "batch", to="ten"), "$.cases[0].batch", "'ten' is not of type 'integer'"),
    "schema, unknown member": (set_at("extra", to=1), "$", "'extra' was unexpected"),
    "schema version": (set_at("schema_version", to="2.0"), "$.schema_version", "'1.1' was expected"),
    "unique ids": (lambda run: run["cases"].append(run["cases"][0]), "$.cases[135].id", "already the id of $.cases[0]"),
    "id of its parts": (set_at(*CASE, "batch", to=11), "$.cases[0].id", "expected \"cpu/memory-accumulation/"),
    "planned and done": (lambda run: run["planned"].append("cpu/x/y.z/1"), "$.planned[135]", "there is no case"),
    "planned once": (lambda run: run["planned"].append(run["planned"][0]), "$.planned[135]", "planned twice"),
    "done and planned": (lambda run: run["planned"].pop(), "$.cases[134].id", "was not planned"),
    "described variants": (lambda run: run["variants"].pop(0), "$.cases[0].variant", "found 0"),
    "rungs agree": (set_at(*CASE, "rung", to=9), "$.cases[0].rung", "expected 1 as in $.variants"),
    "session in range": (set_at(*CASE, "session", to=1), "$.cases[0].session", "an index below 1"),
    "session not negative": (set_at(*CASE, "session", to=-1), "$.cases[0].session", "an index below 1"),
    "ok has a time": (set_at(*TIME, to=None), "$.cases[0].time", "expected a time"),
    "ok has a median": (set_at(*TIME, "median", to=None), "$.cases[0].time.median", "expected a number"),
    "ok has no reason": (set_at(*CASE, "reason", to="why"), "$.cases[0].reason", "expected null"),
    "not ok has no time": (set_at(*CASE, "status", to="incorrect"), "$.cases[0].time", "expected no time"),
    "not ok says why": (set_at(*SKIPPED, "reason", to=None), "$.cases[72].reason", "expected why"),
    "positive samples": (set_at(*TIME, "samples", 3, to=0), "$.cases[0].time.samples[3]", "positive"),
    "some samples": (set_at(*TIME, "samples", to=[]), "$.cases[0].time.samples", "found none"),
    "positive iterations": (set_at(*TIME, "iterations_per_sample", to=0), "$.cases[0].time.iterations_per_sample",
                            "at least 1"),
    "median among samples": (set_at(*TIME, "median", to=1), "$.cases[0].time.median", "outside its samples"),
    "interval brackets": (set_at(*TIME, "interval", "low", to=1e12), "$.cases[0].time.interval", "does not bracket"),
    "level": (set_at(*TIME, "interval", "level", to=95), "$.cases[0].time.interval.level", "up to 1"),
    "finite": (set_at(*CASE, "work", "flop", to=float("inf")), "$.cases[0].work.flop", "beyond the range"),
    "row's case exists": (set_at(*ROW, "case", to="none"), "$.ladders[0].rows[1].case", "there is no case"),
    "row's case is the ladder's": (set_at("ladders", 0, "batch", to=11), "$.ladders[0].rows[0].case",
                                   "its batch is 10"),
    "row's status": (set_at(*ROW, "status", to="crashed"), "$.ladders[0].rows[1].status", "expected ok"),
    "row's median": (set_at(*ROW, "median_ns", to=lambda x: x * (1 + 1e-8)), "$.ladders[0].rows[1].median_ns",
                     "its case's layer time"),
    "row's low": (set_at(*ROW, "low_ns", to=None), "$.ladders[0].rows[1].low_ns", "its case's layer time"),
    "row's layer time": (set_at("ladders", 0, "rows", 7, "median_ns", to=1.0),
                         "$.ladders[0].rows[7].median_ns", "layer time"),
    "row's rate": (set_at(*ROW, "gflop_per_s", to=1.0), "$.ladders[0].rows[1].gflop_per_s", "flop over its time"),
    "x previous": (set_at(*ROW, "x_previous", "value", to=lambda x: x * (1 + 1e-8)),
                   "$.ladders[0].rows[1].x_previous.value", "builds on"),
    "x previous's interval": (set_at(*ROW, "x_previous", "low", to=1e6), "$.ladders[0].rows[1].x_previous",
                              "does not hold the value"),
    "x baseline": (set_at(*ROW, "x_baseline", to=None), "$.ladders[0].rows[1].x_baseline", "first rung"),
    "% of library": (set_at(*ROW, "percent_of_library", "value", to=1.0),
                     "$.ladders[0].rows[1].percent_of_library.value",
                     "fastest library"),
    "library's op time": (set_at("ladders", 0, "rows", 7, "op_in_own_layout", "median_ns", to=1.0),
                          "$.ladders[0].rows[7].op_in_own_layout", "op time"),
    "% of floor": (set_at(*ROW, "percent_of_floor", to=None), "$.ladders[0].rows[1].percent_of_floor", "the floor"),
    "roofline's rate": (set_at(*ROW, "roofline", "gflop_per_s", to=1.0), "$.ladders[0].rows[1].roofline.gflop_per_s",
                        "layer time"),
    "roofline's work": (set_at(*ROW, "roofline", "bytes", to=1.0), "$.ladders[0].rows[1].roofline.bytes", "the floor's"),
    "roof": (set_at(*ROW, "roofline", "roof_gflop_per_s", to=1.0), "$.ladders[0].rows[1].roofline.roof_gflop_per_s",
             "lower of the two"),
    "roofline's bound": (set_at(*ROW, "roofline", "bound", to=lambda one: "bytes" if one == "operations" else
                                "operations"), "$.ladders[0].rows[1].roofline.bound", "the lower limit"),
    "roofline of a timed case": (set_at(*ROW, "roofline", to=None), "$.ladders[0].rows[1].roofline", "an object"),
    "floor's operations": (set_at("ladders", 0, "floor", "operations", to=1.0), "$.ladders[0].floor.operations",
                           "FMA peak"),
    "floor's bytes": (set_at("ladders", 2, "floor", "bytes", to=1.0), "$.ladders[2].floor.bytes", "rates"),
    "floor is the larger": (set_at("ladders", 2, "floor", "value", to=1.0), "$.ladders[2].floor.value", "larger"),
    "floor's bound": (set_at("ladders", 2, "floor", "bound", to=lambda one: "bytes" if one == "operations" else
                             "operations"), "$.ladders[2].floor.bound", "the larger one"),
    "floor of a device with ceilings": (lambda run: run["ceilings"].pop(), "$.ladders[0].floor", "expected null"),
    "ceiling among samples": (set_at("ceilings", 0, "limits", 1, "median", to=1.0), "$.ceilings[0].limits[1].median",
                              "outside its samples"),
    "ceilings once": (lambda run: run["ceilings"].append(run["ceilings"][0]), "$.ceilings[1].device", "already"),
}


@pytest.mark.parametrize("change, place, what", RULES.values(), ids=RULES.keys())
def test_rule(change: Change, place: str, what: str, run: dict[str, Any]) -> None:
    assert run["cases"][SKIPPED[1]]["status"] == "skipped"
    change(run)
    found = problems(run)
    assert any(at == place and what in message for at, message in found), found[:5]


@pytest.mark.parametrize("text, expected", [
    ("", ":1:1: the file is empty"), ('{"a": [1,\n', ":2:1: the file ends in the middle"),
    ('{"x": -Infinity}', ":1:7: -Infinity is not JSON")])
def test_unreadable_files_are_one_line(text: str, expected: str, written: Callable[[Any], Path]) -> None:
    path = written(text)
    done = validate(path)
    assert done.returncode == 1 and done.stdout.startswith(f"{path}{expected}") and done.stdout.count("\n") == 1


def test_each_problem_is_a_line_with_file_and_place(run: dict[str, Any], tmp_path: Path) -> None:
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(json.dumps(run))
    run["cases"][0]["session"] = 5
    run["cases"][1]["session"] = 6
    bad.write_text(json.dumps(run))
    done = validate(good, bad)
    assert done.returncode == 1
    assert [line.split(": ")[:2] for line in done.stdout.splitlines()] == [
        [str(bad), "$.cases[0].session"], [str(bad), "$.cases[1].session"]]


ONCE, COUNTED, FAILED = ("cases", 6), ("cases", 9), ("cases", 11)
"""Of the record of networks: a case with a single pass, one that was counted, and one without a result."""
NETWORK_RULES: dict[str, tuple[Change, str, str]] = {
    "session in range": (set_at("cases", 0, "session", to=1), "$.cases[0].session", "an index below 1"),
    "schema": (set_at(*CASE, "batch", to="ten"), "$.cases[0].batch", "'ten' is not of type 'integer'"),
    "schema, unknown member": (set_at("ladders", to=[]), "$", "'ladders' was unexpected"),
    "schema of runs, context": (set_at("context", "cpu", "cores", to="two"), "$.context.cpu.cores", "'two' is not"),
    "schema of runs, counters": (set_at(*COUNTED, "steps", 0, "counters", "exact", to=1),
                                 "$.cases[9].steps[0].counters.exact", "1 is not of type 'boolean'"),
    "unknown status": (set_at(*CASE, "status", to="fine"), "$.cases[0].status", "'fine' is not one of"),
    "unknown layer type": (set_at(*CASE, "steps", 0, "type", to="gelu"), "$.cases[0].steps[0].type", "'gelu'"),
    "unique ids": (lambda run: run["cases"].append(run["cases"][0]), "$.cases[12].id", "already the id of $.cases[0]"),
    "planned and done": (lambda run: run["planned"].append("cpu/x/y/1"), "$.planned[12]", "there is no case"),
    "done and planned": (lambda run: run["planned"].pop(), "$.cases[11].id", "was not planned"),
    "id of its parts": (set_at(*CASE, "variants", to="tile"), "$.cases[0].id", "expected \"cpu/tile/lenet72/10\""),
    "network is described": (set_at("networks", 0, "name", to="lenet28"), "$.cases[0].network", "is not in $.networks"),
    "networks once": (lambda run: run["networks"].append(run["networks"][0]), "$.networks", "occurs twice"),
    "variants are described": (lambda run: run["variants"].pop(), "$.cases[2].steps[0].implementation",
                               "expected an entry in $.variants for \"cpu\" \"onednn\""),
    "published": (lambda run: run["published"].pop("lenet72/10"), "$.cases[0]", "expected \"lenet72/10\""),
    "ok has no reason": (set_at(*CASE, "reason", to="why"), "$.cases[0].reason", "expected null"),
    "not ok says why": (set_at(*FAILED, "reason", to=None), "$.cases[11].reason", "expected in one line why"),
    "in one line": (set_at(*FAILED, "reason", to="a\nb"), "$.cases[11].reason", "expected in one line why"),
    "not ok has no total": (set_at(*CASE, "status", to="incorrect"), "$.cases[0].total", "expected null"),
    "not ok has no profile": (set_at(*CASE, "status", to="incorrect"), "$.cases[0].profile", "expected null"),
    "not ok has no accuracy": (set_at(*CASE, "status", to="incorrect"), "$.cases[0].accuracy", "expected null"),
    "not ok has no phases": (set_at(*CASE, "status", to="crashed"), "$.cases[0].phases", "expected none"),
    "not ok has no layer times": (set_at(*CASE, "status", to="crashed"), "$.cases[0].steps[0].time", "neither time"),
    "every step verified": (set_at(*CASE, "steps", 3, "verification", "passed", to=False),
                            "$.cases[0].steps[3].verification", "\"conv2\" is not verified"),
    "compared with something": (set_at(*CASE, "steps", 3, "verification", "compared_images", to=0),
                                "$.cases[0].steps[3].verification", "compared with nothing"),
    "every image": (set_at(*CASE, "steps", 3, "verification", "combined_images", to=1),
                    "$.cases[0].steps[3].verification", "\"conv2\" was verified on 9 of 10 images"),
    "combinations of linear steps only": (set_at(*CASE, "steps", 2, "verification", "combined_images", to=1),
                                          "$.cases[0].steps[2].verification.combined_images", "max_pool is not linear"),
    "every pass": (set_at(*CASE, "compared_passes", to=8), "$.cases[0].compared_passes", "expected 9, every pass"),
    "a convolution": (set_at(*CASE, "steps", to=lambda steps: steps[1:3]), "$.cases[0].steps", "one convolution"),
    "some images at once": (set_at(*CASE, "images_at_once", to=0), "$.cases[0].images_at_once", "1 to 10"),
    "no more than the batch": (set_at(*CASE, "images_at_once", to=11), "$.cases[0].images_at_once", "1 to 10"),
    "all steps timed": (set_at(*CASE, "steps", 1, "time", to=None), "$.cases[0].steps[1].time", "expected a time"),
    "a sample for each pass": (set_at(*CASE, "steps", 1, "time", to=lambda time: {
        **time, "samples": time["samples"] + [time["median"]] * 2}), "$.cases[0].steps[1].time.samples", "expected 9"),
    "median of its samples": (set_at(*CASE, "total", "median", to=1), "$.cases[0].total.median", "as of its samples"),
    "interval brackets": (set_at(*CASE, "total", "interval", "low", to=1e12), "$.cases[0].total.interval",
                          "does not bracket"),
    "level": (set_at(*CASE, "total", "interval", "level", to=95), "$.cases[0].total.interval.level", "up to 1"),
    "finite": (set_at("networks", 0, "flop_per_image", to=float("inf")), "$.networks[0].flop_per_image", "beyond the"),
    "steps within the pass": (set_at(*ONCE, "steps", 0, "time", to=lambda time: {
        **time, "median": 1e12, "samples": [1e12]}), "$.cases[6].steps", "more than the pass"),
    "phases within the pass": (set_at(*ONCE, "phases", 0, "time", to=lambda time: {
        **time, "median": 1e12, "samples": [1e12]}), "$.cases[6].phases", "more than the pass"),
    "a profile": (set_at(*CASE, "profile", to=None), "$.cases[0].profile", "expected an object"),
    "counted or timed": (set_at(*COUNTED, "steps", 0, "counters", to=None), "$.cases[9].steps[0]", "time or counters"),
    "counted, not timed": (lambda run: run["cases"][9]["steps"][0].update(time=run["cases"][0]["total"]),
                           "$.cases[9].steps[0].time", "the pass has no time"),
    "accuracy is the quotient": (set_at(*CASE, "accuracy", "value", to=0.79), "$.cases[0].accuracy.value", "(8 of 10)"),
    "accuracy in its interval": (set_at(*CASE, "accuracy", "high", to=0.5), "$.cases[0].accuracy", "bracket"),
    "no more right than there are": (set_at(*CASE, "accuracy", "correct", to=11), "$.cases[0].accuracy.correct",
                                     "at most 10"),
    "no more images than the batch": (set_at(*CASE, "accuracy", "of", to=11), "$.cases[0].accuracy.of", "at most"),
    "close call of the batch": (set_at(*CASE, "within_rounding", 0, "image", to=10),
                                "$.cases[0].within_rounding[0].image", "below 10"),
    "close call of two classes": (set_at(*CASE, "within_rounding", 0, "found", to=9),
                                  "$.cases[0].within_rounding[0].found", "class 3 or 5"),
    "close call is close": (set_at(*CASE, "within_rounding", 0, "gap", to=1.0), "$.cases[0].within_rounding[0].gap",
                            "more than rounding"),
}


def network_run() -> dict[str, Any]:
    """Several passes, single ones with a choice by layer, counts, and a case without a result."""
    maker = NetworkRecordMaker().add("lenet72", [10, 100]).add("lenet72", [1000], [MIXED, "onednn"], passes=1)
    document = maker.add_counted("lenet72", 2).add_failed("lenet72", 10, "x", "timeout", "no answer").record()
    document["cases"][0]["within_rounding"] = [{"image": 4, "reference": 3, "alternative": 5, "found": 5, "gap": 1e-9,
                                                "rounding": 1e-7}]
    return document


def test_a_good_record_of_networks_has_no_problems(written: Callable[[Any], Path]) -> None:
    document = network_run()
    done = validate(written(document))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    document["complete"] = False
    document["planned"].append("cpu/later/lenet28/10")
    assert problems(document) == []


@pytest.mark.parametrize("change, place, what", NETWORK_RULES.values(), ids=NETWORK_RULES.keys())
def test_network_rule(change: Change, place: str, what: str) -> None:
    document = network_run()
    change(document)
    found = problems(document)
    assert any(at == place and what in message for at, message in found), found[:5]


def test_which_schema_a_record_needs_is_in_its_kind(run: dict[str, Any]) -> None:
    document = network_run()
    del document["kind"]
    assert any("'ladders' is a required property" in message for _, message in problems(document))
    run["kind"] = "network"
    assert any("'networks' is a required property" in message for _, message in problems(run))
