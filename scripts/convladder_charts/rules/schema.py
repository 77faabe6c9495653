"""What a record's schema finds wrong with it."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import Any, Iterator

import jsonschema

from convladder_charts.case_by_case import Elements
from convladder_charts.json_text import one_line
from convladder_charts.rules.problem import Problem

SCHEMAS = Path(__file__).resolve().parents[3] / "results"
MOST = 100_000
"""Problems that are told of one record."""
_OF_LAYERS = "run.schema.json"
_OF_KINDS = {"network": "network.schema.json", "sweep": "sweep.schema.json", "rank": "rank.schema.json"}


def problems(document: Any, kind: str) -> Iterator[Problem]:
    """In the order of their places, as texts. The cases of a large record are looked at one by one."""
    found = []
    for error in islice(_validator(_OF_KINDS.get(kind, _OF_LAYERS)).iter_errors(document), MOST + 1):
        deepest = jsonschema.exceptions.best_match([error])
        message = one_line(deepest.message)
        found.append(([str(part) for part in error.path], _place(deepest.absolute_path),
                      message if len(message) <= 160 else message[:157] + "..."))
    more = len(found) > MOST
    found = sorted(found[:MOST], key=lambda one: one[0])
    yield from ((place, message) for _, place, message in found)
    if more:
        yield "$", f"has more than {MOST} problems; the others are not told"


def _validator(name: str) -> Any:
    """Of a schema in results/, which may refer to the others by their file names."""
    schemas = {f"{(SCHEMAS / one).as_uri()}": _schema(one) for one in (_OF_LAYERS, *_OF_KINDS.values())}
    base = (SCHEMAS / name).as_uri()
    draft = jsonschema.Draft7Validator
    arrays = draft.TYPE_CHECKER.redefine("array", lambda _, value: isinstance(value, (list, Elements)))
    return jsonschema.validators.extend(draft, type_checker=arrays)(
        schemas[base], resolver=jsonschema.RefResolver(base, schemas[base], schemas))


def _schema(name: str) -> Any:
    """Without its $id: python3-jsonschema resolves a relative one against itself and then looks for it in the web."""
    schema = json.loads((SCHEMAS / name).read_text(encoding="utf-8"))
    schema.pop("$id", None)
    return schema


def _place(path: Any) -> str:
    return "$" + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
