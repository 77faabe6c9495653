"""Two records of real runs against each other: verdicts, exit codes, formats, and what is refused."""

from __future__ import annotations

import copy
import json
import random
import statistics
from pathlib import Path
from typing import Any

import pytest

from conftest import SEEDED, SMALL, assert_refused, cases, record, run

VARIANTS = "memory-accumulation,local-accumulation,flat-vector,compile-time"
SLOWER = "cpu/flat-vector/shape.C1H8W8M2K3/2"


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A run whose samples are drawn around its own medians, so that no verdict depends on what else the machine does."""
    folder = tmp_path_factory.mktemp("real")
    done = run("run", "--device", "cpu,simulated", "--variant", VARIANTS + ",shared-memory", *SMALL, "--batch", "2",
               "--output", folder)
    assert (done.returncode, done.stderr) == (0, "")
    document = record(folder)
    assert SLOWER in cases(document)
    return resampled(document, seed=1)


def resampled(document: dict[str, Any], seed: int) -> dict[str, Any]:
    """The same run measured again on a machine that scatters by 1 %."""
    document = copy.deepcopy(document)
    draw = random.Random(seed)
    for one in document["cases"]:
        if one["time"]:
            centre = one["time"]["median"]
            one["time"]["samples"] = [centre * draw.lognormvariate(0, 0.01) for _ in range(25)]
    return document


def scaled(document: dict[str, Any], factor: float) -> dict[str, Any]:
    """One case that takes `factor` times as long."""
    document = copy.deepcopy(document)
    one = cases(document)[SLOWER]
    one["time"]["samples"] = [factor * sample for sample in one["time"]["samples"]]
    return document


def compare(folder: Path, base: dict[str, Any], new: dict[str, Any], *arguments: object) -> Any:
    """Calls the program on the two, as files."""
    for name, document in (("base.json", base), ("new.json", new)):
        (folder / name).write_text(json.dumps(document), encoding="utf-8")
    return run("compare", folder / "base.json", folder / "new.json", *arguments)


def verdicts(done: Any) -> dict[str, str]:
    """Of the JSON output, by case."""
    return {one["id"]: one["verdict"] for one in json.loads(done.stdout)["cases"]}


def test_identical_files_pass(tmp_path: Path, real: dict[str, Any]) -> None:
    done = compare(tmp_path, real, real)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert done.stdout.startswith("pass (exit code 0)"), "the verdict comes first"
    assert all(len(line) <= 100 for line in done.stdout.splitlines() if str(tmp_path) not in line)


def test_a_real_record_passes_beside_itself(tmp_path: Path) -> None:
    """As it was written, with its few samples."""
    run("run", "--family", "cpu", "--variant", VARIANTS, *SMALL, "--batch", "1", "--output", tmp_path)
    done = run("compare", tmp_path / "run.json", tmp_path / "run.json")
    assert (done.returncode, done.stderr) == (0, "")


def test_the_same_program_measured_again_passes(tmp_path: Path, real: dict[str, Any]) -> None:
    done = compare(tmp_path, real, resampled(real, seed=2))
    assert done.returncode == 0, done.stdout


def test_one_slower_case_is_named(tmp_path: Path, real: dict[str, Any]) -> None:
    done = compare(tmp_path, real, scaled(resampled(real, seed=2), 1.10))
    assert (done.returncode, done.stderr) == (1, "")
    after = done.stdout.split("\nregressed\n")[1]
    assert after.split()[0] == SLOWER
    assert "1 regressed" in done.stdout.splitlines()[0]
    back = compare(tmp_path, scaled(real, 1.10), resampled(real, seed=2), "--format", "json")
    assert back.returncode == 0 and verdicts(back)[SLOWER] == "improved"


def test_json_holds_the_figures(tmp_path: Path, real: dict[str, Any]) -> None:
    done = compare(tmp_path, real, scaled(resampled(real, seed=2), 1.10), "--format", "json")
    document = json.loads(done.stdout)
    assert (document["kind"], document["exit_code"], done.returncode) == ("comparison", 1, 1)
    one = {one["id"]: one for one in document["cases"]}[SLOWER]
    assert one["verdict"] == "regressed" and one["witness"] in VARIANTS + ",onednn"
    assert one["base_median_ns"] == pytest.approx(statistics.median(cases(real)[SLOWER]["time"]["samples"]))
    assert 0.02 < one["change"]["low"] < one["change"]["estimate"] < one["change"]["high"] < 0.2
    assert sum(document["counts"].values()) == len(document["cases"])


def test_markdown_is_one_table(tmp_path: Path, real: dict[str, Any]) -> None:
    done = compare(tmp_path, real, scaled(resampled(real, seed=2), 1.10), "--format", "markdown")
    assert done.returncode == 1
    rows = [line for line in done.stdout.splitlines() if line.startswith("| ")]
    assert rows[0].startswith("| case |") and len(rows) == 1 + len(real["cases"])
    assert "| regressed" in rows[1]


def test_the_choice_of_cases(tmp_path: Path, real: dict[str, Any]) -> None:
    new = scaled(resampled(real, seed=2), 1.10)
    assert compare(tmp_path, real, new, "--case", "accumulation").returncode == 0
    assert compare(tmp_path, real, new, "--tau", "0.2", "--delta", "0.2").returncode == 0
    assert compare(tmp_path, real, new, "--case", "flat-vector").returncode == 1, "its witness need not match"
    assert compare(tmp_path, real, new, "--case", "no such").returncode == 3


def test_a_missing_case_is_no_pass(tmp_path: Path, real: dict[str, Any]) -> None:
    new = copy.deepcopy(real)
    new["cases"] = [one for one in new["cases"] if one["id"] != SLOWER]
    new["planned"].remove(SLOWER)
    done = compare(tmp_path, real, new)
    assert done.returncode == 4
    assert done.stdout.split("\nmissing\n")[1].split()[0] == SLOWER
    added = compare(tmp_path, new, real)
    assert added.returncode == 0 and added.stdout.split("\nnew\n")[1].split()[0] == SLOWER


def test_another_device_is_incomparable(tmp_path: Path, real: dict[str, Any]) -> None:
    new = copy.deepcopy(real)
    new["context"]["cpu"]["model"] = "another processor"
    done = compare(tmp_path, real, new)
    assert done.returncode == 4
    assert "incomparable" in done.stdout and 'processor differs: "' in done.stdout
    assert 'now "another processor"' in " ".join(done.stdout.split())


def test_a_wrong_result_is_no_pass(tmp_path: Path) -> None:
    done = run("run", "--variant", "seeded-correct,seeded-border", *SMALL, "--batch", "2", "--output", tmp_path,
               program=SEEDED)
    assert done.returncode == 1
    done = run("compare", tmp_path / "run.json", tmp_path / "run.json")
    assert done.returncode == 1
    assert done.stdout.split("\nfailed\n")[1].split()[0].startswith("cpu/seeded-border/")


def counted(document: dict[str, Any]) -> dict[str, Any]:
    """A case that the simulated device counted; skips where the build has no PTX."""
    for one in document["cases"]:
        if one["counters"]:
            return one
    pytest.skip("no PTX in this build")


def test_counters_are_compared_exactly(tmp_path: Path, real: dict[str, Any]) -> None:
    new = copy.deepcopy(real)
    one = counted(new)
    one["counters"]["totals"]["smsp__inst_executed.sum"] += 1
    done = compare(tmp_path, real, new)
    assert done.returncode == 1
    assert done.stdout.split("\nregressed\n")[1].split()[0] == one["id"]
    new["context"]["program"]["ptx"][0] |= {"version": "99.0", "sha256": "0" * 64}
    done = compare(tmp_path, real, new, "--format", "json")
    assert done.returncode == 4
    assert {one["id"]: one for one in json.loads(done.stdout)["cases"]}[one["id"]]["reason"].startswith(
        "CUDA compiler changed")


def test_the_ptx_of_a_build_has_a_checksum() -> None:
    program = json.loads(run("list", "--machine", "--format", "json").stdout)["program"]
    for ptx in program["ptx"]:
        assert len(ptx["sha256"]) == 64 and ptx["version"]


def test_files_that_are_no_runs_are_refused(tmp_path: Path, real: dict[str, Any]) -> None:
    good = tmp_path / "good.json"
    good.write_text(json.dumps(real), encoding="utf-8")
    bad = tmp_path / "bad.json"
    text = json.dumps(real)
    for content, words in (("", ["byte 1"]), (text[:-10], ["not valid JSON"]), ("[" * 100000, ["64 deep"]),
                           (json.dumps(real | {"schema_version": "9.0"}), ['"9.0"', '"1.1"']),
                           (json.dumps(real | {"kind": "network"}), ["network"]),
                           (json.dumps(real | {"cases": [None]}), ["cases[0]"])):
        bad.write_text(content, encoding="utf-8")
        assert_refused(run("compare", good, bad), str(bad), *words)
        assert_refused(run("compare", bad, good), str(bad), *words)
    assert_refused(run("compare", good, tmp_path / "none.json"), "none.json", "No such file")
    assert_refused(run("compare", good, tmp_path), "cannot be read")
    assert_refused(run("compare", good), "NEW.json")


def test_bad_options_are_refused(tmp_path: Path, real: dict[str, Any]) -> None:
    assert_refused(compare(tmp_path, real, real, "--format", "xml"), "'xml'", "text")
    assert_refused(compare(tmp_path, real, real, "--tau", "nan"), "--tau")
    assert_refused(compare(tmp_path, real, real, "--tau", "0.1"), "--delta", "--tau")
    assert_refused(compare(tmp_path, real, real, "--alpha", "0"), "--alpha")
    assert_refused(compare(tmp_path, real, real, "--case", "("), "--case", "regular expression")
    assert_refused(compare(tmp_path, real, real, "--control", "flat-vectr"), "flat-vectr", "flat-vector")
    assert_refused(compare(tmp_path, real, real, "--cases", "x"), "--cases", "--case")
