"""`convladder list --published` and `--launches`: what is known without running anything."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from conftest import REPOSITORY, assert_refused, run

FILES = sorted((REPOSITORY / "results/published").glob("*.json"))


def listed() -> list[dict[str, Any]]:
    return json.loads(run("list", "--published", "--format", "json").stdout)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_file_follows_its_schema(path: Path) -> None:
    schema = json.loads((REPOSITORY / "results/published.schema.json").read_text(encoding="utf-8"))
    document = json.loads(path.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(document)
    assert document["name"] == path.stem
    for table in document["tables"]:
        assert all(len(row) == len(table["columns"]) for row in table.get("rows", []))


def test_the_list_names_every_file_and_fits_the_terminal() -> None:
    done = run("list", "--published")
    assert done.returncode == 0
    assert max(map(len, done.stdout.splitlines())) <= 100
    assert [entry["name"] for entry in listed()] == [path.stem for path in FILES]
    for path in FILES:
        assert path.stem in done.stdout


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_one_is_printed_whole(path: Path) -> None:
    assert json.loads(run("list", "--published", path.stem, "--format", "json").stdout) == json.loads(path.read_text(encoding="utf-8"))
    text = run("list", "--published", path.stem)
    assert text.returncode == 0
    assert max(map(len, text.stdout.splitlines())) <= 100
    document = json.loads(path.read_text(encoding="utf-8"))
    words = text.stdout.split()
    for table in document["tables"]:
        for row in table.get("rows", []):
            for cell in row:
                if isinstance(cell, (int, float)) and not isinstance(cell, bool):
                    assert any(word == str(cell) or word == f"{cell:.9f}".rstrip("0").rstrip(".") for word in words), cell


def test_csv_has_every_row() -> None:
    document = json.loads((REPOSITORY / "results/published/fa18-batches.json").read_text(encoding="utf-8"))
    lines = list(csv.reader(run("list", "--published", "fa18-batches", "--format", "csv").stdout.splitlines()))
    table = next(table for table in document["tables"] if table["name"] == "op times")
    for row in table["rows"]:
        wanted = ["" if cell is None else cell if isinstance(cell, str) else f"{cell:.9f}".rstrip("0").rstrip(".")
                  if isinstance(cell, float) else str(cell) for cell in row]
        assert wanted in lines


def test_profiles_in_both_layouts_and_cut() -> None:
    nvprof = run("list", "--published", "fa17-ladder", "--cut", "90").stdout
    assert "            Type  Time(%)      Time     Calls       Avg       Min       Max  Name" in nvprof
    assert "more rows)" in nvprof
    assert "more row" not in run("list", "--published", "fa17-ladder").stdout
    assert "Cum. (%)" in run("list", "--published", "sp18-milestone", "--layout", "nsys").stdout


@pytest.mark.parametrize("arguments, said", [
    (["fa17"], "fa17-ladder"),
    (["fa17-ladder", "--layout", "nvpro"], "nvprof"),
    (["fa17-ladder", "--cut", "0"], "--cut"),
    (["fa17-ladder", "--cut", "nan"], "--cut"),
    (["fa17-ladder", "--format", "xml"], "csv"),
    (["--format", "csv"], "of which?"),
])
def test_bad_input_is_one_line(arguments: list[str], said: str) -> None:
    assert_refused(run("list", "--published", *arguments), said)


def test_launches_of_a_variant() -> None:
    done = run("list", "--launches", "--variant", "shared-memory", "--layer", "lenet72.conv2", "--batch", "100", "--format", "json")
    if "known:" in done.stderr:
        pytest.skip("no cuda family in this build")
    launches = json.loads(done.stdout)
    rows = run("list", "--launches", "--variant", "shared-memory", "--layer", "lenet72.conv2", "--format", "csv").stdout
    assert len(rows.splitlines()) == 1 + len(launches)
    assert launches[0]["kernel"] == "convladder::conv_shared_memory"
    assert launches[0]["grid"][0] == 100
    assert "conv_shared_memory" in run("list", "--launches", "--variant", "shared-memory", "--layer", "lenet72.conv2").stdout
