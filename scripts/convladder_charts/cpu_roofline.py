"""The measured roofline: each stage's rate under what the device reached in the same run, a column for each layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Sequence

from convladder_charts import summary as summaries
from convladder_charts.known_text import either, is_rough, number, share_bound, why_no_headline
from convladder_charts.ladder import drawn_ladders
from convladder_charts.log_plot import LogPlot, amount, ends
from convladder_charts.page import MARGIN, WIDTH, Foot, Heading, Page, device_name, notices, page_below
from convladder_charts.placing import Labels, Wanted
from convladder_charts.record import Ceilings, Group, Ladder, Record, Row
from convladder_charts.style import GUIDE, MUTED, PAPER, ROLES, text_inches
from convladder_charts.units import significant
from convladder_charts.words import is_rough as is_disturbed
from convladder_charts.words import place_of, sixth_words

_PEAK, _COPY, _STORE = "FMA peak", "copy", "streaming store"
_HEIGHT = 3.5
_LEFT = 0.62
_BELOW = 0.52
_LEGEND = 0.26
_MARKERS = {"baseline": "s", "sixth": "^", "best": "o", "library": "D", "": "o"}
_WORDS = {"baseline": "baseline", "sixth": "stage 6", "best": "best", "library": "fastest library",
          "": "other stages"}


@dataclass(frozen=True)
class _Column:
    """A layer at a batch. All its stages must move the same bytes at least, so they stand above each other."""

    ladder: Ladder
    intensity: float
    rates: tuple[tuple[Row, float], ...]
    """With GFLOP/s of the layer time."""

    @property
    def best(self) -> Optional[float]:
        """Of the best stage."""
        return next((rate for row, rate in self.rates if row.stage.name == self.ladder.summary.best), None)


def has_one(record: Record, group: Group, batch: Optional[int]) -> bool:
    """Whether the run measured ceilings of the device and something that stands under them."""
    ceilings = _ceilings(record, group)
    return bool(ceilings and ceilings.limit(_PEAK) and ceilings.limit(_COPY)) and bool(_columns(group, batch))


def draw(record: Record, group: Group, batch: Optional[int]) -> tuple[Page, str, str]:
    """The figure, its title and its description in words."""
    ceilings, columns = _ceilings(record, group), _columns(group, batch)
    assert ceilings is not None
    peak, copy = ceilings.limit(_PEAK) or 1.0, ceilings.limit(_COPY) or 1.0
    rows = [row for column in columns for row, _ in column.rates]
    above = any(row.roofline and rate > row.roofline.roof for column in columns for row, rate in column.rates)
    title = _title(columns, record, group)
    heading = Heading(title, [f"{device_name(group)}, {group.kind}: rates of layer times under the rates that the device "
                              "reached in the same run", *_alike(columns)], record.warnings, WIDTH)
    foot = Foot([f"ceilings: median of {ceilings.samples} samples taken between the cases",
                 "rates are effective: the operations of the definition over the time; a stage that makes fewer (Winograd, FFT) "
                 "is not bound by the peak that it comes near" + (
                     ", and can lie above the roof, as one whose data is in the caches" if above else ""),
                 *notices(record, group, rows, "intervals (not drawn):")], WIDTH)
    page, (top,) = page_below(heading, WIDTH, [_HEIGHT + _LEGEND + _BELOW], foot)
    ladders = [column.ladder for column in columns]
    roles = [role for role in _WORDS if any(column.ladder.summary.role(row.stage) == role and _is_role(column, row, role)
                                            for column in columns for row, _ in column.rates)]
    _legend(page, top + 0.08, sixth_words(ladders), roles)
    _plot(page, (MARGIN + _LEFT, top + _LEGEND, WIDTH - 2 * MARGIN - _LEFT - 0.1, _HEIGHT), columns, (peak, copy),
          record.of_sizes)
    return page, title, _in_words(columns, peak, copy)


def _ceilings(record: Record, group: Group) -> Optional[Ceilings]:
    return next((one for one in record.ceilings if (one.device, one.machine) == (group.device, group.machine)
                 and group.kind == "measured"), None)


def _columns(group: Group, batch: Optional[int]) -> list[_Column]:
    columns = []
    for ladder in drawn_ladders(group, batch):
        under = [(row, row.roofline) for row in ladder.timed if row.roofline]
        if under:
            columns.append(_Column(ladder, under[0][1].flop_per_byte, tuple((row, one.gflop_per_s) for row, one in under)))
    return columns


def _title(columns: Sequence[_Column], record: Record, group: Group) -> str:
    shares = [share for column in columns if (share := column.ladder.summary.best_percent_of_floor)]
    device = group.device.upper() if group.device == "cpu" else group.device
    if not shares:
        return f"Measured roofline of this {device}"
    if len(shares) < len(columns) or any(map(why_no_headline, shares)):
        return f"Measured roofline of this {device}"
    rough = any(one.low is None or is_rough(one) for one in shares) or any(is_disturbed(column.ladder) for column in columns)
    texts = [f"{number(one)}%" if rough else share_bound(one.low or 0.0) for one in shares]
    low, high = (pick(texts, key=lambda text: float(text.rstrip("%"))) for pick in (min, max))
    span = ("roughly " if rough else "at least ") + (low if low == high else f"{low.rstrip('%')}–{high}")
    where = place_of(columns[0].ladder, record) if len(columns) == 1 else (
        f"{len(columns)} {'sizes' if record.of_sizes else 'layers'}")
    return f"The best stage reaches {span} of this {device}'s roof: {where}"


def _alike(columns: Sequence[_Column]) -> list[str]:
    """Where the best stage is one of several that cannot be told apart."""
    found: dict[str, list[str]] = {}
    for column in columns:
        titles = {row.stage.name: row.stage.title for row in column.ladder.rows}
        level = [titles[name] for name in column.ladder.summary.overlaps if name in titles]
        if level:
            best = titles.get(column.ladder.summary.best or "", "the best stage")
            found.setdefault(f"{best} cannot be told from {either(level)}", []).append(column.ladder.layer_name)
    return [said if len(layers) == len(columns) else f"{', '.join(layers)}: {said}" for said, layers in found.items()]


def _is_role(column: _Column, row: Row, role: str) -> bool:
    """Of several libraries only the fastest has the role's mark."""
    return role != "library" or row.stage.name == column.ladder.summary.library


def _plot(page: Page, frame: tuple[float, float, float, float], columns: Sequence[_Column],
          limits: tuple[float, float], of_sizes: bool) -> None:
    peak, copy = limits
    rates = [rate for column in columns for _, rate in column.rates]
    plot = LogPlot(page, frame, ends([peak / copy, *(column.intensity for column in columns)], 4, 12),
                   ends([*rates, peak], 1.8, 2.0))
    plot.axes.set_xlabel("operations for each byte that has to be read or written once", fontsize=8, color=MUTED)
    plot.axes.set_ylabel("GFLOP/s, effective, measured", fontsize=8)
    left, top, width, height = frame
    labels = Labels((left, top, left + width, top + height))
    bend = peak / copy
    level, memory = plot.level(peak, bend), plot.slope(copy, peak)
    heaviest = max(columns, key=lambda column: column.ladder.floor.flop if column.ladder.floor else 0.0)
    points, layers = [], []
    for column in columns:
        points += _points(plot, labels, column, column is heaviest)
        name = column.ladder.layer if of_sizes else column.ladder.layer_name
        low = min(rate for _, rate in column.rates)
        layers.append(Wanted(*plot.at(column.intensity, low), name, 8.0, "normal", MUTED))
    slope = (max(plot.x[0], plot.y[0] / copy) * min(bend, plot.x[1])) ** 0.5
    labels.along(page, level, f"FMA peak {amount(peak, 'FLOP/s')}", 8.0)
    for line in (level, memory):
        if line:
            labels.line(*line)
    copying = Wanted(*plot.at(slope, slope * copy), f"copy {amount(copy, 'B/s')}", 8.0)
    labels.write(page, [*sorted(points, key=lambda one: one.weight != "bold"), copying, *layers])


def _points(plot: LogPlot, labels: Labels, column: _Column, is_heaviest: bool) -> list[Wanted]:
    """Draws a layer's stages; the labels of those that have one."""
    summary = column.ladder.summary
    named = {stage: role for role, stage in summaries.named([row.stage for row, _ in column.rates], summary).items()}
    low, high = min(rate for _, rate in column.rates), max(rate for _, rate in column.rates)
    plot.axes.plot([column.intensity] * 2, [low, high], color=GUIDE, linewidth=0.8, zorder=1.6)
    labels.line(plot.at(column.intensity, low), plot.at(column.intensity, high))
    wanted = []
    for row, rate in sorted(column.rates, key=lambda one: one[0].stage in named):
        role = named.get(row.stage, "")
        plot.axes.plot([column.intensity], [rate], marker=_MARKERS[role], color=ROLES[role],
                       markersize=7 if role else 4, markeredgecolor=PAPER, markeredgewidth=0.6, linestyle="none",
                       zorder=3 if role else 2)
        place = plot.at(column.intensity, rate)
        labels.point(*place, 0.05 if role else 0.035)
        if role == "best" or role and is_heaviest:
            sign = f"{row.sign} " if row.sign else ""
            wanted.append(Wanted(*place, f"{sign}{row.stage.title}, {significant(rate)}", 8.0,
                                 "bold" if role == "best" else "normal", furthest=1.2 if role == "best" else 0.4))
    return wanted


def _legend(page: Page, middle: float, sixth: str, roles: Sequence[str]) -> None:
    left, words = MARGIN + _LEFT, _WORDS | {"sixth": sixth}
    for role in roles:
        page.line([(left + 0.06, middle)], marker=_MARKERS[role], markersize=6 if role else 4, color=ROLES[role],
                  linestyle="none")
        page.text(left + 0.16, middle, words[role], fontsize=8, color=MUTED)
        left += 0.34 + text_inches(words[role], 8)


def _in_words(columns: Sequence[_Column], peak: float, copy: float) -> str:
    """The chart for those who cannot see it."""
    sentences = [f"Ceilings, measured: FMA peak {amount(peak, 'FLOP/s')}, copy {amount(copy, 'B/s')}."]
    for column in columns:
        rates = "; ".join(f"{row.stage.label} {significant(rate)} GFLOP/s" for row, rate in column.rates)
        sentences.append(f"{place_of(column.ladder)}, {significant(column.intensity)} operations a byte: {rates}.")
    return " ".join(sentences)
