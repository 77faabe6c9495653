"""A run of single layers: ladders, charts over batch, heat maps, counters."""

from __future__ import annotations

from typing import Iterator, Mapping, Optional

from convladder_charts import counters, cpu_roofline, ladder, leave_one_out, run_order, table, time_over_batch
from convladder_charts.counted import CountedGroup, CountedLadder, figures
from convladder_charts.counted_text import notes
from convladder_charts.json_text import Node
from convladder_charts.known import Ratio, quotient
from convladder_charts.known_text import factor, untold
from convladder_charts.page import device_name
from convladder_charts.record import Group, Ladder, Record, Row
from convladder_charts.stage import Stage
from convladder_charts.table_text import Table
from convladder_charts.units import NONE, duration
from convladder_report import explorers, step_sections
from convladder_report.common_sections import places_of
from convladder_report.counter_words import figure_text
from convladder_report.document import Block, Data, HeatMap, Items, Paragraph, Section, TableBlock
from convladder_report.figures import figure
from convladder_report.summary import Told
from convladder_report.words import ladder_of

_LEVELS = (1.1, 1.5, 2.5, 5.0, 10.0, 30.0)
"""Times slower than the fastest stage, at which a cell of the heat map gets darker."""


def timed(record: Record, ladders: Mapping[str, Told], source: str, prefix: str,
          data: Optional[Data]) -> Iterator[Section]:
    """A chapter for each device that timed."""
    for index, group in enumerate(record.drawn):
        name = f"{prefix}-times-{index + 1}"
        yield Section(name, f"The ladder on {device_name(group)}, {group.kind}",
                      tuple(_timed(record, group, ladders, source, name, data)))


def counted(record: Record, root: Node, source: str, prefix: str) -> Iterator[Section]:
    """A chapter for each device that left ideas out, and one for each that counted."""
    for index, left_out in enumerate(record.left_out):
        name = f"{prefix}-left-out-{index + 1}"
        yield Section(name, f"What each idea is worth on {left_out.device}, {left_out.kind}", (
            Paragraph(leave_one_out.NOTES.get(left_out.kind, "")),
            figure(leave_one_out.draw, record, left_out, f"{name}-figure", source,
                   places_of(one.place for one in left_out.ladders),
                   [leave_one_out.table(left_out, one) for one in left_out.ladders])))
    for index, group in enumerate(record.counted):
        yield Section(f"{prefix}-counted-{index + 1}", f"What the stages of the {ladder_of(group.family)} execute, counted",
                      tuple(_counted(record, group, source, f"{prefix}-counted-{index + 1}",
                                     _builds_on(root, group.family))))


def _builds_on(root: Node, family: str) -> dict[str, str]:
    """What each variant of a family builds on, by name."""
    return {one.field("name").text(): one.field("builds_on").text() for one in root.field("variants").items()
            if one.field("family").text() == family and one.value.get("builds_on") is not None}


def _timed(record: Record, group: Group, ladders: Mapping[str, Told], source: str, name: str,
           data: Optional[Data]) -> Iterator[Block]:
    place = places_of(one.place for one in group.ladders)
    yield Section(f"{name}-ladder", "Stage by stage", (
        figure(ladder.draw, record, group, f"{name}-ladder-figure", source, place,
               [table.ladder_table(group, one) for one in group.ladders], table.legend(record)),))
    lost = tuple(step_sections.losses(ladders, [one.place for one in ladder.chosen_ladders(group, None)]))
    if lost:
        yield Section(f"{name}-losses", "Where a stage loses", lost)
    if not record.of_sizes or any(one.batch > 1 for one in group.ladders):
        yield from _over_batches(record, group, source, name, place, data)
    times = "call" if record.of_sizes else "layer"
    if cpu_roofline.has_one(record, group, None):
        yield Section(f"{name}-roofline", "Against the machine's limits", (
            figure(cpu_roofline.draw, record, group, f"{name}-roofline-figure", source, place, [
                table.ladder_table(group, one) for one in ladder.drawn_ladders(group, None)], table.legend(record)),))
    yield Section(f"{name}-heat", "Every stage and size", (
        Paragraph(f"How many times as long as the fastest of its column a stage takes, by {times} times: the darker, the "
                  "slower. 1.00× is the fastest; ~1× cannot be told from it. In brackets: intervals."),
        *(_heat_map(group, layer, source) for layer in group.layers)))


def samples(record: Record, source: str, prefix: str) -> Iterator[Section]:
    """The samples of each device as they came."""
    for index, group in enumerate(record.drawn):
        name = f"{prefix}-times-{index + 1}-samples"
        sampled = [one for one in ladder.chosen_ladders(group, None) if run_order.sampled(one)]
        if sampled:
            yield Section(name, f"Samples on {device_name(group)} in run order", (
                Paragraph(f"The stages of a {'size' if record.of_sizes else 'layer and batch'} take their samples in turns, "
                          "so what slows the machine for a while shows in all strips at the same place."),
                figure(run_order.draw, record, group, f"{name}-figure", source,
                       places_of(row.case_place for one in sampled for row, _ in run_order.sampled(one)) + ".time.samples",
                       [_samples(group, one) for one in sampled])))


def _over_batches(record: Record, group: Group, source: str, name: str, place: str,
                  data: Optional[Data]) -> Iterator[Block]:
    if not time_over_batch.has_one(group):
        return
    yield Section(f"{name}-time", "Time over batch", (
        *explorers.of_times(record, data, f"{name}-time-explorer", f"{name}-time-figure"),
        figure(time_over_batch.draw, record, group, f"{name}-time-figure", source, place,
               [_over_batch(group, layer) for layer in group.layers]),))


def _samples(group: Group, one: Ladder) -> Table:
    rows = run_order.sampled(one)
    return Table(f"Samples, {group.kind}: {group.device} · {one.layer_name} · batch {one.batch}; spread: least and "
                 "largest over the median; drift: last third over first", ("stage", "samples", "spread (%)",
                                                                           "drift (%)"),
                 tuple((row.stage.label, *spread.cells()) for row, spread in rows), 1,
                 place="$.cases[…].time.samples", row_places=tuple(
                     f"{row.case_place}.time.samples" for row, _ in rows))


def _over_batch(group: Group, layer: str) -> Table:
    """A row for each stage, a column for each batch."""
    ladders = group.of_layer(layer)
    rows = tuple((stage.label, *(_time(_row(one, stage)) for one in ladders)) for stage in _stages(ladders))
    return Table(f"time, {group.kind}: {group.device} · {layer}",
                 ("stage", *(f"batch {one.batch}" for one in ladders)), rows, 1,
                 place=places_of(one.place for one in ladders) + ": rows[…].median_ns")


def _stages(ladders: tuple[Ladder, ...]) -> tuple[Stage, ...]:
    return tuple(dict.fromkeys(row.stage for one in ladders for row in one.rows))


def _row(one: Ladder, stage: Stage) -> Optional[Row]:
    return next((row for row in one.rows if row.stage == stage), None)


def _time(row: Optional[Row]) -> str:
    if row is None:
        return NONE
    if not row.has_time:
        return row.status
    return duration(row.median or 0)


def _heat_map(group: Group, layer: str, source: str) -> HeatMap:
    ladders = group.of_layer(layer)
    rows, levels = [], []
    fastest = [min(one.timed, key=lambda row: row.median or 0.0, default=None) for one in ladders]
    for stage in _stages(ladders):
        cells, shades = [stage.label], []
        for one, best in zip(ladders, fastest):
            row = _row(one, stage)
            slower = quotient(row.known_time, best.known_time) if row and best else None
            slower = Ratio(1, 1, 1) if row is best and row else slower
            cells.append(f"{factor(slower)} · {duration(row.median or 0)}" if slower and row else row.status if row else NONE)
            shades.append(None if slower is None else 0 if untold(slower) else sum(slower >= level for level in _LEVELS))
        rows.append(tuple(cells))
        levels.append(tuple(shades))
    return HeatMap(Table(f"{group.device} · {layer}: how many times as long as the fastest, and the layer time, {group.kind}",
                         ("stage", *(f"batch {one.batch}" for one in ladders)), tuple(rows), 1,
                         place=places_of(one.place for one in ladders) + ": rows[…].median_ns"),
                   tuple(levels), source)


def _counted(record: Record, group: CountedGroup, source: str, name: str, builds_on: Mapping[str, str]) -> Iterator[Block]:
    yield Paragraph(f"{group.hardware}, caches modelled after {group.modelled_gpu}.")
    yield Items(tuple(notes(group.ladders)))
    yield figure(counters.draw, record, group, f"{name}-figure", source,
                 places_of(row.place for one in group.ladders for row in one.counted) + ".counters",
                 [table.counter_table(group, one) for one in group.ladders])
    changes = [_changes(group, one, builds_on) for one in group.chosen(None)]
    if any(one.rows for one in changes):
        yield Section(f"{name}-changes", "What each stage changed", (
            Paragraph("Each stage's counters beside those of the stage that it builds on."),
            *(TableBlock(one, source) for one in changes if one.rows)), folded=True)


def _changes(group: CountedGroup, one: CountedLadder, below: Mapping[str, str]) -> Table:
    """A row for each stage that builds on another."""
    rows_of = {row.stage.name: row for row in one.counted}
    pairs = [(rows_of[below[row.stage.name]], row) for row in one.counted if below.get(row.stage.name) in rows_of]
    return Table(f"{group.device}, counted: {one.layer_name} · batch {one.batch}, each stage over the one that it builds on",
                 ("stage", "builds on", *(f"{each.name} {each.per}".strip() for each in figures())),
                 tuple((row.stage.label, old.stage.title, *(figure_text(each, old, row) for each in figures()))
                       for old, row in pairs), 2,
                 place="$.cases[…].counters", row_places=tuple(row.place for _, row in pairs))
