"""The counters: for each layer a row of small bar charts, one for each quantity, with the stages below each other."""

from __future__ import annotations

from typing import Optional, Sequence

from matplotlib.axes import Axes

from convladder_charts.bars import BAR, bar_axes, stage_mark
from convladder_charts.counted import CountedGroup, CountedLadder, CountedRow, Figure, drawn_figures
from convladder_charts.counted_text import images_line, label, notes, scale_of
from convladder_charts.page import MARGIN, Heading, Page, page_below, panel_title, rule
from convladder_charts.record import Record
from convladder_charts.style import INK, MUTED, fitted, mark_of, text_inches
from convladder_charts.units import linear_ticks, significant

WIDTH = 12.5
_ROW = 0.25
_PANEL_TOP = 0.72
_PANEL_BOTTOM = 0.5
_GAP = 0.2
_SIZE = 8.5
_LONGEST_NAME = 2.4
_MINIMUM = "#b3261e"
_PAPER = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}


def draw(record: Record, group: CountedGroup, batch: Optional[int]) -> tuple[Page, str, str]:
    """The figure, its title and its description in words."""
    ladders = group.chosen(batch)
    title = (f"{group.device}, COUNTED in PTX: {record.subject}, stage by stage; "
             f"caches modelled after {group.modelled_gpu}")
    about = f"{group.hardware} · commit {record.commit} · data: {record.data}"
    heading = Heading(title, [*notes(ladders), about], record.warnings, WIDTH)
    page, tops = page_below(heading, WIDTH, [_panel_height(ladder) for ladder in ladders])
    for top, ladder in zip(tops, ladders):
        _Panel(page, top, ladder, _name_column(ladders)).draw()
    return page, title, _in_words(ladders)


def _panel_height(ladder: CountedLadder) -> float:
    return _PANEL_TOP + len(ladder.rows) * _ROW + _PANEL_BOTTOM


def _name_column(ladders: Sequence[CountedLadder]) -> float:
    widths = [text_inches(row.stage.label, _SIZE) for ladder in ladders for row in ladder.rows]
    return min(max(widths, default=1.0), _LONGEST_NAME) + 0.36


class _Panel:
    """One layer at one batch: an axis of its own for each figure."""

    def __init__(self, page: Page, top: float, ladder: CountedLadder, name_column: float) -> None:
        self.page = page
        self.ladder = ladder
        self.top = top + _PANEL_TOP
        self.left = MARGIN + name_column
        self.figures = drawn_figures(ladder)
        self.width = (WIDTH - MARGIN - self.left + _GAP) / len(self.figures) - _GAP

    def draw(self) -> None:
        """Title, stages, and the bars of every figure."""
        ladder = self.ladder
        panel_title(self.page, MARGIN, self.top - 0.58, f"{ladder.layer_name}, batch {ladder.batch}",
                    f"{ladder.shape} · {images_line(ladder)}")
        rule(self.page, MARGIN, WIDTH - MARGIN, self.top - 0.03)
        for index, figure in enumerate(self.figures):
            self._bars(figure, self.left + index * (self.width + _GAP))
        for index, row in enumerate(ladder.rows):
            self._stage(row, self.top + (index + 0.5) * _ROW)

    def _stage(self, row: CountedRow, middle: float) -> None:
        stage_mark(self.page, MARGIN + 0.08, middle, row.stage)
        self.page.text(MARGIN + 0.24, middle, fitted(row.stage.label, _SIZE, _LONGEST_NAME), fontsize=_SIZE,
                       color=INK if row.counters else MUTED)
        if row.counters is None:
            self.page.text(self.left + 0.06, middle,
                           fitted(row.why_not_counted, 8, WIDTH - MARGIN - self.left - 0.1), fontsize=8,
                           style="italic", color=MUTED, bbox=_PAPER)

    def _bars(self, figure: Figure, left: float) -> None:
        scale = scale_of(figure, self.ladder)
        minimum = max(row.minimum_bytes for row in self.ladder.rows) / scale.divisor if figure.modelled else None
        least = "" if minimum is None else f"; at least {significant(minimum)}"
        self.page.text(left, self.top - 0.31, figure.name, fontsize=8, color=INK)
        self.page.text(left, self.top - 0.14, scale.words + least, fontsize=8, color=MUTED)
        values = [(figure.of(row) or 0.0) / scale.divisor for row in self.ladder.rows]
        labels = [label(figure, row, scale) if row.counters else "" for row in self.ladder.rows]
        end = self._right_end(values, labels, minimum or 0.0)
        axes = self._axes(left, end)
        if minimum is not None:
            axes.axvline(minimum, color=_MINIMUM, linewidth=1.0, linestyle=(0, (3, 2)), zorder=1.5)
        for index, (row, value) in enumerate(zip(self.ladder.rows, values)):
            if row.counters is None:
                continue
            mark = mark_of(row.stage)
            axes.barh(index + 0.5, value, BAR, edgecolor=mark.edge, linewidth=0.8, facecolor=mark.colour)
            self.page.text(left + self.width * value / end + 0.06, self.top + (index + 0.5) * _ROW, labels[index],
                           fontsize=_SIZE, weight="bold",
                           bbox=_PAPER)

    def _right_end(self, values: Sequence[float], labels: Sequence[str], minimum: float) -> float:
        """The axis ends where the last label beside a bar still fits."""
        ends = [minimum * 1.05]
        for value, text in zip(values, labels):
            free = self.width - text_inches(text, _SIZE, "bold") - 0.1
            ends.append(value * self.width / max(free, 0.3))
        return max(ends) or 1.0

    def _axes(self, left: float, end: float) -> Axes:
        rows = len(self.ladder.rows)
        return bar_axes(self.page, (left, self.top, self.width, rows * _ROW), rows, end, linear_ticks(end, 5 if self.width > 1.4 else 4))


def _in_words(ladders: Sequence[CountedLadder]) -> str:
    """The chart for those who cannot see it: every stage with its figures."""
    sentences = []
    for ladder in ladders:
        rows = "; ".join(_row_in_words(row, ladder) for row in ladder.rows)
        sentences.append(f"{ladder.layer_name} at batch {ladder.batch}, {images_line(ladder)}: {rows}.")
    return " ".join(sentences)


def _row_in_words(row: CountedRow, ladder: CountedLadder) -> str:
    if row.counters is None:
        return f"{row.stage.label}, {row.why_not_counted}"
    words = [row.stage.label]
    for figure in drawn_figures(ladder):
        scale = scale_of(figure, ladder)
        words.append(f"{label(figure, row, scale)} {figure.name} {scale.words}" if figure.per
                     else f"{figure.name} {label(figure, row, scale)} {scale.words}")
    return ", ".join(words)
