"""The predicted roofline of a GPU: for the layer with the most work a plot for each memory level, few stages named."""

from __future__ import annotations

from typing import Optional, Sequence

from convladder_charts import summary as summaries
from convladder_charts.log_plot import LogPlot, amount, ends
from convladder_charts.page import MARGIN, WIDTH, Foot, Heading, Page, page_below
from convladder_charts.placing import Labels, Wanted
from convladder_charts.predicted import LEVELS, PredictedGroup, PredictedLadder, PredictedRow, heaviest
from convladder_charts.predicted_text import time_text
from convladder_charts.record import Record
from convladder_charts.stage import Stage
from convladder_charts.style import INK, MUTED, PAPER, ROLES, text_inches
from convladder_charts.units import percent, significant
from convladder_charts.words import other_layers, place_of, sixth_words

_HEIGHT = 2.05
_TOP = 0.28
_BOTTOM = 0.54
_LEFT = 0.5
_GAP = 0.42
_LEGEND = 0.3
_TERA = 1000.0
_MARKERS = {"baseline": "s", "sixth": "^", "best": "o", "": "o"}
_WORDS = {"baseline": "baseline", "sixth": "stage 6", "best": "best", "": "other stages"}
TENSOR = (("tensor_tf32_gflop_per_s", "tf32"), ("tensor_half_gflop_per_s", "half"))
"""Ceilings of records that have them, of GPUs that have tensor cores."""


def draw(record: Record, group: PredictedGroup, batch: Optional[int]) -> tuple[Page, str, str]:
    """The figure, its title and its description in words."""
    ladders = group.chosen(batch)
    ladder = heaviest(ladders)
    gpu = group.drawn_gpu
    gpu_title = dict(group.gpus)[gpu].removeprefix("NVIDIA ")
    title = _title(ladder, gpu, gpu_title)
    heading = Heading(title, [f"PREDICTED for {place_of(ladder, record)}"], record.warnings,
                      WIDTH)
    others = [one.layer_name for one in ladders if one is not ladder]
    foot = Foot([f"{ladder.layer_name}: {ladder.shape}",
                 "a bar: from the pessimistic rate to the optimistic one; bytes are counted, of L2 and DRAM modelled; "
                 "lines: the peaks at the highest clock, dashed those of the tensor cores; a bar above a line assumes that "
                 "ptxas merges loads or that data is in the L2 already",
                 "a stage that moves nothing through a level is not in its plot",
                 other_layers(others, group.more_layers), group.hardware,
                 f"commit {record.commit}"], WIDTH)
    page, tops = page_below(heading, WIDTH, [_LEGEND, *[_TOP + _HEIGHT + _BOTTOM] * 2], foot)
    roles = _roles(ladder, gpu)
    _legend(page, tops[0] + 0.08, sixth_words([ladder]), [role for role in _WORDS if not role or role in roles.values()])
    width = (WIDTH - 2 * MARGIN - 2 * _LEFT + 0.05) / 2
    span = _span(ladder, gpu)
    for index, (level, words, origin) in enumerate(LEVELS):
        left, top = MARGIN + _LEFT + index % 2 * (width + _GAP), tops[1 + index // 2]
        page.text(left, top + 0.12, f"{words}, {origin}", fontsize=8.6, weight="bold")
        _plot(page, (left, top + _TOP, width, _HEIGHT), (ladder, gpu, level), span, roles)
    return page, title, _in_words(ladders, gpu, gpu_title)


def _roles(ladder: PredictedLadder, gpu: str) -> dict[Stage, str]:
    """The few that are named."""
    named = summaries.named([row.stage for row in ladder.rows], ladder.summary)
    return {stage: role for role, stage in named.items()}


def _title(ladder: PredictedLadder, gpu: str, gpu_title: str) -> str:
    best = next((row for row in ladder.rows if row.stage.name == ladder.summary.best), None)
    rates, ceilings = best.rates(gpu) if best else None, _ceilings(ladder, gpu)
    peak = ceilings.get("fp32_gflop_per_s")
    if best is None or rates is None or not peak:
        return f"PREDICTED roofline of {gpu_title}"
    low, high = (percent(100 * rate / peak) for rate in rates)
    return f"PREDICTED: {best.stage.title} reaches {low.rstrip('%')}–{high} of the fp32 peak of {gpu_title}"


def _ceilings(ladder: PredictedLadder, gpu: str) -> dict[str, float]:
    return next((dict(one.ceilings) for row in ladder.rows if (one := row.on(gpu))), {})


def _span(ladder: PredictedLadder, gpu: str) -> tuple[tuple[float, float], tuple[float, float]]:
    """Of both axes, the same in all plots."""
    ceilings = _ceilings(ladder, gpu)
    peaks = [ceilings.get("fp32_gflop_per_s", 1.0), *(ceilings[name] for name, _ in TENSOR if name in ceilings)]
    rates = [rate for row in ladder.rows for rate in row.rates(gpu) or ()]
    xs = [x for row in ladder.rows for level, _, _ in LEVELS if (x := row.intensity(level)) and row.rates(gpu)]
    bends = [peaks[0] / ceilings[f"{level}_gb_per_s"] for level, _, _ in LEVELS if f"{level}_gb_per_s" in ceilings]
    return ends([*xs, *bends], 3, 4), ends([*rates, *(peaks if rates else [max(peaks) / 100, max(peaks)])], 2, 3)


def _plot(page: Page, frame: tuple[float, float, float, float], of: tuple[PredictedLadder, str, str],
          span: tuple[tuple[float, float], tuple[float, float]], roles: dict[Stage, str]) -> None:
    ladder, gpu, level = of
    plot = LogPlot(page, frame, span[0], (span[1][0] / _TERA, span[1][1] / _TERA))
    plot.axes.set_xlabel("operations for each byte", fontsize=8, color=MUTED, labelpad=2)
    if level in (LEVELS[0][0], LEVELS[2][0]):
        plot.axes.set_ylabel("TFLOP/s, predicted", fontsize=8)
    left, top, width, height = frame
    labels = Labels((left, top, left + width, top + height))
    points = [(row, x, low / _TERA, high / _TERA) for row in ladder.rows if (x := row.intensity(level))
              for low, high in [row.rates(gpu) or (0.0, 0.0)] if low]
    wanted = []
    for row, x, low, high in sorted(points, key=lambda one: one[0].stage in roles):
        role = roles.get(row.stage, "")
        middle = (low * high) ** 0.5
        plot.axes.plot([x, x], [low, high], color=ROLES[role], linewidth=1.8 if role else 0.7, zorder=2.5 if role else 2,
                       solid_capstyle="butt")
        plot.axes.plot([x], [middle], marker=_MARKERS[role], markersize=6 if role else 3, color=ROLES[role],
                       markeredgecolor=PAPER, markeredgewidth=0.5, linestyle="none", zorder=3 if role else 2.2)
        labels.point(*plot.at(x, middle), 0.05 if role else 0.025)
        labels.line(plot.at(x, low), plot.at(x, high), 20)
        if role:
            wanted.append(Wanted(*plot.at(x, middle), row.stage.label.split("  ")[0], 8.0, "bold", ROLES[role]))
    roofs = _roofs(page, plot, labels, _ceilings(ladder, gpu), level)
    if not points:
        page.text(left + width / 2, top + height * 0.62, "no stage moves anything here", fontsize=8, ha="center",
                  style="italic", color=MUTED)
    labels.write(page, [*wanted, *roofs])


def _roofs(page: Page, plot: LogPlot, labels: Labels, ceilings: dict[str, float], level: str) -> list[Wanted]:
    """Draws and names them; what is to be written beside the slope."""
    peak, rate = ceilings.get("fp32_gflop_per_s"), ceilings.get(f"{level}_gb_per_s")
    if not peak or not rate:
        return []
    levels = [(peak, "fp32", "solid")] + [(ceilings[name], words, (0, (4, 2))) for name, words in TENSOR if name in ceilings]
    lines = [(plot.level(value / _TERA, value / rate, dash=dash), f"{words} {amount(value, 'FLOP/s')}")
             for value, words, dash in levels]
    for line, words in lines:
        labels.along(page, line, words, 7)
    for line, _ in lines:
        labels.line(*line)
    slope = plot.slope(rate / _TERA, max(value for value, _, _ in levels) / _TERA)
    if not slope:
        return []
    labels.line(*slope)
    return [Wanted((slope[0][0] + slope[1][0]) / 2, (slope[0][1] + slope[1][1]) / 2, amount(rate, "B/s"), 7)]


def _legend(page: Page, middle: float, sixth: str, roles: Sequence[str]) -> None:
    left, words = MARGIN, _WORDS | {"sixth": sixth}
    for role in roles:
        page.line([(left + 0.06, middle)], marker=_MARKERS[role], markersize=6 if role else 3.5, color=ROLES[role],
                  linestyle="none")
        page.text(left + 0.16, middle, words[role], fontsize=8, color=MUTED)
        left += 0.34 + text_inches(words[role], 8)


def _in_words(ladders: Sequence[PredictedLadder], gpu: str, title: str) -> str:
    """The chart for those who cannot see it."""
    sentences = []
    for ladder in ladders:
        rows = "; ".join(_row_in_words(row, gpu) for row in ladder.rows)
        sentences.append(f"{ladder.layer_name} at batch {ladder.batch} on {title}, predicted: {rows}.")
    return " ".join(sentences)


def _row_in_words(row: PredictedRow, gpu: str) -> str:
    rates = row.rates(gpu)
    if rates is None:
        return f"{row.stage.label}, {time_text(row.on(gpu))}"
    words = [f"{significant(rates[0])} to {significant(rates[1])} GFLOP/s"]
    for level, name, _ in LEVELS:
        intensity = row.intensity(level)
        if intensity:
            words.append(f"{significant(intensity)} operations a byte of {name}")
    return f"{row.stage.label}, {', '.join(words)}"
