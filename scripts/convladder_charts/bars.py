"""Horizontal bars, a row for each, with texts of the page beside them."""

from __future__ import annotations

from typing import Sequence

from matplotlib.axes import Axes

from convladder_charts.page import Page
from convladder_charts.stage import Stage
from convladder_charts.style import FAINT, mark_of

BAR = 0.66
"""Of the height of its row."""
MARK_SIZE = 5.5


def bar_axes(page: Page, frame: tuple[float, float, float, float], rows: float, end: float,
             ticks: Sequence[float]) -> Axes:
    """Axes at left, top, width and height; rows count downwards, values go from 0 to `end`."""
    axes = page.axes(*frame)
    axes.set_ylim(rows, 0)
    axes.set_yticks([])
    axes.set_xlim(0, end)
    axes.set_xticks(ticks, [f"{tick:.6g}" for tick in ticks])
    axes.tick_params(axis="x", length=2.5)
    axes.grid(True, axis="x")
    axes.spines["bottom"].set_color(FAINT)
    return axes


def stage_mark(page: Page, left: float, middle: float, stage: Stage) -> None:
    """The mark by which a stage is known."""
    mark = mark_of(stage)
    page.line([(left, middle)], marker=mark.marker, markersize=MARK_SIZE, color=mark.colour, markeredgecolor=mark.edge,
              linestyle="none")
