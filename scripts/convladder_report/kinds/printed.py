"""What other commands print as JSON, in a report: explanations and profiles."""

from __future__ import annotations

from typing import Iterator

from convladder_charts.kinds import explanation, profile
from convladder_report.document import Answer, Front, Section, TableBlock
from convladder_report.kind import Input, Kind
from convladder_report.kinds import shared

_MOST_FIGURES = 12


def _explanation_front(one: Input, prefix: str) -> Front:
    record: explanation.Explanation = one.record
    hero = next(filter(None, (shared.rows_figure(explanation.chart(group), f"{prefix}-hero", one.source, group.place, ())
                              for group in record.groups)), None)
    return shared.front("Why a stage is faster", "Which stage is predicted to be fastest, and what binds it?",
                        [*(Answer("", explanation.sentence(group), group.place) for group in record.groups),
                         *(Answer("", explanation.step_sentence(ladder), ladder.place) for ladder in record.ladders)],
                        "predicted from counters of the simulated device", hero)


def _explanation_chapters(one: Input, prefix: str) -> Iterator[Section]:
    record: explanation.Explanation = one.record
    for number, group in enumerate(record.groups, 1):
        name = f"{prefix}-group-{number}"
        drawn = shared.rows_figure(explanation.chart(group), f"{name}-figure", one.source, group.place, ()) if (
            1 < number <= _MOST_FIGURES) else None
        yield Section(name, group.name, (*([drawn] if drawn else []), TableBlock(explanation.table(group), one.source)))
    for number, ladder in enumerate(record.ladders, 1):
        yield Section(f"{prefix}-steps-{number}", f"In words: {ladder.name}",
                      (TableBlock(explanation.steps_table(ladder), one.source),))


def _profile_front(one: Input, prefix: str) -> Front:
    record: profile.Profile = one.record
    hero = next(filter(None, (shared.rows_figure(profile.chart(case), f"{prefix}-hero", one.source, case.place, ())
                              for case in record.cases)), None)
    return shared.front("Where the time of a pass goes", "What takes longest?",
                        [Answer("", profile.sentence(case), case.place) for case in record.cases], "", hero)


def _profile_chapters(one: Input, prefix: str) -> Iterator[Section]:
    record: profile.Profile = one.record
    for number, case in enumerate(record.cases, 1):
        name = f"{prefix}-case-{number}"
        drawn = shared.rows_figure(profile.chart(case), f"{name}-figure", one.source, case.place, ()) if (
            1 < number <= _MOST_FIGURES) else None
        yield Section(name, case.id, (*([drawn] if drawn else []), *(
            TableBlock(table, one.source) for table in profile.tables(case))))


EXPLANATION = Kind(explanation.KIND, explanation.is_of, explanation.read, _explanation_front, _explanation_chapters)
PROFILE = Kind(profile.KIND, profile.is_of, profile.read, _profile_front, _profile_chapters)
