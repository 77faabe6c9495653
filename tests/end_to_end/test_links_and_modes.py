"""What stands in a record's place: links, modes, settings of somebody else's, names that steer a terminal."""

from __future__ import annotations

import copy
import json
import os
import stat
from pathlib import Path
from typing import Any, Callable, Iterator

import pytest

from conftest import SMALL, assert_refused, cases, mounted, record, run

FEW = ["--family", "cpu", "--variant", "local-accumulation,flat-vector", *SMALL, "--batch", "2,3"]
NETWORK = Path(__file__).with_name("tiny_network.json")


@pytest.fixture(scope="module")
def half_done(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A record whose last case is missing, as if the run had been killed before it."""
    folder = tmp_path_factory.mktemp("half")
    assert run("run", *FEW, "--output", folder).returncode == 0
    document = record(folder)
    lost = document["cases"].pop()
    document["complete"] = False
    for ladder in document["ladders"]:
        ladder["rows"] = [row for row in ladder["rows"] if row["case"] != lost["id"]]
    return document


def put(folder: Path, document: dict[str, Any]) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "run.json").write_text(json.dumps(document), encoding="utf-8")
    return folder / "run.json"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_nothing_is_written_through_a_link_beside_the_record(tmp_path: Path, half_done: dict[str, Any]) -> None:
    """A name that anybody can foresee may be a link to somebody's file."""
    (victim := tmp_path / "victim").write_text("mine")
    folder = tmp_path / "run"
    put(folder, half_done)
    for name in ("run.json.partial", ".run.json.partial", ".convladder.lock"):
        (folder / name).symlink_to(victim)
    assert run("run", "--resume", folder).returncode == 0
    assert victim.read_text() == "mine" and record(folder)["complete"]
    assert not (folder / "run.json").is_symlink()


def test_a_record_that_is_a_link_stays_one(tmp_path: Path, half_done: dict[str, Any]) -> None:
    target = put(tmp_path / "elsewhere", half_done)
    (folder := tmp_path / "run").mkdir()
    (folder / "run.json").symlink_to("../elsewhere/run.json")
    assert run("run", "--resume", folder).returncode == 0
    assert (folder / "run.json").is_symlink() and not target.is_symlink()
    assert record(folder)["complete"] and record(tmp_path / "elsewhere")["complete"]
    assert [path.name for path in folder.iterdir()] == ["run.json"]
    assert [path.name for path in target.parent.iterdir()] == ["run.json"]


def test_a_new_record_takes_no_links_place(tmp_path: Path) -> None:
    (folder := tmp_path / "run").mkdir()
    (folder / "run.json").symlink_to(tmp_path / "nothing")
    assert_refused(run("run", *FEW, "--output", folder), "already exists")
    assert_refused(run("run", "--resume", folder), "run.json", "No such file")
    assert not (tmp_path / "nothing").exists()
    (output := tmp_path / "out.json").symlink_to(tmp_path / "nothing")
    done = run("run", *FEW, "--quiet", "--output", tmp_path / "other", f"--benchmark_out={output}")
    assert_refused(done, f"cannot write {output}: it is a link to nothing")
    assert not (tmp_path / "nothing").exists() and record(tmp_path / "other")["complete"]


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Path]:
    yield from mounted(tmp_path / "disk", ["size=64k"])


def test_a_full_disk_behind_a_link(tmp_path: Path, tiny: Path, half_done: dict[str, Any]) -> None:
    target = put(tiny / "real", half_done)
    before = target.read_bytes()
    (folder := tmp_path / "run").mkdir()
    (folder / "run.json").symlink_to(target)
    with open(tiny / "ballast", "wb", buffering=0) as ballast:
        try:
            while ballast.write(b"x" * 4096):
                pass
        except OSError:
            pass
    assert_refused(run("run", "--resume", folder), f"cannot write {target}: No space left on device")
    assert target.read_bytes() == before
    assert [path.name for path in target.parent.iterdir()] == ["run.json"]
    (tiny / "ballast").unlink()
    assert run("run", "--resume", folder).returncode == 0 and record(folder)["complete"]


@pytest.mark.parametrize("umask, expected", [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664), (0o027, 0o640)])
def test_new_files_have_what_the_umask_allows(tmp_path: Path, umask: int, expected: int) -> None:
    folder = tmp_path / "run"
    done = run("run", *FEW, "--quiet", "--output", folder, f"--benchmark_out={tmp_path}/google.json", umask=umask)
    assert done.returncode == 0
    assert mode(folder / "run.json") == mode(tmp_path / "google.json") == expected
    assert mode(folder) == 0o777 & ~umask
    done = run("history", folder, "--format", "json", "--output", tmp_path / "history.json", umask=umask)
    assert done.returncode == 0
    assert mode(tmp_path / "history.json") == mode(folder / "history-index.jsonl") == expected


@pytest.mark.parametrize("kept", [0o600, 0o640, 0o664, 0o755])
def test_a_resumed_record_keeps_its_mode(tmp_path: Path, half_done: dict[str, Any], kept: int) -> None:
    put(tmp_path, half_done).chmod(kept)
    assert run("run", "--resume", tmp_path, umask=0o022).returncode == 0
    assert mode(tmp_path / "run.json") == kept and record(tmp_path)["complete"]


def test_a_resumed_record_keeps_its_owner(tmp_path: Path, half_done: dict[str, Any]) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root may give files away")
    os.chown(put(tmp_path, half_done), 12345, 54321)
    assert run("run", "--resume", tmp_path).returncode == 0
    about = (tmp_path / "run.json").stat()
    assert (about.st_uid, about.st_gid) == (12345, 54321)


def test_what_a_killed_writer_left_is_removed_and_nothing_else(tmp_path: Path, half_done: dict[str, Any]) -> None:
    put(tmp_path, half_done)
    left = tmp_path / f".run.json.{'0123456789abcdef'}.partial"
    others = [".run.json.0123.partial", ".run.json.0123456789abcdeg.partial", "run.json.0123456789abcdef.partial",
              ".other.json.0123456789abcdef.partial"]
    for name in (left.name, *others):
        (tmp_path / name).write_text("{")
    assert run("run", "--resume", tmp_path).returncode == 0
    assert {path.name for path in tmp_path.iterdir()} == {"run.json", *others}


def test_a_file_that_is_the_standard_output(tmp_path: Path) -> None:
    """It is not replaced under the shell's feet."""
    with open(tmp_path / "all", "w", encoding="utf-8") as output:
        done = run("run", *FEW, "--quiet", "--output", tmp_path / "run", "--benchmark_out=/dev/stdout",
                   capture_output=False, stdout=output, stderr=-1)
    assert (done.returncode, done.stderr) == (0, "")
    text = (tmp_path / "all").read_text(encoding="utf-8")
    document, end = json.JSONDecoder().raw_decode(text)
    assert len(document["benchmarks"]) > 4 and text[end:].strip() == f"{tmp_path}/run/run.json"
    done = run("run", *FEW, "--quiet", "--output", tmp_path / "piped", "--benchmark_out=/dev/stdout")
    assert done.returncode == 0 and json.JSONDecoder().raw_decode(done.stdout)[0]["benchmarks"]


SETTINGS = {
    "repetitions": [-1, 0, 2.5, 1e300, True, "3", 100001, 2**64, [3]],
    "sample_milliseconds": [1e300, 0, -1, "5", None, True],
    "budget_seconds": [-1, 1e7, "1", None],
    "target_half_width": [-0.1, 1.5, None],
    "timeout_seconds": [0, 0.01, 1e9, "60", True],
    "max_samples": [0, -5, 1.5, 10**9, None],
    "profile_calls": [0, -1, 1.5, 10**9],
    "seed": [-1, 1.5, True, "1", 2**64],
    "batches": [[0], [1.5], [True], [10**9], 3, ["3"], [-3]],
    "shapes": [[[1, 2, 3]], [[1, 8, 8, 2, 3, 1, 0, 1, 1.5]], [["a"] * 9], [[2**40] * 9], "no"],
    "isolate": [0, "process", None],
    "families": ["cpu", [1], None],
    "case_filter": [1, None],
    "data_folder": [1, None],
    "google_benchmark_flags": [["--benchmark_out=FILE"], ["--benchmark_out_format=json"], ["--benchmark_format=json"],
                               ["--benchmark_filter=x"], ["--benchmark_list_tests=true"], ["--help"], ["FILE"],
                               ["--benchmark_min_time=1"], "--benchmark_out=FILE", [1]],
}


@pytest.mark.parametrize("name", SETTINGS)
def test_a_record_is_no_way_around_the_command_line(tmp_path: Path, half_done: dict[str, Any], name: str) -> None:
    for value in SETTINGS[name]:
        document = copy.deepcopy(half_done)
        document["context"]["options"][name] = json.loads(json.dumps(value).replace("FILE", str(tmp_path / "victim")))
        before = put(tmp_path, document).read_bytes()
        line = assert_refused(run("run", "--resume", tmp_path))
        assert f"context: options: {name}" in line or "beyond the range" in line, (value, line)
        assert len(line) < 600
        assert (tmp_path / "run.json").read_bytes() == before
        assert [path.name for path in tmp_path.iterdir()] == ["run.json"], value


@pytest.mark.parametrize("change, words", [
    (lambda run: run["cases"][0].update(id="cpu/x/shape.C1H8W8M2K3/2"), ["id: expected"]),
    (lambda run: run["planned"].pop(0), ["is recorded but was not planned"]),
    (lambda run: run["cases"].append(run["cases"][0]), ["occurs twice"]),
    (lambda run: run["cases"][0]["time"].update(samples=[-1]), ["samples[0]"]),
    (lambda run: run["context"].update(sessions="none"), ["run.json"]),
    (lambda run: run["ceilings"][0]["limits"].append(run["ceilings"][0]["limits"][0]), ["ceilings[0]: limits[3]: name: occurs twice"]),
], ids=["id", "plan", "twice", "sample", "sessions", "ceilings"])
def test_what_a_resumed_record_holds_is_checked(tmp_path: Path, half_done: dict[str, Any],
                                                change: Callable[[dict[str, Any]], Any], words: list[str]) -> None:
    document = copy.deepcopy(half_done)
    change(document)
    before = put(tmp_path, document).read_bytes()
    assert_refused(run("run", "--resume", tmp_path), *words)
    assert (tmp_path / "run.json").read_bytes() == before


def test_a_difference_is_one_short_line(tmp_path: Path, half_done: dict[str, Any]) -> None:
    for place, value in (("program", {"compiler_flags": "x" * 1_000_000}), ("cpu", {"m" * 1_000_000: 1}),
                         ("program", {"ptx": [{"name": "y" * 1_000_000}]}), ("host", {"name": "\x1b[31m" + "z" * 99999})):
        document = copy.deepcopy(half_done)
        document["context"][place] = {**document["context"][place], **value}
        put(tmp_path, document)
        line = assert_refused(run("run", "--resume", tmp_path), "cannot resume", "differs")
        assert len(line) < 500 and "\x1b" not in line
    document = copy.deepcopy(half_done)
    document["planned"].append("cpu/flat-vector/" + "n" * 1_000_000)
    put(tmp_path, document)
    assert len(assert_refused(run("run", "--resume", tmp_path))) < 600


EVIL = "x\x1b[31m\x9b\u202ered\x07"
STEERING = ["\x1b", "\x9b", "\u202e", "\x07"]


def assert_steers_nothing(*arguments: object, **options: Any) -> None:
    done = run(*arguments, errors="surrogateescape", **options)
    assert done.returncode in (0, 1, 2, 3, 4), done
    for text in (done.stdout, done.stderr):
        assert not any(one in text for one in STEERING), text
    assert done.returncode != 3 or len(done.stderr.splitlines()) <= 2


def test_names_of_files_steer_no_terminal(tmp_path: Path) -> None:
    folder = tmp_path / EVIL
    assert_steers_nothing("run", *FEW, "--output", folder)
    assert record(folder)["complete"], "it is that folder, whatever is printed"
    for arguments in (["run", *FEW, "--output", folder], ["run", "--resume", folder], ["history", folder, "--no-index"],
                      ["history", tmp_path / f"{EVIL}2"], ["compare", folder / "run.json", folder / "run.json"],
                      ["explain", folder / "run.json"], ["run", "--data", folder], ["run", "--variant", EVIL],
                      ["run", f"--{EVIL}"], [EVIL], ["duel", "--base", folder], ["simulate", tmp_path / f"{EVIL}.ptx"],
                      ["report", tmp_path / f"{EVIL}3"],
                      ["network", "--network", tmp_path / f"{EVIL}.json"],
                      ["fused", "--network", "lenet28", "--layer", EVIL], ["sweep", "--variant", EVIL],
                      ["run", *FEW, "--output", tmp_path / f"{EVIL}4", "--benchmark_format=console"]):
        assert_steers_nothing(*arguments, cwd=tmp_path)


def test_names_that_are_no_utf8(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/\xff\x9b"
    assert_steers_nothing("run", *FEW, "--output", os.fsdecode(folder))
    assert Path(os.fsdecode(folder) + "/run.json").exists()


def test_names_in_files_steer_no_terminal(tmp_path: Path, half_done: dict[str, Any]) -> None:
    def steered(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: steered(one) for name, one in value.items()}
        if isinstance(value, list):
            return [steered(one) for one in value]
        return value + EVIL if isinstance(value, str) else value

    for part in ("context", "variants", "ladders", "ceilings", "cases"):
        put(tmp_path / "other", {**half_done, part: steered(half_done[part])})
        put(tmp_path / "one", half_done)
        for arguments in (["run", "--resume", tmp_path / "other"], ["history", tmp_path / "other", "--no-index"],
                          ["explain", tmp_path / "other/run.json"],
                          ["compare", tmp_path / "other/run.json", tmp_path / "one/run.json"],
                          ["compare", tmp_path / "one/run.json", tmp_path / "other/run.json", "--format", "markdown"]):
            assert_steers_nothing(*arguments)
    put(tmp_path / "drawn", {**half_done, "ladders": steered(half_done["ladders"])})
    assert_steers_nothing("report", tmp_path / "drawn/run.json")
    network = json.loads(NETWORK.read_text(encoding="utf-8"))
    network["name"] += EVIL
    network["layers"][0]["name"] += EVIL
    (tmp_path / "network.json").write_text(json.dumps(network), encoding="utf-8")
    assert_steers_nothing("network", "--network", tmp_path / "network.json", "--weights", "random", "--batch", "1",
                          "--repetitions", "1", "--output", tmp_path / "evil")
    assert cases(json.loads((tmp_path / "evil/network.json").read_text(encoding="utf-8"))), "and it is recorded as it is"
