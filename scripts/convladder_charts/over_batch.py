"""What the charts over batch share: a panel per layer, a line per stage, each labelled at its end."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Callable, Iterator, Optional, Protocol, Sequence

from matplotlib.axes import Axes

from convladder_charts.labels import spread, thinned
from convladder_charts.page import (MARGIN, Heading, Page, panel_title, provenance, sampling, wrapped)
from convladder_charts.record import Group, Ladder, Record, Row, Stage
from convladder_charts.style import GUIDE, INK, MUTED, Mark, fitted, mark_of, text_inches

_PANEL_TOP = 0.42
_PANEL_BOTTOM = 0.72
_TICKS = 0.62
_LABEL_SIZE = 8.0
_LABEL_GAP = 0.165
_LONGEST_LABEL = 1.95
_SHORTEST_PLOT = 2.5
_BETWEEN = 0.3
_NOTE_LINE = 0.15
_MOST_NOTE_LINES = 3
_LEADER = 0.28
_MANY = 10
_LONE_PAD = 1.2


@dataclass(frozen=True)
class Line:
    """One stage of one layer. Values are None at batches without a time."""

    stage: Stage
    name: str
    remark: str
    batches: tuple[int, ...]
    values: tuple[Optional[float], ...]
    low: tuple[Optional[float], ...]
    high: tuple[Optional[float], ...]
    of_all: bool = False
    """It represents several stages, so it has no stage's marker."""

    @property
    def mark(self) -> Mark:
        """Its stage's, or a plain one."""
        return Mark(INK, INK, "solid", "o") if self.of_all else mark_of(self.stage)

    @property
    def label(self) -> str:
        """Name and remark."""
        return self.name + self.remark

    @property
    def end(self) -> tuple[int, float]:
        """The last point that has a value."""
        return [(batch, value) for batch, value in zip(self.batches, self.values) if value is not None][-1]

    @property
    def present(self) -> list[float]:
        """All values and interval ends there are."""
        return [value for values in (self.values, self.low, self.high) for value in values if value is not None]


class Measure(Protocol):
    """What a chart over batch draws: how a row becomes a value, and how the value axis looks."""

    axis_title: str
    interval: str
    note: str

    def value(self, row: Row) -> tuple[Optional[float], Optional[float], Optional[float]]:
        """The row's value with the low and high end of its interval."""

    def scale(self, axes: Axes, lines: Sequence[Line]) -> Callable[[float], float]:
        """Sets limits and ticks; returns where a value stands between 0 (bottom) and 1 (top)."""

    def extras(self, axes: Axes, lines: Sequence[Line]) -> list[tuple[str, float]]:
        """Draws guides under the lines; returns their labels and end values."""

    def words(self, value: float) -> str:
        """A value with its unit."""


@dataclass(frozen=True)
class Plot:
    """One panel: what it is of, its lines, and why some of them have gaps."""

    name: str
    detail: str
    lines: Sequence[Line]
    measure: Measure
    missing: str = ""


class Block(Protocol):
    """Something below the panels, as wide as the page."""

    def height(self, width: float) -> float:
        """What it takes of the page."""

    def draw(self, page: Page, top: float) -> None:
        """Puts it there."""

    def words(self) -> str:
        """What it shows, for those who cannot see it."""


def draw(record: Record, group: Group, measure: Measure, title: str) -> tuple[Page, str, str]:
    """The figure, its title and its description in words."""
    rows = [row for ladder in group.ladders for row in ladder.timed]
    about = [f"{sampling(group, rows, measure.interval)}; {measure.note}", provenance(record, group)]
    return compose(title, [*about, *record.skipped_lines], record.warnings, plots_of(group, measure))


def plots_of(group: Group, measure: Measure) -> list[Plot]:
    """A panel for each layer."""
    return [Plot(ladders[0].layer_name, ladders[0].shape, lines_of(ladders, measure), measure, missing(ladders))
            for ladders in map(group.of_layer, group.layers)]


def compose(title: str, about: Sequence[str], warnings: Sequence[str], plots: Sequence[Plot],
            blocks: Sequence[Block] = ()) -> tuple[Page, str, str]:
    """Heading, panels in one or two columns, and the blocks below each other."""
    columns = 1 if len(plots) == 1 else 2
    most = max(len(plot.lines) for plot in plots)
    width = 8.6 if columns == 1 and not blocks else 11.6 if most <= _MANY else 13.4
    heading = Heading(title, about, warnings, width)
    plot_height = max(_SHORTEST_PLOT if columns == 2 else 3.4, (most + 2) * _LABEL_GAP)
    notes = [_note(plot.missing, width / columns - 2 * MARGIN) for plot in plots]
    cell_height = _PANEL_TOP + plot_height + _PANEL_BOTTOM + _NOTE_LINE * max(map(len, notes))
    cell_width = (width - 2 * MARGIN + _BETWEEN) / columns
    blocks_top = heading.height + math.ceil(len(plots) / columns) * cell_height
    page = Page(width, blocks_top + sum(block.height(width) for block in blocks))
    heading.draw(page)
    leader = _LEADER if most <= _MANY else 2 * _LEADER
    label_width = _label_width([line for plot in plots for line in plot.lines]) + leader
    for index, plot in enumerate(plots):
        left = MARGIN + index % columns * cell_width
        top = heading.height + index // columns * cell_height
        frame = (left + _TICKS, top + _PANEL_TOP, cell_width - _BETWEEN - _TICKS - label_width, plot_height)
        panel_title(page, left, top + 0.14, plot.name, plot.detail)
        _Panel(page, frame, (leader, label_width), plot.measure, plot.lines).draw()
        for row, note in enumerate(notes[index]):
            page.text(left, frame[1] + plot_height + 0.6 + row * _NOTE_LINE, note, fontsize=7.5, style="italic",
                      color=MUTED)
    for block in blocks:
        block.draw(page, blocks_top)
        blocks_top += block.height(width)
    return page, title, " ".join([*_in_words(plots), *(block.words() for block in blocks)])


def lines_of(ladders: Sequence[Ladder], measure: Measure) -> list[Line]:
    """The stages of one layer that have a value at some batch, in ladder order."""
    batches = tuple(ladder.batch for ladder in ladders)
    rows: dict[Stage, dict[int, Row]] = {}
    for ladder in ladders:
        for row in ladder.rows:
            rows.setdefault(row.stage, {})[ladder.batch] = row
    lines = []
    for stage, by_batch in rows.items():
        timed = {batch: row for batch, row in by_batch.items() if row.has_time}
        points = [measure.value(timed[batch]) if batch in timed else (None, None, None) for batch in batches]
        values, low, high = zip(*points)
        if any(value is not None for value in values):
            last = max(batch for batch, value in zip(batches, values) if value is not None)
            remark = " (op)" if any(row.of == "op" for row in timed.values()) else ""
            remark += f", to {last}" if last < batches[-1] else ""
            lines.append(Line(stage, stage.label, remark, batches, values, low, high))
    return lines


def _label_width(lines: Sequence[Line]) -> float:
    widths = [text_inches(line.label, _LABEL_SIZE) for line in lines]
    return min(max(widths, default=0.5), _LONGEST_LABEL) + 0.2


def missing(ladders: Sequence[Ladder]) -> str:
    """Names the stages that have no time at some batch, so that a gap in a line is explained."""
    without: dict[str, dict[str, list[str]]] = {}
    for ladder in ladders:
        for row in ladder.rows:
            if not row.has_time:
                batches = without.setdefault(row.why_no_time, {}).setdefault(row.stage.title, [])
                batches.append(str(ladder.batch))
    if not without:
        return ""
    named = "; ".join(f"{why}: " + ", ".join(f"{stage} ({' '.join(batches)})" for stage, batches in stages.items())
                      for why, stages in without.items())
    return f"No time (at batch): {named}"


def _note(text: str, width: float) -> list[str]:
    lines = wrapped(text, 7.5, width) if text else []
    if len(lines) > _MOST_NOTE_LINES:
        lines = [*lines[: _MOST_NOTE_LINES - 1], lines[_MOST_NOTE_LINES - 1] + " …"]
    return [fitted(line, 7.5, width) for line in lines]


class _Panel:
    """One layer."""

    def __init__(self, page: Page, plot: tuple[float, float, float, float], label: tuple[float, float],
                 measure: Measure, lines: Sequence[Line]) -> None:
        self.page = page
        self.left, self.top, self.width, self.height = plot
        self.leader, self.label_width = label
        self.measure = measure
        self.lines = lines
        self.batches = sorted({batch for line in lines for batch in line.batches})

    def draw(self) -> None:
        """Axes, guides, lines and their labels."""
        axes = self.page.axes(self.left, self.top, self.width, self.height)
        axes.tick_params(length=2.5)
        axes.grid(True)
        if not self.lines:
            axes.set_xticks([])
            axes.set_yticks([])
            axes.text(0.5, 0.5, "no stage has a time", transform=axes.transAxes, ha="center", color=MUTED)
            return
        self._batch_axis(axes)
        height_of = self.measure.scale(axes, self.lines)
        guides = self.measure.extras(axes, self.lines)
        for line in self.lines:
            _draw_line(axes, line)
        self._end_labels(axes, height_of, guides)
        axes.set_ylabel(self.measure.axis_title)
        axes.yaxis.set_label_coords(-(_TICKS - 0.1) / self.width, 0.5)

    def _batch_axis(self, axes: Axes) -> None:
        """Logarithmic, ticked at the batches that were run."""
        axes.set_xscale("log")
        first, last = self.batches[0], self.batches[-1]
        pad = (last / first) ** 0.04 if last > first else _LONE_PAD
        axes.set_xlim(first / (pad if last > first else pad**9), last * pad)
        positions = [self._across(axes, batch) for batch in self.batches]
        widths = [text_inches(str(batch), 8) for batch in self.batches]
        ticks = [self.batches[index] for index in thinned(positions, widths, 0.08)]
        axes.set_xticks(ticks, [str(tick) for tick in ticks])
        axes.set_xticks([], minor=True)
        axes.set_xlabel("batch (images per call)", labelpad=3)

    def _across(self, axes: Axes, batch: float) -> float:
        """Inches from the plot's left edge."""
        low, high = axes.get_xlim()
        return math.log(batch / low) / math.log(high / low) * self.width

    def _end_labels(self, axes: Axes, height_of: Callable[[float], float],
                    guides: Sequence[tuple[str, float]]) -> None:
        """One label per line and guide in a column at the right, in the order in which the lines end."""
        room = self.label_width - self.leader - 0.1
        ends = [(*line.end, _fitted_label(line, room), line.mark) for line in self.lines]
        ends += [(self.batches[-1], value, label, None) for label, value in guides]
        wanted = [self.top + (1 - height_of(value)) * self.height for _, value, _, _ in ends]
        placed = spread(wanted, _LABEL_GAP, self.top, self.top + self.height)
        for (batch, _, label, mark), start, end in zip(ends, wanted, placed):
            across = self.left + self._across(axes, batch) if batch == self.batches[-1] else None
            self._end_label(across, start, end, label, mark)

    def _end_label(self, across: Optional[float], start: float, end: float, label: str,
                   mark: Optional[Mark]) -> None:
        """A line that stops early has no leader: it would look like more of the line."""
        elbow = self.left + self.width
        text_left = elbow + self.leader
        colour = mark.edge if mark else GUIDE
        if across is not None:
            self.page.line([(across, start), (elbow, start), (text_left - 0.1, end)], color=colour, linewidth=0.7,
                           alpha=0.75)
        if mark:
            self.page.line([(text_left - 0.02, end)], marker=mark.marker, markersize=4.5, color=mark.colour,
                           markeredgecolor=mark.edge, linestyle="none")
        self.page.text(text_left + 0.1, end, label, fontsize=_LABEL_SIZE, color=INK if mark else MUTED)


def _fitted_label(line: Line, room: float) -> str:
    """A long name is cut, never the remark that says which time it is."""
    return fitted(line.name, _LABEL_SIZE, room - text_inches(line.remark, _LABEL_SIZE)) + line.remark


def _draw_line(axes: Axes, line: Line) -> None:
    mark = line.mark
    values = [math.nan if value is None else value for value in line.values]
    library = line.stage.is_library
    axes.plot(line.batches, values, color=mark.edge, linestyle=mark.dash, linewidth=1.3 if library else 1.6,
              marker=mark.marker, markersize=4.8, markerfacecolor=mark.colour, markeredgecolor=mark.edge,
              zorder=2.5 if library else 3)
    if any(low is not None for low in line.low):
        ends = [[math.nan if end is None else end for end in side] for side in (line.low, line.high)]
        axes.fill_between(line.batches, *ends, color=mark.colour, alpha=0.18, linewidth=0, zorder=2)
        down = [0 if None in (low, value) else max(value - low, 0) for value, low in zip(line.values, line.low)]
        up = [0 if None in (high, value) else max(high - value, 0) for value, high in zip(line.values, line.high)]
        axes.errorbar(line.batches, values, yerr=[down, up], fmt="none", ecolor=mark.edge, elinewidth=1.0, capsize=2.4,
                      capthick=1.0, zorder=3.5)


def _in_words(plots: Sequence[Plot]) -> Iterator[str]:
    """The chart for those who cannot see it: each line's values."""
    for plot in plots:
        for line in plot.lines:
            points = ", ".join(f"{plot.measure.words(value)} at batch {batch}"
                               for batch, value in zip(line.batches, line.values) if value is not None)
            yield f"{plot.name}, {line.label}: {points}."
