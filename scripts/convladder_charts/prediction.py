"""Predicted times: the stages of the layer with the most work, a range on each of three GPUs, on one logarithmic axis."""

from __future__ import annotations

from math import log
from typing import Optional, Sequence

from convladder_charts import summary as summaries
from convladder_charts.labels import thinned
from convladder_charts.page import MARGIN, WIDTH, Foot, Heading, Page, page_below, rule
from convladder_charts.predicted import OnGpu, PredictedGroup, PredictedLadder, PredictedRow, heaviest
from convladder_charts.predicted_text import span_text, time_text
from convladder_charts.record import Record
from convladder_charts.style import FAINT, INK, MUTED, fitted, text_inches
from convladder_charts.units import log_ticks, round_duration
from convladder_charts.words import other_layers, place_of

_ROW = 0.34
_HEAD = 0.52
_BOTTOM = 0.5
_SIZE = 8.6
_SMALL = 7.4
_LONGEST_NAME = 1.95
_TEXTS = 1.28
_MOST_GPUS = 3
_COLOURS = ("#0b66a8", "#b4490f", "#6b737d")
"""Of the newest GPU, of the one between, and of the oldest."""
_SHORT = {"fp32 pipe": "fp32", "tensor cores": "tensor", "integer pipe": "integer", "load/store unit": "load/store",
          "L2 bandwidth": "L2", "DRAM bandwidth": "DRAM"}

Gpus = Sequence[tuple[str, str, str]]
"""Name, title and colour."""


def draw(record: Record, group: PredictedGroup, batch: Optional[int]) -> tuple[Page, str, str]:
    """The figure, its title and its description in words."""
    ladders = group.chosen(batch)
    ladder = heaviest(ladders)
    gpus, others = drawn_gpus(group, ladder)
    newest = gpus[0][0]
    summary = ladder.summary
    choice = summaries.chosen([row.stage for row in ladder.rows if any(one.has_time for one in row.gpus)] or
                              [row.stage for row in ladder.rows], summary, _gains(ladder, newest), more=ladder.more_stages)
    rows = [row for row in ladder.rows if row.stage in choice.stages]
    title = _title(ladder, rows, group, gpus)
    heading = Heading(title, [f"PREDICTED op times, not measured: {place_of(ladder, record)}",
                              "a bar: from the optimistic to the pessimistic reading of the counters"], record.warnings,
                      WIDTH)
    nowhere = [title.removeprefix("NVIDIA ").split(" (")[0] for name, title in group.gpus
               if not any((one := row.on(name)) and one.has_time for row in ladder.rows)]
    rest = [one.layer_name for one in ladders if one is not ladder]
    foot = Foot([f"{ladder.layer_name}: {ladder.shape}", choice.notice,
                 f"also in table.md: {', '.join(others)}" if others else "",
                 f"no kernel can be launched on {', '.join(nowhere)}" if nowhere else "",
                 other_layers(rest, group.more_layers),
                 "from the counters of the PTX, by the slowest of issue, pipes, load/store unit, L2, DRAM and latency",
                 f"counted by {group.hardware}", f"commit {record.commit}", f"data: {record.data}"], WIDTH)
    page, (top,) = page_below(heading, WIDTH, [_HEAD + len(rows) * _ROW + _BOTTOM], foot)
    _Panel(page, top + _HEAD, rows, gpus, summary.best).draw()
    return page, title, _in_words(ladders)


def drawn_gpus(group: PredictedGroup, ladder: PredictedLadder) -> tuple[list[tuple[str, str, str]], list[str]]:
    """The newest on which something runs, the oldest, and the middle one; titles of the others. The asked one is there."""
    timed = {one.gpu for row in ladder.rows for one in row.gpus if one.has_time}
    known = [(name, title.removeprefix("NVIDIA ").split(" (")[0]) for name, title in group.gpus if name in timed] or [
        (name, title.removeprefix("NVIDIA ").split(" (")[0]) for name, title in group.gpus]
    by_age = known[::-1]  # a record holds the oldest first
    asked = next((one for one in by_age if one[0] == group.gpu), by_age[0])
    older = [one for one in by_age[by_age.index(asked) + 1:]]
    chosen = [asked, *([older[len(older) // 2 - 1]] if len(older) > 2 else older[:-1][:1]), *older[-1:]]
    chosen = list(dict.fromkeys(chosen))[:_MOST_GPUS]
    colours = _COLOURS if len(chosen) == _MOST_GPUS else (_COLOURS[0], _COLOURS[2])
    return ([(*one, colour) for one, colour in zip(chosen, colours)], [title for name, title in known
                                                                      if (name, title) not in chosen])


def _gains(ladder: PredictedLadder, gpu: str) -> dict[str, Optional[float]]:
    """Of each step, by the middles of the ranges: which steps are drawn of a long ladder, and no figure."""
    middles = {row.stage.name: row.middle(gpu) for row in ladder.rows}
    gains = {}
    for row in ladder.rows:
        old, new = middles.get(row.stage.builds_on), middles.get(row.stage.name)
        gains[row.stage.name] = old / new if old and new else None
    return gains


def _title(ladder: PredictedLadder, rows: Sequence[PredictedRow], group: PredictedGroup, gpus: Gpus) -> str:
    summary = ladder.summary
    gpu = summary.gpu or group.drawn_gpu
    best = next((row for row in rows if row.stage.name == summary.best), None)
    one = best.on(gpu) if best else None
    if best is None or one is None or not one.has_time:
        return f"PREDICTED times on {', '.join(title for _, title, _ in gpus)}"
    title = one.title.removeprefix("NVIDIA ")
    others = [row for row in rows if row is not best and (other := row.on(gpu)) and other.has_time
              and other.low <= one.high and one.low <= other.high]
    if others:
        return f"PREDICTED on {title}: the ranges of {len(others) + 1} stages overlap, {best.stage.title}'s is the lowest"
    return f"PREDICTED: {best.stage.title} is the fastest on {title}, {span_text(one.low, one.high)}"


class _Panel:
    """The stages below each other, in each row a bar for each GPU."""

    def __init__(self, page: Page, top: float, rows: Sequence[PredictedRow], gpus: Gpus, best: Optional[str]) -> None:
        self.page, self.top, self.rows, self.gpus, self.best = page, top, rows, gpus, best
        names = [text_inches(row.stage.label, _SIZE, "bold") for row in rows]
        self.left = MARGIN + min(max(names, default=1.0), _LONGEST_NAME) + 0.14
        self.right = WIDTH - MARGIN - _TEXTS
        times = [time for row in rows for name, _, _ in gpus if (one := row.on(name)) and one.has_time
                 for time in (one.low, one.high) if time]
        self.low, self.high = (min(times) / 1.25, max(times) * 1.25) if times else (1.0, 10.0)

    def draw(self) -> None:
        """Legend, stages, ranges, and at the right those of the first GPU as text."""
        page, left = self.page, MARGIN
        for _, title, colour in self.gpus:
            page.line([(left, self.top - 0.38), (left + 0.22, self.top - 0.38)], color=colour, linewidth=4,
                      solid_capstyle="butt")
            page.text(left + 0.28, self.top - 0.38, title, fontsize=_SIZE)
            left += 0.5 + text_inches(title, _SIZE)
        page.text(WIDTH - MARGIN, self.top - 0.12, fitted(f"on {self.gpus[0][1]}, bound by", _SMALL, _TEXTS + 0.4),
                  fontsize=_SMALL, color=MUTED, ha="right")
        rule(page, MARGIN, WIDTH - MARGIN, self.top - 0.03)
        axes = page.axes(self.left, self.top, self.right - self.left, len(self.rows) * _ROW)
        axes.set_xscale("log")
        axes.set_xlim(self.low, self.high)
        axes.set_ylim(len(self.rows), 0)
        axes.set_yticks([])
        axes.minorticks_off()
        axes.grid(True, axis="x")
        axes.spines["bottom"].set_color(FAINT)
        axes.spines["left"].set_visible(False)
        ticks = log_ticks(self.low, self.high)
        labels = [round_duration(tick) for tick in ticks]
        scale = (self.right - self.left) / log(self.high / self.low)
        kept = thinned([log(tick / self.low) * scale for tick in ticks], [text_inches(text, 8) for text in labels], 0.1)
        axes.set_xticks([ticks[index] for index in kept], [labels[index] for index in kept])
        axes.tick_params(axis="x", length=2.5)
        axes.set_xlabel("predicted, logarithmic", fontsize=7, labelpad=1, loc="right")
        step = 0.78 / len(self.gpus)
        for index, row in enumerate(self.rows):
            self._row(row, self.top + (index + 0.5) * _ROW)
            for number, (gpu, _, colour) in enumerate(self.gpus):
                one = row.on(gpu)
                if one is not None and one.has_time:
                    axes.barh(index + 0.11 + (number + 0.5) * step, (one.high or 0) - (one.low or 0), step * 0.8,
                              left=one.low, facecolor=colour)

    def _row(self, row: PredictedRow, middle: float) -> None:
        weight = "bold" if row.stage.name == self.best else "normal"
        self.page.text(MARGIN, middle, fitted(row.stage.label, _SIZE, self.left - MARGIN - 0.08, weight), fontsize=_SIZE,
                       weight=weight)
        one = row.on(self.gpus[0][0])
        end, room = WIDTH - MARGIN, _TEXTS - 0.08
        if one is None or not one.has_time:
            self.page.text(end, middle, fitted(time_text(one), _SMALL, room), fontsize=_SMALL, color=MUTED, style="italic",
                           ha="right")
            return
        self.page.text(end, middle - 0.075, fitted(time_text(one), _SMALL, room, "bold"), fontsize=_SMALL, weight="bold",
                       ha="right", color=INK)
        self.page.text(end, middle + 0.075, fitted(_binding(one), 7, room), fontsize=7, color=MUTED, ha="right")


def _binding(one: OnGpu) -> str:
    low, high = (_SHORT.get(name, name) for name in (one.binding_low, one.binding_high))
    return low if low == high else f"{low} – {high}"


def _in_words(ladders: Sequence[PredictedLadder]) -> str:
    """The chart for those who cannot see it."""
    return " ".join(f"{ladder.layer_name} at batch {ladder.batch}, predicted: "
                    f"{'; '.join(map(_row_in_words, ladder.rows))}." for ladder in ladders)


def _row_in_words(row: PredictedRow) -> str:
    return row.stage.label + ", " + ", ".join(
        f"{one.title} {time_text(one)}" + (f" by {one.binding}" if one.has_time else "") for one in row.gpus)
