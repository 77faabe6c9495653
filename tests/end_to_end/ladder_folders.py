"""Folders that are ladders, for tests: a small problem whose reference is Python, so that nothing need be compiled."""

from __future__ import annotations

import copy
import json
import os
from pathlib import Path
from typing import Any

PROBLEM: dict[str, Any] = {
    "name": "doubled",
    "dimensions": {"N": {"name": "elements", "to": 1000000}},
    "tensors": [
        {"name": "x", "role": "in", "type": "f32", "shape": ["N"]},
        {"name": "y", "role": "out", "type": "f32", "shape": ["N"], "compare": {"tolerance": 1e-6}},
    ],
    "sizes": ["N1000"],
    "work": {"flop": "N"},
}
REFERENCE = "def reference(x, N):\n    return 2 * x\n"
REFERENCE_CPP = """extern "C" void reference(const double* x, double* y, double* y_scale, int N) {
  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
}
"""
STAGE = """extern "C" void solve(const float* x, float* y, int N) {
  for (int i = 0; i < N; ++i) y[i] = 2 * x[i];
}
"""


def changed_problem(place: str, value: Any) -> dict[str, Any]:
    """PROBLEM with another value at a JSON pointer."""
    problem = copy.deepcopy(PROBLEM)
    at: Any = problem
    *way, last = place.strip("/").split("/")
    for step in way:
        at = at[int(step) if isinstance(at, list) else step]
    at[int(last) if isinstance(at, list) else last] = value
    return problem


def write_ladder(folder: Path, problem: Any = None, reference: str | None = REFERENCE, **stages: str) -> Path:
    """The folder with everything that a ladder needs. `problem` may also be a text."""
    folder.mkdir(parents=True, exist_ok=True)
    text = problem if isinstance(problem, str) else json.dumps(problem or PROBLEM)
    (folder / "problem.json").write_text(text, encoding="utf-8")
    if reference is not None:
        (folder / "reference.py").write_text(reference, encoding="utf-8")
    for name, source in (stages or {"01_plain": STAGE}).items():
        (folder / (name if "." in name else f"{name}.cpp")).write_text(source, encoding="utf-8")
    return folder


def environment(**changes: str | None) -> dict[str, str]:
    """That of this process with these variables, without those that are None."""
    variables = {**os.environ, **{name: value for name, value in changes.items() if value is not None}}
    return {name: value for name, value in variables.items() if changes.get(name, "") is not None}
