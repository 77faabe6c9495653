"""`convladder baseline`: the counter gate, on copies of a baseline in which something is not as it was."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Callable

import pytest
from conftest import RELEASE, REPOSITORY, assert_refused, run

MOVED = Path(os.environ.get("CONVLADDER_MOVED_PROGRAM", RELEASE / "tests/convladder_moved")).resolve()
NETWORK = Path(__file__).with_name("tiny_network.json")
SELECTION = ["--network", str(NETWORK), "--variant", "global-memory,shared-memory"]
LOADS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
DRAM = "dram__bytes_read.sum"
Case = dict[str, Any]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What `update` writes into an empty folder."""
    folder = tmp_path_factory.mktemp("baseline")
    done = run("baseline", "update", "--folder", folder, *SELECTION)
    if "no PTX in this build" in done.stderr:
        pytest.skip("no PTX in this build")
    assert (done.returncode, done.stderr) == (0, "")
    assert "new simulated/global-memory/tiny.conv1/8" in done.stdout
    assert done.stdout.splitlines()[-1].endswith(" new")
    assert [path.name for path in folder.iterdir()] == ["tiny.json"]
    return (folder / "tiny.json").read_text(encoding="utf-8")


@pytest.fixture
def check(tmp_path: Path, original: str) -> Callable[..., tuple[int, dict[str, Any], list[Case]]]:
    """Changes a copy of the baseline and checks; returns the exit code, the report and its cases that are not same."""

    def changed(change: Callable[[dict[str, Any]], None], *options: str) -> tuple[int, dict[str, Any], list[Case]]:
        document = json.loads(original)
        change(document)
        (tmp_path / "tiny.json").write_text(json.dumps(document), encoding="utf-8")
        done = run("baseline", "check", "--folder", tmp_path, "--format", "json", *SELECTION, *options)
        assert done.stderr == ""
        report = json.loads(done.stdout)
        assert report["exit_code"] == done.returncode
        return done.returncode, report, [one for one in report["cases"] if one["verdict"] != "same"]

    return changed


def _kernel(document: dict[str, Any]) -> dict[str, Any]:
    return document["cases"][0]["kernels"][0]


def test_what_was_just_recorded_is_the_same(check: Callable[..., Any]) -> None:
    code, report, different = check(lambda document: None)
    assert (code, different) == (0, [])
    compilers = {case["ptx_compiler"] for case in report["cases"]}
    assert len(report["cases"]) == report["summary"]["same"] == 2 * len(compilers)


def test_a_counter_that_moved_is_named_with_both_values(check: Callable[..., Any], tmp_path: Path) -> None:
    def change(document: dict[str, Any]) -> None:
        _kernel(document)["values"][LOADS] += 1
        _kernel(document)["values"]["smsp__inst_executed_op_barrier.sum"] += 5

    code, _, different = check(change)
    assert (code, len(different)) == (1, 1)
    case = different[0]
    assert (case["verdict"], case["ptx_changed"]) == ("moved", False)
    assert [move["counter"] for move in case["moves"]] == ["smsp__inst_executed_op_barrier.sum", LOADS], "worst first"
    assert case["moves"][1]["recorded"] == case["moves"][1]["now"] + 1
    assert {move["kind"] for move in case["moves"]} == {"counted"}

    done = run("baseline", "check", "--folder", tmp_path, *SELECTION)
    assert done.returncode == 1
    assert case["id"] in done.stdout and "global load sectors" in done.stdout and "the same PTX" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100
    table = run("baseline", "check", "--folder", tmp_path, "--format", "markdown", *SELECTION)
    assert table.returncode == 1 and "### Exact counters that moved" in table.stdout


def test_the_last_bit_of_a_ratio_counts(check: Callable[..., Any]) -> None:
    name = "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio"

    def change(document: dict[str, Any]) -> None:
        values = _kernel(document)["values"]
        values[name] *= 1 + 2**-52

    code, _, different = check(change)
    assert code == 1 and [move["counter"] for move in different[0]["moves"]] == [name]


def test_modelled_figures_are_compared_and_reported_apart(check: Callable[..., Any], tmp_path: Path) -> None:
    def change(document: dict[str, Any]) -> None:
        _kernel(document)["modelled"][DRAM] += 32

    code, _, different = check(change)
    assert code == 1 and [move["kind"] for move in different[0]["moves"]] == ["modelled"]
    done = run("baseline", "check", "--folder", tmp_path, "--format", "markdown", *SELECTION)
    assert "### Modelled counters that moved" in done.stdout and "### Exact" not in done.stdout


def test_another_launch_is_seen(check: Callable[..., Any]) -> None:
    code, _, different = check(lambda document: document["cases"][0]["kernels"].append(_kernel(document)))
    moves = {move["counter"]: (move["recorded"], move["now"]) for move in different[0]["moves"]}
    assert code == 1 and moves["launches"] == (2, 1) and LOADS in moves

    def wider(document: dict[str, Any]) -> None:
        _kernel(document)["grid"][1] += 1

    code, _, different = check(wider)
    assert code == 1 and [move["counter"] for move in different[0]["moves"]] == ["grid.y"]


def test_a_case_without_baseline_is_new_and_never_passes(check: Callable[..., Any]) -> None:
    code, _, different = check(lambda document: document["cases"].pop())
    assert (code, [one["verdict"] for one in different]) == (2, ["new"])


def test_a_baseline_without_case_is_missing(check: Callable[..., Any]) -> None:
    def change(document: dict[str, Any]) -> None:
        document["cases"].append(document["cases"][0] | {"layer": "conv\u001b[31m9"})

    code, _, different = check(change)
    assert (code, [one["verdict"] for one in different]) == (2, ["missing"])
    assert "\u001b" not in different[0]["id"]


def test_a_case_that_was_unsupported_moved(check: Callable[..., Any]) -> None:
    def change(document: dict[str, Any]) -> None:
        case = document["cases"][0]
        del case["kernels"], case["ptx_sha256"]
        case["unsupported"] = "kernel 5 is not one of 4"

    code, _, different = check(change)
    assert (code, [one["verdict"] for one in different]) == (1, ["moved"])


def _of_compiler(document: dict[str, Any], compiler: str, **fields: str) -> None:
    for case in document["cases"]:
        if case["compiler"] == compiler:
            case.update(fields)
            _ = [kernel["values"].update({LOADS: 1}) for kernel in case["kernels"] if "ptx_sha256" in fields]


def test_another_compiler_is_no_regression(check: Callable[..., Any]) -> None:
    def change(document: dict[str, Any]) -> None:
        _of_compiler(document, document["cases"][0]["compiler"], compiler_version="1.2.3", ptx_sha256="0" * 64)

    code, _, different = check(change)
    assert (code, {one["verdict"] for one in different}) == (2, {"compiler changed"})
    assert "1.2.3" in different[0]["reason"] and different[0]["moves"] == []


def test_a_compiler_that_is_not_in_the_build_is_named_and_not_looked_at(check: Callable[..., Any]) -> None:
    def change(document: dict[str, Any]) -> None:
        document["cases"].append(document["cases"][0] | {"compiler": "hipcc"})

    code, report, different = check(change)
    assert (code, different) == (0, [])
    assert any(note.startswith("hipcc is skipped") for note in report["notes"])


def test_the_same_ptx_of_another_version_is_compared(check: Callable[..., Any]) -> None:
    def change(document: dict[str, Any]) -> None:
        _of_compiler(document, document["cases"][0]["compiler"], compiler_version="1.2.3")

    assert check(change)[0] == 0

    def move_too(document: dict[str, Any]) -> None:
        change(document)
        _kernel(document)["values"][LOADS] += 1

    assert check(move_too)[0] == 1


def test_another_ptx_that_counts_the_same_passes_and_is_mentioned(check: Callable[..., Any], tmp_path: Path) -> None:
    def change(document: dict[str, Any]) -> None:
        document["cases"][0]["ptx_sha256"] = "0" * 64

    code, report, different = check(change)
    assert (code, different) == (0, [])
    assert [one["ptx_changed"] for one in report["cases"]].count(True) == 1
    assert "1 case the same from different PTX" in run("baseline", "check", "--folder", tmp_path, *SELECTION).stdout


def test_update_writes_the_same_bytes_and_only_what_is_selected(tmp_path: Path, original: str) -> None:
    path = tmp_path / "tiny.json"
    document = json.loads(original)
    for case in document["cases"]:
        case["kernels"][0]["values"][LOADS] += 7
    document["cases"].append(document["cases"][0] | {"compiler_version": "1.2.3"})
    path.write_text(json.dumps(document), encoding="utf-8")
    options = ["baseline", "update", "--folder", tmp_path, "--network", NETWORK, "--variant"]
    done = run(*options, "shared-memory")
    assert (done.returncode, done.stderr) == (0, "")
    assert "global load sectors" in done.stdout and "moved" in done.stdout and f"{path}: written" in done.stdout
    now = {(case["compiler"], case["compiler_version"], case["variant"]): case["kernels"][0]["values"][LOADS]
           for case in json.loads(path.read_text(encoding="utf-8"))["cases"]}
    for case in json.loads(original)["cases"]:
        wrong = 0 if case["variant"] == "shared-memory" else 7
        key = (case["compiler"], case["compiler_version"], case["variant"])
        assert now[key] == case["kernels"][0]["values"][LOADS] + wrong
    assert sum(version == "1.2.3" for _, version, _ in now) == 1, "what was recorded with another version stays"

    document = json.loads(path.read_text(encoding="utf-8"))
    document["cases"] = [case for case in document["cases"] if case["compiler_version"] != "1.2.3"]
    path.write_text(json.dumps(document), encoding="utf-8")
    assert run(*options, "global-memory,shared-memory").returncode == 0
    assert path.read_text(encoding="utf-8") == original
    assert "unchanged" in run(*options, "global-memory,shared-memory").stdout
    assert [one.name for one in tmp_path.iterdir()] == ["tiny.json"]


@pytest.mark.parametrize("variant, moved", [
    ("seeded-nothing-moved", None),
    ("seeded-shifted-row", "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"),
    ("seeded-extra-store", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"),
])
def test_a_kernel_that_was_changed_is_caught(tmp_path: Path, original: str, variant: str, moved: str | None) -> None:
    if not os.access(MOVED, os.X_OK):
        pytest.skip(f"not built: {MOVED}")
    document = json.loads(original)
    document["cases"] = [case | {"variant": variant} for case in document["cases"] if case["variant"] == "global-memory"]
    (tmp_path / "tiny.json").write_text(json.dumps(document), encoding="utf-8")
    done = run("baseline", "check", "--folder", tmp_path, "--format", "json", "--network", NETWORK, "--variant",
               variant, program=MOVED)
    report = json.loads(done.stdout)
    assert {case["verdict"] for case in report["cases"]} == {"moved" if moved else "same"}, done.stdout
    assert done.returncode == (1 if moved else 0)
    for case in report["cases"] if moved else []:
        assert case["ptx_changed"]
        move = {one["counter"]: one for one in case["moves"]}[moved]
        assert (move["now"] < move["recorded"]) == (variant == "seeded-shifted-row")


BROKEN = {
    "empty": ("", "byte 1: not valid JSON"),
    "no JSON": ("counters", "not valid JSON"),
    "a list": ("[]", "expected an object"),
    "no version": ("{}", "schema_version: expected a whole number"),
    "newer": ('{"schema_version": 2}', "schema_version: expected 1, which this program reads, found 2"),
    "a fraction": ('{"schema_version": 1.5}', "schema_version: expected a whole number"),
    "another kind": ('{"schema_version": 1, "kind": "run"}', "kind: expected"),
    "twice": ('{"kind": "a", "kind": "b"}', "kind: occurs twice"),
    "huge": ('{"schema_version": 1e999}', "schema_version: a number beyond the range of a double"),
    "deep": ("[" * 100000, "nested more than 64 deep"),
    "bytes": ('{"\\u0000<script>": 1}', "schema_version: expected a whole number"),
}


@pytest.mark.parametrize("text, said", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("action", ["check", "update"])
def test_a_broken_file_is_said_in_one_line(tmp_path: Path, original: str, action: str, text: str, said: str) -> None:
    del original  # only whether there is PTX
    path = tmp_path / "tiny.json"
    path.write_text(text, encoding="utf-8")
    assert_refused(run("baseline", action, "--folder", tmp_path, *SELECTION), str(path), said)
    assert path.read_text(encoding="utf-8") == text


CHANGES: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "network": (lambda d: d.update(network="lenet72"), "belongs to the network 'lenet72'"),
    "case twice": (lambda d: d["cases"].append(d["cases"][0]), "the same case occurs twice"),
    "hash": (lambda d: d["cases"][0].update(ptx_sha256="12"), "ptx_sha256: expected 64 hex digits"),
    "shape": (lambda d: d["cases"][0].update(shape=[0] * 9), "shape: "),
    "short shape": (lambda d: d["cases"][0].update(shape=[1]), "shape: expected a list of 9, found [1]"),
    "negative grid": (lambda d: _kernel(d).update(grid=[-1, 1, 1]), "grid[0]: expected a whole number"),
    "no kernels": (lambda d: d["cases"][0].update(kernels=[]), "expected at least one kernel"),
    "no number": (lambda d: _kernel(d)["values"].update({LOADS: None}), f"{LOADS}: expected a number, found null"),
    "name": (lambda d: d["cases"][0].update(variant=""), "variant: expected a text"),
    "text": (lambda d: d["cases"][0].update(layer=7), "layer: expected a string"),
}


@pytest.mark.parametrize("change, said", CHANGES.values(), ids=CHANGES)
def test_a_wrong_field_is_named(tmp_path: Path, original: str, change: Callable[[dict[str, Any]], Any],
                                said: str) -> None:
    document = json.loads(original)
    change(document)
    (tmp_path / "tiny.json").write_text(json.dumps(document), encoding="utf-8")
    assert_refused(run("baseline", "check", "--folder", tmp_path, *SELECTION), "tiny.json", said)


def test_a_truncated_file_is_refused_wherever_it_ends(tmp_path: Path, original: str) -> None:
    for part in (1, len(original) // 3, len(original) // 2, len(original) - 3):
        (tmp_path / "tiny.json").write_text(original[:part], encoding="utf-8")
        assert_refused(run("baseline", "check", "--folder", tmp_path, *SELECTION), "not valid JSON")


@pytest.mark.parametrize("arguments, said", [
    ([], "action"),
    (["chekc"], "unknown action 'chekc'; known: check"),
    (["check", "--network", "lenet27"], "unknown network 'lenet27'; known: lenet2"),
    (["check", "--network", "lenet28", "--variant", "shared-memry"], "shared-memory"),
    (["check", "--compiler", "ncc"], "unknown compiler 'ncc'; known: "),
    (["check", "--format", "xml"], "--format"),
    (["check", "--network", "lenet28,lenet28"], "is given twice"),
    (["check", "--foldr", "x"], "--folder"),
])
def test_bad_input(arguments: list[str], said: str, original: str, tmp_path: Path) -> None:
    del original
    folder = [] if "--foldr" in arguments else ["--folder", tmp_path]
    assert_refused(run("baseline", *arguments, *folder), said)


def test_a_folder_that_cannot_be_written(tmp_path: Path, original: str) -> None:
    del original
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert_refused(run("baseline", "update", "--folder", tmp_path / "file" / "below", *SELECTION), "cannot create")


def test_no_folder_is_said_at_once(tmp_path: Path, original: str) -> None:
    del original
    assert_refused(run("baseline", "check", "--folder", tmp_path / "nothing"), "nothing: no such folder")
    assert_refused(run("baseline", "check", cwd=tmp_path), "results/baseline: no such folder", "--folder")


def test_an_empty_folder_does_not_pass(tmp_path: Path, original: str) -> None:
    del original
    (tmp_path / "nothing").mkdir()
    done = run("baseline", "check", "--folder", tmp_path / "nothing", *SELECTION)
    assert (done.returncode, done.stderr) == (2, "") and "new simulated/" in done.stdout


def test_every_network_has_a_baseline() -> None:
    networks = {path.name for path in (REPOSITORY / "network/networks").glob("*.json")}
    assert {path.name for path in (REPOSITORY / "results/baseline").glob("*.json")} == networks


def test_what_is_left_out_and_what_is_too_much_is_said(tmp_path: Path, original: str, sanitized: bool) -> None:
    del original
    if sanitized:
        pytest.skip("counts all networks, which takes long with sanitizers")
    (tmp_path / "lenet27.json").write_text("{}", encoding="utf-8")
    done = run("baseline", "check", "--folder", tmp_path, "--variant", "compile-time")
    assert (done.returncode, done.stderr) == (2, "")
    assert "missing lenet27.json" in done.stdout and "no built-in network has this name" in done.stdout
    assert "alexnet is left out" in done.stdout and "new simulated/compile-time/lenet86.conv2/8" in done.stdout
