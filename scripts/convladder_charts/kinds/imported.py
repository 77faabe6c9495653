"""A run that another program measured, as `convladder import` makes it: read, and its times as a chart and a table.

Its benchmarks are no ladder: nothing says which of them builds on which, or that two of them compute the same.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Optional

from convladder_charts.about import fact
from convladder_charts.json_text import Node
from convladder_charts.kinds.members import Origin, member, number_of, origin, several, text_of, time_of
from convladder_charts.kinds.row_chart import Mark, Panel, RowChart
from convladder_charts.stage import printable
from convladder_charts.table_text import Table
from convladder_charts.units import NONE, duration

KIND = "imported run"
_LONGEST_REASON = 200
_LONGEST_TEXT = 300
_LONGEST_LABEL = 34
_HEAD_OF_LABEL = 6


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
    """With its name, if the file says it: cuda0: Quadro GV100."""
    taken: str
    """Which time: real time, cold GPU time."""
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
    return ImportedRun(_known(origin(root)), text_of(imported, "from"), text_of(imported, "file"),
                       tuple(printable(one.text(), _LONGEST_TEXT) for one in (notes.items() if notes else [])),
                       tuple(_benchmark(case, root.field("context")) for case in root.field("cases").items()))


def _known(one: Origin) -> Origin:
    """Without what such a file does not say."""
    parts = {name: "" if getattr(one, name) == "unknown" else getattr(one, name) for name in ("date", "host", "cpu", "commit")}
    return dataclasses.replace(one, program=one.program.removesuffix("unknown").strip(), **parts)


def _benchmark(case: Node, context: Node) -> Benchmark:
    time = member(case, "time")
    device = text_of(case, "device")
    name = fact(device, "name", context) or ""
    return Benchmark(
        text_of(case, "variant"), device if device == "cpu" or not name else printable(f"{device}: {name}", 60),
        _in_words(text_of(case, "layer")),
        text_of(case, "status"), text_of(case, "reason", _LONGEST_REASON), _time(time) if time else None,
        tuple(_time(one) for one in case.field("other_times").items()), case.place)


def _in_words(name: str) -> str:
    """cold-gpu-time: cold GPU time."""
    return " ".join(word.upper() if word in ("cpu", "gpu") else word for word in name.split("-"))


def _short(name: str) -> str:
    """Of a long name the end, which tells it from the one before."""
    return name if len(name) <= _LONGEST_LABEL else f"{name[:_HEAD_OF_LABEL]}…{name[_HEAD_OF_LABEL + 1 - _LONGEST_LABEL:]}"


def _time(node: Node) -> Time:
    interval = member(node, "interval")
    low, high = (number_of(interval, name) if interval else None for name in ("low", "high"))
    return Time(_in_words(text_of(node, "of").removeprefix("part ")), time_of(node.field("median")), low, high, len(node.field("samples").items()))


def sentence(record: ImportedRun) -> str:
    """What was measured, and who says so."""
    left = len(record.benchmarks) - len(record.timed)
    without = f", {left} of them without a time" if left else ""
    return (f"{several(len(record.benchmarks), 'benchmark')}{without}, measured by {record.program} and read from "
            f"{record.file}. Nothing was verified here.")


def chart(record: ImportedRun, group: tuple[str, str]) -> Optional[RowChart]:
    """The times of a group, in the order of the file."""
    rows = tuple(Mark(_short(one.name), one.time.median, one.time.low, one.time.high, duration(one.time.median))
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
                 ("benchmark", "status", "time", "interval", "samples", *others), tuple(rows), 2, place="$.cases[…]",
                 row_places=tuple(one.place for one in mine))
