"""The chart of a stage without each of its ideas, of times: what was counted is drawn by the real program's tests."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any, Callable

import pytest

from calls import call
from conftest import known
from convladder_charts import style
from validate_record import problems

IDEA = "an idea <of its own>"


@pytest.fixture(name="measured")
def _measured(run: dict[str, Any]) -> dict[str, Any]:
    """A run with one more case beside a timed stage: that stage without an idea, twice as slow."""
    whole = next(case for case in run["cases"] if case["time"] and case["rung"] == 2)
    case = copy.deepcopy(whole)
    name = "without-idea"
    case |= {"variant": name, "rung": None, "leaves_out": IDEA, "id": whole["id"].replace(whole["variant"], name)}
    for key in ("median", "samples"):
        value = case["time"][key]
        case["time"][key] = [2 * one for one in value] if isinstance(value, list) else 2 * value
    case["time"]["interval"] |= {end: 2 * case["time"]["interval"][end] for end in ("low", "high")}
    run["cases"].append(case)
    run["planned"].append(case["id"])
    run["variants"].append({"family": "cpu", "rung": None, "name": name, "title": "Without", "hypothesis": "Slower.",
                            "builds_on": whole["variant"], "leaves_out": IDEA})
    run["leave_one_out"] = [{**{key: whole[key] for key in ("device", "family", "network", "layer", "batch")},
                             "kind": "measured", "best": whole["variant"],
                             "rows": [_row(whole, None, 1.0), _row(case, IDEA, 2.0)]}]
    return run


def _row(case: dict[str, Any], left_out: Any, factor: float) -> dict[str, Any]:
    nothing = dict.fromkeys(("instructions_per_multiply_add", "shared_wavefronts_per_32_multiply_adds",
                             "load_sectors_per_32_multiply_adds", "dram_over_minimum", "predicted", "x_instructions",
                             "x_predicted"))
    return {"case": case["id"], "variant": case["variant"], "leaves_out": left_out, "status": "ok", "reason": None,
            "median_ns": case["time"]["median"], "low_ns": case["time"]["interval"]["low"],
            "high_ns": case["time"]["interval"]["high"], "x_time": known(factor), **nothing}


def test_the_chart_says_what_is_left_out_and_that_it_was_measured(measured: dict[str, Any], tmp_path: Path,
                                                                 written: Callable[[Any], Path]) -> None:
    done = call("charts.py", written(measured), "--format", "svg")
    assert (done.returncode, done.stderr) == (0, "")
    text = (tmp_path / "leave_one_out.svg").read_text(encoding="utf-8")
    assert "MEASURED" in text and "an idea &lt;of its own&gt;" in text and "2.00 ±0.04×" in text
    assert "Without" not in (tmp_path / "ladder.svg").read_text(encoding="utf-8"), "it is on no ladder"


def test_it_is_held_to_its_cases(measured: dict[str, Any]) -> None:
    assert list(problems(measured)) == []
    broken = json.loads(json.dumps(measured))
    broken["leave_one_out"][0]["rows"][1]["x_time"]["value"] = 1.98
    assert [place for place, _ in problems(broken)] == ["$.leave_one_out[0].rows[1].x_time.value"]
    broken = json.loads(json.dumps(measured))
    broken["leave_one_out"][0]["rows"].reverse()
    assert "$.leave_one_out[0].rows[0]" in [place for place, _ in problems(broken)]


def test_ideas_that_cannot_be_told_apart_share_the_title_and_those_worth_nothing_are_grey(
        measured: dict[str, Any], tmp_path: Path, written: Callable[[Any], Path]) -> None:
    rows = measured["leave_one_out"][0]["rows"]
    for idea, price in (("another idea", known(1.93, 0.08)), ("an idle idea", known(1.02, 0.05))):
        rows.append(copy.deepcopy(rows[1]) | {"leaves_out": idea, "x_time": price})
    path = written(measured)
    assert call("charts.py", path, "--format", "svg").returncode == 0
    text = (tmp_path / "leave_one_out.svg").read_text(encoding="utf-8")
    title = text.split('<title id="figure-title">')[1].split("</title>")[0]
    assert title.startswith("Without an idea &lt;of its own&gt; or another idea local-accumulation takes at least 1.7 times the time: ")
    assert text.count(f'style="fill: {style.UNTOLD}') == 1 and "grey: cannot be told from it" in text
