"""Samples in the order in which they were taken: a drift or a burst shows, which a median hides."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import Iterable, Optional

from matplotlib.axes import Axes

from convladder_charts.bars import stage_mark
from convladder_charts.ladder import chosen_ladders
from convladder_charts.page import MARGIN, WIDTH, Foot, Heading, Page, device_name, page_below, panel_title, provenance, rule
from convladder_charts.record import Group, Ladder, Record, Row
from convladder_charts.style import FAINT, GUIDE, INK, MUTED, fitted, mark_of, text_inches

_ROW = 0.34
_PANEL_TOP = 0.62
_PANEL_BOTTOM = 0.5
_NAME_SIZE = 8.0
_LONGEST_NAME = 1.75
_COLUMNS = (("n", 1.66), ("spread, %", 0.58), ("drift, %", 0.0))
"""With the distance of its right edge from the page's."""
_COLUMNS_WIDTH = 2.1
_WIDEST = 0.5
"""Deviations from the median beyond this part are drawn at the edge."""
_FEWEST = 6
"""With fewer samples than this, thirds say nothing about a drift."""


@dataclass(frozen=True)
class Spread:
    """What a row's samples say of the machine while they were taken."""

    samples: int
    low: float
    high: float
    """Deviations from the median in percent."""
    drift: Optional[float]
    """Median of the last third over that of the first, in percent."""

    def cells(self) -> tuple[str, str, str]:
        """As the chart and its table print it."""
        drift = "–" if self.drift is None else f"{self.drift:+.1f}"
        return str(self.samples), f"{self.low:+.1f} … {self.high:+.1f}", drift


def spread_of(row: Row) -> Optional[Spread]:
    """None where the samples are not positive times."""
    if not row.values or min(row.values) <= 0:
        return None
    middle = statistics.median(row.values)
    third = len(row.values) // 3
    drift = None
    if len(row.values) >= _FEWEST:
        drift = 100 * (statistics.median(row.values[-third:]) / statistics.median(row.values[:third]) - 1)
    return Spread(len(row.values), 100 * (min(row.values) / middle - 1), 100 * (max(row.values) / middle - 1), drift)


def sampled(ladder: Ladder) -> list[tuple[Row, Spread]]:
    """The rows that have samples."""
    return [(row, spread) for row in ladder.timed if (spread := spread_of(row)) is not None]


def draw(record: Record, group: Group, batch: Optional[int]) -> tuple[Page, str, str]:
    """The figure, its title and its description in words."""
    ladders = [one for one in chosen_ladders(group, batch) if sampled(one)]
    title = f"{device_name(group)}: samples in the order in which they were taken"
    heading = Heading(title, [f"{group.kind}; every sample over its stage's median"], record.warnings, WIDTH)
    foot = Foot(["spread: smallest and largest sample", "drift: median of the last third over the first third's",
                 provenance(record, group)], WIDTH)
    names = min(max((text_inches(row.stage.label, _NAME_SIZE) for one in ladders for row, _ in sampled(one)),
                    default=1.0), _LONGEST_NAME) + 0.4
    page, tops = page_below(heading, WIDTH, [_height(one) for one in ladders], foot)
    for top, ladder in zip(tops, ladders):
        _panel(page, top, ladder, names)
    return page, title, _in_words(ladders)


def _height(ladder: Ladder) -> float:
    return _PANEL_TOP + _ROW * len(sampled(ladder)) + _PANEL_BOTTOM


def _panel(page: Page, top: float, ladder: Ladder, names: float) -> None:
    panel_title(page, MARGIN, top + 0.14, f"{ladder.layer_name}, batch {ladder.batch}", ladder.shape)
    right = WIDTH - MARGIN
    left, end = MARGIN + names, right - _COLUMNS_WIDTH
    rows = sampled(ladder)
    edge = min(max(max(abs(math.log(value / statistics.median(row.values))) for value in row.values)
                   for row, _ in rows), math.log(1 + _WIDEST)) * 1.08 or 0.01
    page.text(left, top + 0.42, f"from {100 * math.expm1(-edge):.0f} to {100 * math.expm1(edge):+.0f} %", fontsize=8,
              color=MUTED)
    for name, distance in _COLUMNS:
        page.text(right - distance, top + 0.42, name, fontsize=8, color=MUTED, ha="right")
    rule(page, MARGIN, right, top + _PANEL_TOP - 0.06)
    most = max(len(row.values) for row, _ in rows)
    for index, (row, spread) in enumerate(rows):
        middle = top + _PANEL_TOP + (index + 0.5) * _ROW
        stage_mark(page, MARGIN + 0.08, middle, row.stage)
        page.text(MARGIN + 0.24, middle, fitted(row.stage.label, _NAME_SIZE, names - 0.3), fontsize=_NAME_SIZE)
        for (_, distance), cell in zip(_COLUMNS, spread.cells()):
            page.text(right - distance, middle, cell, ha="right", color=INK)
        axes = page.axes(left, middle - _ROW * 0.46, end - left, _ROW * 0.92)
        axes.set_ylim(-edge, edge)
        axes.set_xlim(0.5, most + 0.5)
        _strip(axes, row, edge)
        last = index == len(rows) - 1
        axes.set_xticks(_ticks(most) if last else [])
        if last:
            axes.set_xlabel("sample", labelpad=2)


def _strip(axes: Axes, row: Row, edge: float) -> None:
    """One path for all samples, so that a report of many stays small."""
    mark = mark_of(row.stage)
    middle = statistics.median(row.values)
    heights = [math.log(value / middle) for value in row.values]
    axes.axhline(0, color=GUIDE, linewidth=0.8)
    axes.set_yticks([])
    axes.spines["left"].set_color(FAINT)
    axes.spines["bottom"].set_color(FAINT)
    numbers = range(1, len(heights) + 1)
    kept = [min(max(height, -edge * 0.9), edge * 0.9) for height in heights]
    alone = {"marker": "o", "markersize": 2.5} if len(kept) == 1 else {}
    axes.plot(numbers, kept, color=mark.edge, linewidth=1.1, **alone)
    for sign, marker in ((1, "^"), (-1, "v")):
        beyond = [(x, sign * edge * 0.8) for x, height in zip(numbers, heights) if sign * height > edge]
        if beyond:
            axes.plot(*zip(*beyond), marker=marker, markersize=3.5, color=INK, linestyle="none")


def _ticks(most: int) -> list[int]:
    """First, last, and round numbers between where there is room."""
    step = next(step for power in (1, 10, 100, 1000, 10**4, 10**5, 10**9) for step in (power, 2 * power, 5 * power)
                if most / step <= 8)
    between = [number for number in range(step, most, step) if number > 1 and most - number >= step / 2]
    return sorted({1, *between, most})


def _in_words(ladders: Iterable[Ladder]) -> str:
    sentences = []
    for ladder in ladders:
        rows = "; ".join(f"{row.stage.label}: {spread.samples} samples, {spread.low:+.1f} to {spread.high:+.1f} % of "
                         "the median" + ("" if spread.drift is None else f", drift {spread.drift:+.1f} %")
                         for row, spread in sampled(ladder))
        sentences.append(f"{ladder.layer_name} at batch {ladder.batch}: {rows}.")
    return " ".join(sentences)
