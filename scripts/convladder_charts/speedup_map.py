"""Stage by size: how many times as fast as the baseline each stage is on each layer at each batch."""

from __future__ import annotations

import math
from typing import Optional

import matplotlib
from matplotlib.colors import LogNorm, to_hex

from convladder_charts.grid import KEPT, Block, Cell, Grid
from convladder_charts.page import MARGIN, WIDTH, Foot, Heading, Page, device_name, page_below, provenance
from convladder_charts.record import Group, Ladder, Record, Row
from convladder_charts.stage import Stage
from convladder_charts.style import INK, MUTED
from convladder_charts.units import NONE, log_ticks, ratio

_LEGEND = 0.75
_BAR = (3.2, 0.16)
_COLOURS = "cividis"
"""Made to look the same to those who cannot tell red from green; its lightness rises all the way."""
_LIGHT = 0.18
"""Luminance above which black text is easier to read than white."""


def draw(record: Record, group: Group, _batch: Optional[int]) -> tuple[Page, str, str]:
    """The figure, its title and its description in words."""
    title = f"{device_name(group)}: how many times as fast as the baseline, stage by size"
    heading = Heading(title, [f"{group.kind}: layer time of the baseline over the stage's, medians; columns are batches"],
                      record.warnings, WIDTH)
    ratios = [row.x_baseline for ladder in group.ladders for row in ladder.rows if row.x_baseline]
    low, high = min([1.0, *ratios]), max([1.0, *ratios])
    norm = LogNorm(low, high if high > low else low * 10)
    blocks = [Block(layer, tuple(f"{one.batch}" for one in group.of_layer(layer)), tuple(
        tuple(_cell(one, stage, norm) for one in group.of_layer(layer)) for stage in group.stages))
        for layer in group.layers]
    grid = Grid(group.stages, blocks, WIDTH)
    page, (top,) = page_below(heading, WIDTH, [_LEGEND + grid.height], Foot([provenance(record, group)], WIDTH))
    _legend(page, top, norm)
    grid.draw(page, top + _LEGEND)
    return page, title, _in_words(group)


def _row(ladder: Ladder, stage: Stage) -> Optional[Row]:
    return next((row for row in ladder.rows if row.stage == stage), None)


def _cell(ladder: Ladder, stage: Stage, norm: LogNorm) -> Optional[Cell]:
    row = _row(ladder, stage)
    if row is None:
        return None
    if not row.x_baseline or row.x_baseline <= 0:
        return Cell(NONE, "#eef0f2", INK)
    colour = matplotlib.colormaps[_COLOURS](norm(row.x_baseline))
    return Cell(ratio(row.x_baseline), to_hex(colour), "black" if _luminance(colour[:3]) > _LIGHT else "white")


def _luminance(colour: tuple[float, ...]) -> float:
    """Of sRGB, by WCAG."""
    linear = [value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4 for value in colour]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _legend(page: Page, top: float, norm: LogNorm) -> None:
    """A scale of the colours with its numbers."""
    width, height = _BAR
    axes = page.axes(MARGIN + 1.5, top + 0.14, width, height)
    steps = 64
    for index in range(steps):
        colour = matplotlib.colormaps[_COLOURS]((index + 0.5) / steps)
        axes.axvspan(index / steps, (index + 1) / steps, color=colour, linewidth=0.4, gid=KEPT)
    axes.set_xlim(0, 1)
    axes.set_yticks([])
    ticks = log_ticks(norm.vmin, norm.vmax)
    places = [math.log(tick / norm.vmin) / math.log(norm.vmax / norm.vmin) for tick in ticks]
    axes.set_xticks(places, [f"{tick:.4g}×" for tick in ticks])
    axes.tick_params(length=2.5)
    page.text(MARGIN, top + 0.22, "× baseline (log scale)", fontsize=8, color=MUTED)
    page.text(MARGIN + 1.5 + width + 0.3, top + 0.22, f"{NONE}: no result", fontsize=8, color=MUTED)


def _in_words(group: Group) -> str:
    sentences = []
    for ladder in group.ladders:
        cells = ", ".join(f"{row.stage.label} {ratio(row.x_baseline)}" for row in ladder.rows)
        sentences.append(f"{ladder.layer_name} at batch {ladder.batch}, times as fast as the baseline: {cells}.")
    return " ".join(sentences)
