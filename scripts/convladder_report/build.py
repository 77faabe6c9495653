"""From records to a report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Iterator, Optional, Sequence, Union

from convladder_charts import record as run_record
from convladder_charts.comparison import Comparison
from convladder_charts.json_text import Node, RecordError, is_of_networks, parse_json, read_text
from convladder_charts.network import record as network_record
from convladder_charts.network.record import NetworkRecord
from convladder_charts.record import Record
from convladder_charts.stage import printable
from convladder_report import (changes, common_sections, network_sections, ranking, run_sections, summary,
                               why_sections)
from convladder_report.document import Block, Items, Paragraph, Report, Section
from convladder_report.published import Publication
from convladder_report.ranking import RankRecord


@dataclass(frozen=True)
class Input:
    """A record as it was read."""

    source: str
    """What the report calls its file."""
    root: Node
    content: bytes
    record: Union[Record, NetworkRecord, RankRecord]


def read(paths: Sequence[Path]) -> list[Input]:
    """The records of all kinds. Raises RecordError."""
    inputs = []
    for path, source in zip(paths, _sources(paths)):
        text = read_text(path)
        root = Node(parse_json(text, path), path)
        inputs.append(Input(source, root, text.encode("utf-8"), _record(root)))
    return inputs


def _record(root: Node) -> Union[Record, NetworkRecord, RankRecord]:
    if ranking.is_ranking(root.value):
        return ranking.read(root)
    return network_record.read(root) if is_of_networks(root.value) else run_record.read(root)


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
    ours = {name for one in inputs if isinstance(one.record, NetworkRecord)
            for name in network_sections.networks(one.record)}
    sections: list[Section] = [_summary(inputs, comparison)]
    if comparison is not None:
        sections.append(changes.section(comparison, changes.SOURCE, "changes"))
    told: set[str] = set()
    for index, one in enumerate(inputs, 1):
        if isinstance(one.record, NetworkRecord):
            own = tuple(publication for publication in publications if publication.network not in told)
            told |= network_sections.networks(one.record)
        else:
            own = ()
        sections.append(_of_record(one, own, f"r{index}"))
    if any(isinstance(one.record, NetworkRecord) for one in inputs):
        sections += _others(publications, ours)
    warnings = tuple(text for one in inputs for text in summary.warnings(one.record, one.source))
    return Report("convladder: " + ", ".join(one.source for one in inputs), warnings, tuple(sections))


def _summary(inputs: Sequence[Input], comparison: Optional[Comparison]) -> Section:
    blocks: list[Block] = []
    if comparison is not None:
        told = changes.sentence(comparison)
        blocks.append(Items((told.text,), (f"{changes.SOURCE}: {told.place}",)))
    for one in inputs:
        record = one.record
        blocks.append(Paragraph(f"{one.source}, {record.date}, on {record.host}: {record.cpu}; {record.program}, "
                                f"commit {record.commit}; data: {record.data}."))
        if isinstance(record, RankRecord):
            sentences = list(ranking.sentences(record))
        else:
            of = summary.of_networks(record) if isinstance(record, NetworkRecord) else summary.of_run(record)
            sentences = [*of, *summary.without_result(len(one.root.field("cases").items()),
                                                      len(common_sections.failed_cases(one.root)))]
        blocks.append(Items(tuple(sentence.text for sentence in sentences), tuple(
            f"{one.source}: {sentence.place}" if sentence.place else "" for sentence in sentences)))
    return Section("summary", "Summary", tuple(blocks))


def _of_record(one: Input, publications: tuple[Publication, ...], prefix: str) -> Section:
    record = one.record
    blocks: list[Block] = []
    if isinstance(record, RankRecord):
        environment = common_sections.environment_section(one.root, one.source, one.content, f"{prefix}-environment")
        return Section(prefix, f"Ranking: {one.source}",
                       (*ranking.sections(record, one.source, prefix), environment))
    if isinstance(record, NetworkRecord):
        title = f"Whole networks: {one.source}"
        blocks += network_sections.sections(record, one.root, publications, one.source, prefix)
    else:
        work = record.work if record.of_folder else f"One {record.work.removeprefix('forward ')}"
        title = f"{work}, stage by stage: {one.source}"
        blocks += [Paragraph(line) for line in record.skipped_lines]
        blocks += run_sections.sections(record, one.source, prefix)
        blocks += why_sections.sections(record, one.source, prefix)
    blocks += [common_sections.failed_section(one.root, one.source, f"{prefix}-failed"),
               common_sections.environment_section(one.root, one.source, one.content, f"{prefix}-environment")]
    return Section(prefix, title, tuple(blocks))


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
