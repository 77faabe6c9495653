"""A run of single layers, of sizes of a problem, or of a folder: what is seen first of it, and its chapters."""

from __future__ import annotations

from typing import Iterator

from convladder_charts import record as run_record
from convladder_report import common_sections, run_sections, summary, why_sections
from convladder_report.document import Answer, Front, Section
from convladder_report.kind import Input, Kind


def _front(one: Input, _: str) -> Front:
    record: run_record.Record = one.record
    title = record.work if record.of_folder else f"One {record.work.removeprefix('forward ')}"
    return Front(f"{title}, stage by stage", "Which stage is fastest?",
                 (*(Answer("", text.text, text.place) for text in summary.of_run(record)),
                  *common_sections.without_result(one.root)),
                 common_sections.machine_line(record))


def _chapters(one: Input, prefix: str) -> Iterator[Section]:
    yield from run_sections.sections(one.record, one.source, prefix)
    yield from why_sections.sections(one.record, one.source, prefix)
    yield common_sections.failed_section(one.root, one.source, f"{prefix}-failed")
    yield common_sections.environment_section(one.root, one.source, one.content, f"{prefix}-environment")


KIND = Kind("run", lambda document: True, run_record.read, _front, _chapters)
