"""How quiet the machine was while the cases were timed, and what it can do at most."""

from __future__ import annotations

import re
from typing import Iterator, Optional

from convladder_charts.json_text import Node
from convladder_charts.record import Record
from convladder_charts.stage import printable
from convladder_charts.table_text import Table
from convladder_charts.units import NONE, significant
from convladder_report.common_sections import ids_text, places_of
from convladder_report.document import Block, Paragraph, Section, TableBlock
from convladder_report.trust import QUALITY_WORDS

_LONGEST = 200
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def section(root: Node, source: str, name: str, record: Optional[Record] = None,
            blocks: tuple[Block, ...] = ()) -> Optional[Section]:
    """Quality marks with their reasons, the ceilings, and what else belongs here; nothing where nothing is known."""
    found = (*_marks(root, source), *(_ceilings(record, source) if record else ()), *blocks)
    return Section(name, "How far to trust the times", found) if found else None


def _marks(root: Node, source: str) -> Iterator[Block]:
    groups: dict[tuple[str, str], list[tuple[Node, str]]] = {}
    for case in root.field("cases").outlines():
        if case.value.get("quality") is None:
            continue
        quality = case.field("quality")
        reasons = "; ".join(printable(one.text(), _LONGEST) for one in quality.field("reasons").items())
        groups.setdefault((quality.field("mark").text(), _NUMBER.sub("#", reasons)), []).append((case, reasons))
    if not groups:
        return
    yield Paragraph("A time is quiet, noisy or disturbed by what the machine did while it was taken: other programs, other "
                    "virtual machines, drift, and how much a known kernel scattered. Intervals that are clear of each other "
                    "still tell two stages apart.")
    order = sorted(groups, key=lambda key: (list(QUALITY_WORDS).index(key[0]) if key[0] in QUALITY_WORDS else 9, key[1]))
    yield TableBlock(Table("Quality of the timed cases", ("mark", "cases", "why", "which"), tuple(
        (QUALITY_WORDS.get(mark, printable(mark)), str(len(groups[mark, kind])),
         _together([reasons for _, reasons in groups[mark, kind]]) or NONE,
         ids_text([case.field("id").text() for case, _ in groups[mark, kind]]) if kind else "all others")
        for mark, kind in order), 4, place="$.cases[…].quality",
        row_places=tuple(places_of(case.place for case, _ in groups[key]) for key in order)), source)


def _together(texts: list[str]) -> str:
    """Texts that differ in their numbers only, with the range of each number."""
    columns = list(zip(*(_NUMBER.findall(text) for text in texts)))
    ends = [(min(column, key=float), max(column, key=float)) for column in columns]
    spans = iter(low if low == high else f"{low} to {high}" for low, high in ends)
    return _NUMBER.sub(lambda match: next(spans), texts[0])


def _ceilings(record: Record, source: str) -> Iterator[Block]:
    rows = [(one.where, name, f"{significant(median)} {unit}") for one in record.ceilings for name, median, unit in one.limits]
    if rows:
        yield TableBlock(Table("What the machine can do at most, measured in this run", ("device", "ceiling", "median"),
                               tuple(rows), 2, place="$.ceilings"), source)

