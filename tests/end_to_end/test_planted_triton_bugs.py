"""Bugs planted in kernels of Triton and gluon: each is found with its line of Python by a checker, or, where only the numbers are wrong, by
the comparison with a reference; the fixed twins are clean. The pairs are those of planted_triton_bugs/pairs.py."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import PROGRAM, is_sanitized, run

PAIRS = Path(__file__).parent / "planted_triton_bugs" / "pairs.py"
PYTHON = os.environ.get("CONVLADDER_PYTHON", "/usr/bin/python3")
PLACE = re.compile(r"pairs\.py(?: line |:)(\d+)")

pytestmark = [pytest.mark.skipif(not (PROGRAM.parent / "stand_in" / "libcudart.so.13").exists(), reason="no stand-in in this build"),
              pytest.mark.skipif(is_sanitized(), reason="a program without sanitizers cannot load a library with them"),
              pytest.mark.skipif(subprocess.run([PYTHON, "-c", "import torch, triton"], capture_output=True, check=False).returncode != 0,
                                 reason="CONVLADDER_PYTHON names no python with torch and Triton")]


@pytest.fixture(name="seen", scope="module")
def _seen(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, bool], dict[str, Any]]:
    """Of each kernel, with its bug and without."""
    folder = tmp_path_factory.mktemp("planted")
    # Nothing is asked of the machine code, and to assemble it takes as long as all else.
    ptxas = folder / "ptxas"
    ptxas.write_text("#!/bin/sh\n[ \"$1\" != --version ] || echo 'release 13.1, V13.1.0'\n", encoding="utf-8")
    ptxas.chmod(0o755)
    environment = dict(os.environ, CONVLADDER_PTXAS=str(ptxas), TRITON_CACHE_DIR=str(folder / "cache"))
    done = run("simulate", "--output", folder / "report.json", "--", PYTHON, PAIRS, cwd=folder, env=environment)
    assert done.returncode == 1, done.stdout + done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return {(one["name"], one["wrong"]): one for one in lines}


def places(one: dict[str, Any]) -> set[tuple[int, str]]:
    """The line and the checker of each finding: the first line of the kernels' file that it names."""
    found = set()
    for text in one["findings"]:
        place = PLACE.search(text.partition("': '")[2] or text)
        assert place is not None, text
        found.add((int(place.group(1)), text.partition(":")[0]))
    return found


def test_every_planted_bug_is_said_with_its_line(seen: dict[tuple[str, bool], dict[str, Any]]) -> None:
    assert len(seen) >= 40
    for (name, wrong), one in seen.items():
        planted = {(line, by) for line, by in one["planted"]}
        assert one["error"] == "" and planted, (name, one)
        if not wrong:
            assert one["findings"] == [] and one["is_right"], (name, one)
        elif {by for _, by in planted} == {"numbers"}:
            assert one["findings"] == [] and not one["is_right"], (name, one)
        else:
            found = places(one)
            assert found and found <= planted, (name, sorted(found), one)
