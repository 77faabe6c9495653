"""An old record of fused variants (fused.json): read, as a chart and a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

from convladder_charts.json_text import Node
from convladder_charts.kinds.members import LONGEST_TEXT, Origin, is_kind, member, origin, several, text_of, time_of
from convladder_charts.kinds.row_chart import Mark, Panel, RowChart
from convladder_charts.stage import printable
from convladder_charts.table_text import Table
from convladder_charts.units import NONE, duration, ratio, round_duration

KIND = "fused"


@dataclass(frozen=True)
class Time:
    """A median, with its interval if there is one."""

    median: float
    low: Optional[float]
    high: Optional[float]


@dataclass(frozen=True)
class Case:
    """A fused variant beside the operators that it replaces."""

    name: str
    device: str
    variant: str
    status: str
    reason: str
    separate: Optional[Time]
    fused: Optional[Time]
    ratio: Optional[Time]
    parts: str
    place: str


@dataclass(frozen=True)
class Fused:
    """The whole record."""

    origin: Origin
    cases: tuple[Case, ...]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know before believing a figure."""
        return self.origin.warnings


def is_of(document: Any) -> bool:
    """Whether it is one."""
    return is_kind(document, KIND)


def read(root: Node) -> Fused:
    """Raises RecordError."""
    if root.field("schema_version").value != "1.0":
        raise root.field("schema_version").wrong("schema version \"1.0\"")
    return Fused(origin(root), tuple(_case(node) for node in root.field("cases").items()))


def _case(node: Node) -> Case:
    fused = member(node, "fused")
    parts = [text_of(one, "implementation") for one in node.field("separate").items()]
    layer = f"{printable(node.field('network').text())}.{printable(node.field('layer').text())}"
    return Case(f"{layer}, batch {node.field('batch').positive()}", printable(node.field("device").text()),
                printable(node.field("variant").text()), printable(node.field("status").text()),
                text_of(node, "reason", LONGEST_TEXT), _time(member(node, "sum")),
                _time(member(fused, "time")) if fused else None, _time(member(node, "ratio")),
                " + ".join(filter(None, parts)), node.place)


def _time(node: Optional[Node]) -> Optional[Time]:
    if node is None:
        return None
    interval = member(node, "interval")
    ends = (time_of(interval.field("low")), time_of(interval.field("high"))) if interval else (None, None)
    return Time(time_of(node.field("median")), *ends)


def sentence(one: Fused) -> str:
    """What fusing is worth."""
    gains = [case for case in one.cases if case.ratio]
    if not gains:
        return f"None of {several(len(one.cases), 'case')} has times."
    best = max(gains, key=lambda case: case.ratio.median if case.ratio else 0.0)
    return (f"{best.variant} on {best.name} is {ratio(best.ratio.median if best.ratio else None)} as fast as the "
            f"separate operators ({best.parts}), measured.")


def chart(one: Fused) -> Optional[RowChart]:
    """Fused and separate, a panel for each case."""
    panels = []
    for case in one.cases:
        if case.fused and case.separate:
            rows = tuple(Mark(label, time.median, time.low, time.high, duration(time.median) + more, look)
                         for label, time, more, look in (
                             ("separate operators", case.separate, "", "base"),
                             (case.variant, case.fused, f", {ratio(case.ratio.median)} as fast" if case.ratio else "",
                              "best")))
            panels.append(Panel(case.name, case.device, rows, "time, measured", round_duration))
    if not panels:
        return None
    return RowChart("Fused, and one operator after the other", tuple(filter(None, (
        "median; lines: its interval", one.origin.line))), one.warnings, tuple(panels))


def table(one: Fused) -> Table:
    """Every case."""
    return Table("Fused variants", ("case", "device", "fused", "instead of", "status", "separate", "fused time",
                                    "× as fast"), tuple(
        (case.name, case.device, case.variant, case.parts or NONE,
         case.status + (f": {case.reason}" if case.reason else ""),
         *(NONE if time is None else duration(time.median) for time in (case.separate, case.fused)),
         ratio(case.ratio.median) if case.ratio else NONE) for case in one.cases), 5, place="$.cases[…]",
        row_places=tuple(case.place for case in one.cases))
