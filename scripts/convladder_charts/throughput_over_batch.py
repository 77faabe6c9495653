"""Throughput over batch: how much of the library's rate the stages reach, and from which batch on."""

from __future__ import annotations

from typing import Callable, Optional, Sequence

from matplotlib.axes import Axes

from convladder_charts.ladder import drawn_ladders
from convladder_charts.over_batch import Line, compose, plot_of
from convladder_charts.page import Page, device_name, notices, times_named
from convladder_charts.record import Group, Record, Row
from convladder_charts.units import linear_ticks, significant


class _Throughput:
    """The record's GFLOP/s: the convolution's arithmetic over the median time."""

    axis_title = "GFLOP/s"

    def value(self, row: Row, _batch: int) -> tuple[Optional[float], Optional[float], Optional[float]]:
        """The record's rate of the median; its interval is that of the time, upside down."""
        if row.gflop_per_s is None or not row.median or not row.low or not row.high or row.low <= 0:
            return row.gflop_per_s, None, None
        return row.gflop_per_s, row.gflop_per_s * row.median / row.high, row.gflop_per_s * row.median / row.low

    def scale(self, axes: Axes, lines: Sequence[Line]) -> Callable[[float], float]:
        """Linear from 0, so that distances from the ceiling are what they look."""
        largest = max(value for line in lines for value in line.present) or 1.0
        top = largest * 1.06
        axes.set_ylim(0, top)
        ticks = linear_ticks(largest, 6)
        axes.set_yticks(ticks, [f"{tick:.6g}" for tick in ticks])
        return lambda value: value / top

    def words(self, value: float) -> str:
        """A rate with its unit."""
        return f"{significant(value)} GFLOP/s"


def draw(record: Record, group: Group, _batch: Optional[int]) -> tuple[Page, str, str]:
    """The figure, its title and its description in words."""
    layers = [one.layer_name for one in drawn_ladders(group, None)] or list(group.layers[:1])
    ladders = [group.of_layer(layer) for layer in layers]
    rows = [row for of_layer in ladders for one in of_layer for row in one.timed]
    plots = [plot_of(of_layer, _Throughput()) for of_layer in ladders]
    return compose("Throughput over batch", [f"{device_name(group)}, {group.kind}: arithmetic over the {times_named(rows)}"],
                   record.warnings, plots, notices(record, group, rows, "bands, from the time's:"))
