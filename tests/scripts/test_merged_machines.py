"""A run that was merged of shards: its machines are named, and times of different kinds share no picture."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

from calls import call
from conftest import RecordMaker
from reports import report

from validate_record import problems

LAYER = "conv2"
"""What the machines of the second kind measured."""


def merged() -> dict[str, Any]:
    """Three machines of one kind, one of which is off, and one of another kind."""
    document = RecordMaker().add_cpu().record()
    context = document["context"]
    one = {name: copy.deepcopy(context[name]) for name in ("host", "cpu", "devices", "libraries")}
    other = copy.deepcopy(one)
    other["cpu"].update(model="Another Processor", threads=64)
    context["plan"] = {"id": "a" * 64, "shards": 4}
    context["machines"] = [{"node": f"n{number}", **copy.deepcopy(one), "kind": 0, "sentinel_x": x, "off": x > 1.1}
                           for number, x in enumerate((1.0, 0.99, 1.31))]
    context["machines"].append({"node": "<b>", **other, "kind": 1, "sentinel_x": None, "off": False})
    context["sessions"] = [{**context["sessions"][0], "machine": number, "shard": number} for number in range(4)]
    document["sentinels"] = []
    document["ceilings"] = [{**copy.deepcopy(entry), "kind_of_machine": kind} for kind in (0, 1) for entry in document["ceilings"]]
    for ladder in document["ladders"]:
        ladder["kind_of_machine"] = int(ladder["layer"] == LAYER)
    for case in document["cases"]:
        case["session"] = 3 if case["layer"] == LAYER else 0
    assert problems(document) == []
    return document


def test_the_page_names_the_machines(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    file.write_text(json.dumps(merged()))
    done = report(file)
    assert done.returncode == 0, done
    page = (tmp_path / "report.html").read_text()
    for words in ("measured on 2 kinds of machines (n0, n1, n2; &lt;b&gt;)", "off by the sentinel", "Another Processor, 64 threads",
                  "1.31", "cpu, machines of kind 1"):
        assert words in page, words
    assert "<b>" not in page


def test_no_picture_has_times_of_two_kinds(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    file.write_text(json.dumps(merged()))
    done = call("charts.py", file, "--format", "svg")
    assert done.returncode == 0, done
    first, second = ((tmp_path / f"ladder{suffix}.svg").read_text() for suffix in ("", "-cpu-machine1"))
    assert f".{LAYER}" not in first and f".{LAYER}" in second
    assert "Another Processor" in second


def test_a_run_that_was_not_merged_says_nothing_of_machines(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    file.write_text(json.dumps(RecordMaker().add_cpu().record()))
    assert report(file).returncode == 0
    assert "sentinel" not in (tmp_path / "report.html").read_text()
