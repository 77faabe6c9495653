"""What the record predicts of cases that were counted: times on named GPUs as ranges, what they are of, occupancy.

The record's own figures: nothing is computed here but quotients for the axes of the roofline.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Callable, Mapping, Optional, Sequence

from convladder_charts.cases import Cases
from convladder_charts.json_text import Node
from convladder_charts.stage import Stage, optional, printable, shape_text
from convladder_charts.summary import Place, Summary

DEFAULT_GPU = "h100"
_DRAWABLE = (1e-3, 1e30)
"""What a logarithmic axis is asked to hold: no time, rate or quotient of a real run lies outside."""
LEVELS = (("shared", "shared memory", "counted"), ("l1", "L1, global accesses", "counted"),
          ("l2", "L2", "modelled"), ("dram", "DRAM", "modelled"))
"""Name in the record, words, and where the bytes come from."""


@dataclass(frozen=True)
class OnGpu:
    """The prediction of a case for one GPU. Times in nanoseconds; None where it cannot be launched."""

    gpu: str
    title: str
    low: Optional[float]
    high: Optional[float]
    binding_low: str
    binding_high: str
    occupancy: float
    """Of the kernel with the least: the share of the warps that a multiprocessor can hold."""
    warps: int
    blocks: int
    limited_by: tuple[str, ...]
    registers: Optional[int]
    shared_bytes: Optional[int]
    resources_of: str
    ceilings: Mapping[str, float]
    place: str

    @property
    def binding(self) -> str:
        """What both ends are of, or what each is of."""
        return self.binding_low if self.binding_low == self.binding_high else (
            f"{self.binding_low} – {self.binding_high}")

    @property
    def has_time(self) -> bool:
        """Whether there is a range that a logarithmic axis can hold."""
        return (self.low is not None and self.high is not None and self.low <= self.high
                and _drawable(self.low) and _drawable(self.high))


@dataclass(frozen=True)
class PredictedRow:
    """One stage: what was counted for its roofline, and its predictions by GPU."""

    stage: Stage
    flop: float
    level_bytes: Mapping[str, Optional[float]]
    gpus: tuple[OnGpu, ...]
    place: str

    def middle(self, gpu: str) -> Optional[float]:
        """The geometric middle of its range on that GPU."""
        one = self.on(gpu)
        return (one.low * one.high) ** 0.5 if one is not None and one.has_time and one.low and one.high else None

    def on(self, gpu: str) -> Optional[OnGpu]:
        """The prediction for that GPU."""
        return next((one for one in self.gpus if one.gpu == gpu), None)

    def intensity(self, level: str) -> Optional[float]:
        """Operations for each byte that crosses the level; None where nothing does."""
        moved = self.level_bytes.get(level)
        quotient = self.flop / moved if moved and moved > 0 else 0.0
        return quotient if _drawable(quotient) else None

    def rates(self, gpu: str) -> Optional[tuple[float, float]]:
        """Operations a second on that GPU, in GFLOP/s: the pessimistic and the optimistic one."""
        one = self.on(gpu)
        if one is None or not one.has_time or not one.low or not one.high:
            return None
        rates = self.flop / one.high, self.flop / one.low
        return rates if all(map(_drawable, rates)) else None


@dataclass(frozen=True)
class PredictedLadder:
    """The stages of one layer and batch, in ladder order."""

    network: str
    layer: str
    shape: str
    batch: int
    rows: tuple[PredictedRow, ...]
    summary: Summary = Summary()
    """Empty in a run that was cut off."""
    more_stages: int = 0
    """That it has in the record and not here (shown.py)."""

    @property
    def layer_name(self) -> str:
        """As the command line spells it."""
        return f"{self.network}.{self.layer}"


def heaviest(ladders: Sequence[PredictedLadder]) -> PredictedLadder:
    """The one whose stages compute most."""
    return max(ladders, key=lambda one: max((row.flop for row in one.rows), default=0.0))


@dataclass(frozen=True)
class PredictedGroup:
    """All predictions from what one device counted of one family."""

    device: str
    family: str
    hardware: str
    ladders: tuple[PredictedLadder, ...]
    gpu: str = DEFAULT_GPU
    """Whose roofline is drawn."""
    kind: str = "predicted"
    more_layers: int = 0
    """That it has in the record and not here (shown.py)."""

    @cached_property
    def gpus(self) -> tuple[tuple[str, str], ...]:
        """Name and title of every GPU."""
        return tuple(dict.fromkeys((one.gpu, one.title) for ladder in self.ladders for row in ladder.rows
                                   for one in row.gpus))

    @property
    def drawn_gpu(self) -> str:
        """The asked GPU if the record has it, or its last one."""
        names = [name for name, _ in self.gpus]
        return self.gpu if self.gpu in names else names[-1]

    def chosen(self, batch: Optional[int]) -> list[PredictedLadder]:
        """Per layer the asked batch, or the largest of those at which the most stages were predicted."""
        offered: dict[str, list[PredictedLadder]] = {}
        for one in self.ladders:
            if batch in (None, one.batch):
                offered.setdefault(one.layer_name, []).append(one)
        return [max(several, key=lambda one: (len(one.rows), one.batch)) for several in offered.values()]


def _has_prediction(case: Node) -> bool:
    return not case.field("prediction").is_null()


def on_default_gpu(case: Node) -> Optional[OnGpu]:
    """What a case's record predicts for that GPU, with the registers and the occupancy it has there; or None."""
    if not _has_prediction(case):
        return None
    gpus = (_on_gpu(one) for one in case.field("prediction").field("gpus").items())
    return next((one for one in gpus if one.gpu == DEFAULT_GPU), None)


def _drawable(value: float) -> bool:
    return _DRAWABLE[0] <= value <= _DRAWABLE[1]


def groups_of(cases: Cases, stages: Mapping[tuple[str, str], Stage],
              hardware: Callable[[str], str], told: Mapping[Place, Summary] = MappingProxyType({})
              ) -> tuple[PredictedGroup, ...]:
    """The devices whose cases have predictions; `hardware` is what the record says of a device."""
    return tuple(PredictedGroup(printable(device), printable(family), hardware(device), tuple(
        _ladder(key, [cases.at(index) for index in members], stages, told.get((device, family, *key), Summary()))
        for key, members in ladders.items()))
        for (device, family), ladders in cases.on_ladders(_has_prediction).items())


def _ladder(key: tuple[str, str, int], cases: list[Node],
            stages: Mapping[tuple[str, str], Stage], told: Summary) -> PredictedLadder:
    network, layer, batch = key
    order = {stage: index for index, stage in enumerate(stages.values())}
    rows = sorted((_row(case, stages) for case in cases), key=lambda row: order.get(row.stage, len(order)))
    return PredictedLadder(printable(network), printable(layer), shape_text(cases[0]), batch, tuple(rows), told)


def _row(case: Node, stages: Mapping[tuple[str, str], Stage]) -> PredictedRow:
    family, name = case.field("family").text(), case.field("variant").text()
    stage = stages.get((family, name)) or Stage(family, optional(case.field("rung"), Node.integer), name,
                                                printable(name) or "(no name)")
    prediction = case.field("prediction")
    roofline = prediction.field("roofline")
    return PredictedRow(stage, roofline.field("flop").number(),
                        {level: optional(roofline.field(f"{level}_bytes"), Node.number) for level, _, _ in LEVELS},
                        tuple(_on_gpu(one) for one in prediction.field("gpus").items()), case.place)



def _on_gpu(node: Node) -> OnGpu:
    kernels = node.field("kernels").items()
    if not kernels:
        raise node.field("kernels").wrong("at least one kernel")
    tightest = min(kernels, key=lambda kernel: kernel.field("occupancy").field("share").number())
    occupancy = tightest.field("occupancy")
    return OnGpu(
        printable(node.field("gpu").text()), printable(node.field("title").text()),
        optional(node.field("low"), Node.number), optional(node.field("high"), Node.number),
        *(printable(optional(node.field(name), Node.text) or "") for name in ("binding_low", "binding_high")),
        occupancy.field("share").number(), occupancy.field("warps").integer(), occupancy.field("blocks").integer(),
        tuple(printable(one.text()) for one in occupancy.field("limited_by").items()),
        optional(tightest.field("registers"), Node.integer), optional(tightest.field("shared_bytes"), Node.integer),
        printable(node.field("resources_of").text()),
        _shared({name: value for name, value in node.field("ceilings").numbers().items() if _drawable(value)}), node.place)


def _shared(ceilings: Mapping[str, float]) -> Mapping[str, float]:
    """The same object for all cases on a GPU."""
    return _one(tuple(ceilings.items()))


@lru_cache(maxsize=256)
def _one(ceilings: tuple[tuple[str, float], ...]) -> Mapping[str, float]:
    return MappingProxyType(dict(ceilings))
