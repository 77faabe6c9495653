"""Two builds measured in turns. Nothing is said of times here, but that twice the work is found."""

from __future__ import annotations

import json
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from conftest import PROGRAM, REPOSITORY, SEEDED, assert_refused, run, start

TINY = ["--shape", "1,8,8,2,3", "--batch", "2"]
TINY_CASE = ["--variant", "memory-accumulation", *TINY]
SCHEMA = json.loads((REPOSITORY / "results/duel.schema.json").read_text(encoding="utf-8"))


def script(path: Path, text: str) -> Path:
    """An executable file."""
    path.write_text(text, encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def read(path: Path) -> dict[str, Any]:
    """A duel's JSON, valid by its schema."""
    document = json.loads(path.read_text(encoding="utf-8"))
    jsonschema.Draft7Validator(SCHEMA).validate(document)
    return document


def copy_of_program(folder: Path) -> Path:
    """The same build at another path."""
    return Path(shutil.copy(PROGRAM, folder / "other"))


def test_equal_builds_are_no_regression(tmp_path: Path) -> None:
    other = copy_of_program(tmp_path)
    done = run("duel", "--base", other, *TINY_CASE)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.startswith("the same (exit code 0): both builds are the same program"), done
    done = run("duel", "--base", other, *TINY_CASE, "--rounds", "13", "--even-if-same", "--output", tmp_path / "duel.json")
    document = read(tmp_path / "duel.json")
    assert (document["base"]["path"], document["exit_code"]) == (str(other), done.returncode)
    if document["control"]["contaminated"]:
        pytest.skip("the control moved, as it does in one of a hundred duels")
    assert done.returncode in (0, 2), done.stdout
    assert "\npilot: 9 rounds of the base against itself scatter by " in "\n" + done.stderr, done.stderr
    assert all(line.startswith(("this machine:", "pilot:", "... ")) for line in done.stderr.splitlines()), done.stderr
    one, = [one for one in document["cases"] if one["device"] == "cpu"]
    assert len(one["screen"]["rounds"]) == 9 and len(one["confirm"]["rounds"]) in (0, 13)
    assert {round["order"] for round in one["screen"]["rounds"] + document["control"]["rounds"]} == {"ABBA", "BAAB"}
    assert all(len(line) <= 100 for line in done.stdout.splitlines() if str(tmp_path) not in line)


def test_twice_the_work_is_found(tmp_path: Path) -> None:
    done = run("duel", *TINY_CASE, "--family", "cpu", "--extra-work", "150", "--output", tmp_path / "duel.json",
               "--format", "markdown")
    document = read(tmp_path / "duel.json")
    one, = document["cases"]
    assert one["verdict"] == "regressed", done.stdout
    assert done.returncode == (4 if document["control"]["contaminated"] else 1)
    assert one["change"]["low"] > 0.02 and one["iterations"] % 2 == 0
    assert "150 % of extra work" in document["notes"][0]
    markdown = done.stdout
    assert "| regressed |" in markdown and one["id"].replace("_", r"\_") in markdown


def test_two_variants_of_one_build(tmp_path: Path) -> None:
    done = run("duel", "--base-variant", "memory-accumulation", "--new-variant", "compile-time", *TINY, "--rounds", "13",
               "--output", tmp_path / "duel.json", "--quiet")
    document = read(tmp_path / "duel.json")
    assert done.returncode == document["exit_code"] and done.stdout == ""
    one = next(one for one in document["cases"] if one["device"] == "cpu")
    assert (one["base_variant"], one["new_variant"]) == ("memory-accumulation", "compile-time")
    assert one["id"] == "cpu/memory-accumulation..compile-time/shape.C1H8W8M2K3/2"


@pytest.mark.parametrize("variant, reason", [("seeded-border", "new: incorrect on small integers"),
                                             ("seeded-wrong-later", "incorrect after timing"),
                                             ("seeded-throws", "new: crashed")])
def test_a_wrong_variant_is_not_timed(tmp_path: Path, variant: str, reason: str) -> None:
    done = run("duel", "--base-variant", "seeded-correct", "--new-variant", variant, "--shape", "3,13,11,5,3,1,1",
               "--batch", "5", "--rounds", "13", "--output", tmp_path / "duel.json", program=SEEDED)
    assert done.returncode == 1, done.stdout
    one, = read(tmp_path / "duel.json")["cases"]
    assert one["verdict"] == "failed" and reason in one["reason"]
    assert one["change"] is None or variant == "seeded-wrong-later"
    assert reason.split()[-1] in done.stdout


def test_variants_of_one_side_only(tmp_path: Path) -> None:
    """The seeded program has a variant more than the other one."""
    options = ["--variant", "seeded-correct", *TINY, "--output", tmp_path / "duel.json"]
    done = run("duel", "--base", SEEDED, "--new", PROGRAM, *options, program=SEEDED)
    assert done.returncode == 4
    assert read(tmp_path / "duel.json")["cases"][0]["verdict"] == "missing"
    run("duel", "--base", PROGRAM, "--new", SEEDED, *options, program=SEEDED)
    assert read(tmp_path / "duel.json")["cases"][0]["verdict"] == "new"


def test_what_only_the_base_knows_is_missing(tmp_path: Path) -> None:
    """Variants that this program has never heard of are not dropped."""
    program = json.loads(run("list", "--machine", "--format", "json").stdout)["program"]
    base = speaking(tmp_path, {"protocol": 5, "program": program, "variants": ["cpu/lost", "cuda/lost-too"]})
    done = run("duel", "--base", base, "--family", "cpu", *TINY, "--output", tmp_path / "duel.json")
    assert done.returncode == 4
    verdicts = {one["id"]: one["verdict"] for one in read(tmp_path / "duel.json")["cases"]}
    assert verdicts["cpu/lost/shape.C1H8W8M2K3/2"] == "missing"
    assert verdicts["cpu/compile-time/shape.C1H8W8M2K3/2"] == "new"


def test_programs_that_are_none_are_refused(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("x", encoding="utf-8")
    assert_refused(run("duel", "--base", tmp_path / "none", *TINY_CASE), "none", "no such program")
    assert_refused(run("duel", "--base", tmp_path, *TINY_CASE), "found a folder")
    assert_refused(run("duel", "--base", plain, *TINY_CASE), "not executable")
    empty = script(tmp_path / "empty", "no program\n")
    assert_refused(run("duel", "--base", empty, *TINY_CASE), "cannot start", "Exec format error")
    assert_refused(run("duel", "--base", shutil.which("true"), *TINY_CASE), "does not answer like convladder")
    assert_refused(run("duel", "--base", shutil.which("cat"), *TINY_CASE), "does not answer like convladder")


def speaking(folder: Path, answer: object) -> Path:
    """A program that answers the first question so."""
    return script(folder / "speaking", f"""#!{sys.executable}
import os
line = b""
while line.count(b"\\n") < 2:
    line += os.read(3, 65536)
os.write(3, {json.dumps(answer)!r}.encode() + b"\\n")
os.read(3, 1)
""")


def test_another_protocol_is_refused(tmp_path: Path) -> None:
    assert_refused(run("duel", "--base", speaking(tmp_path, {"protocol": 99, "program": {}, "variants": []}), *TINY_CASE),
                   "speaks protocol 99", "too far apart")
    for answer in ({"protocol": 5, "variants": []}, {"protocol": 5, "program": {}, "variants": [3]}, 5, []):
        assert_refused(run("duel", "--base", speaking(tmp_path, answer), *TINY_CASE), "does not answer like convladder")


def test_a_build_before_duels_is_refused(tmp_path: Path) -> None:
    """What it says is what this program says of any command that it does not know."""
    unknown = run("serve-something", "3", "4")
    assert_refused(unknown, "unknown command 'serve-something'")
    said = unknown.stderr.strip().replace("serve-something", "serve-about").replace("'", "'\\''")
    old = script(tmp_path / "old", f"#!/bin/sh\necho '{said}' >&2\nexit 3\n")
    assert_refused(run("duel", "--base", old, *TINY_CASE), "too old for a duel")


def test_builds_of_another_kind_are_refused(tmp_path: Path) -> None:
    program = json.loads(run("list", "--machine", "--format", "json").stdout)["program"]
    other = speaking(tmp_path, {"protocol": 5, "program": program | {"build_type": "Other"}, "variants": []})
    assert_refused(run("duel", "--base", other, *TINY_CASE), "cannot be compared", "build_type")


def test_bad_options_are_refused(tmp_path: Path) -> None:
    assert_refused(run("duel", *TINY_CASE), "--base")
    assert_refused(run("duel", "--base-variant", "flat-vector"), "--new-variant")
    assert_refused(run("duel", "--base-variant", "flat-vectr", "--new-variant", "compile-time"), "flat-vectr",
                   "flat-vector")
    base = ["duel", "--base", copy_of_program(tmp_path), "--even-if-same", *TINY_CASE]
    assert_refused(run(*base, "--device", "simulated"), "baseline check")
    assert_refused(run(*base, "--rounds", "12"), "--rounds")
    assert_refused(run(*base, "--tau", "0.1"), "--delta", "--tau")
    assert_refused(run(*base, "--case", "("), "--case", "regular expression")
    assert_refused(run(*base, "--output", tmp_path / "none/duel.json"), "--output", "is not a folder")
    assert_refused(run(*base, "--output", tmp_path), "--output", "found a folder")


def test_a_killed_duel_leaves_nothing(tmp_path: Path) -> None:
    """Its screen alone takes half a minute: 1 ms passes before each slot, and there are thousands of them."""
    process = start("duel", "--family", "cpu", "--shape", "1,8,8,2,3", "--batch", ",".join(map(str, range(1, 17))),
                    "--extra-work", "1", "--output", tmp_path / "duel.json")
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=1)
    process.terminate()
    assert process.wait(timeout=10) == 130
    assert list(tmp_path.iterdir()) == []
    process.stderr.close()


def test_selftest_counts_verdicts(tmp_path: Path) -> None:
    done = run("duel", "--selftest", *TINY, "--levels", "0,200", "--runs", "1", "--neighbour", "bursty", "--output",
               tmp_path / "selftest.json")
    document = json.loads((tmp_path / "selftest.json").read_text(encoding="utf-8"))
    assert (document["kind"], document["complete"], len(document["runs"])) == ("selftest", True, 2)
    equal, more = document["levels"]
    assert (equal["extra_percent"], more["extra_percent"]) == (0, 200)
    assert equal["regressed"] == 0 and more["regressed"] == 1, done.stdout
    assert done.returncode == 0 and "0 of 1 reported as a regression" in done.stdout
    assert_refused(run("duel", "--selftest", "--neighbour", "loud"), "--neighbour")
    assert_refused(run("duel", "--selftest", "--levels", "-1"), "--levels")
