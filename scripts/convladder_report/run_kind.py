"""A run of single layers, of sizes of a problem, or of a folder: what is seen first of it, and its chapters."""

from __future__ import annotations

from typing import Iterator

from convladder_charts import record as run_record
from convladder_charts.json_text import Node
from convladder_charts.shown import abridged
from convladder_report import (common_sections, explorers, machine_sections, quality_sections, run_front, run_sections,
                               step_sections, why_sections)
from convladder_report.document import Section
from convladder_report.kind import Input, Kind
from convladder_report.summary import told


def _chapters(one: Input, prefix: str) -> Iterator[Section]:
    record: run_record.Record = one.record
    ladders = told(one.root, record)
    failed = common_sections.failed_section(one.root, one.source, f"{prefix}-failed")
    data = explorers.data_of(record, ladders, one.source, prefix)
    if not record.drawn and not record.counted and failed:  # nothing else is to be told
        yield failed
        failed = None
    yield from run_sections.timed(record, ladders, one.source, prefix, data)
    steps = step_sections.section(record, ladders, one.source, f"{prefix}-steps",
                                  run_front.layer_of_answer(record, ladders))
    trusted = quality_sections.section(one.root, one.source, f"{prefix}-trust", record,
                                       (*machine_sections.blocks(one.root, one.source),
                                        *run_sections.samples(record, one.source, prefix)))
    yield from filter(None, [steps])
    yield from run_sections.counted(record, one.root, one.source, prefix)
    yield from why_sections.sections(record, one.source, prefix)
    yield from filter(None, [trusted, failed])
    yield common_sections.environment_section(one.root, one.source, one.file, f"{prefix}-environment")


def _read(root: Node) -> run_record.Record:
    return abridged(run_record.read(root))


KIND = Kind("run", lambda document: True, _read, run_front.front, _chapters)
