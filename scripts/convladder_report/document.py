"""What a report is made of, before anything is written: sections of texts, tables and figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional, Union

from convladder_charts.table_text import Table


@dataclass(frozen=True)
class Paragraph:
    """A paragraph."""

    text: str
    of: str = "paragraph"


@dataclass(frozen=True)
class Items:
    """A list of sentences."""

    texts: tuple[str, ...]
    places: tuple[str, ...] = ()
    """Of each sentence's numbers, or nothing; a sentence may have none."""
    of: str = "items"


@dataclass(frozen=True)
class TableBlock:
    """A table, and the file that its places are in."""

    table: Table
    source: str
    of: str = "table"


@dataclass(frozen=True)
class HeatMap:
    """A table whose cells are shaded: 0 is best, 6 worst, None has no value."""

    table: Table
    levels: tuple[tuple[Optional[int], ...], ...]
    """For each row, for each column behind the first."""
    source: str
    of: str = "heat_map"


@dataclass(frozen=True)
class Figure:
    """A drawing with its description in words, and the same figures as tables."""

    name: str
    """No other figure of the report has it."""
    title: str
    description: str
    svg: str
    """Empty where it could not be drawn; then the description says why."""
    width: float
    """In inches."""
    source: str
    place: str
    tables: tuple[Table, ...]
    open: bool = False
    """Whether the tables are seen at once: where something stands beside them that they are compared with."""
    of: str = "figure"


@dataclass(frozen=True)
class Explorer:
    """A chart that answers to the pointer, for pages that may run scripts; a drawing says the same."""

    name: str
    """No other part of the report has it."""
    title: str
    specification: dict[str, Any]
    """Of Vega-Lite, with its data."""
    of: str = "explorer"


@dataclass(frozen=True)
class Section:
    """A heading with its content."""

    name: str
    """No other section of the report has it."""
    title: str
    blocks: tuple["Block", ...]
    of: str = "section"

    @property
    def sections(self) -> tuple["Section", ...]:
        """The sections directly below this one."""
        return tuple(block for block in self.blocks if isinstance(block, Section))

    @property
    def has_explorers(self) -> bool:
        """Whether it or a section below it has one."""
        return any(isinstance(block, Explorer) for block in self.blocks) or any(
            section.has_explorers for section in self.sections)


Block = Union[Paragraph, Items, TableBlock, HeatMap, Figure, Explorer, Section]


@dataclass(frozen=True)
class Sentence:
    """A sentence about a record, and where its numbers are in the record."""

    text: str
    place: str = ""


@dataclass(frozen=True)
class Answer:
    """What a reader wants to know first, in one sentence or two."""

    question: str
    """In two or three words."""
    text: str
    place: str = ""


@dataclass(frozen=True)
class Fact:
    """A figure that is seen from afar, with the words that say what it is."""

    value: str
    words: str
    place: str = ""


@dataclass(frozen=True)
class Mark:
    """How far the figures can be trusted, in a few words. A look is good, doubtful, bad, or plain."""

    look: str
    text: str


@dataclass(frozen=True)
class Front:
    """What is seen first of a record: what was asked, the answer, one picture, and how far to trust it."""

    title: str
    """What was measured, in a few words."""
    asked: str
    answers: tuple[Answer, ...]
    machine: str
    """Where it was measured, in one line."""
    facts: tuple[Fact, ...] = ()
    marks: tuple[Mark, ...] = ()
    hero: Optional[Figure] = None
    explorer: Optional[Explorer] = None
    """Takes the picture's place where scripts run."""
    tables: tuple[TableBlock, ...] = ()


@dataclass(frozen=True)
class Part:
    """A record: what is seen first of it, and the chapters below."""

    name: str
    source: str
    front: Front
    chapters: tuple[Section, ...]


@dataclass(frozen=True)
class Report:
    """The page."""

    title: str
    warnings: tuple[str, ...]
    parts: tuple[Part, ...]
    before: tuple[Section, ...] = ()
    """Chapters on all records together, above their parts."""
    after: tuple[Section, ...] = ()

    @property
    def chapters(self) -> tuple[Section, ...]:
        """All of them, in the page's order."""
        return (*self.before, *(one for part in self.parts for one in part.chapters), *self.after)

    @property
    def has_explorers(self) -> bool:
        """Whether anything of it needs the chart library."""
        return any(part.front.explorer for part in self.parts) or any(one.has_explorers for one in self.chapters)
