"""What the charts over batch share: a panel per layer, a line for each of a few stages, labelled at its end."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Callable, Iterator, Optional, Protocol, Sequence

from matplotlib.axes import Axes

from convladder_charts import summary as summaries
from convladder_charts.labels import spread, thinned
from convladder_charts.page import MARGIN, WIDTH, Foot, Heading, Page, page_below, panel_title
from convladder_charts.record import Ladder, Row, Stage
from convladder_charts.style import INK, MUTED, ROLES, Mark, fitted, mark_of, text_inches

_PANEL_TOP = 0.34
_PANEL_BOTTOM = 0.56
_HEIGHT = 1.75
_TICKS = 0.66
_LABEL_SIZE = 8.2
_LABEL_GAP = 0.165
_LONGEST_LABEL = 1.62
_LEADER = 0.26
_LONE_PAD = 1.2
_MOST_LINES = 5
_MOST_NAMED = 4


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
    role: str = ""
    """What the stage is on its ladder: it gives the line its colour."""

    @property
    def mark(self) -> Mark:
        """By its role, or its stage's, or a plain one."""
        if self.of_all:
            return Mark(INK, INK, "solid", "o")
        if self.role:
            dash = (0, (5, 2)) if self.role == "library" else "solid"
            return Mark(ROLES[self.role], ROLES[self.role], dash, _MARKERS[self.role])
        return mark_of(self.stage)

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


_MARKERS = {"baseline": "s", "sixth": "^", "best": "o", "library": "D"}


class Measure(Protocol):
    """What a chart over batch draws: how a row becomes a value, and how the value axis looks."""

    axis_title: str

    def value(self, row: Row, batch: int) -> tuple[Optional[float], Optional[float], Optional[float]]:
        """The row's value with the low and high end of its interval."""

    def scale(self, axes: Axes, lines: Sequence[Line]) -> Callable[[float], float]:
        """Sets limits and ticks; returns where a value stands between 0 (bottom) and 1 (top)."""

    def words(self, value: float) -> str:
        """A value with its unit."""


@dataclass(frozen=True)
class Plot:
    """One panel: what it is of, its lines, and how many stages have none."""

    name: str
    detail: str
    lines: Sequence[Line]
    measure: Measure
    left_out: int = 0
    missing: str = ""
    """Which of its lines have gaps, and why."""


class Block(Protocol):
    """Something below the panels, as wide as the page."""

    def height(self, width: float) -> float:
        """What it takes of the page."""

    def draw(self, page: Page, top: float) -> None:
        """Puts it there."""

    def words(self) -> str:
        """What it shows, for those who cannot see it."""


def plot_of(ladders: Sequence[Ladder], measure: Measure) -> Plot:
    """The panel of a layer: all stages of a short ladder, of a long one the few that tell of it."""
    told = max(ladders, key=lambda one: (len(one.timed), one.batch))
    lines = lines_of(ladders, measure, told)
    roles = {stage: role for role, stage in summaries.named([line.stage for line in lines], told.summary).items()}
    shown = lines
    if len(lines) > _MOST_LINES:
        first = next((line.stage for line in lines if not line.stage.is_library), None)
        shown = [line for line in lines if line.stage in roles or line.stage == first]
    return Plot(ladders[0].layer_name, ladders[0].shape, shown, measure, len(lines) - len(shown),
                missing(ladders, [line.stage for line in shown]))


def left_out(plots: Sequence[Plot]) -> str:
    """How many stages are not drawn; empty if all are."""
    most = max((plot.left_out for plot in plots), default=0)
    return f"not drawn: {most} more stage{'s' * (most != 1)}, in table.md" if most else ""


def compose(title: str, about: Sequence[str], warnings: Sequence[str], plots: Sequence[Plot],
            foot: Sequence[str], blocks: Sequence[Block] = ()) -> tuple[Page, str, str]:
    """Heading, panels and blocks below each other, and the foot."""
    gaps = dict.fromkeys(plot.missing for plot in plots)
    bottom = Foot([left_out(plots), *gaps, *foot], WIDTH)
    panel = _PANEL_TOP + _HEIGHT + _PANEL_BOTTOM
    page, tops = page_below(Heading(title, about, warnings, WIDTH), WIDTH,
                            [panel] * len(plots) + [block.height(WIDTH) for block in blocks], bottom)
    label_width = _label_width([line for plot in plots for line in plot.lines]) + _LEADER
    for plot, top in zip(plots, tops):
        frame = (MARGIN + _TICKS, top + _PANEL_TOP, WIDTH - 2 * MARGIN - _TICKS - label_width, _HEIGHT)
        panel_title(page, MARGIN, top + 0.12, plot.name, plot.detail)
        _Panel(page, frame, label_width, plot.measure, plot.lines).draw()
    for block, top in zip(blocks, tops[len(plots):]):
        block.draw(page, top)
    return page, title, " ".join([*_in_words(plots), *(block.words() for block in blocks)])


def lines_of(ladders: Sequence[Ladder], measure: Measure, told: Optional[Ladder] = None) -> list[Line]:
    """The stages of one layer that have a value at some batch, in ladder order, with their roles on the ladder told."""
    batches = tuple(ladder.batch for ladder in ladders)
    rows: dict[Stage, dict[int, Row]] = {}
    for ladder in ladders:
        for row in ladder.rows:
            rows.setdefault(row.stage, {})[ladder.batch] = row
    best = summaries.named(rows, told.summary) if told else {}
    roles = {stage: role for role, stage in best.items()}
    lines = []
    for stage, by_batch in rows.items():
        timed = {batch: row for batch, row in by_batch.items() if row.has_time}
        points = [measure.value(timed[batch], batch) if batch in timed else (None, None, None) for batch in batches]
        values, low, high = zip(*points)
        if any(value is not None for value in values):
            last = max(batch for batch, value in zip(batches, values) if value is not None)
            remark = f", to {last}" if last < batches[-1] else ""
            lines.append(Line(stage, stage.label, remark, batches, values, low, high, role=roles.get(stage, "")))
    return lines


def _label_width(lines: Sequence[Line]) -> float:
    widths = [text_inches(line.label, _LABEL_SIZE) for line in lines]
    return min(max(widths, default=0.5), _LONGEST_LABEL) + 0.14


def missing(ladders: Sequence[Ladder], stages: Sequence[Stage]) -> str:
    """Names the drawn stages that have no time at some batch, so that a gap in a line is explained; and what failed."""
    without: dict[str, list[str]] = {}
    for ladder in ladders:
        for row in ladder.rows:
            if not row.has_time and (row.stage in stages or row.status not in ("unsupported", "skipped")):
                without.setdefault(f"{row.stage.title}: {row.status}", []).append(str(ladder.batch))
    named = [f"{ladders[0].layer_name} {what} at batch {', '.join(batches)}" for what, batches in without.items()]
    return "; ".join(named[:_MOST_NAMED]) + (f"; {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else "")


class _Panel:
    """One layer."""

    def __init__(self, page: Page, plot: tuple[float, float, float, float], label_width: float,
                 measure: Measure, lines: Sequence[Line]) -> None:
        self.page = page
        self.left, self.top, self.width, self.height = plot
        self.label_width = label_width
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
        for line in self.lines:
            _draw_line(axes, line)
        self._end_labels(axes, height_of)
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
        axes.set_xlabel("batch (images per call)", labelpad=2)

    def _across(self, axes: Axes, batch: float) -> float:
        """Inches from the plot's left edge."""
        low, high = axes.get_xlim()
        return math.log(batch / low) / math.log(high / low) * self.width

    def _end_labels(self, axes: Axes, height_of: Callable[[float], float]) -> None:
        """One label per line in a column at the right, in the order in which the lines end."""
        room = self.label_width - _LEADER
        ends = [(*line.end, _fitted_label(line, room), line.mark) for line in self.lines]
        wanted = [self.top + (1 - height_of(value)) * self.height for _, value, _, _ in ends]
        placed = spread(wanted, _LABEL_GAP, self.top, self.top + self.height)
        for (batch, _, label, mark), start, end in zip(ends, wanted, placed):
            across = self.left + self._across(axes, batch) if batch == self.batches[-1] else None
            self._end_label(across, start, end, label, mark)

    def _end_label(self, across: Optional[float], start: float, end: float, label: str, mark: Mark) -> None:
        """A line that stops early has no leader: it would look like more of the line."""
        elbow = self.left + self.width
        text_left = elbow + _LEADER
        colour = mark.edge
        if across is not None:
            self.page.line([(across, start), (elbow, start), (text_left - 0.04, end)], color=colour, linewidth=0.8)
        self.page.text(text_left, end, label, fontsize=_LABEL_SIZE, color=INK)


def _fitted_label(line: Line, room: float) -> str:
    """A long name is cut, never the remark that says where it ends."""
    return fitted(line.name, _LABEL_SIZE, room - text_inches(line.remark, _LABEL_SIZE)) + line.remark


def _draw_line(axes: Axes, line: Line) -> None:
    mark = line.mark
    values = [math.nan if value is None else value for value in line.values]
    library = line.stage.is_library
    axes.plot(line.batches, values, color=mark.edge, linestyle=mark.dash, linewidth=1.3 if library else 1.7,
              marker=mark.marker, markersize=4.6, markerfacecolor=mark.colour, markeredgecolor=mark.edge,
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
