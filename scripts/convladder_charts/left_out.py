"""What each idea of a stage is worth, as the record says it: the stage beside itself without one idea at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Optional

from convladder_charts.json_text import Node
from convladder_charts.known import Ratio, ratio_of
from convladder_charts.known_text import plus_minus, untold
from convladder_charts.stage import optional, printable
from convladder_charts.units import NONE, duration, significant


@dataclass(frozen=True)
class LeftOutRow:
    """The stage itself (`idea` is empty), or the stage without one idea. None where there is no figure."""

    idea: str
    status: str
    reason: str
    numbers: dict[str, Optional[float]]
    predicted: Optional[tuple[str, float, float]]
    """GPU, and the ends of the range in nanoseconds."""
    place: str

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left out."""
        return not self.idea

    @property
    def why_no_figure(self) -> str:
        """Status and reason in one line; empty where the case was run."""
        if self.status == "ok":
            return ""
        return f"{self.status}: {self.reason}" if self.reason else self.status


@dataclass(frozen=True)
class LeftOutFigure:
    """A column: what it is called, how the figure came about and what it is per, its value, and the value as text."""

    name: str
    kind: str
    value: Callable[[LeftOutRow], Optional[float]]
    text: Callable[[LeftOutRow], str]


@dataclass(frozen=True)
class LeftOutView:
    """One layer at one batch."""

    network: str
    layer: str
    batch: int
    kind: str
    best: str
    rows: tuple[LeftOutRow, ...]
    place: str

    @property
    def layer_name(self) -> str:
        """As the command line spells it."""
        return f"{self.network}.{self.layer}"

    @property
    def figures(self) -> tuple[LeftOutFigure, ...]:
        """The price first: times, measured or predicted, over that of the whole stage."""
        if self.kind == "measured":
            return (LeftOutFigure("× time", "measured", _number("x_time"), _time_text),)
        return (LeftOutFigure("× time on a named GPU", "predicted", _number("x_predicted"), _predicted_text),
                *(LeftOutFigure(name, kind, _number(field), _significant(field)) for name, kind, field in (
                    ("instructions", "counted, per multiply-add", "instructions_per_multiply_add"),
                    ("shared wavefronts", "counted, per 32 of them", "shared_wavefronts_per_32_multiply_adds"),
                    ("load sectors", "counted, per 32 of them", "load_sectors_per_32_multiply_adds"),
                    ("DRAM bytes", "modelled, over the least", "dram_over_minimum"))))

    def price(self, row: LeftOutRow) -> Optional[Ratio]:
        """The time of the stage without the idea over that of the whole stage."""
        return ratio_in(row, "x_time" if self.kind == "measured" else "x_predicted")

    @property
    def dearest(self) -> tuple[LeftOutRow, ...]:
        """The dearest idea, and those that cannot be told from it; none where no idea surely costs anything."""
        surely = [row for row in self.by_price if not row.is_whole and (price := self.price(row)) is not None
                  and price > 1 and not untold(price)]
        least = self.price(surely[0]) if surely else None
        return tuple(row for row in surely if least is None or least.low is None or (self.price(row) or least).high is None
                     or ((self.price(row) or least).high or 0.0) >= least.low)

    @property
    def cheapest_of_dearest(self) -> LeftOutRow:
        """Of `dearest`, which must not be empty, the one of which least is surely known: what holds of it holds of all."""
        return min(self.dearest, key=lambda row: (self.price(row) or Ratio(1)).low or 1.0)

    @property
    def by_price(self) -> tuple[LeftOutRow, ...]:
        """The whole stage, then the dearest idea first."""
        price = self.figures[0].value
        ideas = [row for row in self.rows if not row.is_whole]
        return (*(row for row in self.rows if row.is_whole), *sorted(ideas, key=lambda row: -(price(row) or 0.0)))


@dataclass(frozen=True)
class LeftOutGroup:
    """All views of one device and family."""

    device: str
    family: str
    hardware: str
    ladders: tuple[LeftOutView, ...]
    kind: str

    def chosen(self, batch: Optional[int]) -> list[LeftOutView]:
        """Of the asked batch, or all."""
        return [one for one in self.ladders if batch in (None, one.batch)]


def _number(field: str) -> Callable[[LeftOutRow], Optional[float]]:
    return lambda row: row.numbers[field]


def _significant(field: str) -> Callable[[LeftOutRow], str]:
    def text(row: LeftOutRow) -> str:
        value = row.numbers[field]
        return NONE if value is None else significant(value)
    return text


def ratio_in(row: LeftOutRow, field: str) -> Optional[Ratio]:
    """What leaving it out costs, with its interval."""
    value = row.numbers[field]
    return value if isinstance(value, Ratio) else None


def _time_text(row: LeftOutRow) -> str:
    median = row.numbers["median_ns"]
    return NONE if median is None else f"{plus_minus(ratio_in(row, 'x_time'))} · {duration(median)}"


def _predicted_text(row: LeftOutRow) -> str:
    if row.predicted is None:
        return NONE
    gpu, low, high = row.predicted
    return f"{plus_minus(ratio_in(row, 'x_predicted'))} · {gpu} {duration(low)} – {duration(high)}"


def groups_of(root: Node, hardware: Callable[[str], str]) -> tuple[LeftOutGroup, ...]:
    """The views of a record; none where no case leaves an idea out."""
    if "leave_one_out" not in root.value:
        return ()
    members: dict[tuple[str, str], list[LeftOutView]] = {}
    for node in root.field("leave_one_out").items():
        members.setdefault((node.field("device").text(), node.field("family").text()), []).append(_view(node))
    return tuple(LeftOutGroup(printable(device), printable(family), hardware(device), tuple(views), views[0].kind)
                 for (device, family), views in members.items())


def _view(node: Node) -> LeftOutView:
    rows = tuple(map(_row, node.field("rows").items()))
    if not rows:
        raise node.field("rows").wrong("at least one row")
    return LeftOutView(printable(node.field("network").text()), printable(node.field("layer").text()),
                       node.field("batch").positive(), printable(node.field("kind").text()),
                       printable(node.field("best").text()), rows, node.place)


_NUMBERS = ("instructions_per_multiply_add", "shared_wavefronts_per_32_multiply_adds",
            "load_sectors_per_32_multiply_adds", "dram_over_minimum", "median_ns")
_RATIOS = ("x_predicted", "x_time")


def _row(node: Node) -> LeftOutRow:
    predicted = node.field("predicted")
    return LeftOutRow(
        printable(optional(node.field("leaves_out"), Node.text) or ""), printable(node.field("status").text()),
        printable(optional(node.field("reason"), Node.text) or "", 120),
        {name: optional(node.field(name), Node.number) for name in _NUMBERS}
        | {name: optional(node.field(name), ratio_of) for name in _RATIOS},
        None if predicted.is_null() else (printable(predicted.field("gpu").text()), predicted.field("low_ns").number(),
                                          predicted.field("high_ns").number()),
        node.place)
