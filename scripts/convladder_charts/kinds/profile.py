"""What `convladder profile --format json` printed: read, as charts and tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

from convladder_charts.json_text import Node
from convladder_charts.kinds.members import amount, is_kind, member, text_of
from convladder_charts.kinds.row_chart import Mark, Panel, RowChart, ordered
from convladder_charts.stage import printable
from convladder_charts.table_text import Table
from convladder_charts.units import duration, round_duration

KIND = "profile"


@dataclass(frozen=True)
class Line:
    """An activity."""

    name: str
    percent: float
    total: float
    calls: int
    place: str


@dataclass(frozen=True)
class Case:
    """Where the time of a pass goes."""

    id: str
    kind: str
    """measured or predicted."""
    groups: tuple[tuple[str, tuple[Line, ...]], ...]
    place: str


@dataclass(frozen=True)
class Profile:
    """All of them."""

    cases: tuple[Case, ...]
    warnings: tuple[str, ...] = ()


def is_of(document: Any) -> bool:
    """Whether it is one: a list that has no name of its own."""
    if is_kind(document, KIND):
        return True
    return isinstance(document, list) and bool(document) and all(
        isinstance(one, dict) and {"id", "profile"} <= set(one) for one in document)


def read(root: Node) -> Profile:
    """Raises RecordError."""
    return Profile(tuple(_case(node) for node in (root.items() if isinstance(root.value, list)
                                                  else root.field("cases").items())))


def _case(node: Node) -> Case:
    profile = node.field("profile")
    program = member(node, "program")
    return Case(printable(node.field("id").text(), 160), (text_of(program, "kind") if program else "") or "measured",
                tuple((printable(group.field("group").text()), tuple(_line(row) for row in group.field("rows").items()))
                      for group in profile.field("groups").items()), node.place)


def _line(node: Node) -> Line:
    return Line(printable(node.field("name").text(), 120), amount(node.field("time_percent")),
                amount(node.field("total_ns")), node.field("calls").integer(), node.place)


def _longest(case: Case) -> Optional[Line]:
    return max((line for _, lines in case.groups[:1] for line in lines), key=lambda line: line.total, default=None)


def sentence(case: Case) -> str:
    """What takes longest."""
    most = _longest(case)
    if most is None:
        return f"{case.id}: nothing was seen."
    return f"{case.id}: {most.name} takes longest, {duration(most.total)} or {most.percent:.0f} % ({case.kind})."


def chart(case: Case) -> Optional[RowChart]:
    """Activities by time, a panel for each group."""
    panels = tuple(Panel(group, "", ordered([
        Mark(line.name, line.total, text=f"{duration(line.total)}, {line.percent:.1f} %") for line in lines
        if line.total > 0]), f"time, {case.kind}", lambda value: round_duration(value) if value else "0", bars=True)
        for group, lines in case.groups if any(line.total > 0 for line in lines))
    most = _longest(case)
    if not panels or most is None:
        return None
    return RowChart(f"{case.id}: {most.name} takes longest", (), (), panels)


def tables(case: Case) -> list[Table]:
    """Every group."""
    return [Table(f"{case.id}: {group}, {case.kind}", ("name", "share (%)", "time", "calls"), tuple(
        (line.name, f"{line.percent:.2f}", duration(line.total), str(line.calls)) for line in lines), 1,
        place=f"{case.place}.profile", row_places=tuple(line.place for line in lines))
        for group, lines in case.groups if lines]
