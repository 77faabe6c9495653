"""Throughput over batch: how much of the library's rate each stage reaches, and from which batch on."""

from __future__ import annotations

from typing import Callable, Optional, Sequence

from matplotlib.axes import Axes

from convladder_charts import over_batch
from convladder_charts.over_batch import Line
from convladder_charts.page import Page, device_name, times_named
from convladder_charts.record import Group, Record, Row
from convladder_charts.units import linear_ticks, significant


class _Throughput:
    """The record's GFLOP/s: the convolution's arithmetic over the median time."""

    axis_title = "GFLOP/s"
    interval = "error bars and bands, from the time's:"
    note = "libraries dashed: the ceiling"

    def value(self, row: Row) -> tuple[Optional[float], Optional[float], Optional[float]]:
        """The record's rate of the median; its interval is that of the time, upside down."""
        if row.gflop_per_s is None or not row.median or not row.low or not row.high or row.low <= 0:
            return row.gflop_per_s, None, None
        return row.gflop_per_s, row.gflop_per_s * row.median / row.high, row.gflop_per_s * row.median / row.low

    def scale(self, axes: Axes, lines: Sequence[Line]) -> Callable[[float], float]:
        """Linear from 0, so that distances from the ceiling are what they look."""
        largest = max(value for line in lines for value in line.present) or 1.0
        top = largest * 1.06
        axes.set_ylim(0, top)
        ticks = linear_ticks(largest, 8)
        axes.set_yticks(ticks, [f"{tick:.6g}" for tick in ticks])
        return lambda value: value / top

    def extras(self, axes: Axes, lines: Sequence[Line]) -> list[tuple[str, float]]:
        """No guides: the libraries' dashed lines are the ceiling."""
        return []

    def words(self, value: float) -> str:
        """A rate with its unit."""
        return f"{significant(value)} GFLOP/s"


def draw(record: Record, group: Group, _batch: Optional[int]) -> tuple[Page, str, str]:
    """The figure, its title and its description in words."""
    named = times_named(row for ladder in group.ladders for row in ladder.rows)
    title = f"{device_name(group)}: throughput of {record.subject} over batch, from its {named}"
    return over_batch.draw(record, group, _Throughput(), title)
