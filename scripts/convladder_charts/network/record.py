"""The record of a run of whole networks as its charts and tables need it.

A convolution of a network is a ladder over the stages that were plugged in, so that the charts of ladders draw it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Mapping, Optional, Sequence

from convladder_charts.about import About, about, hardware
from convladder_charts.json_text import Node
from convladder_charts.known import Known
from convladder_charts.record import SCHEMA_VERSION, Group, Ladder, Row, quality_of
from convladder_charts.stage import Stage, optional, printable, stages_of
from convladder_charts.summary import Summary

INSTRUCTIONS = "smsp__inst_executed.sum"
WHOLE_PASS = "whole pass"


@dataclass(frozen=True)
class Time:
    """Nanoseconds of a pass, with the confidence interval of the median where there are several passes."""

    median: float
    low: Optional[float]
    high: Optional[float]
    level: Optional[float]
    samples: int
    kind: str = "measured"

    @property
    def known(self) -> Known:
        """With its interval."""
        return self.median, self.low, self.high


@dataclass(frozen=True)
class Step:
    """A layer, or the bias of one."""

    name: str
    type: str
    time: Optional[Time]
    instructions: Optional[float]
    """Warp instructions, on a device that counts."""


@dataclass(frozen=True)
class Accuracy:
    """How many images got their label's class, with a binomial interval."""

    correct: int
    of: int
    value: float
    low: float
    high: float
    level: float


@dataclass(frozen=True)
class ProfileRow:
    """A line of a profile; times in nanoseconds."""

    percent: float
    total: float
    calls: int
    average: float
    smallest: float
    largest: float
    name: str


@dataclass(frozen=True)
class Case:
    """A choice of stages on a network with a batch."""

    stage: Stage
    batch: int
    status: str
    reason: str
    images_at_once: int
    images_counted: Optional[int]
    steps: tuple[Step, ...]
    phases: Mapping[str, float]
    """Medians of what the host did in a pass."""
    total: Optional[Time]
    accuracy: Optional[Accuracy]
    profile: Mapping[str, tuple[ProfileRow, ...]]
    """By group: layers, host phases, GPU activities, API calls."""
    place: str = ""
    """Where it stands in the document."""
    quality: str = ""
    """noisy or disturbed, where the machine was not quiet while it was measured."""

    @property
    def counted(self) -> bool:
        """Whether its steps were counted instead of timed."""
        return any(step.instructions is not None for step in self.steps)

    @property
    def why_no_time(self) -> str:
        """Status and reason in one line."""
        return f"{self.status}: {self.reason}" if self.reason else "no time"

    def step(self, name: str) -> Optional[Step]:
        """The step of that name."""
        return self._by_name.get(name)

    @cached_property
    def _by_name(self) -> Mapping[str, Step]:
        return {step.name: step for step in reversed(self.steps)}


@dataclass(frozen=True)
class Published:
    """Somebody else's figure."""

    source: str
    device: str
    batch: Optional[int]
    stage: str
    layer: str
    what: str
    value: float
    unit: str
    approximate: bool


@dataclass(frozen=True)
class NetworkGroup:
    """A network on a device."""

    network: str
    title: str
    weights: str
    device: str
    family: str
    hardware: str
    cases: tuple[Case, ...]
    published: tuple[Published, ...]

    @property
    def stages(self) -> tuple[Stage, ...]:
        """Every choice once, in the record's order."""
        return tuple(dict.fromkeys(case.stage for case in self.cases))

    @property
    def batches(self) -> tuple[int, ...]:
        """Rising."""
        return tuple(sorted({case.batch for case in self.cases}))

    @property
    def timed(self) -> tuple[Case, ...]:
        """The cases that have times."""
        return tuple(case for case in self.cases if case.total is not None)

    @property
    def counted(self) -> tuple[Case, ...]:
        """The cases that were counted instead."""
        return tuple(case for case in self.cases if case.counted)

    @property
    def failed(self) -> tuple[Case, ...]:
        """The cases that have neither."""
        return tuple(case for case in self.cases if case.total is None and not case.counted)

    @property
    def kind(self) -> str:
        """"predicted" where the steps' times are a virtual clock's. Whole passes are the host's all the same."""
        times = [step.time for case in self.cases for step in case.steps if step.time]
        return times[0].kind if times else "measured"

    @cached_property
    def convolutions(self) -> tuple[str, ...]:
        """Names of the layers that variants are plugged into."""
        return tuple(dict.fromkeys(step.name for case in self.cases for step in case.steps
                                   if step.type == "convolution"))

    @cached_property
    def step_names(self) -> tuple[str, ...]:
        """All steps, in the network's order."""
        return tuple(dict.fromkeys(step.name for case in self.cases for step in case.steps))

    def of_stage(self, stage: Stage) -> tuple[Case, ...]:
        """A choice's cases by batch."""
        return tuple(sorted((case for case in self.cases if case.stage == stage), key=lambda case: case.batch))

    def ladders(self, name: str) -> Group:
        """The times of one step, or of `WHOLE_PASS`, stage beside stage, as a chart over batch takes them."""
        def time_of(case: Case) -> Optional[Time]:
            step = case.step(name)
            return case.total if name == WHOLE_PASS else step.time if step else None
        def ladder(batch: int) -> Ladder:
            rows = tuple(_row(case, time_of(case)) for case in self.cases if case.batch == batch)
            return Ladder(self.network, name, "", batch, rows, summary=_summary(rows))
        return Group(self.device, self.family, "measured" if name == WHOLE_PASS else self.kind, self.hardware,
                     tuple(map(ladder, self.batches)))


@dataclass(frozen=True)
class NetworkRecord(About):
    """A run of whole networks, ready to be drawn."""

    groups: tuple[NetworkGroup, ...]


def read(root: Node) -> NetworkRecord:
    """The record in the document of a network.json. Raises RecordError."""
    version = root.field("schema_version")
    if version.value != SCHEMA_VERSION:
        raise version.wrong(f"schema version \"{SCHEMA_VERSION}\"")
    context = root.field("context")
    stage_of = _Stages(root, context)
    networks = {node.field("name").text(): node for node in root.field("networks").items()}
    members: dict[tuple[str, str], list[Case]] = {}
    for node in root.field("cases").items():
        network, device = node.field("network").text(), node.field("device").text()
        if network not in networks:
            raise node.field("network").wrong("one of the record's networks")
        members.setdefault((network, device), []).append(_case(node, stage_of(device, node.field("variants").text())))
    return NetworkRecord(**about(root), groups=tuple(
        NetworkGroup(network=printable(network), title=printable(networks[network].field("title").text(), 120),
                     weights=printable(networks[network].field("weights").field("name").text(), 160),
                     device=printable(device), family=stage_of.family(device), hardware=hardware(device, context),
                     cases=tuple(cases), published=_published(root, network, {case.batch for case in cases}))
        for (network, device), cases in members.items()))


class _Stages:
    """What a case's choice of variants is called and drawn as."""

    def __init__(self, root: Node, context: Node) -> None:
        self.known = stages_of(root.field("variants"))
        self.families = {node.field("kind").text(): node.field("family").text()
                         for node in context.field("devices").items()}
        self.choices: dict[tuple[str, str], Stage] = {}

    def family(self, device: str) -> str:
        """The family that a device runs."""
        return printable(self.families.get(device, device))

    def __call__(self, device: str, choice: str) -> Stage:
        """The stage of that name; a choice for several layers gets the mark of the next free rung."""
        key = (self.families.get(device, device), choice)
        if key in self.known:
            return self.known[key]
        if key not in self.choices:
            rungs = [stage.rung or 0 for (family, _), stage in [*self.known.items(), *self.choices.items()]
                     if family == key[0]]
            self.choices[key] = Stage(key[0], max(rungs, default=0) + 1, choice, printable(choice), is_choice=True)
        return self.choices[key]


def _case(node: Node, stage: Stage) -> Case:
    steps = tuple(_step(step) for step in node.field("steps").items())
    return Case(
        stage=stage,
        batch=node.field("batch").positive(),
        status=printable(node.field("status").text()),
        reason=printable(optional(node.field("reason"), Node.text) or "", 160),
        images_at_once=node.field("images_at_once").integer(),
        images_counted=_images_counted(node),
        steps=steps,
        phases={phase.field("name").text(): _time(phase.field("time")).median
                for phase in node.field("phases").items()},
        total=optional(node.field("total"), _time),
        accuracy=optional(node.field("accuracy"), _accuracy),
        profile=optional(node.field("profile"), _profile) or {},
        place=node.place, quality=quality_of(node))


def _step(node: Node) -> Step:
    counters = node.field("counters")
    return Step(name=printable(node.field("name").text()), type=node.field("type").text(),
                time=optional(node.field("time"), _time),
                instructions=optional(counters, lambda one: one.field("totals").field(INSTRUCTIONS).number()))


def _images_counted(case: Node) -> Optional[int]:
    """The fewest images that any step's counters come from."""
    images = [step.field("counters").field("images_executed").integer() for step in case.field("steps").items()
              if not step.field("counters").is_null()]
    return min(images, default=None)


def _time(node: Node) -> Time:
    interval = node.field("interval")
    low, high, level = ((None, None, None) if interval.is_null() else
                        (interval.field(name).number() for name in ("low", "high", "level")))
    return Time(node.field("median").number(), low, high, level, len(node.field("samples").items()),
                node.field("kind").text())


def _accuracy(node: Node) -> Accuracy:
    return Accuracy(node.field("correct").integer(), node.field("of").integer(),
                    *(node.field(name).number() for name in ("value", "low", "high", "level")))


def _profile(node: Node) -> dict[str, tuple[ProfileRow, ...]]:
    return {printable(group.field("group").text()): tuple(
        ProfileRow(row.field("time_percent").number(), row.field("total_ns").number(), row.field("calls").integer(),
                   *(row.field(name).number() for name in ("avg_ns", "min_ns", "max_ns")),
                   printable(row.field("name").text()))
        for row in group.field("rows").items()) for group in node.field("groups").items()}


def _published(root: Node, network: str, batches: set[int]) -> tuple[Published, ...]:
    """Others' figures for this network at one of these batches; profiles, which are tables, left out."""
    found: dict[Published, None] = {}
    for batch in sorted(batches):
        for node in root.field("published").field(f"{network}/{batch}").items():
            def text(name: str, of: Node = node) -> str:
                return printable(optional(of.field(name), Node.text) or "", 120)
            if node.field("value").is_null():
                continue
            stage = ", ".join(part for part in (text("stage"), text("model")) if part)
            found[Published(text("source"), text("device"), optional(node.field("batch"), Node.integer), stage,
                            text("layer"), text("what"), node.field("value").number(), text("unit"),
                            node.field("approximate").boolean())] = None
    return tuple(found)


def _summary(rows: Sequence[Row]) -> Summary:
    """Which choices a chart of many names: the lowest rung, the fastest, the fastest library."""
    timed = [row for row in rows if row.has_time]
    stages = [row for row in timed if not row.stage.is_library]
    libraries = [row for row in timed if row.stage.is_library]
    first = min(stages, key=lambda row: row.stage.rung or 0, default=None)
    best, library = (min(some, key=lambda row: row.median or 0.0, default=None) for some in (stages, libraries))
    return Summary(*(row.stage.name if row else None for row in (first, None, best, library)))


def _row(case: Case, time: Optional[Time]) -> Row:
    return Row(case.stage, case.status, case.reason, "layer" if time else None,
               time.median if time else None, time.low if time else None, time.high if time else None,
               None, None, None, None, samples=time.samples if time else 0,
               level=time.level if time else None, cache=None)
