"""Predictions as words: what the charts and the tables write of them."""

from __future__ import annotations

from typing import Optional

from convladder_charts.predicted import OnGpu
from convladder_charts.units import NONE, unit_for

NOTE = ("PREDICTED, not measured: from the counters of the PTX, by the slowest of issue, pipes, load/store unit, L2, "
        "DRAM and latency. A range goes from the optimistic to the pessimistic reading; what is named binds at its "
        "ends.")


def span_text(low: Optional[float], high: Optional[float]) -> str:
    """A range of times in one unit: 1.2–3.4 ms."""
    if low is None or high is None or not 0 < low <= high:
        return NONE
    unit = unit_for([low, high])
    return f"{unit.text(low)}–{unit.text(high)} {unit.name}"


def time_text(one: Optional[OnGpu]) -> str:
    """The range for a GPU, or why there is none."""
    if one is None:
        return NONE
    return span_text(one.low, one.high) if one.has_time else "cannot be launched"


def occupancy_text(one: OnGpu) -> str:
    """50% (registers)."""
    return f"{100 * one.occupancy:.0f}% ({', '.join(one.limited_by)})"
