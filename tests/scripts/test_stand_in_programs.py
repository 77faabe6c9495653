"""The catalogue of public programs, and how their results are judged. The programs themselves are not here."""

from __future__ import annotations

import re
import struct
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
sys.path.insert(0, str(SCRIPTS))

from convladder_programs import catalogue, checks, inputs, references  # noqa: E402


def test_the_catalogue_can_be_read():
    programs = catalogue.read()
    assert {program.suite.name for program in programs} == {"polybench", "rodinia", "parboil", "cuda-samples"}
    for program in programs:
        if "function" in program.check:
            assert references.check.__module__ and program.check["function"] in references._CHECKS
        for entry in program.inputs:
            assert "copy" in entry or entry["make"] in inputs._MAKERS
        for expression in (program.check.get("prints", ""), program.check.get("prints_not", "")):
            re.compile(expression)
        for one in program.check.get("compare", ()):
            assert one["as"] in {"same", "text", *checks._CODES}


def test_what_a_catalogue_may_not_have(tmp_path: Path):
    file = tmp_path / "programs.json"
    head = '{"suites": [{"name": "s", "title": "S", "url": "u", "folder": "f", "programs": ['
    for program, reason in (('{"name": "p", "folder": "."}', "judged"),
                            ('{"name": "p", "folder": ".", "check": {"exit": 0}, "size": 1}', "unknown size")):
        file.write_text(head + program + "]}]}", encoding="utf-8")
        with pytest.raises(ValueError, match=reason):
            catalogue.read(file)


def test_results_are_held_against_a_cpu_version(tmp_path: Path):
    reference = tmp_path / "reference"
    reference.mkdir()
    check = {"compare": [{"file": "x", "as": "f32", "relative": 0.01}], "prints_not": "FAIL"}
    (reference / "x").write_bytes(struct.pack("<2f", 1, 2))
    for values, printed, code, reason in (((1.001, 2), "", 0, ""), ((1.1, 2), "", 0, "1 of 2 numbers differ"),
                                          ((1, float("nan")), "", 0, "1 of 2"), ((1, 2), "FAIL", 0, "prints 'FAIL'"),
                                          ((1, 2), "", 3, "exit status 3")):
        (tmp_path / "x").write_bytes(struct.pack("<2f", *values))
        verdict = checks.judge(check, tmp_path, code, printed, reference)
        assert verdict.accepted == (reason == "") and reason in verdict.reason
    (tmp_path / "x").unlink()
    assert "did not write it" in checks.judge(check, tmp_path, 0, "", reference).reason


def test_a_graph_searched_again(tmp_path: Path):
    inputs.make(tmp_path, {"make": "graph", "file": "graph.txt", "nodes": 30, "edges": 60})
    levels = references._levels(tmp_path / "graph.txt")
    lines = [f"{node}) cost:{level}" for node, level in enumerate(levels)]
    (tmp_path / "result.txt").write_text("\n".join(lines), encoding="utf-8")
    assert max(levels) > 1 and references.check("breadth_first", tmp_path, "") == ""
    (tmp_path / "result.txt").write_text("\n".join(lines[:-1] + ["29) cost:-1"]), encoding="utf-8")
    assert references.check("breadth_first", tmp_path, "") == "1 of 30 nodes have another level"


@pytest.mark.parametrize("arguments, status, text", [
    (["--list", "--only", "rodinia/nw"], 0, "rodinia/nw\n"),
    (["--only", "no such program"], 2, "no program is called"),
    ([], 2, "--suites FOLDER is needed"),
    (["--only", "("], 2, "not a regular expression"),
    (["--checkers", "memory,luck"], 2, "expected memory"),
])
def test_the_command_line(arguments: list[str], status: int, text: str):
    done = subprocess.run([sys.executable, SCRIPTS / "stand_in_programs.py", *arguments], capture_output=True,
                          encoding="utf-8", check=False)
    assert done.returncode == status
    assert text in done.stdout + done.stderr
