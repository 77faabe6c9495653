"""Records of many cases: read case by case, drawn in part, in time and memory that follow the number of cases."""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import tracemalloc
from pathlib import Path
from typing import Any, Callable, Optional, Union

import pytest
from calls import call
from conftest import SCRIPTS, RecordMaker
from large_record import Large
from predictions import with_predictions
from reports import report

from convladder_charts import case_by_case, json_text, record_file
from convladder_charts import record as run_record
from convladder_charts.case_by_case import Elements, Reader
from convladder_charts.json_text import RecordError

MANY = 3000
LAYOUTS: dict[str, Callable[[str], str]] = {
    "as written": lambda text: text, "with CRLF": lambda text: text.replace("\n", "\r\n"),
    "by jq": lambda text: json.dumps(json.loads(text), indent=2, ensure_ascii=False) + "\n",
    "in one line": lambda text: json.dumps(json.loads(text)), "with é and 😀": lambda text: text.replace("conv1", "é😀")}
FAULTS = ("NaN", ",", "]", "}", '"', "\n", "-Infinity", "1e999", '"a": 1, "a": 2,', "\\u12", "\n ],\n \"ladders\": []\n}\n")


@pytest.fixture(scope="module", name="small")
def _small() -> dict[str, Any]:
    maker = RecordMaker(batches=[10, 100]).add_cpu().add_skipped_cuda().add_counted()
    return with_predictions(maker.record())


@pytest.fixture(scope="module", name="large")
def _large(small: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("large") / "run.json"
    Large(small, MANY).write_record(path)
    return path


@pytest.fixture(name="one_by_one")
def _one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small records as if they were large."""
    monkeypatch.setattr(record_file, "LARGE", 64)


def _at_once(text: str, path: Path) -> Union[Any, str]:
    try:
        return json_text.parse_json(text, path)
    except RecordError as error:
        return str(error)


def _in_parts(path: Path, chunk: int) -> Union[Any, str]:
    with open(path, "rb") as file:
        try:
            found = Reader(file, path, chunk).read()
        except RecordError as error:
            return str(error)
        return {name: list(value) if isinstance(value, Elements) else value for name, value in found.items()}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_record_that_is_read_case_by_case_is_the_same(layout: str, small: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    Large({**small, "cases": small["cases"][:3], "ladders": []}, 3).write_record(path)
    text = LAYOUTS[layout](path.read_text(encoding="utf-8"))
    path.write_bytes(text.encode("utf-8"))
    expected = _at_once(text, path)
    assert isinstance(expected, dict) and expected["cases"]
    for chunk in (7, 1000, 2**20):
        assert _in_parts(path, chunk) == expected


def test_what_is_wrong_with_a_record_is_said_likewise(small: dict[str, Any], tmp_path: Path,
                                                      capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.json"
    Large(small, 3).write_record(path)
    text = path.read_text(encoding="utf-8")
    head, cases = text.index('"planned"'), text.index('"cases"')
    text = text[:cases] + text[cases:cases + 9000]  # what is cut off below is mostly cut in a case
    chance, cut = random.Random(1), 0
    for _ in range(200):
        at = chance.randrange(head, len(text))
        fault = chance.choice((*FAULTS, ""))
        broken = text[:at] + fault + (text[at + chance.choice((0, 1, 50)):] if fault else "")
        path.write_text(broken, encoding="utf-8")
        expected = _at_once(broken, path), capsys.readouterr().err
        assert (_in_parts(path, chance.choice((64, 1000, 2**20))), capsys.readouterr().err) == expected
        cut += "cut off in the middle" in expected[1]
    assert cut > 30


def test_bytes_that_are_no_text_are_named(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(b'{"context": "' + "é".encode() * 40 + b'\xff"}')
    assert _in_parts(path, 16) == f"{path}: byte 93 is not UTF-8; expected the JSON of a convladder run"


def test_never_more_of_the_text_is_held_than_a_case_and_what_is_read_at_once(large: Path) -> None:
    with open(large, "rb") as file:
        reader = Reader(file, large, 4096)
        found = reader.read()
        longest = max(len(json.dumps(case, indent=1)) for case in found["cases"])
    held = max(longest, len(json.dumps(found["planned"], indent=1)))  # which is a value of its own
    assert len(found["cases"]) >= MANY and reader.most_held < 4 * held < reader.size / 10


def test_a_pipe_is_read_as_well(one_by_one: None) -> None:
    read, write = os.pipe()
    os.write(write, b'{"cases": [' + b'{"id": "one"}, ' * 20 + b'{"id": "last"}]}')
    os.close(write)
    assert len(record_file.read_json(Path(f"/dev/fd/{read}"))["cases"]) == 21


def test_it_is_valid_and_made_of_whole_ladders(large: Path) -> None:
    done = call("validate_record.py", large)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_problems_of_a_case_are_found_and_named(small: dict[str, Any], one_by_one: None, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    Large(small, 8).write_record(path)
    text = path.read_text(encoding="utf-8")
    for old, new, said in (('"status": "ok"', '"status": "fine"', "$.cases[0].status: 'fine' is not one of"),
                           ('"batch": 10,', '"batch": 11,', "$.cases[0].id: expected"),
                           ('"x_baseline": {\n      "value": 1.0', '"x_baseline": {\n      "value": 2.0',
                            "$.ladders[0].rows[0].x_baseline.value: expected 1.0")):
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        assert said in call("validate_record.py", path).stdout


def test_a_small_record_gives_the_same_files_either_way(small: dict[str, Any], tmp_path: Path,
                                                        monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    for limit in (2**24, 64):
        monkeypatch.setattr(record_file, "LARGE", limit)
        folder = tmp_path / str(limit)
        folder.mkdir()
        (folder / "run.json").write_text(json.dumps(small), encoding="utf-8")
        assert call("charts.py", folder / "run.json", "--format", "svg").returncode == 0
        assert report(folder / "run.json").returncode == 0
        made.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert made[0] == made[1] and {"report.html", "table.md", "ladder.svg"} <= set(made[0])


def test_of_many_layers_some_are_drawn_and_all_are_in_the_table(large: Path, tmp_path: Path) -> None:
    document = json.loads(large.read_text(encoding="utf-8"))
    timed = [one for one in document["ladders"] if any(row["median_ns"] for row in one["rows"])]
    layers = {(one["network"], one["layer"]) for one in timed}
    assert len(layers) > 12
    assert call("charts.py", large, "--output", tmp_path, "--format", "svg").returncode == 0
    table = (tmp_path / "table.md").read_text(encoding="utf-8").split("\n## ")
    assert next(one for one in table if one.startswith("cpu ")).count("\n### ") == len(timed)
    assert f"{len(layers) - 3} more layers" in (tmp_path / "ladder.svg").read_text(encoding="utf-8")
    assert "drawn: 6 of 8 batches" in (tmp_path / "time_over_batch.svg").read_text(encoding="utf-8")
    assert report(large, "--output", tmp_path / "report.html").returncode == 0
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert f"Of {len(layers)} layers the 12 that take longest on cpu are shown, each at 6 of its batches" in page
    assert len(page) < 4_000_000
    longest = max(timed, key=lambda one: max(row["median_ns"] or 0 for row in one["rows"]))
    assert f"{longest['network']}.{longest['layer']}" in page


def test_an_asked_layer_is_drawn_however_many_there_are(large: Path, tmp_path: Path) -> None:
    done = call("charts.py", large, "--layer", "lenet28.conv1-3", "--output", tmp_path, "--format", "svg")
    assert done.returncode == 0 and "lenet28.conv1-3" in (tmp_path / "ladder.svg").read_text(encoding="utf-8")
    done = call("charts.py", large, "--layer", "lenet99.conv1", "--output", tmp_path)
    assert done.returncode == 3 and len(done.stderr) < 3000


def _with_variants(small: dict[str, Any], count: int) -> dict[str, Any]:
    """One ladder with so many stages, none of which could run but those that were there."""
    ladder = small["ladders"][0]
    cases = {case["id"]: case for case in small["cases"]}
    kept = [cases[row["case"]] for row in ladder["rows"]]
    more, rows, variants = [], [], []
    row_of = {name: None for name in ladder["rows"][0]} | {"status": "crashed"}
    for number in range(count):
        name = f"more-{number}"
        identifier = f"cpu/{name}/{ladder['network']}.{ladder['layer']}/{ladder['batch']}"
        variants.append({**small["variants"][0], "name": name, "title": name, "rung": 100 + number, "builds_on": None})
        more.append({**kept[0], "id": identifier, "variant": name, "rung": 100 + number, "status": "crashed",
                     "reason": f"signal 11 at {number}", "time": None, "other_times": [], "quality": None})
        rows.append({**row_of, "case": identifier, "variant": name, "rung": 100 + number})
    return {**small, "variants": [*small["variants"], *variants], "cases": [*kept, *more],
            "planned": [case["id"] for case in (*kept, *more)], "ladders": [{**ladder, "rows": [*ladder["rows"], *rows]}]}


def test_a_ladder_of_many_stages_and_many_failed_cases_are_shown_in_part(
        small: dict[str, Any], written: Callable[[Any], Path], tmp_path: Path) -> None:
    path = written(_with_variants(small, 600))
    assert call("charts.py", path, "--format", "svg").returncode == 0
    assert "more-599" in (tmp_path / "table.md").read_text(encoding="utf-8")
    assert report(path).returncode == 0
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "stages of a ladder 60 are shown" in page and "200 more rows are not on this page" in page
    assert len(page) < 2_000_000


def _reads(path: Path, count: int, small: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """How many cases and ladders were parsed, and the most memory in bytes."""
    Large(small, count).write_record(path)
    parsed = 0
    plain = Elements.__getitem__

    def counting(self: Elements, index: Any) -> Any:
        nonlocal parsed
        parsed += 1
        return plain(self, index)

    with monkeypatch.context() as patched:
        patched.setattr(case_by_case.Elements, "__getitem__", counting)
        patched.setattr(case_by_case, "_CHUNK", 2**14)
        tracemalloc.start()
        run_record.load(path)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert call("validate_record.py", path).returncode == 0
    return parsed, most


def test_twice_as_many_cases_take_twice_as_much(small: dict[str, Any], tmp_path: Path, one_by_one: None,
                                                monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = (_reads(tmp_path / "run.json", count, small, monkeypatch) for count in (400, 800))
    assert many[0] < 2.2 * few[0] < 2.2 * 12 * 400
    assert many[1] - few[1] < 400 * 10_000  # bytes for each more case; its text has as many as the samples are


@pytest.mark.skipif(not os.environ.get("CONVLADDER_SLOW_TESTS"), reason="takes minutes; CONVLADDER_SLOW_TESTS=1 runs it")
@pytest.mark.parametrize("script", ["charts.py", "report.py", "validate_record.py"])
def test_a_hundred_thousand_cases_take_less_than_a_gigabyte(script: str, small: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    Large(small, 100_000).write_record(path)
    limit: Optional[tuple[int, int]] = (2**30, 2**30)

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_DATA, limit or (0, 0))

    done = subprocess.run([str(SCRIPTS / script), str(path)], capture_output=True, encoding="utf-8", check=False,
                          preexec_fn=limited, timeout=7200)
    assert (done.returncode, done.stderr) == (0, "")
