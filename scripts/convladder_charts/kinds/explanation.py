"""What `convladder explain --format json` printed: read, as charts and tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

from convladder_charts.json_text import Node
from convladder_charts.known import Ratio, ratio_of
from convladder_charts.known_text import either, factor, untold
from convladder_charts.kinds.members import LONGEST_TEXT, amount, is_kind, member, text_of, time_of
from convladder_charts.kinds.row_chart import Mark, Panel, RowChart
from convladder_charts.stage import optional, printable
from convladder_charts.table_text import Table
from convladder_charts.units import NONE, duration, ratio, round_duration

KIND = "explanation"


@dataclass(frozen=True)
class Predicted:
    """A time on a GPU, as a range."""

    gpu: str
    low: float
    high: float
    binds: str
    occupancy: float

    @property
    def middle(self) -> float:
        """The geometric one."""
        return (self.low * self.high) ** 0.5


@dataclass(frozen=True)
class Stage:
    """A stage with what is predicted of it, and the counters that moved."""

    title: str
    builds_on: str
    predicted: tuple[Predicted, ...]
    moved: tuple[tuple[str, float], ...]
    words: tuple[str, ...]
    """In sentences, where the document has them."""
    measured: Optional[float]
    why_not: str
    place: str


@dataclass(frozen=True)
class Group:
    """A layer at a batch."""

    name: str
    measured_on: str
    stages: tuple[Stage, ...]
    place: str

    @property
    def gpus(self) -> tuple[str, ...]:
        """All for which something is predicted."""
        return tuple(dict.fromkeys(one.gpu for stage in self.stages for one in stage.predicted))


@dataclass(frozen=True)
class Step:
    """A stage beside the one that it builds on, in words."""

    variant: str
    builds_on: str
    factor: Optional[Ratio]
    kind: str
    relieved: str
    binds: str
    place: str


@dataclass(frozen=True)
class Steps:
    """Those of a ladder."""

    name: str
    steps: tuple[Step, ...]
    place: str


@dataclass(frozen=True)
class Explanation:
    """All of them."""

    groups: tuple[Group, ...]
    ladders: tuple[Steps, ...]
    warnings: tuple[str, ...] = ()


def is_of(document: Any) -> bool:
    """Whether it is one."""
    return is_kind(document, KIND)


def read(root: Node) -> Explanation:
    """Raises RecordError."""
    return Explanation(tuple(_group(node) for node in root.field("groups").items()),
                       tuple(_steps(node) for node in root.field("ladders").items()))


def _steps(node: Node) -> Steps:
    layer = ".".join(printable(node.field(part).text()) for part in ("network", "layer"))
    return Steps(f"{layer}, batch {node.field('batch').positive()}, {printable(node.field('device').text())}", tuple(
        Step(printable(one.field("variant").text()), text_of(one, "builds_on"), optional(one.field("x"), ratio_of),
             text_of(one, "kind"), text_of(one, "relieved", LONGEST_TEXT), text_of(one, "binds", LONGEST_TEXT), one.place)
        for one in node.field("steps").items()), node.place)


def _group(node: Node) -> Group:
    name = ".".join(printable(node.field(part).text()) for part in ("network", "layer"))
    return Group(f"{name}, batch {node.field('batch').positive()}", text_of(node, "measured_on"),
                 tuple(_stage(stage) for stage in node.field("stages").items()), node.place)


def _stage(node: Node) -> Stage:
    moved = tuple((printable(one.field("counter").text(), 80), amount(one.field("ratio")))
                  for one in node.field("counters_against_builds_on").items())
    predictions = [_predicted(one) for one in node.field("predictions").items()]
    measured = member(node, "measured")
    return Stage(printable(node.field("title").text()) or "(no name)", text_of(node, "builds_on"),
                 tuple(one for one in predictions if one is not None), moved,
                 tuple(text for name in ("relieved", "binds") if (text := text_of(node, name, LONGEST_TEXT))),
                 time_of(measured.field("median")) if measured else None, text_of(node, "why_not", LONGEST_TEXT),
                 node.place)


def _predicted(node: Node) -> Optional[Predicted]:
    low, high = member(node, "low"), member(node, "high")
    if low is None or high is None:
        return None
    binds = list(dict.fromkeys(text_of(node, name) for name in ("binding_low", "binding_high")))
    return Predicted(printable(node.field("gpu").text()), time_of(low), time_of(high), " or ".join(filter(None, binds)),
                     amount(node.field("occupancy")))


def _fastest(group: Group, gpu: str) -> list[tuple[Stage, Predicted]]:
    """The stage whose range has the least middle, and after it those whose ranges overlap its own: of these nothing says
    which is faster."""
    found = sorted(((stage, one) for stage in group.stages for one in stage.predicted if one.gpu == gpu),
                   key=lambda each: each[1].middle)
    return [each for each in found if each[1].low <= found[0][1].high and found[0][1].low <= each[1].high]


def sentence(group: Group) -> str:
    """Which stage is predicted to be fastest, if the ranges tell, and what binds it."""
    texts = []
    for gpu in group.gpus[:2]:
        found = _fastest(group, gpu)
        if not found:
            continue
        (stage, one), *others = found
        bound = f"; what binds: {one.binds}" if one.binds else ""
        span = f"{duration(one.low)} to {duration(one.high)}{bound}"
        if others:
            named = f"stage {others[0][0].title}" if len(others) == 1 else f"{len(others)} other stages"
            texts.append(f"on {gpu} stage {stage.title} has the lowest predicted range, {span}, but the prediction cannot tell "
                         f"it from {named}")
        else:
            texts.append(f"on {gpu} stage {stage.title} is predicted to be fastest, {span}")
    return f"{group.name}: {'; '.join(texts)}." if texts else f"{group.name}: nothing could be predicted."


def step_sentence(ladder: Steps) -> str:
    """The greatest step, and why."""
    steps = [one for one in ladder.steps if one.factor]
    best = max(steps, key=lambda one: one.factor or 0.0, default=None)
    surely = [one for one in steps if one.factor and not untold(one.factor)]
    if steps and not surely:
        return f"{ladder.name}: no step can be told from 1."
    level = [] if best is None or best.factor is None else [
        one for one in surely if one is not best and one.factor is not None and best.factor.low is not None
        and (one.factor.high or one.factor) >= best.factor.low]
    if best is not None and level:
        return (f"{ladder.name}: the greatest step is {either([one.variant for one in (best, *level)])}; their factors "
                f"cannot be told apart ({best.kind}).")
    if best is None:
        return f"{ladder.name}: no stage has a factor over the one it builds on."
    why = f" {best.relieved}" if best.relieved else ""
    return (f"{ladder.name}: the greatest step is {best.variant}, {factor(best.factor)} as fast as {best.builds_on} "
            f"({best.kind}).{why}")


def steps_table(ladder: Steps) -> Table:
    """Every stage, in words."""
    return Table(f"{ladder.name}: each stage, over the one that it builds on",
                 ("stage", "builds on", "what it relieved", "what binds now", "× as fast", "by"), tuple(
                     (one.variant, one.builds_on or NONE, one.relieved or NONE, one.binds or NONE, factor(one.factor),
                      one.kind or NONE) for one in ladder.steps), 4, place=f"{ladder.place}.steps",
                 row_places=tuple(one.place for one in ladder.steps))


def chart(group: Group) -> Optional[RowChart]:
    """The ranges of each stage, a panel for each GPU."""
    panels = []
    for gpu in group.gpus:
        best = _fastest(group, gpu)
        rows = []
        for stage in group.stages:
            one = next((each for each in stage.predicted if each.gpu == gpu), None)
            if one:
                rows.append(Mark(stage.title, one.middle, one.low, one.high,
                                 f"{duration(one.low)} to {duration(one.high)}",
                                 "best" if len(best) == 1 and best[0][1] is one else "plain"))
        panels.append(Panel(gpu, "", tuple(rows), "op time, predicted", round_duration))
    if not panels:
        return None
    return RowChart(f"{group.name}: predicted times of each stage", (
        "lines: the range of the prediction; points: its geometric middle, which is no estimate; nothing here is "
        "measured",), (), tuple(panels))


def table(group: Group) -> Table:
    """Every stage."""
    rows, places = [], []
    for stage in group.stages:
        predicted = {one.gpu: one for one in stage.predicted}
        moved = "; ".join(f"{name} {ratio(value)}" for name, value in stage.moved)
        words = " ".join(stage.words)
        rows.append((stage.title, stage.builds_on or NONE, "; ".join(filter(None, (words, moved or stage.why_not))) or NONE,
                     *(f"{duration(predicted[gpu].low)} to {duration(predicted[gpu].high)} ({predicted[gpu].binds})"
                       if gpu in predicted else NONE for gpu in group.gpus),
                     NONE if stage.measured is None else duration(stage.measured)))
        places.append(stage.place)
    return Table(f"{group.name}: what each stage changed, and its times",
                 ("stage", "builds on", "counters over those of what it builds on",
                  *(f"{gpu}, predicted" for gpu in group.gpus),
                  f"measured{' on ' + group.measured_on if group.measured_on else ''}"), tuple(rows), 3,
                 place=f"{group.place}.stages", row_places=tuple(places))
