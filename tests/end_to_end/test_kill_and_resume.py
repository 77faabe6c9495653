"""Kill -9 at random moments: the record is readable each time, and a resumed run loses and repeats nothing."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from conftest import (ALL, SEEDED, SMALL, assert_refused, cases, idx_images, left_behind, mounted, only_with_all, record, run,
                      start, wait_for, without_load, write_idx)

PATIENCE = 10  # seconds: fewer kills where everything takes long
NETWORK = Path(__file__).with_name("tiny_network.json")
MANY = {
    "run": ["--family", "cpu", "--variant", "local-accumulation,flat-vector,compile-time", *SMALL, "--shape", "2,9,9,3,3",
            "--batch", "1,2,3"],
    "network": ["--network", NETWORK, "--network", "lenet28", "--device", "cpu", "--weights", "random", "--variant",
                "flat-vector,compile-time", "--batch", "1,2", "--repetitions", "3"],
    "sweep": ["--variant", "implicit-gemm", "--device", "cpu", "--shape", "2,9,9,4,3", "--shape", "1,8,8,3,3", "--batch",
              "2,3", "--repetitions", "3", "--limit", "2"],
}
# At other moments each time; CONVLADDER_SLOW_TESTS=1 has five times as many as every night.
KILLS = {"run": 8, "network": 5, "sweep": 5} if ALL else {"run": 5, "network": 3, "sweep": 3}
MOST_KILLS = 30  # until one hits a run that is half done
if os.environ.get("CONVLADDER_SLOW_TESTS"):
    KILLS = {command: 5 * kills for command, kills in KILLS.items()}
FEW = ["--family", "cpu", "--variant", "local-accumulation,flat-vector", *SMALL, "--batch", "2,3"]
SLOWER = ["--family", "cpu", "--variant", "local-accumulation,flat-vector,compile-time", "--shape", "1,8,8,2,3",
          "--batch", "1,2,3,4", "--repetitions", "20", "--benchmark_min_time=0.003"]
ENDLESS = ["--family", "cpu", "--variant", "local-accumulation", *SMALL, "--batch", "2", "--benchmark_min_time=30"]


def killed_after(seconds: float, command: str, folder: Path) -> bool:
    """Starts or resumes the run, and kills it. False if it finished first."""
    there = (folder / f"{command}.json").exists()
    process = start(command, *(["--resume", folder] if there else [*MANY[command], "--output", folder]))
    try:
        time.sleep(seconds)
        process.kill()
        errors = process.communicate(timeout=30)[1]
    finally:
        process.kill()
    assert errors == ""
    assert process.returncode in (0, -signal.SIGKILL)
    return process.returncode != 0


def assert_no_process_left() -> None:
    """Cases die with their run; the kernel needs a moment."""
    deadline = time.monotonic() + 20
    while left_behind() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert left_behind() == []


def assert_went_on(before: dict[str, Any], after: dict[str, Any]) -> None:
    """What was finished is as it was: not lost, not measured again."""
    then, now = cases(before), cases(after)
    assert {id_: now.get(id_) for id_ in then} == then
    assert after["planned"] == before["planned"]
    old = before["context"]["sessions"]
    assert after["context"]["sessions"][:len(old)] == old
    assert len(after["context"]["sessions"]) <= len(old) + 1


@pytest.mark.parametrize("command", MANY)
def test_kill_at_random_moments(tmp_path: Path, command: str) -> None:
    seed = int(os.environ.get("CONVLADDER_TEST_SEED", random.SystemRandom().randrange(2**32)))
    print(f"CONVLADDER_TEST_SEED={seed}")  # shown when the test fails
    moments = random.Random(seed)
    begin = time.monotonic()
    assert run(command, *MANY[command], "--output", tmp_path / "whole").returncode == 0
    longest = time.monotonic() - begin  # many times as long with sanitizers
    folder, before, killed, runs = tmp_path / "run0", None, 0, 1
    partial_kills = 0
    while (killed < KILLS[command] or (partial_kills == 0 and killed < MOST_KILLS)) and not (
            partial_kills and time.monotonic() - begin > PATIENCE):
        interrupted = killed_after(moments.uniform(0.0, longest), command, folder)
        assert_no_process_left()
        if (folder / f"{command}.json").exists():
            after = record(folder, command)  # readable and valid, wherever it was cut
            assert interrupted or after["complete"]
            if before is not None:
                assert_went_on(before, after)
            partial_kills += interrupted and 0 < len(after["cases"]) < len(after["planned"])
            before = after
        killed += interrupted
        if not interrupted:  # it was faster: another run for the kills that are left
            folder, before, runs = tmp_path / f"run{runs}", None, runs + 1
    assert partial_kills > 0, "no kill hit a run that was half done"

    arguments = ["--resume", folder] if before is not None else [*MANY[command], "--output", folder]
    done = run(command, *arguments)
    final = record(folder, command)
    assert [(one["id"], one["reason"]) for one in final["cases"] if one["status"] != "ok"] == []
    assert (done.returncode, done.stderr) == (0, "")
    assert final["complete"] and [one["id"] for one in final["cases"]] == final["planned"]
    assert {one["session"] for one in final["cases"]} <= set(range(len(final["context"]["sessions"])))
    if before is not None:
        assert_went_on(before, final)
        if not before["complete"]:
            assert len(final["context"]["sessions"]) == len(before["context"]["sessions"]) + 1
            new = [one for one in final["cases"] if one["id"] not in cases(before)]
            assert {one["session"] for one in new} <= {len(final["context"]["sessions"]) - 1}
    assert [path.name for path in folder.iterdir()] == [f"{command}.json"]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_it_with_130_and_a_readable_record(tmp_path: Path, how: signal.Signals) -> None:
    process = start("run", *ENDLESS, "--output", tmp_path)
    wait_for(tmp_path / "run.json", process)
    time.sleep(0.3)  # somewhere in the first case
    process.send_signal(how)
    errors = process.communicate(timeout=10)[1]
    assert process.returncode == 130
    assert errors == f"convladder: interrupted; 'convladder run --resume {tmp_path}' continues\n"
    assert_no_process_left()
    assert not record(tmp_path)["complete"]


def interrupted_after(cases_: int, folder: Path, *signals: signal.Signals) -> tuple[int, str]:
    """Signals the run once so many of its cases are recorded; its exit code and its errors."""
    process = start("run", *SLOWER, "--output", folder)
    wait_for(path := folder / "run.json", process)
    while path.read_text(encoding="utf-8").count('"id": "cpu/') < cases_ and process.poll() is None:
        time.sleep(0.002)
    for one in signals:
        process.send_signal(one)
    errors = process.communicate(timeout=30)[1]
    return process.returncode, errors


@pytest.mark.parametrize("signals", [
    [signal.SIGINT], pytest.param([signal.SIGTERM], marks=only_with_all),
    pytest.param([signal.SIGINT, signal.SIGINT], marks=only_with_all), [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]])
def test_an_interrupted_run_has_its_ladders_and_can_be_resumed(tmp_path: Path, signals: list[signal.Signals]) -> None:
    code, errors = interrupted_after(3, tmp_path, *signals)
    assert code == 130
    assert_no_process_left()
    before = record(tmp_path)
    first, *second = errors.splitlines()
    assert first == f"convladder: interrupted; 'convladder run --resume {tmp_path}' continues"
    if len(signals) == 1:
        assert second == [f"convladder: {tmp_path}/run.json has the ladders of {len(before['cases'])} of its 12 cases"]
        assert {row["case"] for ladder in before["ladders"] for row in ladder["rows"]} == set(cases(before))
        assert before["ladders"][0]["rows"][1]["x_baseline"]["value"] > 0
    assert not before["complete"] and [path.name for path in tmp_path.iterdir()] == ["run.json"]
    assert run("run", "--resume", tmp_path).returncode == 0
    after = record(tmp_path)
    assert_went_on(before, after)
    assert after["complete"] and sum(len(ladder["rows"]) for ladder in after["ladders"]) == 12


def test_an_interrupt_on_a_full_disk_leaves_the_record_as_it_was(tmp_path: Path) -> None:
    for _ in mounted(disk := tmp_path / "disk", ["size=1m"]):
        process = start("run", *SLOWER, "--output", disk / "run")
        wait_for(path := disk / "run/run.json", process)
        while path.read_text(encoding="utf-8").count('"id": "cpu/') < 3:
            time.sleep(0.002)
        process.send_signal(signal.SIGSTOP)
        with open(disk / "ballast", "wb", buffering=0) as ballast, contextlib.suppress(OSError):
            while ballast.write(b"x" * 4096):
                pass
        before = record(disk / "run")
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGCONT)
        errors = process.communicate(timeout=30)[1]
        assert process.returncode == 130
        assert errors.splitlines()[1] == f"convladder: cannot write {path}: No space left on device"
        assert record(disk / "run") == before and os.listdir(disk / "run") == ["run.json"]
        (disk / "ballast").unlink()
        assert run("run", "--resume", disk / "run").returncode == 0 and record(disk / "run")["complete"]


def test_resuming_a_complete_run_does_nothing(tmp_path: Path) -> None:
    assert run("run", *FEW, "--output", tmp_path).returncode == 0
    before = (tmp_path / "run.json").read_bytes()
    done = run("run", "--resume", tmp_path, "--no-table")
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.endswith(f"{tmp_path}/run.json\n")
    assert (tmp_path / "run.json").read_bytes() == before


def interrupted(folder: Path, *arguments: object) -> dict[str, Any]:
    """A record whose last case is missing, as if the run had been killed before it."""
    assert run("run", *FEW, *arguments, "--output", folder).returncode == 0
    document = record(folder)
    lost = document["cases"].pop()
    document["complete"] = False
    document["ladders"] = []
    (folder / "run.json").write_text(json.dumps(document), encoding="utf-8")
    return record(folder)


@pytest.fixture(scope="module")
def half_done(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The text of such a record: one for all tests in which a resumed run measures nothing."""
    return json.dumps(interrupted(tmp_path_factory.mktemp("half_done")))


def test_resume_measures_what_is_missing_only(tmp_path: Path) -> None:
    before = interrupted(tmp_path)
    done = run("run", "--resume", tmp_path, "--no-table")
    assert done.returncode == 0 and done.stdout.endswith("run.json\n")
    after = record(tmp_path)
    assert_went_on(before, after)
    assert [one["session"] for one in after["cases"]] == [0, 0, 0, 1]
    (then,), (now,) = before["ceilings"], after["ceilings"]
    for old, new in zip(then["limits"], now["limits"]):
        assert new["samples"][:len(old["samples"])] == old["samples"] and len(new["samples"]) > len(old["samples"])
    assert len(after["context"]["sessions"]) == 2


def test_resume_leaves_the_settings_alone(tmp_path: Path, half_done: str) -> None:
    (tmp_path / "run.json").write_text(half_done, encoding="utf-8")
    before = (tmp_path / "run.json").read_bytes()
    for extra in (["--batch", "7"], ["--seed", "2"], ["--output", tmp_path / "x"], ["--benchmark_repetitions=9"],
                  ["--benchmark_filter=x"]):
        refused = run("run", "--resume", tmp_path, *extra)
        assert_refused(refused, str(extra[0]), "cannot be used with --resume")
    assert (tmp_path / "run.json").read_bytes() == before


def test_another_program_is_refused(tmp_path: Path, half_done: str) -> None:
    document = json.loads(half_done)
    document["context"]["program"]["commit"] = "0" * 40
    (tmp_path / "run.json").write_text(json.dumps(document), encoding="utf-8")
    assert_refused(run("run", "--resume", tmp_path), "cannot resume", "the program differs")


def test_another_host_is_refused(tmp_path: Path, half_done: str) -> None:
    document = json.loads(half_done)
    document["context"]["host"]["name"] = "elsewhere"
    (tmp_path / "run.json").write_text(json.dumps(document), encoding="utf-8")
    assert_refused(run("run", "--resume", tmp_path), "cannot resume", "the host differs", "elsewhere")


def test_another_plan_is_refused(tmp_path: Path, half_done: str) -> None:
    """The seeded program has more variants, and this run asked for all."""
    document = json.loads(half_done)
    document["context"]["options"]["variants"] = []
    (tmp_path / "run.json").write_text(json.dumps(document), encoding="utf-8")
    assert_refused(run("run", "--resume", tmp_path, program=SEEDED), "cannot resume", "the plan differs")


def test_other_data_is_refused(tmp_path: Path) -> None:
    data = write_idx(tmp_path / "data")
    interrupted(tmp_path / "run", "--data", data)
    write_idx(data, idx_images()[:-1] + b"\x00")
    assert_refused(run("run", "--resume", tmp_path / "run"), "cannot resume", "the data differs")
    write_idx(data)
    assert run("run", "--resume", tmp_path / "run").returncode == 0


DAMAGES = {
    "cut": (lambda text: text[:len(text) // 2], ["byte "]),
    "empty": (lambda text: "", ["byte "]),
    "quotes lost": (lambda text: text.replace('"cases"', "cases", 1), ["byte "]),
    "zeros": (lambda text: "\x00" * 100, ["byte "]),
    "no UTF-8": (lambda text: "\xff" + text, ["byte "]),
    "deep": (lambda text: "[" * 100000, ["more than 64 deep"]),
    "list": (lambda text: "[]", ["expected an object"]),
    "null": (lambda text: "null", ["expected an object"]),
    "nothing in it": (lambda text: "{}", ["schema_version: expected"]),
    "other schema": (lambda text: text.replace('"1.1"', '"9.9"', 1), ["schema_version", "9.9"]),
    "no plan": (lambda text: text.replace('"planned"', '"plan"', 1), ["planned"]),
    "no options": (lambda text: text.replace('"options"', '"choices"', 1), ["options"]),
    "seed is text": (lambda text: text.replace('"seed": 1', '"seed": "one"'), ["context: seed: expected"]),
    "batch is text": (lambda text: text.replace('"batches": [', '"batches": ["many",'), ["context: options: batches[0]: expected"]),
    "unknown name": (lambda text: text.replace('"families": [', '"families": ["gpu",'), ["unknown family 'gpu'"]),
    "negative batch": (lambda text: text.replace('"batches": [', '"batches": [-3,'), ["context: options: batches[0]: expected a whole number from 1"]),
}


@pytest.mark.parametrize("damage, words", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_record_is_one_line(tmp_path: Path, half_done: str, damage: Any, words: list[str]) -> None:
    (tmp_path / "run.json").write_text(damage(half_done), encoding="latin-1")
    damaged = (tmp_path / "run.json").read_bytes()
    line = assert_refused(run("run", "--resume", tmp_path), *words)
    assert str(tmp_path / "run.json") in line or "unknown family" in line
    assert (tmp_path / "run.json").read_bytes() == damaged, "not ours to mend"


def test_a_missing_record_is_one_line(tmp_path: Path) -> None:
    assert_refused(run("run", "--resume", tmp_path / "nowhere"), str(tmp_path / "nowhere/run.json"), "No such file")
    assert_refused(run("run", "--resume", tmp_path), str(tmp_path / "run.json"), "No such file")
    (tmp_path / "run.json").mkdir()
    assert_refused(run("run", "--resume", tmp_path), str(tmp_path / "run.json"))
