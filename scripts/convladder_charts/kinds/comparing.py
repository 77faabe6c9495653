"""Comparisons and histories as tables."""

from __future__ import annotations

from typing import Sequence

from convladder_charts.comparison import Change, Comparison, percent
from convladder_charts.history_record import History
from convladder_charts.table_text import Table
from convladder_charts.units import NONE, duration, significant


def table(one: Comparison) -> Table:
    """Every case with its verdict and its change."""
    def cells(change: Change) -> Sequence[str]:
        bounds = change.bounds
        return ("", "") if bounds is None else (percent(bounds.estimate),
                                                f"{percent(bounds.low)} to {percent(bounds.high)}")
    return Table("Cases", ("case", "verdict", "why", "change", "bounds"), tuple(
        (change.id, change.verdict, change.reason or NONE, *(cell or NONE for cell in cells(change)))
        for change in one.changes), 3, place="$.cases[…]", row_places=tuple(change.place for change in one.changes))


def history_table(record: History) -> Table:
    """Every series."""
    rows = []
    for series in record.series:
        last = series.points[-1]
        marked = max(series.changes, key=lambda change: abs(change.change), default=None)
        rows.append((f"{series.name}, {series.layer}, batch {series.batch}, {series.device}", str(len(series.points)),
                     duration(last.median), NONE if last.ratio is None else f"{significant(last.ratio)}×",
                     f"{100 * marked.change:+.1f} %, since {record.runs[marked.run].commit}" if marked else NONE,
                     series.not_judged or NONE))
    return Table("Series: measured medians; the ratio is to the anchor in the same rounds",
                 ("case", "runs", "latest", "of anchor", "greatest change", "not judged"), tuple(rows), 1,
                 place="$.series", row_places=tuple(f"$.series[{at}]" for at in range(len(record.series))))
