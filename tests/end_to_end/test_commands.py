"""The command line as a whole: help, exit codes, --format, --output, --case and --dry-run alike everywhere."""

from __future__ import annotations

import json
import os
import pty
import re
import time
from pathlib import Path
from typing import Callable

import pytest

from conftest import PROGRAM, SEEDED, SMALL, assert_refused, run, start

TINY = ["--shape", "1,8,8,2,3", "--batch", "2"]


def commands() -> list[str]:
    """The names in the help."""
    listed = run().stdout.split("\nexamples:")[0]
    return re.findall(r"^  ([a-z][a-z-]*)  +\S", listed, re.MULTILINE)


def test_help_without_a_word_and_of_each_command() -> None:
    alone = run()
    assert (alone.returncode, alone.stderr) == (0, "")
    assert alone.stdout == run("help").stdout == run("--help").stdout
    assert {"list", "run", "network", "compare", "report", "help"} <= set(commands())
    groups = re.split(r"^\S.*:$", alone.stdout.split("\nexamples:")[0], flags=re.MULTILINE)
    sizes = [len(re.findall(r"^  [a-z][a-z-]*  +\S", group, re.MULTILINE)) for group in groups]
    assert max(sizes) <= 8 and sum(sizes) <= 24, "few enough to be read"
    for command in set(commands()) - {"help"}:
        done = run("help", command)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == run(command, "--help").stdout
        assert f"convladder {command}" in done.stdout
    assert_refused(run("help", "rnu"), "unknown command 'rnu'; known: rank, run,")


def test_a_buffer_of_simulate_is_saved(tmp_path: Path) -> None:
    assert_refused(run("simulate", "x.ptx", "--output", "y=y.npy"), "--save NAME=FILE")


@pytest.mark.parametrize("command", ["run", "network", "sweep", "duel", "profile", "history"])
def test_values_of_a_list_are_separated_by_commas(command: str) -> None:
    words = {"history": ["."], "network": ["--network", "lenet28"], "profile": ["--network", "lenet28"]}.get(command, [])
    if command == "profile":
        pytest.skip("a word is a record there")
    if command == "history":
        pytest.skip("words are folders there")
    assert_refused(run(command, *words, "--batch", "10", "100"),
                   "separate the values of --batch with commas: --batch 10,100")
    assert_refused(run(command, *words, "--device=cpu", "cuda"), "--device cpu,cuda")


@pytest.mark.parametrize("command", ["run", "compare", "history", "train", "simulate", "list", "sweep"])
def test_a_wrong_option_names_the_help_of_its_command(command: str) -> None:
    assert_refused(run(command, "--frobnicate"), "unknown option '--frobnicate'", f"(see 'convladder {command} --help')")


def test_a_missing_word_names_the_help_of_its_command() -> None:
    assert_refused(run("compare"), "BASE.json is required", "(see 'convladder compare --help')")
    assert_refused(run("compare", "a.json", "b.json", "--format", "xml"), "unknown format 'xml'; known: ",
                   "(see 'convladder compare --help')")


def test_an_unknown_variant_has_the_nearest_names_only() -> None:
    line = assert_refused(run("run", "--variant", "compiletime"), "known: compile-time,", " more")
    assert len(line) < 160


@pytest.mark.parametrize("command", ["run", "network", "sweep", "duel", "check"])
def test_the_help_names_the_simulated_device_and_the_choice_of_cases(command: str) -> None:
    text = run(command, "--help").stdout
    assert "--case " in text and "--dry-run" in text
    if command != "check":
        assert re.search(r"--device .*(\n +.*)?simulated", text), text


DRY = {
    "run": [*TINY, "--variant", "flat-vector"],
    "network": ["--network", "lenet28", "--batch", "2", "--variant", "flat-vector", "--device", "cpu"],
    "sweep": ["--variant", "implicit-gemm", "--device", "cpu", *TINY],
    "duel": ["--extra-work", "1", "--variant", "flat-vector", *TINY],
    "check": ["--variant", "shared-memory", *TINY],
}


@pytest.mark.parametrize("command", DRY)
def test_a_dry_run_names_the_cases_and_writes_nothing(command: str, tmp_path: Path) -> None:
    done = run(command, *DRY[command], "--dry-run", cwd=tmp_path)
    if "simulated device: " in done.stderr:
        pytest.skip("no PTX in this build")
    assert (done.returncode, done.stderr) == (0, "")
    ids = re.findall(r"^(?:cpu|simulated)/\S+/\S+", done.stdout, re.MULTILINE)
    assert ids and list(tmp_path.iterdir()) == []
    one = re.escape(ids[0].rstrip(":"))
    again = run(command, *DRY[command], "--dry-run", "--case", f"^{one}$", cwd=tmp_path)
    assert again.returncode == 0, again
    found = re.findall(r"^(?:cpu|simulated)/\S+/\S+", again.stdout, re.MULTILINE)
    assert {name.rstrip(":") for name in found} == {ids[0].rstrip(":")}
    assert_refused(run(command, *DRY[command], "--dry-run", "--case", "no such case", cwd=tmp_path), "remains")
    assert_refused(run(command, *DRY[command], "--case", "[", cwd=tmp_path), "'[' is not a regular expression")


READERS = {"list": ["list"], "machine": ["list", "--machine"], "metrics": ["list", "--metrics"],
           "published": ["list", "--published"]}


@pytest.mark.parametrize("words", READERS.values(), ids=READERS)
def test_what_is_printed_can_be_written(words: list[str], tmp_path: Path) -> None:
    printed = run(*words, "--format", "json")
    done = run(*words, "--format", "json", "--output", tmp_path / "x.json")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    written = (tmp_path / "x.json").read_text(encoding="utf-8")
    assert json.loads(written).keys() == json.loads(printed.stdout).keys() if written.startswith("{") else written
    assert_refused(run(*words, "--output", tmp_path / "none/x"), "--output", "is not a folder")
    assert_refused(run(*words, "--output", "/proc/x"), "cannot write /proc/x")


def test_a_stage_says_why_it_has_no_launches() -> None:
    done = run("list", "--launches", "--variant", "compile-time", "--shape", "3,50,50,7,9")
    if "unknown variant" in done.stderr:
        pytest.skip("no cuda family in this build")
    assert_refused(done, "compile-time on shape.C3H50W50M7K9", "kernel 9")


def test_a_baseline_that_is_not_there_is_said_at_once(tmp_path: Path) -> None:
    begin = time.monotonic()
    assert_refused(run("baseline", "check", cwd=tmp_path), "results/baseline: no such folder")
    assert time.monotonic() - begin < 10


def test_a_run_is_no_record_of_networks(tmp_path: Path) -> None:
    assert run("run", *SMALL, "--batch", "2", "--variant", "flat-vector", "--quiet", "--output",
               tmp_path).returncode == 0
    line = assert_refused(run("profile", tmp_path / "run.json"), "not a record of 'convladder network'")
    assert "json.exception" not in line and "convladder run" in line


@pytest.mark.parametrize("file", ["/proc/x", "no/such/folder/x"])
def test_training_asks_first_whether_it_can_write(file: str, tmp_path: Path) -> None:
    begin = time.monotonic()
    assert_refused(run("train", "--network", "lenet28", "--images", "64", "--epochs", "500", "--output", file,
                       cwd=tmp_path), "cannot write", file)
    assert time.monotonic() - begin < 20


def test_weights_of_low_accuracy_are_not_called_high(tmp_path: Path) -> None:
    done = run("train", "--network", "lenet28", "--images", "64", "--epochs", "1", "--quiet", "--output", tmp_path / "w")
    assert done.returncode == 0, done
    assert "high quality" not in done.stdout and re.search(r"accuracy 0\.\d+ .*, which is not high", done.stdout)


def on_a_terminal(*arguments: object, until: str) -> str:
    """What a terminal shows until the text comes; the program is then ended."""
    master, slave = pty.openpty()
    process = start(*arguments, stdout=slave, stderr=slave)
    os.close(slave)
    shown = ""
    try:
        while until not in shown:
            shown += os.read(master, 4096).decode("utf-8", "replace")
    except OSError:
        pass  # it has ended
    process.kill()
    process.wait()
    os.close(master)
    return shown


@pytest.mark.parametrize("arguments", [
    ["network", "--network", "lenet72", "--device", "cpu", "--batch", "20,40", "--variant", "best"],
    ["check", "--variant", "shared-memory", "--layer", "lenet72.conv1"],
    ["baseline", "check", "--network", "lenet28", "--folder", "."]], ids=["network", "check", "baseline"])
def test_no_time_left_is_shown_before_any_is_known(arguments: list[str], tmp_path: Path) -> None:
    if arguments[0] == "network":
        arguments = [*arguments, "--output", str(tmp_path)]
    shown = on_a_terminal(*arguments, until="]")
    assert "about 0" not in shown, shown


PTX = """.version 8.0
.target sm_75
.address_size 64
.extern .func (.param .b32 result) elsewhere (.param .b64 format);
.visible .entry chatty() { { .param .b64 p; .param .b32 r; call.uni (r), elsewhere, (p); } ret; }
.visible .entry plain() { ret; }
"""


def test_only_what_the_chosen_kernel_calls_matters(tmp_path: Path) -> None:
    (tmp_path / "k.ptx").write_text(PTX, encoding="utf-8")
    done = run("simulate", tmp_path / "k.ptx", "--entry", "plain")
    assert (done.returncode, done.stderr) == (0, "")
    refused = run("simulate", tmp_path / "k.ptx", "--entry", "chatty")
    assert_refused(refused, "k.ptx:5:60:", "'elsewhere' is called but not defined")
    shown = run("simulate", tmp_path / "k.ptx", "--list").stdout
    assert "line 5: the function 'elsewhere' is called but not defined" in shown


# --- exit codes ---------------------------------------------------------------------------------------------------

def recorded(folder: Path, *arguments: object, program: Path = PROGRAM) -> Path:
    """The run.json of a small run."""
    run("run", *SMALL, "--batch", "2", "--quiet", "--output", folder, *arguments, program=program)
    return folder / "run.json"


def without_a_case(path: Path, to: Path) -> Path:
    """The record without its last case."""
    document = json.loads(path.read_text(encoding="utf-8"))
    gone = document["cases"].pop()["id"]
    document["planned"].remove(gone)
    to.write_text(json.dumps(document), encoding="utf-8")
    return to


def ok_of_run(folder: Path) -> list[object]:
    return ["run", *SMALL, "--batch", "2", "--variant", "flat-vector", "--quiet", "--output", folder / "r"]


def failed_run(folder: Path) -> list[object]:
    return ["run", *SMALL, "--batch", "2", "--variant", "seeded-border", "--quiet", "--output", folder / "r"]


def failed_duel(folder: Path) -> list[object]:
    return ["duel", "--base-variant", "seeded-correct", "--new-variant", "seeded-border", "--shape", "3,13,11,5,3,1,1",
            "--batch", "5", "--rounds", "13", "--quiet"]


def missing_in_duel(folder: Path) -> list[object]:
    return ["duel", "--base", SEEDED, "--new", PROGRAM, "--variant", "seeded-correct", *TINY, "--quiet"]


def same(folder: Path) -> list[object]:
    path = recorded(folder / "a", "--family", "cpu", "--variant", "flat-vector")
    return ["compare", path, path, "--delta", "10", "--tau", "9"]


def missing(folder: Path) -> list[object]:
    path = recorded(folder / "a", "--family", "cpu", "--variant", "flat-vector,local-accumulation")
    return ["compare", path, without_a_case(path, folder / "b.json")]


def failed(folder: Path) -> list[object]:
    path = recorded(folder / "a", "--variant", "seeded-border", program=SEEDED)
    return ["compare", path, path]


def unreadable_history(folder: Path) -> list[object]:
    recorded(folder / "a", "--variant", "flat-vector")
    (folder / "b").mkdir()
    (folder / "b/run.json").write_text("{", encoding="utf-8")
    return ["history", folder, "--no-index"]


Situation = Callable[[Path], list[object]]


def simulation(body: str, *options: str) -> Situation:
    """A kernel that is to read a number, 7."""
    def situation(folder: Path) -> list[object]:
        (folder / "k.ptx").write_text(f""".version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 x) {{ .reg .b64 %d; ld.param.u64 %d, [x]; {body} }}
""", encoding="utf-8")
        return ["simulate", "k.ptx", "--arg", "in:u32:7", *options]
    return situation


CODES: list[tuple[str, int, Situation]] = [
    ("list", 0, lambda _: ["list"]),
    ("list: bad input", 3, lambda _: ["list", "--published", "nobody"]),
    ("run: ok", 0, ok_of_run),
    ("run: a case failed", 1, failed_run),
    ("run: bad input", 3, lambda _: ["run", "--variant", "nothing"]),
    ("run: cannot write", 3, lambda _: ["run", *SMALL, "--output", "/proc/x"]),
    ("network: bad input", 3, lambda _: ["network", "--network", "nothing"]),
    ("sweep: bad input", 3, lambda _: ["sweep"]),
    ("train: bad input", 3, lambda _: ["train", "--network", "nothing"]),
    ("profile: bad input", 3, lambda _: ["profile"]),
    ("check: bad input", 3, lambda _: ["check", "--checkers", "nothing"]),
    ("baseline: bad input", 3, lambda _: ["baseline", "chekc"]),
    ("simulate: ok", 0, simulation("ret;")),
    ("simulate: a finding", 1, simulation("st.global.u32 [%d], 1; ret;")),
    ("simulate: a limit", 2, simulation("A: add.u64 %d, %d, 1; bra A;", "--limit", "10k")),
    ("simulate: a value is not as expected", 5, simulation("ret;", "--expect", "0=8")),
    ("simulate: bad input", 3, lambda _: ["simulate", "nothing.ptx"]),
    ("compare: ok", 0, same),
    ("compare: a case is missing", 4, missing),
    ("compare: a case failed", 1, failed),
    ("compare: bad input", 3, lambda _: ["compare", "nothing.json", "nothing.json"]),
    ("duel: a case failed", 1, failed_duel),
    ("duel: a case is missing", 4, missing_in_duel),
    ("duel: bad input", 3, lambda _: ["duel"]),
    ("explain: bad input", 3, lambda _: ["explain", "nothing.json"]),
    ("history: something unreadable", 2, unreadable_history),
    ("history: bad input", 3, lambda folder: ["history", folder]),
    ("report: bad input", 3, lambda _: ["report", "nothing.json"]),
]


@pytest.mark.parametrize("code, situation", [one[1:] for one in CODES], ids=[one[0] for one in CODES])
def test_exit_codes(code: int, situation: Situation, tmp_path: Path) -> None:
    done = run(*situation(tmp_path), program=SEEDED, cwd=tmp_path)
    assert done.returncode == code, done
