"""A ranking of submissions: what is seen first of it, and its chapters."""

from __future__ import annotations

from typing import Iterator

from convladder_report import common_sections, ranking
from convladder_report.document import Answer, Front, Section
from convladder_report.kind import Input, Kind


def _front(one: Input, _: str) -> Front:
    record: ranking.RankRecord = one.record
    return Front(record.title, f"Whose {record.title} is fastest?",
                 tuple(Answer(f"Who is first on {ranked.device}?", text.text, text.place)
                       for ranked, text in zip(record.rankings, ranking.sentences(record))),
                 common_sections.machine_line(record, with_data=False))


def _chapters(one: Input, prefix: str) -> Iterator[Section]:
    yield from ranking.sections(one.record, one.source, prefix)
    yield common_sections.environment_section(one.root, one.source, one.content, f"{prefix}-environment")


KIND = Kind("rank", ranking.is_ranking, ranking.read, _front, _chapters)
