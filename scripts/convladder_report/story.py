"""What the record says of each of its ladders in a few names and factors, and of each step in words.

The program works these out once (harness/records). Of older records that lack them, only what a ladder's rows say
themselves is told: which stage is fastest, and that row's own factors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Optional

from convladder_charts.json_text import Node
from convladder_charts.record import Group, Ladder, Row
from convladder_charts.stage import Stage, optional, printable, stages_of

_LONGEST_SENTENCE = 400


@dataclass(frozen=True)
class Loss:
    """A stage that is surely slower than the one it builds on; `x` is below 1."""

    stage: str
    builds_on: str
    x: float


@dataclass(frozen=True)
class Step:
    """What one stage's idea changed, in the sentences that `convladder explain` prints."""

    stage: Stage
    builds_on: Optional[Stage]
    x: Optional[float]
    kind: str
    relieved: str
    binds: str
    place: str


@dataclass(frozen=True)
class Story:
    """A ladder in short. Names are stages of the record; a factor is None where one of its sides has no time."""

    baseline: Optional[Stage]
    mission: Optional[Stage]
    best: Stage
    best_by: str
    gpu: str
    library: Optional[Stage]
    overlaps: tuple[Stage, ...]
    less_accurate: tuple[Stage, ...]
    """Stages that are faster than the best, by giving up accuracy."""
    best_x_baseline: Optional[float]
    best_x_mission: Optional[float]
    percent_of_library: Optional[float]
    percent_of_floor: Optional[float]
    loses: tuple[Loss, ...]
    place: str


@dataclass(frozen=True)
class Told:
    """One ladder with its story, if any stage of it has a time or a predicted one."""

    device: str
    family: str
    layer_name: str
    batch: int
    story: Optional[Story]
    steps: tuple[Step, ...]
    place: str

    def step(self, stage: Stage) -> Optional[Step]:
        """What it did to the stage it builds on."""
        return next((one for one in self.steps if one.stage == stage), None)


def told(root: Node, groups: tuple[Group, ...]) -> dict[str, Told]:
    """Every ladder of a record by its place. Raises RecordError."""
    stages = stages_of(root.field("variants"))
    ladders = {one.place: one for group in groups for one in group.ladders}
    return {node.place: _told(node, stages, ladders.get(node.place)) for node in root.field("ladders").items()}


def _told(node: Node, stages: dict[tuple[str, str], Stage], ladder: Optional[Ladder]) -> Told:
    family = node.field("family").text()

    def named(name: str) -> Stage:
        return stages.get((family, name)) or Stage(family, None, name, printable(name) or "(no name)")

    story = _story(node.field("story"), named) if node.value.get("story") is not None else (
        _of_rows(ladder) if ladder and "story" not in node.value else None)
    steps = node.field("steps").items() if node.value.get("steps") is not None else []
    return Told(printable(node.field("device").text()), printable(family),
                f"{printable(node.field('network').text())}.{printable(node.field('layer').text())}",
                node.field("batch").positive(), story, tuple(_step(one, named) for one in steps), node.place)


def _story(node: Node, named: Callable[[str], Stage]) -> Optional[Story]:
    def stage(name: str) -> Optional[Stage]:
        return optional(node.field(name), lambda one: named(one.text()))

    def several(name: str) -> tuple[Stage, ...]:
        return tuple(named(one.text()) for one in node.field(name).items()) if name in node.value else ()

    best = stage("best")
    if best is None:
        return None
    return Story(
        stage("baseline"), stage("mission"), best, node.field("best_by").text(),
        printable(optional(node.field("gpu"), Node.text) or ""), stage("library"),
        several("overlaps_best"), several("faster_less_accurate"),
        *(optional(node.field(name), Node.number) for name in ("best_x_baseline", "best_x_mission",
                                                               "best_percent_of_library", "best_percent_of_floor")),
        loses=tuple(Loss(named(one.field("variant").text()).title, named(one.field("builds_on").text()).title,
                         one.field("x").number()) for one in node.field("loses").items()),
        place=f"{node.place}")


def _of_rows(ladder: Ladder) -> Optional[Story]:
    """Of a record without stories: the fastest row and what it says of itself."""
    stages = [row for row in ladder.timed if not row.stage.is_library and row.layer_median]
    if not stages:
        return None
    best = min(stages, key=_layer)
    first = min(stages, key=lambda row: row.stage.rung or 0)
    libraries = [row for row in ladder.timed if row.stage.is_library and row.layer_median]
    near = [row.stage for row in stages if row is not best and row.of == best.of and row.of in ("layer", "call")
            and row.low is not None and best.high is not None and row.low <= best.high]
    return Story(first.stage if first.x_baseline == 1 else None, None, best.stage, "measured", "",
                 min(libraries, key=_layer).stage if libraries else None, tuple(near), (), best.x_baseline, None,
                 best.percent_of_library, best.percent_of_floor, (), f"{ladder.place}.rows[{ladder.rows.index(best)}]")


def _layer(row: Row) -> float:
    return row.layer_median or 0


def _step(node: Node, named: Callable[[str], Stage]) -> Step:
    def sentence(name: str) -> str:
        return printable(optional(node.field(name), Node.text) or "", _LONGEST_SENTENCE)

    below = optional(node.field("builds_on"), lambda one: named(one.text()))
    return Step(named(node.field("variant").text()), below, optional(node.field("x"), Node.number),
                printable(node.field("kind").text()), sentence("relieved"), sentence("binds"), node.place)
