"""What `convladder history --format json` wrote: series of cases over runs, checked as they are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from convladder_charts.json_text import Node, RecordError
from convladder_charts.stage import Stage, optional, printable

_LONGEST_REASON = 200


@dataclass(frozen=True)
class Run:
    """One recorded run."""

    date: str
    commit: str
    host: str


@dataclass(frozen=True)
class Point:
    """A case in one run. Times in ns; the ratio is to the anchor, None where it has no time there."""

    run: int
    median: float
    low: Optional[float]
    high: Optional[float]
    samples: int
    ratio: Optional[float]
    ratio_low: Optional[float]
    ratio_high: Optional[float]
    quiet: bool
    """False: the anchor was slower than usual, so no change is looked for in it."""


@dataclass(frozen=True)
class Change:
    """A marked change: since which run, by which part, and the p of its test."""

    run: int
    change: float
    p: float


@dataclass(frozen=True)
class Series:
    """A case over the runs that can be compared with each other."""

    stage: Stage
    device: str
    layer: str
    batch: int
    number: int
    of: str
    hardware: str
    host: str
    anchor: str
    split: str
    not_judged: str
    points: tuple[Point, ...]
    changes: tuple[Change, ...]

    @property
    def is_anchor(self) -> bool:
        """It is what the others are divided by, so its own time is shown."""
        return self.stage.name == self.anchor

    @property
    def name(self) -> str:
        """The variant, with the number of a further series."""
        return self.stage.title + (f" #{self.number}" if self.number > 1 else "")


@dataclass(frozen=True)
class History:
    """All of them, and by what the changes are marked."""

    runs: tuple[Run, ...]
    series: tuple[Series, ...]
    series_alpha: float
    judged: int
    tau: float
    unreadable: int


def read(root: Node) -> History:
    """The history in a document. Raises RecordError with the place of what is wrong."""
    if not isinstance(root.value, dict) or root.value.get("kind") != "history":
        raise RecordError(f"{root.source}: $.kind: expected \"history\", what `convladder history --format json` writes")
    runs = tuple(map(_run, root.field("runs").items()))
    series = tuple(_series(node, len(runs)) for node in root.field("series").items())
    if not series:
        raise RecordError(f"{root.source}: $.series: expected at least one series")
    return History(runs, series, root.field("series_alpha").number(), root.field("judged").integer(),
                   root.field("tau").number(), len(root.field("unreadable").items()))


def _run(node: Node) -> Run:
    commit = printable(node.field("commit").text()[:9]) or "unknown"
    return Run(printable(node.field("date").text()), commit + ("+" if node.field("dirty").boolean() else ""),
               printable(node.field("host").text()))


def _series(node: Node, runs: int) -> Series:
    variant, device = node.field("variant").text(), node.field("device").text()
    title = printable(variant) or "(no name)"
    stage = Stage(device, optional(node.field("rung"), Node.positive), variant, title)
    layer = f"{printable(node.field('network').text())}.{printable(node.field('layer').text())}"
    points = tuple(_point(one, runs) for one in node.field("points").items())
    if not points:
        raise node.field("points").wrong("at least one point")
    changes = [_change(one, runs) for one in node.field("changes").items() if one.field("marked").boolean()]
    return Series(stage, printable(device), layer, node.field("batch").positive(), node.field("number").positive(),
                  printable(node.field("of").text()), printable(node.field("hardware").text()),
                  _text_or_empty(node.field("host")), optional(node.field("anchor"), Node.text) or "",
                  printable("; ".join(one.text() for one in node.field("split").items()), _LONGEST_REASON),
                  printable(_text_or_empty(node.field("not_judged")), _LONGEST_REASON), points, tuple(changes))


def _point(node: Node, runs: int) -> Point:
    low, high = _interval(node.field("interval_ns"))
    ratio_low, ratio_high = _interval(node.field("ratio_interval"))
    return Point(_index(node.field("run"), runs), _positive(node.field("median_ns")), low, high,
                 node.field("samples").positive(), optional(node.field("ratio"), _positive), ratio_low, ratio_high,
                 node.field("quiet").boolean())


def _change(node: Node, runs: int) -> Change:
    return Change(_index(node.field("run"), runs), node.field("change").number(), node.field("p").number())


def _interval(node: Node) -> tuple[Optional[float], Optional[float]]:
    return (None, None) if node.is_null() else (_positive(node.field("low")), _positive(node.field("high")))


def _positive(node: Node) -> float:
    if not node.number() > 0:
        raise node.wrong("a number above 0")
    return node.number()


def _index(node: Node, count: int) -> int:
    if not 0 <= node.integer() < count:
        raise node.wrong(f"the index of one of {count} runs")
    return node.integer()


def _text_or_empty(node: Node) -> str:
    return printable(optional(node, Node.text) or "", _LONGEST_REASON)
