"""The roofline: for each layer a panel for each memory level, the stages joined by arrows in ladder order."""

from __future__ import annotations

from math import atan2, degrees, log10
from typing import Optional, Sequence

from matplotlib.axes import Axes

from convladder_charts.labels import spread
from convladder_charts.page import MARGIN, Heading, Page, panel_title
from convladder_charts.predicted import LEVELS, OnGpu, PredictedGroup, PredictedLadder, PredictedRow
from convladder_charts.predicted_text import time_text
from convladder_charts.record import Record
from convladder_charts.style import GUIDE, INK, MUTED, mark_of
from convladder_charts.units import log_ticks, significant

WIDTH = 13.0
_HEIGHT = 2.9
_PANEL_TOP = 0.72
_PANEL_BOTTOM = 0.55
_LEFT = 0.62
_GAP = 0.42
_LABEL = 7.5
_NOTE = ("Across: fp32 operations for each byte that crosses a level, counted (below the L1 modelled). Up: operations "
         "a second, PREDICTED as a range. Lines are the GPU's peaks at its highest clock. Numbers are the stages' "
         "rungs; a stage that moves nothing through a level is not in that panel. A range that crosses a line assumes "
         "that ptxas merges loads of shared memory, or that data is in the L2 already.")


def draw(record: Record, group: PredictedGroup, batch: Optional[int]) -> tuple[Page, str, str]:
    """The figure, its title and its description in words."""
    ladders = group.chosen(batch)
    gpu = group.drawn_gpu
    gpu_title = dict(group.gpus)[gpu]
    title = f"Roofline of {gpu_title}, PREDICTED: {record.subject}, stage by stage"
    about = f"counted by {group.hardware} · commit {record.commit} · data: {record.data}"
    heading = Heading(title, [_NOTE, about], record.warnings, WIDTH)
    panel = _PANEL_TOP + _HEIGHT + _PANEL_BOTTOM
    page = Page(WIDTH, heading.height + panel * len(ladders) + 0.1)
    heading.draw(page)
    for index, ladder in enumerate(ladders):
        _Layer(page, heading.height + index * panel, ladder, gpu).draw()
    return page, title, _in_words(ladders, gpu, gpu_title)


Point = tuple[PredictedRow, float, float, float]
"""Stage, operations for each byte, and the slowest and the fastest rate in GFLOP/s."""


class _Layer:
    """One layer at one batch: a plot for each level, all with the same axes."""

    def __init__(self, page: Page, top: float, ladder: PredictedLadder, gpu: str) -> None:
        self.page = page
        self.ladder = ladder
        self.top = top + _PANEL_TOP
        self.gpu = gpu
        self.width = (WIDTH - 2 * MARGIN - _LEFT + _GAP) / len(LEVELS) - _GAP
        known: Sequence[OnGpu] = [one for row in ladder.rows if (one := row.on(gpu))]
        self.ceilings = known[0].ceilings if known else {}
        points = [point for level, _, _ in LEVELS for point in self._points(level)]
        peak = self.ceilings.get("fp32_gflop_per_s", 1.0)
        self.y = (min((low for _, _, low, _ in points), default=peak / 100) / 2.5, peak * 3)
        bends = [peak / self.ceilings.get(f"{level}_gb_per_s", peak) for level, _, _ in LEVELS]
        xs = [x for _, x, _, _ in points] + bends
        self.x = (min(xs) / 3, max(xs) * 4)

    def draw(self) -> None:
        """Title and plots."""
        panel_title(self.page, MARGIN, self.top - 0.5, f"{self.ladder.layer_name}, batch {self.ladder.batch}",
                    self.ladder.shape)
        for index, (level, words, origin) in enumerate(LEVELS):
            left = MARGIN + _LEFT + index * (self.width + _GAP)
            self.page.text(left, self.top - 0.17, f"{words}, {origin}", fontsize=8.5, weight="bold")
            axes = self._axes(left, index == 0)
            self._ceilings(axes, level)
            points = self._points(level)
            self._stages(axes, points)
            if not points:
                self.page.text(left + self.width / 2, self.top + _HEIGHT * 0.6, "no stage moves anything here",
                               fontsize=8, ha="center", style="italic", color=MUTED)

    def _points(self, level: str) -> list[Point]:
        points = []
        for row in self.ladder.rows:
            intensity, rates = row.intensity(level), row.rates(self.gpu)
            if intensity and rates:
                points.append((row, intensity, *rates))
        return points

    def _axes(self, left: float, first: bool) -> Axes:
        axes = self.page.axes(left, self.top, self.width, _HEIGHT)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlim(*self.x)
        axes.set_ylim(*self.y)
        axes.minorticks_off()
        across = log_ticks(*self.x)
        across = across[::max(1, -(-len(across) // 6))]
        axes.set_xticks(across, [f"{tick:.12g}" for tick in across], fontsize=7)
        up = log_ticks(*self.y)
        axes.set_yticks(up, [f"{tick:.12g}" if first else "" for tick in up], fontsize=7)
        axes.set_xlabel("operations for each byte", fontsize=8)
        if first:
            axes.set_ylabel("GFLOP/s, predicted", fontsize=8)
        axes.grid(True)
        return axes

    def _ceilings(self, axes: Axes, level: str) -> None:
        peak, bandwidth = self.ceilings.get("fp32_gflop_per_s"), self.ceilings.get(f"{level}_gb_per_s")
        if not peak or not bandwidth:
            return
        bend = peak / bandwidth
        low, high = self.x
        axes.plot([low, bend, high], [low * bandwidth, peak, peak], color=INK, linewidth=1.3, zorder=1.5)
        axes.text(high / 1.1, peak * 1.15, f"fp32 {_amount(peak, 'FLOP/s')}", fontsize=_LABEL, ha="right", va="bottom")
        # Along the slope, where it is in sight: the angle is that of the axes' own inches.
        start = max(low, self.y[0] / bandwidth)
        middle = 10 ** (0.2 * log10(start) + 0.8 * log10(bend))  # stages are mostly further down
        rise = _HEIGHT / (log10(self.y[1] / self.y[0]))
        run = self.width / (log10(high / low))
        if bend > start:
            axes.text(middle, middle * bandwidth * 1.25, _amount(bandwidth, "B/s"), fontsize=_LABEL, ha="center",
                      va="bottom", rotation=degrees(atan2(rise, run)), rotation_mode="anchor")

    def _stages(self, axes: Axes, points: Sequence[Point]) -> None:
        middles = [(low * high) ** 0.5 for _, _, low, high in points]
        for index in range(1, len(points)):
            axes.annotate("", (points[index][1], middles[index]), (points[index - 1][1], middles[index - 1]),
                          arrowprops={"arrowstyle": "-|>", "color": GUIDE, "linewidth": 1.1, "shrinkA": 5, "shrinkB": 5,
                                      "mutation_scale": 8}, zorder=2)
        for (row, x, low, high), middle in zip(points, middles):
            mark = mark_of(row.stage)
            axes.plot([x, x], [low, high], color=mark.edge, linewidth=1.6, zorder=2.5)
            axes.plot([x], [middle], marker=mark.marker, markersize=6, color=mark.colour, markeredgecolor=INK,
                      markeredgewidth=0.6, linestyle="none", zorder=3)
        self._labels(axes, points, middles)

    def _labels(self, axes: Axes, points: Sequence[Point], middles: Sequence[float]) -> None:
        """The rungs in a column at the right, each joined to its stage by a thin line: stages may lie on each other."""
        if not points:
            return
        column = self.x[1] / 10 ** (0.04 * log10(self.x[1] / self.x[0]))
        inches = _HEIGHT / log10(self.y[1] / self.y[0])
        wanted = [log10(middle / self.y[0]) * inches for middle in middles]
        ceiling = log10(self.ceilings.get("fp32_gflop_per_s", self.y[1]) / self.y[0]) * inches - 0.12
        for (row, x, _, _), middle, at in zip(points, middles, spread(wanted, 0.15, 0.1, max(ceiling, 0.1))):
            y = self.y[0] * 10 ** (at / inches)
            axes.plot([x, column / 1.15], [middle, y], color=GUIDE, linewidth=0.5, zorder=1.2)
            axes.text(column, y, str(row.stage.rung or row.stage.title), fontsize=8, weight="bold", ha="center",
                      va="center", bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.4}, zorder=4)


def _amount(giga: float, unit: str) -> str:
    """66.9 TFLOP/s, 3350 GB/s."""
    return f"{significant(giga / 1e3)} T{unit}" if giga >= 1e4 else f"{significant(giga)} G{unit}"


def _in_words(ladders: Sequence[PredictedLadder], gpu: str, title: str) -> str:
    """The chart for those who cannot see it."""
    sentences = []
    for ladder in ladders:
        rows = "; ".join(_row_in_words(row, gpu) for row in ladder.rows)
        sentences.append(f"{ladder.layer_name} at batch {ladder.batch} on {title}, predicted: {rows}.")
    return " ".join(sentences)


def _row_in_words(row: PredictedRow, gpu: str) -> str:
    rates = row.rates(gpu)
    if rates is None:
        return f"{row.stage.label}, {time_text(row.on(gpu))}"
    words = [f"{significant(rates[0])} to {significant(rates[1])} GFLOP/s"]
    for level, name, _ in LEVELS:
        intensity = row.intensity(level)
        if intensity:
            words.append(f"{significant(intensity)} operations a byte of {name}")
    return f"{row.stage.label}, {', '.join(words)}"
