"""The figures that others published: every table in the folder, unchanged."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator

from convladder_charts.json_text import Node, RecordError
from convladder_charts.record_file import read_json
from convladder_charts.stage import optional, printable
from convladder_charts.table_text import Table
from convladder_charts.units import NONE, unit_for
from convladder_report.document import Block, Items, Section, TableBlock

_LONGEST = 400
_LONGEST_NAME = 2000
_PROFILE = (("time_percent", "Time(%)"), ("total_ns", "Time"), ("calls", "Calls"), ("avg_ns", "Avg"), ("min_ns", "Min"),
            ("max_ns", "Max"), ("name", "Name"))


@dataclass(frozen=True)
class Publication:
    """A report by somebody else."""

    name: str
    title: str
    network: str
    device: str
    batch: str
    notes: tuple[str, ...]
    tables: tuple[Table, ...]
    source: str

    def blocks(self, kind: str) -> Iterator[Block]:
        """Its tables of a kind."""
        yield from (TableBlock(table, self.source) for table in self.tables if table.kind == kind)

    def section(self) -> Section:
        """All of it, for a network that no record is of."""
        about = (f"network {self.network}, {self.device}{self.batch}; {self.source}: $.notes", *self.notes)
        return Section(f"published-{self.name}", self.title,
                       (Items(about), *(TableBlock(table, self.source) for table in self.tables)))


def publications(folder: Path) -> tuple[Publication, ...]:
    """Every file of the folder by name. Raises RecordError."""
    return tuple(_publication(Node(read_json(path), path), path) for path in sorted(folder.glob("*.json")))


def _publication(root: Node, path: Path) -> Publication:
    if root.field("schema_version").value != "1.0":
        raise root.field("schema_version").wrong("schema version \"1.0\"")
    batch = optional(root.field("batch"), Node.integer)
    device = printable(optional(root.field("device"), Node.text) or "", _LONGEST) or "device not named"
    title = printable(root.field("title").text(), _LONGEST)
    about = f"Published: {title} · {device}" + (f" · batch {batch}" if batch is not None else "")
    return Publication(
        name=printable(root.field("name").text()), title=title, network=printable(root.field("network").text()),
        device=device, batch=f", batch {batch}" if batch is not None else "",
        notes=tuple(f"{printable(one.field('kind').text())}: {printable(one.field('text').text(), _LONGEST)}"
                    for one in root.field("notes").items()),
        tables=tuple(table for node in root.field("tables").items() for table in _tables(node, about)),
        source=f"results/published/{path.name}")


def _tables(node: Node, about: str) -> Iterator[Table]:
    kind, name = node.field("kind").text(), printable(node.field("name").text(), _LONGEST)
    if "rows" not in node.value and "profile" not in node.value:
        raise RecordError(f"{node.source}: {node.place}: expected \"rows\" or a \"profile\"")
    notes = tuple(printable(node.field(key).text(), _LONGEST) for key in ("note", "command") if key in node.value)
    if "profile" in node.value:
        for group in node.field("profile").field("groups").items():
            yield _profile(group, f"{about} · {name}: {printable(group.field('group').text())}", notes)
        return
    columns = tuple(map(_heading, node.field("columns").items()))
    rows = tuple(tuple(map(_cell, row.items())) for row in node.field("rows").items())
    texts = next((index for index in range(len(columns)) if not any(
        isinstance(row.items()[index].value, str) for row in node.field("rows").items())), len(columns))
    yield Table(f"{about} · {name}", columns, rows, texts, notes, f"{node.place}.rows",
                tuple(row.place for row in node.field("rows").items()), kind)


def _heading(column: Node) -> str:
    name = printable(column.field("name").text())
    return f"{name} ({printable(column.field('unit').text())})" if "unit" in column.value else name


def _cell(cell: Node) -> str:
    """As it stands in the file."""
    if cell.is_null():
        return NONE
    if isinstance(cell.value, str):
        return printable(cell.value, _LONGEST)
    return ("yes" if cell.value else "no") if isinstance(cell.value, bool) else json.dumps(cell.value)


def _profile(group: Node, heading: str, notes: tuple[str, ...]) -> Table:
    """nvprof's columns, as far as the report printed them."""
    nodes = group.field("rows").items()
    shown = [(key, title) for key, title in _PROFILE if any(key in node.value for node in nodes)]
    rows = []
    for node in nodes:
        cells = []
        for key, _ in shown:
            value = node.field(key) if key in node.value else None
            if value is None:
                cells.append(NONE)
            elif key == "name":
                cells.append(printable(value.text(), _LONGEST_NAME))
            else:
                cells.append(_time(value.number()) if key.endswith("_ns") else
                             f"{value.number():g}%" if key == "time_percent" else str(value.integer()))
        rows.append(tuple(cells))
    return Table(heading, tuple(title for _, title in shown), tuple(rows), 0, notes, f"{group.place}.rows",
                 tuple(node.place for node in nodes), "profile")


def _time(nanoseconds: float) -> str:
    """With all the digits that were printed."""
    unit = unit_for([nanoseconds])
    return f"{nanoseconds / unit.nanoseconds:.9g} {unit.name}"
