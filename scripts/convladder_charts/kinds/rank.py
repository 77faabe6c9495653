"""A ranking of submissions (rank.json): read, as a chart and tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

from convladder_charts.about import About, about
from convladder_charts.json_text import Node
from convladder_charts.known import Ratio, ratio_of
from convladder_charts.known_text import either, ends, plus_minus, short_factor
from convladder_charts.kinds.members import is_kind
from convladder_charts.kinds.row_chart import Mark, Panel, RowChart
from convladder_charts.stage import optional, printable
from convladder_charts.table_text import Table
from convladder_charts.units import NONE, duration, significant

_LONGEST_NAME = 80
_LONGEST_REASON = 400
KIND = "rank"
_THAN = {"library": "the library", "stage": "the ladder's best stage", "submission": "the first submission"}


@dataclass(frozen=True)
class Size:
    """What was seen of one row on one size."""

    figure: Optional[float]
    speed: Optional[Ratio]


@dataclass(frozen=True)
class Row:
    """A submission, or the baseline."""

    rank: Optional[int]
    shared: bool
    name: str
    is_baseline: bool
    status: str
    reason: str
    same_as: str
    speed: Optional[Ratio]
    """A multiple of the baseline's, with its interval or range."""
    sizes: tuple[Size, ...]
    place: str


@dataclass(frozen=True)
class Ranking:
    """All submissions of a family, best first."""

    device: str
    figures: str
    unit: str
    gpu: str
    baseline: str
    """With its role; empty if there is none."""
    sizes: tuple[str, ...]
    tau: float
    rows: tuple[Row, ...]
    place: str


@dataclass(frozen=True)
class RankRecord(About):
    """The whole record."""

    title: str
    rankings: tuple[Ranking, ...]


def is_of(document: Any) -> bool:
    """Whether a document says of itself that it is a record of `convladder rank`."""
    return is_kind(document, KIND)


def read(root: Node) -> RankRecord:
    """Raises RecordError."""
    rankings = root.field("rankings").items() if "rankings" in root.value else []
    return RankRecord(**about(root), title=printable(root.field("problem").field("title").text()),
                      rankings=tuple(_ranking(node) for node in rankings))


def _ranking(node: Node) -> Ranking:
    baseline = node.field("baseline")
    role = "" if baseline.is_null() else baseline.field("role").text()
    return Ranking(printable(node.field("device").text()), printable(node.field("figures").text()),
                   node.field("unit").text(), printable(optional(node.field("gpu"), Node.text) or ""),
                   f"{_THAN.get(role, role)} {_name(baseline)}" if role else "",
                   tuple(printable(size.text()) for size in node.field("sizes").items()),
                   node.field("tau").number(), tuple(_row(row) for row in node.field("rows").items()), node.place)


def _name(node: Node) -> str:
    return printable(node.field("name").text(), _LONGEST_NAME)


def _row(node: Node) -> Row:
    return Row(optional(node.field("rank"), Node.positive), node.field("shared").boolean(), _name(node),
               node.field("is_baseline").boolean(), printable(node.field("status").text()),
               printable(optional(node.field("reason"), Node.text) or "", _LONGEST_REASON),
               printable(optional(node.field("same_as"), Node.text) or "", _LONGEST_NAME),
               _speed(node.field("speed")), tuple(_size(size) for size in node.field("sizes").items()), node.place)


def _speed(node: Node) -> Optional[Ratio]:
    return None if node.is_null() else ratio_of(node)


def _size(node: Node) -> Size:
    return Size(optional(node.field("figure"), Node.number), _speed(node.field("speed")))


def chart(record: RankRecord, one: Ranking) -> Optional[RowChart]:
    """Everybody who is ranked, best first, and the baseline."""
    rows = tuple(Mark(f"{_rank(row)}  {row.name}" if row.rank is not None else row.name, row.speed,
                      *((None, None) if row.is_baseline else (row.speed.low, row.speed.high)),
                      NONE if row.is_baseline else plus_minus(row.speed),
                      "best" if row.rank == 1 else "base" if row.is_baseline else "plain")
                 for row in one.rows if row.speed is not None and row.speed > 0)
    if not rows:
        return None
    first = next((row.name for row in one.rows if row.rank == 1), rows[0].label)
    shared = [row.name for row in one.rows if row.rank == 1]
    title = f"{record.title}: {first} is first" if len(shared) < 2 else (
        f"{record.title}: first is {either(shared)}, which cannot be told apart")
    lines = (f"speed as a multiple of {one.baseline}, {one.figures}; lines: the {interval_name(one)}",
             f"{record.cpu}, host {record.host}, {record.date[:10]}")
    return RowChart(title, lines, record.warnings, (Panel(
        one.device, f"{len(one.sizes)} size{'s' * (len(one.sizes) != 1)}", rows, f"times the speed, {one.figures}",
        lambda value: f"{value:.4g}×", guides=((1.0, "as fast"),)),))


def tables(one: Ranking) -> list[Table]:
    """Ranks, and each size."""
    made = [Table(
        "Ranking", ("rank", "name", "status", "multiple", interval_name(one), "figures"),
        tuple((_rank(row), row.name, _status(row), *_cells(row, one.figures)) for row in one.rows), 3,
        place=f"{one.place}.rows", row_places=tuple(row.place for row in one.rows))]
    if one.baseline and one.sizes:
        made.append(Table(
            f"{one.figures.capitalize()} on each size", ("rank", "name", *one.sizes),
            tuple((_rank(row), row.name, *(_figure(row, at, one.unit) for at in range(len(one.sizes))))
                  for row in one.rows), 2,
            place=f"{one.place}.rows", row_places=tuple(f"{row.place}.sizes" for row in one.rows)))
    return made


def interval_name(one: Ranking) -> str:
    """What a multiple's ends are."""
    return "95 % interval" if one.figures == "measured" else "range"


def _rank(row: Row) -> str:
    return NONE if row.rank is None else f"{row.rank}{'=' if row.shared else ''}"


def _status(row: Row) -> str:
    if row.is_baseline and row.rank is None:
        return "the baseline"
    said = f"{row.status}: {row.reason}" if row.reason else row.status
    said += "; the baseline" if row.is_baseline else ""
    return f"{said}; the same source as {row.same_as}" if row.same_as else said


def _cells(row: Row, figures: str) -> tuple[str, str, str]:
    if row.speed is None:
        return NONE, NONE, NONE
    interval = NONE if row.is_baseline else ends(row.speed) or NONE
    return "1" if row.is_baseline else short_factor(row.speed).rstrip("×"), interval, figures


def _figure(row: Row, at: int, unit: str) -> str:
    figure = row.sizes[at].figure if at < len(row.sizes) else None
    if figure is None:
        return NONE
    return duration(figure) if unit == "ns" else f"{significant(figure, 4)} {unit}"
