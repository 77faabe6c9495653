"""Others' op times, on an axis of their own: other devices, other years."""

from __future__ import annotations

import math
from typing import Optional, Sequence

from convladder_charts.labels import thinned
from convladder_charts.network.parts import UNKNOWN_DEVICE
from convladder_charts.network.record import Published
from convladder_charts.page import MARGIN, Page, panel_title, rule
from convladder_charts.style import INK, MUTED, fitted, text_inches
from convladder_charts.units import duration, log_ticks, round_duration

_ROW = 0.2
_TOP = 0.62
_BOTTOM = 0.55
_SIZE = 7.6
_LONGEST_NAME = 2.3
_LONGEST_FIGURES = 1.35
_MOST = 30
_INDENT = 0.12
_GAP = 0.2
_SECONDS = {"s": 1e9, "ms": 1e6}
_PAPER = {"facecolor": "#ffffff", "edgecolor": "none", "pad": 0.8}
_MARKERS = ("o", "s", "^", "D", "v", "P")

Row = tuple[str, list[Published]]
"""What a line of the block is called, and its figures; without figures it is a heading."""


class PublishedOpTimes:
    """A line for each published stage, with a marker for each layer."""

    def __init__(self, figures: Sequence[Published]) -> None:
        shown = [one for one in figures if one.batch is not None and
                 (one.what == "accuracy" or one.what == "op time" and one.unit in _SECONDS)]
        with_times = {(one.source, one.batch, one.stage) for one in shown if one.what == "op time"}
        self.rows = _rows([one for one in shown if (one.source, one.batch, one.stage) in with_times])[:_MOST]
        self.layers = list(dict.fromkeys(one.layer for one in shown if one.what == "op time"))

    def height(self, _width: float) -> float:
        """Of all lines and the axis."""
        return _TOP + _ROW * len(self.rows) + _BOTTOM

    def draw(self, page: Page, top: float) -> None:
        """Names at the left, markers on the axis, accuracies at the right; the times are in the table."""
        panel_title(page, MARGIN, top + 0.14, "Published op times", "measured by others on the devices named")
        self._legend(page, top + 0.38)
        stages = [(name, figures) for name, figures in self.rows if figures]
        names = min(max(text_inches(name, _SIZE) for name, _ in stages), _LONGEST_NAME)
        values = min(max(text_inches(_accuracy(figures), _SIZE) for _, figures in stages), _LONGEST_FIGURES)
        left, right = MARGIN + _INDENT + names + _GAP, page.width - MARGIN - values - _GAP
        axes = page.axes(left, top + _TOP, right - left, _ROW * len(self.rows))
        times = [_nanoseconds(one) for _, figures in self.rows for one in figures if one.what == "op time"]
        low, high = min(times) * 0.7, max(times) * 1.4
        axes.set_xscale("log")
        axes.set_xlim(low, high)
        ticks = log_ticks(low, high)
        labels = [round_duration(tick) for tick in ticks]
        scale = (right - left) / math.log(high / low)
        kept = thinned([math.log(tick / low) * scale for tick in ticks], [text_inches(one, 8) for one in labels], 0.1)
        axes.set_xticks([ticks[index] for index in kept], [labels[index] for index in kept])
        axes.set_xticks([], minor=True)
        axes.set_ylim(len(self.rows), 0)
        axes.set_yticks([])
        axes.grid(True, axis="x")
        axes.tick_params(axis="x", length=2.5)
        axes.set_xlabel("published op time", labelpad=3)
        for index, (name, figures) in enumerate(self.rows):
            middle = top + _TOP + (index + 0.5) * _ROW
            if not figures:
                name = fitted(name, _SIZE, page.width - 2 * MARGIN, "bold")
                page.text(MARGIN, middle, name, fontsize=_SIZE, weight="bold", color=MUTED, bbox=_PAPER)
                rule(page, MARGIN, page.width - MARGIN, middle - _ROW / 2)
                continue
            page.text(MARGIN + _INDENT, middle, fitted(name, _SIZE, names), fontsize=_SIZE)
            page.text(right + _GAP, middle, fitted(_accuracy(figures), _SIZE, values), fontsize=_SIZE)
            for one in figures:
                if one.what == "op time":
                    axes.plot([_nanoseconds(one)], [index + 0.5], marker=self._marker(one.layer), markersize=5,
                              markerfacecolor="white", markeredgecolor=INK, linestyle="none")

    def _legend(self, page: Page, middle: float) -> None:
        """Which marker is which layer, above the rows."""
        left = MARGIN
        for layer in self.layers:
            page.line([(left + 0.06, middle)], marker=self._marker(layer), markersize=5, markerfacecolor="white",
                      markeredgecolor=INK, linestyle="none")
            page.text(left + 0.16, middle, layer, fontsize=_SIZE)
            left += text_inches(layer, _SIZE) + 0.36

    def _marker(self, layer: str) -> str:
        return _MARKERS[self.layers.index(layer) % len(_MARKERS)]

    def words(self) -> str:
        """Every published figure that is drawn."""
        return "Published op times, on other devices: " + "; ".join(
            f"{name}: {_figures(figures)}" if figures else name for name, figures in self.rows) + "."


def _rows(figures: Sequence[Published]) -> list[Row]:
    rows: list[Row] = []
    origin: Optional[tuple[str, str]] = None
    by_stage: dict[tuple[str, str, Optional[int], str], list[Published]] = {}
    for one in figures:
        by_stage.setdefault((one.source, one.device, one.batch, one.stage), []).append(one)
    for (source, device, batch, stage), members in by_stage.items():
        if (source, device) != origin:
            rows.append((f"{source} · {device or UNKNOWN_DEVICE}", []))
            origin = (source, device)
        rows.append((f"batch {batch}  {stage}", members))
    return rows


def _accuracy(figures: Sequence[Published]) -> str:
    return " · ".join(f"accuracy {'about ' if one.approximate else ''}{one.value:.4g}" for one in figures
                      if one.what == "accuracy")


def _figures(figures: Sequence[Published]) -> str:
    parts = []
    for one in figures:
        about = "about " if one.approximate else ""
        parts.append(f"{one.layer} {about}{duration(_nanoseconds(one))}" if one.what == "op time"
                     else f"accuracy {about}{one.value:.4g}")
    return " · ".join(parts)


def _nanoseconds(figure: Published) -> float:
    value = figure.value * _SECONDS[figure.unit]
    return value if math.isfinite(value) and value > 0 else 1.0
