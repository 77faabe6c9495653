"""The public sets of problems, imported from folders that environment variables name, and compared with their originals."""
from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from problem_sets import PYTHON, has_torch

HERE = Path(__file__).resolve().parent
IMPORT = HERE.parents[1] / "scripts/import_problems.py"
LIMIT = 4 << 30

SETS = [  # the variable; the least that has to be imported, of sets as they were in 2026
    ("CONVLADDER_KERNELBENCH", 60),
    ("CONVLADDER_FLASHINFER", 40),
    ("CONVLADDER_GPU_MODE", 8),
]
BYTES = {"f64": 8, "f32": 4, "i32": 4, "u32": 4, "i64": 8, "u64": 8, "f16": 2, "bf16": 2, "i16": 2, "u16": 2, "i8": 1, "u8": 1}


@pytest.mark.parametrize("variable, least", SETS)
def test_a_set_is_imported_and_like_its_original(variable: str, least: int, tmp_path: Path) -> None:
    """The variable names folders, with ':' between them."""
    named = os.environ.get(variable)
    if not named:
        pytest.skip(f"{variable} names no folder")
    if not has_torch():
        pytest.skip("CONVLADDER_PYTHON names no python with torch")
    out = tmp_path / "out"
    done = subprocess.run([sys.executable, "-B", IMPORT, *named.split(":"), "--output", out, "--small-bytes", "4GiB"], capture_output=True,
                          text=True, check=False, env=os.environ | {"PYTHON": PYTHON})
    print(done.stdout.splitlines()[-1])
    print(done.stderr)
    assert done.returncode in (0, 2), done.stderr
    folders = sorted(one for one in out.iterdir() if one.is_dir())
    assert len(folders) >= least
    sys.path.insert(0, str(HERE))
    for folder in folders:
        require_sizes(json.loads((folder / "problem.json").read_text(encoding="utf-8")), folder.name)
    compared = subprocess.run([PYTHON, "-B", HERE / "compare_imported.py", *folders], capture_output=True, text=True, check=False)
    lines = [json.loads(line) for line in compared.stdout.splitlines() if line.startswith("{")]
    assert len(lines) == len(folders), compared.stderr
    assert [one for one in lines if one["differs"]] == []


def require_sizes(problem: dict, name: str) -> None:
    """Every size that is run by default fits 4 GiB, with the reference's float64."""
    for size in problem["sizes"]:
        taken = 0
        known = sizes_of(problem, size)
        for tensor in problem["tensors"]:
            elements = 1
            for one in tensor["shape"]:
                elements *= int(value(one, known))
            taken += elements * (BYTES[tensor["type"]] + 8)
        assert taken <= LIMIT, f"{name} {size} takes {taken} bytes"


def sizes_of(problem: dict, text: str) -> dict[str, int]:
    import re
    known = {letter: int(number) for letter, number in re.findall(r"([A-Z]+)(\d+)", text)}
    for name, formula in problem.get("derived", {}).items():
        known[name] = int(value(formula, known))
    return known


def value(text: object, known: dict[str, int]) -> float:
    functions = {"div": lambda a, b: a // b, "mod": lambda a, b: a % b, "min": min, "max": max}
    return eval(str(text).replace("^", "**"), {"__builtins__": {}} | functions, known)
