"""A pass through a network over batch: its time, where that goes, and where it went for others."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Optional, Sequence

from convladder_charts.dark import KEPT
from convladder_charts.known import quotient
from convladder_charts.known_text import either, untold
from convladder_charts.network.parts import PARTS, SWEEP, Part, distribution, published_sweeps
from convladder_charts.network.record import WHOLE_PASS, NetworkGroup, NetworkRecord
from convladder_charts.over_batch import compose, plot_of
from convladder_charts.page import MARGIN, Page, device_name, panel_title, provenance, sampling, wrapped
from convladder_charts.style import GUIDE, INK, MUTED, fitted, text_inches
from convladder_charts.time_over_batch import PerImage
from convladder_charts.units import duration

_REST = Part("rest of the pass", "#ffffff", "||||", "black", lambda case: 0.0)
_TITLE = 0.84
_BARE_TITLE = 0.46
"""Of panels of which nothing more is to be said."""
_PLOT = 1.75
_AXIS = 0.62
_BAR = 0.36
_TICKS = 0.5
_BETWEEN = 0.2
_LEGEND_LINE = 0.22
_PAPER = {"facecolor": "#ffffff", "edgecolor": "none", "pad": 0.8}
_SMALLEST_LABEL = 7.0
"""Percent, below which a share has no number in it: it would not fit."""


@dataclass(frozen=True)
class _Bars:
    """One panel: shares by batch, of one stage or of one publication."""

    name: str
    detail: str
    batches: tuple[int, ...]
    shares: tuple[dict[str, float], ...]
    """By the name of the part, for each batch; they add up to 100."""

    @property
    def width(self) -> float:
        """Of the plot."""
        return max(_BAR * len(self.batches), 1.1)


class _Distribution:
    """Panels of stacked bars in rows, under one legend."""

    def __init__(self, title: str, detail: str, bars: Sequence[_Bars]) -> None:
        self.title, self.detail, self.bars = title, detail, bars
        present = {name for one in bars for shares in one.shares for name, share in shares.items() if share >= 0.1}
        self.above = _TITLE if any(one.detail for one in bars) else _BARE_TITLE
        self.parts = [part for part in (*PARTS, _REST) if part.name in present]

    def height(self, width: float) -> float:
        """Of the legend and all rows of panels."""
        return 0.4 + _LEGEND_LINE * len(self._legend(width)) + len(self._rows(width)) * (self.above + _PLOT + _AXIS)

    def draw(self, page: Page, top: float) -> None:
        """Title, legend, panels."""
        panel_title(page, MARGIN, top + 0.14, self.title, self.detail)
        for line, entries in enumerate(self._legend(page.width)):
            for left, part in entries:
                self._swatch(page, left, top + 0.4 + line * _LEGEND_LINE, part)
        top += 0.4 + _LEGEND_LINE * len(self._legend(page.width))
        for row in self._rows(page.width):
            for left, bars in row:
                self._panel(page, left, top, bars)
            top += self.above + _PLOT + _AXIS

    def words(self) -> str:
        """Every share that is drawn."""
        sentences = []
        for bars in self.bars:
            for batch, shares in zip(bars.batches, bars.shares):
                parts = ", ".join(f"{name} {share:.1f} %" for name, share in shares.items() if share > 0)
                sentences.append(f"{self.title}, {bars.name}, batch {batch}: {parts}.")
        return " ".join(sentences)

    def _rows(self, width: float) -> list[list[tuple[float, _Bars]]]:
        rows: list[list[tuple[float, _Bars]]] = [[]]
        left = MARGIN
        for bars in self.bars:
            takes = self._takes(bars)
            if rows[-1] and left + takes > width - MARGIN:
                rows.append([])
                left = MARGIN
            rows[-1].append((left, bars))
            left += takes + _BETWEEN
        return rows

    def _takes(self, bars: _Bars) -> float:
        return _TICKS + max(bars.width, 1.2 if bars.detail.count(' ') < 3 else 2.2)

    def _legend(self, width: float) -> list[list[tuple[float, Part]]]:
        lines: list[list[tuple[float, Part]]] = [[]]
        left = MARGIN
        for part in self.parts:
            takes = 0.5 + text_inches(part.name, 8)
            if lines[-1] and left + takes > width - MARGIN:
                lines.append([])
                left = MARGIN
            lines[-1].append((left, part))
            left += takes
        return lines

    def _swatch(self, page: Page, left: float, middle: float, part: Part) -> None:
        axes = page.axes(left, middle - 0.06, 0.18, 0.12)
        axes.bar([0.5], [1], 1, color=part.colour, hatch=part.hatch, edgecolor=INK, linewidth=0.4,
                 gid=KEPT)
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1)
        axes.axis("off")
        page.text(left + 0.24, middle, part.name, fontsize=8)

    def _panel(self, page: Page, left: float, top: float, bars: _Bars) -> None:
        room = self._takes(bars)
        page.text(left, top + 0.22, fitted(bars.name, 8.5, room, "bold"), fontsize=8.5, weight="bold")
        first, *rest = wrapped(bars.detail, 8, room)
        for index, line in enumerate((first, " ".join(rest))):
            page.text(left, top + 0.4 + 0.16 * index, fitted(line, 8, room), fontsize=8, color=MUTED)
        axes = page.axes(left + _TICKS, top + self.above - 0.08, bars.width, _PLOT)
        bottoms = [0.0] * len(bars.batches)
        for part in self.parts:
            for index, shares in enumerate(bars.shares):
                share = shares.get(part.name, 0.0)
                if share <= 0:
                    continue
                axes.bar([index], [share], 0.8, bottom=bottoms[index], color=part.colour, hatch=part.hatch,
                         edgecolor=INK if part.hatch else "white", linewidth=0.3, gid=KEPT)
                if share >= _SMALLEST_LABEL:
                    axes.text(index, bottoms[index] + share / 2, f"{share:.0f}", ha="center", va="center",
                              fontsize=7.5, color=part.ink, gid=KEPT,
                              bbox=_PAPER if part.hatch else None)
                bottoms[index] += share
        axes.set_xlim(-0.5, len(bars.batches) - 0.5)
        axes.set_ylim(0, 100)
        axes.set_yticks([0, 50, 100], ["0", "50", "100 %"])
        axes.set_xticks(range(len(bars.batches)), [_short(batch) for batch in bars.batches])
        axes.tick_params(length=2.5)
        axes.spines["left"].set_color(GUIDE)
        axes.set_xlabel("batch", labelpad=2)


def draw(record: NetworkRecord, group: NetworkGroup, _batch: Optional[int]) -> tuple[Page, str, str]:
    """The figure, its title and its description in words."""
    ladders = group.ladders(WHOLE_PASS)
    rows = [row for ladder in ladders.ladders for row in ladder.timed]
    plot = dataclasses.replace(plot_of(ladders.ladders, PerImage("time per image")), name=f"{group.network}, a whole pass")
    # A virtual clock's times are no shares of a pass, which the host takes.
    stages = [line.stage for line in plot.lines] if group.kind == "measured" else []
    ours = [bars for stage in stages if (bars := _ours(group, stage)) is not None]
    blocks = []
    if ours:
        blocks.append(_Distribution("Where the time goes", "measured; shares of the parts' sum, of medians", ours))
    theirs = _theirs(group)
    if theirs:
        blocks.append(_Distribution("Published distribution", "measured by others on the device named", theirs))
    about = [f"{device_name(ladders)}, {ladders.kind} time of a whole pass over the images of the batch"]
    foot = [sampling(ladders, rows, "bands:"), "a pass: from before the first allocation to after the last free",
            "published API calls wait for the device, so they include the kernels' time again; cudaMemcpy: both "
            "directions" if theirs else "", provenance(record, group)]
    return compose(_title(group, ours), about, record.warnings, [plot], foot, blocks)


def _title(group: NetworkGroup, ours: Sequence[_Bars]) -> str:
    """The fastest choice at the largest batch, and what takes most of its time."""
    batch = max(case.batch for case in group.timed)
    best = min((case for case in group.timed if case.batch == batch), key=lambda case: case.total.median if case.total
               else math.inf)
    took = duration(best.total.median / batch) if best.total else ""
    level = [case.stage.title for case in group.timed if case.batch == batch and case is not best and case.total and best.total
             and untold(quotient(case.total.known, best.total.known))]
    title = f"{group.network}: {took} an image at batch {batch} with {either([best.stage.title, *level])}"
    if level:
        return title
    shares = next((one.shares[-1] for one in ours if one.name == best.stage.label), {})
    part = max(shares, key=lambda name: shares[name], default="")
    return f"{title}, {shares[part]:.0f}% of it {part}" if part else title


def _ours(group: NetworkGroup, stage: object) -> Optional[_Bars]:
    cases = [case for case in group.of_stage(stage) if case.total is not None]  # type: ignore[arg-type]
    if not cases:
        return None
    shares = []
    for case in cases:
        parts = distribution(case)
        whole = sum(parts.values()) or 1.0
        shares.append({_REST.name if name == "rest" else name: 100 * time / whole for name, time in parts.items()})
    chunks = sorted({math.ceil(case.batch / max(case.images_at_once, 1)) for case in cases})
    detail = f"in up to {chunks[-1]} chunks" if chunks[-1] > 1 else ""
    return _Bars(cases[0].stage.label, detail, tuple(case.batch for case in cases), tuple(shares))


def _theirs(group: NetworkGroup) -> list[_Bars]:
    """What the device did and what the host called, each with its own whole."""
    panels = []
    for sweep in published_sweeps(group.published):
        for of_host, kind in ((False, "kernels and copies"), (True, "API calls")):
            columns = [column for column in SWEEP if column.of_host == of_host]
            shares = []
            for row in sweep.rows.values():
                whole = sum(row[column.name] for column in columns) or 1.0
                shares.append({column.part: 100 * row[column.name] / whole for column in columns})
            panels.append(_Bars(f"published, {sweep.device}", f"{kind} of {sweep.source}: " + ", ".join(
                column.published for column in columns), tuple(sweep.rows), tuple(shares)))
    return panels


def _short(batch: int) -> str:
    """At most five characters."""
    return str(batch) if batch < 100000 else f"{batch / 1000:.0f}k"
