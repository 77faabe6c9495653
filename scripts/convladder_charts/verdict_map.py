"""Verdicts by stage and size: a sign and a colour for each case of two compared runs."""

from __future__ import annotations

from typing import Optional

from convladder_charts.comparison import LOOKS, Change, Comparison, percent
from convladder_charts.grid import Block, Cell, Grid, legend
from convladder_charts.page import MARGIN, Heading, Page
from convladder_charts.style import MUTED

WIDTH = 11.6
_LEGEND = 0.4
_SIGN = 0.28


def draw(_record: object, comparison: Comparison, _batch: Optional[int]) -> tuple[Page, str, str]:
    """The figure, its title and its description in words."""
    title = "Verdicts against the base, stage by size"
    about = ["in a cell: the sign of the verdict, and the change of time where it was measured in both; columns are "
             "batches", f"base {comparison.base}", f"new {comparison.now}"]
    devices = list(dict.fromkeys(one.device for one in comparison.changes))
    shown = list(dict.fromkeys(one.device for one in comparison.changes if one.verdict != "skipped"))
    about += [f"{device}: all cases skipped in both" for device in devices if device not in shown]
    heading = Heading(title, about, (), WIDTH)
    grids = [(device, _grid(comparison, device)) for device in shown]
    page = Page(WIDTH, heading.height + _LEGEND + sum(grid.height + _SIGN for _, grid in grids))
    heading.draw(page)
    present = [verdict for verdict in LOOKS if comparison.with_verdict(verdict)]
    legend(page, heading.height + 0.1, [(Cell(LOOKS[one].sign, LOOKS[one].colour, LOOKS[one].ink), one)
                                        for one in present])
    top = heading.height + _LEGEND
    for device, grid in grids:
        page.text(MARGIN, top + 0.16, device, fontsize=10, weight="bold", color=MUTED)
        grid.draw(page, top + _SIGN)
        top += _SIGN + grid.height
    words = [f"{verdict}: " + ", ".join(one.id for one in comparison.with_verdict(verdict)) + "."
             for verdict in present]
    return page, title, " ".join(words)


def _grid(comparison: Comparison, device: str) -> Grid:
    changes = [one for one in comparison.changes if one.device == device]
    stages = sorted(dict.fromkeys(one.stage for one in changes), key=lambda stage: (stage.is_library, stage.rung or 0,
                                                                                   stage.twin, stage.name))
    cells = {(one.stage, one.layer, one.batch): one for one in changes}
    blocks = []
    for layer in dict.fromkeys(one.layer for one in changes):
        batches = sorted(dict.fromkeys(one.batch for one in changes if one.layer == layer),
                         key=lambda batch: (len(batch), batch))
        blocks.append(Block(layer, tuple(batches), tuple(
            tuple(_cell(cells.get((stage, layer, batch))) for batch in batches) for stage in stages)))
    return Grid(stages, blocks, WIDTH)


def _cell(change: Optional[Change]) -> Optional[Cell]:
    if change is None:
        return None
    text = change.look.sign
    if change.bounds is not None:
        text += f" {percent(change.bounds.estimate).replace(' %', '')}"
    return Cell(text, change.look.colour, change.look.ink)

