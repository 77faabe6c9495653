"""Reading JSON so that every complaint names the file and the place in it."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Union, overload

_LARGEST_INTEGER = 2**63 - 1
CASES_LINE = '\n "cases": ['
_LINE = re.compile(r"\n([^\n]*)")
_STRING_OR_CONSTANT = re.compile(r'"(?:[^"\\]|\\.)*"|-?Infinity|NaN', re.DOTALL)


class RecordError(Exception):
    """A file that is no readable run. The message is one line: file, place, what was expected."""


def parse_json(text: str, path: Path) -> Any:
    """The document in the text of a file. Raises RecordError; NaN and Infinity are refused: JSON has no such tokens."""
    try:
        document = json.loads(text, parse_constant=refuse_constant, object_pairs_hook=object_of)
    except json.JSONDecodeError as error:
        whole = closed_record(text)
        if whole:
            return cut_off(parse_json(whole, path), path)
        what = "the file is empty" if not text.strip() else _ending_or(error, text)
        raise no_json(f"{path}:{error.lineno}:{error.colno}", what) from None
    except Constant:
        line, column, token = next(constants(text))
        raise RecordError(f"{path}:{line}:{column}: {token} is not JSON; expected a number or null") from None
    except Duplicate as error:
        raise RecordError(f"{path}: the member {error} occurs twice in one object; expected it once") from None
    except RecursionError:
        raise no_json(f"{path}:1:1", "nested too deeply") from None
    except ValueError as error:  # an integer of thousands of digits
        raise no_json(f"{path}:1:1", error) from None
    return document


def no_json(place: str, what: object) -> RecordError:
    """What is wrong with a file that is no JSON, and where."""
    return RecordError(f"{place}: {one_line(what)}; expected the JSON of a convladder run")


def cut_off(document: dict[str, Any], path: Path) -> dict[str, Any]:
    """The record of the whole cases of one that was cut, which is said: it is not complete, and nothing is derived."""
    if document.get("complete") is True:
        document["complete"] = False
    derived = {"run": "ladders", "sweep": "sweeps", "rank": "rankings"}.get(document.get("kind", ""))
    if derived:
        document[derived] = []
    print(f"{path}: cut off in the middle; whole cases that are used: {len(document['cases'])}", file=sys.stderr)
    return document


def is_of_networks(document: Any) -> bool:
    """Whether a document says of itself that it is a record of `convladder network`."""
    return isinstance(document, dict) and document.get("kind") == "network"


def constants(text: str) -> Iterator[tuple[int, int, str]]:
    """Line, column and text of each NaN or Infinity outside strings."""
    for match in _STRING_OR_CONSTANT.finditer(text):
        if not match.group().startswith('"'):
            line = text.count("\n", 0, match.start()) + 1
            yield line, match.start() - text.rfind("\n", 0, match.start()), match.group()


def one_line(message: object) -> str:
    """A message of somebody else's as one line."""
    return " ".join(str(message).split())


def closed_record(text: str) -> str:
    """A record that was cut in its cases or behind them, closed behind the last case that is whole; else nothing.

    As convladder's own reader does it (harness/measure/records/record_file.cpp): a case begins and ends on lines of its own."""
    cases = text.find(CASES_LINE)
    if cases < 0:
        return ""
    base = end = cases + len(CASES_LINE)
    for line in _LINE.finditer(text[base:]):
        if line[1].startswith(" ]"):
            break
        if line[1].startswith("  }"):
            end = base + line.start() + len("\n  }")
    head = text[:cases].replace('\n "complete": true,', '\n "complete": false,', 1)
    closed = f"{head}{text[cases:end]}\n ]\n}}"
    try:
        document = json.loads(closed)
    except json.JSONDecodeError:
        return ""
    return closed if "context" in document else ""


def text_of(content: bytes, path: Path) -> str:
    """The text of a file's bytes. Raises RecordError."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise no_text(path, error.start) from None


def no_text(path: Path, byte: int) -> RecordError:
    """That a file is no text."""
    return RecordError(f"{path}: byte {byte} is not UTF-8; expected the JSON of a convladder run")


def _ending_or(error: json.JSONDecodeError, text: str) -> str:
    """The parser's complaint, or the plain word for a file that stops in the middle."""
    stops = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
    return "the file ends in the middle" if stops else error.msg[:1].lower() + error.msg[1:]


class Constant(Exception):
    pass


class Duplicate(Exception):
    pass


def object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; an error if a name occurs twice, because readers differ in which value they use."""
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in members if names.count(name) > 1)
        raise Duplicate(json.dumps(twice if len(twice) <= 40 else twice[:39] + "…"))
    return members


def refuse_constant(token: str) -> Any:
    raise Constant(token)


class Node:
    """A value together with its place in the document, so that a wrong one can be named: $.cases[3].batch."""

    def __init__(self, value: Any, source: Path, place: str = "$") -> None:
        self.value = value
        self.source = source
        self.place = place

    def field(self, name: str) -> "Node":
        """A required member of an object."""
        if not isinstance(self.value, dict):
            raise self.wrong("an object")
        if name not in self.value:
            raise RecordError(f"{self.source}: {self.place}: the member \"{name}\" is missing")
        return Node(self.value[name], self.source, f"{self.place}.{name}")

    def items(self) -> Sequence["Node"]:
        """The elements of an array; those that stay in their file are read each time they are asked for."""
        if isinstance(self.value, list):
            return [self._item(item, index) for index, item in enumerate(self.value)]
        if not isinstance(self.value, Sequence) or isinstance(self.value, str):
            raise self.wrong("an array")
        return _InFile(self)

    def outlines(self) -> Sequence["Node"]:
        """The cases, or of those that stay in their file what is short of each (case_by_case.py)."""
        outlines = getattr(self.value, "outlines", None)
        return self.items() if outlines is None else _InFile(Node(outlines, self.source, self.place))

    def item(self, index: int) -> "Node":
        """One element of an array."""
        return self._item(self.value[index], index)

    def _item(self, value: Any, index: int) -> "Node":
        return Node(value, self.source, f"{self.place}[{index}]")

    def text(self) -> str:
        """The string as it stands, for lookups; draw it through `printable`."""
        if not isinstance(self.value, str):
            raise self.wrong("a string")
        return self.value

    def integer(self) -> int:
        """A whole number; true and false do not count."""
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            raise self.wrong("an integer")
        if abs(self.value) > _LARGEST_INTEGER:
            raise self.wrong("an integer of 64 bits")
        return self.value

    def positive(self) -> int:
        """A whole number from 1."""
        if self.integer() < 1:
            raise self.wrong("an integer from 1")
        return self.integer()

    def number(self) -> float:
        """A finite number."""
        if not isinstance(self.value, (int, float)) or isinstance(self.value, bool) or not _finite(self.value):
            raise self.wrong("a finite number")
        return float(self.value)

    def numbers(self) -> dict[str, float]:
        """An object all of whose members are finite numbers."""
        if not isinstance(self.value, dict):
            raise self.wrong("an object")
        return {name: self.field(name).number() for name in self.value}

    def boolean(self) -> bool:
        """true or false."""
        if not isinstance(self.value, bool):
            raise self.wrong("true or false")
        return self.value

    def is_null(self) -> bool:
        """Whether the value is null."""
        return self.value is None

    def wrong(self, expected: str) -> RecordError:
        """The error that says what is here instead of `expected`."""
        found = json.dumps(self.value)
        found = found if len(found) <= 40 else found[:37] + "..."
        return RecordError(f"{self.source}: {self.place}: expected {expected}, found {found}")


class _InFile(Sequence[Node]):
    """The elements of an array that stay in their file."""

    def __init__(self, array: Node) -> None:
        self._array = array

    def __len__(self) -> int:
        return len(self._array.value)

    @overload
    def __getitem__(self, index: int) -> Node: ...

    @overload
    def __getitem__(self, index: slice) -> list[Node]: ...

    def __getitem__(self, index: Union[int, slice]) -> Union[Node, list[Node]]:
        if isinstance(index, slice):
            return [self._array.item(one) for one in range(*index.indices(len(self)))]
        return self._array.item(range(len(self))[index])

    def __iter__(self) -> Iterator[Node]:
        return (self._array.item(index) for index in range(len(self)))


def _finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond any double
        return False
