"""Simulated programs and kernels, and the check of all variants, in a report."""

from __future__ import annotations

from typing import Iterator

from convladder_charts.kinds import checked, kernels, program
from convladder_charts.kinds.findings import findings_table
from convladder_report.document import Answer, Front, Section, TableBlock
from convladder_report.kind import Input, Kind
from convladder_report.kinds import shared


def _program_front(one: Input, prefix: str) -> Front:
    record: program.Program = one.record
    hero = next(filter(None, (shared.rows_figure(program.chart(record, process), f"{prefix}-hero", one.source,
                                                 process.place, ()) for process in record.processes)), None)
    return shared.front("A CUDA program on the simulated device", "What did it do, and what is wrong with it?",
                        [Answer("", text, place) for text, place in program.sentences(record)],
                        f"simulated {record.gpu}; times are predicted, counters counted", hero)


def _program_chapters(one: Input, prefix: str) -> Iterator[Section]:
    record: program.Program = one.record
    if record.findings:
        yield Section(f"{prefix}-findings", "Findings", (
            TableBlock(findings_table(record.findings, "$.processes[…].findings"), one.source),))
    for number, process in enumerate(record.processes, 1):
        tables = program.tables(process)
        name = f"{prefix}-process-{number}"
        drawn = shared.rows_figure(program.chart(record, process), f"{name}-figure", one.source, process.place, ()) if (
            number > 1) else None
        yield Section(name, f"Process {number}: {process.program}" if len(record.processes) > 1 else process.program,
                      (*([drawn] if drawn else []), *(TableBlock(table, one.source) for table in tables)))


def _kernels_front(one: Input, prefix: str) -> Front:
    record: kernels.Kernels = one.record
    hero = shared.rows_figure(kernels.chart(record), f"{prefix}-hero", one.source, "$", ())
    return shared.front("A kernel on the simulated device" if len(record.kernels) == 1 else
                        "Kernels on the simulated device, beside each other", "What did it do?",
                        [Answer("", text, place) for text, place in kernels.sentences(record)],
                        "simulated device; counters are counted, nothing is timed", hero)


def _kernels_chapters(one: Input, prefix: str) -> Iterator[Section]:
    record: kernels.Kernels = one.record
    if record.findings:
        yield Section(f"{prefix}-findings", "Findings", (
            TableBlock(findings_table(record.findings, "$…findings"), one.source),))
    for number, kernel in enumerate(record.kernels, 1):
        title = f"{kernel.name} of {kernel.file}" if kernel.file else kernel.name
        yield Section(f"{prefix}-kernel-{number}", title,
                      tuple(TableBlock(table, one.source) for table in kernels.tables(kernel)))


def _check_front(one: Input, prefix: str) -> Front:
    record: checked.Check = one.record
    hero = shared.rows_figure(checked.chart(record), f"{prefix}-hero", one.source, "$[…]", ())
    return shared.front("The CUDA variants under all checkers", "Is anything wrong with them?",
                        [Answer("", checked.sentence(record), "$[…]")], "simulated device; nothing is timed", hero)


def _check_chapters(one: Input, prefix: str) -> Iterator[Section]:
    record: checked.Check = one.record
    if record.findings:
        yield Section(f"{prefix}-findings", "Findings", (
            TableBlock(findings_table(record.findings, "$[…].findings"), one.source),))
    yield Section(f"{prefix}-cases", "All cases", (TableBlock(checked.table(record), one.source),))


PROGRAM = Kind(program.KIND, program.is_of, program.read, _program_front, _program_chapters)
KERNELS = Kind(kernels.KIND, kernels.is_of, kernels.read, _kernels_front, _kernels_chapters)
CHECK = Kind(checked.KIND, checked.is_of, checked.read, _check_front, _check_chapters)
