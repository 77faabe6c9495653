"""Why a stage is faster: occupancy, roofline and predicted times of what the simulated device counted.

Measured times of a GPU in the same record stand beside the predictions as a quotient, never in their column.
"""

from __future__ import annotations

from typing import Iterator, Optional

from convladder_charts import prediction, roofline
from convladder_charts.predicted import LEVELS, OnGpu, PredictedGroup, PredictedLadder, PredictedRow
from convladder_charts.predicted_text import NOTE, occupancy_text, time_text
from convladder_charts.record import Ladder, Record, Row
from convladder_charts.stage import Stage
from convladder_charts.table_text import Table
from convladder_charts.units import NONE, duration, significant
from convladder_report.common_sections import places_of
from convladder_report.document import Block, Paragraph, Section, TableBlock
from convladder_report.figures import figure

_MEASURED_DEVICE = "cuda"


def sections(record: Record, source: str, prefix: str) -> Iterator[Section]:
    """A section for each device whose counters were predicted from."""
    for index, group in enumerate(record.predicted):
        name = f"{prefix}-why-{index + 1}"
        yield Section(name, "Times on named GPUs, predicted",
                      tuple(_why(record, group, source, name)))


def _why(record: Record, group: PredictedGroup, source: str, name: str) -> Iterator[Block]:
    ladders = group.chosen(None)
    place = places_of(row.place for one in ladders for row in one.rows) + ".prediction"
    yield Paragraph(NOTE)
    yield Section(f"{name}-prediction", "Predicted times", (
        figure(prediction.draw, record, group, f"{name}-prediction-figure", source, place,
               [_times(group, one) for one in ladders]),
        *_errors(record, group, source)))
    yield Section(f"{name}-roofline", "Roofline", (
        figure(roofline.draw, record, group, f"{name}-roofline-figure", source, place,
               [_intensities(group, one) for one in ladders]),))
    yield Section(f"{name}-occupancy", "Occupancy", (
        Paragraph("The share of the warps that a multiprocessor can hold, and the resource that limits it. Registers "
                  "are those that ptxas reports for the architecture named."),
        *(TableBlock(_occupancy(group, one), source) for one in ladders)), folded=True)


def _heading(group: PredictedGroup, one: PredictedLadder, what: str) -> str:
    return f"{group.device} · {one.layer_name} · batch {one.batch}: {what}"


def _table(group: PredictedGroup, one: PredictedLadder, what: str, columns: tuple[str, ...],
           cells: list[tuple[str, ...]]) -> Table:
    return Table(_heading(group, one, what), ("stage", *columns),
                 tuple((row.stage.label, *texts) for row, texts in zip(one.rows, cells)), len(columns) + 1,
                 place=places_of(row.place for row in one.rows) + ".prediction",
                 row_places=tuple(f"{row.place}.prediction" for row in one.rows))


def _occupancy(group: PredictedGroup, one: PredictedLadder) -> Table:
    def cell(on: Optional[OnGpu]) -> str:
        if on is None:
            return NONE
        needs = "registers unknown" if on.registers is None else (
            f"{on.registers} registers of {on.resources_of}, {on.shared_bytes} B")
        return f"{occupancy_text(on)}; {needs}"
    return _table(group, one, "occupancy, limit, registers of a thread and shared memory of a block",
                  tuple(title for _, title in group.gpus),
                  [tuple(cell(row.on(gpu)) for gpu, _ in group.gpus) for row in one.rows])


def _intensities(group: PredictedGroup, one: PredictedLadder) -> Table:
    def cell(value: Optional[float]) -> str:
        return NONE if value is None else significant(value)
    return _table(group, one, "fp32 operations per byte of a memory level",
                  tuple(f"{words}, {origin}" for _, words, origin in LEVELS),
                  [tuple(cell(row.intensity(level)) for level, _, _ in LEVELS) for row in one.rows])


def _times(group: PredictedGroup, one: PredictedLadder) -> Table:
    def cell(on: Optional[OnGpu]) -> str:
        return f"{time_text(on)} ({on.binding})" if on is not None and on.has_time else time_text(on)
    return _table(group, one, "op time, PREDICTED, and what limits it", tuple(title for _, title in group.gpus),
                  [tuple(cell(row.on(gpu)) for gpu, _ in group.gpus) for row in one.rows])


def _errors(record: Record, group: PredictedGroup, source: str) -> Iterator[Block]:
    """Predictions over what a GPU measured in this record, for each layer and batch that both have."""
    tables = []
    for timed in record.groups:
        if timed.device != _MEASURED_DEVICE or timed.family != group.family or timed.kind != "measured":
            continue
        for one in group.ladders:
            ladder = next((two for two in timed.ladders if two.layer_name == one.layer_name
                           and two.batch == one.batch and two.timed), None)
            if ladder is not None:
                tables.append(_error(group, one, ladder, timed.hardware))
    if not tables:
        yield Paragraph("This record holds no measured time of a GPU: the error of these predictions is not known from "
                        "it. “convladder explain” compares them with published figures.")
        return
    yield Paragraph("Predicted over measured, optimistic to pessimistic, over the measured interval: 1 lies inside where the "
                    "range held the measured time. Only the GPU that was measured says anything about the model.")
    for table in tables:
        yield TableBlock(table, source)


def _error(group: PredictedGroup, one: PredictedLadder, ladder: Ladder, hardware: str) -> Table:
    def cells(row: PredictedRow) -> tuple[str, ...]:
        timed = _timed(ladder, row.stage)
        if timed is None or not timed.median:
            return (NONE, *(NONE for _ in group.gpus))
        quotients = (_quotient(row.on(gpu), timed) for gpu, _ in group.gpus)
        return (duration(timed.median), *quotients)
    return _table(group, one, f"measured on {hardware}, and predicted over measured",
                  ("measured", *(title for _, title in group.gpus)), [cells(row) for row in one.rows])


def _timed(ladder: Ladder, stage: Stage) -> Optional[Row]:
    return next((row for row in ladder.timed if row.stage == stage), None)


def _quotient(on: Optional[OnGpu], timed: Row) -> str:
    """The range over the measured interval."""
    if on is None or on.low is None or on.high is None or not timed.median:
        return NONE
    return f"{significant(on.low / (timed.high or timed.median))}–{significant(on.high / (timed.low or timed.median))}"
