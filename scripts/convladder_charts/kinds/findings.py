"""What the checkers of the simulated device found: read, and as a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence

from convladder_charts.json_text import Node
from convladder_charts.kinds.members import LONGEST_TEXT, member, text_of
from convladder_charts.stage import printable
from convladder_charts.table_text import Table
from convladder_charts.units import NONE


@dataclass(frozen=True)
class Finding:
    """One of them."""

    checker: str
    problem: str
    kernel: str
    where: str
    times: int
    launched: str
    is_note: bool
    """Not in order, but without effect: it is shown and not counted."""
    place: str


def finding(node: Node) -> Finding:
    """Raises RecordError."""
    ptx, source, line = (member(node, name) for name in ("ptx_line", "source_file", "source_line"))
    where = [f"PTX line {ptx.integer()}"] if ptx and ptx.integer() else []
    if source and source.text():
        where.insert(0, f"{printable(source.text(), 160)}" + (f" line {line.integer()}" if line else ""))
    host = member(node, "host")
    return Finding(printable(node.field("checker").text()), printable(node.field("problem").text(), LONGEST_TEXT),
                   text_of(node, "kernel"), ", ".join(where), node.field("count").integer(),
                   text_of(host, "text") if host else "", text_of(node, "severity") == "note", node.place)


def without_notes(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Those that count."""
    return tuple(one for one in findings if not one.is_note)


def findings_table(findings: Sequence[Finding], place: str) -> Table:
    """All of them, in the order of the record."""
    return Table("Findings", ("checker", "problem", "kernel", "where", "launched in", "times"), tuple(
        (f"{one.checker}, a note" if one.is_note else one.checker, one.problem, one.kernel or NONE, one.where or NONE, one.launched or NONE, f"{one.times:,}")
        for one in findings), 5, place=place, row_places=tuple(one.place for one in findings))
