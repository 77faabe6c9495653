"""No chart has a text over another one or outside its frame, whatever the record holds."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any, Callable

import pytest

import charts
from conftest import CPU_STAGES, LAYERS, LIBRARIES, RecordMaker, summary
from convladder_charts import style
from convladder_charts.drawable import Drawn, Options
from convladder_charts.json_text import Node
from convladder_charts.page import Page
from network_records import NetworkRecordMaker
from predictions import with_predictions
from text_boxes import faults, faults_of

LONG = "A name that is forty characters long now"
TENSOR = {"tensor_tf32_gflop_per_s": 535000.0, "tensor_half_gflop_per_s": 1071000.0}


def drawn(document: Any) -> Drawn:
    """As charts.py draws it."""
    path = Path("run.json")
    kind = next(kind for kind in charts.KINDS if kind.is_of(document))
    return kind.draw(Node(json.loads(json.dumps(document)), path), Options(path))


def told(document: dict[str, Any]) -> dict[str, Any]:
    """With summaries, the sixth stage as `sixth`; and every third case noisy or disturbed."""
    for ladder in document["ladders"]:
        timed = [row for row in ladder["rows"] if row["median_ns"]]
        stages = [row for row in timed if row["rung"]]
        if stages:
            best = min(stages, key=lambda row: row["median_ns"])
            library = min((row for row in timed if not row["rung"]), key=lambda row: row["median_ns"], default=None)
            ladder["summary"] = summary(
                baseline=stages[0]["variant"], sixth=stages[min(5, len(stages) - 1)]["variant"], best=best["variant"],
                library=library and library["variant"], best_x_baseline=best["x_baseline"],
                best_percent_of_library=best["percent_of_library"], best_percent_of_floor=best["percent_of_floor"])
    for index, case in enumerate(document["cases"]):
        case["quality"] = {"mark": ("good", "noisy", "disturbed")[index % 3], "reasons": []}
    return document


def whole() -> dict[str, Any]:
    """Three layers and batches on a CPU, no GPU, counters and predictions."""
    document = told(with_predictions(RecordMaker().add_cpu().add_skipped_cuda().add_counted().record()))
    for case in document["cases"]:
        for gpu in (case["prediction"] or {"gpus": []})["gpus"][1:]:
            gpu["ceilings"] |= TENSOR
    return document


def one_case() -> dict[str, Any]:
    """One stage, one layer, one batch, no library."""
    return RecordMaker(LAYERS[:1], [1]).add_cpu(CPU_STAGES[:1], []).record()


def long_names() -> dict[str, Any]:
    """Of stages, libraries, layers and the machine."""
    layers = [(LONG.replace(" ", "-"), LONG.replace(" ", "_"), dims) for _, _, dims in LAYERS[:2]]
    maker = RecordMaker(layers, [1, 123456])
    maker.add_cpu([(f"{name}-{LONG}", f"{LONG[:-2]}{index}", cost) for index, (name, _, cost) in enumerate(CPU_STAGES)],
                  [(name, f"{LONG[:-2]}L{index}", cost) for index, (name, _, cost) in enumerate(LIBRARIES)])
    document = with_predictions(maker.add_counted([f"{LONG[:-2]}{index}" for index in range(6)]).record())
    document["context"]["cpu"]["model"] = LONG
    return document


def many_stages() -> dict[str, Any]:
    """A ladder of 43 stages, each a little faster, on which every fifth loses."""
    stages = [(f"stage-{rung}", f"Stage number {rung}", 100.0 * 0.9**rung * (1.4 if rung % 5 == 0 else 1))
              for rung in range(1, 44)]
    return with_predictions(RecordMaker(LAYERS[:1], [10, 100]).add_cpu(stages).add_counted(
        [title for _, title, _ in stages]).record())


def steep_and_flat() -> dict[str, Any]:
    """Times nine decades apart, and all the same."""
    stages = [("slow", "Slow", 1e7), ("fast", "Fast", 0.01), ("equal", "Equal", 0.01)]
    return told(RecordMaker(LAYERS[:2], [1, 2, 3, 1000000]).add_cpu(stages, [("onednn", "oneDNN", 0.0101)]).record())


def one_failed_batch() -> dict[str, Any]:
    """Stages that failed with a long reason, and one that cannot do the layer."""
    document = told(RecordMaker().add_cpu().record())
    for ladder in document["ladders"]:
        for index, status in ((1, "incorrect"), (3, "unsupported")):
            if ladder["device"] == "cpu":
                ladder["rows"][index].update(dict.fromkeys(set(ladder["rows"][index]) - {"case", "variant", "rung"}),
                                             status=status)
    for case in document["cases"]:
        if case["variant"] in (CPU_STAGES[1][0], CPU_STAGES[3][0]):
            case.update(time=None, reason=LONG * 4)
    return document


def networks() -> dict[str, Any]:
    """Two networks with published figures, one of them counted as well."""
    maker = NetworkRecordMaker().add("lenet72", [100, 1000, 10000]).add("alexnet", [1, 4, 1024], accuracy=False)
    return maker.add_counted("lenet72", 8).add_failed("lenet72", 100, "gone", "crashed", "signal 11").record()


@pytest.mark.parametrize("make", [whole, one_case, long_names, many_stages, steep_and_flat, one_failed_batch, networks])
def test_no_text_is_over_another_or_leaves_its_chart(make: Callable[[], dict[str, Any]]) -> None:
    pictures = drawn(make())
    assert pictures.drawings
    assert faults_of(pictures) == {}


def test_it_is_seen_if_texts_overlap_or_leave_the_frame() -> None:
    with style.applied():
        page = Page(3, 1)
        page.text(0.2, 0.5, "one text")
        page.text(0.4, 0.52, "another")
        page.text(2.8, 0.2, "over the edge")
        assert len(faults(page.figure)) == 2


def test_all_failed_gives_no_picture_and_one_line() -> None:
    document = copy.deepcopy(RecordMaker(LAYERS[:1]).add_skipped_cuda().record())
    pictures = drawn(document)
    assert not pictures.drawings and "no case of this run has a time" in pictures.remark
