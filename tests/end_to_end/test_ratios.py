"""Every ratio of the default table and of the record, recomputed from the samples of its cases by another program."""

from __future__ import annotations

import json
import math
import re
import statistics
from pathlib import Path
from typing import Any, Optional

import pytest

from conftest import cases, record, run

FROM_RUN_TO_RUN = 0.015
STUDENT = {2: 12.7062, 3: 4.3027, 4: 3.1824, 5: 2.7764}
"""The quantiles at 95 % by the number of blocks."""
WHICH = ["--family", "cpu", "--shape", "1,16,16,4,5", "--batch", "2", "--repetitions", "12", "--benchmark_min_time=0.0005"]

Series = tuple[Optional[str], list[int], list[float]]
"""Of a case's layer time: its wave, and the samples with their rounds."""


@pytest.fixture(scope="module", name="measured")
def fixture_measured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("ratios")
    done = run("run", *WHICH, "--output", folder)
    assert (done.returncode, done.stderr) == (0, "")
    return record(folder) | {"stdout": done.stdout}


def layer_series(case: dict[str, Any]) -> Optional[Series]:
    for time in (case["time"], *case["other_times"]):
        if time and time["of"] == "layer" and time.get("cache", "hot") == "hot":
            return case.get("wave"), time.get("rounds", list(range(len(time["samples"])))), time["samples"]
    return None


def interval(logs: list[float]) -> tuple[float, float]:
    """From order statistics, and from the medians of five blocks: the wider ends of both."""
    ordered, count = sorted(logs), len(logs)
    rank, below = 0, 0.0
    while below + math.comb(count, rank) / 2**count <= 0.025:
        below += math.comb(count, rank) / 2**count
        rank += 1
    rank = max(rank, 1)
    blocks = min(5, count)
    medians = [statistics.median(logs[i * count // blocks:(i + 1) * count // blocks]) for i in range(blocks)]
    half = STUDENT[blocks] * statistics.stdev(medians) / math.sqrt(blocks)
    middle = statistics.mean(medians)
    return min(ordered[rank - 1], middle - half), max(ordered[count - rank], middle + half)


def expected_of(over: Series, under: Series) -> tuple[float, float, float]:
    value = statistics.median(over[2]) / statistics.median(under[2])
    if over is under:
        return 1.0, 1.0, 1.0
    assert over[0] and over[0] == under[0], "all of these were measured side by side"
    of_round = dict(zip(under[1], under[2]))
    low, high = interval([math.log(sample / of_round[i]) for i, sample in zip(over[1], over[2]) if i in of_round])
    return (value, min(value, math.exp(low)) * (1 - FROM_RUN_TO_RUN), max(value, math.exp(high)) * (1 + FROM_RUN_TO_RUN))


def agrees(found: Optional[dict[str, Any]], over: Optional[Series], under: Optional[Series], scale: float = 1) -> None:
    if over is None or under is None:
        assert found is None
        return
    assert found and found["by"] == "rounds" and found["level"] == (1 if over is under else 0.95)
    assert [found[name] / scale for name in ("value", "low", "high")] == pytest.approx(expected_of(over, under), rel=1e-4)


def test_the_records_ratios_are_those_of_the_samples(measured: dict[str, Any]) -> None:
    by_id = cases(measured)
    builds_on = {one["name"]: one["builds_on"] for one in measured["variants"]}
    (ladder,) = measured["ladders"]
    series = {row["variant"]: layer_series(by_id[row["case"]]) for row in ladder["rows"]}
    assert sum(one is not None for one in series.values()) > 6
    tolerance = {row["variant"]: by_id[row["case"]]["verification"]["tolerance"] for row in ladder["rows"]
                 if by_id[row["case"]]["verification"]}
    libraries = [row["variant"] for row in ladder["rows"] if row["rung"] is None and series[row["variant"]]]
    for row in ladder["rows"]:
        own = series[row["variant"]]
        assert row["median_ns"] == (None if own is None else pytest.approx(statistics.median(own[2])))
        agrees(row["x_baseline"], series[ladder["rows"][0]["variant"]], own)
        agrees(row["x_previous"], series.get(builds_on[row["variant"]] or ""), own)
        if own is None:
            continue
        accurate = [series[one] for one in libraries if tolerance[one] <= tolerance[row["variant"]]]
        fastest = min(accurate, key=lambda one: statistics.median(one[2]) if one else 0.0, default=None)
        agrees(row["percent_of_library"], fastest, own, 100)
        floor = row["percent_of_floor"]
        assert floor["by"] == "medians" and floor["low"] <= floor["value"] <= floor["high"] and 0 <= floor["level"] < 1
        assert floor["value"] == pytest.approx(100 * ladder["floor"]["value"] / row["median_ns"])


def test_the_summary_and_the_steps_follow_from_them(measured: dict[str, Any]) -> None:
    by_id = cases(measured)
    (ladder,) = measured["ladders"]
    rows = {row["variant"]: row for row in ladder["rows"]}
    series = {name: layer_series(by_id[row["case"]]) for name, row in rows.items()}
    told = ladder["summary"]
    best = series[told["best"]]
    for name, other in (("best_x_baseline", "baseline"), ("best_x_sixth", "sixth")):
        agrees(told[name], series[told[other]], best)
    if told["library"]:
        agrees(told["best_percent_of_library"], series[told["library"]], best, 100)
    assert best is not None
    untold = []
    for name, row in rows.items():
        other = series[name]
        if row["rung"] is None or other is None or other is best:
            continue
        _, low, high = expected_of(other, best)
        fp32 = by_id[row["case"]]["verification"]["tolerance"] <= by_id[rows[told["best"]]["case"]]["verification"]["tolerance"]
        untold += [name] * (low <= 1 <= high and fp32)
    assert told["not_told_from_best"] == untold
    assert {one["variant"] for one in told["loses"]} == {
        name for name, row in rows.items() if row["rung"] and row["x_previous"] and row["x_previous"]["high"] < 1}
    for step in ladder["steps"]:
        agrees(step["x"], series.get(step["builds_on"] or ""), series[step["variant"]])


def test_every_number_of_the_table_is_the_records_and_shows_no_digit_that_is_not_known(measured: dict[str, Any]) -> None:
    (ladder,) = measured["ladders"]
    lines = measured["stdout"].splitlines()
    assert max(map(len, lines[:-1])) <= 100
    start = next(i for i, line in enumerate(lines) if line.startswith("stage "))
    assert lines[start].split()[-8:] == ["x", "prev", "x", "base", "%", "lib", "%", "floor"]
    for row, line in zip(ladder["rows"], lines[start + 1:]):
        if row["median_ns"] is None:
            continue
        shown = line.split()[-4:]
        fields = ("x_previous", "x_baseline", "percent_of_library", "percent_of_floor")
        for cell, name in zip(shown, fields):
            whole = 100 if name.startswith("percent") else 1
            ratio = row[name]
            if ratio is None:
                assert cell == "-"
                continue
            exact = ratio["low"] == ratio["high"]
            holds = ratio["low"] <= whole <= ratio["high"]
            text = cell.rstrip("%")
            if text == "?":
                assert holds and ratio["high"] > 2 * ratio["low"]
            elif text.startswith("~"):
                assert holds and float(text[1:]) == whole
            elif text[0] in "<>":
                assert not holds and (float(text[1:]) <= ratio["low"] if text[0] == ">" else float(text[1:]) >= ratio["high"])
            else:
                assert exact or not holds
                half = max(ratio["value"] - ratio["low"], ratio["high"] - ratio["value"])
                unit = 10.0 ** -len(text.partition(".")[2]) if "." in text or half < 10 else 10 ** (len(str(int(half))) - 1)
                assert abs(float(text) - ratio["value"]) <= unit / 2 * 1.001 + 1e-9, line
                assert exact or len(re.sub(r"^0?\.?0*|\.", "", text)) <= 3 or float(text) >= 1000, "three digits"
    note = next(line for line in lines if line.startswith("medians of "))
    assert re.search(r"known to ±[\d.]+% to ±[\d.]+%, ratios to ±[\d.]+% to ±[\d.]+%", note)


def test_what_is_measured_in_another_session_is_not_side_by_side(tmp_path: Path) -> None:
    which = ["--family", "cpu", "--shape", "1,16,16,4,5", "--batch", "2", "--repetitions", "6", "--variant",
             "memory-accumulation,local-accumulation"]
    assert run("run", *which, "--output", tmp_path).returncode == 0
    document = record(tmp_path)
    assert document["ladders"][0]["rows"][1]["x_previous"]["by"] == "rounds"
    assert len({case["wave"] for case in document["cases"]}) == 1
    document["complete"] = False
    del document["cases"][1]
    (tmp_path / "run.json").write_text(json.dumps(document, indent=1), encoding="utf-8")
    assert run("run", "--resume", tmp_path).returncode == 0
    after = record(tmp_path)
    assert len({case["wave"] for case in after["cases"]}) == 2
    ratio = after["ladders"][0]["rows"][1]["x_previous"]
    assert ratio["by"] == "medians" and ratio["low"] < ratio["value"] < ratio["high"] and ratio["level"] == pytest.approx(0.95)
