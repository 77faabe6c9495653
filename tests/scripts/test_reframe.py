"""scripts/reframe/convladder_check.py: what it is, always; with ReFrame itself where that is installed."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import REPOSITORY, SCRIPTS

CHECK = SCRIPTS / "reframe/convladder_check.py"
PROGRAM = Path(os.environ.get("CONVLADDER_PROGRAM", REPOSITORY / "build/release/convladder")).resolve()
SEEDED = Path(os.environ.get("CONVLADDER_SEEDED_PROGRAM", PROGRAM.parent / "tests/convladder_seeded")).resolve()
REFRAME = os.environ.get("CONVLADDER_REFRAME") or shutil.which("reframe")
needs_reframe = pytest.mark.skipif(not REFRAME, reason="no ReFrame here (CONVLADDER_REFRAME names its command)")

CONFIGURATION = """site_configuration = {
    "systems": [{"name": "here", "hostnames": [".*"],
                 "partitions": [{"name": "alone", "scheduler": "local", "launcher": "local",
                                 "environs": ["builtin"]}]}],
    "environments": [{"name": "builtin"}]}
"""
CHOICE = "--device cpu --variant flat-vector --shape 1,8,8,2,3 --batch 1 --repetitions 3"
CASE = "cpu/flat-vector/shape.C1H8W8M2K3/1"


def test_it_is_a_check_of_reframe() -> None:
    """A run-only check with a sanity function, whose hooks are decorated, and with the variables that it describes."""
    tree = ast.parse(CHECK.read_text(encoding="utf-8"))
    [check] = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    assert [ast.unparse(base) for base in check.bases] == ["rfm.RunOnlyRegressionTest"]
    assert [ast.unparse(one) for one in check.decorator_list] == ["rfm.simple_test"]
    decorators = {node.name: [ast.unparse(one) for one in node.decorator_list] for node in check.body
                  if isinstance(node, ast.FunctionDef)}
    assert decorators["every_case_is_verified"] == ["builtins.sanity_function"]
    assert {there[0] for there in decorators.values()} == {
        "builtins.run_after('setup')", "builtins.run_before('run')", "builtins.run_before('performance')",
        "builtins.sanity_function", "sn.deferrable"}
    assigned = {target.id for node in check.body if isinstance(node, ast.Assign) for target in node.targets
                if isinstance(target, ast.Name)}
    assert {"valid_systems", "valid_prog_environs", "keep_files"} <= assigned
    described = set(re.findall(r"-S convladder_check\.(\w+)=", ast.get_docstring(tree) or ""))
    assert described == {"program", "choice", "references"} and described <= assigned


def check(folder: Path, *options: str, program: Path = PROGRAM) -> subprocess.CompletedProcess[str]:
    """Runs it with ReFrame in that folder."""
    if not os.access(program, os.X_OK):
        pytest.skip(f"not built: {program}")
    (folder / "configuration.py").write_text(CONFIGURATION, encoding="utf-8")
    words = [REFRAME, "-C", folder / "configuration.py", "--prefix", folder, "-c", CHECK, "-r", "--performance-report",
             "-S", f"convladder_check.program={program}", *options]
    return subprocess.run(list(map(str, words)), cwd=folder, capture_output=True, encoding="utf-8", timeout=300,
                          env=dict(os.environ) | {"OMP_NUM_THREADS": "1", "CONVLADDER_CEILING_MIB": "4"}, check=False)


@needs_reframe
def test_reframe_takes_times_and_record(tmp_path: Path) -> None:
    done = check(tmp_path, "-S", f"convladder_check.choice={CHOICE}")
    assert done.returncode == 0, done.stdout + done.stderr
    [record] = tmp_path.glob("output/**/run.json")
    [case] = json.loads(record.read_text(encoding="utf-8"))["cases"]
    assert f"P: {CASE}: {case['time']['median']} ns" in done.stdout


@needs_reframe
def test_reframe_compares_with_what_the_site_measured(tmp_path: Path) -> None:
    references = tmp_path / "site.json"
    for value, code in ((1e12, 0), (1e-3, 1)):
        references.write_text(json.dumps({"here:alone": {CASE: [value, None, 0.1, "ns"]}}), encoding="utf-8")
        done = check(tmp_path, "-S", f"convladder_check.choice={CHOICE}",
                     "-S", f"convladder_check.references={references}")
        assert done.returncode == code, done.stdout + done.stderr
        assert ("failed to meet reference" in done.stdout) == (code == 1)


@needs_reframe
@pytest.mark.parametrize("choice, said", [
    ("--nonsense", "convladder wrote no record"),
    ("--device cpu --variant flat-vector --layer lenet72.conv9", "convladder wrote no record")])
def test_reframe_says_why_nothing_ran(tmp_path: Path, choice: str, said: str) -> None:
    done = check(tmp_path, "-S", f"convladder_check.choice={choice}")
    assert done.returncode == 1 and said in done.stdout, done.stdout


@needs_reframe
def test_reframe_fails_where_a_case_is_wrong(tmp_path: Path) -> None:
    choice = CHOICE.replace("flat-vector", "seeded-border")
    done = check(tmp_path, "-S", f"convladder_check.choice={choice}", program=SEEDED)
    assert done.returncode == 1 and "incorrect" in done.stdout, done.stdout
