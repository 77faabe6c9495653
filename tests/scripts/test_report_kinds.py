"""Reports and charts of every kind of record: the answer in a sentence, a figure, and nothing of a broken one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import kind_records
from calls import call
from conftest import RecordMaker
from html_page import parsed
from reports import report

ANSWERS = {
    "sweep": ("the best of 4 configurations has maps 4", "which is at least 1.8 times as fast as the default"),
    "duel": ("Of 2 cases: 1 got slower, 1 skipped.", "flat-vector on lenet28.conv1, batch 10 (cpu): regressed, +30.0 %"),
    "commands": ("Of 2 cases: 1 got slower, 1 did not get slower.", "parse, rate: regressed, -30.0 % of a value where more is better",
                 "parse, wall time: pass, +0.0 % time", "change (%), measured; worse to the left", "./new/parse"),
    "selftest": ("0 of 4 duels of equal sides reported a regression", "Every duel with 10 % of extra work found it"),
    "comparison": ("Of 2 cases: 1 got faster, 1 cannot be told.", "flat-vector on lenet28.conv1, batch 10 (cpu): improved, -40.0 %"),
    "history": ("Over 8 runs from 2025-01-01 to 2025-01-08, 1 change marked.",
                "flat-vector on lenet28.conv1, batch 10 (cpu): +25.0 % time since commit 512345678"),
    "baseline": ("holds the counters of 3 CUDA variants on 1 layer, by nvcc 13.0.88",),
    "baseline_check": ("2 moved; 1 of 3 cases count exactly what was recorded.", "instructions +25.0 %, from 1,000 to 1,250"),
    "program": ("1 finding: memcheck: read of 4 bytes past the end, in average.", "it ended with exit code 0",
                "The kernel that takes longest is average: 5.00 µs in 2 launches, predicted"),
    "kernel": ("transpose executed 7,062 instructions of warps, counted, in 2 × 3 × 1 blocks",),
    "kernels": ("1 finding, the first by memcheck", "no finding"),
    "checked": ("1 of 2 cases have findings or are wrong: shared-memory, lenet28.conv1.",),
    "explanation": ("on h100 stage 2 Shared memory has the lowest predicted range, 1.00 µs to 4.00 µs", "cannot tell it from stage",
                    "the greatest step is shared-memory, 2.50× (2.45 to 2.55) as fast as global-memory (counted). Fewer sectors."),
    "profile": ("conv1 takes longest, 6.00 ms or 60 % (measured)",)}


def written(folder: Path, document: Any, name: str = "record.json") -> Path:
    """The document as a file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", sorted(kind_records.ALL))
def test_it_answers_in_a_sentence_and_draws(kind: str, tmp_path: Path) -> None:
    path = written(tmp_path, kind_records.ALL[kind]())
    done = report(path)
    assert (done.returncode, done.stderr) == (0, "")
    page = parsed((tmp_path / "report.html").read_text(encoding="utf-8"))
    for answer in ANSWERS[kind]:
        assert answer in page.text
    assert page.all("svg") and page.all("table")
    done = call("charts.py", path, "--format", "svg", "--output", tmp_path / "charts")
    assert (done.returncode, done.stderr) == (0, "")
    assert list((tmp_path / "charts").glob("*.svg")) and "| " in (tmp_path / "charts/table.md").read_text(encoding="utf-8")


def test_links_that_lead_out_of_a_folder_of_records_are_left_out(tmp_path: Path) -> None:
    """Links within it are fine; one line tells of each other, with an exit code of its own."""
    outside = written(tmp_path / "outside", kind_records.ALL["duel"]())
    folder = written(tmp_path / "records", kind_records.ALL["sweep"](), "run.json").parent
    (folder / "again.json").symlink_to("run.json")
    (folder / "back").symlink_to(".")
    done = report(folder)
    assert (done.returncode, done.stderr) == (0, "")
    for name, target, why in (("a.json", outside, "a link to a file outside of the folder"),
                              ("a.json", "/dev/zero", "a link to a file outside of the folder"),
                              ("a.json", "nothing", "a link that leads nowhere"),
                              ("a.json", "a.json", "a link that leads in a circle")):
        (folder / name).symlink_to(target)
        done = report(folder)
        assert done.returncode == 5 and done.stderr.count("\n") == 1, done
        assert f"{name}: {why}" in done.stderr
        (folder / name).unlink()
    (folder / "run.json").rename(tmp_path / "run.json")
    (folder / "again.json").unlink()
    (folder / "more").symlink_to(outside.parent)
    done = report(folder)
    assert done.returncode == 3 and "more: a link to a folder outside of the folder" in done.stderr


def test_notes_are_listed_and_not_counted(tmp_path: Path) -> None:
    note = kind_records.FINDING | {"checker": "racecheck", "severity": "note", "problem": "both write the same value"}
    document = kind_records.checked()
    for case in document:
        case["findings"] = [note]
    assert report(written(tmp_path, document)).returncode == 0
    page = parsed((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "Nothing was found in 2 cases" in page.text
    assert "racecheck, a note" in page.text and "both write the same value" in page.text


def _bad(kind: str, *path: Any, value: Any = "nonsense") -> tuple[str, Any, str]:
    document = holder = kind_records.ALL[kind]()
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = value
    return kind, document, str(path[-1])


@pytest.mark.parametrize("kind, document, place", [
    _bad("sweep", "sweeps", 0, "possible"), _bad("sweep", "sweeps", 0, "scoring", "unit"), _bad("sweep", "schema_version"),
    _bad("duel", "cases", 0, "verdict"), _bad("duel", "control"), _bad("selftest", "levels", 0, "duels"),
    _bad("comparison", "cases", 0, "change"), _bad("history", "series", 0, "points", 0, "run", value=99),
    _bad("baseline", "cases", 0, "kernels", 0, "values"), _bad("baseline_check", "cases", 0, "verdict"),
    _bad("program", "processes", 0, "kernels", 0, "predicted", "total_ns", value=-1), _bad("kernel", "grid", 0),
    _bad("checked", 0, "status", value=None), _bad("explanation", "groups", 0, "batch", value=0),
    _bad("profile", 0, "profile", "groups")],
    ids=lambda one: one if isinstance(one, str) else "")
def test_what_cannot_be_read_is_one_line_and_nothing_is_written(kind: str, document: Any, place: str, tmp_path: Path) -> None:
    path = written(tmp_path, document)
    for done in (report(path), call("charts.py", path, "--output", tmp_path / "charts")):
        assert done.returncode == 3, kind
        assert len(done.stderr.splitlines()) == 1 and str(path) in done.stderr and place in done.stderr
    assert sorted(one.name for one in tmp_path.iterdir()) == ["record.json"]


def test_counted_and_unfinished_sweeps_say_so(tmp_path: Path) -> None:
    counted = kind_records.sweep("counted")
    counted["sweeps"][0]["best"] = counted["sweeps"][0]["default"]
    counted["sweeps"][0]["scoring"]["unit"] = "cycles"
    unfinished = kind_records.sweep() | {"complete": False, "sweeps": []}
    assert report(written(tmp_path, counted), "--output", tmp_path / "counted.html").returncode == 0
    assert "none is surely better than the default" in (tmp_path / "counted.html").read_text(encoding="utf-8")
    assert report(written(tmp_path, unfinished), "--output", tmp_path / "unfinished.html").returncode == 0
    page = parsed((tmp_path / "unfinished.html").read_text(encoding="utf-8"))
    assert "incomplete" in page.text and "4 configurations were tried" in page.text and not page.all("svg")


def test_a_folder_stands_for_the_records_in_it_or_else_below_it(tmp_path: Path) -> None:
    run = RecordMaker(batches=[10]).add_cpu().record()
    written(tmp_path / "many/a", run, "run.json")
    written(tmp_path / "many/a", kind_records.sweep(), "sweep.json")
    written(tmp_path / "many/b", kind_records.duel(), "duel.json")
    written(tmp_path / "many/b", kind_records.baseline(), "baseline.json")
    written(tmp_path / "many/b", {"name": "package"}, "package.json")
    assert report(tmp_path / "many/a").stdout.strip() == str(tmp_path / "many/a/report.html")
    text = parsed((tmp_path / "many/a/report.html").read_text(encoding="utf-8")).text
    assert "run.json" in text and "sweep.json" in text and "duel.json" not in text
    assert report(tmp_path / "many").stdout.strip() == str(tmp_path / "many/report.html")
    text = parsed((tmp_path / "many/report.html").read_text(encoding="utf-8")).text
    assert "run.json" in text and "duel.json" in text and "package.json" not in text and "baseline.json" not in text


def test_of_a_folder_what_is_broken_is_named_and_the_rest_is_made(tmp_path: Path) -> None:
    written(tmp_path, kind_records.duel(), "duel.json")
    (tmp_path / "half.json").write_text('{"kind": "sweep", ', encoding="utf-8")
    done = report(tmp_path)
    assert done.returncode == 5 and len(done.stderr.splitlines()) == 1 and "half.json" in done.stderr
    assert "half.json" in (tmp_path / "report.html").read_text(encoding="utf-8")
    (tmp_path / "duel.json").unlink()
    assert report(tmp_path).returncode == 3
    (tmp_path / "half.json").unlink()
    done = report(tmp_path)
    assert done.returncode == 3 and "no record in this folder" in done.stderr


def test_many_records_of_a_folder_are_not_all_on_one_page(tmp_path: Path) -> None:
    for number in range(14):
        record = kind_records.selftest()
        record["context"]["date"] = f"2025-01-{number + 1:02}T12:00:00Z"
        written(tmp_path / f"{number:02}", record, f"selftest-{number:02}.json")
    assert report(tmp_path).returncode == 0
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "the newest 12 of 14 records" in text and "selftest-13.json" in text and "selftest-01.json" not in text
