"""The ladder: times on a logarithmic axis, each stage's step from the time of the stage that it builds on."""

from __future__ import annotations

from typing import Iterable, Optional, Sequence

from convladder_charts.known_text import legend, short_factor, untold
from convladder_charts.ladder_panel import NAME_SIZE, QUIETLY, Panel, shows_both
from convladder_charts.page import WIDTH, Foot, Heading, Page, device_name, notices, page_below, times_named
from convladder_charts.record import Group, Ladder, Record, Row
from convladder_charts.style import text_inches
from convladder_charts.words import title

MOST_PANELS = 3
_LONGEST_NAME = 2.02


def chosen_ladders(group: Group, batch: Optional[int]) -> list[Ladder]:
    """Per layer the asked batch, or the largest of those whose ladder tells most: has the baseline, stage 6
    stage, the best and a library. A stage that left at a first look takes nothing from that."""
    chosen = []
    for layer in group.layers:
        offered = [one for one in group.of_layer(layer) if batch is None or one.batch == batch]
        if offered:
            chosen.append(max(offered, key=lambda one: (_told(one), one.batch)))
    return chosen


def _told(ladder: Ladder) -> int:
    """How many of the stages that a summary names there are."""
    summary = ladder.summary
    return sum(name is not None for name in (summary.baseline, summary.sixth, summary.best, summary.library))


def drawn_ladders(group: Group, batch: Optional[int]) -> list[Ladder]:
    """Those of a picture: of many layers the ones that take longest, in the record's order."""
    offered = [one for one in chosen_ladders(group, batch) if one.timed]
    longest = sorted(offered, key=lambda one: -max(row.median or 0.0 for row in one.timed))[:MOST_PANELS]
    return [one for one in offered if one in longest]


def draw(record: Record, group: Group, batch: Optional[int]) -> tuple[Page, str, str]:
    """The figure, its title and its description in words."""
    ladders = drawn_ladders(group, batch) or chosen_ladders(group, batch)[:1]
    panels = [Panel(one, record, len(ladders) == 1) for one in ladders]
    rows = [row for panel in panels for row in panel.rows if row.has_time]
    heading = Heading(title(record, group, ladders), [_subtitle(group, rows)],
                      record.warnings, WIDTH)
    left_out = max((panel.left_out for panel in panels), default=0)
    others = len([one for one in chosen_ladders(group, batch) if one.timed]) - len(ladders) + group.more_layers
    foot = Foot([*(_left_out(left_out, others)), _missing(ladders),
                 "grey, ~1×: cannot be told from the stage that it builds on" if any(untold(row.x_previous) for row in rows) else "",
                 legend(short_factor(row.x_previous) for row in rows if not untold(row.x_previous)),
                 "dotted: over stages without a time" if any(any(panel.leaps.values()) for panel in panels) else "",
                 "○ op time: the convolution alone in its own layout, compared with nothing" if any(map(shows_both, rows)) else "",
                 *notices(record, group, rows, "bars:")], WIDTH)
    page, tops = page_below(heading, WIDTH, [panel.height for panel in panels], foot)
    names = _name_column(panels)
    for top, panel in zip(tops, panels):
        panel.draw(page, top, names)
    return page, title(record, group, ladders), " ".join(panel.words() for panel in panels)


def _subtitle(group: Group, rows: Sequence[Row]) -> str:
    steps = "; a step starts at the time of the stage that it builds on" if any(row.x_previous is not None for row in rows) else ""
    return f"{device_name(group)}, {group.kind} {times_named(rows)}{steps}"


def _left_out(stages: int, layers: int) -> list[str]:
    parts = [f"{stages} more stage{'s' * (stages != 1)}"] if stages else []
    parts += [f"{layers} more layer{'s' * (layers != 1)}"] if layers > 0 else []
    return [f"not drawn: {' and '.join(parts)}, in table.md"] if parts else []


def _name_column(panels: Iterable[Panel]) -> float:
    """Wide enough for the longest name, in all panels the same, so that axes begin on one line."""
    widths = [text_inches(row.stage.label, NAME_SIZE, "bold") for panel in panels for row in panel.rows]
    return min(max(widths, default=1.0), _LONGEST_NAME) + 0.14


def _missing(ladders: Sequence[Ladder]) -> str:
    """Stages that cannot do some layer: no failure, and no row."""
    where: dict[tuple[str, str], list[str]] = {}
    for ladder in ladders:
        for row in ladder.rows:
            if not row.has_time and row.status in QUIETLY:
                where.setdefault((row.stage.label.replace("  ", " "), row.status), []).append(ladder.layer_name)
    named = [f"{stage} {status}" + (f" on {', '.join(layers)}" if len(ladders) > 1 else "")
             for (stage, status), layers in where.items()]
    return "; ".join(named[:3]) + (f"; {len(named) - 3} more" if len(named) > 3 else "")
