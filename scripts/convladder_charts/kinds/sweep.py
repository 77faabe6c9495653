"""A parameter sweep (sweep.json): read, and its configurations as a chart and a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

from convladder_charts.json_text import Node
from convladder_charts.known import Ratio, ratio_of
from convladder_charts.known_text import factor, inverse, plus_minus, speed
from convladder_charts.kinds.members import (Origin, amount, case_name, is_kind, member, number_of, origin, several,
                                             text_of)
from convladder_charts.kinds.row_chart import Mark, Panel, RowChart
from convladder_charts.stage import optional, printable
from convladder_charts.table_text import Table
from convladder_charts.units import NONE, count, duration

KIND = "sweep"
SCHEMA_VERSION = "1.1"
_LONGEST_REASON = 200


@dataclass(frozen=True)
class Configuration:
    """Values that were tried. The score is a time in ns or a number of cycles; the smaller, the better."""

    text: str
    values: tuple[tuple[str, int], ...]
    status: str
    reason: str
    score: Optional[float]
    low: float
    high: float
    of_default: Optional[Ratio]
    place: str


@dataclass(frozen=True)
class Sweep:
    """All configurations of a variant on a layer, in the order in which they were tried."""

    id: str
    device: str
    kind: str
    """measured, counted or predicted."""
    of: str
    unit: str
    gpu: str
    possible: int
    default: str
    best: str
    """Empty where none is verified."""
    configurations: tuple[Configuration, ...]
    place: str

    @property
    def name(self) -> str:
        """The variant, its layer and batch."""
        return case_name(self.id)

    @property
    def scored(self) -> tuple[Configuration, ...]:
        """The verified ones, the best first."""
        return tuple(sorted((one for one in self.configurations if one.score is not None),
                            key=lambda one: one.score or 0.0))

    @property
    def of_default(self) -> Optional[Configuration]:
        """The one that the variant takes by itself."""
        return next((one for one in self.configurations if one.text == self.default), None)

    @property
    def fastest(self) -> Optional[Configuration]:
        """The one that the record calls the best."""
        return next((one for one in self.scored if one.text == self.best), None)

    def short(self, one: Configuration) -> str:
        """What it has otherwise than the default."""
        default = self.of_default
        if one.text == self.default or default is None:
            return "the default" if default else in_words(one)
        return ", ".join(f"{name} {value}" for name, value in one.values if (name, value) not in default.values)

    def score(self, value: float) -> str:
        """With its unit."""
        return duration(value) if self.unit == "ns" else f"{count(value)} cycles"

    @property
    def axis(self) -> str:
        """What orders them, with the word that says how it was found."""
        on = f" for {self.gpu}" if self.gpu else ""
        return f"{self.of}, {self.kind}{on}"


@dataclass(frozen=True)
class SweepRecord:
    """The whole record."""

    origin: Origin
    sweeps: tuple[Sweep, ...]
    tried: int
    """Cases in the record; sweeps are made of them when the last has ended."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know before believing a figure."""
        return self.origin.warnings


def is_of(document: Any) -> bool:
    """Whether it is one."""
    return is_kind(document, KIND)


def read(root: Node) -> SweepRecord:
    """Raises RecordError."""
    if root.field("schema_version").value != SCHEMA_VERSION:
        raise root.field("schema_version").wrong(f"schema version \"{SCHEMA_VERSION}\"")
    cases = root.field("cases").items()
    members: dict[str, list[Node]] = {}
    for case in cases:
        members.setdefault(case.field("sweep").text(), []).append(case)
    sweeps = tuple(_sweep(node, members) for node in root.field("sweeps").items())
    return SweepRecord(origin(root), sweeps, len(cases))


def _sweep(node: Node, members: dict[str, list[Node]]) -> Sweep:
    scoring = node.field("scoring")
    own = member(node, "of_default")
    of_default = {name: ratio_of(own.field(name)) for name in own.value} if own else {}
    cases = members.get(node.field("id").text(), [])
    unit = scoring.field("unit").text()
    if unit not in ("ns", "cycles"):
        raise scoring.field("unit").wrong("\"ns\" or \"cycles\"")
    return Sweep(
        printable(node.field("id").text(), 200), printable(node.field("device").text()),
        printable(scoring.field("kind").text()), printable(scoring.field("of").text(), 80), unit,
        text_of(scoring, "gpu"), node.field("possible").positive(), printable(node.field("default").text(), 200),
        printable(optional(node.field("best"), Node.text) or "", 200),
        tuple(_configuration(case, of_default) for case in cases), node.place)


def _configuration(node: Node, of_default: dict[str, Ratio]) -> Configuration:
    text = node.field("text").text()
    score = member(node, "score") if node.field("status").text() == "ok" else None
    value, low, high = ((amount(score.field(name)) for name in ("value", "low", "high")) if score
                        else (None, 0.0, 0.0))
    values = node.field("configuration")
    return Configuration(
        printable(text, 200), tuple((printable(name), values.field(name).integer()) for name in values.numbers()),
        printable(node.field("status").text()), printable(optional(node.field("reason"), Node.text) or "",
                                                          _LONGEST_REASON),
        value, low, high, of_default.get(text, number_of(node, "of_default")), node.place)


def in_words(one: Configuration) -> str:
    """All of its values."""
    return ", ".join(f"{name} {value}" for name, value in one.values) or one.text


def sentence(one: Sweep) -> str:
    """Which configuration is best, and what that is worth."""
    best, where = one.fastest, f"{one.name} on {one.device}"
    tried = several(len(one.configurations), "configuration")
    if best is None:
        return f"{where}: none of {tried} has a result."
    if one.best == one.default:
        ahead = one.kind == "measured" and one.scored[0].text != one.default
        why = "; those ahead of it in the chart have intervals that overlap its own" if ahead else ""
        return (f"{where}: of {tried} none is surely better than the default, which is what the variant takes by itself: "
                f"{one.score(best.score or 0)}, {one.kind}{why}.")
    worth = f", which {speed(inverse(best.of_default), 'the default')}" if best.of_default and one.unit == "ns" and (
        speed(inverse(best.of_default), "the default")) else (
        f", {factor(best.of_default)} the default's" if best.of_default else "")
    return (f"{where}: the best of {tried} has {one.short(best)}, and else what the variant takes by itself: "
            f"{one.score(best.score or 0)}, {one.kind}{worth}.")


def chart(record: SweepRecord, one: Sweep) -> Optional[RowChart]:
    """Its configurations, the best first."""
    if not one.scored:
        return None
    rows = tuple(Mark(one.short(each), each.score or 0.0,
                      each.low if each.low != each.high else None, each.high if each.low != each.high else None,
                      one.score(each.score or 0) + (f", {plus_minus(each.of_default)} default" if each.of_default else ""),
                      "best" if each.text == one.best else "base" if each.text == one.default else "plain")
                 for each in one.scored)
    default = next((each.score for each in one.scored if each.text == one.default), None)
    default_has = f"; the default: {in_words(one.of_default)}" if one.of_default else ""
    detail = f"{len(one.scored)} of {one.possible:,} possible configurations{default_has}"
    interval = {"measured": "lines: the interval of the median", "predicted": "lines: the range of the prediction"}
    lines = [f"{one.axis}; the smaller, the better; a row names what it has otherwise than the default",
             *([interval[one.kind]] if one.kind in interval else ()), record.origin.line]
    best = one.fastest
    gain = best.of_default if best else None
    title = f"{one.name}: " + (
        "the default stands" if one.best == one.default or not gain
        else f"the best configuration {speed(inverse(gain), 'the default') or f'takes {factor(gain)} the time'}")
    return RowChart(title, tuple(filter(None, lines)), record.warnings, (Panel(
        f"{one.device}", detail, rows, one.axis, one.score,
        guides=((default, "default"),) if default is not None and len(rows) > 1 else ()),))


def table(one: Sweep) -> Table:
    """Everything that was tried."""
    names = list(dict.fromkeys(name for each in one.configurations for name, _ in each.values))
    interval = {"measured": "interval", "predicted": "range"}.get(one.kind)
    rows, places = [], []
    for each in (*one.scored, *(each for each in one.configurations if each.score is None)):
        values = dict(each.values)
        marks = " (best)" * (each.text == one.best) + " (default)" * (each.text == one.default)
        cells = [each.status + (f": {each.reason}" if each.reason else "") + marks,
                 *(str(values[name]) if name in values else NONE for name in names),
                 NONE if each.score is None else one.score(each.score)]
        if interval:
            cells.append(NONE if each.score is None else f"{one.score(each.low)} to {one.score(each.high)}")
        rows.append((*cells, factor(each.of_default)))
        places.append(each.place)
    return Table(f"{one.name} on {one.device}: {one.axis}", ("configuration", *names, one.kind,
                                                             *([interval] if interval else ()), "× default"),
                 tuple(rows), 1, place=f"{one.place}, $.cases[…]", row_places=tuple(places))
