"""Rows that are compared by one figure each: points with their intervals, or bars, the same for every kind of record."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Callable, Optional, Sequence

from matplotlib.axes import Axes

from convladder_charts.labels import thinned
from convladder_charts.page import MARGIN, Heading, Page, panel_title, wrapped
from convladder_charts.style import FAINT, GUIDE, INK, MUTED, fitted, text_inches
from convladder_charts.units import log_ticks

WIDTH = 6.4
MOST = 24
"""Rows of a panel; of more the first are drawn, and a line says how many there are."""
_ROW = 0.235
_TOP = 0.42
_GUIDES = 0.2
_BOTTOM = 0.58
_NAME = 8.0
_LONGEST_NAME = 2.4
_LONGEST_TEXT = 2.0
_GAP = 0.15
_WIDE = 3.0
"""An axis whose ends are further apart than this factor is logarithmic, where its panel lets it be."""
_COLOURS = {"plain": "#56B4E9", "best": "#0072B2", "base": "#7a828c", "bad": "#D55E00"}
_MARKERS = {"plain": "o", "best": "D", "base": "s", "bad": "^"}


@dataclass(frozen=True)
class Mark:
    """A row. A look is plain, best, base or bad, and has a marker as well as a colour."""

    label: str
    value: float
    low: Optional[float] = None
    high: Optional[float] = None
    text: str = ""
    look: str = "plain"


@dataclass(frozen=True)
class Panel:
    """Rows on one axis."""

    title: str
    detail: str
    rows: tuple[Mark, ...]
    axis: str
    """What it shows, with the word measured, counted or predicted."""
    tick: Callable[[float], str]
    bars: bool = False
    """From 0, instead of points; then the axis is linear."""
    guides: tuple[tuple[float, str], ...] = ()
    """Values that rows are compared with, each with its name."""
    ends: Optional[tuple[float, float]] = None
    """Of the axis, where they are known."""

    @property
    def shown(self) -> tuple[Mark, ...]:
        """The rows that are drawn."""
        return self.rows[:MOST]

    @property
    def notes(self) -> str:
        """What is not drawn."""
        more = len(self.rows) - MOST
        if more <= 0:
            return ""
        return f"{more} more rows are in the table" if more > 1 else "one more row is in the table"


@dataclass(frozen=True)
class RowChart:
    """The figure."""

    title: str
    lines: tuple[str, ...]
    warnings: tuple[str, ...]
    panels: tuple[Panel, ...]


def draw(_record: object, chart: RowChart, _batch: Optional[int] = None) -> tuple[Page, str, str]:
    """The figure, its title and its description in words."""
    heading = Heading(chart.title, chart.lines, chart.warnings, WIDTH)
    heights = [_height(panel) for panel in chart.panels]
    page = Page(WIDTH, heading.height + sum(heights) + 0.1)
    heading.draw(page)
    top = heading.height
    for panel, height in zip(chart.panels, heights):
        _draw_panel(page, panel, top)
        top += height
    return page, chart.title, " ".join(map(_in_words, chart.panels))


def _height(panel: Panel) -> float:
    details = len(_details(panel)) - 1
    return (_TOP + 0.17 * max(details, 0) + _GUIDES * bool(panel.guides) + _ROW * len(panel.shown) + _BOTTOM
            + 0.18 * bool(panel.notes))


def _details(panel: Panel) -> list[str]:
    """What stands beside the title, or below it where there is no room."""
    beside = WIDTH - 2 * MARGIN - text_inches(panel.title, 10, "bold") - 0.14
    if text_inches(panel.detail, 8.5) <= beside:
        return [panel.detail]
    return ["", *wrapped(panel.detail, 8.5, WIDTH - 2 * MARGIN)]


def _draw_panel(page: Page, panel: Panel, top: float) -> None:
    details = _details(panel)
    panel_title(page, MARGIN, top + 0.15, fitted(panel.title, 10, WIDTH - 2 * MARGIN, "bold"), details[0])
    for number, line in enumerate(details[1:], 1):
        page.text(MARGIN, top + 0.15 + 0.17 * number, line, color=MUTED)
    top += _TOP + 0.17 * (len(details) - 1) + _GUIDES * bool(panel.guides)
    names = min(max(text_inches(row.label, _NAME, _weight(row)) for row in panel.shown), _LONGEST_NAME)
    texts = min(max(text_inches(row.text, _NAME, _weight(row)) for row in panel.shown), _LONGEST_TEXT)
    left = MARGIN + names + _GAP
    width = WIDTH - MARGIN - texts - _GAP * bool(texts) - left
    height = _ROW * len(panel.shown)
    axes = page.axes(left, top, width, height)
    low, high, log = _limits(panel)
    if log:
        axes.set_xscale("log")
        axes.set_xticks([], minor=True)
    axes.set_xlim(low, high)
    axes.set_ylim(len(panel.shown), 0)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.spines["bottom"].set_color(FAINT)
    axes.grid(True, axis="x")
    axes.tick_params(axis="x", length=2.5)

    def across(value: float) -> float:
        part = math.log(value / low) / math.log(high / low) if log else (value - low) / (high - low)
        return part * width

    _ticks(axes, panel, (low, high, log), across)
    axes.set_xlabel(panel.axis, labelpad=2)
    _guides(page, axes, panel, (left, top, width), across)
    for number, row in enumerate(panel.shown):
        middle = number + 0.5
        page.text(MARGIN, top + _ROW * middle, fitted(row.label, _NAME, names + 0.02, _weight(row)), fontsize=_NAME,
                  weight=_weight(row))
        _draw_row(axes, row, middle, panel.bars)
        page.text(WIDTH - MARGIN, top + _ROW * middle, fitted(row.text, _NAME, texts + 0.02, _weight(row)),
                  fontsize=_NAME, ha="right", weight=_weight(row))
    if panel.notes:
        page.text(MARGIN, top + height + _BOTTOM - 0.02, panel.notes, fontsize=_NAME, color=MUTED)


def _weight(row: Mark) -> str:
    return "bold" if row.look == "best" else "normal"


def _draw_row(axes: Axes, row: Mark, middle: float, bars: bool) -> None:
    colour = _COLOURS[row.look]
    if bars:
        axes.barh([middle], [row.value], height=0.66, color=colour, edgecolor=INK, linewidth=0.4, zorder=2)
    if row.low is not None and row.high is not None:
        axes.plot([row.low, row.high], [middle, middle], color=INK if bars else colour, linewidth=1.6,
                  solid_capstyle="butt", zorder=3)
    if not bars:
        axes.plot([row.value], [middle], marker=_MARKERS[row.look], markersize=5.5, color=colour, markeredgecolor=INK,
                  markeredgewidth=0.6, linestyle="none", zorder=4, clip_on=False)


def _limits(panel: Panel) -> tuple[float, float, bool]:
    """Both ends of the axis, and whether it is logarithmic."""
    values = [one for row in panel.shown for one in (row.value, row.low, row.high) if one is not None]
    values += [value for value, _ in panel.guides]
    if panel.ends is not None:
        return (*panel.ends, False)
    low, high = min(values), max(values)
    if panel.bars or low <= 0:
        low, high = min(low, 0.0), max(high, 0.0)
        room = 0.04 * ((high - low) or 1.0)
        return (low - room if low < 0 else 0.0), (high + room if high > 0 else 0.0) or 1.0, False
    if high / low > _WIDE:
        edge = (high / low) ** 0.04
        return low / edge, high * edge, True
    room = 0.06 * ((high - low) or 0.2 * high)
    return max(low - room, 0.0), high + room, False


def _ticks(axes: Axes, panel: Panel, limits: tuple[float, float, bool], across: Callable[[float], float]) -> None:
    low, high, log = limits
    values = log_ticks(low, high) if log else []
    if len(values) < 3:
        values = _round_ticks(low, high)
    labels = [panel.tick(value) for value in values]
    kept = thinned([across(value) for value in values], [text_inches(one, 8) for one in labels], 0.12)
    axes.set_xticks([values[at] for at in kept], [labels[at] for at in kept])


def _round_ticks(low: float, high: float) -> list[float]:
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999999)
    return [index * step for index in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def _guides(page: Page, axes: Axes, panel: Panel, frame: tuple[float, float, float],
            across: Callable[[float], float]) -> None:
    """Each a dashed line; its name above it, as far as there is room."""
    left, top, width = frame
    end = left
    for value, name in sorted(panel.guides):
        axes.axvline(value, color=GUIDE, linewidth=1.0, linestyle=(0, (4, 2)), zorder=1)
        inches = text_inches(name, 7.5)
        place = min(max(left + across(value) - inches / 2, end), left + width - inches)
        if place >= end:
            page.text(place, top - 0.1, name, fontsize=7.5, color=MUTED)
            end = place + inches + 0.12


def _in_words(panel: Panel) -> str:
    rows = "; ".join(f"{row.label}: {row.text or panel.tick(row.value)}" for row in panel.shown)
    return f"{panel.title}, {panel.axis}: {rows}."


def ordered(rows: Sequence[Mark]) -> tuple[Mark, ...]:
    """The greatest first."""
    return tuple(sorted(rows, key=lambda row: -row.value))
