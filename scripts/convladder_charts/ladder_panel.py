"""A layer's panel of the ladder: a row for each stage, its time as a dot, and the step that leads there."""

from __future__ import annotations

import math

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from convladder_charts import summary as summaries
from convladder_charts.bars import BAR
from convladder_charts.known_text import distance, factor, share, short_factor, untold
from convladder_charts.labels import thinned
from convladder_charts.page import MARGIN, WIDTH, Page, rule, wrapped
from convladder_charts.record import Ladder, Record, Row
from convladder_charts.style import (FAINT, GAIN, GAIN_EDGE, GUIDE, INK, LOSS, LOSS_EDGE, MUTED, PAPER, ROLES, UNTOLD,
                                     UNTOLD_EDGE, WARNING, fitted, text_inches)
from convladder_charts.units import Unit, duration, log_ticks, round_duration, unit_for
from convladder_charts.words import outcome, place_of, short_outcome

_ROW = 0.27
_LIBRARY_GAP = 0.12
_HEAD = 0.42
_SHAPE = 0.2
_GUIDES = 0.36
_AXIS = 0.52
NAME_SIZE = 8.8
_NAME_SIZES = (NAME_SIZE, 8.2, 7.6, 6.8)
_HEADINGS = (9.6, 9.0, 8.4)
_SMALL = 8.0
_TIME = 0.66
_STEP = 1.2
_ON, _APART = 0.3, 0.37
"""Of it, the stage that a step starts at where that is not the one above, and how far its interval reaches."""
_SMALLEST = 7.0
_MOST_DIGITS = 6
QUIETLY = ("unsupported", "skipped")
"""Statuses that are no failure: their stages are named below, and have no row."""


def shows_both(row: Row) -> bool:
    """Also an op time, which is compared with nothing."""
    return row.has_time and row.op_median is not None and row.op_median > 0


def time_of(row: Row) -> float:
    """What the ratios compare."""
    return row.median or 0.0


class Panel:
    """One layer at one batch."""

    def __init__(self, ladder: Ladder, record: Record, is_alone: bool) -> None:
        self.ladder = ladder
        self.summary = ladder.summary
        self.is_alone = is_alone
        self.name = place_of(ladder, record)
        shown = [row for row in ladder.rows if row.has_time or row.status not in QUIETLY]
        choice = summaries.chosen([row.stage for row in shown], self.summary,
                                  {row.stage.name: row.x_previous for row in shown}, more=ladder.more_stages)
        self.left_out = choice.left_out
        self.rows = [row for row in shown if row.stage in choice.stages]
        self.unit = unit_for(time_of(row) for row in self.rows if row.has_time)
        self.times = {row.stage.name: time_of(row) for row in ladder.timed}
        by_name = {row.stage.name: row.stage for row in ladder.rows}
        paths = {row.stage.name: summaries.path_to(by_name, row.stage.builds_on) for row in self.rows if row.has_time}
        self.leaps = {name: next((one for one in path if one in self.times), "") for name, path in paths.items()
                      if path and path[0] not in self.times}
        """From stages whose next one below has no time to the nearest one that has."""
        self.low, self.high = self._ends()
        signs = {row.sign for row in self.rows if row.has_time}
        self.sign = signs.pop() if len(signs) == 1 else ""  # where all have the same it stands once
        # Times too far apart for one unit each have their own.
        self.is_wide = any(len(self.unit.text(time_of(row))) > _MOST_DIGITS for row in self.rows if row.has_time)

    @property
    def height(self) -> float:
        """All of it."""
        return self._above + self._offset(len(self.rows) - 1) + _ROW + _AXIS

    @property
    def _above(self) -> float:
        return (0 if self.is_alone else _HEAD - _SHAPE) + _SHAPE + _GUIDES

    def _offset(self, index: int) -> float:
        """How far below the panel's first row this one stands: libraries stand apart."""
        apart = index > 0 and self.rows[index].stage.is_library and not self.rows[0].stage.is_library
        return max(index, 0) * _ROW + (_LIBRARY_GAP if apart else 0)

    def _ends(self) -> tuple[float, float]:
        """Of the axis: what is drawn, and some air."""
        values = [value for row in self.rows if row.has_time
                  for value in (row.median, row.low, row.high, row.op_median, self.times.get(row.stage.builds_on))
                  if value and value > 0]
        values += [self.ladder.floor.value] if self.ladder.floor and self.ladder.floor.value > 0 and values else []
        low, high = (min(values), max(values)) if values else (1.0, 10.0)
        air = max((high / low) ** 0.05, 1.08)
        return low / air, high * air

    def draw(self, page: Page, top: float, names: float) -> None:
        """Heading, guides, rows and axis."""
        left, right = MARGIN + names, WIDTH - MARGIN - _TIME - _STEP
        if not self.is_alone:
            said = short_outcome(self.ladder)
            name = f"{self.name}: {said}" if said else self.name
            room = WIDTH - 2 * MARGIN
            size = next((one for one in _HEADINGS if text_inches(name, one, "bold") <= room), _HEADINGS[-1])
            page.text(MARGIN, top + 0.12, fitted(name, size, room, "bold"), fontsize=size, weight="bold")
            top += _HEAD - _SHAPE
        page.text(MARGIN, top + 0.1, fitted(self.ladder.shape, _SMALL, WIDTH - 2 * MARGIN), fontsize=_SMALL, color=MUTED)
        top += _SHAPE + _GUIDES
        height = self._offset(len(self.rows) - 1) + _ROW
        heading = "time" if self.is_wide else f"time, {self.unit.name}"
        if self.sign:
            page.text(right + _TIME - text_inches(heading, _SMALL) - 0.05, top - 0.1, self.sign, fontsize=NAME_SIZE,
                      ha="right", weight="bold", color=WARNING)
        for words, end in ((heading, right + _TIME), ("step", WIDTH - MARGIN)):
            page.text(end, top - 0.1, words, fontsize=_SMALL, color=MUTED, ha="right")
        rule(page, MARGIN, WIDTH - MARGIN, top - 0.02)
        axes = self._axes(page, (left, top, right - left - 0.05, height))
        self._guides(page, axes, (left, right - 0.05), top)
        middles = {row.stage.name: self._offset(index) + _ROW / 2 for index, row in enumerate(self.rows)}
        for index, row in enumerate(self.rows):
            y = self._offset(index) + _ROW / 2
            self._name(page, row, top + y, names)
            if not row.has_time:
                page.text(left + 0.05, top + y, fitted(row.why_no_time, _SMALL, WIDTH - MARGIN - left - 0.1),
                          fontsize=_SMALL, style="italic", color=WARNING)
                continue
            self._step(axes, row, y, middles)
            _interval(axes, row, y, self.summary.role(row.stage))
            page.hint(axes, (self.low, y - _ROW / 2, self.high - self.low, _ROW), self._hint(row))
            self._figures(page, row, (right + _TIME, top + y))

    def words(self) -> str:
        """The panel for those who cannot see it: every stage with its figures."""
        said = outcome(self.ladder)
        rows = "; ".join(_row_in_words(row, self.unit) for row in self.ladder.rows)
        return f"{self.name}{f', {said}' if said else ''}: {rows}."

    def _axes(self, page: Page, frame: tuple[float, float, float, float]) -> Axes:
        axes = page.axes(*frame)
        axes.set_xscale("log")
        axes.set_xlim(self.low, self.high)
        axes.set_ylim(frame[3], 0)
        axes.set_yticks([])
        axes.minorticks_off()
        ticks = log_ticks(self.low, self.high)
        labels = [round_duration(tick) for tick in ticks]
        scale = frame[2] / math.log(self.high / self.low)
        kept = thinned([math.log(tick / self.low) * scale for tick in ticks],
                       [text_inches(label, _SMALL) for label in labels], 0.1)
        axes.set_xticks([ticks[index] for index in kept], [labels[index] for index in kept])
        axes.tick_params(axis="x", length=2.5)
        axes.grid(True, axis="x")
        axes.spines["bottom"].set_color(FAINT)
        axes.spines["left"].set_visible(False)
        axes.set_xlabel("logarithmic", fontsize=7, labelpad=1, loc="right")
        return axes

    def _guides(self, page: Page, axes: Axes, across: tuple[float, float], top: float) -> None:
        """The fastest library's time and the floor, each with its label on a line of its own above the rows."""
        library = next((row for row in self.rows if row.stage.name == self.summary.library and row.has_time), None)
        guides = []
        if library is not None:
            words = f"{library.stage.title.split(',')[0]} {duration(time_of(library))}"
            guides.append((time_of(library), words, INK, (0, (4, 2))))
        floor = self.ladder.floor
        if floor is not None and self.low <= floor.value <= self.high:
            words = f"floor {duration(floor.value)}, predicted"
            guides.append((floor.value, words, MUTED, (0, (1, 1.4))))
        left, right = across
        places = []
        for value, words, colour, dash in guides:
            label = fitted(words, 7.5, right - left)
            x = left + math.log(value / self.low) / math.log(self.high / self.low) * (right - left)
            fits = x + text_inches(label, 7.5) <= right
            places.append((x, x if fits else max(x - text_inches(label, 7.5), left), label, colour, dash, value))
        # So ordered no line goes through the other one's label, unless the axis is too short for both: then the line
        # has a gap where the label is.
        upper_first = sorted(places, key=lambda one: one[0] if one[0] == one[1] else -one[0])
        for line, (x, start, label, colour, dash, value) in enumerate(upper_first):
            axes.axvline(value, color=colour, linewidth=1.0, linestyle=dash, zorder=1.4)
            y = top - 0.27 + 0.15 * line
            begin = y + 0.07
            for _, other, below, *_ in upper_first[line + 1:]:
                if other - 0.03 < x < other + text_inches(below, 7.5) + 0.03:
                    begin += 0.15
            page.line([(x, begin), (x, top)], color=colour, linewidth=0.8, linestyle=dash)
            page.text(start, y, label, fontsize=7.5, color=colour)

    def _name(self, page: Page, row: Row, middle: float, names: float) -> None:
        best = row.stage.name == self.summary.best
        weight = "bold" if best else "normal"
        for size in _NAME_SIZES:  # a long name is smaller, or takes two lines
            lines = wrapped(row.stage.label, size, names - 0.12, weight)
            if len(lines) == 1:
                break
        lines = lines[:1] + [" ".join(lines[1:])] * (len(lines) > 1)
        step = 0.12
        for index, line in enumerate(lines):
            page.text(MARGIN, middle + (index - (len(lines) - 1) / 2) * step, fitted(line, size, names - 0.1, weight),
                      fontsize=size, weight=weight, color=INK if row.has_time else MUTED)

    def _step(self, axes: Axes, row: Row, y: float, middles: dict[str, float]) -> None:
        """From the time of the stage that it builds on to its own."""
        start, end = self.times.get(row.stage.builds_on), time_of(row)
        if row.stage.is_library:
            return
        if start is None:
            self._leap(axes, row, y, middles)
            return
        fill, edge = (GAIN, GAIN_EDGE) if end <= start else (LOSS, LOSS_EDGE)
        if untold(row.x_previous):
            fill, edge = UNTOLD, UNTOLD_EDGE
        axes.add_patch(Rectangle((min(start, end), y - _ROW * BAR / 2), abs(end - start), _ROW * BAR, facecolor=fill,
                                 edgecolor=edge, linewidth=0.6, zorder=2))
        above = middles.get(row.stage.builds_on)
        if above is not None:
            axes.plot([start, start], [above, y - _ROW * BAR / 2], color=GUIDE, linewidth=0.8, zorder=1.8)

    def _leap(self, axes: Axes, row: Row, y: float, middles: dict[str, float]) -> None:
        """From the nearest stage with a time below one without: dotted, since the record has no factor of it."""
        start = self.times.get(self.leaps.get(row.stage.name, ""))
        if start is not None:
            dotted = {"color": GUIDE, "linewidth": 1.0, "linestyle": (0, (1, 1.5)), "zorder": 1.8}
            axes.plot([start, time_of(row)], [y, y], **dotted)
            above = middles.get(self.leaps[row.stage.name])
            if above is not None:
                axes.plot([start, start], [above, y], **dotted)

    def _figures(self, page: Page, row: Row, place: tuple[float, float]) -> None:
        end, middle = place
        best = row.stage.name == self.summary.best
        text = duration(time_of(row)) if self.is_wide else self.unit.text(time_of(row))
        page.text(end, middle, text, fontsize=NAME_SIZE, ha="right", weight="bold" if best else "normal")
        if row.sign and not self.sign:
            page.text(end - text_inches(text, NAME_SIZE, "bold") - 0.06, middle, row.sign, fontsize=NAME_SIZE, ha="right",
                      weight="bold", color=WARNING)
        if row.x_previous is None:
            return
        colour = MUTED if untold(row.x_previous) else LOSS_EDGE if row.x_previous < 1 else INK
        step, apart = short_factor(row.x_previous), distance(row.x_previous)
        page.text(WIDTH - MARGIN - _APART, middle, fitted(step, NAME_SIZE, _STEP - _ON - _APART, "bold"),
                  fontsize=NAME_SIZE, ha="right", weight="bold", color=colour)
        page.text(WIDTH - MARGIN, middle, fitted(apart, _SMALLEST, _APART - 0.03), fontsize=_SMALLEST, ha="right",
                  color=MUTED)
        below = self._not_next(row)
        if below:
            page.text(WIDTH - MARGIN - _STEP + _ON, middle, below, fontsize=_SMALLEST, ha="right", color=MUTED)

    def _hint(self, row: Row) -> str:
        """The row's figures, and what the record says of its step."""
        between = f" ({duration(row.low)} to {duration(row.high)})" if row.low and row.high else ""
        words = f"{row.stage.label.replace('  ', ' ')}: {row.of} time {duration(row.median or 0)}{between}"
        if row.x_previous is not None:
            below = next((one.stage.title for one in self.ladder.rows if one.stage.name == row.stage.builds_on), "")
            words += f", {factor(row.x_previous)} over {below or 'the stage that it builds on'}"
        return f"{words}. {self.ladder.steps.get(row.stage.name, '')}".strip()

    def _not_next(self, row: Row) -> str:
        """The rung that it builds on where that is not the row above."""
        index = self.rows.index(row)
        if index and self.rows[index - 1].stage.name == row.stage.builds_on:
            return ""
        below = next((one.stage for one in self.ladder.rows if one.stage.name == row.stage.builds_on), None)
        return f"on {below.rung}" if below is not None and below.rung is not None else ""


def _interval(axes: Axes, row: Row, y: float, role: str) -> None:
    """The time as a dot, its interval as a bar; the op time in a layout of its own as a ring, a series by itself."""
    colour = ROLES[role]
    if shows_both(row):
        axes.plot([row.op_median], [y], marker="o", markersize=5, color=PAPER, markeredgecolor=colour,
                  markeredgewidth=1.1, linestyle="none", zorder=3.2)
    if row.low is not None and row.high is not None and row.low > 0:
        axes.plot([row.low, row.high], [y, y], color=colour, linewidth=1.6, marker="|", markersize=6.5,
                  markeredgewidth=1.2, zorder=3)
    axes.plot([time_of(row)], [y], marker="D" if role == "library" else "o", markersize=6.5 if role == "best" else 5,
              color=colour, markeredgecolor=PAPER, markeredgewidth=0.6, linestyle="none", zorder=3.4)


def _row_in_words(row: Row, unit: Unit) -> str:
    if not row.has_time:
        return f"{row.stage.label}, {row.why_no_time}"
    words = [f"{row.stage.label}, {row.of or ''} time {unit.text(row.median or 0)} {unit.name}"]
    words += [f"op time {unit.text(row.op_median or 0)} {unit.name} in its own layout, compared with nothing"] * shows_both(row)
    words += [row.quality] if row.quality else []
    words += [f"{text} {name}" for text, name in ((factor(row.x_previous), "over the stage that it builds on"),
                                                  (factor(row.x_baseline), "over the baseline"),
                                                  (share(row.percent_of_library), "of the library's speed"))
              if text != "–"]
    return ", ".join(words)
