"""What scripts/history.py promises: it draws what the history holds, readable with a hundred runs."""

from __future__ import annotations

import copy
import itertools
import json
import math
import random
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any, Optional

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from calls import Done, call, call_process
from convladder_charts import history as chart
from convladder_charts import history_record, style
from convladder_charts.json_text import Node

SVG = "{http://www.w3.org/2000/svg}"


def draw(path: Path, *arguments: object) -> Done:
    """What history.py does."""
    return call("history.py", path, *arguments)


def series(variant: str, rung: Optional[int], runs: range, number: int = 1, changed: Optional[int] = None,
           batch: int = 10) -> dict[str, Any]:
    """Ratios around the rung; 10 % more from the changed run on."""
    noise = random.Random(f"{variant} {number}")
    points = []
    for run in runs:
        ratio = (rung or 1) * noise.lognormvariate(0, 0.01) * (1.1 if changed is not None and run >= changed else 1)
        interval = {"low": ratio * 0.99, "high": ratio * 1.01, "level": 0.96}
        point = {"run": run, "median_ns": 1e6 * ratio, "samples": 15, "quiet": True, "ratio": ratio, "ratio_interval": interval,
                 "interval_ns": {"low": 0.99e6 * ratio, "high": 1.01e6 * ratio, "level": 0.96}}
        points.append(point | {"ratio": None, "ratio_interval": None} if variant == "onednn" else point)
    changes = [] if changed is None else [{"point": changed, "run": changed, "change": 0.1, "p": 0.001, "marked": True}]
    return {"id": f"cpu/{variant}/lenet28.conv1/{batch}", "number": number, "device": "cpu", "network": "lenet28",
            "layer": "conv1", "batch": batch, "variant": variant, "rung": rung, "of": "layer", "cache": "hot",
            "hardware": "Example CPU", "host": "bench", "anchor": "onednn",
            "split": ["compiler changed: GNU 12, now GNU 13"] if number > 1 else [], "not_judged": None,
            "points": points, "changes": changes}


def history(runs: int = 100) -> dict[str, Any]:
    """Two stages, a library, and a series that began anew."""
    return {"kind": "history", "alpha": 0.05, "series_alpha": 0.025, "judged": 2, "tau": 0.02, "fewest_runs": 9,
            "runs": [{"file": f"{i}/run.json", "date": f"2026-01-{1 + i // 24:02d}T{i % 24:02d}:00:00Z",
                      "commit": f"{i:03d}abcdef0123", "dirty": i % 2 == 1, "host": "bench", "complete": True}
                     for i in range(runs)],
            "series": [series("memory-accumulation", 1, range(runs)),
                       series("flat-vector", 4, range(runs - 5), changed=runs // 2),
                       series("flat-vector", 4, range(runs - 5, runs), number=2),
                       series("onednn", None, range(runs))],
            "unreadable": [], "notes": []}


def written(tmp_path: Path, document: Any) -> Path:
    """As a file."""
    path = tmp_path / "history.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return path


def page_of(document: dict[str, Any]) -> Any:
    """The figure before it is a file."""
    read = history_record.read(Node(document, Path("history.json")))
    key, members = next(iter(chart.groups(read).items()))
    return chart.draw(read, key, members)


def test_everything_a_reader_needs_is_there(tmp_path: Path) -> None:
    document = history()
    document["unreadable"] = ["x/run.json: broken"]
    done = draw(written(tmp_path, document))
    assert (done.returncode, done.stderr) == (0, "")
    path = tmp_path / "history-cpu-lenet28.conv1-10.svg"
    assert done.stdout.split() == [str(path)]
    root = ElementTree.parse(path).getroot()
    shown = " ".join(element.text or "" for element in root.iter(f"{SVG}text"))
    for expected in ("CPU, lenet28.conv1, batch 10: flat-vector 10 % slower since 050abcdef", "layer time over the runs", "n = 15 samples", "95 % interval",
                     "that of the anchor (onednn)", "Example CPU on bench",
                     "100 runs from 2026-01-01",
                     "+10.0 %", "2 series share alpha", "began anew: compiler changed", "flat-vector #2", "× onednn",
                     "could not be read: 1 of the files", "099abcdef+", "ms"):
        assert expected in shown, expected
    description = root.findtext(f"{SVG}desc") or ""
    assert "+10.0 % since commit 050abcdef" in description and "onednn, 100 runs: from" in description


def test_the_same_history_gives_the_same_file(tmp_path: Path) -> None:
    path = written(tmp_path, history(12))
    assert draw(path, "--output", tmp_path / "first").returncode == 0
    assert call_process("history.py", path, "--output", tmp_path / "second").returncode == 0
    name = "history-cpu-lenet28.conv1-10.svg"
    assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes()
    assert draw(path, "--format", "png").returncode == 0
    assert (tmp_path / name.replace("svg", "png")).read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("runs", [6, 100])
def test_no_two_labels_overlap(runs: int) -> None:
    document = history(runs)
    document["series"][1]["changes"] *= 8
    for index, change in enumerate(document["series"][1]["changes"] or []):
        document["series"][1]["changes"][index] = change | {"run": min(runs // 2 + index, runs - 6)}
    with style.applied():
        figure = page_of(document)[0].figure
        FigureCanvasAgg(figure).draw()
        texts = [text for text in figure.texts if text.get_text()]
        for axes in figure.axes:
            texts += [*axes.get_xticklabels(), *axes.get_yticklabels(), axes.xaxis.label, axes.yaxis.label]
        boxes = [(text.get_text(), text.get_window_extent()) for text in texts]
    assert len(boxes) > 30
    for (first, one), (second, other) in itertools.combinations(boxes, 2):
        width = min(one.x1, other.x1) - max(one.x0, other.x0)
        height = min(one.y1, other.y1) - max(one.y0, other.y0)
        assert width <= 0.5 or height <= 0.5, (first, second)
    for text, box in boxes:
        assert box.x0 >= 0 and box.x1 <= figure.bbox.x1 and box.y0 >= 0, text


def test_only_what_changed(tmp_path: Path) -> None:
    document = history(20)
    document["series"].append(series("memory-accumulation", 1, range(20), batch=100))
    path = written(tmp_path, document)
    assert len(draw(path).stdout.split()) == 2
    assert [Path(line).name for line in draw(path, "--changed").stdout.split()] == ["history-cpu-lenet28.conv1-10.svg"]


def test_runs_without_the_anchor_are_gaps(tmp_path: Path) -> None:
    document = history(10)
    for point in document["series"][0]["points"][::2]:
        point.update(ratio=None, ratio_interval=None)
    for point in document["series"][2]["points"]:
        point.update(ratio=None, ratio_interval=None, interval_ns=None)
    page, _, words = page_of(document)
    assert "the anchor was not measured with it in any run" in [text.get_text() for axes in page.figure.axes for text in axes.texts]
    assert "flat-vector #2, 5 runs; began anew" in words


def test_runs_that_were_not_quiet_are_hollow(tmp_path: Path) -> None:
    document = history(10)
    points = document["series"][0]["points"]
    for number, point in enumerate(points):
        point["quiet"] = number % 2 == 0
    page, _, words = page_of(document)
    assert f"; {len(points) // 2} not judged" in words
    marks = [line for axes in page.figure.axes for line in axes.lines if line.get_marker() not in ("None", "", None)]
    hollow = [line for line in marks if line.get_markerfacecolor() == "none" and len(line.get_xdata())]
    assert [len(line.get_xdata()) for line in hollow] == [len(points) // 2]


def test_hostile_names_do_no_harm(tmp_path: Path) -> None:
    document = history(8)
    for one in document["series"]:
        one["layer"] = "../../<script>\x1b[31m"
        one["hardware"] = "$x^2$ & <b>"
    path = written(tmp_path, document)
    done = draw(path)
    assert (done.returncode, done.stderr) == (0, "")
    drawn = Path(done.stdout.strip())
    assert drawn.parent == tmp_path and "/" not in drawn.name
    assert b"<script" not in drawn.read_bytes()
    ElementTree.parse(drawn)


@pytest.mark.parametrize(("change", "expected"), [
    (lambda one: one.update(kind="run"), "$.kind: expected"),
    (lambda one: one.update(series=[]), "$.series: expected at least one series"),
    (lambda one: one["series"][0]["points"][3].update(run=99), ".points[3].run: expected the index of one of 8"),
    (lambda one: one["series"][0]["points"][3].update(ratio=-1), ".points[3].ratio: expected a number above 0"),
    (lambda one: one["series"][0].update(batch="x"), "$.series[0].batch: expected an integer"),
    (lambda one: one["series"][0].pop("points"), 'the member "points" is missing'),
])
def test_a_wrong_file_is_one_line(tmp_path: Path, change: Any, expected: str) -> None:
    document = copy.deepcopy(history(8))
    change(document)
    done = draw(written(tmp_path, document))
    assert (done.returncode, done.stdout) == (3, "")
    assert len(done.stderr.splitlines()) == 1 and expected in done.stderr


def test_half_a_file_is_one_line(tmp_path: Path) -> None:
    text = json.dumps(history(8))
    done = draw(written(tmp_path, text[: len(text) // 2]))
    assert done.returncode == 3 and len(done.stderr.splitlines()) == 1 and "history.json:1:" in done.stderr


def test_ticks_are_round_and_inside() -> None:
    for low, high in ((0.95, 1.05), (1.6, 1.9), (0.01, 3.0), (1e6, 1.1e6)):
        ticks = chart._ticks(low, high)
        assert 2 <= len(ticks) <= 8
        assert all(low * 0.999 <= tick <= high * 1.001 and math.isfinite(tick) for tick in ticks)
