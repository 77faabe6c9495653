"""Time over batch on two logarithmic axes: a stage whose time is proportional to the work runs along slope 1."""

from __future__ import annotations

import math
from typing import Callable, Optional, Sequence

from matplotlib.axes import Axes

from convladder_charts import over_batch
from convladder_charts.over_batch import Line
from convladder_charts.page import Page, device_name, times_named
from convladder_charts.record import Group, Record, Row
from convladder_charts.style import GUIDE
from convladder_charts.units import duration, log_ticks, round_duration

_GUIDE_LABEL = "slope 1: time ∝ batch"
_GUIDE_BELOW = 0.55


class Time:
    """Medians with their intervals."""

    interval = "error bars and bands:"
    note = "libraries dashed"

    def __init__(self, axis_title: str) -> None:
        self.axis_title = axis_title

    def value(self, row: Row) -> tuple[Optional[float], Optional[float], Optional[float]]:
        """The row's median; an interval that reaches 0 cannot stand on this axis and is left out."""
        if row.low is None or row.high is None or row.low <= 0:
            return row.median, None, None
        return row.median, row.low, row.high

    def scale(self, axes: Axes, lines: Sequence[Line]) -> Callable[[float], float]:
        """Logarithmic, with room for the guide below the lines."""
        values = [value for line in lines for value in line.present]
        low, high = min(values) * _GUIDE_BELOW * 0.8, max(values) * 1.35
        axes.set_yscale("log")
        axes.set_ylim(low, high)
        ticks = log_ticks(low, high)
        axes.set_yticks(ticks, [round_duration(tick) for tick in ticks])
        axes.set_yticks([], minor=True)
        return lambda value: math.log(value / low) / math.log(high / low)

    def extras(self, axes: Axes, lines: Sequence[Line]) -> list[tuple[str, float]]:
        """The slope-1 guide below the fastest stage, if there is more than one batch to compare."""
        first, last = lines[0].batches[0], lines[0].batches[-1]
        if first == last:
            return []
        end = min(line.end[1] * last / line.end[0] for line in lines) * _GUIDE_BELOW
        end = min(max(end, axes.get_ylim()[0]), axes.get_ylim()[1])
        axes.plot([first, last], [end * first / last, end], color=GUIDE, linewidth=1.0, linestyle=(0, (1, 1.5)),
                  zorder=1.5)
        return [(_GUIDE_LABEL, end)]

    def words(self, value: float) -> str:
        """A time with its unit."""
        return duration(value)


def draw(record: Record, group: Group, _batch: Optional[int]) -> tuple[Page, str, str]:
    """The figure, its title and its description in words."""
    named = times_named(row for ladder in group.ladders for row in ladder.rows)
    title = f"{device_name(group)}: {named} of {record.subject} over batch"
    return over_batch.draw(record, group, Time(named if named in ("op time", "call time") else "layer time"), title)
