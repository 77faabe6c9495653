"""A network's op times over batch, its accuracy, and what others published of it, in panels of their own."""

from __future__ import annotations

from typing import Callable, Optional, Sequence

from matplotlib.axes import Axes

from convladder_charts.network.published import PublishedOpTimes
from convladder_charts.network.record import Accuracy, NetworkGroup, NetworkRecord
from convladder_charts.over_batch import Line, Plot, compose, plot_of
from convladder_charts.page import Page, device_name, provenance, sampling
from convladder_charts.record import Row
from convladder_charts.stage import Stage
from convladder_charts.time_over_batch import PerImage


MOST_PANELS = 24


class _Accuracy:
    """Shares of the images, with their binomial intervals."""

    axis_title = "accuracy"

    def value(self, _row: object, _batch: int) -> tuple[Optional[float], Optional[float], Optional[float]]:
        """Its lines are not made from rows of times."""
        return None, None, None

    def scale(self, axes: Axes, lines: Sequence[Line]) -> Callable[[float], float]:
        """Linear, over what the intervals reach, in steps of a tenth."""
        values = [value for line in lines for value in line.present]
        low, high = int(min(values) * 10) / 10, min(int(max(values) * 10 + 1.001) / 10, 1.0)
        margin = 0.03 * (high - low)
        axes.set_ylim(low - margin, high + margin)
        ticks = [index / 10 for index in range(round(low * 10), round(high * 10) + 1)]
        axes.set_yticks(ticks, [f"{tick:.1f}" for tick in ticks])
        return lambda value: (value - low + margin) / (high - low + 2 * margin)

    def words(self, value: float) -> str:
        """A share."""
        return f"{value:.4f}"


def draw(record: NetworkRecord, group: NetworkGroup, _batch: Optional[int]) -> tuple[Page, str, str]:
    """The figure, its title and its description in words."""
    ladders = [group.ladders(name) for name in _shown(group)]
    rows = [row for one in ladders for ladder in one.ladders for row in ladder.timed]
    plots = [plot_of(one.ladders, PerImage("op time per image")) for one in ladders]
    about = [f"{device_name(ladders[0])}, {ladders[0].kind} op times, NCHW in to NCHW out, over the images of the batch"]
    if len(group.convolutions) > MOST_PANELS:
        about.append(f"of {len(group.convolutions):,} convolutions the {MOST_PANELS} that take longest; table.md has all")
    foot = [sampling(ladders[0], rows, "bands:"), provenance(record, group), f"weights: {group.weights}"]
    accuracy = _accuracy_lines(group)
    if accuracy:
        level = next(case.accuracy.level for case in group.cases if case.accuracy)
        foot.insert(0, f"accuracy: of the images, bars: {100 * level:.0f} % binomial interval (Wilson)")
        plots.append(Plot(f"{group.network} accuracy", "", accuracy, _Accuracy()))
    published = PublishedOpTimes(group.published)
    return compose(_title(group), about, record.warnings, plots, foot, [published] if published.rows else [])


def _shown(group: NetworkGroup) -> Sequence[str]:
    """The convolutions that have a panel, in the network's order: of very many those that take longest."""
    if len(group.convolutions) <= MOST_PANELS:
        return group.convolutions
    longest: dict[str, float] = {}
    for case in group.cases:
        for step in case.steps:
            if step.time is not None and step.type == "convolution":
                longest[step.name] = max(longest.get(step.name, 0.0), step.time.median / case.batch)
    kept = set(sorted(longest, key=lambda name: -longest[name])[:MOST_PANELS])
    return [name for name in group.convolutions if name in kept]


def _title(group: NetworkGroup) -> str:
    """Which choice is fastest in which convolution, at the largest batch, where the intervals tell."""
    if len(group.convolutions) > MOST_PANELS:
        return f"{group.network}: time of each convolution, per image"
    fastest: dict[str, list[str]] = {}
    for name in group.convolutions:
        ladder = group.ladders(name).ladders[-1]
        best = min(ladder.timed, key=lambda row: row.median or 0.0, default=None)
        if best is not None and len(ladder.timed) > 1 and all(_is_told(best, row) for row in ladder.timed if row is not best):
            fastest.setdefault(best.stage.title, []).append(name)
    if not fastest or len(fastest) > 2:
        return f"{group.network}: time of each convolution, per image"
    batch = group.batches[-1]
    return f"{group.network}: fastest is " + "; ".join(
        f"{stage} in {', '.join(names)}" for stage, names in fastest.items()) + f" (batch {batch})"


def _is_told(best: Row, other: Row) -> bool:
    """Whether the intervals say which of the two is faster."""
    return best.high is not None and other.low is not None and best.high < other.low


def _accuracy_lines(group: NetworkGroup) -> list[Line]:
    """A line for each accuracy over batch; stages that agree in all of them, as they should, share one."""
    by_series: dict[tuple[Optional[Accuracy], ...], list[Stage]] = {}
    for stage in group.stages:
        by_batch = {case.batch: case.accuracy for case in group.of_stage(stage)}
        series = tuple(by_batch.get(batch) for batch in group.batches)
        if any(series):
            by_series.setdefault(series, []).append(stage)
    lines = []
    for series, stages in by_series.items():
        name = stages[0].label if len(stages) == 1 else f"all {len(stages)} stages" if len(by_series) == 1 else (
            f"{stages[0].title} and {len(stages) - 1} more")
        values, low, high = ([getattr(one, name_) if one else None for one in series]
                             for name_ in ("value", "low", "high"))
        lines.append(Line(stages[0], name, "", group.batches, tuple(values), tuple(low), tuple(high),
                          of_all=len(stages) > 1))
    return lines
