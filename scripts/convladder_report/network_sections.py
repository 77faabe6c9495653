"""Whole networks: each with what others published of it beside ours."""

from __future__ import annotations

import dataclasses
from typing import Iterator

from convladder_charts.json_text import Node
from convladder_charts.network import instructions, op_times, whole_pass
from convladder_charts.network import table as network_table
from convladder_charts.network.record import NetworkGroup, NetworkRecord
from convladder_charts.stage import optional, printable
from convladder_charts.table_text import Table
from convladder_charts.units import significant
from convladder_report import network_explorers
from convladder_report.common_sections import places_of
from convladder_report.document import Block, Paragraph, Section, TableBlock
from convladder_report.figures import figure
from convladder_report.published import Publication

_PARTS = (("op times", "Op times and accuracy"), ("program times", "Program times"), ("sweep", "Where the time of a "
          "pass goes, over batch"), ("profile", "Profiles"), ("layers", "Layers"), ("launches", "Counts and launches"))
"""Kinds of tables, with what the section of each is called."""


def sections(record: NetworkRecord, root: Node, publications: tuple[Publication, ...], source: str,
             prefix: str) -> Iterator[Section]:
    """A section for each network on each device. What others published stands with the first of a network."""
    told: set[str] = set()
    for index, group in enumerate(record.groups):
        name = f"{prefix}-network-{index + 1}"
        theirs = [] if group.network in told else [one for one in publications if one.network == group.network]
        told.add(group.network)
        yield Section(name, f"{group.network} on {group.device}",
                      tuple(_blocks(record, root, group, theirs, source, name)))


def networks(record: NetworkRecord) -> set[str]:
    """The networks of a record by name."""
    return {group.network for group in record.groups}


def _blocks(record: NetworkRecord, root: Node, group: NetworkGroup, theirs: list[Publication], source: str,
            name: str) -> Iterator[Block]:
    yield Paragraph(f"{group.title}. {group.hardware}. Weights: {group.weights}.")
    ours = [*network_table.tables(group, 1000), *_programs(root, group)]
    charts = _Charts(record, group, source, name)
    failed = [table for table in ours if table.kind == "failed"]
    for kind, title in _PARTS:
        tables = [table for table in ours if table.kind == kind]
        figures = charts.of_kind(kind, tables)
        blocks: list[Block] = [*figures] or [TableBlock(table, source) for table in tables]
        if kind == "sweep":
            blocks = [*network_explorers.of_passes(group, source, f"{name}-explorer", f"{name}-sweep-figure"), *blocks]
        for publication in theirs:
            blocks += publication.blocks(kind)
        if blocks:
            yield Section(f"{name}-{kind.replace(' ', '-')}", title, tuple(blocks))
    yield from (TableBlock(table, source) for table in failed)


class _Charts:
    """The charts of a network on a device, each with the tables of its figures."""

    def __init__(self, record: NetworkRecord, group: NetworkGroup, source: str, name: str) -> None:
        self.record, self.group, self.source, self.name = record, group, source, name

    def of_kind(self, kind: str, tables: list[Table]) -> Iterator[Block]:
        """The chart that belongs to the tables of a kind."""
        charts = {"op times": (op_times.draw, self.group.timed),
                  "sweep": (whole_pass.draw, self.group.timed),
                  "launches": (instructions.draw, self.group.counted)}
        if kind in charts and charts[kind][1]:
            draw, cases = charts[kind]
            place = places_of(case.place for case in cases)
            drawn = figure(draw, self.record, self.group, f"{self.name}-{kind.replace(' ', '-')}-figure", self.source,
                           place, tables)
            yield dataclasses.replace(drawn, open=True)


def _programs(root: Node, group: NetworkGroup) -> Iterator[Table]:
    """What the operating system said of each case's process, in the columns of the published tables."""
    places = {case.place: case for case in group.cases}
    rows, row_places = [], []
    for node in root.field("cases").items():
        program = node.field("program")
        if node.place not in places or program.is_null():
            continue
        case = places[node.place]
        seconds = [significant(program.field(f"{name}_seconds").number()) for name in ("elapsed", "user", "system")]
        percent = optional(program.field("cpu_percent"), Node.number)
        rows.append((str(case.batch), case.stage.title, *seconds, "–" if percent is None else f"{percent:.0f}",
                     str(program.field("max_resident_kilobytes").integer())))
        row_places.append(f"{node.place}.program")
    if rows:
        yield Table(f"Program times of {printable(group.network)}, measured by the operating system",
                    ("batch", "convolutions", "elapsed (s)", "user (s)", "system (s)", "cpu (%)", "max_resident (kB)"),
                    tuple(rows), 2, place="$.cases[…].program", row_places=tuple(row_places), kind="program times")
