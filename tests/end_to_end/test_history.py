"""Runs below a folder as trends: real runs, synthetic ones made from them, and what is no run."""

from __future__ import annotations

import copy
import json
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest

from conftest import SCRIPTS, SMALL, assert_refused, cases, record, run, start

VARIANTS = "memory-accumulation,local-accumulation,flat-vector"
SLOWER = "cpu/flat-vector/shape.C1H8W8M2K3/2"
CHANGED = 12
RUNS = 20


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of one real run."""
    folder = tmp_path_factory.mktemp("real")
    done = run("run", "--device", "cpu", "--variant", VARIANTS, *SMALL, "--batch", "2", "--output", folder)
    assert (done.returncode, done.stderr) == (0, "")
    return folder


def resampled(document: dict[str, Any], number: int) -> dict[str, Any]:
    """That run again on a machine that scatters by 1 % and is now fast, now slow; one case slower from CHANGED on."""
    document = copy.deepcopy(document)
    draw = random.Random(number)
    machine = draw.lognormvariate(0, 0.2)
    document["context"]["date"] = f"2026-02-{1 + number:02d}T08:00:00Z"
    document["context"]["program"].update(commit=f"{number:02d}c0ffee00", dirty=False)
    for one in document["cases"]:
        factor = 1.1 if one["id"] == SLOWER and number >= CHANGED else 1
        one["time"]["samples"] = [one["time"]["median"] * machine * factor * draw.lognormvariate(0, 0.01)
                                  for _ in range(9)]
    return document


@pytest.fixture(scope="module")
def synthetic(real: Path) -> list[dict[str, Any]]:
    """Many runs."""
    document = record(real)
    assert SLOWER in cases(document)
    return [resampled(document, number) for number in range(RUNS)]


def write(folder: Path, documents: list[dict[str, Any]]) -> Path:
    """A folder of folders, as people keep them."""
    for number, document in enumerate(documents):
        place = folder / f"week{number // 7}" / f"run{number}"
        place.mkdir(parents=True)
        (place / "run.json").write_text(json.dumps(document), encoding="utf-8")
    return folder


def series(path: Path) -> dict[tuple[str, int], dict[str, Any]]:
    """Of the JSON output, by case and number."""
    return {(one["id"], one["number"]): one for one in json.loads(path.read_text(encoding="utf-8"))["series"]}


def test_the_change_is_found_with_its_commit(tmp_path: Path, synthetic: list[dict[str, Any]]) -> None:
    folder = write(tmp_path / "results", synthetic)
    done = run("history", folder, "--format", "json", "--output", tmp_path / "h.json")
    assert (done.returncode, done.stderr) == (0, ""), done
    found = series(tmp_path / "h.json")
    assert [(change["point"], change["marked"]) for change in found[SLOWER, 1]["changes"]] == [(CHANGED, True)]
    assert found[SLOWER, 1]["changes"][0]["change"] == pytest.approx(0.1, abs=0.02)
    assert all(not one["changes"] for key, one in found.items() if key != (SLOWER, 1))
    assert {one["anchor"] for one in found.values()} == {"memory-accumulation"}, "the lowest rung"
    text = run("history", folder)
    lines = text.stdout.splitlines()
    assert all(len(line) <= 100 for line in lines), max(lines, key=len)
    table = next(index for index, line in enumerate(lines) if line.startswith("case "))
    assert lines[table + 2].startswith("flat-vector ") and f"{CHANGED}c0ffee0" in lines[table + 2]
    assert f"from 2026-02-{1 + CHANGED}T08:00:00Z" in " ".join(text.stdout.split())
    markdown = run("history", folder, "--format", "markdown", "--output", tmp_path / "h.md")
    assert (markdown.returncode, markdown.stdout) == (0, "")
    assert "| flat-vector shape.C1H8W8M2K3/2 cpu | 20 |" in (tmp_path / "h.md").read_text(encoding="utf-8")


def test_a_second_call_reads_the_index(tmp_path: Path, synthetic: list[dict[str, Any]]) -> None:
    folder = write(tmp_path / "results", synthetic)
    first = run("history", folder)
    index = folder / "history-index.jsonl"
    assert len(index.read_text(encoding="utf-8").splitlines()) == RUNS
    size = index.stat().st_size
    assert run("history", folder).stdout == first.stdout and index.stat().st_size == size
    index.write_bytes(index.read_bytes()[: size // 3])
    assert run("history", folder).stdout == first.stdout
    index.unlink()
    assert run("history", folder, "--no-index").stdout == first.stdout and not index.exists()


def test_two_calls_at_once_share_the_index(tmp_path: Path, synthetic: list[dict[str, Any]]) -> None:
    folder = write(tmp_path / "results", synthetic)
    expected = run("history", folder, "--no-index").stdout
    running = [start("history", folder, stdout=subprocess.PIPE) for _ in range(4)]
    assert [process.communicate(timeout=60)[0] for process in running] == [expected] * 4
    for line in (folder / "history-index.jsonl").read_text(encoding="utf-8").splitlines():
        assert json.loads(line)["record"]["schema_version"] == "1.1"


def test_broken_records_are_listed_and_the_rest_stands(tmp_path: Path, synthetic: list[dict[str, Any]]) -> None:
    folder = write(tmp_path / "results", synthetic)
    text = json.dumps(synthetic[0])
    newer = json.dumps(synthetic[0] | {"schema_version": "9.0"})
    huge = text.replace('"batch": 2', '"batch": 1e400')
    broken = {"torn": text[: len(text) // 2], "empty": "", "newer": newer, "huge": huge,
              "twice": '{"kind": 1, "kind": 2}', "list": "[]", "deep": "[" * 100000}
    for name, content in broken.items():
        (folder / name).mkdir()
        (folder / name / "run.json").write_text(content, encoding="utf-8")
    done = run("history", folder, "--format", "json", "--output", tmp_path / "h.json")
    assert (done.returncode, done.stderr) == (2, "")
    unreadable = json.loads((tmp_path / "h.json").read_text(encoding="utf-8"))["unreadable"]
    assert len(unreadable) == len(broken)
    for name in broken:
        assert sum(f"/{name}/run.json: " in line for line in unreadable) == 1
    assert series(tmp_path / "h.json")[SLOWER, 1]["changes"] != []
    assert "not read" in run("history", folder).stdout


def test_what_is_given_by_name_and_what_is_chosen(tmp_path: Path, real: Path, synthetic: list[dict[str, Any]]) -> None:
    other = tmp_path / "monday.json"
    other.write_text(json.dumps(synthetic[0]), encoding="utf-8")
    done = run("history", real, other, "--index", tmp_path / "index", "--format", "json", "--output", tmp_path / "h.json",
               "--variant", "flat-vector", "--anchor", "local-accumulation")
    assert done.returncode == 0, done
    found = series(tmp_path / "h.json")
    assert set(found) == {(SLOWER, 1)} and len(found[SLOWER, 1]["points"]) == 2
    assert found[SLOWER, 1]["anchor"] == "local-accumulation"
    assert (tmp_path / "index").exists() and not (real / "history-index.jsonl").exists()


def test_other_settings_are_another_series(tmp_path: Path, synthetic: list[dict[str, Any]]) -> None:
    documents = copy.deepcopy(synthetic[:6])
    documents[4]["context"]["program"]["compiler"] = "GNU 99"
    documents[5]["context"]["host"]["name"] = "elsewhere"
    folder = write(tmp_path / "results", documents)
    run("history", folder, "--format", "json", "--output", tmp_path / "h.json")
    found = series(tmp_path / "h.json")
    assert [len(found[SLOWER, number]["points"]) for number in (1, 2, 3)] == [4, 1, 1]
    assert "compiler changed" in found[SLOWER, 2]["split"][0] and "machine differs" in found[SLOWER, 3]["split"][0]
    assert "new series" in run("history", folder).stdout
    run("history", folder, "--merge-hosts", "--format", "json", "--output", tmp_path / "h.json")
    assert len(series(tmp_path / "h.json")[SLOWER, 1]["points"]) == 5


def test_the_charts_of_it(tmp_path: Path, synthetic: list[dict[str, Any]]) -> None:
    folder = write(tmp_path / "results", synthetic)
    assert run("history", folder, "--format", "json", "--output", tmp_path / "h.json").returncode == 0
    done = subprocess.run([SCRIPTS / "history.py", tmp_path / "h.json"], capture_output=True, encoding="utf-8",
                          check=False)
    assert (done.returncode, done.stderr) == (0, "")
    drawn = (tmp_path / "history-cpu-shape.C1H8W8M2K3-2.svg").read_text(encoding="utf-8")
    assert "% since commit 12c0ffee0" in drawn


def test_bad_input_is_one_line(tmp_path: Path, real: Path) -> None:
    assert_refused(run("history", tmp_path / "none"), "no such file or folder")
    assert_refused(run("history", tmp_path), "no run.json below")
    assert_refused(run("history", real, "--no-index", "--variant", "flat-vecto"), "flat-vector")
    assert_refused(run("history", real, "--no-index", "--batch", "x"), "--batch")
    assert_refused(run("history", real, "--no-index", "--alpha", "nan"), "alpha")
    assert_refused(run("history"), "FOLDER")
    assert_refused(run("history", real, "--no-index", "--format", "json", "--output", tmp_path / "no" / "h.json"), "is not a folder")
    assert "convladder history results" in run("history", "--help").stdout
