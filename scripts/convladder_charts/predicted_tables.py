"""Predictions as tables: times on every GPU, and the operations for each byte of the roofline."""

from __future__ import annotations

from typing import Iterator, Optional

from convladder_charts.predicted import LEVELS, OnGpu, PredictedGroup, PredictedLadder
from convladder_charts.predicted_text import time_text
from convladder_charts.table_text import Table
from convladder_charts.units import NONE, significant


def tables(group: PredictedGroup) -> Iterator[Table]:
    """Two for each layer and batch."""
    for ladder in group.ladders:
        yield _times(group, ladder)
        yield _intensities(group, ladder)


def _times(group: PredictedGroup, ladder: PredictedLadder) -> Table:
    def cell(one: Optional[OnGpu]) -> str:
        return f"{time_text(one)} ({one.binding})" if one is not None and one.has_time else time_text(one)
    rows = tuple((row.stage.label, *(cell(row.on(gpu)) for gpu, _ in group.gpus)) for row in ladder.rows)
    return Table(_heading(group, ladder, "op times, PREDICTED, and what binds them"),
                 ("stage", *(title for _, title in group.gpus)), rows, 1)


def _intensities(group: PredictedGroup, ladder: PredictedLadder) -> Table:
    def cell(value: Optional[float]) -> str:
        return NONE if value is None else significant(value)
    rows = tuple((row.stage.label, *(cell(row.intensity(level)) for level, _, _ in LEVELS)) for row in ladder.rows)
    return Table(_heading(group, ladder, "fp32 operations for each byte of a memory level"),
                 ("stage", *(f"{words}, {origin}" for _, words, origin in LEVELS)), rows, 1)


def _heading(group: PredictedGroup, ladder: PredictedLadder, what: str) -> str:
    return f"{group.device} · {ladder.layer_name} · batch {ladder.batch} · {what}"
