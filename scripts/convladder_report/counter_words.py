"""What a stage changed in a counter, in words."""

from __future__ import annotations

from convladder_charts.counted import CountedRow, Figure
from convladder_charts.counted_text import SCALED
from convladder_charts.units import NONE, count, ratio, significant


def figure_text(each: Figure, below: CountedRow, row: CountedRow) -> str:
    """What a stage changed in one quantity, for a table."""
    old, new = each.of(below), each.of(row)
    if old is None or new is None:
        return NONE
    return "unchanged" if old == new else _from_to(each, below, row)


def _by_how_much(old: float, new: float) -> str:
    """ "to 95 %", or "9.9x" from twice as much on."""
    return ratio(new / old) if new >= 2 * old else f"to {100 * new / old:.3g} %"


def _from_to(each: Figure, below: CountedRow, row: CountedRow) -> str:
    """From a value to a value, and by which factor where there is one."""
    old, new = each.of(below) or 0.0, each.of(row) or 0.0
    about = SCALED if each.is_scaled(below) or each.is_scaled(row) else ""
    text = significant if each.per else count
    unit = "B" if each.unit == "B" else ""
    factor = f" ({_by_how_much(old, new)})" if min(old, new) > 0 else ""
    return f"from {about}{text(old)}{unit} to {about}{text(new)}{unit}{factor}"
