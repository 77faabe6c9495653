"""A grid of stages by sizes: a cell for each, with a text in it, a block of columns for each layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Sequence

from matplotlib.patches import Rectangle

from convladder_charts.bars import stage_mark
from convladder_charts.dark import KEPT
from convladder_charts.page import MARGIN, Page
from convladder_charts.stage import Stage
from convladder_charts.style import INK, MUTED, fitted, text_inches

_ROW = 0.27
_HEAD = 0.55
_GAP = 0.22
_BELOW = 0.2
_NAME_SIZE = 8.5
_CELL_SIZE = 8.0
_LONGEST_NAME = 2.6
_NARROWEST = 0.56


@dataclass(frozen=True)
class Cell:
    """What a cell says, and how."""

    text: str
    fill: str = "white"
    ink: str = MUTED


@dataclass(frozen=True)
class Block:
    """The columns of one layer: a cell for each stage of the grid and each column, None where nothing was asked."""

    title: str
    columns: tuple[str, ...]
    cells: tuple[tuple[Optional[Cell], ...], ...]


class Grid:
    """Blocks beside each other as far as the page is wide, each line of them with the stages' names at its left."""

    def __init__(self, stages: Sequence[Stage], blocks: Sequence[Block], width: float) -> None:
        self.stages = stages
        self.width = width
        names = [text_inches(stage.label, _NAME_SIZE) for stage in stages]
        self.names = min(max(names, default=1.0), _LONGEST_NAME) + 0.4
        texts = [text_inches(cell.text, _CELL_SIZE) for one in blocks for row in one.cells for cell in row if cell]
        texts += [text_inches(column, 8) for one in blocks for column in one.columns]
        self.cell = max(max(texts, default=0) + 0.14, _NARROWEST)
        self.lines = self._lines([part for one in blocks for part in self._parts(one)])

    @property
    def height(self) -> float:
        """Of all lines of blocks."""
        return len(self.lines) * (_HEAD + _ROW * len(self.stages) + _BELOW)

    def draw(self, page: Page, top: float) -> None:
        """Puts it there."""
        for line in self.lines:
            for index, stage in enumerate(self.stages):
                middle = top + _HEAD + (index + 0.5) * _ROW
                stage_mark(page, MARGIN + 0.08, middle, stage)
                page.text(MARGIN + 0.24, middle, fitted(stage.label, _NAME_SIZE, self.names - 0.3), fontsize=_NAME_SIZE)
            for left, block in line:
                self._block(page, left, top, block)
            top += _HEAD + _ROW * len(self.stages) + _BELOW

    def _parts(self, block: Block) -> list[Block]:
        """A block that is wider than a whole line, in pieces."""
        most = max(int((self.width - 2 * MARGIN - self.names) / self.cell), 1)
        return [Block(block.title, block.columns[start:start + most],
                      tuple(row[start:start + most] for row in block.cells))
                for start in range(0, len(block.columns), most)]

    def _lines(self, blocks: Sequence[Block]) -> list[list[tuple[float, Block]]]:
        lines: list[list[tuple[float, Block]]] = []
        left = self.width
        for block in blocks:
            takes = max(self.cell * len(block.columns), text_inches(block.title, 8.5, "bold"))
            if not lines or left + takes > self.width - MARGIN:
                lines.append([])
                left = MARGIN + self.names
            lines[-1].append((left, block))
            left += takes + _GAP
        return lines

    def _block(self, page: Page, left: float, top: float, block: Block) -> None:
        room = self.width - MARGIN - left
        page.text(left, top + 0.16, fitted(block.title, 8.5, room, "bold"), fontsize=8.5, weight="bold", color=INK)
        for index, column in enumerate(block.columns):
            page.text(left + (index + 0.5) * self.cell, top + 0.4, column, fontsize=8, color=MUTED, ha="center")
        width, height = self.cell * len(block.columns), _ROW * len(self.stages)
        axes = page.axes(left, top + _HEAD, width, height)
        axes.set_xlim(0, len(block.columns))
        axes.set_ylim(len(self.stages), 0)
        axes.axis("off")
        for row, cells in enumerate(block.cells):
            for column, cell in enumerate(cells):
                if cell is None:
                    continue
                axes.add_patch(Rectangle((column + 0.015, row + 0.03), 0.97, 0.94, facecolor=cell.fill, linewidth=0,
                                         gid=KEPT))
                page.text(left + (column + 0.5) * self.cell, top + _HEAD + (row + 0.5) * _ROW, cell.text,
                          fontsize=_CELL_SIZE, color=cell.ink, ha="center", gid=KEPT)


def legend(page: Page, top: float, entries: Sequence[tuple[Cell, str]]) -> None:
    """Swatches of cells with what they mean, in one line."""
    left = MARGIN
    for cell, words in entries:
        box = max(text_inches(cell.text, _CELL_SIZE) + 0.12, 0.3)
        axes = page.axes(left, top - 0.1, box, 0.2)
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1)
        axes.axis("off")
        axes.add_patch(Rectangle((0, 0), 1, 1, facecolor=cell.fill, edgecolor=MUTED, linewidth=0.5, gid=KEPT))
        page.text(left + box / 2, top, cell.text, fontsize=_CELL_SIZE, color=cell.ink, ha="center", gid=KEPT)
        page.text(left + box + 0.07, top, words, fontsize=8, color=INK)
        left += box + 0.25 + text_inches(words, 8)
