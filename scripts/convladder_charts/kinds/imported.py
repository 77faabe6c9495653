"""A run that another program measured, as `convladder import` makes it: read, and its times as a chart and a table.

Its benchmarks are no ladder: nothing says which of them builds on which, or that two of them compute the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

from convladder_charts.json_text import Node
from convladder_charts.kinds.members import Origin, member, number_of, origin, several, text_of, time_of
from convladder_charts.kinds.row_chart import Mark, Panel, RowChart
from convladder_charts.stage import printable
from convladder_charts.table_text import Table
from convladder_charts.units import NONE, duration

KIND = "imported run"
_LONGEST_REASON = 200
_LONGEST_TEXT = 300


@dataclass(frozen=True)
class Time:
    """In nanoseconds. The interval is that of the median of its samples, if there are enough of them."""

    of: str
    median: float
    low: Optional[float]
    high: Optional[float]
    samples: int


@dataclass(frozen=True)
class Benchmark:
    """One of the file's."""

    name: str
    device: str
    taken: str
    """Which time: real time, cold gpu time."""
    status: str
    reason: str
    time: Optional[Time]
    others: tuple[Time, ...]
    place: str


@dataclass(frozen=True)
class ImportedRun:
    """The whole record."""

    origin: Origin
    program: str
    """Who wrote the file: Google Benchmark 1.7.1."""
    file: str
    notes: tuple[str, ...]
    benchmarks: tuple[Benchmark, ...]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know before believing a figure."""
        return self.origin.warnings

    @property
    def timed(self) -> tuple[Benchmark, ...]:
        """Those with a time."""
        return tuple(one for one in self.benchmarks if one.time)

    @property
    def groups(self) -> list[tuple[str, str]]:
        """Devices and kinds of time: what may share an axis."""
        return list(dict.fromkeys((one.device, one.taken) for one in self.benchmarks))


def is_of(document: Any) -> bool:
    """Whether it is one."""
    context = document.get("context") if isinstance(document, dict) and document.get("kind") == "run" else None
    return isinstance(context, dict) and isinstance(context.get("imported"), dict)


def read(root: Node) -> ImportedRun:
    """Raises RecordError."""
    imported = root.field("context").field("imported")
    notes = member(imported, "notes")
    return ImportedRun(origin(root), text_of(imported, "from"), text_of(imported, "file"),
                       tuple(printable(one.text(), _LONGEST_TEXT) for one in (notes.items() if notes else [])),
                       tuple(_benchmark(case) for case in root.field("cases").items()))


def _benchmark(case: Node) -> Benchmark:
    time = member(case, "time")
    return Benchmark(
        text_of(case, "variant"), text_of(case, "device"), text_of(case, "layer").replace("-", " "),
        text_of(case, "status"), text_of(case, "reason", _LONGEST_REASON), _time(time) if time else None,
        tuple(_time(one) for one in case.field("other_times").items()), case.place)


def _time(node: Node) -> Time:
    interval = member(node, "interval")
    low, high = (number_of(interval, name) if interval else None for name in ("low", "high"))
    of = text_of(node, "of").removeprefix("part ").replace("-", " ")
    return Time(of, time_of(node.field("median")), low, high, len(node.field("samples").items()))


def sentence(record: ImportedRun) -> str:
    """What was measured, and who says so."""
    left = len(record.benchmarks) - len(record.timed)
    without = f", {left} of them without a time" if left else ""
    return (f"{several(len(record.benchmarks), 'benchmark')}{without}, measured by {record.program} and read from "
            f"{record.file}. Nothing was verified here.")


def chart(record: ImportedRun, group: tuple[str, str]) -> Optional[RowChart]:
    """The times of a group, in the order of the file."""
    rows = tuple(Mark(one.name, one.time.median, one.time.low, one.time.high, duration(one.time.median))
                 for one in record.timed if one.time and (one.device, one.taken) == group)
    if not rows:
        return None
    device, taken = group
    lines = (f"lines: the interval of the median, where there are samples; measured by {record.program}, not verified",
             record.origin.line)
    return RowChart(f"{several(len(rows), 'benchmark')} of {record.file}", tuple(filter(None, lines)), record.warnings, (
        Panel(device, f"{taken} of a call", rows, f"{taken}, measured", duration),))


def table(record: ImportedRun, group: tuple[str, str]) -> Table:
    """All benchmarks of a group."""
    mine = [one for one in record.benchmarks if (one.device, one.taken) == group]
    others = list(dict.fromkeys(time.of for one in mine for time in one.others))
    rows = []
    for one in mine:
        beside = {time.of: duration(time.median) for time in one.others}
        time = one.time
        rows.append((one.name, one.status + (f": {one.reason}" if one.reason else ""),
                     duration(time.median) if time else NONE,
                     f"{duration(time.low)} to {duration(time.high)}" if time and time.low is not None
                     and time.high is not None else NONE, str(time.samples) if time else NONE,
                     *(beside.get(name, NONE) for name in others)))
    device, taken = group
    return Table(f"{taken} on {device}, measured by {record.program}",
                 ("benchmark", "status", "median", "interval", "samples", *others), tuple(rows), 2, place="$.cases[…]",
                 row_places=tuple(one.place for one in mine))
