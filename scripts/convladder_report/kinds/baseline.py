"""Counter baselines and their check in a report."""

from __future__ import annotations

from typing import Iterator

from convladder_charts.kinds import baseline
from convladder_charts.kinds.baseline import Baseline, Check
from convladder_report.document import Answer, Front, Items, Section, TableBlock
from convladder_report.kind import Input, Kind
from convladder_report.kinds import shared

_NOT_MEASURED = "counted on the simulated device, the same on every machine"


def _front(one: Input, prefix: str) -> Front:
    record: Baseline = one.record
    hero = shared.rows_figure(baseline.baseline_chart(record), f"{prefix}-hero", one.source, "$.cases[…].kernels", ())
    return shared.front("A baseline of counters", "What is held?",
                        [Answer("", baseline.baseline_sentence(record), "$.cases")], _NOT_MEASURED, hero)


def _chapters(one: Input, prefix: str) -> Iterator[Section]:
    yield Section(f"{prefix}-held", "Recorded counters", (TableBlock(baseline.baseline_table(one.record), one.source),))


def _check_front(one: Input, prefix: str) -> Front:
    record: Check = one.record
    moved = sorted(record.with_verdict("moved", "failed"),
                   key=lambda case: -abs((case.greatest.change if case.greatest else None) or 0.0))
    hero = shared.rows_figure(baseline.check_chart(record), f"{prefix}-hero", one.source, "$.cases[…].moves", ())
    return shared.front("Counters against a baseline", "Did a counter move?", [
        Answer("", baseline.check_sentence(record), "$.summary"),
        *(Answer("", baseline.move_sentence(case), case.place) for case in moved)], _NOT_MEASURED, hero)


def _check_chapters(one: Input, prefix: str) -> Iterator[Section]:
    record: Check = one.record
    if any(case.moves for case in record.cases):
        yield Section(f"{prefix}-moves", "Counters that moved",
                      (TableBlock(baseline.moves_table(record), one.source),))
    yield Section(f"{prefix}-cases", "All cases", (*([Items(record.notes)] if record.notes else []),
                                                   TableBlock(baseline.verdicts_table(record), one.source)))


KIND = Kind(baseline.KIND, baseline.is_baseline, baseline.read_baseline, _front, _chapters)
CHECK = Kind(baseline.CHECK, baseline.is_check, baseline.read_check, _check_front, _check_chapters)
