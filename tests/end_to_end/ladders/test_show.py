"""`show`: a recorded run as a table again; and the last words of a run, on one's own stage."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest

from conftest import assert_refused, record, run

QUICK = ["--repetitions", "5", "--benchmark_min_time=0.0002"]
OWN = """// @title My own
extern "C" void solve(const float* x, float* y, int R, int C) {
  for (int r = 0; r < R; ++r) {
    float sum = 0;
    for (int c = 0; c < C; ++c) sum += x[static_cast<long>(r) * C + c];
    y[r] = sum;
  }
}
"""


@pytest.fixture(scope="module", name="done")
def _done(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A run of a folder on two sizes with a stage that lies elsewhere, and what it printed."""
    place = tmp_path_factory.mktemp("shown")
    (place / "my_sum.cpp").write_text(OWN, encoding="utf-8")
    done = run("run", Path(__file__).parent.parent / "row_sum", "--with", place / "my_sum.cpp", "--family", "cpu", "--size",
               "R40C16,R64C128", "--no-report", *QUICK, "--output", place / "run")
    assert done.returncode == 0, done
    return place / "run", done.stdout


def test_a_stage_from_elsewhere_stands_on_the_folders_ladder(done: tuple[Path, str]) -> None:
    folder, said = done
    own = [one for one in record(folder)["cases"] if one["variant"] == "my-sum"]
    assert {one["status"] for one in own} == {"ok"} and len(own) == 2
    told = re.findall(r"my-sum on row-sum\.R\d+C\d+, batch 1, on cpu: \d+(?:st|nd|rd|th) of \d+ stages", " ".join(said.split()))
    assert len(told) == 2, said


def test_it_is_the_table_that_run_has_printed(done: tuple[Path, str]) -> None:
    folder, said = done
    shown = run("show", folder / "run.json")
    assert (shown.returncode, shown.stderr) == (0, "")
    table = [line for line in shown.stdout.splitlines() if re.match(r"^ ?\d? \w", line)]
    assert table and all(line in said.splitlines() for line in table)


def test_rows_are_sorted_cut_and_in_other_columns(done: tuple[Path, str]) -> None:
    file = done[0] / "run.json"
    words = ["--layer", "R64C128", "--sort", "time", "--top", "2", "--columns", "median,stage", "--format", "markdown"]
    shown = run("show", file, *words).stdout
    rows = [line for line in shown.splitlines() if line.startswith("| ") and "median" not in line]
    assert "| median | stage |" in shown and len(rows) == 2, shown
    document = record(done[0])
    titles = {one["name"]: one["title"] for one in document["variants"]}
    medians = {titles[one["variant"]]: one["time"]["median"] for one in document["cases"] if one["layer"] == "R64C128" and one["time"]}
    for title, row in zip(sorted(medians, key=lambda name: medians[name]), rows):
        assert title in row, (medians, rows)


def test_csv_and_json_have_every_row(done: tuple[Path, str]) -> None:
    file = done[0] / "run.json"
    rows = list(csv.DictReader(io.StringIO(run("show", file, "--format", "csv").stdout)))
    timed = [one for one in record(done[0])["cases"] if one["time"]]
    assert len(rows) == len(timed)
    for row in rows:
        one = next(case for case in timed if (case["variant"], case["layer"]) == (row["stage"], row["layer"]))
        assert float(row["median_ns"]) == one["time"]["median"]
    document = json.loads(run("show", file, "--format", "json").stdout)
    assert document["kind"] == "ladders" and len(document["ladders"]) == 2


def test_counted_stages_are_sorted_and_cut_too(tmp_path: Path) -> None:
    counted = run("run", "--device", "simulated", "--variant", "global-memory,local-accumulation,shared-memory", "--shape", "1,12,12,4,5",
                  "--batch", "2", "--output", tmp_path / "run", "--quiet")
    if counted.returncode != 0 or not any(one["counters"] for one in record(tmp_path / "run")["cases"]):
        pytest.skip("nothing was counted: this build has no PTX")
    file = tmp_path / "run/run.json"
    rows = list(csv.DictReader(io.StringIO(run("show", file, "--format", "csv", "--sort", "name", "--top", "2").stdout)))
    assert [row["stage"] for row in rows] == ["global-memory", "local-accumulation"]
    assert all(float(row["predicted_low_ns"]) > 0 and float(row["warp_instructions"]) > 0 and row["median_ns"] == "" for row in rows)
    shown = run("show", file, "--sort", "name", "--top", "2").stdout
    assert "local-accumulation" in shown and not re.search(r"^ ?3 shared-memory", shown, re.MULTILINE), shown


def test_a_stage_in_words(done: tuple[Path, str]) -> None:
    shown = run("show", done[0] / "run.json", "--stage", "my-sum", "--layer", "R64C128")
    text = " ".join(shown.stdout.split())
    assert text.startswith("my-sum on ") and "R64C128" in text and text.count("my-sum on ") == 1, text


def test_what_is_not_there_is_refused(done: tuple[Path, str], tmp_path: Path) -> None:
    file = done[0] / "run.json"
    assert_refused(run("show", file, "--layer", "R1C1"), "unknown --layer")
    assert_refused(run("show", file, "--stage", "my-sun"), "unknown --stage")
    assert_refused(run("show", file, "--columns", "mediam"), "unknown --columns")
    assert_refused(run("show", file, "--batch", "7"), "--batch 7: no case has it")
    assert_refused(run("show", file, "--sort", "colour"), "--sort")
    assert_refused(run("show", file, "--format", "json", "--top", "2"), "--top: --format json has every column")
    assert_refused(run("show", file, "--format", "csv", "--columns", "stage"), "--columns: --format csv has every column")
    (tmp_path / "duel.json").write_text('{"schema_version": "1.0", "kind": "duel"}', encoding="utf-8")
    assert_refused(run("show", tmp_path / "duel.json"), "duel.json")


def test_a_name_that_is_taken_is_refused(tmp_path: Path) -> None:
    (tmp_path / "plain.cpp").write_text(OWN, encoding="utf-8")
    folder = Path(__file__).parent.parent / "row_sum"
    taken = next(file.stem[3:] for file in sorted(folder.glob("0*.cpp")))
    (tmp_path / f"{taken}.cpp").write_text(OWN, encoding="utf-8")
    assert_refused(run("run", folder, "--with", tmp_path / f"{taken}.cpp"), "a stage is called")
