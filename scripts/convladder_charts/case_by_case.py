"""A large record, read from its file case by case: neither the text nor the cases are ever in memory as a whole.

The cases and the ladders of the document are `Elements`: they are parsed each time they are asked for. Any layout of JSON
is read this way; only a record that was cut off has to have the layout in which convladder writes it."""

from __future__ import annotations

import codecs
import hashlib
import json
import os
import re
import sys
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NoReturn, Optional, Union, overload

from convladder_charts.json_text import (CASES_LINE, Constant, Duplicate, RecordError, constants, cut_off, no_json,
                                         no_text, object_of, refuse_constant)

ONE_BY_ONE = ("cases", "ladders")
"""Members of a record whose elements stay in the file."""
_CHUNK = 2**20
_LARGEST_VALUE = 256 * 2**20
"""Characters of one value, as of a whole record that is read at once."""
_KEPT = 80
"""Characters before the place that is read: what the layout shows by."""
_UNSURE = 16
"""An error so near to the end of what was read may come from there being more."""
_OUTLINE = ("id", "variant", "family", "rung", "device", "network", "layer", "problem", "batch", "status", "reason",
            "leaves_out", "session")
_NAMES = {"variant", "family", "device", "network", "layer", "problem", "status", "reason"}
_NOT_KEPT: dict[str, Any] = {}
_END_OF_CASE = "\n  }"
_LINE = re.compile(rb"\n(  \}| \])")


class Elements(Sequence[Any]):
    """The elements of an array, in the order of the file."""

    def __init__(self, file: IO[bytes], path: Path) -> None:
        self._file, self._path = file, path
        self._starts = array("Q")
        self._sizes = array("Q")
        self.outlines: list[dict[str, Any]] = []
        """Of cases: what tells them from each other and is short."""

    def append(self, start: int, size: int) -> None:
        """Bytes of the file."""
        self._starts.append(start)
        self._sizes.append(size)

    def start(self, index: int) -> int:
        """Where an element begins in the file."""
        return self._starts[index]

    def cut(self, count: int) -> None:
        """Keeps the first ones."""
        del self._starts[count:], self._sizes[count:], self.outlines[count:]

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, index: int) -> Any: ...

    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...

    def __getitem__(self, index: Union[int, slice]) -> Any:
        if isinstance(index, slice):
            return [self[one] for one in range(*index.indices(len(self)))]
        content = os.pread(self._file.fileno(), self._sizes[index], self._starts[index])
        try:
            return json.loads(content)
        except ValueError:
            raise RecordError(f"{self._path}: it changed while it was read") from None

    def __iter__(self) -> Iterator[Any]:
        return (self[index] for index in range(len(self)))


class Reader:
    """Goes through a file once; checks all of it as strictly as a small record is checked."""

    def __init__(self, file: IO[bytes], path: Path, chunk: int = _CHUNK) -> None:
        self.sha256 = hashlib.sha256()
        self.size = 0
        self.most_held = 0
        """The most characters that were held at once."""
        self._file, self._path, self._chunk = file, path, chunk
        self._decode = codecs.getincrementaldecoder("utf-8")()
        self._text, self._at, self._byte, self._ended = "", 0, 0, False
        self._lines, self._column = 1, 1  # of the first character of the text
        self._parse = json.JSONDecoder(object_pairs_hook=object_of, parse_constant=refuse_constant).raw_decode
        self._document: dict[str, Any] = {}
        self._in_cases = self._is_laid_out = False
        self._case = 0  # behind the last case that was read, or where the next one begins
        self._odd: Optional[int] = None  # the first case that does not end as convladder writes it
        self._shared: dict[Any, Any] = {}

    def read(self) -> dict[str, Any]:
        """The document. Raises RecordError."""
        try:
            return self._checked()
        except UnicodeDecodeError as error:
            raise no_text(self._path, self._byte_of(error)) from None

    def _checked(self) -> dict[str, Any]:
        try:
            self._read()
        except json.JSONDecodeError as error:
            self._cut_or(error)
        except Constant:
            line, column, token = next(constants(self._text[self._at:]))
            raise RecordError(f"{self._path}:{self._place(self._at, line, column)}: {token} is not JSON; expected a number "
                              "or null") from None
        except Duplicate as error:
            raise RecordError(f"{self._path}: the member {error} occurs twice in one object; expected it once") from None
        except RecursionError:
            raise no_json(f"{self._path}:{self._place(self._at)}", "nested too deeply") from None
        except UnicodeDecodeError:
            raise
        except ValueError as error:
            raise no_json(f"{self._path}:{self._place(self._at)}", error) from None
        return self._document

    def _read(self) -> None:
        self._expect("{")
        if self._next() == "}":
            self._advance(self._at + 1)
        else:
            self._members()
        if self._next():
            self._fail("Extra data")

    def _members(self) -> None:
        while True:
            if self._next() != '"':
                self._fail("Expecting property name enclosed in double quotes")
            laid_out = self._text.endswith(CASES_LINE[:-len('"cases": [')], 0, self._at)
            name = self._value()
            if name in self._document:
                raise Duplicate(json.dumps(name if len(name) <= 40 else name[:39] + "…"))
            self._expect(":")
            if name in ONE_BY_ONE and self._next() == "[":
                self._is_laid_out |= laid_out and name == "cases" and self._text.startswith(" [", self._at - 1)
                self._elements(name)
            else:
                self._document[name] = self._value()
            if self._next() == "}":
                self._advance(self._at + 1)
                return
            self._expect(",")

    def _elements(self, name: str) -> None:
        elements = self._document[name] = Elements(self._file, self._path)
        self._in_cases = is_cases = name == "cases"
        self._expect("[")
        while self._next() != "]":
            if len(elements):
                self._expect(",")
                self._next()
            start = self._case = self._byte
            value = self._value()
            self._case = self._byte
            elements.append(start, self._case - start)
            if is_cases:
                elements.outlines.append(self._outline(value))
                if self._odd is None and not self._text.endswith(_END_OF_CASE, 0, self._at):
                    self._odd = len(elements) - 1
            if self._next() not in (",", "]"):
                self._fail("Expecting ',' delimiter")
        self._in_cases = False
        self._advance(self._at + 1)

    def _outline(self, case: Any) -> Any:
        """Equal parts of different cases are held once."""
        if not isinstance(case, dict):
            return case
        outline = {name: self._share(case[name]) if name in _NAMES else case[name] for name in _OUTLINE if name in case}
        for name in ("counters", "prediction"):
            if name in case:
                outline[name] = None if case[name] is None else _NOT_KEPT
        for name, members in (("work", ("flop",)), ("quality", ("mark", "reasons")), ("checkers", ("not_checked",))):
            part = case.get(name)
            if isinstance(part, dict):
                part = self._share({key: part[key] for key in members if key in part})
            if name in case:
                outline[name] = part
        return outline

    def _share(self, value: Any) -> Any:
        return self._shared.setdefault((type(value), value if isinstance(value, str) else json.dumps(value)), value)

    # -- the text

    def _next(self) -> str:
        """The next character that is no space; nothing at the end. It becomes the place that is read."""
        while True:
            end = self._at
            while end < len(self._text) and self._text[end] in " \t\n\r":
                end += 1
            self._advance(end)
            if end < len(self._text):
                return self._text[end]
            if not self._more():
                return ""

    def _expect(self, character: str) -> None:
        if self._next() != character:
            self._fail(f"Expecting '{character}' delimiter" if character != "{" else "Expecting value")
        self._advance(self._at + 1)

    def _value(self) -> Any:
        """Behind spaces. More is read as long as the value may not be whole."""
        self._next()
        while True:
            try:
                value, end = self._parse(self._text, self._at)
                behind = end - self._at
                if end < len(self._text) - len("e+") or not self._more():  # of a number that goes on
                    self._advance(self._at + behind)
                    return value
            except json.JSONDecodeError as error:
                behind = error.pos - self._at
                may_go_on = error.msg.startswith("Unterminated string") or error.pos >= len(self._text) - _UNSURE
                if not may_go_on or not self._more():
                    raise json.JSONDecodeError(error.msg, self._text, self._at + behind) from None

    def _advance(self, end: int) -> None:
        passed = self._text[self._at:end]
        self._byte += len(passed) if passed.isascii() else len(passed.encode("utf-8"))
        self._at = end

    def _more(self) -> bool:
        """Reads on, as much again as is held of an unfinished value; what is behind is let go."""
        if self._ended:
            return False
        gone = max(self._at - _KEPT, 0)
        if gone:
            breaks = self._text.count("\n", 0, gone)
            self._lines += breaks
            self._column = gone - self._text.rfind("\n", 0, gone) if breaks else self._column + gone
        if len(self._text) - gone > _LARGEST_VALUE:
            raise RecordError(f"{self._path}:{self._place(self._at)}: one value has more than {_LARGEST_VALUE} characters; "
                              "a run.json never has")
        content = self._file.read(max(self._chunk, len(self._text) - gone))
        self.sha256.update(content)
        self.size += len(content)
        self._ended = not content
        self._text = self._text[gone:] + self._decode.decode(content, self._ended)
        self._at -= gone
        self.most_held = max(self.most_held, len(self._text))
        return not self._ended

    def _byte_of(self, error: UnicodeDecodeError) -> int:
        """The decoder had the bytes of an unfinished character, and then those that were read last."""
        return self.size - len(error.object) + error.start

    # -- what is wrong

    def _fail(self, message: str) -> NoReturn:
        raise json.JSONDecodeError(message, self._text, self._at)

    def _place(self, at: int, line: int = 1, column: int = 1) -> str:
        """Line and column of a character of the text, or of one at a line and a column from there."""
        breaks = self._text.count("\n", 0, at)
        before = at - self._text.rfind("\n", 0, at) if breaks else self._column + at
        return f"{self._lines + breaks + line - 1}:{column if line > 1 else before + column - 1}"

    def _cut_or(self, error: json.JSONDecodeError) -> None:
        """The document up to the last whole case, if the record was cut in its cases or behind them."""
        place, ends = self._place(error.pos), self._ended and error.pos >= len(self._text.rstrip())
        ends |= error.msg.startswith("Unterminated string")
        if not self._is_laid_out or "context" not in self._document or self._goes_on():
            raise no_json(f"{self._path}:{place}", "the file ends in the middle" if ends else
                          error.msg[:1].lower() + error.msg[1:]) from None
        if self._odd is not None:
            self._document["cases"].cut(self._odd)
        kept = list(self._document)[:list(self._document).index("cases") + 1]
        self._document = cut_off({name: self._document[name] for name in kept}, self._path)
        while self._more():
            self._at = len(self._text)

    def _goes_on(self) -> bool:
        """Whether a case ends below the first that is not whole: then the file is broken, and was not cut."""
        if self._odd is not None:
            self._case = self._document["cases"].start(self._odd)
        elif not self._in_cases:
            return False
        place, held = self._case, b"\n"
        while content := os.pread(self._file.fileno(), self._chunk, place):
            found = _LINE.search(held + content)
            if found:
                return found[1] == b"  }"
            place, held = place + len(content), (held + content)[-len(_END_OF_CASE):]
        return False
