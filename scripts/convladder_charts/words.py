"""Titles that say what came out, built from what the record holds."""

from __future__ import annotations

from typing import Optional, Sequence, Union

from convladder_charts.predicted import PredictedLadder
from convladder_charts.record import Group, Ladder, Record
from convladder_charts.units import percent, significant

_HUGE = 1e5
_EVEN = 0.05
"""A library this near is as fast."""


def factor(value: float) -> str:
    """Two digits are enough for a title: 48×, 2.1×."""
    if value >= _HUGE:
        return f"{value:.0e}×"
    return f"{value:.0f}×" if value >= 9.95 else f"{significant(value, 2)}×"


def outcome(ladder: Ladder) -> str:
    """How far the best stage of a ladder is from the baseline and from the library; empty where nothing is known."""
    summary = ladder.summary
    parts = []
    if summary.best and summary.best == summary.baseline:
        parts.append("no stage is faster than the baseline")
    elif summary.best_x_baseline:
        parts.append(f"{factor(summary.best_x_baseline)} over the baseline")
    name = library_name([ladder])
    if summary.best_percent_of_library and name:
        parts.append(_against(summary.best_percent_of_library / 100, name))
    return ", ".join(parts)


def outcome_of(ladders: Sequence[Ladder]) -> str:
    """The same of several, as ranges."""
    if len(ladders) == 1:
        return outcome(ladders[0])
    if all(one.summary.best and one.summary.best == one.summary.baseline for one in ladders):
        return "no stage is faster than the baseline"
    over = [one.summary.best_x_baseline for one in ladders if one.summary.best_x_baseline]
    shares = [one.summary.best_percent_of_library / 100 for one in ladders if one.summary.best_percent_of_library]
    parts = [f"{_range(over)} over the baseline"] if over else []
    name = library_name(ladders)
    if shares and name:
        how = "over" if min(shares) > 1 + _EVEN else "the speed of"
        parts.append(f"{_range(shares)} {how} {name}")
    return ", ".join(parts)


def title(record: Record, group: Group, ladders: Sequence[Ladder], what: str = "ladder") -> str:
    """A sentence: what came out, of what, on which device."""
    device = group.device.upper() if group.device in ("cpu", "cuda") else group.device
    kind = "" if group.kind == "measured" else f"{group.kind.upper()}: "
    said = outcome_of(ladders)
    where = place_of(ladders[0], record) if len(ladders) == 1 else (
        f"{record.work} on {len(ladders)} {'sizes' if record.of_sizes else 'layers'}")
    if not said:
        return f"{kind}{device} {what}: {where}"
    return f"{kind}{said[0].upper()}{said[1:]}: {where}, {device}"


def place_of(ladder: Union[Ladder, PredictedLadder], record: Optional[Record] = None) -> str:
    """Layer and batch; of a size of a problem, which has no batch, the size."""
    if record is not None and record.of_sizes and ladder.batch == 1:
        return ladder.layer_name
    return f"{ladder.layer_name}, batch {ladder.batch}"


def other_layers(names: Sequence[str], more: int) -> str:
    """Where the layers are that a picture does not show; empty where there are none."""
    listed = ", ".join(names) + (f" and {more} more" if more else "")
    return f"{listed}: table.md, or --layer" if names else ""


def library_name(ladders: Sequence[Ladder]) -> str:
    """The library's name without its layout: what all ladders are compared with, or "the library"."""
    names = {row.stage.title.split(",")[0] for ladder in ladders for row in ladder.rows
             if ladder.summary.library and row.stage.is_library and row.stage.name == ladder.summary.library}
    return names.pop() if len(names) == 1 else "the library" if names else ""


def _against(share: float, name: str) -> str:
    if abs(share - 1) <= _EVEN:
        return f"as fast as {name}"
    return f"{factor(share)} over {name}" if share > 1 else f"{percent(100 * share)} of {name}'s speed"


def _range(values: Sequence[float]) -> str:
    low, high = factor(min(values)), factor(max(values))
    return low if low == high else f"{low.rstrip('×')}–{high}"
