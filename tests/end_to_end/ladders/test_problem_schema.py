"""ladders/problem.schema.json takes every problem.json of this repository, and it and the program refuse the same files."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from conftest import REPOSITORY, assert_refused, run
from ladder_folders import PROBLEM, changed_problem, write_ladder

SCHEMA = json.loads((REPOSITORY / "ladders/problem.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
EXAMPLE = REPOSITORY / "tests/ladders/problem_file_test.cpp"
FILES = sorted([*REPOSITORY.glob("ladders/*/problem.json"), *REPOSITORY.glob("variants/*/problem.json")])
MISSING = object()

Y = "/tensors/1"
BAD: list[tuple[str, Any]] = [
    ("/name", MISSING), ("/name", ""), ("/name", "Doubled"), ("/name", "9x"), ("/name", "a-"), ("/name", "a_b"),
    ("/name", "a" * 61), ("/name", 7), ("/title", 5), ("/title", "t" * 257),
    ("/include_folders", "../tiles"), ("/include_folders", ["tiles"]), ("/include_folders", ["../"]),
    ("/include_folders", ["../.."]), ("/include_folders", ["../a/b"]), ("/include_folders", ["../../tiles"]),
    ("/include_folders", ["/usr/include"]), ("/include_folders", ["../.ssh"]), ("/include_folders", ["../tiles"] * 17),
    ("/dimensions", MISSING), ("/dimensions", {}), ("/dimensions", []), ("/dimensions/n", {"name": "small"}),
    ("/dimensions/N", {}), ("/dimensions/N/name", ""), ("/dimensions/N/from", -1), ("/dimensions/N/from", 1.5),
    ("/dimensions/N/to", 2**31), ("/dimensions/N/to", "7"), ("/dimensions/N/usual", -1), ("/dimensions/N/most", 7),
    ("/dimensions", {chr(65 + i // 26) + chr(65 + i % 26): {"name": "n"} for i in range(27)}),
    ("/derived", []), ("/derived", {"a": "1"}), ("/derived", {"A": ""}), ("/derived", {"A": True}),
    ("/derived", {"A": ["N"]}), ("/derived", {"A": "N" + " + 1" * 300}),
    ("/tensors", MISSING), ("/tensors", []), ("/tensors", {}), ("/tensors", [PROBLEM["tensors"][0]]),
    ("/tensors", [PROBLEM["tensors"][1] | {"name": f"y{i}"} for i in range(65)]),
    ("/tensors/0/name", MISSING), ("/tensors/0/name", "1x"), ("/tensors/0/name", "x y"), ("/tensors/0/name", "float"),
    ("/tensors/0/name", "x" * 61), ("/tensors/0/role", "input"), ("/tensors/0/role", MISSING),
    ("/tensors/0/type", "f8"), ("/tensors/0/type", MISSING), ("/tensors/0/shape", MISSING), ("/tensors/0/shape", "N"),
    ("/tensors/0/shape", ["N"] * 9), ("/tensors/0/shape", [None]), ("/tensors/0/sizes", ["N"]),
    ("/tensors/0/compare", "exact"), ("/tensors/0/fill", "uniform"), ("/tensors/0/fill", {}),
    ("/tensors/0/fill", {"kind": "gauss"}), ("/tensors/0/fill", {"kind": "uniform", "low": 0}),
    ("/tensors/0/fill", {"kind": "uniform", "low": 0, "high": 1, "mean": 0}),
    ("/tensors/0/fill", {"kind": "whole", "low": 0.5, "high": 3}),
    ("/tensors/0/fill", {"kind": "normal", "mean": 0, "deviation": 0}),
    ("/tensors/0/fill", {"kind": "constant"}), ("/tensors/0/fill", {"kind": "permutation", "low": 0}),
    ("/tensors/0/fill", {"kind": "choice"}), ("/tensors/0/fill", {"kind": "choice", "values": []}),
    ("/tensors/0/fill", {"kind": "choice", "values": ["1"]}), ("/tensors/0/fill", {"kind": "shares", "low": 0}),
    ("/tensors/0/fill", {"kind": "uniform", "low": 0, "high": "N"}), ("/tensors/0/fill", {"kind": "whole", "low": 0, "high": ""}),
    ("/tensors/0", {"name": "x", "role": "in", "type": "i32", "shape": ["N"], "fill": {"kind": "offsets"}}),
    ("/tensors/0", {"name": "x", "role": "in", "type": "i32", "shape": ["N"], "fill": {"kind": "shares"}}),
    ("/tensors/0/fill", {"kind": "offsets", "last": "N"}),
    ("/tensors/0", {"name": "x", "role": "in", "type": "i32", "shape": ["N"],
                    "fill": {"kind": "uniform", "low": 0, "high": 9}}),
    ("/tensors/0", {"name": "x", "role": "in", "type": "u8", "shape": ["N"],
                    "fill": {"kind": "whole", "low": 0, "high": 300}}),
    ("/tensors/0", {"name": "x", "role": "in", "type": "i8", "shape": ["N"], "fill": {"kind": "constant", "value": 128}}),
    (f"{Y}/fill", {"kind": "constant", "value": 1}), (f"{Y}/compare", MISSING), (f"{Y}/compare", "nearly"),
    (f"{Y}/compare", 1e-6), (f"{Y}/compare", {}), (f"{Y}/compare", {"tolerance": 0}),
    (f"{Y}/compare", {"tolerance": 1.5}), (f"{Y}/compare", {"tolerance": "1e-6"}),
    (f"{Y}/compare", {"tolerance": 1e-6, "scale": 2}),
    (Y, {"name": "y", "role": "out", "type": "i32", "shape": ["N"], "compare": {"tolerance": 0.1}}),
    ("/scalars", {}), ("/scalars", [{"name": "s", "type": "f32"}]), ("/scalars", [{"name": "s", "value": "1"}]),
    ("/scalars", [{"name": "s", "type": "f32", "value": "1", "unit": "m"}]),
    ("/sizes", MISSING), ("/sizes", []), ("/sizes", "N10"), ("/sizes", [10]), ("/sizes", [""]),
    ("/sizes", ["N10"] * 1001), ("/counted_sizes", []),
    ("/work", MISSING), ("/work", {}), ("/work", {"flop": None}), ("/work/bytes", "N"), ("/flops", "N"),
]
"""A JSON pointer, and what makes a problem wrong there; what a schema can see."""


def example() -> dict[str, Any]:
    """The problem of the reader's own test."""
    found = re.search(r'R"\((\{.*?\})\)"', EXAMPLE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    return json.loads(found.group(1))


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name)
def test_the_problems_of_this_repository_follow_it(path: Path) -> None:
    VALIDATOR.validate(json.loads(path.read_text(encoding="utf-8")))


def test_the_examples_of_the_tests_follow_it() -> None:
    VALIDATOR.validate(example())
    VALIDATOR.validate(PROBLEM)


def test_every_object_is_closed() -> None:
    """A misspelt field would silently mean the default."""
    def look(schema: Any, place: str) -> None:
        if not isinstance(schema, dict):
            return
        if schema.get("type") == "object":
            assert "additionalProperties" in schema or "oneOf" in schema, place
        for name, value in schema.items():
            for i, one in enumerate(value if isinstance(value, list) else [value]):
                look(one, f"{place}/{name}/{i}")

    look(SCHEMA, "")


def bad_problem(place: str, value: Any) -> dict[str, Any]:
    """PROBLEM with that at the place, or without what is there."""
    problem = changed_problem(place, None if value is MISSING else copy.deepcopy(value))
    if value is MISSING:
        at: Any = problem
        *way, last = place.strip("/").split("/")
        for step in way:
            at = at[int(step) if isinstance(at, list) else step]
        del at[last]
    return problem


@pytest.mark.parametrize("place, value", BAD, ids=[f"{i}{place}" for i, (place, _) in enumerate(BAD)])
def test_what_is_wrong_is_refused_by_both(tmp_path: Path, place: str, value: Any) -> None:
    problem = bad_problem(place, value)
    assert not VALIDATOR.is_valid(problem), "the schema takes it"
    line = assert_refused(run("run", write_ladder(tmp_path / "ladder", problem), "--dry-run"), "problem.json: ")
    assert "sizes" in place or "N10" not in line
