"""Where the time of a pass goes: its parts, and the columns that a published sweep over batches has for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Sequence

from convladder_charts.network.record import Case, Published

_COPIES_IN = ("copy images to pinned memory", "copy images to device")
_COPIES_OUT = ("copy scores to host",)
_NAMED_TYPES = ("convolution", "fully_connected", "max_pool")
UNKNOWN_DEVICE = "device not named"


@dataclass(frozen=True)
class Part:
    """A share of a pass. A part of a published sweep has the same colour as what it is to us."""

    name: str
    colour: str
    hatch: str
    ink: str
    of: Callable[[Case], float]


def _phases(*names: str) -> Callable[[Case], float]:
    return lambda case: sum(case.phases.get(name, 0.0) for name in names)


def _steps(wanted: Callable[[str], bool]) -> Callable[[Case], float]:
    return lambda case: sum(step.time.median for step in case.steps if step.time and wanted(step.type))


def _beyond_layers(case: Case) -> float:
    """What the host takes to launch the layers and to wait for them, less the layers' own time."""
    return max(_phases("run layers", "synchronise")(case) - _steps(lambda kind: True)(case), 0.0)


PARTS = (
    Part("copies in", "#D55E00", "", "black", _phases(*_COPIES_IN)),
    Part("convolution", "#0072B2", "", "white", _steps(lambda kind: kind == "convolution")),
    Part("fully connected", "#E69F00", "", "black", _steps(lambda kind: kind == "fully_connected")),
    Part("pooling", "#009E73", "", "black", _steps(lambda kind: kind == "max_pool")),
    Part("other layers", "#56B4E9", "", "black", _steps(lambda kind: kind not in _NAMED_TYPES)),
    Part("copies out", "#CC79A7", "", "black", _phases(*_COPIES_OUT)),
    Part("allocation", "#F0E442", "", "black", _phases("allocate")),
    Part("preparing weights", "#4a5058", "", "white", _phases("prepare weights")),
    Part("synchronisation", "#c9ced4", "////", "black", _beyond_layers),
    Part("freeing", "#8d949c", "", "black", _phases("free")),
)


def distribution(case: Case) -> dict[str, float]:
    """Nanoseconds of each part, by name, and under "rest" what is left of the pass."""
    parts = {part.name: part.of(case) for part in PARTS}
    total = case.total.median if case.total else 0.0
    return parts | {"rest": max(total - sum(parts.values()), 0.0)}


@dataclass(frozen=True)
class Column:
    """A column of the published sweep."""

    name: str
    published: str
    """What the published figure is a time of."""
    part: str
    """The part of ours that has its colour; empty where it is in several."""
    of_host: bool
    """An API call: it waits for what the device does, so that it is no share beside the kernels."""
    of: Callable[[Case], float]


def _parts(*names: str) -> Callable[[Case], float]:
    return lambda case: sum(part.of(case) for part in PARTS if part.name in names)


SWEEP = (
    Column("memcpy_htod", "memcpy_htod", "copies in", False, _parts("copies in")),
    Column("conv_kernel", "conv_kernel", "convolution", False, _parts("convolution")),
    Column("fc_kernel", "fc_kernel", "fully connected", False, _parts("fully connected")),
    Column("memcpy_dtoh", "memcpy_dtoh", "copies out", False, _parts("copies out")),
    Column("maxpool_kernel", "maxpool_kernel", "pooling", False, _parts("pooling")),
    Column("free", "cudaFreeHost", "freeing", True, _parts("freeing")),
    Column("copies", "cudaMemcpy", "copies in", True, _parts("copies in", "copies out")),
    Column("synchronise", "cudaDeviceSynchronize", "synchronisation", True, _phases("synchronise")),
    Column("allocate", "cudaMalloc", "allocation", True, _parts("allocation")),
)


@dataclass(frozen=True)
class PublishedSweep:
    """A published sweep: milliseconds by batch and column."""

    source: str
    device: str
    rows: dict[int, dict[str, float]]


def published_sweeps(figures: Sequence[Published]) -> list[PublishedSweep]:
    """The sweeps among published figures: those that have a time for every column at some batch."""
    names = {f"time of {column.published}": column.name for column in SWEEP}
    rows: dict[tuple[str, str], dict[int, dict[str, float]]] = {}
    for figure in figures:
        if figure.what in names and figure.batch is not None and figure.unit == "ms":
            of_sweep = rows.setdefault((figure.source, figure.device or UNKNOWN_DEVICE), {})
            of_sweep.setdefault(figure.batch, {})[names[figure.what]] = figure.value
    whole = {key: {batch: row for batch, row in by_batch.items() if len(row) == len(SWEEP)}
             for key, by_batch in rows.items()}
    return [PublishedSweep(source, device, by_batch) for (source, device), by_batch in whole.items() if by_batch]
