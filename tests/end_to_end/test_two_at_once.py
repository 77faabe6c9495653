"""Two or three programs at once, and kills in between: nothing is lost, and nothing is measured beside another one.

CONVLADDER_TEST_PAIRS says how many pairs of each kind (default 1, and 5 with scripts/test.sh --all), CONVLADDER_TEST_SEED at
which moments."""

from __future__ import annotations

import copy
import json
import os
import random
import shutil
import struct
import subprocess
import time
from pathlib import Path
from typing import Any, Iterator

import pytest

from conftest import ALL, SMALL, cases, left_behind, record, run, start, wait_for
from validate_record import complaints

PAIRS = int(os.environ.get("CONVLADDER_TEST_PAIRS", "5" if ALL else "1"))
SEED = int(os.environ.get("CONVLADDER_TEST_SEED", random.SystemRandom().randrange(2**32)))
NETWORK = Path(__file__).with_name("tiny_network.json")
FEW = ["--family", "cpu", "--variant", "local-accumulation,flat-vector", *SMALL, "--batch", "2,3"]
NETWORK_RUN = ["network", "--network", NETWORK, "--weights", "random", "--batch", "1", "--repetitions", "1"]
SWEEP_RUN = ["sweep", "--variant", "implicit-gemm", "--device", "cpu", "--batch", "2", "--repetitions", "3", "--limit", "2"]
SWEPT = ["--shape", "2,9,9,4,3"]
BUSY = "another convladder is writing into this folder"
THERE = "already exists"
PLENTY = 100  # seconds

Ended = tuple[int, str, str]
"""Exit code, standard output, standard error."""


@pytest.fixture(params=range(PAIRS))
def moments(request: pytest.FixtureRequest) -> random.Random:
    """Another one for each pair; shown when the test fails."""
    print(f"CONVLADDER_TEST_SEED={SEED} CONVLADDER_TEST_PAIRS={PAIRS}")
    return random.Random(f"{SEED} {request.node.originalname} {request.param}")


def at_once(commands: list[list[Any]], moments: random.Random, kill: bool = False, **options: Any) -> list[Ended]:
    """Starts all within some milliseconds and waits for their ends; kills the first one at a random moment, if asked."""
    processes = []
    for command in commands:
        processes.append(start(*command, stdout=subprocess.PIPE, **options))
        time.sleep(moments.choice([0, 0, 0.005, 0.05]))
    if kill:
        time.sleep(moments.uniform(0, 0.3))
        processes[0].kill()
    ended = []
    for process in processes:
        out, errors = process.communicate(timeout=PLENTY)
        ended.append((process.returncode, out, errors))
    deadline = time.monotonic() + 5
    while left_behind() and time.monotonic() < deadline:
        time.sleep(0.01)
    return ended


def assert_refused_or_done(ended: list[Ended], *reasons: str) -> list[Ended]:
    """Who did not succeed and was not killed said why in one line, before anything was measured. Returns who did."""
    for code, out, errors in ended:
        if code == 3:
            assert out == "" and len(errors.splitlines()) == 1 and any(one in errors for one in reasons), errors
        else:
            assert code in (0, -9) and errors == "", (code, errors)
    return [one for one in ended if one[0] == 0]


def assert_whole(folder: Path) -> dict[str, Any]:
    """The record of FEW, complete, and nothing beside it."""
    document = record(folder)
    assert document["complete"] and set(cases(document)) == set(document["planned"])
    assert {one["status"] for one in document["cases"]} == {"ok"}
    assert [path.name for path in folder.iterdir()] == ["run.json"]
    return document


@pytest.fixture(scope="module")
def half_done(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A record whose last two cases are missing, as if the run had been killed before them."""
    folder = tmp_path_factory.mktemp("half")
    assert run("run", *FEW, "--output", folder).returncode == 0
    document = record(folder)
    lost = {document["cases"].pop()["id"] for _ in range(2)}
    document["complete"] = False
    for ladder in document["ladders"]:
        ladder["rows"] = [row for row in ladder["rows"] if row["case"] not in lost]
    document["ladders"] = [ladder for ladder in document["ladders"] if ladder["rows"]]
    return document


@pytest.mark.parametrize("kill", [False, True])
def test_two_runs_into_one_folder(tmp_path: Path, moments: random.Random, kill: bool) -> None:
    folder = tmp_path / "run"
    done = assert_refused_or_done(at_once([["run", *FEW, "--output", folder]] * 2, moments, kill), BUSY, THERE)
    assert kill or len(done) == 1
    if not done:  # the one that wrote was killed, the other one refused
        again = ["--resume", folder] if (folder / "run.json").exists() else [*FEW, "--output", folder]
        assert run("run", *again).returncode == 0
    document = assert_whole(folder)
    assert not done or len(document["context"]["sessions"]) == 1


@pytest.mark.parametrize("kill", [False, True])
def test_three_runs_without_a_folder_in_the_same_second(tmp_path: Path, moments: random.Random, kill: bool) -> None:
    ended = at_once([["run", *FEW, "--quiet"]] * 3, moments, kill, cwd=tmp_path)
    done = assert_refused_or_done(ended)
    assert len(done) >= (2 if kill else 3)
    files = {tmp_path / out.strip() for _, out, _ in done}
    assert len(files) == len(done), "each has a folder of its own"
    for file in files:
        assert_whole(file.parent)


@pytest.mark.parametrize("kill", [False, True])
def test_two_resumes(tmp_path: Path, moments: random.Random, kill: bool, half_done: dict[str, Any]) -> None:
    (tmp_path / "run.json").write_text(json.dumps(half_done), encoding="utf-8")
    done = assert_refused_or_done(at_once([["run", "--resume", tmp_path]] * 2, moments, kill), BUSY)
    assert kill or done
    if not done:
        assert run("run", "--resume", tmp_path).returncode == 0
    after = assert_whole(tmp_path)
    assert {id_: cases(after)[id_] for id_ in cases(half_done)} == cases(half_done), "measured again"
    assert len(after["context"]["sessions"]) == 2 or kill
    sessions = [one["session"] for one in after["cases"] if one["id"] not in cases(half_done)]
    assert set(sessions) <= set(range(1, len(after["context"]["sessions"])))


@pytest.mark.parametrize("kill", [False, True])
def test_a_run_and_a_resume(tmp_path: Path, moments: random.Random, kill: bool) -> None:
    folder = tmp_path / "run"
    first = start("run", *FEW, "--output", folder, stdout=subprocess.PIPE)
    wait_for(folder / "run.json", first)
    time.sleep(moments.uniform(0, 0.1))
    second = start("run", "--resume", folder, stdout=subprocess.PIPE)
    if kill:
        first.kill()
    ended = [(one.returncode, *texts) for one in (first, second) for texts in [one.communicate(timeout=PLENTY)]]
    done = assert_refused_or_done(ended, BUSY)
    assert kill or done
    if not done:
        assert run("run", "--resume", folder).returncode == 0
    assert_whole(folder)


def test_counts_on_disk_never_go_back(tmp_path: Path, moments: random.Random, half_done: dict[str, Any]) -> None:
    """Seen by a reader, all the while two resume."""
    (tmp_path / "run.json").write_text(json.dumps(half_done), encoding="utf-8")
    processes = [start("run", "--resume", tmp_path) for _ in range(2)]
    seen: set[str] = set(cases(half_done))
    while any(one.poll() is None for one in processes):
        now = set(cases(json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))))
        assert seen <= now
        seen = now
        time.sleep(moments.uniform(0, 0.01))
    for one in processes:
        one.communicate()
    assert_whole(tmp_path)


@pytest.mark.parametrize("what, arguments, file", [
    ("network", NETWORK_RUN, "network.json"),
    ("sweep", [*SWEEP_RUN, *SWEPT], "sweep.json")], ids=["network", "sweep"])
@pytest.mark.parametrize("kill", [False, True])
def test_two_of_another_kind(tmp_path: Path, moments: random.Random, what: str, arguments: list[Any], file: str,
                             kill: bool) -> None:
    done = assert_refused_or_done(at_once([[*arguments, "--output", tmp_path / "one"]] * 2, moments, kill), BUSY, THERE)
    assert kill or len(done) == 1
    if (tmp_path / "one" / file).exists():
        assert complaints(tmp_path / "one" / file) == []
        document = json.loads((tmp_path / "one" / file).read_text(encoding="utf-8"))
        assert document["complete"] or not done
    (tmp_path / "here").mkdir()
    done = assert_refused_or_done(at_once([arguments] * 2, moments, kill, cwd=tmp_path / "here"))
    files = {(tmp_path / "here" / out.splitlines()[-1]) for _, out, _ in done}
    assert len(files) == len(done) >= (1 if kill else 2), what
    for path in files:
        assert json.loads(path.read_text(encoding="utf-8"))["complete"]


def test_a_run_beside_a_network_in_one_folder(tmp_path: Path, moments: random.Random) -> None:
    ended = at_once([["run", *FEW, "--output", tmp_path], [*NETWORK_RUN, "--output", tmp_path]], moments)
    assert assert_refused_or_done(ended, BUSY)


@pytest.mark.parametrize("kill", [False, True])
def test_two_sweeps_keep_each_others_entries(tmp_path: Path, moments: random.Random, kill: bool) -> None:
    (tables := tmp_path / "tables").mkdir()
    shapes = ["2,9,9,4,3", "2,8,8,4,3", "3,9,9,4,3"]
    commands = [[*SWEEP_RUN, "--shape", shape, "--update-table", "--tables", tables, "--output", tmp_path / shape]
                for shape in shapes]
    done = assert_refused_or_done(at_once(commands, moments, kill))
    (table,) = [path for path in tables.iterdir() if not path.name.startswith(".")]
    found = {entry["shape"] for entry in json.loads(table.read_text(encoding="utf-8"))["entries"]}
    assert found >= {"C2H8W8M4K3", "C3H9W9M4K3"} and (kill or len(found) == len(done) == 3)
    assert kill or [path.name for path in tables.iterdir()] == [table.name]


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What three updates, one after the other, make of each variant."""
    folder = tmp_path_factory.mktemp("baseline")
    done = run(*update(folder, "global-memory,shared-memory,compile-time"))
    if "no PTX in this build" in done.stderr:
        pytest.skip("no PTX in this build")
    assert done.returncode == 0, done
    return entries(folder)


def update(folder: Path, variants: str) -> list[Any]:
    return ["baseline", "update", "--folder", folder, "--network", NETWORK, "--variant", variants]


def entries(folder: Path) -> dict[str, str]:
    """The cases of the file as text, by compiler, layer and variant."""
    document = json.loads((folder / "tiny.json").read_text(encoding="utf-8"))
    return {f"{one['compiler']} {one['layer']} {one['variant']}": json.dumps(one) for one in document["cases"]}


@pytest.mark.parametrize("kill", [False, True])
def test_three_baseline_updates(tmp_path: Path, moments: random.Random, kill: bool, counted: dict[str, str]) -> None:
    variants = ["global-memory", "shared-memory", "compile-time"]
    ended = at_once([update(tmp_path, variant) for variant in variants], moments, kill)
    assert all((code, errors) == (0, "") for code, _, errors in ended[1:]), ended
    if kill:
        assert run(*update(tmp_path, variants[0])).returncode == 0
    assert entries(tmp_path) == counted
    assert [path.name for path in tmp_path.iterdir()] == ["tiny.json"], "what the kill left is gone"


@pytest.mark.parametrize("kill", [False, True])
def test_two_trainings(tmp_path: Path, moments: random.Random, kill: bool) -> None:
    command = ["train", "--network", "lenet28", "--images", "60", "--test-images", "0:20", "--epochs", "1", "--quiet"]
    ended = at_once([command] * 2, moments, kill, env=os.environ | {"XDG_CACHE_HOME": str(tmp_path)})
    if any("without oneDNN" in errors for _, _, errors in ended):
        pytest.skip("this build has no oneDNN")
    assert assert_refused_or_done(ended)
    folder = tmp_path / "convladder/weights"
    content = (folder / "lenet28-synthetic-high.safetensors").read_bytes()
    (length,) = struct.unpack_from("<Q", content)
    ends = [entry["data_offsets"][1] for name, entry in json.loads(content[8:8 + length]).items() if name[0] != "_"]
    assert len(content) == 8 + length + max(ends), "whole"
    assert kill or len(list(folder.iterdir())) == 1


@pytest.mark.parametrize("kill", [False, True])
def test_two_histories(tmp_path: Path, moments: random.Random, kill: bool, half_done: dict[str, Any]) -> None:
    for number in range(8):
        document = copy.deepcopy(half_done)
        document["context"]["date"] = f"2026-01-0{number + 1}T00:00:00Z"
        (folder := tmp_path / f"r{number}").mkdir()
        (folder / "run.json").write_text(json.dumps(document), encoding="utf-8")
    expected = run("history", tmp_path, "--no-index").stdout
    done = assert_refused_or_done(
        at_once([["history", tmp_path, "--format", "json", "--output", tmp_path / "history.json"]] * 2, moments, kill))
    assert expected and {out for _, out, _ in done} == {""}  # what they say is in the file
    json.loads((tmp_path / "history.json").read_text(encoding="utf-8"))
    again = run("history", tmp_path)
    assert (again.returncode, again.stdout, again.stderr) == (0, expected, "")
    lines = (tmp_path / "history-index.jsonl").read_text(encoding="utf-8").splitlines()
    whole = [line for line in lines if line.endswith("}")]
    assert {json.loads(line)["path"] for line in whole} == {str(tmp_path / f"r{i}/run.json") for i in range(8)}
    assert kill or whole == lines


def test_two_reports(tmp_path: Path, moments: random.Random, half_done: dict[str, Any]) -> None:
    (tmp_path / "run.json").write_text(json.dumps(half_done), encoding="utf-8")
    ended = at_once([["report", tmp_path / "run.json"]] * 2, moments)
    if any("there is no Python module" in errors for _, _, errors in ended):
        pytest.skip("no report can be made here")
    assert len(assert_refused_or_done(ended)) == 2
    assert (tmp_path / "report.html").read_text(encoding="utf-8").rstrip().endswith("</html>")
    assert {path.name for path in tmp_path.iterdir()} == {"run.json", "report.html"}


NO_FOLDER_LOCKS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <sys/stat.h>
int flock(int descriptor, int how) {
  struct stat about;
  if (fstat(descriptor, &about) == 0 && S_ISDIR(about.st_mode)) {
    errno = EBADF;
    return -1;
  }
  return ((int (*)(int, int))dlsym(RTLD_NEXT, "flock"))(descriptor, how);
}
"""


@pytest.fixture(scope="module")
def no_folder_locks(tmp_path_factory: pytest.TempPathFactory, sanitized: bool) -> Iterator[dict[str, str]]:
    """An environment in which folders cannot be locked, as on NFS."""
    folder = tmp_path_factory.mktemp("preloaded")
    if sanitized or not (compiler := shutil.which("cc") or shutil.which("clang")):
        pytest.skip("nothing can be put before the program's calls")
    (folder / "locks.c").write_text(NO_FOLDER_LOCKS)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", folder / "locks.so", folder / "locks.c", "-ldl"], check=True)
    yield os.environ | {"LD_PRELOAD": str(folder / "locks.so")}


def test_where_folders_cannot_be_locked(tmp_path: Path, moments: random.Random, half_done: dict[str, Any],
                                        no_folder_locks: dict[str, str]) -> None:
    """A file is locked, and gone afterwards; a killed run's file is in nobody's way."""
    (tmp_path / "run.json").write_text(json.dumps(half_done), encoding="utf-8")
    (tmp_path / ".convladder.lock").touch()
    ended = at_once([["run", "--resume", tmp_path]] * 2, moments, env=no_folder_locks)
    assert assert_refused_or_done(ended, BUSY)
    assert {id_: cases(assert_whole(tmp_path))[id_] for id_ in cases(half_done)} == cases(half_done)
