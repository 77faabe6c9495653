"""Time per image over batch: flat where a bigger batch gains nothing."""

from __future__ import annotations

import math
from typing import Callable, Optional, Sequence

from matplotlib.axes import Axes

from convladder_charts.known import Known, quotient
from convladder_charts.ladder import drawn_ladders
from convladder_charts.over_batch import Line, compose, plot_of
from convladder_charts.page import Page, device_name, notices, times_named
from convladder_charts.record import Group, Ladder, Record, Row
from convladder_charts.units import duration, log_ticks, round_duration

_SAME = 5.0
"""Percent."""


class PerImage:
    """Medians with their intervals, divided by the images of the batch."""

    def __init__(self, axis_title: str) -> None:
        self.axis_title = axis_title

    def value(self, row: Row, batch: int) -> tuple[Optional[float], Optional[float], Optional[float]]:
        """The row's; an interval that reaches 0 cannot stand on this axis and is left out."""
        if row.median is None:
            return None, None, None
        if row.low is None or row.high is None or row.low <= 0:
            return row.median / batch, None, None
        return row.median / batch, row.low / batch, row.high / batch

    def scale(self, axes: Axes, lines: Sequence[Line]) -> Callable[[float], float]:
        """Logarithmic, with at least two ticks."""
        values = [value for line in lines for value in line.present if value > 0]
        low, high = min(values) / 1.35, max(values) * 1.35
        axes.set_yscale("log")
        axes.set_ylim(low, high)
        ticks = log_ticks(low, high)
        axes.set_yticks(ticks, [round_duration(tick) for tick in ticks])
        axes.set_yticks([], minor=True)
        return lambda value: math.log(value / low) / math.log(high / low)

    def words(self, value: float) -> str:
        """A time with its unit."""
        return f"{duration(value)} an image"


def has_one(group: Group) -> bool:
    """Whether a layer has more than one batch: one alone would be a point, not a line."""
    return any(len(group.of_layer(layer)) > 1 for layer in group.layers)


def draw(record: Record, group: Group, batch: Optional[int]) -> tuple[Page, str, str]:
    """The figure, its title and its description in words."""
    layers = [one.layer_name for one in drawn_ladders(group, None)] or list(group.layers[:1])
    ladders = [group.of_layer(layer) for layer in layers]
    named = times_named(row for of_layer in ladders for one in of_layer for row in one.rows)
    plots = [plot_of(of_layer, PerImage("time per image")) for of_layer in ladders]
    shown = {line.stage for plot in plots for line in plot.lines}
    rows = [row for of_layer in ladders for one in of_layer for row in one.timed if row.stage in shown]
    about = [f"{device_name(group)}, {group.kind} {named} over the images of the batch"]
    return compose(_title(ladders), about, record.warnings, plots,
                   [_not_shown(group, layers), _few_batches(record, ladders), *notices(record, group, rows, "bands:")])


def _not_shown(group: Group, layers: Sequence[str]) -> str:
    others = len(group.layers) - len(layers) + group.more_layers
    return f"not drawn: {others} more layer{'s' * (others != 1)}, in table.md" if others else ""


def _few_batches(record: Record, ladders: Sequence[Sequence[Ladder]]) -> str:
    drawn = max(map(len, ladders), default=0)
    most = record.extent.of_a_layer if record.extent else drawn
    return f"drawn: {drawn} of {most} batches; all are in table.md" if most > drawn else ""


def _title(ladders: Sequence[Sequence[Ladder]]) -> str:
    """By how much the best stage's time for an image changes with the batch, as far as the intervals tell."""
    changes, ends = [], set()
    for of_layer in ladders:
        best = max(of_layer, key=lambda one: (len(one.timed), one.batch)).summary.best
        times = [(one.batch, row.known_time) for one in of_layer for row in one.timed if row.stage.name == best]
        if len(times) > 1 and (change := quotient(_per_image(*times[-1]), _per_image(*times[0]))):
            changes.append(change)
            ends.add((times[0][0], times[-1][0]))
    if not changes:
        return "Time per image over batch"
    between = "From the smallest batch to the largest" if len(ends) > 1 else "From batch {} to {}".format(*ends.pop())
    if all(change.holds(1) for change in changes):
        return f"{between} no change of the best stage's time per image can be told"
    percents = [100 * (end - 1) for change in changes for end in (change.low or change, change.high or change)]
    low, high = (f"{value:+.0f}".replace("-", "−") for value in (min(percents), max(percents)))
    if max(map(abs, percents)) < _SAME:
        return f"{between} the best stage's time per image stays the same within {_SAME:.0f} %"
    return f"{between} the best stage's time per image changes by {low if low == high else f'{low} to {high}'} %"


def _per_image(batch: int, time: Known) -> Known:
    value, low, high = time
    return value and value / batch, low and low / batch, high and high / batch
