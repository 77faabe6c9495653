"""Numbers as text: three significant digits, one unit for everything that stands together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Iterable, Optional, Sequence

NONE = "–"
_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))
PREFIXES = ((1e9, "billion", "G"), (1e6, "million", "M"), (1e3, "thousand", "k"), (1.0, "", ""))
"""Divisor, word and symbol of counts."""
_SMALLEST = 0.1
_LARGEST = 1e5


@dataclass(frozen=True)
class Unit:
    """A unit of time, as the nanoseconds it holds."""

    nanoseconds: float
    name: str

    def text(self, value: float) -> str:
        """A time in this unit, without its name."""
        return significant(value / self.nanoseconds)


def unit_for(times: Iterable[float]) -> Unit:
    """The largest time's own unit, or a smaller one in which the smallest time is not lost behind a 0.0."""
    present = [time for time in times if time > 0]
    smallest, largest = min(present, default=1.0), max(present, default=1.0)
    suitable = [Unit(*unit) for unit in _UNITS if largest >= unit[0]] or [Unit(*_UNITS[-1])]
    readable = [unit for unit in suitable if largest / unit.nanoseconds < _LARGEST]
    return next((unit for unit in readable if smallest / unit.nanoseconds >= _SMALLEST), (readable or suitable)[-1])


def duration(time: float) -> str:
    """One time with the unit that suits it."""
    unit = unit_for([time])
    return f"{unit.text(time)} {unit.name}"


def round_duration(time: float) -> str:
    """A tick's time: 10 ms, not 10.0 ms."""
    unit = unit_for([time * 1.0000001])
    return f"{time / unit.nanoseconds:.4g} {unit.name}"


def significant(value: float, digits: int = 3) -> str:
    """At least `digits` significant digits, never an exponent: 0.0123, 1.50, 12.3, 4210."""
    if value == 0 or abs(value) >= 10 ** (digits - 1):
        return f"{value:.0f}"
    text = format(Decimal(f"{value:#.{digits}g}"), "f")
    return text.rstrip(".") if "." in text else text


def prefix_for(largest: float) -> tuple[float, str]:
    """What counts are divided by, and how that is called."""
    return next(((divisor, word) for divisor, word, _ in PREFIXES if largest >= divisor), (1.0, ""))


def count(value: float) -> str:
    """A number of things: 1.41 M, 336."""
    divisor, _, symbol = next((prefix for prefix in PREFIXES if value >= prefix[0]), PREFIXES[-1])
    return f"{significant(value / divisor)} {symbol}".strip()


def ratio(value: Optional[float]) -> str:
    """A speedup: 1.53×."""
    if value is None:
        return NONE
    return f"{significant(value, 3 if value >= 0.995 else 2)}×"


def percent(value: Optional[float]) -> str:
    """A share of the library's speed."""
    if value is None:
        return NONE
    return f"{value:.0f}%" if abs(value) >= 10 else f"{significant(value, 2)}%"


def span(values: Sequence[float], digits: int = 0) -> str:
    """One value, or the range of several: 12–40."""
    low, high = f"{min(values):.{digits}f}", f"{max(values):.{digits}f}"
    return low if low == high else f"{low}–{high}"


def linear_ticks(largest: float, most: int) -> list[float]:
    """Round values from 0 to `largest`, at most `most` of them."""
    rough = largest / max(most - 1, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999999)
    return [index * step for index in range(int(largest / step + 1e-9) + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """Powers of ten between two positive values; 1-2-5 where those would be too few."""
    powers = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
    decades = [10.0**power for power in powers if low <= 10.0**power <= high]
    if len(decades) >= 3:
        return decades
    return [factor * 10.0**power for power in powers for factor in (1, 2, 5) if low <= factor * 10.0**power <= high]
