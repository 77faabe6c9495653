"""The charts of predictions, and what a record may not say of them."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any, Callable, Iterable

import pytest

from conftest import CUDA_STAGES, LAYERS, RecordMaker
from convladder_charts import record as run_record
from convladder_charts.predicted import LEVELS
from predictions import GPUS, on_gpu, with_predictions
from test_charts import SVG, charts, texts

import validate_record

Written = Callable[[Any], Path]


def predicted_run(layers: Any = LAYERS[:1], batches: Iterable[int] = (10, 1000)) -> dict[str, Any]:
    """Counted and predicted, and nothing measured; a copy of its own."""
    document = RecordMaker(layers=layers, batches=batches).add_counted().record()
    return with_predictions(json.loads(json.dumps(document)))


def test_the_charts_hold_every_stage_and_gpu_and_say_predicted(written: Written) -> None:
    path = written(predicted_run(LAYERS))
    done = charts(path, "--format", "svg")
    assert (done.returncode, done.stderr) == (0, "")
    for name in ("prediction", "roofline"):
        shown = " ".join(texts(path.parent / f"{name}.svg").split())
        assert "PREDICTED" in shown and "measured" not in shown.replace("not measured", "")
    shown = texts(path.parent / "prediction.svg")
    for rung, title in enumerate(CUDA_STAGES, 1):
        assert shown.splitlines().count(f"{rung}  {title}") == 1, "of the layer with the most work"
    assert all(title in shown.splitlines() for title in ("H100 SXM", "Tesla K80"))
    assert "also in table.md: H200 SXM" in " ".join(shown.split())
    case = max(predicted_run(LAYERS)["cases"], key=lambda one: one["work"]["flop"])
    low, high = (case["work"]["flop"] / 1e3 * 2 * factor / 1e6 for factor in (1, 3))
    assert f"{low:#.3g}–{high:#.3g} ms".replace(".–", "–").replace(". ", " ") in shown
    assert "issue – load/store" in shown
    table = (path.parent / "table.md").read_text(encoding="utf-8")
    assert table.count("op times, PREDICTED, and what binds them") == 2 * len(LAYERS)
    assert all(table.count(title) >= 2 * len(LAYERS) for title in GPUS.values())


def test_the_drawings_are_described_and_the_same_every_time(written: Written) -> None:
    path = written(predicted_run())
    charts(path, "--format", "svg")
    first = {name: (path.parent / f"{name}.svg").read_bytes() for name in ("prediction", "roofline")}
    charts(path, "--format", "svg")
    for name, content in first.items():
        assert (path.parent / f"{name}.svg").read_bytes() == content
        description = ElementTree.fromstring(content).find(f"{SVG}desc")
        assert description is not None and description.text is not None
        for rung, title in enumerate(CUDA_STAGES, 1):
            assert f"{rung}  {title}" in description.text


def test_the_roofline_is_of_the_asked_gpu_and_leaves_out_what_moves_nothing(written: Written) -> None:
    path = written(predicted_run())
    charts(path, "--format", "svg")
    assert "H100 SXM" in texts(path.parent / "roofline.svg")
    charts(path, "--format", "svg", "--gpu", "k80")
    assert "Tesla K80" in texts(path.parent / "roofline.svg")
    refused = charts(path, "--gpu", "k8")
    assert refused.returncode == 3 and "no prediction for GPU k8; the record predicts for k80, h100, h200" in refused.stderr
    shown = texts(path.parent / "roofline.svg").split("\n")
    assert shown.count("6") == len(LEVELS) and shown.count("3") == 0, "the best is named, the others are dots"
    assert "tf32" not in "".join(shown)


def test_the_tensor_cores_have_a_roof_where_the_record_has_it(written: Written) -> None:
    document = predicted_run()
    for case in document["cases"]:
        if case["prediction"]:
            case["prediction"]["gpus"][1]["ceilings"]["tensor_tf32_gflop_per_s"] = 535000.0
    path = written(document)
    assert validate_record.complaints(path) == []
    charts(path, "--format", "svg")
    shown = texts(path.parent / "roofline.svg")
    assert shown.count("tf32 535 TFLOP/s") == len(LEVELS) and shown.count("fp32 60.0 TFLOP/s") >= len(LEVELS)


@pytest.mark.parametrize("lowest", [1, 2])
def test_what_cannot_be_launched_is_said(written: Written, lowest: int) -> None:
    document = predicted_run()
    for case in document["cases"]:
        if case["prediction"] and case["rung"] >= lowest:
            case["prediction"]["gpus"][0] = on_gpu("k80", None, case["rung"])
    path = written(document)
    assert charts(path, "--format", "svg", "--gpu", "k80").returncode == 0
    drawn = texts(path.parent / "prediction.svg")
    if lowest == 1:  # none at all: a GPU without a column
        assert "no kernel can be launched on Tesla K80" in " ".join(drawn.split()) and drawn.count("Tesla K80") == 1
        assert "no stage moves anything here" in texts(path.parent / "roofline.svg")
    else:
        assert drawn.count("cannot be launched") == len(CUDA_STAGES) - 1 and "no kernel can" not in drawn
    assert validate_record.complaints(path) == []


def test_a_record_without_predictions_has_no_such_charts(written: Written) -> None:
    path = written(RecordMaker(layers=LAYERS[:1], batches=[10]).add_counted().record())
    charts(path, "--format", "svg")
    assert not (path.parent / "prediction.svg").exists() and not run_record.load(path).predicted


@pytest.mark.parametrize("change, complaint", [
    (lambda one: one.update(low=2 * one["high"]), "expected"),
    (lambda one: one.update(high=None), "expected"),
    (lambda one: one["kernels"][0]["terms"]["issue"].update(low=1e9, high=1.0), "is above high"),
    (lambda one: one["kernels"][0]["terms"]["load/store unit"].update(high=1e15), "is less than its term"),
    (lambda one: one["kernels"][0]["occupancy"].update(blocks=0), "expected null exactly where no block fits"),
    (lambda one: one["kernels"].append(one["kernels"][0]), "as many as were counted"),
    (lambda one: one.update(gpu="h200"), "is there twice"),
    (lambda one: one.update(binding_low="luck"), "luck"),
    (lambda one: one["kernels"][0]["terms"].update(luck={"low": 1, "high": 2}), "luck"),
    (lambda one: one.update(low="1"), "low"),
    (lambda one: one["ceilings"].pop("l2_gb_per_s"), "l2_gb_per_s"),
])
def test_the_validator_sees_what_is_wrong(written: Written, change: Callable[[Any], None], complaint: str) -> None:
    document = predicted_run()
    assert validate_record.complaints(written(document)) == []
    case = next(case for case in document["cases"] if case["prediction"])
    change(case["prediction"]["gpus"][1])
    found = validate_record.complaints(written(document))
    assert found and complaint in found[-1] + found[0], found
    assert all(".prediction" in line for line in found)


def test_the_validator_wants_counters_below_a_prediction(written: Written) -> None:
    document = predicted_run()
    next(case for case in document["cases"] if case["prediction"])["counters"] = None
    assert any("no counters to predict from" in line for line in validate_record.complaints(written(document)))


@pytest.mark.parametrize("value", [0.0, -1.0, 1e-300, 1e300])
@pytest.mark.parametrize("place", ["low", "high", "ceilings", "roofline"])
def test_what_no_axis_holds_is_left_out(written: Written, place: str, value: float) -> None:
    document = predicted_run(batches=[10])
    for case in document["cases"]:
        if case["prediction"]:
            for gpu in case["prediction"]["gpus"]:
                within = {"ceilings": gpu["ceilings"], "roofline": case["prediction"]["roofline"]}.get(place)
                if within is None:
                    gpu[place] = value
                else:
                    within.update(dict.fromkeys(within, value))
    path = written(document)
    done = charts(path, "--format", "svg")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_prediction_of_the_wrong_form_is_one_line(written: Written) -> None:
    document = predicted_run()
    next(case for case in document["cases"] if case["prediction"])["prediction"]["gpus"][0]["low"] = "soon"
    done = charts(written(document))
    assert done.returncode == 3 and len(done.stderr.splitlines()) == 1
    assert re.search(r"\$\.cases\[\d+\]\.prediction\.gpus\[0\]\.low: expected a finite number", done.stderr)
