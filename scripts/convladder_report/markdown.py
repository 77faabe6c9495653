"""A report as a Markdown file with an SVG file for each figure, for a repository."""

from __future__ import annotations

from pathlib import Path
from typing import Iterator

from convladder_charts.page import write
from convladder_charts.table_text import Table, escaped, markdown_table
from convladder_report.document import Block, Figure, HeatMap, Items, Paragraph, Part, Report, Section, TableBlock


def write_markdown(report: Report, folder: Path) -> list[Path]:
    """Writes report.md and the figures; returns the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [f"# {escaped(report.title)}", "", *(f"**Attention: {escaped(one)}**\n" for one in report.warnings)]
    for part in report.parts:
        lines += _front(part)
    for section in report.chapters:
        lines += _section(section, 2)
    written = []
    for figure in _figures(report.chapters):
        written.append(folder / f"{figure.name}.svg")
        write(written[-1], figure.svg.encode("utf-8"))
    written.append(folder / "report.md")
    write(written[-1], ("\n".join(lines).rstrip() + "\n").encode("utf-8"))
    return written


def _front(part: Part) -> Iterator[str]:
    front = part.front
    yield from (f"## {escaped(f'{front.title}: {part.source}')}", "", escaped(front.asked), "")
    yield from (*(f"- {escaped(f'{one.text} {one.place}'.strip())}" for one in front.answers), "")
    yield from (escaped(front.machine), "")


def _figures(sections: tuple[Section, ...]) -> Iterator[Figure]:
    for section in sections:
        yield from (block for block in section.blocks if isinstance(block, Figure) and block.svg)
        yield from _figures(section.sections)


def _section(section: Section, level: int) -> Iterator[str]:
    yield from (f"{'#' * min(level, 6)} {escaped(section.title)}", "")
    for block in section.blocks:
        yield from _section(block, level + 1) if isinstance(block, Section) else _block(block)


def _block(block: Block) -> Iterator[str]:
    if isinstance(block, Paragraph):
        yield from (escaped(block.text), "")
    elif isinstance(block, Items):
        places = block.places or ("",) * len(block.texts)
        yield from (*(f"- {escaped(f'{text} {place}'.strip())}" for text, place in zip(block.texts, places)), "")
    elif isinstance(block, (TableBlock, HeatMap)):
        yield from _table(block.table, block.source)
    elif isinstance(block, Figure):
        if block.svg:
            yield from (f"![{escaped(block.title)}]({block.name}.svg)", "")
        else:
            yield from (escaped(block.description), "")
        yield from (escaped(f"{block.source}: {block.place}"), "")
        for table in block.tables:
            yield from _table(table, block.source)


def _table(table: Table, source: str) -> Iterator[str]:
    yield from (f"**{escaped(table.heading)}**", "", *markdown_table(table), "")
    yield from (part for note in table.notes for part in (escaped(note), ""))
    yield from (escaped(f"{source}: {table.place}"), "")
