"""The counters: small bar charts of the quantities that differ between stages; what a stage changed is in colour."""

from __future__ import annotations

import math
from typing import Optional, Sequence

from convladder_charts import summary as summaries
from convladder_charts.bars import BAR, bar_axes
from convladder_charts.counted import CountedGroup, CountedLadder, CountedRow, Figure, drawn_figures
from convladder_charts.counted_text import images_line, label, notes, scale_of
from convladder_charts.page import MARGIN, WIDTH, Foot, Heading, Page, page_below, rule
from convladder_charts.record import Record
from convladder_charts.style import GAIN, GAIN_EDGE, INK, LOSS, LOSS_EDGE, MUTED, PAPER, fitted, text_inches
from convladder_charts.units import NONE, linear_ticks, significant
from convladder_charts.words import other_layers

_ROW = 0.235
_HEAD = 0.5
_BOTTOM = 0.42
_GAP = 0.17
_SIZE = 8.2
_LONGEST_NAME = 1.88
_COLUMNS = 3
_MINIMUM = "#b3261e"
_PLAIN, _PLAIN_EDGE = "#dfe3e7", "#8f979f"
CHANGED = 0.02
"""Smaller changes are none."""
_PAPER = {"facecolor": PAPER, "edgecolor": "none", "pad": 0.5}


def draw(record: Record, group: CountedGroup, batch: Optional[int]) -> tuple[Page, str, str]:
    """The figure, its title and its description in words."""
    ladders = group.chosen(batch)
    ladder = max(ladders, key=lambda one: max((row.flop for row in one.rows), default=0.0))
    gains = {row.stage.name: _largest_change(row, ladder) for row in ladder.counted}
    choice = summaries.chosen([row.stage for row in ladder.counted], ladder.summary, gains,
                              more=ladder.more_stages)
    rows = [row for row in ladder.rows if row.stage in choice.stages]
    figures = changing(ladder, rows)
    title = _title(ladder, rows, group)
    others = [one.layer_name for one in ladders if one is not ladder]
    batch_words = "" if ladder.is_size and ladder.batch == 1 else f", batch {ladder.batch}"
    heading = Heading(title, [f"COUNTED in PTX, not timed: {ladder.layer_name}{batch_words}",
                              "blue: better than the stage that it builds on; orange: worse; grey: the same"],
                      record.warnings, WIDTH)
    foot = Foot([f"{ladder.layer_name}: {ladder.shape}", choice.notice, _same(ladder, figures),
                 other_layers(others, group.more_layers), images_line(ladder), *_uncounted(ladder),
                 f"caches modelled after {group.modelled_gpu}",
                 *notes([ladder])[1:], f"commit {record.commit}", f"data: {record.data}"], WIDTH)
    lines = [figures[start:start + _COLUMNS] for start in range(0, len(figures), _COLUMNS)]
    height = _HEAD + len(rows) * _ROW + _BOTTOM
    page, tops = page_below(heading, WIDTH, [height] * len(lines), foot)
    for line, top in zip(lines, tops):
        _Line(page, top + _HEAD, ladder, rows, line).draw()
    return page, title, _in_words(ladders)


def changing(ladder: CountedLadder, rows: Sequence[CountedRow]) -> list[Figure]:
    """The quantities that are not the same in all stages; all of them where that is none."""
    found = []
    for figure in drawn_figures(ladder):
        values = [value for row in rows if (value := figure.of(row)) is not None]
        if values and max(values) - min(values) > CHANGED * max(map(abs, values)):
            found.append(figure)
    return found or [figure for figure in drawn_figures(ladder)
                     if any(figure.of(row) is not None for row in rows)] or [drawn_figures(ladder)[0]]


def _same(ladder: CountedLadder, shown: Sequence[Figure]) -> str:
    """Which columns are not there, since all their values are the same."""
    gone, names = [], {figure.name for figure in shown}
    for figure in drawn_figures(ladder):
        values = [(row, value) for row in ladder.counted if (value := figure.of(row)) is not None]
        if figure.name not in names and values:
            scale = scale_of(figure, ladder)
            gone.append(f"{figure.name} {label(figure, values[0][0], scale)} {scale.words}".strip())
    return f"the same in all rows: {', '.join(gone)}" if gone else ""


def _uncounted(ladder: CountedLadder) -> list[str]:
    named = [f"{row.stage.title} {row.status if row.status != 'ok' else 'not counted'}" for row in ladder.rows
             if row.counters is None]
    return ["; ".join(named[:3]) + (f"; {len(named) - 3} more" if len(named) > 3 else "")] if named else []


def _below(row: CountedRow, ladder: CountedLadder) -> Optional[CountedRow]:
    return next((one for one in ladder.counted if row.stage.builds_on and one.stage.name == row.stage.builds_on), None)


def _change(figure: Figure, row: CountedRow, ladder: CountedLadder) -> int:
    """-1: less than in the stage that it builds on, 1: more, 0: the same or not known."""
    below = _below(row, ladder)
    old, new = (figure.of(below) if below else None), figure.of(row)
    if old is None or new is None or abs(new - old) <= CHANGED * max(abs(old), abs(new)):
        return 0
    return -1 if new < old else 1


def _largest_change(row: CountedRow, ladder: CountedLadder) -> float:
    """As a factor, of any quantity."""
    below = _below(row, ladder)
    factors = [1.0]
    for figure in drawn_figures(ladder):
        old, new = (figure.of(below) if below else None), figure.of(row)
        if old and new and old > 0 and new > 0:
            factors.append(math.exp(abs(math.log(new / old))))
    return max(factors)


def _title(ladder: CountedLadder, rows: Sequence[CountedRow], group: CountedGroup) -> str:
    """The quantity that fell furthest from the baseline to the best stage, or to the one that has least of it."""
    first = next((row for row in rows if row.stage.name == ladder.summary.baseline), None)
    best = next((row for row in rows if row.stage.name == ladder.summary.best), None)
    falls = []
    if first is not None:
        for figure in drawn_figures(ladder):
            old = figure.of(first)
            ends = [best] if best is not None else [row for row in rows if row is not first]
            values = [(value, row) for row in ends if (value := figure.of(row)) is not None]
            if not figure.is_resource and old and values and min(values, key=lambda one: one[0])[0] > 0:
                value, row = min(values, key=lambda one: one[0])
                falls.append((old / value, figure, old, value, row))
    fall, figure, old, value, row = max(falls, key=lambda one: one[0], default=(0, None, 0, 0, None))
    if figure is None or row is None or fall < 1 + CHANGED:
        return f"{group.device}, COUNTED: what each stage changes"
    per = f" {figure.per}" if figure.per else ""
    if figure.per:
        return f"COUNTED: {row.stage.title} needs {significant(value)} instead of {significant(old)} {figure.name}{per}"
    fewer = f"less {figure.name.split(',')[0]} traffic" if figure.unit == "B" else f"fewer {figure.name}"
    return f"COUNTED: {row.stage.title} needs {significant(fall)} times {fewer} than the baseline"


class _Line:
    """Some quantities beside each other, the stages below each other."""

    def __init__(self, page: Page, top: float, ladder: CountedLadder, rows: Sequence[CountedRow],
                 figures: Sequence[Figure]) -> None:
        self.page, self.top, self.ladder, self.rows, self.figures = page, top, ladder, rows, figures
        names = [text_inches(row.stage.label, _SIZE, "bold") for row in rows]
        self.left = MARGIN + min(max(names, default=1.0), _LONGEST_NAME) + 0.14
        self.width = (WIDTH - MARGIN - self.left + _GAP) / _COLUMNS - _GAP

    def draw(self) -> None:
        """Names, and a column for each quantity."""
        rule(self.page, MARGIN, WIDTH - MARGIN, self.top - 0.03)
        for index, row in enumerate(self.rows):
            best = row.stage.name == self.ladder.summary.best
            weight = "bold" if best else "normal"
            self.page.text(MARGIN, self.top + (index + 0.5) * _ROW,
                           fitted(row.stage.label, _SIZE, self.left - MARGIN - 0.08, weight), fontsize=_SIZE,
                           weight=weight, color=INK if row.counters else MUTED)
        for index, figure in enumerate(self.figures):
            self._column(figure, self.left + index * (self.width + _GAP))

    def _column(self, figure: Figure, left: float) -> None:
        ladder, scale = self.ladder, scale_of(figure, self.ladder)
        direction = "more is better" if figure.name == "occupancy" else "" if figure.is_resource else "less is better"
        self.page.text(left, self.top - 0.38, fitted(figure.name, 7.6, self.width + _GAP - 0.08, "bold"), fontsize=7.6,
                       weight="bold")
        self.page.text(left, self.top - 0.24, fitted(scale.words, 7.2, self.width + _GAP - 0.08), fontsize=7.2)
        self.page.text(left, self.top - 0.11, direction, fontsize=7, color=MUTED)
        for index, row in enumerate(self.rows):
            if row.counters and figure.of(row) is None:
                self.page.text(left + 0.04, self.top + (index + 0.5) * _ROW, NONE, fontsize=7.6, color=MUTED)
        values = [(index, row, value / scale.divisor) for index, row in enumerate(self.rows)
                  if (value := figure.of(row)) is not None]
        texts = {index: label(figure, row, scale) for index, row, _ in values}
        least = ladder.rows[0].minimum_bytes / scale.divisor if figure.modelled else 0.0
        ends = [least * 1.05, *(value * self.width / max(self.width - text_inches(texts[index], 7.6, "bold") - 0.08, 0.3)
                                for index, _, value in values)]
        end = max(ends) or 1.0
        axes = bar_axes(self.page, (left, self.top, self.width, len(self.rows) * _ROW), len(self.rows), end,
                        linear_ticks(end, 4))
        axes.tick_params(axis="x", labelsize=7)
        if figure.modelled:
            axes.axvline(least, color=_MINIMUM, linewidth=1.0, linestyle=(0, (3, 2)), zorder=1.5)
        for index, row, value in values:
            change = _change(figure, row, ladder) * (-1 if figure.name == "occupancy" else 1)
            colour = 0 if figure.name == "registers" else change  # more of them are neither better nor worse
            fill, edge = {-1: (GAIN, GAIN_EDGE), 0: (_PLAIN, _PLAIN_EDGE), 1: (LOSS, LOSS_EDGE)}[colour]
            axes.barh(index + 0.5, value, BAR, facecolor=fill, edgecolor=edge, linewidth=0.6)
            self.page.text(left + self.width * value / end + 0.04, self.top + (index + 0.5) * _ROW, texts[index],
                           fontsize=7.6, weight="bold" if change else "normal", bbox=_PAPER)


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
