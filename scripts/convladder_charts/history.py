"""Trends: a figure for each layer, batch and device, with a panel for each series over the runs."""

from __future__ import annotations

import math
from typing import Optional, Sequence

from matplotlib.axes import Axes

from convladder_charts.history_record import History, Point, Series
from convladder_charts.labels import thinned
from convladder_charts.page import MARGIN, Foot, Heading, Page, page_below, panel_title
from convladder_charts.style import INK, MUTED, fitted, mark_of, text_inches
from convladder_charts.units import duration, log_ticks, round_duration, significant, span

_WIDTH = 7.2
_TICKS = 0.72
_BETWEEN = 0.4
_PANEL_TOP = 0.62
_PLOT = 1.25
_PANEL_BOTTOM = 0.66
_SMALL = 7.0

Key = tuple[str, str, int]
Values = tuple[float, Optional[float], Optional[float]]
"""What is drawn of a point, and its interval."""


def groups(history: History) -> dict[Key, list[Series]]:
    """The series of each figure: by device, layer and batch, the anchors last."""
    found: dict[Key, list[Series]] = {}
    for one in history.series:
        found.setdefault((one.device, one.layer, one.batch), []).append(one)
    return {key: sorted(series, key=_place) for key, series in sorted(found.items())}


def _place(series: Series) -> tuple[bool, bool, int, str, int]:
    stage = series.stage
    return series.is_anchor, stage.is_library, stage.rung or 0, stage.name, series.number


def draw(history: History, key: Key, series: Sequence[Series]) -> tuple[Page, str, str]:
    """The figure, its title and its description in words."""
    device, layer, batch = key
    device_name = device.upper() if device in ("cpu", "cuda") else device
    named = sorted({one.of for one in series})
    title = f"{device_name}, {layer}, batch {batch}"
    cell_height = _PANEL_TOP + _PLOT + _PANEL_BOTTOM
    page, tops = page_below(Heading(_title(title, history, series), [f"measured {' and '.join(named)} time over the runs; "
                                                                     "dashed: a change"], _warnings(history), _WIDTH),
                            _WIDTH, [cell_height] * len(series), Foot(_about(history, series), _WIDTH))
    runs = sorted({point.run for one in series for point in one.points})
    for top, one in zip(tops, series):
        _Panel(page, history, runs, one, (MARGIN, top, _WIDTH - 2 * MARGIN)).draw()
    return page, title, " ".join(_in_words(history, one) for one in series)


def _title(where: str, history: History, series: Sequence[Series]) -> str:
    """The last change of all, or that there is none."""
    changes = [(change.run, one, change) for one in series for change in one.changes if not one.is_anchor]
    if not changes:
        return f"{where}: no change over the runs" if history.judged else f"{where}: times over the runs"
    run, one, change = max(changes, key=lambda each: (each[0], abs(each[2].change)))
    words = f"{abs(100 * change.change):.0f} % {'slower' if change.change > 0 else 'faster'}"
    return f"{where}: {one.name} {words} since {history.runs[run].commit}"


def _about(history: History, series: Sequence[Series]) -> list[str]:
    points = [point for one in series for point in one.points]
    runs = [history.runs[index] for index in sorted({point.run for point in points})]
    samples = span([float(point.samples) for point in points])
    anchors = ", ".join(sorted({one.anchor for one in series if one.anchor})) or "none"
    lines = [f"measured, lower quartile of n = {samples} samples a run / that of the anchor ({anchors}), with 95 % intervals; "
             "the anchor's own medians come last",
             f"{len(runs)} runs from {runs[0].date} to {runs[-1].date}, evenly spaced in their order"]
    if history.judged:
        lines.append(f"dashed: a change, permutation test with p ≤ {significant(history.series_alpha, 2)} "
                     f"({history.judged} series share alpha) of {100 * history.tau:g} % or more")
    if any(not point.quiet for one in series for point in one.points):
        lines.append("hollow: not judged, because the anchor was slower than usual")
    places = sorted({" on ".join(filter(None, (one.hardware, one.host))) for one in series})
    return [*lines, " · ".join(places)]


def _warnings(history: History) -> list[str]:
    return [f"could not be read: {history.unreadable} of the files"] if history.unreadable else []


class _Panel:
    """One series."""

    def __init__(self, page: Page, history: History, runs: Sequence[int], series: Series,
                 place: tuple[float, float, float]) -> None:
        self.page = page
        self.history = history
        self.runs = runs
        self.series = series
        self.left, self.top, self.width = place
        self.plot_width = self.width - _TICKS

    def draw(self) -> None:
        """Title, plot, marks of the changes, names of the commits."""
        self._title()
        axes = self.page.axes(self.left + _TICKS, self.top + _PANEL_TOP, self.plot_width, _PLOT)
        axes.tick_params(length=2.5)
        axes.grid(True, axis="y")
        axes.set_xlim(*self._limits())
        shown = [(point, values) for point in self.series.points if (values := _values(self.series, point))]
        self._commits(axes)
        if not shown:
            axes.set_yticks([])
            axes.text(0.5, 0.5, "the anchor was not measured with it in any run", transform=axes.transAxes,
                      ha="center", color=MUTED)
            return
        self._points(axes, shown)
        self._changes(axes)

    def _limits(self) -> tuple[float, float]:
        return -0.7, len(self.runs) - 0.3

    def _title(self) -> None:
        series = self.series
        values = [value for point in series.points if (value := _values(series, point))]
        latest = ""
        if values:
            value = values[-1][0]
            latest = f"latest {duration(value) if series.is_anchor else significant(value) + '×'}"
        detail = [f"{series.of} time"] + ["anchor"] * series.is_anchor + [latest] * bool(latest)
        detail.append(f"{len(series.points)} run{'s' * (len(series.points) != 1)}")
        name = fitted(series.name, 10, self.width / 2, "bold")
        panel_title(self.page, self.left, self.top + 0.14, name, ", ".join(detail))
        note = series.split or ("" if series.is_anchor else series.not_judged)
        if note:
            note = f"began anew: {note}" if series.split else f"not judged: {note}"
            self.page.text(self.left, self.top + 0.32, fitted(note, _SMALL, self.width), fontsize=_SMALL, color=MUTED,
                           style="italic")

    def _points(self, axes: Axes, shown: Sequence[tuple[Point, Values]]) -> None:
        mark = mark_of(self.series.stage)
        places = [self.runs.index(point.run) for point, _ in shown]
        values = [value for _, (value, _, _) in shown]
        down = [0.0 if low is None else max(value - low, 0.0) for _, (value, low, _) in shown]
        up = [0.0 if high is None else max(high - value, 0.0) for _, (value, _, high) in shown]
        axes.plot(places, values, color=mark.edge, linewidth=0.8, alpha=0.6, zorder=2.5)
        axes.errorbar(places, values, yerr=[down, up], fmt="none", ecolor=mark.edge, elinewidth=0.8, zorder=2.8)
        for quiet, colour in ((True, mark.colour), (False, "none")):
            chosen = [index for index, (point, _) in enumerate(shown) if point.quiet == quiet]
            axes.plot([places[index] for index in chosen], [values[index] for index in chosen], linestyle="none",
                      marker=mark.marker, markersize=4.0 if len(values) < 50 else 2.8, markerfacecolor=colour,
                      markeredgecolor=mark.edge, zorder=3)
        self._scale(axes, [value - below for value, below in zip(values, down)],
                    [value + above for value, above in zip(values, up)])

    def _scale(self, axes: Axes, lows: Sequence[float], highs: Sequence[float]) -> None:
        """Logarithmic, so that 10 % is as high everywhere; at least 5 % up and down."""
        low, high = min(lows), max(highs)
        middle = math.sqrt(low * high)
        low, high = min(low / 1.02, middle / 1.05), max(high * 1.02, middle * 1.05)
        axes.set_yscale("log")
        axes.set_ylim(low, high)
        ticks = _ticks(low, high)
        axes.set_yticks(ticks, [round_duration(tick) if self.series.is_anchor else f"{tick:.4g}" for tick in ticks])
        axes.set_yticks([], minor=True)
        axes.set_ylabel("time" if self.series.is_anchor else f"× {fitted(self.series.anchor, 8, _PLOT)}", fontsize=8)
        axes.yaxis.set_label_coords(-(_TICKS - 0.1) / self.plot_width, 0.5)

    def _changes(self, axes: Axes) -> None:
        """A line at each, and what it is by above those that have room, the greatest first."""
        changes = self.series.changes
        for change in changes:
            axes.axvline(self.runs.index(change.run) - 0.5, color=INK, linewidth=1.0, linestyle=(0, (4, 2)), zorder=2)
        labels = [f"{100 * change.change:+.1f} %" for change in changes]
        taken: list[tuple[float, float]] = []
        for index in sorted(range(len(changes)), key=lambda i: -abs(math.log1p(max(changes[i].change, -0.999)))):
            half = text_inches(labels[index], 8, "bold") / 2 + 0.04
            middle = self._across(self.runs.index(changes[index].run) - 0.5)
            middle = min(max(middle, half), self.plot_width - half)
            if all(middle + half <= left or middle - half >= right for left, right in taken):
                taken.append((middle - half, middle + half))
                self.page.text(self.left + _TICKS + middle, self.top + _PANEL_TOP - 0.09, labels[index], fontsize=8,
                               weight="bold", ha="center", color=INK)

    def _across(self, place: float) -> float:
        """Inches from the plot's left edge."""
        low, high = self._limits()
        return (place - low) / (high - low) * self.plot_width

    def _commits(self, axes: Axes) -> None:
        """As many as have room."""
        names = [self.history.runs[run].commit for run in self.runs]
        widths = [text_inches(name, _SMALL) for name in names]
        ticks = thinned([self._across(place) for place in range(len(names))], widths, 0.1)
        axes.set_xticks(ticks, [names[tick] for tick in ticks], fontsize=_SMALL)
        axes.set_xlabel("commit of the run (+: with uncommitted changes)", labelpad=2, fontsize=_SMALL)


def _values(series: Series, point: Point) -> Optional[Values]:
    """What is drawn of a point: the anchor's time, everybody else's ratio."""
    if series.is_anchor:
        return point.median, point.low, point.high
    return None if point.ratio is None else (point.ratio, point.ratio_low, point.ratio_high)


def _ticks(low: float, high: float) -> list[float]:
    """About four round values; on a wide axis powers of ten."""
    if high / low > 8:
        return log_ticks(low, high)
    rough = (high - low) / 4
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [index * step for index in range(first, last + 1)]


def _in_words(history: History, series: Series) -> str:
    """The panel for those who cannot see it."""
    values = [value for point in series.points if (value := _values(series, point))]
    text = f"{series.name}, {len(series.points)} runs"
    if values:
        unit = duration if series.is_anchor else (lambda value: f"{significant(value)}× {series.anchor}")
        text += f": from {unit(values[0][0])} to {unit(values[-1][0])}"
    slow = sum(not point.quiet for point in series.points)
    text += f"; {slow} not judged" * bool(slow)
    text += "".join(f"; {100 * change.change:+.1f} % since commit {history.runs[change.run].commit} "
                    f"of {history.runs[change.run].date}" for change in series.changes)
    return text + (f"; began anew: {series.split}" if series.split else "") + "."
