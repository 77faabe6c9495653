"""The ladder: times on a logarithmic axis, each stage's step from the time of the stage that it builds on."""

from __future__ import annotations

import math
from typing import Iterable, Optional, Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from convladder_charts import story as stories
from convladder_charts.bars import BAR
from convladder_charts.labels import thinned
from convladder_charts.page import (MARGIN, WIDTH, Foot, Heading, Page, device_name, notices, page_below, rule,
                                    times_named, wrapped)
from convladder_charts.record import Group, Ladder, Record, Row
from convladder_charts.style import (FAINT, GAIN, GAIN_EDGE, GUIDE, INK, LOSS, LOSS_EDGE, MUTED, PAPER, ROLES, WARNING,
                                     fitted, text_inches)
from convladder_charts.units import Unit, duration, log_ticks, percent, ratio, round_duration, unit_for
from convladder_charts.words import outcome, place_of, title

MOST_PANELS = 3
_ROW = 0.27
_LIBRARY_GAP = 0.12
_HEAD = 0.42
_SHAPE = 0.2
_GUIDES = 0.36
_AXIS = 0.52
_BETWEEN = 0.12
_SIZE = 8.8
_SMALL = 8.0
_LONGEST_NAME = 2.02
_TIME = 0.66
_STEP = 0.8
_HUGE = 1e4
_MOST_DIGITS = 6
_QUIETLY = ("unsupported", "skipped")
"""Statuses that are no failure: their stages are named below, and have no row."""


def chosen_ladders(group: Group, batch: Optional[int]) -> list[Ladder]:
    """Per layer the asked batch, or the largest of those at which the most stages have a time."""
    chosen = []
    for layer in group.layers:
        offered = [one for one in group.of_layer(layer) if batch is None or one.batch == batch]
        if offered:
            chosen.append(max(offered, key=lambda one: (len(one.timed), one.batch)))
    return chosen


def drawn_ladders(group: Group, batch: Optional[int]) -> list[Ladder]:
    """Those of a picture: of many layers the ones that take longest, in the record's order."""
    offered = [one for one in chosen_ladders(group, batch) if one.timed]
    longest = sorted(offered, key=lambda one: -max(row.median or 0.0 for row in one.timed))[:MOST_PANELS]
    return [one for one in offered if one in longest]


def draw(record: Record, group: Group, batch: Optional[int]) -> tuple[Page, str, str]:
    """The figure, its title and its description in words."""
    ladders = drawn_ladders(group, batch) or chosen_ladders(group, batch)[:1]
    panels = [_Panel(one, record, len(ladders) == 1) for one in ladders]
    rows = [row for panel in panels for row in panel.rows if row.has_time]
    heading = Heading(title(record, group, ladders), [_subtitle(group, rows)],
                      record.warnings, WIDTH)
    left_out = max((panel.left_out for panel in panels), default=0)
    others = len([one for one in chosen_ladders(group, batch) if one.timed]) - len(ladders)
    foot = Foot([*(_left_out(left_out, others)), _missing(ladders),
                 "○ op time: the convolution alone in its own layout" if any(map(_shows_both, rows)) else "",
                 *notices(record, group, rows, "bars:")], WIDTH)
    page, tops = page_below(heading, WIDTH, [panel.height for panel in panels], foot)
    names = _name_column(panels)
    for top, panel in zip(tops, panels):
        panel.draw(page, top, names)
    return page, title(record, group, ladders), _in_words(panels)


def _subtitle(group: Group, rows: Sequence[Row]) -> str:
    named = times_named(rows) if any(row.of in ("call", None) for row in rows) else "layer time"
    return f"{device_name(group)}, {group.kind} {named}; a step starts at the time of the stage that it builds on"


def _left_out(stages: int, layers: int) -> list[str]:
    parts = [f"{stages} more stage{'s' * (stages != 1)}"] if stages else []
    parts += [f"{layers} more layer{'s' * (layers != 1)}"] if layers > 0 else []
    return [f"not drawn: {' and '.join(parts)}, in table.md"] if parts else []


def _shows_both(row: Row) -> bool:
    return row.of == "op" and row.layer_median is not None


def _time(row: Row) -> float:
    """What the ratios compare: the layer time where there is one."""
    return row.layer_median if row.of == "op" and row.layer_median else row.median or 0.0


def _name_column(panels: Iterable["_Panel"]) -> float:
    """Wide enough for the longest name, in all panels the same, so that axes begin on one line."""
    widths = [text_inches(row.stage.label, _SIZE, "bold") for panel in panels for row in panel.rows]
    return min(max(widths, default=1.0), _LONGEST_NAME) + 0.14


class _Panel:
    """One layer at one batch."""

    def __init__(self, ladder: Ladder, record: Record, is_alone: bool) -> None:
        self.ladder = ladder
        self.story = ladder.story
        self.is_alone = is_alone
        self.name = place_of(ladder, record)
        shown = [row for row in ladder.rows if row.has_time or row.status not in _QUIETLY]
        choice = stories.chosen([row.stage for row in shown], self.story,
                                {row.stage.name: row.x_previous for row in shown})
        self.left_out = choice.left_out
        self.rows = [row for row in shown if row.stage in choice.stages]
        self.unit = unit_for(_time(row) for row in self.rows if row.has_time)
        self.times = {row.stage.name: _time(row) for row in ladder.timed}
        self.low, self.high = self._ends()
        # Times too far apart for one unit each have their own.
        self.is_wide = any(len(self.unit.text(_time(row))) > _MOST_DIGITS for row in self.rows if row.has_time)

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
                  for value in (_time(row), row.median, row.low, row.high, self.times.get(row.stage.builds_on))
                  if value and value > 0]
        values += [self.ladder.floor.value] if self.ladder.floor and self.ladder.floor.value > 0 and values else []
        low, high = (min(values), max(values)) if values else (1.0, 10.0)
        air = max((high / low) ** 0.05, 1.08)
        return low / air, high * air

    def draw(self, page: Page, top: float, names: float) -> None:
        """Heading, guides, rows and axis."""
        left, right = MARGIN + names, WIDTH - MARGIN - _TIME - _STEP
        if not self.is_alone:
            said = outcome(self.ladder)
            name = f"{self.name}: {said}" if said else self.name
            page.text(MARGIN, top + 0.12, fitted(name, 9.6, WIDTH - 2 * MARGIN, "bold"), fontsize=9.6, weight="bold")
            top += _HEAD - _SHAPE
        page.text(MARGIN, top + 0.1, fitted(self.ladder.shape, _SMALL, WIDTH - 2 * MARGIN), fontsize=_SMALL, color=MUTED)
        top += _SHAPE + _GUIDES
        height = self._offset(len(self.rows) - 1) + _ROW
        for words, end in (("time" if self.is_wide else f"time, {self.unit.name}", right + _TIME), ("step", WIDTH - MARGIN)):
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
            _interval(axes, row, y, self.story.role(row.stage))
            self._figures(page, row, (right + _TIME, top + y))

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
        library = next((row for row in self.rows if row.stage.name == self.story.library and row.has_time), None)
        guides = []
        if library is not None:
            guides.append((_time(library), f"{library.stage.title.split(',')[0]} {duration(_time(library))}", INK, (0, (4, 2))))
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
        # So ordered no line goes through the other one's label, unless the axis is too short for both.
        upper_first = sorted(places, key=lambda one: one[0] if one[0] == one[1] else -one[0])
        for line, (x, start, label, colour, dash, value) in enumerate(upper_first):
            axes.axvline(value, color=colour, linewidth=1.0, linestyle=dash, zorder=1.4)
            y = top - 0.27 + 0.15 * line
            page.line([(x, y + 0.07), (x, top)], color=colour, linewidth=0.8, linestyle=dash)
            page.text(start, y, label, fontsize=7.5, color=colour)

    def _name(self, page: Page, row: Row, middle: float, names: float) -> None:
        best = row.stage.name == self.story.best
        weight = "bold" if best else "normal"
        lines = wrapped(row.stage.label, _SIZE, names - 0.12, weight)
        if len(lines) > 1:  # a long name takes two small lines
            lines = wrapped(row.stage.label, 6.8, names - 0.12, weight)
            lines = [*lines[:1], " ".join(lines[1:])]
        size, step = (_SIZE, 0.0) if len(lines) == 1 else (6.8, 0.12)
        for index, line in enumerate(lines):
            page.text(MARGIN, middle + (index - (len(lines) - 1) / 2) * step, fitted(line, size, names - 0.1, weight),
                      fontsize=size, weight=weight, color=INK if row.has_time else MUTED)

    def _step(self, axes: Axes, row: Row, y: float, middles: dict[str, float]) -> None:
        """From the time of the stage that it builds on to its own."""
        start, end = self.times.get(row.stage.builds_on), _time(row)
        if start is None or row.stage.is_library:
            return
        fill, edge = (GAIN, GAIN_EDGE) if end <= start else (LOSS, LOSS_EDGE)
        axes.add_patch(Rectangle((min(start, end), y - _ROW * BAR / 2), abs(end - start), _ROW * BAR, facecolor=fill,
                                 edgecolor=edge, linewidth=0.6, zorder=2))
        above = middles.get(row.stage.builds_on)
        if above is not None:
            axes.plot([start, start], [above, y - _ROW * BAR / 2], color=GUIDE, linewidth=0.8, zorder=1.8)

    def _figures(self, page: Page, row: Row, place: tuple[float, float]) -> None:
        end, middle = place
        best = row.stage.name == self.story.best
        text = duration(_time(row)) if self.is_wide else self.unit.text(_time(row))
        page.text(end, middle, text, fontsize=_SIZE, ha="right", weight="bold" if best else "normal")
        if row.sign:
            page.text(end - text_inches(text, _SIZE, "bold") - 0.06, middle, row.sign, fontsize=_SIZE, ha="right",
                      weight="bold", color=WARNING)
        if row.x_previous is None:
            return
        loses = row.x_previous < 1
        step = ratio(row.x_previous) if row.x_previous < _HUGE else f"{row.x_previous:.0e}×"
        page.text(WIDTH - MARGIN, middle, step, fontsize=_SIZE, ha="right", weight="bold",
                  color=LOSS_EDGE if loses else INK)
        below = self._not_next(row)
        if below:
            page.text(WIDTH - MARGIN - text_inches(step, _SIZE, "bold") - 0.05, middle, below, fontsize=7,
                      ha="right", color=MUTED)

    def _not_next(self, row: Row) -> str:
        """The rung that it builds on where that is not the row above."""
        index = self.rows.index(row)
        if index and self.rows[index - 1].stage.name == row.stage.builds_on:
            return ""
        below = next((one.stage for one in self.ladder.rows if one.stage.name == row.stage.builds_on), None)
        return f"on {below.rung}" if below is not None and below.rung is not None else ""


def _interval(axes: Axes, row: Row, y: float, role: str) -> None:
    """The time as a dot, the interval of what was timed as a bar; an op time beside a layer time as a ring."""
    colour = ROLES[role]
    if _shows_both(row):
        axes.plot([row.median or 0.0], [y], marker="o", markersize=5, color=PAPER, markeredgecolor=colour,
                  markeredgewidth=1.1, linestyle="none", zorder=3.2)
    if row.low is not None and row.high is not None and row.low > 0:
        axes.plot([row.low, row.high], [y, y], color=colour, linewidth=1.6, marker="|", markersize=6.5,
                  markeredgewidth=1.2, zorder=3)
    axes.plot([_time(row)], [y], marker="D" if role == "library" else "o", markersize=6.5 if role == "best" else 5,
              color=colour, markeredgecolor=PAPER, markeredgewidth=0.6, linestyle="none", zorder=3.4)


def _missing(ladders: Sequence[Ladder]) -> str:
    """Stages that cannot do some layer: no failure, and no row."""
    where: dict[tuple[str, str], list[str]] = {}
    for ladder in ladders:
        for row in ladder.rows:
            if not row.has_time and row.status in _QUIETLY:
                where.setdefault((row.stage.label.replace("  ", " "), row.status), []).append(ladder.layer_name)
    named = [f"{stage} {status}" + (f" on {', '.join(layers)}" if len(ladders) > 1 else "")
             for (stage, status), layers in where.items()]
    return "; ".join(named[:3]) + (f"; {len(named) - 3} more" if len(named) > 3 else "")


def _in_words(panels: Iterable[_Panel]) -> str:
    """The chart for those who cannot see it: every stage with its figures."""
    sentences = []
    for panel in panels:
        rows = "; ".join(_row_in_words(row, panel.unit) for row in panel.ladder.rows)
        said = outcome(panel.ladder)
        sentences.append(f"{panel.name}{f', {said}' if said else ''}: {rows}.")
    return " ".join(sentences)


def _row_in_words(row: Row, unit: Unit) -> str:
    if not row.has_time:
        return f"{row.stage.label}, {row.why_no_time}"
    words = [f"{row.stage.label}, {row.of or ''} time {unit.text(row.median or 0)} {unit.name}"]
    words += [f"layer time {unit.text(row.layer_median or 0)} {unit.name}"] * _shows_both(row)
    words += [row.quality] if row.quality else []
    words += [f"{text} {name}" for text, name in ((ratio(row.x_previous), "over the stage that it builds on"),
                                                  (ratio(row.x_baseline), "over the baseline"),
                                                  (percent(row.percent_of_library), "of the library's speed"))
              if text != "–"]
    return ", ".join(words)
