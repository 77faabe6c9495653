"""What a ladder tells in a few names and factors, as the record holds it, and which of its stages a picture shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterable, Mapping, Optional, Sequence

from convladder_charts.json_text import Node
from convladder_charts.known import Ratio, ratio_of
from convladder_charts.stage import Stage, optional, printable

MOST = 12
"""Rows of a picture."""
_LONGEST_SENTENCE = 400


@dataclass(frozen=True)
class Loss:
    """A stage that is surely slower than the one it builds on, by the variants' names; `x` is below 1."""

    variant: str
    builds_on: str
    x: Ratio


@dataclass(frozen=True)
class Step:
    """What a stage's idea changed, in the sentences that `convladder explain` prints. Stages by the variant's name."""

    variant: str
    builds_on: Optional[str]
    x: Optional[Ratio]
    kind: str
    relieved: str
    binds: str
    place: str
    no_headline: str = ""
    """Why its factor is none to rely on: a case was disturbed, or it is hardly known."""
    lines: tuple[str, ...] = ()
    """The lines of source where what `relieved` says has changed."""

    @property
    def sentence(self) -> str:
        """Both in one."""
        return " ".join(text for text in (self.relieved, self.binds) if text)


@dataclass(frozen=True)
class Summary:
    """Stages by the variant's name, and factors of layer times; None where the record has none."""

    baseline: Optional[str] = None
    sixth: Optional[str] = None
    best: Optional[str] = None
    library: Optional[str] = None
    best_x_baseline: Optional[Ratio] = None
    best_x_sixth: Optional[Ratio] = None
    best_percent_of_library: Optional[Ratio] = None
    best_percent_of_floor: Optional[Ratio] = None
    best_by: str = "measured"
    gpu: str = ""
    """That the times are predicted for; empty where they are measured."""
    overlaps: tuple[str, ...] = ()
    less_accurate: tuple[str, ...] = ()
    """Stages that are faster than the best, by giving up accuracy."""
    loses: tuple[Loss, ...] = ()
    no_headline: str = ""
    """Why none is made of its factors: the machine was disturbed, or they are hardly known; else empty."""
    place: str = ""

    def role(self, stage: Stage) -> str:
        """Its key in style.ROLES."""
        if stage.is_library:
            return "library"
        roles = {self.baseline: "baseline", self.sixth: "sixth", self.best: "best"}
        return roles.get(stage.name, "") if stage.name else ""


def of_ladder(ladder: Node) -> Summary:
    """As the record tells it."""
    summary = ladder.field("summary")

    def several(name: str) -> tuple[str, ...]:
        return tuple(one.text() for one in summary.field(name).items())

    return Summary(
        *(optional(summary.field(name), Node.text) for name in ("baseline", "sixth", "best", "library")),
        *(optional(summary.field(name), ratio_of) for name in ("best_x_baseline", "best_x_sixth",
                                                               "best_percent_of_library", "best_percent_of_floor")),
        best_by=printable(optional(summary.field("best_by"), Node.text) or "measured"),
        gpu=printable(optional(summary.field("gpu"), Node.text) or ""),
        overlaps=several("not_told_from_best"), less_accurate=several("faster_less_accurate"),
        loses=tuple(Loss(one.field("variant").text(), one.field("builds_on").text(), ratio_of(one.field("x")))
                    for one in summary.field("loses").items()),
        no_headline=printable(optional(summary.field("no_headline"), Node.text) or "", _LONGEST_SENTENCE), place=summary.place)


Place = tuple[str, str, str, str, int]
"""Device, family, network, layer and batch."""


def by_place(root: Node) -> dict[Place, Summary]:
    """All of a record's, also of what a device counted; empty in a run that was cut off."""
    found = {}
    for ladder in root.field("ladders").items():
        texts = (ladder.field(name).text() for name in ("device", "family", "network", "layer"))
        found[(*texts, ladder.field("batch").integer())] = of_ladder(ladder)
    return found  # type: ignore[return-value]


def steps_of(ladder: Node) -> tuple[Step, ...]:
    """In ladder order."""
    def sentence(step: Node, name: str) -> str:
        return printable(optional(step.field(name), Node.text) or "", _LONGEST_SENTENCE)

    return tuple(Step(step.field("variant").text(), optional(step.field("builds_on"), Node.text),
                      optional(step.field("x"), ratio_of), printable(step.field("kind").text()),
                      sentence(step, "relieved"), sentence(step, "binds"), step.place,
                      sentence(step, "no_headline"),
                      tuple(printable(line.text(), _LONGEST_SENTENCE) for line in step.field("lines").items())
                      if "lines" in step.value else ())
                 for step in ladder.field("steps").items())


@dataclass(frozen=True)
class Chosen:
    """What a picture shows of a ladder, in ladder order, and how many stages it leaves out."""

    stages: tuple[Stage, ...]
    left_out: int

    @property
    def notice(self) -> str:
        """Of what is not shown; empty where all is."""
        return f"{self.left_out} more stage{'s' * (self.left_out != 1)} in table.md" if self.left_out else ""


def chosen(stages: Sequence[Stage], summary: Summary, gains: Mapping[str, Optional[float]], most: int = MOST,
           more: int = 0) -> Chosen:
    """All of a short ladder. Of a long one stages 1 to 6, the best with those that it builds on, the fastest
    library and a few others; where these are too many as well, of the best's path those that gained or lost most.
    `more` are not even asked for."""
    if len(stages) <= most:
        return Chosen(tuple(stages), more)
    by_name = {stage.name: stage for stage in stages}
    sixth = by_name.get(summary.sixth or "")
    path = path_to(by_name, summary.best)
    libraries = sorted((stage.name for stage in stages if stage.is_library), key=lambda name: name != summary.library)
    kept = libraries[:most // 3]
    kept += [name for name in (summary.baseline, summary.best, summary.sixth) if name in by_name and name]
    wanted = [stage.name for stage in stages if sixth and not stage.is_library and _rung(stage) <= _rung(sixth)]
    steps = sorted((name for name in path if name not in wanted), key=lambda name: -_size(gains.get(name)))
    rest = [] if path or wanted else [stage.name for stage in stages]
    for name in (*wanted, *steps, *rest):
        if name not in kept and len(set(kept)) < most:
            kept.append(name)
    shown = tuple(stage for stage in stages if stage.name in kept)
    return Chosen(shown, len(stages) - len(shown) + more)


def path_to(by_name: Mapping[str, Stage], name: Optional[str]) -> list[str]:
    """A stage and those that it builds on, itself first."""
    path: list[str] = []
    while name and name in by_name and name not in path:
        path.append(name)
        name = by_name[name].builds_on
    return path


def named(stages: Iterable[Stage], summary: Summary) -> dict[str, Stage]:
    """The few that a chart names: baseline, stage 6, the best and the fastest library, by role."""
    found: dict[str, Stage] = {}
    by_name = {stage.name: stage for stage in stages}
    for role in ("baseline", "sixth", "best", "library"):
        stage = by_name.get(getattr(summary, role) or "")
        if stage is not None and stage not in found.values():
            found[role] = stage
    return found


def _rung(stage: Stage) -> int:
    return stage.rung or 0


def _size(gain: Optional[float]) -> float:
    """By how much a step changes the time, in either direction."""
    return 0.0 if not gain or gain <= 0 else max(gain, 1 / gain)
