"""Counters as words: what the chart and the table write of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence

from convladder_charts.counted import CountedLadder, CountedRow, Figure, figures
from convladder_charts.units import NONE, PREFIXES, significant

SCALED = "≈ "


@dataclass(frozen=True)
class Scale:
    """In what all values of a figure in one ladder are written."""

    divisor: float
    words: str
    symbol: str


def notes(ladders: Sequence[CountedLadder]) -> list[str]:
    """What was counted, and what was inferred from it."""
    lines = ["These are not times. They count what the kernels' PTX did when it was executed on the CPU. "
             "ptxas makes machine code of it that can need fewer or more instructions. DRAM traffic comes from a "
             "model of the caches; its dashed line is the least that the layer needs: every input read and every "
             "output written, once."]
    scaled = [row for ladder in ladders for row in ladder.counted if any(one.is_scaled(row) for one in figures())]
    if scaled:
        lines.append("≈ scaled to the batch from the images that were executed: DRAM traffic wherever these were not "
                     "all, counters where two halves of these did not count the same. All other counters are exact.")
    on_gpu = next((row.on_gpu for ladder in ladders for row in ladder.rows if row.on_gpu), None)
    if on_gpu:
        lines.append(f"Registers are ptxas' for {on_gpu.resources_of}; occupancy follows from them for "
                     f"{on_gpu.title}.")
    return lines


def scale_of(figure: Figure, ladder: CountedLadder) -> Scale:
    """Totals in thousands, millions or billions, as the largest wants it; quotients as they are."""
    if figure.per:
        return Scale(1.0, figure.per, "")
    largest = max((figure.of(row) or 0.0 for row in ladder.counted), default=0.0)
    divisor, word, symbol = next((one for one in PREFIXES if largest >= one[0]), PREFIXES[-1])
    if figure.unit == "B":
        return Scale(divisor, f"{symbol}B", f"{symbol}B")
    return Scale(divisor, f"{word} {figure.unit}".strip(), symbol)


def label(figure: Figure, row: CountedRow, scale: Scale) -> str:
    """The figure as text, with the sign for what is not exact."""
    value = figure.of(row)
    if value is None:
        return NONE
    if figure.is_resource and value == int(value):
        return str(int(value))
    return (SCALED if figure.is_scaled(row) else "") + significant(value / scale.divisor)


def images_line(ladder: CountedLadder) -> str:
    """How much of the batch was executed."""
    executed = sorted({row.counters.images_executed for row in ladder.counted if row.counters})
    exact = all(row.counters.exact for row in ladder.counted if row.counters)
    images = "–".join(str(one) for one in dict.fromkeys((executed[0], executed[-1])))
    if executed[0] == ladder.batch:
        return "executed whole" if ladder.is_size else "all images executed"
    return f"{images} of {ladder.batch} images executed" + (", both halves counted the same" if exact else "")
