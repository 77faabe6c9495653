"""Predicted times: for each layer a panel for each GPU, all on one logarithmic axis, a range for each stage."""

from __future__ import annotations

from math import log
from typing import Optional, Sequence

from matplotlib.axes import Axes

from convladder_charts.bars import stage_mark
from convladder_charts.labels import thinned
from convladder_charts.page import MARGIN, Heading, Page, page_below, panel_title, rule
from convladder_charts.predicted import OnGpu, PredictedGroup, PredictedLadder, PredictedRow
from convladder_charts.predicted_text import NOTE, time_text
from convladder_charts.record import Record
from convladder_charts.style import FAINT, INK, MUTED, fitted, mark_of, text_inches
from convladder_charts.units import log_ticks, round_duration

WIDTH = 14.0
_ROW = 0.36
_PANEL_TOP = 0.72
_PANEL_BOTTOM = 0.5
_GAP = 0.22
_BARS = 0.5
"""Of a panel's width; texts have the rest."""
_SIZE = 7.5
_LONGEST_NAME = 2.2
_SHORT = {"issue": "issue", "fp32 pipe": "fp32", "tensor cores": "tensor", "integer pipe": "integer", "load/store unit": "load/store",
          "L2 bandwidth": "L2", "DRAM bandwidth": "DRAM", "latency": "latency"}


def draw(record: Record, group: PredictedGroup, batch: Optional[int]) -> tuple[Page, str, str]:
    """The figure, its title and its description in words."""
    ladders = group.chosen(batch)
    title = f"PREDICTED op times of {record.subject} on named GPUs, stage by stage"
    about = f"counted by {group.hardware} · commit {record.commit} · data: {record.data}"
    gpus, others = _drawn_gpus(group, ladders)
    lines = [NOTE, about] + ([f"left out, since no kernel can be launched there: {', '.join(others)}"] if others else [])
    heading = Heading(title, lines, record.warnings, WIDTH)
    page, tops = page_below(heading, WIDTH, [_height(ladder) for ladder in ladders])
    for top, ladder in zip(tops, ladders):
        _Panel(page, top, ladder, gpus).draw()
    return page, title, _in_words(ladders)


def _drawn_gpus(group: PredictedGroup, ladders: Sequence[PredictedLadder]) -> tuple[list[tuple[str, str]], list[str]]:
    """The GPUs on which any stage has a time, and the titles of the others; all of them if there is no time at all."""
    timed = {one.gpu for ladder in ladders for row in ladder.rows for one in row.gpus if one.has_time}
    if not timed:
        return list(group.gpus), []
    return ([gpu for gpu in group.gpus if gpu[0] in timed],
            [title.removeprefix("NVIDIA ") for name, title in group.gpus if name not in timed])


def _height(ladder: PredictedLadder) -> float:
    return _PANEL_TOP + len(ladder.rows) * _ROW + _PANEL_BOTTOM


class _Panel:
    """One layer at one batch."""

    def __init__(self, page: Page, top: float, ladder: PredictedLadder, gpus: Sequence[tuple[str, str]]) -> None:
        self.page = page
        self.ladder = ladder
        self.gpus = gpus
        self.top = top + _PANEL_TOP
        names = [text_inches(row.stage.label, 8.5) for row in ladder.rows]
        self.left = MARGIN + min(max(names, default=1.0), _LONGEST_NAME) + 0.4
        self.width = (WIDTH - MARGIN - self.left + _GAP) / len(self.gpus) - _GAP
        times = [time for row in ladder.rows for one in row.gpus if one.has_time
                 for time in (one.low, one.high) if time]
        self.low, self.high = (min(times) / 1.3, max(times) * 1.3) if times else (1.0, 10.0)

    def draw(self) -> None:
        """Title, stages, and the ranges on every GPU."""
        panel_title(self.page, MARGIN, self.top - 0.5, f"{self.ladder.layer_name}, batch {self.ladder.batch}",
                    self.ladder.shape)
        rule(self.page, MARGIN, WIDTH - MARGIN, self.top - 0.03)
        for index, row in enumerate(self.ladder.rows):
            middle = self.top + (index + 0.5) * _ROW
            stage_mark(self.page, MARGIN + 0.08, middle, row.stage)
            self.page.text(MARGIN + 0.24, middle, fitted(row.stage.label, 8.5, _LONGEST_NAME), color=INK)
        for column, (gpu, title) in enumerate(self.gpus):
            self._gpu(gpu, title, self.left + column * (self.width + _GAP))

    def _gpu(self, gpu: str, title: str, left: float) -> None:
        self.page.text(left, self.top - 0.16, fitted(title.removeprefix("NVIDIA "), 8, self.width), fontsize=8,
                       weight="bold")
        axes = self._axes(left)
        for index, row in enumerate(self.ladder.rows):
            one = row.on(gpu)
            if one is not None and one.has_time:
                mark = mark_of(row.stage)
                axes.barh(index + 0.5, one.high - one.low, 0.42, left=one.low, facecolor=mark.colour,
                          edgecolor=mark.edge, linewidth=0.8)
            self._texts(one, left + _BARS * self.width + 0.07, self.top + (index + 0.5) * _ROW)

    def _texts(self, one: Optional[OnGpu], left: float, middle: float) -> None:
        room = (1 - _BARS) * self.width - 0.05
        if one is None or not one.has_time:
            self.page.text(left, middle, fitted(time_text(one), _SIZE, room), fontsize=_SIZE, color=MUTED,
                           style="italic")
            return
        self.page.text(left, middle - 0.075, fitted(time_text(one), _SIZE, room, "bold"), fontsize=_SIZE, weight="bold")
        self.page.text(left, middle + 0.085, fitted(_binding(one), 6.8, room), fontsize=6.8, color=MUTED)

    def _axes(self, left: float) -> Axes:
        rows = len(self.ladder.rows)
        axes = self.page.axes(left, self.top, self.width * _BARS, rows * _ROW)
        axes.set_xscale("log")
        axes.set_xlim(self.low, self.high)
        axes.set_ylim(rows, 0)
        axes.set_yticks([])
        axes.minorticks_off()
        axes.grid(True, axis="x")
        axes.spines["bottom"].set_color(FAINT)
        axes.spines["left"].set_visible(False)
        self._ticks(axes)
        return axes

    def _ticks(self, axes: Axes) -> None:
        ticks = log_ticks(self.low, self.high)
        scale = self.width * _BARS / log(self.high / self.low)
        labels = [round_duration(tick) for tick in ticks]
        kept = thinned([log(tick / self.low) * scale for tick in ticks],
                       [text_inches(label, 7) for label in labels], 0.08)
        axes.set_xticks([ticks[index] for index in kept], [labels[index] for index in kept], fontsize=7)
        axes.tick_params(axis="x", length=2.5)


def _binding(one: OnGpu) -> str:
    low, high = (_SHORT.get(name, name) for name in (one.binding_low, one.binding_high))
    return low if low == high else f"{low} – {high}"


def _in_words(ladders: Sequence[PredictedLadder]) -> str:
    """The chart for those who cannot see it."""
    return " ".join(f"{ladder.layer_name} at batch {ladder.batch}, predicted: "
                    f"{'; '.join(map(_row_in_words, ladder.rows))}." for ladder in ladders)


def _row_in_words(row: PredictedRow) -> str:
    return row.stage.label + ", " + ", ".join(
        f"{one.title} {time_text(one)}" + (f" by {one.binding}" if one.has_time else "") for one in row.gpus)
