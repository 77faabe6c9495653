"""`convladder rank`: a planted order is found, a broken submission costs nobody anything, a rerun measures what changed."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from conftest import PROGRAM, REPOSITORY, assert_refused, is_sanitized, run, start
from submissions import BROKEN, CUDA, CUDA_FAST, source, write_ladder, write_submissions
from validate_record import complaints

sys.path.insert(0, str(REPOSITORY / "tests/scripts"))
from html_page import parsed  # noqa: E402  (found through the line above)

PLANTED = {"fast": 1, "middle": 30, "slow": 900}
"""Work, so far apart that no noise turns the order around."""
NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
STAND_IN = PROGRAM.parent / "stand_in/libcudart.so.13"


@pytest.fixture(scope="module", name="cache", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What is compiled here stays here."""
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))


def rank(folder: Path, *arguments: object, code: int = 0, **options: Any) -> tuple[dict[str, Any], subprocess.CompletedProcess[str]]:
    """The valid record of the ranking in a folder, and what was printed."""
    done = run("rank", folder / "ladder", folder / "in", "--output", folder / "out", "--timeout", "6", *arguments,
               **options)
    assert done.returncode == code, done
    assert complaints(folder / "out/rank.json") == []
    return json.loads((folder / "out/rank.json").read_text(encoding="utf-8")), done


def sessions(document: dict[str, Any]) -> dict[str, int]:
    """By name, when it was measured last; of those that were measured."""
    return {one["name"]: one["session"] for one in document["cases"] if one["time"]}


@pytest.fixture(scope="module", name="ranked")
def _ranked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any], str]:
    """Good and broken submissions, ranked once: the folder, the record, the text."""
    folder = tmp_path_factory.mktemp("ranked")
    write_ladder(folder / "ladder", ["R64C256"], {"01_naive.cpp": source(1)})
    write_submissions(folder / "in", {
        "slow.cpp": source(PLANTED["slow"]), "fast.cpp": source(PLANTED["fast"]),
        "middle/solve.cpp": '#include "work.h"\n', "middle/work.h": source(PLANTED["middle"]),
        "O'Brien; $(id).cpp": source(PLANTED["middle"]), "=1+1/readme.h": "no stage", "notes.txt": "mine",
        **{f"{name}.cpp": text for name, (_, text) in BROKEN.items()}})
    document, done = rank(folder, "--medians", "--csv", folder / "table.csv", "--html", folder / "page.html", code=1)
    assert done.stderr == ""
    return folder, document, done.stdout


def test_the_planted_order_is_found(ranked: tuple[Path, dict[str, Any], str]) -> None:
    (ranking,) = ranked[1]["rankings"]
    assert (ranking["figures"], ranking["device"], ranking["baseline"]["name"]) == ("measured", "cpu", "naive")
    rows = {row["name"]: row for row in ranking["rows"]}
    good = [row["name"] for row in ranking["rows"] if row["rank"] is not None and row["name"] in PLANTED]
    assert good == list(PLANTED) and rows["fast"]["rank"] == 1  # on a busy machine the next may share the rank
    for name in PLANTED:
        assert rows[name]["speed"]["value"] > 0
        (size,) = rows[name]["sizes"]
        assert size["rounds"] >= 10 and size["speed"]["level"] >= 0.95 and size["speed"]["by"] == "rounds"
    assert rows["O'Brien; $(id)"]["rank"] is not None and rows["naive"]["is_baseline"]


def test_each_is_measured_in_the_rounds_of_the_baseline(ranked: tuple[Path, dict[str, Any], str]) -> None:
    for one in ranked[1]["cases"]:
        if one["role"] == "submission" and one["status"] == "ok":
            assert one["baseline"] == "naive"
            assert min(len(one["time"]["samples"]), len(one["baseline_time"]["samples"])) >= 10


def test_a_broken_one_has_its_status_and_first_line_at_the_end(ranked: tuple[Path, dict[str, Any], str]) -> None:
    rows = ranked[1]["rankings"][0]["rows"]
    failed = {row["name"]: row for row in rows[-len(BROKEN) - 1:]}
    assert {name: failed[name]["status"] for name in BROKEN} == {name: status for name, (status, _) in BROKEN.items()}
    assert "flaot" in failed["typo"]["reason"]
    assert is_sanitized() or "signal 11" in failed["crasher"]["reason"]
    assert "no solve.cpp" in failed["=1+1"]["reason"]
    for row in failed.values():
        assert row["rank"] is None and row["speed"] is None and "\n" not in row["reason"]
    text = ranked[2]
    assert max(map(len, text.splitlines()[len(ranked[1]["cases"]) + 1:-1])) <= 100, text
    assert "left alone, neither .cpp, .cu nor a folder: notes.txt" in text and "measured" in text


def test_the_table_is_csv_too(ranked: tuple[Path, dict[str, Any], str]) -> None:
    rows = list(csv.DictReader(io.StringIO((ranked[0] / "table.csv").read_text(encoding="utf-8"))))
    by_record = ranked[1]["rankings"][0]["rows"]
    assert [row["status"] for row in rows] == [row["status"] for row in by_record]
    assert [row["rank"] for row in rows] == [str(row["rank"] or "") for row in by_record]
    names = [row["name"] for row in rows]
    assert "'=1+1" in names and "O'Brien; $(id)" in names  # no formula for a spreadsheet
    fast = rows[names.index("fast")]
    assert float(fast["R64C256 speed"]) == pytest.approx(float(fast["speed"])) and float(fast["R64C256 figure"]) > 0


def test_the_page_needs_nothing_else(ranked: tuple[Path, dict[str, Any], str]) -> None:
    text = (ranked[0] / "page.html").read_text(encoding="utf-8")
    page = parsed(text)  # every element closed
    assert not any("src" in one.attributes for one in page.all("script")), "what runs is in the page"
    named = text.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")  # what a drawing is, not where
    assert not page.all("img") and "http" not in named
    table = next(one for one in page.all("table") if one.all("caption")[0].text == "Ranking")
    shown = [[cell.text for cell in row.children] for row in table.all("tbody")[0].children]
    rows = ranked[1]["rankings"][0]["rows"]
    assert [cells[1] for cells in shown] == [" ".join(row["name"].split()) for row in rows]
    assert all("measured" in cells for cells, row in zip(shown, rows) if row["speed"])


def test_a_rerun_measures_what_has_changed(ranked: tuple[Path, dict[str, Any], str], tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(ranked[0], folder)
    document = json.loads((folder / "out/rank.json").read_text(encoding="utf-8"))
    document["ladder"], document["submissions"] = str(folder / "ladder"), str(folder / "in")
    (folder / "out/rank.json").write_text(json.dumps(document), encoding="utf-8")
    (folder / "in/middle/work.h").write_text(source(31), encoding="utf-8")  # what the stage includes
    (folder / "in/slow.cpp").unlink()
    (folder / "in/hanger.cpp").write_text(source(2), encoding="utf-8")
    before = time.monotonic()
    document, _ = rank(folder, "--quiet", code=1)
    assert time.monotonic() - before < 60
    assert sessions(document) == {"naive": 0, "fast": 0, "O'Brien; $(id)": 0, "middle": 1, "hanger": 1}
    assert [one["session"] for one in document["cases"] if one["name"] == "keeper"] == [0]  # a failure is a result
    names = [row["name"] for row in document["rankings"][0]["rows"]]
    assert "slow" not in names and names.index("hanger") < names.index("middle")


def test_it_goes_on_after_a_kill(tmp_path: Path) -> None:
    write_ladder(tmp_path / "ladder", ["R64C256"], {"01_naive.cpp": source(1)})
    hanger = BROKEN["hanger"][1]
    write_submissions(tmp_path / "in", {"alice.cpp": source(1), "zoe.cpp": hanger})
    command = ["rank", tmp_path / "ladder", tmp_path / "in", "--output", tmp_path / "out", "--timeout", "6"]
    file = tmp_path / "out/rank.json"
    process = start(*command, "--quiet")
    deadline = time.monotonic() + 100
    while '"name": "alice"' not in (file.read_text(encoding="utf-8") if file.exists() else ""):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)
    process.kill()
    process.communicate(timeout=30)
    assert complaints(file) == []  # readable as it is
    (tmp_path / "in/zoe.cpp").write_text(source(60), encoding="utf-8")
    document, done = rank(tmp_path)
    assert sessions(document) == {"naive": 0, "alice": 0, "zoe": 1}
    good = [row for row in document["rankings"][0]["rows"] if not row["is_baseline"]]
    assert [row["name"] for row in good] == ["alice", "zoe"] and good[0]["rank"] == 1, done.stdout


def test_without_stages_the_first_that_is_right_is_the_baseline(tmp_path: Path) -> None:
    write_ladder(tmp_path / "ladder", ["R64C256"], {})
    write_submissions(tmp_path / "in", {"a.cpp": BROKEN["wrong"][1], "b.cpp": source(60), "c.cpp": source(1)})
    done = run("rank", tmp_path / "ladder", tmp_path / "in", "--output", tmp_path / "out", "--format", "json")
    assert (done.returncode, done.stderr) == (1, ""), done
    document = json.loads(done.stdout)
    (ranking,) = document["rankings"]
    assert ranking["baseline"] == {"name": "b", "role": "submission", "file": "b.cpp"}
    assert [row["name"] for row in ranking["rows"]] == ["c", "b", "a"]
    assert [row["is_baseline"] for row in ranking["rows"]] == [False, True, False]


@pytest.mark.skipif(NVCC is None or not STAND_IN.exists(), reason="no nvcc, or no stand-in")
def test_without_a_gpu_predictions_are_ranked_and_say_so(tmp_path: Path) -> None:
    write_ladder(tmp_path / "ladder", ["R64C256"], {"01_naive.cu": CUDA})
    write_submissions(tmp_path / "in", {"$(touch pwned)/solve.cu": CUDA_FAST, "same.cu": CUDA, "fast.cpp": source(1)})
    document, done = rank(tmp_path, "--device", "cpu,simulated")
    on_cpu, simulated = document["rankings"]
    assert (on_cpu["figures"], on_cpu["baseline"]["role"]) == ("measured", "submission")
    assert (simulated["figures"], simulated["gpu"], simulated["baseline"]["name"]) == ("predicted", "h100", "naive")
    ranks = {row["name"]: row["rank"] for row in simulated["rows"]}
    assert ranks == {"$(touch pwned)": 1, "same": 2, "naive": None}
    assert "times predicted for h100 from counters" in done.stdout
    assert not list(tmp_path.rglob("pwned")) and not Path("pwned").exists()
    again, _ = rank(tmp_path, "--device", "cpu,simulated", "--quiet")
    assert {one["session"] for one in again["cases"]} == {0}


def test_what_cannot_be_ranked_is_said_in_one_line(tmp_path: Path) -> None:
    ladder = write_ladder(tmp_path / "ladder", ["R64C256"], {"01_naive.cpp": source(1)})
    (tmp_path / "empty").mkdir()
    assert_refused(run("rank", ladder, tmp_path / "empty"), "no submissions, such as alice.cpp")
    assert_refused(run("rank", ladder, tmp_path / "missing"), "not a folder of submissions")
    assert_refused(run("rank", tmp_path / "empty", tmp_path / "empty"), "no folder with a problem.json")
    write_submissions(tmp_path / "in", {"alice.cpp": source(1)})
    assert_refused(run("rank", ladder, tmp_path / "in", "--against", "naiv"), "naive")
    assert_refused(run("rank", ladder, tmp_path / "in", "--gpu", "h101"), "h100")
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(not os.environ.get("CONVLADDER_SLOW_TESTS"), reason="takes minutes; CONVLADDER_SLOW_TESTS=1 runs it")
def test_forty_submissions(tmp_path: Path) -> None:
    factors = (1, 6, 36)
    good = {f"work {factor} by {person:02}.cpp": source(factor) + f"// {person}\n" for factor in factors for person in range(11)}
    broken = {f"{name} {number}.cpp": text + f"\n// {number}\n" for name, (_, text) in BROKEN.items() for number in (1, 2)}
    write_ladder(tmp_path / "ladder", ["R64C256", "R16C2048"], {"01_naive.cpp": source(1), "02_twice.cpp": source(2)})
    write_submissions(tmp_path / "in", good | broken)
    begin = time.monotonic()
    document, done = rank(tmp_path, code=1, timeout=1800)
    seconds = time.monotonic() - begin
    (ranking,) = document["rankings"]
    rows = [row for row in ranking["rows"] if not row["is_baseline"]]
    assert len(rows) == 43
    assert [row["name"].split()[1] for row in rows if row["rank"]] == [str(factor) for factor in factors for _ in range(11)]
    statuses = {row["name"]: row["status"] for row in rows if not row["rank"]}
    assert statuses == {f"{name} {number}": status for name, (status, _) in BROKEN.items() for number in (1, 2)}
    print(f"{seconds:.0f} s\n{done.stdout}")
    begin = time.monotonic()
    again, _ = rank(tmp_path, "--quiet", code=1, timeout=1800)
    print(f"again: {time.monotonic() - begin:.1f} s")
    assert all(one["session"] == 0 for one in again["cases"] if one["keep"])
