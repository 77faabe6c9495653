"""A run of single layers: ladders, charts over batch, heat maps, counters."""

from __future__ import annotations

from typing import Callable, Iterator, Optional

from convladder_charts import (counters, ladder, leave_one_out, run_order, speedup_map, table, throughput_over_batch,
                               time_over_batch)
from convladder_charts.counted import CountedGroup, CountedLadder, figures
from convladder_charts.counted_text import notes
from convladder_charts.page import device_name
from convladder_charts.record import Group, Ladder, Record, Row
from convladder_charts.stage import Stage
from convladder_charts.table_text import Table
from convladder_charts.units import NONE, duration, ratio, significant
from convladder_report import explorers
from convladder_report.common_sections import places_of
from convladder_report.document import Block, HeatMap, Items, Paragraph, Section, TableBlock
from convladder_report.figures import figure
from convladder_report.summary import figure_text

_LEVELS = (1.1, 1.5, 2.5, 5.0, 10.0, 30.0)
"""Times slower than the fastest stage, at which a cell of the heat map gets darker."""


def sections(record: Record, source: str, prefix: str) -> Iterator[Section]:
    """A section for each device that timed or counted."""
    for index, group in enumerate(record.drawn):
        yield Section(f"{prefix}-times-{index + 1}", f"{device_name(group)}: times of the {group.family} family",
                      tuple(_timed(record, group, source, f"{prefix}-times-{index + 1}")))
    for index, counted in enumerate(record.counted):
        yield Section(f"{prefix}-counted-{index + 1}", f"{counted.device}: counters of the {counted.family} family, "
                      "not timed", tuple(_counted(record, counted, source, f"{prefix}-counted-{index + 1}")))
    for index, left_out in enumerate(record.left_out):
        name = f"{prefix}-left-out-{index + 1}"
        yield Section(name, f"{left_out.device}: what each idea is worth ({left_out.kind})", (
            Paragraph(leave_one_out.NOTES.get(left_out.kind, "")),
            figure(leave_one_out.draw, record, left_out, f"{name}-figure", source,
                   places_of(one.place for one in left_out.ladders),
                   [leave_one_out.table(left_out, one) for one in left_out.ladders])))


def _timed(record: Record, group: Group, source: str, name: str) -> Iterator[Block]:
    place = places_of(one.place for one in group.ladders)
    yield Paragraph(f"{group.hardware}. {table.legend(record)}")
    yield Section(f"{name}-ladder", "The ladder", (
        figure(ladder.draw, record, group, f"{name}-ladder-figure", source, place,
               [table.ladder_table(group, one) for one in group.ladders]),
        *explorers.of_ladders(group, source, f"{name}-ladder-explorer")))
    if not record.of_sizes or any(one.batch > 1 for one in group.ladders):
        yield from _over_batches(record, group, source, name, place)
    times = "call" if record.of_sizes else "layer"
    yield Section(f"{name}-heat", "Stage × size", (
        figure(speedup_map.draw, record, group, f"{name}-heat-figure", source, place,
               [_over_batch(group, layer, "× baseline", _speedup) for layer in group.layers]),
        Paragraph(f"How many times slower than the fastest of its column a stage is, by {times} times: the darker, the "
                  "slower. 1.00× is the fastest."),
        *(_heat_map(group, layer, source) for layer in group.layers)))
    if any(run_order.sampled(one) for one in ladder.chosen_ladders(group, None)):
        yield Section(f"{name}-samples", "Samples in run order", (
            Paragraph(f"The stages of a {'size' if record.of_sizes else 'layer and batch'} take their samples in turns, so "
                      "what slows the machine for a while shows in all strips at the same place."),
            figure(run_order.draw, record, group, f"{name}-samples-figure", source,
                   places_of(row.case_place for one in ladder.chosen_ladders(group, None)
                             for row, _ in run_order.sampled(one)) + ".time.samples",
                   [_samples(group, one) for one in ladder.chosen_ladders(group, None) if run_order.sampled(one)])))


def _over_batches(record: Record, group: Group, source: str, name: str, place: str) -> Iterator[Block]:
    yield Section(f"{name}-time", "Time over batch", (
        figure(time_over_batch.draw, record, group, f"{name}-time-figure", source, place,
               [_over_batch(group, layer, "time", _time) for layer in group.layers]),
        *explorers.of_times(group, source, f"{name}-time-explorer")))
    yield Section(f"{name}-throughput", "Throughput over batch", (
        figure(throughput_over_batch.draw, record, group, f"{name}-throughput-figure", source, place,
               [_over_batch(group, layer, "GFLOP/s", _rate) for layer in group.layers]),))


def _samples(group: Group, one: Ladder) -> Table:
    rows = run_order.sampled(one)
    return Table(f"Samples, {group.kind}: {group.device} · {one.layer_name} · batch {one.batch}; spread: least and "
                 "largest over the median; drift: last third over first", ("stage", "samples", "spread (%)",
                                                                           "drift (%)"),
                 tuple((row.stage.label, *spread.cells()) for row, spread in rows), 1,
                 place="$.cases[…].time.samples", row_places=tuple(
                     f"{row.case_place}.time.samples" for row, _ in rows))


_MEMBERS = {"time": "median_ns", "GFLOP/s": "gflop_per_s", "× baseline": "x_baseline"}


def _over_batch(group: Group, layer: str, what: str, text: Callable[[Optional[Row]], str]) -> Table:
    """A row for each stage, a column for each batch."""
    ladders = group.of_layer(layer)
    columns = ("stage", *(f"batch {one.batch}" for one in ladders))
    rows = tuple((stage.label, *(text(_row(one, stage)) for one in ladders))
                 for stage in _stages(ladders))
    member = _MEMBERS[what]
    return Table(f"{what}, {group.kind}: {group.device} · {layer}", columns, rows, 1,
                 place=places_of(one.place for one in ladders) + f": rows[…].{member}")


def _stages(ladders: tuple[Ladder, ...]) -> tuple[Stage, ...]:
    return tuple(dict.fromkeys(row.stage for one in ladders for row in one.rows))


def _row(one: Ladder, stage: Stage) -> Optional[Row]:
    return next((row for row in one.rows if row.stage == stage), None)


def _time(row: Optional[Row]) -> str:
    if row is None:
        return NONE
    if not row.has_time:
        return row.status
    return duration(row.median or 0) + (" (op)" if row.of == "op" else "")


def _rate(row: Optional[Row]) -> str:
    return NONE if row is None or row.gflop_per_s is None else significant(row.gflop_per_s)


def _speedup(row: Optional[Row]) -> str:
    return NONE if row is None else ratio(row.x_baseline)


def _layer_time(row: Optional[Row]) -> Optional[float]:
    """NCHW in to NCHW out: what stages can be compared by."""
    if row is None or not row.has_time:
        return None
    return row.layer_median if row.layer_median and row.layer_median > 0 else None


def _heat_map(group: Group, layer: str, source: str) -> HeatMap:
    ladders = group.of_layer(layer)
    rows, levels = [], []
    fastest = [min((time for row in one.rows if (time := _layer_time(row))), default=None) for one in ladders]
    for stage in _stages(ladders):
        cells, shades = [stage.label], []
        for one, best in zip(ladders, fastest):
            row = _row(one, stage)
            time = _layer_time(row)
            slower = None if time is None or best is None else time / best
            cells.append(f"{ratio(slower)} · {duration(time)}" if slower and time else row.status if row else NONE)
            shades.append(None if slower is None else sum(slower >= level for level in _LEVELS))
        rows.append(tuple(cells))
        levels.append(tuple(shades))
    return HeatMap(Table(f"{group.device} · {layer}: times slower than the fastest, and the layer time, {group.kind}",
                         ("stage", *(f"batch {one.batch}" for one in ladders)), tuple(rows), 1,
                         place=places_of(one.place for one in ladders) + ": rows[…].layer_median_ns"),
                   tuple(levels), source)


def _counted(record: Record, group: CountedGroup, source: str, name: str) -> Iterator[Block]:
    yield Paragraph(f"{group.hardware}, caches modelled after {group.modelled_gpu}.")
    yield Items(tuple(notes(group.ladders)))
    yield figure(counters.draw, record, group, f"{name}-figure", source,
                 places_of(row.place for one in group.ladders for row in one.counted) + ".counters",
                 [table.counter_table(group, one) for one in group.ladders])
    changes = [_changes(group, one) for one in group.chosen(None)]
    yield Section(f"{name}-changes", "What each stage changed", (
        Paragraph("Each stage's counters beside those of the stage below it."),
        *(TableBlock(one, source) for one in changes)))


def _changes(group: CountedGroup, one: CountedLadder) -> Table:
    stages = [row for row in one.counted if not row.stage.is_library]
    rows = []
    for below, row in zip(stages, stages[1:]):
        rows.append((row.stage.label, *(figure_text(each, below, row) for each in figures())))
    return Table(f"{group.device}, counted: {one.layer_name} · batch {one.batch}, each stage over the one below",
                 ("stage", *(f"{each.name} {each.per}".strip() for each in figures())), tuple(rows), 1,
                 place="$.cases[…].counters", row_places=tuple(row.place for row in stages[1:]))
