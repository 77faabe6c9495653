"""The ladder: a bar per stage on a linear axis from 0, and beside it what the stage gained."""

from __future__ import annotations

from typing import Iterable, Optional

from matplotlib.axes import Axes

from convladder_charts.bars import BAR, bar_axes, stage_mark
from convladder_charts.page import (MARGIN, Heading, Page, device_name, page_below, panel_title, provenance, rule,
                                    sampling, times_named)
from convladder_charts.record import Group, Ladder, Record, Row
from convladder_charts.style import INK, MUTED, fitted, mark_of, text_inches
from convladder_charts.units import Unit, linear_ticks, percent, ratio, unit_for

WIDTH = 10.0
_ROW = 0.27
_LIBRARY_GAP = 0.14
_PANEL_TOP = 0.56
_PANEL_BOTTOM = 0.5
_COLUMN = 0.86
_COLUMNS = (("× previous", lambda row: ratio(row.x_previous)),
            ("× baseline", lambda row: ratio(row.x_baseline)),
            ("% of library", lambda row: percent(row.percent_of_library)))
_NAME_SIZE = 8.5
_LONGEST_NAME = 2.9


def chosen_ladders(group: Group, batch: Optional[int]) -> list[Ladder]:
    """Per layer the asked batch, or the largest of those at which the most stages have a time."""
    chosen = []
    for layer in group.layers:
        offered = [one for one in group.of_layer(layer) if batch is None or one.batch == batch]
        if offered:
            chosen.append(max(offered, key=lambda one: (len(one.timed), one.batch)))
    return chosen


def draw(record: Record, group: Group, batch: Optional[int]) -> tuple[Page, str, str]:
    """The figure, its title and its description in words."""
    ladders = chosen_ladders(group, batch)
    rows = [row for ladder in ladders for row in ladder.timed]
    title = f"{device_name(group)} ladder: {times_named(rows)} of {record.subject}, stage by stage"
    heading = Heading(title, [sampling(group, rows, "error bars:"), provenance(record, group), *record.skipped_lines],
                      record.warnings, WIDTH)
    page, tops = page_below(heading, WIDTH, [_panel_height(ladder) for ladder in ladders])
    for top, ladder in zip(tops, ladders):
        _Panel(page, top, ladder, _name_column(ladders)).draw()
    return page, title, _in_words(ladders)


def _panel_height(ladder: Ladder) -> float:
    return _PANEL_TOP + _rows_height(ladder) + _PANEL_BOTTOM


def _rows_height(ladder: Ladder) -> float:
    return _offset(ladder, len(ladder.rows) - 1) + _ROW


def _offset(ladder: Ladder, index: int) -> float:
    """How far below the panel's first row this one stands: libraries stand apart."""
    apart = index >= 0 and ladder.rows[index].stage.is_library and not ladder.rows[0].stage.is_library
    return index * _ROW + (_LIBRARY_GAP if apart else 0)


def _name_column(ladders: Iterable[Ladder]) -> float:
    """Wide enough for the longest name, in all panels the same, so that bars begin on one line."""
    widths = [text_inches(row.stage.label, _NAME_SIZE) for ladder in ladders for row in ladder.rows]
    return min(max(widths, default=1.0), _LONGEST_NAME) + 0.36


def _extent(row: Row) -> float:
    """How far to the right a row's bar reaches, with its interval and its layer time."""
    return max(row.median or 0, row.high or 0, row.layer_median or 0)


def _shows_both_times(row: Row) -> bool:
    return row.of == "op" and row.layer_median is not None


class _Panel:
    """One layer at one batch."""

    def __init__(self, page: Page, top: float, ladder: Ladder, name_column: float) -> None:
        self.page = page
        self.ladder = ladder
        self.top = top + _PANEL_TOP
        self.left = MARGIN + name_column
        self.right = WIDTH - MARGIN
        self.bars = self.right - len(_COLUMNS) * _COLUMN - self.left
        self.unit = unit_for(row.median for row in ladder.timed if row.median)

    def draw(self) -> None:
        """Title, headings, rows and axis."""
        ladder = self.ladder
        panel_title(self.page, MARGIN, self.top - 0.42, f"{ladder.layer_name}, batch {ladder.batch}", ladder.shape)
        self._headings()
        axes = self._axes()
        for index, row in enumerate(ladder.rows):
            middle = self.top + _offset(ladder, index) + _ROW / 2
            if index and row.stage.is_library and not ladder.rows[index - 1].stage.is_library:
                rule(self.page, MARGIN, self.right, self.top + _offset(ladder, index) - _LIBRARY_GAP / 2)
            self._name(row, middle)
            if row.has_time:
                _bar(axes, row, _offset(ladder, index) + _ROW / 2, self.unit)
                self._figures(row, middle)
            else:
                self.page.text(self.left + 0.06, middle, fitted(row.why_no_time, 8, self.right - self.left - 0.1),
                               fontsize=8, style="italic", color=MUTED)

    def _headings(self) -> None:
        top = self.top - 0.14
        self.page.text(self.left, top, f"{times_named(self.ladder.timed)}, {self.unit.name}", fontsize=8, color=MUTED)
        for index, (heading, _) in enumerate(_COLUMNS):
            self.page.text(self._column(index), top, heading, fontsize=8, color=MUTED, ha="right")
        rule(self.page, MARGIN, self.right, self.top - 0.03)

    def _column(self, index: int) -> float:
        return self.right - (len(_COLUMNS) - 1 - index) * _COLUMN

    def _axes(self) -> Axes:
        height = _rows_height(self.ladder)
        extents = [_extent(row) / self.unit.nanoseconds for row in self.ladder.timed]
        ticks = linear_ticks(max(extents), 8) if extents else [0.0]
        return bar_axes(self.page, (self.left, self.top, self.bars, height), height, self._right_end(), ticks)

    def _right_end(self) -> float:
        """The axis ends where the last label beside a bar still fits."""
        ends = [1.0] if not self.ladder.timed else []
        for row in self.ladder.timed:
            free = self.bars - text_inches(self._label(row), _NAME_SIZE, "bold") - 0.25
            ends.append(_extent(row) / self.unit.nanoseconds * self.bars / max(free, 0.5))
        return max(ends)

    def _name(self, row: Row, middle: float) -> None:
        stage_mark(self.page, MARGIN + 0.08, middle, row.stage)
        self.page.text(MARGIN + 0.24, middle, fitted(row.stage.label, _NAME_SIZE, _LONGEST_NAME), fontsize=_NAME_SIZE,
                       color=INK if row.has_time else MUTED)

    def _figures(self, row: Row, middle: float) -> None:
        end = self.left + _extent(row) / self.unit.nanoseconds / self._right_end() * self.bars
        self.page.text(end + 0.08, middle, self._label(row), fontsize=_NAME_SIZE, weight="bold")
        for index, (_, figure) in enumerate(_COLUMNS):
            self.page.text(self._column(index), middle, figure(row), ha="right")

    def _label(self, row: Row) -> str:
        own = f"{self.unit.text(row.median or 0)} {self.unit.name}"
        if _shows_both_times(row):
            return f"op {own}, layer {self.unit.text(row.layer_median or 0)} {self.unit.name}"
        return f"op {own}" if row.of == "op" else own


def _bar(axes: Axes, row: Row, y: float, unit: Unit) -> None:
    """Stages are filled, libraries hatched; what a layout change adds to an op time is outlined."""
    mark = mark_of(row.stage)
    height = _ROW * BAR
    if _shows_both_times(row):
        axes.barh(y, (row.layer_median or 0) / unit.nanoseconds, height, facecolor="white", edgecolor=mark.edge,
                  linewidth=0.8, linestyle=(0, (2, 1.5)))
    filling = {"facecolor": "#eef0f2", "hatch": "//////"} if row.stage.is_library else {"facecolor": mark.colour}
    axes.barh(y, (row.median or 0) / unit.nanoseconds, height, edgecolor=mark.edge, linewidth=0.8, **filling)
    if row.low is not None and row.high is not None:
        axes.plot([row.low / unit.nanoseconds, row.high / unit.nanoseconds], [y, y], color=INK, linewidth=1.1,
                  marker="|", markersize=5, markeredgewidth=1.1, clip_on=False)


def _in_words(ladders: Iterable[Ladder]) -> str:
    """The chart for those who cannot see it: every stage with its figures."""
    sentences = []
    for ladder in ladders:
        unit = unit_for(row.median for row in ladder.timed if row.median)
        rows = "; ".join(_row_in_words(row, unit) for row in ladder.rows)
        sentences.append(f"{ladder.layer_name} at batch {ladder.batch}: {rows}.")
    return " ".join(sentences)


def _row_in_words(row: Row, unit: Unit) -> str:
    if not row.has_time:
        return f"{row.stage.label}, {row.why_no_time}"
    words = f"{row.stage.label}, {row.of or ''} time {unit.text(row.median or 0)} {unit.name}"
    gains = [f"{figure(row)} {heading.lstrip('×% ')}" for heading, figure in _COLUMNS if figure(row) != "–"]
    return ", ".join([words, *gains])
