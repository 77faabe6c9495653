"""From records to a report."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Iterator, Optional, Sequence

from convladder_charts.comparison import Comparison
from convladder_charts.json_text import Node, RecordError
from convladder_charts.record import Record
from convladder_charts.record_file import RecordFile, read_file
from convladder_charts.stage import printable
from convladder_report import changes, kinds, network_kind, rank_kind, run_kind, side_by_side
from convladder_report.document import Block, Items, Paragraph, Part, Report, Section
from convladder_report.kind import Input, Kind
from convladder_report.kinds import imported
from convladder_report.published import Publication

KINDS: tuple[Kind, ...] = (rank_kind.KIND, network_kind.KIND, *kinds.KINDS, run_kind.KIND)
"""The first that says a document is its own reads it. A run comes last: it takes what nobody else knows, and says what
is wrong with it."""


def read(paths: Sequence[Path], program: Optional[Path] = None) -> list[Input]:
    """The records of all kinds; `program` reads files of other programs. Raises RecordError."""
    inputs = []
    for path, source in zip(paths, _sources(paths)):
        file = imported.file_of(path, program) if imported.is_foreign(path) else read_file(path)
        inputs.append(_input(file, path, source))
    return inputs


def read_one(path: Path, source: str) -> Input:
    """A record of any kind. Raises RecordError."""
    return _input(read_file(path), path, source)


def _input(file: RecordFile, path: Path, source: str) -> Input:
    root = Node(file.document, path)
    kind = next(one for one in KINDS if one.is_of(root.value))
    return Input(source, root, file, kind, kind.read(root))


def _sources(paths: Sequence[Path]) -> list[str]:
    """The files' names; with their folders where two have the same, and numbered where that does not help."""
    names = [path.name for path in paths]
    if len(set(names)) < len(names):
        names = ["/".join(path.absolute().parts[-2:]) for path in paths]
    if len(set(names)) < len(names):
        names = [f"{name} ({number})" for number, name in enumerate(names, 1)]
    return [printable(name, 120) for name in names]


def compared(inputs: Sequence[Input], base: Path, program: Path) -> Comparison:
    """The first run of single layers against a base. Raises RecordError, also where there is no such run."""
    now = next((one for one in inputs if isinstance(one.record, Record)), None)
    if now is None:
        raise RecordError(f"--base {base}: none of the records is a run of single layers, "
                          "so there is nothing to compare with the base")
    return changes.compared(program, base, now.root.source, now.root)


def report(inputs: Sequence[Input], publications: tuple[Publication, ...],
           comparison: Optional[Comparison] = None) -> Report:
    """The whole report. What others published appears as soon as one of the records is of networks."""
    parts, told = [], set[str]()
    for index, one in enumerate(inputs, 1):
        new = tuple(publication for publication in publications if publication.network not in told)
        told |= one.kind.networks(one.record)
        parts.append(_part(dataclasses.replace(one, publications=new), f"r{index}"))
    beside = side_by_side.section(inputs, "side-by-side")
    before = (*((beside,) if beside else ()),
              *((changes.section(comparison, changes.SOURCE, "changes"),) if comparison else ()))
    said = (changes.sentence(comparison),) if comparison else ()
    after = tuple(_others(publications, told)) if any(one.kind is network_kind.KIND for one in inputs) else ()
    warnings = tuple(f"{one.source}: {text}" for one in inputs
                     for text in getattr(one.record, "warnings", ()))
    return Report("convladder: " + ", ".join(one.source for one in inputs), warnings, tuple(parts), said, before, after)


def _part(one: Input, prefix: str) -> Part:
    return Part(prefix, one.source, one.kind.front(one, prefix), tuple(one.kind.chapters(one, prefix)))


def _others(publications: tuple[Publication, ...], ours: set[str]) -> Iterator[Section]:
    """Notes of all publications, and whole those of networks that no record is of."""
    if not publications:
        yield Section("published", "Published figures", (Paragraph("The folder of published figures is missing."),))
        return
    blocks: list[Block] = [Paragraph(
        "Measured by others, on the devices named and not on this run's. Their tables of the networks above stand "
        "there beside ours.")]
    for one in publications:
        if one.network in ours:
            blocks.append(Section(f"published-{one.name}", one.title, (
                Items((f"network {one.network}, {one.device}{one.batch}; tables above; {one.source}: $.notes",
                       *one.notes)),)))
        else:
            blocks.append(one.section())
    yield Section("published", "Published figures", tuple(blocks))
