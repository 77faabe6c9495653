"""What a device can do at most, as measured in the run, and the time below which a layer does not get with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from convladder_charts.json_text import Node
from convladder_charts.machines import kind_of_machine
from convladder_charts.stage import optional, printable
from convladder_charts.units import significant


@dataclass(frozen=True)
class Floor:
    """What no direct convolution gets below on this device, in nanoseconds; predicted from its ceilings."""

    value: float
    bound: str
    """operations or bytes"""
    flop: float = 0.0
    moved: float = 0.0
    """Bytes that have to be read and written, once each."""
    from_memory: bool = False
    """Whether they are more than the caches hold, so that the memory's rate limits."""


@dataclass(frozen=True)
class DataSheet:
    """What the vendor says that the device can do at most; a floor from it is predicted, and nothing of it measured."""

    title: str
    gflop_per_s: float
    gb_per_s: float

    def floor(self, floor: Floor) -> float:
        """The same floor, in nanoseconds, by these rates."""
        return max(floor.flop / self.gflop_per_s, floor.moved / self.gb_per_s if floor.from_memory else 0.0)


@dataclass(frozen=True)
class CaseRoofline:
    """Where a case stands under the roof of its run's ceilings. Operations and bytes are derived, the rate is measured."""

    flop_per_byte: float
    gflop_per_s: float
    roof: float
    """GFLOP/s that FMA peak and the rate of a copy allow."""


@dataclass(frozen=True)
class Ceilings:
    """What a device can do at most, as measured in the run."""

    device: str
    reason: str
    """Why they are not complete; empty if they are."""
    limits: tuple[tuple[str, float, str], ...]
    """Name, median, unit."""
    samples: int
    machine: Optional[int] = None
    """The kind of machine, where a merged run has several."""

    @property
    def where(self) -> str:
        """The device, and of which kind of machine if there are several."""
        return self.device if self.machine is None else f"{self.device}, machines of kind {self.machine}"

    @property
    def line(self) -> str:
        """In one line."""
        if not self.limits:
            return f"{self.where}: no ceilings: {self.reason}"
        limits = ", ".join(f"{name} {significant(median)} {unit}" for name, median, unit in self.limits)
        return f"{self.where}: ceilings, measured, median of n = {self.samples}: {limits}"

    def limit(self, name: str) -> Optional[float]:
        """The median of one of them."""
        return next((median for one, median, _ in self.limits if one == name), None)


def ceilings_of(node: Node) -> Ceilings:
    """Of a device."""
    limits = node.field("limits").items()
    return Ceilings(
        printable(node.field("device").text()), printable(optional(node.field("reason"), Node.text) or "", 120),
        tuple((printable(one.field("name").text()), one.field("median").number(), printable(one.field("unit").text()))
              for one in limits),
        len(limits[0].field("samples").items()) if limits else 0, kind_of_machine(node))


def floor_of(ladder: Node) -> Optional[Floor]:
    """None where the device has no ceilings."""
    if ladder.field("floor").is_null():
        return None
    floor = ladder.field("floor")
    moved = sum(floor.field(name).number() for name in ("bytes_read", "bytes_written"))
    return Floor(floor.field("value").number(), printable(floor.field("bound").text()),
                 floor.field("flop").number(), moved, not floor.field("bytes").is_null())


def roofline_of(row: Node) -> Optional[CaseRoofline]:
    """None without ceilings or a time."""
    if row.field("roofline").is_null():
        return None
    roofline = row.field("roofline")
    numbers = [roofline.field(name).number() for name in ("flop_per_byte", "gflop_per_s", "roof_gflop_per_s")]
    return CaseRoofline(*numbers) if all(number > 0 for number in numbers) else None
