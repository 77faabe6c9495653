"""A parameter sweep in a report: which configuration is best, and everything that was tried."""

from __future__ import annotations

from typing import Iterator

from convladder_charts.kinds import sweep
from convladder_charts.kinds.sweep import SweepRecord
from convladder_report.document import Answer, Front, Section, TableBlock
from convladder_report.kind import Input, Kind
from convladder_report.kinds import shared


def _front(one: Input, prefix: str) -> Front:
    record: SweepRecord = one.record
    answers = [Answer("", sweep.sentence(each), each.place) for each in record.sweeps]
    if not answers:
        answers = [Answer("", f"{record.tried} configurations were tried; which is best is known when the last has "
                          "ended.", "$.cases")]
    first = record.sweeps[0] if record.sweeps else None
    hero = shared.rows_figure(sweep.chart(record, first), f"{prefix}-hero", one.source, first.place, ()) if first else None
    return shared.front("A parameter sweep", "Which configuration is best?", answers, record.origin.line, hero)


def _chapters(one: Input, prefix: str) -> Iterator[Section]:
    record: SweepRecord = one.record
    for number, each in enumerate(record.sweeps, 1):
        name = f"{prefix}-sweep-{number}"
        drawn = shared.rows_figure(sweep.chart(record, each), f"{name}-figure", one.source, each.place, ()) if (
            number > 1) else None
        yield Section(name, f"{each.name} on {each.device}",
                      (*([drawn] if drawn else []), TableBlock(sweep.table(each), one.source)))
    yield from shared.environment(one, prefix)


KIND = Kind(sweep.KIND, sweep.is_of, sweep.read, _front, _chapters)
