"""A report as a Markdown file with an SVG file for each figure, for a repository."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Iterator

from convladder_charts.page import write
from convladder_charts.table_text import Table, escaped, markdown_table
from convladder_report.document import (MOST_ROWS, Answer, Block, Figure, HeatMap, Items, Paragraph, Part, Report, Section,
                                        TableBlock)

_POINTS = 72
_PIXELS = 96
_VIEW = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')


def write_markdown(report: Report, folder: Path) -> list[Path]:
    """Writes report.md and the figures; returns the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [f"# {escaped(report.heading)}", "", *(f"**Attention: {escaped(one)}**\n" for one in report.warnings)]
    lines += [f"{escaped(one.text)}\n" for one in report.said]
    alone = len(report.parts) == 1
    for section in report.before if not alone else ():
        lines += _section(section, 2)
    for part in report.parts:
        if not alone:
            lines += (f"## {escaped(f'{part.front.title}: {part.source}')}", "")
        lines += _front(part)
        for section in (*(report.before if alone else ()), *part.chapters):
            lines += _section(section, 2 if alone else 3)
    for section in report.after:
        lines += _section(section, 2)
    heroes = [part.front.hero for part in report.parts if part.front.hero and part.front.hero.svg]
    written = []
    for figure in (*heroes, *_figures(report.chapters)):
        written.append(folder / f"{figure.name}.svg")
        write(written[-1], _sized(figure.svg).encode("utf-8"))
    written.append(folder / "report.md")
    write(written[-1], ("\n".join(lines).rstrip() + "\n").encode("utf-8"))
    return written


def _sized(svg: str) -> str:
    """The drawing as large as it was made: one without a size is as wide as whatever shows it."""
    def with_size(match: "re.Match[str]") -> str:
        width, height = (float(one) * _PIXELS / _POINTS for one in match.groups())
        return f'width="{width:.0f}" height="{height:.0f}" {match.group()}'
    return _VIEW.sub(with_size, svg, count=1)


def _front(part: Part) -> Iterator[str]:
    front = part.front
    yield from (escaped(front.asked), "")
    yield from (*(f"- {_answer(one)}" for one in front.answers), "")
    if front.hero:
        yield from _figure(front.hero)
    for table in front.tables:
        yield from _table(table.table)
    if front.machine:
        yield from (escaped(front.machine), "")


def _answer(one: Answer) -> str:
    question = f"**{escaped(one.question)}** " if one.question else ""
    marks = f" ({', '.join(mark.text for mark in one.marks)})" if one.marks else ""
    return question + escaped(one.text + marks)


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
        block = block.short(MOST_ROWS)
        heads = [f"**{escaped(head)}** " for head in block.heads] or [""] * len(block.texts)
        yield from (*(f"- {head}{escaped(text)}" for head, text in zip(heads, block.texts)), "")
    elif isinstance(block, (TableBlock, HeatMap)):
        yield from _table(block.table)
        yield from (f"<sub>{escaped(f'{block.source}: {block.table.place}')}</sub>", "")
    elif isinstance(block, Figure):
        yield from _figure(block)


def _figure(figure: Figure) -> Iterator[str]:
    if figure.svg:
        yield from (f"![{escaped(figure.title)}]({figure.name}.svg)", "")
    else:
        yield from (escaped(figure.description), "")
    yield from (f"<sub>{escaped(f'{figure.source}: {figure.place}')}</sub>", "")
    if figure.tables:
        legend = (escaped(figure.legend), "") if figure.legend else ()
        yield from ("<details>", f"<summary>{figure.tables_name}</summary>", "", *legend)
        for table in figure.tables:
            yield from _table(table)
        yield from ("</details>", "")


def _table(table: Table) -> Iterator[str]:
    table = table.short(MOST_ROWS)
    yield from (f"**{escaped(table.heading)}**", "", *markdown_table(table), "")
    yield from (part for note in table.notes for part in (escaped(note), ""))
