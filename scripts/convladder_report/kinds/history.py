"""A history (`convladder history --format json`) in a report."""

from __future__ import annotations

from typing import Iterator

from convladder_charts import history as chart
from convladder_charts.history_record import History, Series, read
from convladder_charts.kinds.comparing import history_table
from convladder_charts.kinds.members import is_kind, several
from convladder_charts.page import Page
from convladder_charts.table_text import Table
from convladder_report.document import Answer, Front, Paragraph, Section, TableBlock
from convladder_report.figures import figure
from convladder_report.kind import Input, Kind
from convladder_report.kinds import shared

MOST_FIGURES = 12
"""Figures on a page, those with marked changes first; the tables have all series."""
Group = tuple[chart.Key, list[Series]]


def answers(record: History) -> list[Answer]:
    """What changed, and since when."""
    runs = record.runs
    marked = [(series, change) for series in record.series for change in series.changes]
    span = f"{several(len(runs), 'run')} from {runs[0].date[:10]} to {runs[-1].date[:10]}" if runs else "no runs"
    said = (f"{several(len(marked), 'change')} marked" if marked else
            "no change is marked" if record.judged else
            "nothing is judged: too few runs that can be compared with each other")
    told = [Answer("", f"Over {span}, {said}.", "$.series[…].changes")]
    for series, change in sorted(marked, key=lambda each: -abs(each[1].change)):
        run = runs[change.run]
        told.append(Answer("", f"{series.name} on {series.layer}, batch {series.batch} ({series.device}): "
                           f"{100 * change.change:+.1f} % time since commit {run.commit} of {run.date[:10]}, beside its "
                           "anchor.", "$.series[…].changes"))
    return told


def _groups(record: History) -> list[Group]:
    """Those with a marked change first, then those of the most runs."""
    def place(one: Group) -> tuple[bool, int]:
        return not any(series.changes for series in one[1]), -max(len(series.points) for series in one[1])
    return sorted(chart.groups(record).items(), key=place)


def _drawn(record: History, group: Group, _: object) -> tuple[Page, str, str]:
    return chart.draw(record, *group)


def _front(one: Input, prefix: str) -> Front:
    record: History = one.record
    hosts = ", ".join(dict.fromkeys(" on ".join(filter(None, (each.hardware, each.host))) for each in record.series))
    hero = figure(_drawn, record, _groups(record)[0], f"{prefix}-hero", one.source, "$.series", ())
    return shared.front("Many runs, over time", "What changed, and since when?", answers(record), hosts, hero)


def _chapters(one: Input, prefix: str) -> Iterator[Section]:
    record: History = one.record
    yield Section(f"{prefix}-series", "All series", (
        *([Paragraph(f"{several(record.unreadable, 'file')} could not be read.")] if record.unreadable else []),
        TableBlock(history_table(record), one.source)))
    groups = _groups(record)
    more = len(groups) - MOST_FIGURES
    drawn = [figure(_drawn, record, group, f"{prefix}-history-{number}", one.source, "$.series", ())
             for number, group in enumerate(groups[1:MOST_FIGURES], 1)]
    left = [Paragraph(f"{several(more, 'more figure')}: scripts/history.py draws them all.")] if more > 0 else []
    if drawn or left:
        yield Section(f"{prefix}-figures", "Each layer and batch", (*drawn, *left))
    yield Section(f"{prefix}-runs", "Runs", (TableBlock(Table("Runs, the oldest first", ("date", "commit", "host"), tuple(
        (run.date, run.commit, run.host) for run in record.runs), 3, place="$.runs"), one.source),))


KIND = Kind("history", lambda document: is_kind(document, "history"), read, _front, _chapters)
