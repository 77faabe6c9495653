"""What the record says of each of its ladders in a few names and factors, and of each step in words, with the stages in
the place of their names. It is read in convladder_charts/summary.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Optional

from convladder_charts.json_text import Node
from convladder_charts.known import Ratio
from convladder_charts.record import Ladder, Record
from convladder_charts.stage import Stage, printable, stages_of
from convladder_charts.summary import Summary as RecordedSummary
from convladder_charts.summary import of_ladder, steps_of
from convladder_charts.words import is_rough


@dataclass(frozen=True)
class Loss:
    """A stage that is surely slower than the one it builds on; `x` is below 1."""

    stage: str
    builds_on: str
    x: Ratio


@dataclass(frozen=True)
class Step:
    """What one stage's idea changed, in the sentences that `convladder explain` prints."""

    stage: Stage
    builds_on: Optional[Stage]
    x: Optional[Ratio]
    kind: str
    relieved: str
    binds: str
    place: str
    no_headline: str = ""
    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class Summary:
    """A ladder in short. Names are stages of the record; a factor is None where one of its sides has no time."""

    baseline: Optional[Stage]
    sixth: Optional[Stage]
    best: Stage
    best_by: str
    gpu: str
    library: Optional[Stage]
    overlaps: tuple[Stage, ...]
    less_accurate: tuple[Stage, ...]
    """Stages that are faster than the best, by giving up accuracy."""
    best_x_baseline: Optional[Ratio]
    best_x_sixth: Optional[Ratio]
    percent_of_library: Optional[Ratio]
    percent_of_floor: Optional[Ratio]
    loses: tuple[Loss, ...]
    no_headline: str
    """Why none is made of its factors; else empty."""
    rough: bool
    """Whether the machine was not quiet while one of the stages was measured that its factors compare."""
    place: str

    @property
    def level(self) -> tuple[Stage, ...]:
        """The best stages, which cannot be told apart."""
        return (self.best, *self.overlaps)


@dataclass(frozen=True)
class Told:
    """One ladder with its summary, if any stage of it has a time or a predicted one."""

    device: str
    family: str
    layer_name: str
    batch: int
    summary: Optional[Summary]
    steps: tuple[Step, ...]
    place: str

    def step(self, stage: Stage) -> Optional[Step]:
        """What it did to the stage it builds on."""
        return next((one for one in self.steps if one.stage == stage), None)


def told(root: Node, record: Record) -> dict[str, Told]:
    """Every ladder that is shown of a record, by its place. Raises RecordError."""
    stages = stages_of(root.field("variants"))
    ladders = {one.place: one for group in record.groups for one in group.ladders}
    held = {(group.device, one.layer_name, one.batch)
            for group in (*record.groups, *record.counted) for one in group.ladders}
    found = {}
    for node in root.field("ladders").items():
        one = _told(node, stages, ladders.get(node.place))
        if record.extent is None or (one.device, one.layer_name, one.batch) in held:
            found[node.place] = one
    return found


def _told(node: Node, stages: dict[tuple[str, str], Stage], ladder: Optional[Ladder]) -> Told:
    family = node.field("family").text()

    def named(name: str) -> Stage:
        return stages.get((family, name)) or Stage(family, None, name, printable(name) or "(no name)")

    read = ladder.summary if ladder else of_ladder(node)
    return Told(printable(node.field("device").text()), printable(family),
                f"{printable(node.field('network').text())}.{printable(node.field('layer').text())}",
                node.field("batch").positive(), _summary(read, named, ladder is not None and is_rough(ladder)) if read else None,
                tuple(Step(named(one.variant), named(one.builds_on) if one.builds_on is not None else None, one.x, one.kind,
                           one.relieved, one.binds, one.place, one.no_headline, one.lines) for one in steps_of(node)), node.place)


def _summary(read: RecordedSummary, named: Callable[[str], Stage], rough: bool) -> Optional[Summary]:
    """With the stages in the place of their names; None where no stage is best."""
    if read.best is None:
        return None

    def stage(name: Optional[str]) -> Optional[Stage]:
        return None if name is None else named(name)

    return Summary(
        stage(read.baseline), stage(read.sixth), named(read.best), read.best_by, read.gpu, stage(read.library),
        tuple(named(one) for one in read.overlaps), tuple(named(one) for one in read.less_accurate),
        read.best_x_baseline, read.best_x_sixth, read.best_percent_of_library, read.best_percent_of_floor,
        tuple(Loss(named(one.variant).title, named(one.builds_on).title, one.x) for one in read.loses),
        read.no_headline, rough, read.place)
