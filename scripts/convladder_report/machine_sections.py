"""Where a merged run was measured: a table of its machines."""

from __future__ import annotations

from typing import Iterator

from convladder_charts.about import cpu_text
from convladder_charts.json_text import Node
from convladder_charts.machines import machines
from convladder_charts.table_text import Table
from convladder_charts.units import NONE
from convladder_report.document import Block, Paragraph, TableBlock

_MOST_ROWS = 100


def blocks(root: Node, source: str) -> Iterator[Block]:
    """Nothing of a run that one machine measured by itself."""
    found = machines(root.field("context"))
    if not found:
        return
    yield Paragraph("This run was measured in parts. A sentinel, the same small case on every machine, says whether a machine is "
                    "like the others of its kind: 1.00 is their median. Stages that stand beside each other were always "
                    "measured on one machine.")
    shown = sorted(found, key=lambda one: (not one.off, one.kind, one.node))[:_MOST_ROWS]
    more = len(found) - len(shown)
    yield TableBlock(Table("Machines", ("machine", "kind", "processor", "GPU", "governor", "off", "sentinel x"), tuple(
        (one.node, str(one.kind), cpu_text(one.cpu), one.gpu or NONE, one.governor or NONE, "off" if one.off else NONE,
         NONE if one.sentinel_x is None else f"{one.sentinel_x:.2f}") for one in shown), 6,
        notes=(f"{more} more machines are in the record",) if more else (), place="$.context.machines"), source)
