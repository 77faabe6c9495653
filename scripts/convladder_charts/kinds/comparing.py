"""Comparisons and histories as tables."""

from __future__ import annotations

from typing import Optional, Sequence

from convladder_charts.comparison import LOOKS, Change, Comparison, percent
from convladder_charts.history_record import History
from convladder_charts.kinds.row_chart import MOST, Mark, Panel, RowChart
from convladder_charts.table_text import Table
from convladder_charts.units import NONE, duration, significant


_LEAST, _MOST = -80.0, 150.0
"""Ends of the axis in percent, beyond which a row's text alone says where it is."""
_MARKS = {"regressed": "bad", "improved": "best", "pass": "base"}


def chart(one: Comparison, title: str, lines: Sequence[str]) -> Optional[RowChart]:
    """The changes of time, the worst verdicts and then the largest changes first; in groups that were measured side by
    side."""
    order = list(LOOKS)
    shown = sorted(one.bounded, key=lambda change: (order.index(change.verdict), -abs(_estimate(change))))[:MOST]
    if not shown:
        return None
    ends = [value for change in shown if change.bounds
            for value in (100 * change.bounds.low, 100 * change.bounds.high)]
    edge = 160 * one.limits.delta
    least, most = max(min([*ends, -edge]), _LEAST), min(max([*ends, edge]), _MOST)
    room = 0.05 * (most - least)
    groups: dict[tuple[str, str, str], list[Change]] = {}
    for change in shown:
        groups.setdefault((change.layer, change.batch, change.device), []).append(change)
    panels = tuple(Panel(
        f"{layer}, batch {batch}" if batch != "1" else layer, device,
        tuple(_row(change, least, most) for change in changes),
        _axis(changes[0]), lambda value: f"{value:+g} %" if value else "0", guides=_guides(changes[0], one.limits.delta), ends=(least - room, most + room))
        for (layer, batch, device), changes in groups.items())
    more = len(one.bounded) - len(shown)
    beyond = "; at an end of the axis they go further" if min(ends) < least or max(ends) > most else ""
    told = (f"lines: bounds, wrong in at most {100 * one.limits.alpha:g} % of cases each{beyond}",
            f"{more} more changes are in the table" if more else "")
    return RowChart(title, tuple(filter(None, (*told, *lines))), (), panels)


def _axis(change: Change) -> str:
    what = "of time " if change.unit == "ns" else ""
    return f"change {what}(%), measured; " + ("worse to the left" if change.higher_is_better else
                                              "slower to the right" if what else "worse to the right")


def _guides(change: Change, delta: float) -> tuple[tuple[float, str], ...]:
    """No change, and the one that costs Delta more."""
    limit = 1 / (1 + delta) - 1 if change.higher_is_better else delta
    return ((0.0, "0"), (100 * limit, percent(limit)))


def _estimate(change: Change) -> float:
    return change.bounds.estimate if change.bounds else 0.0


def _row(change: Change, least: float, most: float) -> Mark:
    def inside(part: float) -> float:
        return min(max(100 * part, least), most)
    bounds = change.bounds
    assert bounds is not None
    return Mark(change.stage.title + (" (control)" if change.control else ""), inside(bounds.estimate),
                inside(bounds.low), inside(bounds.high), f"{percent(bounds.estimate)}, {change.look.sign} {change.verdict}",
                _MARKS.get(change.verdict, "plain"))


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
