"""Several runs beside each other: what they were made with, the best stage of each layer, and every stage's time."""

from __future__ import annotations

from typing import Iterator, Optional, Sequence

from convladder_charts.known import quotient
from convladder_charts.known_text import either, factor
from convladder_charts.ladder import chosen_ladders
from convladder_charts.record import Group, Ladder, Record, Row
from convladder_charts.stage import Stage
from convladder_charts.table_text import Table
from convladder_charts.units import NONE, duration
from convladder_report.document import Block, Paragraph, Section, TableBlock
from convladder_report.kind import Input
from convladder_report.summary import told
from convladder_report.words import named

_MOST_LADDERS = 6
_ABOUT = (("machine", "cpu"), ("host", "host"), ("date", "date"), ("program", "program"), ("commit", "commit"),
          ("data", "data"))


def section(inputs: Sequence[Input], name: str) -> Optional[Section]:
    """Nothing unless at least two of the records are runs."""
    runs = [one for one in inputs if isinstance(one.record, Record)]
    return Section(name, "Side by side", tuple(_blocks(runs))) if len(runs) > 1 else None


def _blocks(runs: Sequence[Input]) -> Iterator[Block]:
    yield Paragraph("The runs were not measured in turns, so the machine may have changed between them. “convladder "
                    "compare” judges whether a difference is one. In brackets: intervals. ~1×: cannot be told from 1.")
    rows = [(what, *(getattr(one.record, member) for one in runs)) for what, member in _ABOUT]
    yield _table("What they were made with", ("what", *_sources(runs)), [row for row in rows if len(set(row[1:])) > 1] or rows,
                 len(runs) + 1)
    best = list(_best(runs))
    if best:
        yield _table("The best stage of each layer", ("layer", *_sources(runs)), best, len(runs) + 1)
    for key in list(_keys(runs))[:_MOST_LADDERS]:
        yield _stages(runs, key)


def _table(heading: str, columns: Sequence[str], rows: Sequence[tuple[str, ...]], texts: int) -> TableBlock:
    return TableBlock(Table(heading, tuple(columns), tuple(rows), texts, place="$.ladders"), "each record")


def _sources(runs: Sequence[Input]) -> list[str]:
    return [one.source for one in runs]


Key = tuple[str, str, str, str, int]


def _key(group: Group, one: Ladder) -> Key:
    return group.device, group.family, group.kind, one.layer_name, one.batch


def _found(one: Input, key: Key) -> Optional[Ladder]:
    return next((ladder for group in one.record.drawn for ladder in group.ladders if _key(group, ladder) == key), None)


def _keys(runs: Sequence[Input]) -> dict[Key, None]:
    """What at least two of the runs timed: per layer the batch that a picture would show."""
    chosen = dict.fromkeys(_key(group, one) for run in runs for group in run.record.drawn
                           for one in chosen_ladders(group, None) if one.timed)
    return {key: None for key in chosen if sum(_found(one, key) is not None for one in runs) > 1}


def _best(runs: Sequence[Input]) -> Iterator[tuple[str, ...]]:
    summaries = [told(one.root, one.record) for one in runs]
    for key in _keys(runs):
        cells = []
        for one, of_run in zip(runs, summaries):
            ladder = _found(one, key)
            summary = of_run[ladder.place].summary if ladder else None
            row = _row(ladder, summary.best) if ladder and summary else None
            cells.append(f"{either([named(each) for each in summary.level])}, {duration(_time(row))}, "
                         f"{factor(summary.best_x_baseline)} over its lowest stage" if summary and row else NONE)
        yield (_where(key), *cells)


def _where(key: Key) -> str:
    device, _, kind, layer, batch = key
    return f"{layer}, batch {batch}, on {device}, {kind}"


def _row(ladder: Ladder, stage: Stage) -> Optional[Row]:
    return next((row for row in ladder.timed if (row.stage.family, row.stage.name) == (stage.family, stage.name)), None)


def _time(row: Optional[Row]) -> float:
    return row.median or 0.0 if row else 0.0


def _stages(runs: Sequence[Input], key: Key) -> TableBlock:
    """A row for each stage; behind the times how fast each run was beside the first that has the stage."""
    ladders = [_found(one, key) for one in runs]
    stages = dict.fromkeys((row.stage.family, row.stage.name) for one in ladders if one for row in one.timed)
    rows = []
    for family, name in stages:
        found = [next((row for row in one.timed if (row.stage.family, row.stage.name) == (family, name)), None)
                 if one else None for one in ladders]
        first = next((row.known_time for row in found if row and _time(row) > 0), (None, None, None))
        cells = [duration(_time(row)) if _time(row) > 0 else NONE for row in found]
        factors = [factor(quotient(first, row.known_time)) if row else NONE for row in found[1:]]
        label = next(row.stage.label for row in found if row)
        rows.append((label, *cells, *factors))
    sources = _sources(runs)
    return _table(f"{_where(key)}: times, and how many times as fast as the first",
                  ("stage", *sources, *(f"{source}: speed" for source in sources[1:])), rows, 1)
