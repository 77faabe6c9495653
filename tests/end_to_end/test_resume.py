"""`network` and `sweep` with --resume: what is recorded stays and is in the tables, what is missing is done, and what cannot be
gone on with is refused in one line. test_kill_and_resume.py kills them, and has the same of `run`."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from conftest import (SEEDED, assert_refused, cases, idx_images, left_behind, record, run, start, wait_for, write_idx)

TINY = Path(__file__).with_name("tiny_network.json")
SWEPT = ["--shape", "2,9,9,4,3", "--batch", "2", "--repetitions", "3"]
ARGUMENTS = {
    "network": ["--network", TINY, "--device", "cpu", "--variant", "flat-vector,compile-time", "--batch", "2,3", "--repetitions",
                "3", "--weights", "random"],
    "sweep": ["--variant", "implicit-gemm", "--device", "cpu", *SWEPT, "--limit", "4"],
}
COUNTED = {
    "network": ["--network", "lenet28", "--device", "simulated", "--variant", "global-memory,shared-memory", "--batch", "1",
                "--weights", "random"],
    "sweep": ["--variant", "register-tile", "--device", "simulated", "--shape", "2,9,9,4,5", "--batch", "2", "--limit", "3",
              "--gpu", "h100"],
}
COMMANDS = list(ARGUMENTS)
BUSY = "another convladder is writing into this folder"


def put(folder: Path, command: str, document: Any) -> Path:
    """The record as a file in the folder."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{command}.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return path


def without_the_last(document: dict[str, Any], lost: int = 1) -> dict[str, Any]:
    """As if the program had been killed before its last cases."""
    document = json.loads(json.dumps(document)) | {"complete": False}
    del document["cases"][-lost:]
    if "sweeps" in document:
        document["sweeps"] = []
    return document


def finished(command: str, folder: Path, *arguments: object, **options: Any) -> tuple[dict[str, Any], str]:
    """The record of a new one, and what was printed."""
    done = run(command, *arguments, "--output", folder, **options)
    assert (done.returncode, done.stderr) == (0, ""), done
    return record(folder, command), done.stdout


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """A complete record of each command."""
    return {command: finished(command, tmp_path_factory.mktemp(command), *ARGUMENTS[command])[0] for command in COMMANDS}


def tables_of(text: str) -> str:
    """What is printed behind the lines of the cases, without the record's path."""
    return text[text.index("\n\n"):].rsplit("\n", 2)[0]


@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_missing_is_done_and_the_tables_show_all(tmp_path: Path, whole: dict[str, Any], command: str) -> None:
    before = without_the_last(whole[command])
    put(tmp_path, command, before)
    done = run(command, "--resume", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    after = record(tmp_path, command)
    kept = cases(before)
    assert after["complete"] and {id_: cases(after)[id_] for id_ in kept} == kept
    assert [one["id"] for one in after["cases"]] == after["planned"]
    assert [one["session"] for one in after["cases"]] == [0] * len(kept) + [1]
    tables = done.stdout
    if command == "sweep":
        lines, tables = done.stdout.split("\n\n", 1)
        assert len([line for line in lines.splitlines() if line]) == 1, "one case was run"
    again = run(command, "--resume", tmp_path)
    assert (again.returncode, again.stderr) == (0, "")
    assert again.stdout.strip() in done.stdout, "the tables of a record are the same whoever measured it"
    if command == "network":
        for one in after["cases"]:
            assert any(line.split()[0] == str(one["batch"]) and one["variants"] in line
                       for line in tables.splitlines() if line.strip())
    else:
        assert all(str(value) in tables for one in after["cases"] for value in one["configuration"].values())
        assert after["sweeps"][0]["tried"] == len(after["cases"])


@pytest.mark.parametrize("command", COMMANDS)
def test_a_finished_one_shows_its_tables_and_stays(tmp_path: Path, command: str) -> None:
    _, text = finished(command, tmp_path, *ARGUMENTS[command])
    before = (tmp_path / f"{command}.json").read_bytes()
    done = run(command, "--resume", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert text.endswith(done.stdout.lstrip("\n")), "the same tables"
    assert (tmp_path / f"{command}.json").read_bytes() == before


@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_counted_does_not_depend_on_the_interrupt(tmp_path: Path, command: str) -> None:
    if not json.loads(run("list", "--machine", "--format", "json").stdout)["program"].get("ptx"):
        pytest.skip("no kernels in this build")
    document, text = finished(command, tmp_path / "whole", *COUNTED[command])
    put(tmp_path, command, without_the_last(document))
    done = run(command, "--resume", tmp_path)
    assert done.returncode == 0, done.stderr
    after = record(tmp_path, command)
    for one in after["cases"]:
        assert one.pop("session") == (one["id"] == after["planned"][-1])
    for one in document["cases"]:
        one.pop("session")
    assert after["cases"] == document["cases"]
    assert after.get("sweeps") == document.get("sweeps")
    assert tables_of(done.stdout) == tables_of(text)


@pytest.mark.parametrize("command", COMMANDS)
def test_it_leaves_the_settings_alone(tmp_path: Path, whole: dict[str, Any], command: str) -> None:
    path = put(tmp_path, command, without_the_last(whole[command]))
    before = path.read_bytes()
    for extra in (["--batch", "7"], ["--seed", "2"], ["--output", tmp_path / "x"], ["--network", "lenet28"], ["--case", "x"]):
        refused = run(command, "--resume", tmp_path, *extra)
        assert_refused(refused, f"{extra[0]} cannot be used with --resume")
    done = run(command, "--resume", tmp_path, "--dry-run")
    assert done.returncode == 0 and path.read_bytes() == before
    assert run(command, "--resume", tmp_path, "--quiet").returncode == 0 and record(tmp_path, command)["complete"]


def changed(document: dict[str, Any], place: str, value: Any) -> dict[str, Any]:
    """With another value somewhere."""
    *path, last = [int(part) if part.isdigit() else part for part in place.split("/")]
    at: Any = document
    for part in path:
        at = at[part]
    at[last] = value
    return document


CHANGES = {
    "program": (COMMANDS, "context/program/commit", "0" * 40, "the program differs"),
    "an older program": (COMMANDS, "context", {"program": {"version": "0.0"}, "host": {}, "cpu": {}, "options": {}},
                         "the program differs"),
    "host": (COMMANDS, "context/host/name", "elsewhere", "the host differs"),
    "processor": (COMMANDS, "context/cpu/model", "another", "the processor differs"),
    "data": (COMMANDS, "context/dataset/sha256", "0" * 64, "the data differs"),
    "variants": (["network"], "context/options/variants", ["flat-vector"], "the plan differs"),
    "limit": (["sweep"], "context/options/limit", 2, "the plan differs"),
    "option": (COMMANDS, "context/options/batches", ["many"], "context: options: batches[0]: expected a whole number"),
    "no device": (COMMANDS, "context/options/devices", ["gpu"], "unknown device 'gpu'"),
    "schema": (COMMANDS, "schema_version", "0.9", 'found "0.9"'),
    "kind": (COMMANDS, "kind", "run", "not a"),
    "case": (COMMANDS, "cases/0/id", "cpu/x", "cpu/x is recorded but was not planned"),
    "status": (COMMANDS, "cases/0/status", "fine", "cases[0]: "),
    "steps": (["network"], "cases/0/steps", "none", "cases[0]: "),
    "score": (["sweep"], "cases/0/score", "good", "cases[0]: "),
    "weights": (["network"], "networks/0/weights/name", "others", "'networks' differs (0.weights.name"),
}


@pytest.mark.parametrize("command, place, value, words",
                         [pytest.param(command, *rest, id=f"{command} {name}")
                          for name, (commands, *rest) in CHANGES.items() for command in commands])
def test_what_cannot_be_gone_on_with_is_one_line(tmp_path: Path, whole: dict[str, Any], command: str, place: str, value: Any,
                                                 words: str) -> None:
    path = put(tmp_path, command, changed(without_the_last(whole[command]), place, value))
    before = path.read_bytes()
    assert_refused(run(command, "--resume", tmp_path), words)
    assert path.read_bytes() == before, "not ours to mend"


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("text, words", [("", "byte 1"), ("\x00" * 100, "byte 1"), ("[]", "expected an object"),
                                         ("{}", "schema_version: expected"), ('{"cases": []}', "schema_version: expected")])
def test_a_foreign_file_is_one_line(tmp_path: Path, command: str, text: str, words: str) -> None:
    path = put(tmp_path, command, text)
    assert_refused(run(command, "--resume", tmp_path), str(path), words)


def test_the_record_of_another_command_is_named(tmp_path: Path, whole: dict[str, Any]) -> None:
    put(tmp_path, "sweep", whole["sweep"])
    for command in ("run", "network"):
        assert_refused(run(command, "--resume", tmp_path), f"holds no {command}.json but a sweep.json",
                       f"'convladder sweep --resume {tmp_path}'")
    put(tmp_path / "renamed", "network", whole["sweep"])
    assert_refused(run("network", "--resume", tmp_path / "renamed"), "network.json: ", "not a network of convladder")
    assert_refused(run("network", "--resume", tmp_path / "nowhere"), "nowhere/network.json: No such file")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_cut_record_goes_on_behind_its_last_whole_case(tmp_path: Path, command: str) -> None:
    finished(command, tmp_path, *ARGUMENTS[command])
    path = tmp_path / f"{command}.json"
    whole_text = path.read_text(encoding="utf-8")
    path.write_text(whole_text[:whole_text.rindex('"reason"')], encoding="utf-8")
    done = run(command, "--resume", tmp_path)
    assert done.returncode == 0 and "cut off in the middle; whole cases that are used: 3" in done.stderr
    after = record(tmp_path, command)
    assert after["complete"] and [one["session"] for one in after["cases"]] == [0, 0, 0, 1]


def test_other_weights_data_or_another_network_are_refused(tmp_path: Path) -> None:
    network = put(tmp_path, "own", TINY.read_text(encoding="utf-8"))
    data = write_idx(tmp_path / "data")
    arguments = ["--network", network, "--device", "cpu", "--variant", "flat-vector,compile-time", "--batch", "2",
                 "--repetitions", "1", "--weights", "random", "--data", data]
    document, _ = finished("network", tmp_path / "out", *arguments)
    put(tmp_path / "out", "network", without_the_last(document))
    write_idx(data, idx_images()[:-1] + b"\x00")
    assert_refused(run("network", "--resume", tmp_path / "out"), "cannot resume", "the data differs")
    write_idx(data)
    network.write_text(TINY.read_text(encoding="utf-8").replace('"kernel": 5', '"kernel": 3'), encoding="utf-8")
    assert_refused(run("network", "--resume", tmp_path / "out"), "cannot resume", "'networks' differs (0.layers.0.output")
    network.write_text(TINY.read_text(encoding="utf-8"), encoding="utf-8")
    assert run("network", "--resume", tmp_path / "out").returncode == 0


def test_the_case_option_belongs_to_the_settings(tmp_path: Path) -> None:
    document, _ = finished("network", tmp_path, *ARGUMENTS["network"], "--case", "/3$")
    assert len(document["planned"]) == 2
    put(tmp_path, "network", without_the_last(document))
    assert run("network", "--resume", tmp_path).returncode == 0
    assert record(tmp_path, "network")["planned"] == document["planned"]


def test_a_resumed_sweep_writes_the_tables_that_were_asked_for(tmp_path: Path) -> None:
    table = tmp_path / "cpu-seeded-configuration.json"
    arguments = ["--variant", "seeded-configuration", *SWEPT, "--configuration", "work=3", "--update-table", "--tables", tmp_path]
    document, _ = finished("sweep", tmp_path / "out", *arguments, program=SEEDED)
    written = table.read_text(encoding="utf-8")
    table.unlink()
    put(tmp_path / "out", "sweep", without_the_last(document, len(document["cases"])))
    done = run("sweep", "--resume", tmp_path / "out", program=SEEDED)
    assert done.returncode == 0 and f"{table}: written" in done.stdout
    assert json.loads(table.read_text(encoding="utf-8"))["entries"][0]["configuration"] == \
        json.loads(written)["entries"][0]["configuration"]


@pytest.mark.parametrize("command", COMMANDS)
def test_an_interrupt_says_how_to_go_on_and_nobody_else_may_meanwhile(tmp_path: Path, command: str) -> None:
    slow = {"network": ["--network", TINY, "--device", "cpu", "--weights", "random", "--batch", "2,3", "--budget", "60",
                        "--variant", "flat-vector", "--repetitions", "100000"],
            "sweep": ["--variant", "implicit-gemm", "--device", "cpu", "--shape", "2,9,9,4,3", "--batch", "2", "--limit", "2",
                      "--repetitions", "100000"]}
    process = start(command, *slow[command], "--output", tmp_path)
    wait_for(tmp_path / f"{command}.json", process)
    time.sleep(0.2)
    assert_refused(run(command, "--resume", tmp_path), BUSY)
    process.send_signal(signal.SIGINT)
    errors = process.communicate(timeout=30)[1]
    assert (process.returncode, errors) == (130, f"convladder: interrupted; 'convladder {command} --resume {tmp_path}' continues\n")
    assert not record(tmp_path, command)["complete"]
    deadline = time.monotonic() + 5
    while left_behind() and time.monotonic() < deadline:
        time.sleep(0.01)
