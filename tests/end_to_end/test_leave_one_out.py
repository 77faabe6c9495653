"""`convladder leave-one-out`: a stage beside itself without one of its ideas; the record, the table, the chart."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from conftest import SCRIPTS, assert_refused, record, run

LAYER = "1,16,11,15,7"
"""A small one on which the best stage has a tile that ideas are left out of."""


@pytest.fixture(scope="module", name="made")
def _made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of a run, and what it printed."""
    path = tmp_path_factory.mktemp("left_out") / "run"
    done = run("run", "--leave-one-out", "--device", "simulated", "--shape", LAYER, "--batch", "8", "--output", path)
    if done.returncode != 0 and "simulated" in done.stderr:
        pytest.skip(f"no simulated device: {done.stderr.strip()}")
    assert (done.returncode, done.stderr) == (0, "")
    return path, done.stdout


@pytest.fixture(name="view")
def _view(made: tuple[Path, str]) -> dict[str, Any]:
    document = record(made[0])
    if not document["cases"][0]["counters"]:
        pytest.skip("nothing was counted: this build has no PTX")
    assert all(not one["rows"] and len(one["steps"]) == 1 for one in document["ladders"])  # counted, and none is a step
    (view,) = document["leave_one_out"]
    return view


def test_every_idea_stands_beside_the_stage(made: tuple[Path, str], view: dict[str, Any]) -> None:
    listed = [one for one in json.loads(run("list", "--format", "json").stdout)["variants"] if "leaves_out" in one and one["family"] == "cuda"]
    assert {one["builds_on"] for one in listed} == {view["best"]}
    assert [row["variant"] for row in view["rows"]] == [view["best"], *(one["name"] for one in listed)]
    assert [row["leaves_out"] for row in view["rows"]] == [None, *(one["leaves_out"] for one in listed)]
    assert view["kind"] == "counted" and all(row["median_ns"] is None for row in view["rows"])
    own = {one["variant"]: one for one in record(made[0])["cases"]}
    for row in view["rows"]:
        case = own[row["variant"]]
        assert case["status"] == "ok" and case["verification"] is not None
        instructions = case["counters"]["totals"]["smsp__thread_inst_executed_pred_on.sum"]
        assert row["instructions_per_multiply_add"] == pytest.approx(2 * instructions / case["work"]["flop"])


def test_on_the_cpu_it_is_measured(tmp_path: Path) -> None:
    done = run("run", "--leave-one-out", "--device", "cpu", "--shape", "1,12,12,4,5", "--batch", "4", "--repetitions", "3",
               "--no-report", "--output", tmp_path / "run")
    assert done.returncode == 0, done
    (view,) = record(tmp_path / "run")["leave_one_out"]
    listed = [one for one in json.loads(run("list", "--format", "json").stdout)["variants"]
              if "leaves_out" in one and one["family"] == "cpu"]
    assert view["kind"] == "measured" and view["best"] == "streamed-output"
    assert [row["leaves_out"] for row in view["rows"]] == [None, *(one["leaves_out"] for one in listed)]
    for row in view["rows"]:
        if row["status"] == "unsupported":  # on processors with narrower vectors
            assert row["variant"] == "without-near-copies" and "there are no copies" in row["reason"]
        else:
            assert row["status"] == "ok" and row["median_ns"] > 0 and row["x_time"]["value"] > 0
    assert "MEASURED" in done.stdout and max(map(len, done.stdout.replace(str(tmp_path), "").splitlines())) <= 100


def test_what_an_idea_is_worth(view: dict[str, Any]) -> None:
    rows = {row["variant"]: row for row in view["rows"]}
    whole = rows[view["best"]]
    assert whole["x_instructions"]["value"] == whole["x_predicted"]["value"] == 1
    for name, figure, least in (("without-map-tile", "instructions_per_multiply_add", 1.3),
                                ("without-pixel-tile", "shared_wavefronts_per_32_multiply_adds", 1.3),
                                ("without-unrolled-taps", "instructions_per_multiply_add", 1.05),
                                ("without-sliding-window", "shared_wavefronts_per_32_multiply_adds", 1.3),
                                ("without-weight-vectors", "instructions_per_multiply_add", 1.01),
                                ("without-shared-weights", "load_sectors_per_32_multiply_adds", 2.0),
                                ("without-shared-inputs", "load_sectors_per_32_multiply_adds", 2.0),
                                ("without-many-images", "load_sectors_per_32_multiply_adds", 1.01)):
        assert rows[name][figure] > least * whole[figure], name
        assert rows[name]["x_instructions"]["value"] == pytest.approx(
            rows[name]["instructions_per_multiply_add"] / whole["instructions_per_multiply_add"])


def test_the_table_fits_a_terminal_and_says_what_its_figures_are(made: tuple[Path, str], view: dict[str, Any]) -> None:
    text = made[1]
    assert max(map(len, text.replace(str(made[0]), "").splitlines())) <= 100
    assert "COUNTED" in text and "PREDICTED" in text and f"nothing ({view['best']})" in " ".join(text.split())
    assert all(row["leaves_out"].split()[0] in text for row in view["rows"] if row["leaves_out"])


def test_the_chart_and_the_report_show_it(made: tuple[Path, str], view: dict[str, Any], tmp_path: Path) -> None:
    run_json = str(made[0] / "run.json")
    for command in (["charts.py", run_json, "--format", "svg", "--output", str(tmp_path)],
                    ["report.py", run_json, "--output", str(tmp_path / "report.html")]):
        done = subprocess.run([str(SCRIPTS / command[0]), *command[1:]], capture_output=True, encoding="utf-8",
                              check=False)
        assert done.returncode == 0, done.stderr
    for name in ("leave_one_out.svg", "report.html"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        for row in view["rows"]:
            assert (row["leaves_out"] or f"nothing ({view['best']})") in text, name


def test_a_run_that_does_not_ask_has_none_of_it(tmp_path: Path) -> None:
    done = run("run", "--device", "simulated", "--shape", LAYER, "--batch", "1", "--dry-run")
    assert "many-images" in done.stdout and "without-" not in done.stdout
    listed = run("list").stdout
    assert "without one of its ideas" in listed and "without-map-tile" in listed
    assert_refused(run("run", "--leave-one-out", "--variant", "without-map-tiles", "--output", tmp_path / "run"),
                   "without-map-tile")
