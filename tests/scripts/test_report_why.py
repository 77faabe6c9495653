"""The report's section on why a stage is faster."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from conftest import CUDA_STAGES, LAYERS, RecordMaker
from html_page import Element, parsed
from predictions import GPUS, with_predictions
from test_report import report

NAME = "r1-why-1"


def page_of(document: Any, folder: Path) -> Element:
    """The report of one record."""
    (folder / "run.json").write_text(json.dumps(document), encoding="utf-8")
    done = report(folder / "run.json")
    assert (done.returncode, done.stderr) == (0, "")
    return parsed((folder / "report.html").read_text(encoding="utf-8"))


def section(page: Element, name: str) -> Element:
    """The one of that name."""
    return next(one for one in page.all("section") if one.attributes.get("id") == name)


def predicted() -> dict[str, Any]:
    """Counted and predicted."""
    return with_predictions(RecordMaker(layers=LAYERS[:1], batches=[10, 1000]).add_counted().record())


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Element:
    """Of a record without measured times."""
    return page_of(predicted(), tmp_path_factory.mktemp("why"))


def test_it_has_occupancy_roofline_and_predicted_times(page: Element) -> None:
    found = section(page, NAME)
    assert "PREDICTED, not measured" in found.text
    for part in ("occupancy", "roofline", "prediction"):
        assert section(page, f"{NAME}-{part}")
    occupancy = section(page, f"{NAME}-occupancy")
    assert "50% (registers); 31 registers of sm_90, 0 B" in occupancy.text
    for title in (*CUDA_STAGES, *GPUS.values()):
        assert title in occupancy.text and title in section(page, f"{NAME}-prediction").text
    assert len(found.all("svg")) == 2
    assert all(one.attributes.get("role") == "img" for one in found.all("svg"))


def test_its_numbers_say_where_they_stand(page: Element) -> None:
    document = predicted()
    places = re.findall(r"\$\.cases\[(\d+)\]\.prediction", section(page, f"{NAME}-prediction").text)
    assert len(places) == len(CUDA_STAGES)
    assert all(document["cases"][int(index)]["prediction"] is not None for index in places)


def test_without_a_gpu_it_says_that_the_error_is_not_known(page: Element) -> None:
    assert "holds no measured time of a GPU" in section(page, f"{NAME}-prediction").text


def test_a_measured_gpu_stands_beside_as_a_quotient(tmp_path: Path) -> None:
    maker = RecordMaker(layers=LAYERS[:1], batches=[1000])
    stages = [(title.lower().replace(" ", "-"), title, 10.0 / rung) for rung, title in enumerate(CUDA_STAGES, 1)]
    document = maker.add_cpu(stages, [], device="cuda", family="cuda").add_counted().record()
    text = section(page_of(with_predictions(document), tmp_path), f"{NAME}-prediction").text
    assert "Predicted over measured" in text and "holds no measured time" not in text
    case = next(one for one in document["cases"] if one["device"] == "cuda" and one["rung"] == 1)
    low, interval = case["work"]["flop"] / 1e3, case["time"]["interval"]
    assert f"{low / interval['high']:#.3g}–{3 * low / interval['low']:#.3g}" in text


def test_a_record_without_predictions_has_no_section(tmp_path: Path) -> None:
    page = page_of(RecordMaker(layers=LAYERS[:1], batches=[10]).add_counted().record(), tmp_path)
    assert not [one for one in page.all("section") if str(one.attributes.get("id")).startswith("r1-why")]
