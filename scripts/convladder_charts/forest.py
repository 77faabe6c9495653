"""The forest plot: the change of each case with its bounds, and the lines that decide the verdict."""

from __future__ import annotations

import math
from typing import Optional, Sequence

from matplotlib.axes import Axes

from convladder_charts.comparison import LOOKS, Change, Comparison, percent
from convladder_charts.page import MARGIN, Heading, Page, rule
from convladder_charts.style import FAINT, INK, MUTED, fitted, text_inches

WIDTH = 11.6
MOST = 150
"""Rows that are drawn; of more cases those with the worst verdicts, then the largest changes."""
_ROW = 0.21
_GROUP = 0.34
_TOP = 0.42
_BOTTOM = 0.55
_NAME_SIZE = 8.0
_LONGEST_NAME = 2.6
_WIDEST = math.log(2.5)
_NARROWEST = 1.6
"""Times Delta, what the axis shows at least on either side."""
_TICKS = (-50, -40, -30, -20, -15, -10, -5, -2, 0, 2, 5, 10, 15, 20, 30, 50, 75, 100, 150)
_COLUMNS = (("change", 3.0), ("bounds", 1.75), ("verdict", 1.55))
"""With the distance from the right edge; numbers end there, the verdict begins."""


def draw(_record: object, comparison: Comparison, _batch: Optional[int]) -> tuple[Page, str, str]:
    """The figure, its title and its description in words."""
    shown = _shown(comparison)
    limits = comparison.limits
    title = "Changes of time against the base, with their bounds"
    about = [f"new / base - 1, measured medians; bounds wrong in at most {100 * limits.alpha:g} % of cases each where "
             f"nothing drifts; regressed: shown to be above tau = {100 * limits.tau:g} %; pass: shown to be below Delta = "
             f"{100 * limits.delta:g} %; arrows: beyond the axis", f"base {comparison.base}", f"new {comparison.now}"]
    if len(shown) < len(comparison.bounded):
        about.append(f"{len(shown)} of {len(comparison.bounded)} cases: the worst verdicts, then the largest changes; "
                     "the table has all")
    heading = Heading(title, about, (), WIDTH)
    groups = _groups(shown)
    height = sum(_GROUP + _ROW * len(group) for group in groups)
    page = Page(WIDTH, heading.height + _TOP + height + _BOTTOM)
    heading.draw(page)
    _rows(page, heading.height + _TOP, height, groups, comparison)
    words = [f"{one.id}: {percent(one.bounds.estimate)}, {percent(one.bounds.low)} to {percent(one.bounds.high)}, "
             f"{one.verdict}." for one in shown if one.bounds]
    return page, title, " ".join(words)


def _shown(comparison: Comparison) -> list[Change]:
    changes = list(comparison.bounded)
    if len(changes) <= MOST:
        return changes
    order = list(LOOKS)
    kept = sorted(changes, key=lambda one: (order.index(one.verdict), -_size(one)))[:MOST]
    return [one for one in changes if one in kept]


def _size(change: Change) -> float:
    return abs(_logarithm(change.bounds.estimate)) if change.bounds else 0.0


def _logarithm(part: float) -> float:
    return math.log(max(1 + part, 1e-6))


def _groups(changes: Sequence[Change]) -> list[list[Change]]:
    """What was measured side by side."""
    groups: dict[tuple[str, str, str], list[Change]] = {}
    for one in changes:
        groups.setdefault((one.device, one.layer, one.batch), []).append(one)
    return list(groups.values())


def _edge(groups: Sequence[Sequence[Change]], comparison: Comparison) -> float:
    """Half of the axis in logarithms: as far as the bounds go, between what the limits need and what can be read."""
    ends = [abs(_logarithm(end)) for group in groups for one in group if one.bounds
            for end in (one.bounds.low, one.bounds.high)]
    return min(max([_NARROWEST * _logarithm(comparison.limits.delta), *ends]), _WIDEST) * 1.05


def _rows(page: Page, top: float, height: float, groups: Sequence[Sequence[Change]], comparison: Comparison) -> None:
    names = max(max(text_inches(_title(group), 8.5, "bold"),
                    *(text_inches(one.stage.label, _NAME_SIZE) for one in group)) for group in groups)
    left = MARGIN + min(names, _LONGEST_NAME) + 0.3
    right = WIDTH - MARGIN
    width = right - 4.0 - left
    edge = _edge(groups, comparison)
    axes = page.axes(left, top, width, height)
    axes.set_xlim(-edge, edge)
    axes.set_ylim(height, 0)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    _guides(page, axes, (left, top, width), comparison, edge)
    for name, distance in _COLUMNS:
        page.text(right - distance, top - 0.12, name, fontsize=8, color=MUTED, ha="left" if name == "verdict" else
                  "right")
    y = 0.0
    for group in groups:
        rule(page, MARGIN, right, top + y + 0.06)
        page.text(MARGIN, top + y + 0.2, fitted(_title(group), 8.5, left - MARGIN - 0.1, "bold"), fontsize=8.5,
                  weight="bold")
        y += _GROUP
        for one in group:
            _row(page, axes, one, (left, top, right), y + _ROW / 2, edge)
            y += _ROW


def _title(group: Sequence[Change]) -> str:
    return f"{group[0].layer}, batch {group[0].batch}, {group[0].device}"


def _row(page: Page, axes: Axes, one: Change, frame: tuple[float, float, float], y: float, edge: float) -> None:
    left, top, right = frame
    page.text(MARGIN + 0.1, top + y, fitted(one.stage.label, _NAME_SIZE, left - MARGIN - 0.25), fontsize=_NAME_SIZE)
    if one.bounds is None:
        return
    look = one.look
    low, middle, high = (_logarithm(part) for part in (one.bounds.low, one.bounds.estimate, one.bounds.high))
    colour = look.colour if one.verdict in ("regressed", "improved") else MUTED
    axes.plot([max(low, -edge), min(high, edge)], [y, y], color=colour, linewidth=1.4, solid_capstyle="butt")
    for end, sign, marker in ((low, -1, 8), (high, 1, 9)):  # matplotlib's carets to the left and to the right
        if sign * end > edge:
            axes.plot([sign * edge], [y], marker=marker, markersize=4, color=colour, clip_on=False)
    if abs(middle) <= edge:
        axes.plot([middle], [y], marker=look.marker, markersize=5, color=look.colour, markeredgecolor=INK,
                  markeredgewidth=0.6, zorder=3)
    cells = (percent(one.bounds.estimate), f"{percent(one.bounds.low)} to {percent(one.bounds.high)}")
    for (_, distance), cell in zip(_COLUMNS, cells):
        page.text(right - distance, top + y, cell, fontsize=7.5, ha="right")
    page.text(right - _COLUMNS[2][1], top + y, f"{look.sign} {one.verdict}" + (" (control)" if one.control else ""),
              fontsize=8)


def _guides(page: Page, axes: Axes, frame: tuple[float, float, float], comparison: Comparison, edge: float) -> None:
    """No change, tau and Delta, on both sides; percent at the axis, as far apart as they can be read."""
    left, top, width = frame
    limits = comparison.limits
    for part, dash, name in ((0.0, "solid", "0"), (limits.tau, (0, (4, 2)), "tau"), (limits.delta, (0, (1, 1.5)),
                                                                                      "Delta")):
        for sign in (-1, 1) if part else (1,):
            x = sign * _logarithm(part)
            if abs(x) < edge:
                axes.axvline(x, color=INK if not part else MUTED, linewidth=0.9, linestyle=dash, zorder=1)
    at = [(_logarithm(limits.tau), "tau"), (_logarithm(limits.delta), "Delta")]
    end = 0.0
    for x, name in at:  # names stand beside their lines at the top, pushed right where they would touch
        place = max(left + (x + edge) / (2 * edge) * width, end)
        page.text(place, top - 0.12, name, fontsize=7.5, color=MUTED)
        end = place + text_inches(name, 7.5) + 0.08
    ticks: list[int] = []
    for tick in sorted(_TICKS, key=abs):
        x = _logarithm(tick / 100)
        if abs(x) <= edge and all(abs(x - _logarithm(other / 100)) / (2 * edge) * width >= 0.42 for other in ticks):
            ticks.append(tick)
    ticks.sort()
    axes.set_xticks([_logarithm(tick / 100) for tick in ticks], [f"{tick:+d} %" if tick else "0" for tick in ticks])
    axes.tick_params(axis="x", length=2.5)
    axes.spines["bottom"].set_color(FAINT)
    of_rates = any(one.higher_is_better for one in comparison.bounded)
    axes.set_xlabel("change (of times slower to the right, of rates worse to the left)" if of_rates else
                    "change of time (faster to the left, slower to the right)", labelpad=2)
