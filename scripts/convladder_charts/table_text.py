"""Text in the columns of a terminal, and in Markdown."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from typing import Iterable

WIDTH = 100
"""Columns of a terminal."""
_MARKDOWN_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#~$&!])")


@dataclass(frozen=True)
class Table:
    """A table with its heading. `texts` says how many columns at the left hold text."""

    heading: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    texts: int
    notes: tuple[str, ...] = ()
    place: str = ""
    """Where its figures stand in the record."""
    row_places: tuple[str, ...] = ()
    """The same for each row, or nothing."""
    kind: str = ""
    """Its kind, in the words of the published tables: op times, sweep, profile."""

    def short(self, most: int) -> "Table":
        """With so many rows at most, and how many more there are."""
        more = len(self.rows) - most
        if more <= 0:
            return self
        note = f"{more:,} more row{'s' * (more != 1)} are not on this page; the record has them."
        return replace(self, rows=self.rows[:most], row_places=self.row_places[:most], notes=(note, *self.notes))

    def is_text(self, index: int) -> bool:
        """Batches are numbers wherever they stand, names are texts."""
        if self.columns[index] == "batch":
            return False
        return index < self.texts or self.columns[index] == "Name"


def markdown_table(table: Table) -> list[str]:
    """The table without its heading and notes."""
    return [markdown_row(escaped(name) for name in table.columns),
            "|" + ":--|" * table.texts + "--:|" * (len(table.columns) - table.texts),
            *(markdown_row(escaped(cell) for cell in row) for row in table.rows)]


def markdown_row(cells: Iterable[str]) -> str:
    """A row of a table."""
    return "| " + " | ".join(cells) + " |"


def escaped(text: str) -> str:
    """A text without meaning to Markdown."""
    return _MARKDOWN_SPECIAL.sub(r"\\\1", text)


def columns(text: str) -> int:
    """Terminal columns: wide characters take two, combining ones none."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def pad(text: str, width: int, right: bool = False) -> str:
    """Spaces to fill a column, after the text or before it."""
    space = " " * max(width - columns(text), 0)
    return space + text if right else text + space


def cut(text: str, width: int) -> str:
    """The text, cut with an ellipsis if it is too wide."""
    if columns(text) <= width:
        return text
    while columns(text) > width - 1:
        text = text[:-1]
    return text + "…"


def wrapped(text: str) -> list[str]:
    """Lines that fit the terminal, broken between words."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if columns(longer) <= WIDTH:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines
