"""A run that another program measured, in a report; and the file of such a program, read by `convladder import`."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path
from typing import Iterator, Optional

from convladder_charts.json_text import RecordError, parse_json
from convladder_charts.kinds import imported
from convladder_charts.kinds.imported import ImportedRun
from convladder_charts.record_file import RecordFile
from convladder_report.document import Answer, Front, Items, Section, TableBlock
from convladder_report.kind import Input, Kind
from convladder_report.kinds import shared

_HEAD = 2**18
"""Bytes in which such a file says what it is."""
_OURS = b'"schema_version"'


def is_foreign(path: Path) -> bool:
    """Whether a file may be another program's, by its beginning: `convladder import` says for sure."""
    try:
        if not path.is_file():  # what is read from a pipe is gone
            return False
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError:
        return False
    return b'"benchmarks"' in head and _OURS not in head


def file_of(path: Path, program: Optional[Path]) -> RecordFile:
    """The run.json that says what the file says. Raises RecordError."""
    if program is None:
        raise RecordError(f"{path}: another program's file; reading it needs convladder, which scripts/run.sh builds")
    done = subprocess.run([program, "import", "--", path], capture_output=True, text=True, check=False)
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"{path}: could not be read"]
        raise RecordError(said[-1].removeprefix("convladder: "))
    content = path.read_bytes()  # the page is of that file
    return RecordFile(parse_json(done.stdout, path), len(content), hashlib.sha256(content).hexdigest())


def _front(one: Input, prefix: str) -> Front:
    record: ImportedRun = one.record
    groups = record.groups
    drawn = next((chart for chart in (imported.chart(record, group) for group in groups) if chart), None)
    hero = shared.rows_figure(drawn, f"{prefix}-hero", one.source, "$.cases[…].time", ())
    return shared.front("Measured by another program", "What was measured?",
                        [Answer("", imported.sentence(record), "$.context.imported")], record.origin.line, hero)


def _chapters(one: Input, prefix: str) -> Iterator[Section]:
    record: ImportedRun = one.record
    for number, group in enumerate(record.groups, 1):
        chart = imported.chart(record, group) if number > 1 else None
        drawn = shared.rows_figure(chart, f"{prefix}-times-{number}-figure", one.source, "$.cases[…].time", ())
        yield Section(f"{prefix}-times-{number}", f"{group[1][:1].upper()}{group[1][1:]} on {group[0]}",
                      (*([drawn] if drawn else []), TableBlock(imported.table(record, group), one.source)))
    notes = (record.notes if not is_foreign(one.root.source) else (
        *record.notes, "The JSON paths of this page are those of the run.json that 'convladder import' makes of the file."))
    if notes:
        yield Section(f"{prefix}-notes", "About the file", (Items(notes),))
    yield from shared.environment(one, prefix)


KIND = Kind(imported.KIND, imported.is_of, imported.read, _front, _chapters)
