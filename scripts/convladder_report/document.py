"""What a report is made of, before anything is written: sections of texts, tables and figures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Optional, Union

from convladder_charts.table_text import Table

MOST_ROWS = 400
"""Of a table, and of a list, on a page."""


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
    heads: tuple[str, ...] = ()
    """What each begins with, so that it is found."""
    of: str = "items"

    def short(self, most: int) -> "Items":
        """So many at most, and how many more there are."""
        more = len(self.texts) - most
        if more <= 0:
            return self
        last = f"{more:,} more of this kind are not on this page; the record has them."
        return replace(self, texts=(*self.texts[:most], last), places=self.places and (*self.places[:most], ""),
                       heads=self.heads and (*self.heads[:most], ""))


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
    legend: str = ""
    """What the columns of the tables are."""
    open: bool = False
    """Whether the tables are seen at once: where something stands beside them that they are compared with."""
    of: str = "figure"

    @property
    def tables_name(self) -> str:
        """What they are opened by."""
        return "The figures as " + ("a table" if len(self.tables) == 1 else f"{len(self.tables)} tables")


@dataclass(frozen=True)
class Choice:
    """What a reader chooses a chart's figures by: a column of its data."""

    column: str
    label: str
    first: Any = None
    """Chosen at first; the last one there is, if nothing is said."""
    only: str = ""
    """Offers only what rows of this kind have; empty: all."""


@dataclass(frozen=True)
class Data:
    """The figures of charts, which several charts of a page may share."""

    name: str
    """No other part of the report has it."""
    rows: tuple[dict[str, Any], ...]

    @property
    def packed(self) -> dict[str, Any]:
        """By columns, whose names are then there once."""
        columns = list(dict.fromkeys(key for row in self.rows for key in row))
        return {"columns": columns, "rows": [[row.get(name) for name in columns] for row in self.rows]}


@dataclass(frozen=True)
class Explorer:
    """A chart that answers to the pointer, for pages that may run scripts; a drawing says the same."""

    name: str
    """No other part of the report has it."""
    title: str
    instead_of: str
    """The figure whose drawing is not needed beside it."""
    data: Data
    choices: tuple[Choice, ...]
    looks: dict[str, dict[str, Any]]
    """Specifications of Vega-Lite without data, by what they are called; the first is shown first."""
    note: str = "Point at a mark for its values."
    of: str = "explorer"

    @property
    def specification(self) -> dict[str, Any]:
        """What the page's script reads."""
        return {"data": self.data.name, "looks": self.looks,
                "choices": [{"column": one.column, "label": one.label, "first": one.first, "only": one.only}
                            for one in self.choices]}


@dataclass(frozen=True)
class Section:
    """A heading with its content."""

    name: str
    """No other section of the report has it."""
    title: str
    blocks: tuple["Block", ...]
    folded: bool = False
    """Whether only its title is seen until it is opened. Chapters fold whatever this says."""
    of: str = "section"

    @property
    def sections(self) -> tuple["Section", ...]:
        """The sections directly below this one."""
        return tuple(block for block in self.blocks if isinstance(block, Section))

    @property
    def explorers(self) -> tuple[Explorer, ...]:
        """Those of it and of the sections below it."""
        own = tuple(block for block in self.blocks if isinstance(block, Explorer))
        return own + tuple(one for section in self.sections for one in section.explorers)


Block = Union[Paragraph, Items, TableBlock, HeatMap, Figure, Explorer, Section]


@dataclass(frozen=True)
class Sentence:
    """A sentence about a record, and where its numbers are in the record."""

    text: str
    place: str = ""


@dataclass(frozen=True)
class Fact:
    """A figure that is seen from afar, with the words that say what it is."""

    value: str
    words: str


@dataclass(frozen=True)
class Mark:
    """How far the figures can be trusted, in a few words."""

    look: str
    """good, doubtful, bad, or plain."""
    text: str


@dataclass(frozen=True)
class Answer:
    """What a reader wants to know first, in two or three sentences."""

    question: str
    """In a few words."""
    text: str
    place: str = ""
    facts: tuple[Fact, ...] = ()
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True)
class Front:
    """What is seen first of a record: what was asked, the answers, one picture, and how far to trust it."""

    title: str
    """What was measured, in a few words."""
    asked: str
    answers: tuple[Answer, ...]
    machine: str
    """Where it was measured, in one line."""
    hero: Optional[Figure] = None
    explorer: Optional[Explorer] = None
    """Takes the picture's place where scripts run."""
    tables: tuple[TableBlock, ...] = ()
    """The same for every layer, below the picture."""


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
    said: tuple[Sentence, ...] = ()
    """What is to be said before anything else."""
    before: tuple[Section, ...] = ()
    """Chapters on all records together, above their parts."""
    after: tuple[Section, ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    """Other pages of the site that it is in: what each is called, and where it is from here."""

    @property
    def heading(self) -> str:
        """What stands at the top: of one record what it is of, of several how many there are."""
        if len(self.parts) == 1:
            return f"{self.parts[0].front.title}"
        return f"{len(self.parts)} records: " + ", ".join(part.source for part in self.parts)

    @property
    def machine(self) -> str:
        """Where all records were measured; empty if that is not the same for all."""
        machines = {part.front.machine for part in self.parts}
        return machines.pop() if len(machines) == 1 else ""

    @property
    def chapters(self) -> tuple[Section, ...]:
        """All of them, in the page's order."""
        return (*self.before, *(one for part in self.parts for one in part.chapters), *self.after)

    @property
    def explorers(self) -> tuple[Explorer, ...]:
        """Everything that needs the chart library."""
        fronts = tuple(part.front.explorer for part in self.parts if part.front.explorer)
        return fronts + tuple(one for chapter in self.chapters for one in chapter.explorers)

    @property
    def data(self) -> tuple[Data, ...]:
        """The figures of these charts, each once."""
        return tuple({one.data.name: one.data for one in self.explorers}.values())
