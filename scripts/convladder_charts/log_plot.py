"""A plot with two logarithmic axes whose points are known in inches of the page as well, and a roof in it."""

from __future__ import annotations

import math
from typing import Sequence

from matplotlib.axes import Axes

from convladder_charts.labels import thinned
from convladder_charts.page import Page
from convladder_charts.style import FAINT, INK, text_inches
from convladder_charts.units import log_ticks, significant


class LogPlot:
    """At left, top, width and height; values from and to."""

    def __init__(self, page: Page, frame: tuple[float, float, float, float], x: tuple[float, float],
                 y: tuple[float, float]) -> None:
        self.page, self.frame, self.x, self.y = page, frame, x, y
        self.axes: Axes = page.axes(*frame)
        axes = self.axes
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlim(*x)
        axes.set_ylim(*y)
        axes.minorticks_off()
        axes.grid(True)
        axes.tick_params(length=2.5)
        left, _, width, height = frame
        across = log_ticks(*x)
        labels = [f"{tick:.12g}" for tick in across]
        kept = thinned([self.at(tick, y[0])[0] - left for tick in across], [text_inches(one, 8) for one in labels], 0.12)
        axes.set_xticks([across[index] for index in kept], [labels[index] for index in kept])
        up = log_ticks(*y)
        kept = thinned([math.log(tick / y[0]) / math.log(y[1] / y[0]) * height for tick in up], [0.12] * len(up), 0.1)
        axes.set_yticks([up[index] for index in kept], [f"{up[index]:,.12g}".replace(",", " ") for index in kept])
        for side in ("left", "bottom"):
            axes.spines[side].set_color(FAINT)

    def at(self, x: float, y: float) -> tuple[float, float]:
        """A point in inches of the page."""
        left, top, width, height = self.frame
        return (left + math.log(x / self.x[0]) / math.log(self.x[1] / self.x[0]) * width,
                top + (1 - math.log(y / self.y[0]) / math.log(self.y[1] / self.y[0])) * height)

    def slope(self, rate: float, peak: float, colour: str = INK) -> list[tuple[float, float]]:
        """The roof of a memory: operations for each byte times its rate, up to the peak; its two ends in inches."""
        bend = peak / rate
        start = max(self.x[0], self.y[0] / rate)
        end = min(bend, self.x[1])
        if start >= end:
            return []
        self.axes.plot([start, end], [start * rate, end * rate], color=colour, linewidth=1.3, zorder=1.5)
        return [self.at(start, start * rate), self.at(end, end * rate)]

    def level(self, value: float, start: float, colour: str = INK, dash: object = "solid") -> list[tuple[float, float]]:
        """The roof of a unit: as many operations as it can do; its two ends in inches."""
        start = min(max(start, self.x[0]), self.x[1])
        self.axes.plot([start, self.x[1]], [value, value], color=colour, linewidth=1.3, linestyle=dash, zorder=1.5)
        return [self.at(start, value), self.at(self.x[1], value)]


def amount(giga: float, unit: str) -> str:
    """66.9 TFLOP/s, 3350 GB/s."""
    return f"{significant(giga / 1e3)} T{unit}" if giga >= 1e4 else f"{significant(giga)} G{unit}"


def ends(values: Sequence[float], below: float, above: float) -> tuple[float, float]:
    """Of an axis around values."""
    return min(values) / below, max(values) * above
