"""A variant that is wrong gets its status and a reason, publishes no time and leaves the others standing."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from conftest import SEEDED, cases, record, run, without_load

SHAPE = "3,13,11,5,3,1,1"
BATCH = 5
BYSTANDERS = ["memory-accumulation", "compile-time", "seeded-correct", "seeded-prints"]
PLACE = r"image \d+, map \d+, row \d+, column \d+"

WRONG = {
    "null": ("incorrect", rf"2145 of 2145 output elements are as they were before the call; first: {PLACE} is as it was before the call"),
    "nan": ("incorrect", r"image 0, map 0, row 1, column 1 is -?nan, expected -?\d"),
    "border": ("incorrect", r"image 0, map 0, row 0, column 10 is \S+, expected \S+ \(error \S+ of sum\|x\*w\|"),
    "last-image": ("incorrect", r"715 of 2145 output elements are as they were before the call; first: image 2, map 0, row 0"),
    "tile": ("incorrect", r"image 0, map 0, row 0, column 3 is \S+, expected"),
    "past-input": ("crashed", "SEGFAULT"),
    "past-output": ("incorrect", r"memory 0 bytes after the end of output was overwritten"),
    "sleeps": ("timeout", r"no answer to 'call' within 3 s"),
    "aborts": ("crashed", r"ended by signal 6 \(Aborted\): assertion 'tile fits' failed"),
    "segfaults": ("crashed", "SEGFAULT"),
    "exits": ("crashed", r"ended with exit code 0 before it answered"),
    "throws": ("crashed", r"exception: no room for the tile in the cache"),
    "wrong-later": ("incorrect", r"after timing: image 0, map 0, row 0, column 0 is \S+, expected"),
}
KILLS_THE_PROCESS = ["past-input", "sleeps", "aborts", "segfaults", "exits"]
SURVIVABLE = [name for name in WRONG if name not in KILLS_THE_PROCESS]


def case_of(document: dict[str, Any], variant: str) -> dict[str, Any]:
    """The case of a variant."""
    return cases(document)[f"cpu/{variant}/shape.C3H13W11M5K3P1/{BATCH}"]


def assert_failed(document: dict[str, Any], name: str, sanitized: bool) -> None:
    """Status and reason are as they should be, and no time is anywhere."""
    status, reason = WRONG[name]
    if reason == "SEGFAULT":
        reason = r"ended with exit code \d+ before" if sanitized else r"ended by signal 11 \(Segmentation fault\)"
    one = case_of(document, f"seeded-{name}")
    assert one["status"] == status
    assert re.search(reason, one["reason"]), one["reason"]
    assert one["reason"].isprintable(), "a reason is one line"
    assert (one["time"], one["other_times"]) == (None, [])
    for ladder in document["ladders"]:
        row = next(row for row in ladder["rows"] if row["case"] == one["id"])
        assert {value for key, value in row.items() if key.endswith(("_ns", "_s", "_library", "of"))} == {None}


def assert_stands(document: dict[str, Any], variant: str) -> None:
    """The case was not touched by what went on beside it."""
    one = case_of(document, variant)
    assert (one["status"], one["reason"]) == ("ok", None)
    assert len(one["time"]["samples"]) == 6 and min(one["time"]["samples"]) > 0
    assert all(one["verification"][when]["passed"] for when in ("before", "integers", "after"))


def command(names: list[str]) -> list[str]:
    """`run` of these and the bystanders."""
    variants = ",".join([f"seeded-{name}" for name in names] + BYSTANDERS)
    return ["run", "--family", "cpu", "--variant", variants, "--shape", SHAPE, "--batch", str(BATCH), "--no-table",
            "--timeout", "3", "--repetitions", "6", "--benchmark_min_time=0.001"]


@pytest.fixture(scope="module")
def isolated(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """One run of all of them, each in a process of its own."""
    folder = tmp_path_factory.mktemp("isolated")
    done = run(*command(list(WRONG)), "--output", folder, "--benchmark_out=" + str(folder / "google.json"),
               program=SEEDED)
    assert (done.returncode, done.stderr) == (1, "")
    document = record(folder)
    assert document["complete"] and len(document["cases"]) == len(WRONG) + len(BYSTANDERS)
    document["stdout"], document["google"] = done.stdout, json.loads((folder / "google.json").read_text())
    return document


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """One run, in one process, of those that leave the process alive."""
    folder = tmp_path_factory.mktemp("together")
    done = run(*command(SURVIVABLE), "--output", folder, "--isolate", "none", program=SEEDED)
    assert (done.returncode, done.stderr) == (1, "")
    return record(folder)


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_variant_gets_its_status_and_publishes_no_time(isolated: dict[str, Any], name: str,
                                                               sanitized: bool) -> None:
    assert_failed(isolated, name, sanitized)


@pytest.mark.parametrize("variant", BYSTANDERS)
def test_the_other_cases_stand(isolated: dict[str, Any], variant: str) -> None:
    assert_stands(isolated, variant)


@pytest.mark.parametrize("name", SURVIVABLE)
def test_without_isolation_the_same_is_found(together: dict[str, Any], name: str, sanitized: bool) -> None:
    assert_failed(together, name, sanitized)


@pytest.mark.parametrize("variant", BYSTANDERS)
def test_without_isolation_the_other_cases_stand(together: dict[str, Any], variant: str) -> None:
    assert_stands(together, variant)


def test_the_terminal_shows_a_line_for_each_case_that_failed_and_nothing_a_case_printed(isolated: dict[str, Any]) -> None:
    lines = without_load(isolated["stdout"]).splitlines()
    assert sum("/seeded-" in line for line in lines) == len(WRONG), "and none for a case that is right"
    assert "xxxx" not in isolated["stdout"]
    for name, (status, _) in WRONG.items():
        assert any(line.startswith(status) and f"/seeded-{name}/" in line for line in lines)


def test_googles_format_marks_the_failures_and_gives_them_no_time(isolated: dict[str, Any]) -> None:
    failed = [one for one in isolated["google"]["benchmarks"] if one.get("error_occurred")]
    assert len(failed) == len(WRONG)
    for one in failed:
        case = cases(isolated)[one["name"]]
        assert one["error_message"] == f"{case['status']}: {case['reason']}"
        assert not one.get("real_time")


def test_only_wrong_cases_make_the_exit_code(tmp_path: Path) -> None:
    done = run(*command([]), "--output", tmp_path, program=SEEDED)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_wrong_case_stays_wrong_when_its_run_is_resumed(tmp_path: Path) -> None:
    arguments = ["--variant", "seeded-null,seeded-correct", "--shape", SHAPE, "--batch", "5,6", "--repetitions", "3"]
    assert run("run", *arguments, "--output", tmp_path, program=SEEDED).returncode == 1
    document = record(tmp_path)
    document["cases"], document["complete"] = document["cases"][:2], False
    (tmp_path / "run.json").write_text(json.dumps(document))
    assert run("run", "--resume", tmp_path, program=SEEDED).returncode == 1
    assert [one["status"] for one in record(tmp_path)["cases"]] == ["incorrect", "ok"] * 2
