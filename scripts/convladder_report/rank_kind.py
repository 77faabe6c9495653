"""A ranking of submissions: what is seen first of it, and its chapters."""

from __future__ import annotations

from typing import Iterator

from convladder_charts.kinds import rank, row_chart
from convladder_report import common_sections, ranking
from convladder_report.document import Answer, Front, Section
from convladder_report.figures import figure
from convladder_report.kind import Input, Kind


def _front(one: Input, prefix: str) -> Front:
    record: rank.RankRecord = one.record
    chart = next(filter(None, (rank.chart(record, each) for each in record.rankings)), None)
    hero = figure(row_chart.draw, None, chart, f"{prefix}-hero", one.source, "$.rankings", ()) if chart else None
    return Front(record.title, f"Whose {record.title} is fastest?",
                 tuple(Answer(f"Who is first on {ranked.device}?", text.text, text.place)
                       for ranked, text in zip(record.rankings, ranking.sentences(record))),
                 common_sections.machine_line(record, with_data=False), hero=hero)


def _chapters(one: Input, prefix: str) -> Iterator[Section]:
    yield from ranking.sections(one.record, one.source, prefix)
    yield common_sections.environment_section(one.root, one.source, one.file, f"{prefix}-environment")


KIND = Kind(rank.KIND, rank.is_of, rank.read, _front, _chapters)
