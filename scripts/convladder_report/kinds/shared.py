"""What the sections of these kinds have in common."""

from __future__ import annotations

from typing import Optional, Sequence

from convladder_charts.kinds import row_chart
from convladder_charts.kinds.members import member
from convladder_charts.kinds.row_chart import RowChart
from convladder_charts.table_text import Table
from convladder_report.common_sections import environment_section
from convladder_report.document import Answer, Figure, Front, Section
from convladder_report.figures import figure
from convladder_report.kind import Input

MOST_ANSWERS = 40
"""Sentences of a front, which folds what is more than a few; the rest is in the tables."""


def rows_figure(chart: Optional[RowChart], name: str, source: str, place: str,
                tables: Sequence[Table]) -> Optional[Figure]:
    """A chart of rows, with its tables; none where there is nothing to draw."""
    return None if chart is None else figure(row_chart.draw, None, chart, name, source, place, tables)


def front(title: str, asked: str, answers: Sequence[Answer], machine: str, hero: Optional[Figure]) -> Front:
    """What is seen first; of many answers the first, and how many more there are."""
    shown = tuple(answers[:MOST_ANSWERS])
    left = len(answers) - len(shown)
    if left:
        shown += (Answer("", f"{left} more: see below."),)
    return Front(title, asked, shown, machine, hero=hero)


def environment(one: Input, prefix: str) -> tuple[Section, ...]:
    """The document's context, if it has one."""
    if member(one.root, "context") is None:
        return ()
    return (environment_section(one.root, one.source, one.file, f"{prefix}-environment"),)
