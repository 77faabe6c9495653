"""docs/reference/counters.md and `list --metrics`: the page says of every metric what the program says."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from conftest import PROGRAM, REPOSITORY, run

import metrics_table

PAGE = REPOSITORY / "docs/reference/counters.md"


def metrics() -> list[dict[str, Any]]:
    """As the program lists them."""
    done = run("list", "--metrics", "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)["metrics"]


def rows_of_the_page() -> list[list[str]]:
    """The cells of the table between the marks, without its heading."""
    text = PAGE.read_text(encoding="utf-8")
    part = text[text.index(metrics_table.BEGIN):text.index(metrics_table.END)]
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in part.splitlines() if line[:1] == "|"]
    return rows[2:]


def test_the_page_holds_the_metrics_of_the_program() -> None:
    text = PAGE.read_text(encoding="utf-8")
    notes = dict(re.findall(r"^(\d+)\. (.*)$", text, re.MULTILINE))
    listed = metrics()
    assert len({one["name"] for one in listed}) == len(listed) > 20
    page = {name.strip("`"): (title, unit, definition, notes[note.split(",")[0]], "modelled" in note)
            for title, name, unit, definition, note in rows_of_the_page()}
    assert page == {one["name"]: (one["title"], one["unit"], one["definition"], one["note"], one["modelled"])
                    for one in listed}, "scripts/metrics_table.py brings the page up to date"


def test_the_table_is_written_as_it_stands(tmp_path: Path) -> None:
    page = tmp_path / "counters.md"
    text = PAGE.read_text(encoding="utf-8")
    page.write_text(text.replace("| instructions |", "| lemons |"), encoding="utf-8")
    assert page.read_text(encoding="utf-8") != text
    assert metrics_table.main(["--program", str(PROGRAM), "--page", str(page)]) == 0
    assert page.read_text(encoding="utf-8") == text


def test_what_cannot_be_written_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "counters.md"
    page.write_text("no marks\n", encoding="utf-8")
    assert metrics_table.main(["--program", str(PROGRAM), "--page", str(page)]) == 3
    assert metrics_table.main(["--program", str(tmp_path / "none"), "--page", str(page)]) == 3
    assert page.read_text(encoding="utf-8") == "no marks\n"
    errors = capsys.readouterr().err.splitlines()
    assert len(errors) == 2 and "expected the line" in errors[0] and "No such file" in errors[1]


def test_the_terminal_shows_the_same_in_100_columns() -> None:
    done = run("list", "--metrics")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 100
    words = " ".join(done.stdout.split())
    for one in metrics():
        assert f"  {one['name']}" in lines
        assert f"{one['title']}, in {one['unit']}" in words
        assert one["definition"] in words and one["note"] in words


@pytest.mark.skipif(shutil.which("nvcc") is None and shutil.which("clang++") is None, reason="no compiler of kernels")
def test_a_run_counts_these_metrics_and_no_others(tmp_path: Path) -> None:
    run("run", "--device", "simulated", "--family", "cuda", "--shape", "1,8,8,2,3", "--batch", "2", "--output", tmp_path)
    listed = {one["name"]: one["modelled"] for one in metrics()}
    counted = [one["counters"] for one in json.loads((tmp_path / "run.json").read_text())["cases"] if one["counters"]]
    assert counted
    for one in counted:
        assert {listed[name] for name in one["totals"]} == {False}
        assert {listed[name] for name in one["modelled"]} == {True}
