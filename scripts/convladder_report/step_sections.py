"""Why each step is faster or slower, in the record's own sentences, and where a stage loses."""

from __future__ import annotations

from typing import Iterator, Mapping, Optional

from convladder_charts.record import Record
from convladder_charts.table_text import Table
from convladder_charts.units import NONE, ratio
from convladder_report.document import Block, Items, Paragraph, Section, TableBlock
from convladder_report.story import Told
from convladder_report.words import against, named


def section(record: Record, ladders: Mapping[str, Told], source: str, name: str) -> Optional[Section]:
    """A table for each layer at its largest batch; nothing where the record has no sentences."""
    blocks = list(_blocks(record, ladders, source))
    return Section(name, "Why each step is faster, or is not", tuple(blocks)) if blocks else None


def _blocks(record: Record, ladders: Mapping[str, Told], source: str) -> Iterator[Block]:
    chosen: dict[tuple[str, str], Told] = {}
    for one in ladders.values():
        key = one.device, one.layer_name
        if one.steps and (key not in chosen or chosen[key].batch < one.batch):
            chosen[key] = one
    if chosen:
        yield Paragraph("Each stage beside the one that it builds on. “convladder explain” prints the same sentences.")
    for one in chosen.values():
        yield TableBlock(_table(one, record), source)


def _table(one: Told, record: Record) -> Table:
    """Columns that say nothing are left out."""
    kinds = dict.fromkeys(step.kind for step in one.steps)
    where = one.layer_name if record.of_sizes else f"{one.layer_name}, batch {one.batch}"
    rows = [(named(step.stage), step.builds_on.title if step.builds_on else NONE, ratio(step.x), step.relieved or NONE,
             step.binds or NONE) for step in one.steps]
    columns = ("stage", "builds on", "factor", "what it relieved", "what binds now")
    kept = [index for index in range(len(columns)) if index < 3 or any(row[index] != NONE for row in rows)]
    return Table(f"{one.device}, {where}: {' and '.join(kinds)}", tuple(columns[index] for index in kept),
                 tuple(tuple(row[index] for index in kept) for row in rows), 5, place=f"{one.place}.steps",
                 row_places=tuple(step.place for step in one.steps))


def losses(ladders: Mapping[str, Told], places: list[str]) -> Iterator[Items]:
    """The stages of these ladders that are surely slower than the one they build on."""
    texts, where = [], []
    for place in places:
        one = ladders[place]
        for loss in one.story.loses if one.story else ():
            texts.append(f"{loss.stage} {against(loss.x, loss.builds_on)}, which it builds on: {one.layer_name}, "
                         f"batch {one.batch}.")
            where.append(f"{one.story.place}.loses" if one.story else "")
    if texts:
        yield Items(tuple(texts), tuple(where))
