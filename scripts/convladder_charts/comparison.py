"""What `convladder compare --format json` found, as its charts and tables need it. Nothing is judged here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping, Optional

from convladder_charts.json_text import Node
from convladder_charts.stage import Stage, optional, printable
from convladder_charts.units import duration, significant

_LONGEST = 400
_LONGEST_ID = 160


@dataclass(frozen=True)
class Look:
    """Of a verdict: told apart by its sign and marker, not by its colour alone."""

    sign: str
    colour: str
    ink: str
    marker: str


LOOKS: Mapping[str, Look] = {
    "regressed": Look("▲", "#D55E00", "black", "^"),
    "failed": Look("✖", "#1b1f24", "white", "X"),
    "missing": Look("?", "#CC79A7", "black", "X"),
    "incomparable": Look("≠", "#c9ced4", "black", "X"),
    "inconclusive": Look("~", "#f7f2b0", "black", "D"),
    "improved": Look("▼", "#0072B2", "white", "v"),
    "new": Look("+", "#56B4E9", "black", "P"),
    "pass": Look("=", "#d5ece4", "black", "o"),
    "skipped": Look("–", "#ffffff", "#5b636d", "o"),
}
"""In the order in which cases are listed. Okabe and Ito's colours."""


@dataclass(frozen=True)
class Bounds:
    """A change of time as a fraction of the base: 0.1 is 10 % more."""

    estimate: float
    low: float
    high: float


@dataclass(frozen=True)
class Moved:
    """A counter that is not what it was."""

    name: str
    base: float
    now: float


@dataclass(frozen=True)
class Change:
    """A case of one or both records."""

    id: str
    device: str
    stage: Stage
    layer: str
    batch: str
    verdict: str
    reason: str
    cause: str
    witness: str
    control: bool
    base_median: Optional[float]
    new_median: Optional[float]
    bounds: Optional[Bounds]
    beside: Optional[Bounds]
    counters: tuple[Moved, ...]
    place: str
    unit: str = "ns"
    higher_is_better: bool = False

    def figure(self, value: float) -> str:
        """A value of its metric."""
        return duration(value) if self.unit == "ns" else f"{significant(value, 4)} {self.unit}".rstrip()

    @property
    def look(self) -> Look:
        """Its verdict's."""
        return LOOKS[self.verdict]


@dataclass(frozen=True)
class Limits:
    """Of a verdict, as parts: a regression is shown to be above tau, a pass below delta."""

    tau: float
    delta: float
    alpha: float


@dataclass(frozen=True)
class Comparison:
    """Two runs, case by case."""

    base: str
    now: str
    limits: Limits
    exit_code: int
    counts: Mapping[str, int]
    notes: tuple[str, ...]
    changes: tuple[Change, ...]

    @property
    def bounded(self) -> tuple[Change, ...]:
        """The cases whose times could be compared."""
        return tuple(one for one in self.changes if one.bounds is not None)

    def with_verdict(self, *verdicts: str) -> tuple[Change, ...]:
        """The cases with one of these."""
        return tuple(one for one in self.changes if one.verdict in verdicts)


def read(root: Node, stages: Mapping[tuple[str, str], Stage]) -> Comparison:
    """The comparison in a document; stages by device and variant, others get a plain one. Raises RecordError."""
    if root.field("kind").value != "comparison":
        raise root.field("kind").wrong("\"comparison\"")
    limits = root.field("limits")
    return Comparison(
        _run(root.field("base")), _run(root.field("new")),
        Limits(*(limits.field(name).number() for name in ("tau", "delta", "alpha"))),
        root.field("exit_code").integer(),
        {name: root.field("counts").field(name).integer() for name in LOOKS},
        tuple(printable(note.text(), _LONGEST) for note in root.field("notes").items()),
        tuple(_change(node, stages) for node in root.field("cases").items()))


def _run(node: Node) -> str:
    commit, date = (optional(node.field(name), Node.text) or "unknown" for name in ("commit", "date"))
    dirty = " and changes" if node.field("dirty").value is True else ""
    name = printable(node.field("file").text(), _LONGEST)
    return f"{name}: commit {printable(commit[:12])}{dirty}, {printable(date)}"


def _change(node: Node, stages: Mapping[tuple[str, str], Stage]) -> Change:
    verdict = node.field("verdict").text()
    if verdict not in LOOKS:
        raise node.field("verdict").wrong("one of " + ", ".join(LOOKS))
    parts = node.field("id").text().split("/")
    if len(parts) < 4:
        raise node.field("id").wrong("device/variant/layer/batch")
    device, variant, *layers, batch = parts
    layer = "/".join(layers)
    stage = stages.get((device, variant)) or Stage("", None, variant, printable(variant) or "(no name)")
    cause, witness = (printable(optional(node.field(name), Node.text) or "", _LONGEST) for name in ("cause", "witness"))
    reason = reason_of(node)
    return Change(
        printable(node.field("id").text(), _LONGEST_ID), printable(device), stage, printable(layer), printable(batch),
        verdict, reason, cause, witness, node.field("control").boolean(),
        optional(node.field("base_median_ns"), Node.number), optional(node.field("new_median_ns"), Node.number),
        optional(node.field("change"), _bounds), optional(node.field("beside_witness"), _bounds),
        tuple(Moved(printable(one.field("name").text(), _LONGEST_ID), one.field("base").number(),
                    one.field("new").number()) for one in node.field("counters").items()), node.place)


def reason_of(node: Node) -> str:
    """Why a case has its verdict, and the doubt about it, which older documents do not have."""
    names = [name for name in ("reason", "caveat") if name in node.value]
    texts = (printable(optional(node.field(name), Node.text) or "", _LONGEST) for name in names)
    return "; ".join(filter(None, texts))


def _bounds(node: Node) -> Bounds:
    return Bounds(*(node.field(name).number() for name in ("estimate", "low", "high")))


def percent(part: float) -> str:
    """A change as parts of the base: +10.1 %."""
    return f"{round(100 * part, 1) or 0.0:+.1f} %"
