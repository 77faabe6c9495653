"""The record of a run as the charts need it: the ladders, and the text of a figure's heading.

Nothing is computed here that run.json already says: times, ratios and rates are the record's own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Mapping, Optional, Sequence

from convladder_charts import counted, left_out, predicted, summary
from convladder_charts.about import About, about, fact, hardware
from convladder_charts.cases import Cases
from convladder_charts.counted import CountedGroup
from convladder_charts.limits import CaseRoofline, Ceilings, DataSheet, Floor, ceilings_of, floor_of, roofline_of
from convladder_charts.machines import kind_of_machine, machine_of_kind
from convladder_charts.json_text import Node, RecordError
from convladder_charts.known import Known, Ratio, ratio_of
from convladder_charts.left_out import LeftOutGroup
from convladder_charts.predicted import PredictedGroup
from convladder_charts.record_file import read_json
from convladder_charts.stage import Stage, is_size, optional, printable, shape_text, stages_of
from convladder_charts.summary import Summary

SCHEMA_VERSION = "1.1"
FP32_TOLERANCE = 1e-6
QUALITY_SIGNS = {"noisy": "~", "disturbed": "!"}
_REAL_DEVICES = {"cuda": 0, "cpu": 1}


@dataclass(frozen=True)
class Row:
    """One case in its ladder. Times are layer times, NCHW in to NCHW out, in nanoseconds; None where there is none."""

    stage: Stage
    status: str
    reason: str
    of: Optional[str]
    median: Optional[float]
    low: Optional[float]
    high: Optional[float]
    gflop_per_s: Optional[float]
    x_previous: Optional[Ratio]
    x_baseline: Optional[Ratio]
    percent_of_library: Optional[Ratio]
    samples: int
    level: Optional[float]
    cache: Optional[str]
    values: tuple[float, ...] = ()
    """The samples in the order in which they were taken."""
    case_place: str = ""
    """Where its case stands in the document."""
    percent_of_floor: Optional[Ratio] = None
    op_median: Optional[float] = None
    """Of the convolution alone in a layout of its own, which is compared with nothing."""
    tolerance: float = FP32_TOLERANCE
    """Of its verification: the error that its kind of arithmetic is allowed."""
    roofline: Optional[CaseRoofline] = None
    quality: str = ""
    """noisy or disturbed, where the machine was not quiet while the case was measured."""

    @property
    def known_time(self) -> Known:
        """With its interval."""
        return self.median, self.low, self.high

    @property
    def sign(self) -> str:
        """What marks its time in a table; empty for a good one."""
        return QUALITY_SIGNS.get(self.quality, "")

    @property
    def has_time(self) -> bool:
        """Whether there is anything to draw; a time of zero or less does not count."""
        return self.median is not None and self.median > 0

    @property
    def why_no_time(self) -> str:
        """Status and reason in one line."""
        status = "no time" if self.status == "ok" else self.status
        return f"{status}: {self.reason}" if self.reason else status


@dataclass(frozen=True)
class Ladder:
    """The stages of one layer and batch on one device."""

    network: str
    layer: str
    shape: str
    batch: int
    rows: tuple[Row, ...]
    place: str = ""
    """Where it stands in the document."""
    floor: Optional[Floor] = None
    summary: Summary = Summary()
    steps: Mapping[str, str] = field(default_factory=dict, hash=False, compare=False)
    """By the stage's name what its idea relieved and what binds now, in the record's sentences."""
    more_stages: int = 0
    """That it has in the record and not here (shown.py)."""

    @property
    def layer_name(self) -> str:
        """As the command line spells it."""
        return f"{self.network}.{self.layer}"

    @property
    def timed(self) -> tuple[Row, ...]:
        """The rows that can be drawn."""
        return tuple(row for row in self.rows if row.has_time)


@dataclass(frozen=True)
class Group:
    """All ladders of one device, family and kind of time, on one kind of machine: what may share a figure and an axis."""

    device: str
    family: str
    kind: str
    hardware: str
    ladders: tuple[Ladder, ...]
    machine: Optional[int] = None
    """The kind of machine that measured them, where a merged run has several."""
    more_layers: int = 0
    """That it has in the record and not here (shown.py)."""
    more_cases: int = 0

    @property
    def has_times(self) -> bool:
        """Whether any stage of any ladder was timed."""
        return any(ladder.timed for ladder in self.ladders)

    @property
    def stages(self) -> tuple[Stage, ...]:
        """Every stage of the group once, in ladder order."""
        return tuple(dict.fromkeys(row.stage for ladder in self.ladders for row in ladder.rows))

    @property
    def layers(self) -> tuple[str, ...]:
        """The layers in the record's order."""
        return tuple(dict.fromkeys(ladder.layer_name for ladder in self.ladders))

    def of_layer(self, layer: str) -> tuple[Ladder, ...]:
        """The ladders of one layer by batch."""
        return self._by_layer.get(layer, ())

    @cached_property
    def _by_layer(self) -> Mapping[str, tuple[Ladder, ...]]:
        found: dict[str, list[Ladder]] = {}
        for one in self.ladders:
            found.setdefault(one.layer_name, []).append(one)
        return {layer: tuple(sorted(several, key=lambda one: one.batch)) for layer, several in found.items()}

    @property
    def notice(self) -> str:
        """That nothing of this group is drawn, and the first reason without what is in its brackets."""
        reasons = dict.fromkeys(row.why_no_time.split(" (")[0] for ladder in self.ladders for row in ladder.rows)
        return f"{self.device}: no times ({next(iter(reasons), 'no cases')[:80]}{'; …' if len(reasons) > 1 else ''})"

    def skipped_line(self) -> str:
        """Why nothing of this group is drawn, in one line."""
        reasons = dict.fromkeys(row.why_no_time for ladder in self.ladders for row in ladder.rows)
        shown = "; ".join(list(reasons)[:3]) + ("; …" if len(reasons) > 3 else "")
        cases = sum(len(ladder.rows) for ladder in self.ladders) + self.more_cases
        return f"{self.device}: none of {cases} cases has a {self.kind} time ({shown or 'no cases'})"


@dataclass(frozen=True)
class Extent:
    """All layers and batches of a record."""

    layers: tuple[str, ...]
    batches: tuple[int, ...]
    of_a_layer: int
    """The most batches that a layer has."""


@dataclass(frozen=True)
class Record(About):
    """A run, ready to be drawn."""

    groups: tuple[Group, ...]
    counted: tuple[CountedGroup, ...] = ()
    predicted: tuple[PredictedGroup, ...] = ()
    ceilings: tuple[Ceilings, ...] = ()
    data_sheet: Optional[DataSheet] = None
    """The GPU's, where it is one that the program knows."""
    left_out: tuple[LeftOutGroup, ...] = ()
    work: str = "forward convolution"
    """What each call of a stage computes, in words."""
    of_sizes: bool = False
    """Of sizes of a problem, and of no layers."""
    of_folder: bool = False
    """Of the ladder in a folder, which has a name of its own."""
    extent: Optional["Extent"] = None
    """What the whole record holds, where this is a part of it (shown.py)."""
    not_shown: str = ""
    """Which part that is, in words."""

    @property
    def subject(self) -> str:
        """What a chart of the record is of."""
        return self.work if self.of_folder else f"one {self.work}"

    @property
    def drawn(self) -> tuple[Group, ...]:
        """The groups that have times."""
        return tuple(group for group in self.groups if group.has_times)

    @property
    def notices(self) -> tuple[str, ...]:
        """The same in a few words each, for the foot of a figure."""
        counted = {group.device for group in self.counted}
        return (*(group.notice for group in self.groups if not group.has_times and group.device not in counted),
                *(f"{group.device}: counted, not timed" for group in self.counted))

    @property
    def skipped_lines(self) -> tuple[str, ...]:
        """One line for each group that has none, and for each that counted instead."""
        return (*(group.skipped_line() for group in self.groups if not group.has_times),
                *(group.line for group in self.counted))


def load(path: Path) -> Record:
    """Reads and checks a run.json. Raises RecordError."""
    return read(Node(read_json(path), path))


def read(root: Node) -> Record:
    """The record in the document of a run.json. Raises RecordError."""
    _check_is_run(root)
    context = root.field("context")
    stages = stages_of(root.field("variants"))
    cases = Cases(root.field("cases"))
    options = context.value.get("options")
    of_folder = isinstance(options, dict) and "ladder" in options
    told = summary.by_place(root)
    return Record(
        **about(root),
        groups=_groups(root.field("ladders"), stages, cases, context),
        counted=counted.groups_of(cases, stages, lambda device, key: fact(device, key, context),
                                  lambda device: hardware(device, context), told),
        predicted=predicted.groups_of(cases, stages, lambda device: hardware(device, context), told),
        left_out=left_out.groups_of(root, lambda device: hardware(device, context)),
        work=_work(cases.outlines, of_folder),
        of_folder=of_folder,
        of_sizes=bool(cases.outlines) and all(map(is_size, cases.outlines)),
        ceilings=tuple(ceilings_of(node) for node in (root.field("ceilings").items() if "ceilings" in root.value else ())),
        data_sheet=_data_sheet(context),
    )


def _data_sheet(context: Node) -> Optional[DataSheet]:
    title, *rates = (fact("cuda", name, context)
                     for name in ("data sheet of", "data sheet GFLOP/s", "data sheet GB/s"))
    try:
        numbers = [float(rate) for rate in rates if rate is not None]
    except ValueError:
        return None
    return DataSheet(printable(title), *numbers) if title and len(numbers) == 2 and min(numbers) > 0 else None


def _work(cases: Sequence[Node], of_folder: bool) -> str:
    """The problems' names, in words unless they are a folder's. A record has one unless somebody put several together."""
    def name(text: str) -> str:
        return text if of_folder else text.replace("-", " ")
    names = dict.fromkeys(name(printable(case.field("problem").text())) if "problem" in case.value
                          else "forward convolution" for case in cases)
    return " or ".join(names) or "forward convolution"


def _check_is_run(root: Node) -> None:
    if not isinstance(root.value, dict) or not {"schema_version", "cases", "ladders"} <= set(root.value):
        raise RecordError(f"{root.source}: $: not a convladder run; "
                          "expected an object with \"schema_version\", \"cases\" and \"ladders\"")
    version = root.field("schema_version")
    if version.value != SCHEMA_VERSION:
        raise version.wrong(f"schema version \"{SCHEMA_VERSION}\"")


def _groups(ladders: Node, stages: dict[tuple[str, str], Stage], cases: Cases,
            context: Node) -> tuple[Group, ...]:
    """Measured before predicted, GPU before CPU before others: the first group gets the plain file names."""
    members: dict[tuple[str, str, str, Optional[int]], list[Ladder]] = {}
    for node in ladders.items():
        if not node.field("rows").items():
            continue  # of stages that were only counted: it has their steps in words
        device, family, kind = (node.field(name).text() for name in ("device", "family", "kind"))
        key = device, family, kind, kind_of_machine(node)
        members.setdefault(key, []).append(_ladder(node, family, stages, cases))
    order = sorted(members, key=lambda key: (key[2] != "measured", _REAL_DEVICES.get(key[0], 2), key[3] or 0))
    return tuple(
        Group(printable(device), printable(family), printable(kind), hardware(device, machine_of_kind(context, machine)),
              tuple(members[device, family, kind, machine]), machine)
        for device, family, kind, machine in order)


def _ladder(node: Node, family: str, stages: dict[tuple[str, str], Stage], cases: Cases) -> Ladder:
    kind = node.field("kind").text()
    rows = node.field("rows").items()
    return Ladder(
        network=printable(node.field("network").text()),
        layer=printable(node.field("layer").text()),
        shape=next((shape_text(case) for case in (cases.get(row.field("case").text()) for row in rows) if case), ""),
        batch=node.field("batch").positive(),
        rows=tuple(_row(row, family, kind, stages, cases) for row in rows),
        place=node.place, floor=floor_of(node), summary=summary.of_ladder(node),
        steps={step.variant: step.sentence for step in summary.steps_of(node)})


def _row(row: Node, family: str, kind: str, stages: dict[tuple[str, str], Stage], cases: Cases) -> Row:
    name, rung = row.field("variant").text(), optional(row.field("rung"), Node.integer)
    stage = stages.get((family, name)) or Stage(family, rung, name, printable(name) or "(no name)")
    case = cases.get(row.field("case").text())
    time = _time_of(case, kind)
    interval = time.field("interval") if time else None
    reason = optional(case.field("reason"), Node.text) if case else None
    median, low, high, rate = (optional(row.field(number), Node.number)
                               for number in ("median_ns", "low_ns", "high_ns", "gflop_per_s"))
    op = row.field("op_in_own_layout")
    return Row(
        stage, printable(row.field("status").text()), printable(reason or "", 120),
        _time_name(row, case), median, low, high, rate,
        *(optional(row.field(name), ratio_of) for name in ("x_previous", "x_baseline", "percent_of_library")),
        samples=len(time.field("samples").items()) if time else 0,
        level=interval.field("level").number() if interval and not interval.is_null() else None,
        cache=time.value.get("cache") if time else None,
        values=tuple(one.number() for one in time.field("samples").items()) if time else (),
        case_place=case.place if case else "",
        tolerance=_tolerance(case) if case else FP32_TOLERANCE,
        quality=quality_of(case) if case else "",
        roofline=roofline_of(row),
        percent_of_floor=optional(row.field("percent_of_floor"), ratio_of),
        op_median=None if op.is_null() else op.field("median_ns").number())


def _time_name(row: Node, case: Optional[Node]) -> Optional[str]:
    """What was timed: of a size of a problem, which is no layer, the call."""
    if row.field("median_ns").is_null():
        return None
    return "call" if case is not None and is_size(case) else "layer"


def _tolerance(case: Node) -> float:
    if case.field("verification").is_null():
        return FP32_TOLERANCE
    return case.field("verification").field("tolerance").number()


def quality_of(case: Node) -> str:
    """Empty for a good case."""
    if case.field("quality").is_null():
        return ""
    mark = case.field("quality").field("mark").text()
    return mark if mark in QUALITY_SIGNS else ""


def _time_of(case: Optional[Node], kind: str) -> Optional[Node]:
    """The case's layer time, if it is of the ladder's kind: it knows the samples and the level."""
    time = case.field("time") if case else None
    if case is None or time is None or time.is_null():
        return None
    for one in (time, *case.field("other_times").items()):
        if (one.field("of").text() == "layer" and one.field("kind").text() == kind
                and one.value.get("cache", "hot") == "hot"):
            return one
    return None
