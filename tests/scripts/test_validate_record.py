"""Every rule of validate_record.py fires on a record that breaks it, and on no other."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, Callable

import pytest

from conftest import CUDA_STAGES, LAYERS, SCRIPTS, RecordMaker, name_of
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
    "schema version": (set_at("schema_version", to="2.0"), "$.schema_version", "'1.0' was expected"),
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
    "row's of": (set_at(*ROW, "of", to="op"), "$.ladders[0].rows[1].of", "expected layer"),
    "row's median": (set_at(*ROW, "median_ns", to=lambda x: x * (1 + 1e-8)), "$.ladders[0].rows[1].median_ns",
                     "its case's time"),
    "row's low": (set_at(*ROW, "low_ns", to=None), "$.ladders[0].rows[1].low_ns", "its case's time"),
    "row's layer time": (set_at("ladders", 0, "rows", 7, "layer_median_ns", to=1.0),
                         "$.ladders[0].rows[7].layer_median_ns", "layer time"),
    "row's rate": (set_at(*ROW, "gflop_per_s", to=1.0), "$.ladders[0].rows[1].gflop_per_s", "flop over its time"),
    "x previous": (set_at(*ROW, "x_previous", to=lambda x: x * (1 + 1e-8)), "$.ladders[0].rows[1].x_previous",
                   "builds on"),
    "x baseline": (set_at(*ROW, "x_baseline", to=None), "$.ladders[0].rows[1].x_baseline", "first rung"),
    "% of library": (set_at(*ROW, "percent_of_library", to=1.0), "$.ladders[0].rows[1].percent_of_library",
                     "fastest library"),
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
