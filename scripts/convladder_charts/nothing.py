"""The figure of a run without a single time: it says so, and why, instead of an empty frame."""

from __future__ import annotations

from typing import Optional

from convladder_charts.page import MARGIN, Heading, Page, wrapped
from convladder_charts.record import Group, Record
from convladder_charts.style import MUTED

_WIDTH = 8.6


def draw(record: Record, _group: Optional[Group], _batch: Optional[int]) -> tuple[Page, str, str]:
    """The figure, its title and its description in words."""
    title = "No case of this run has a time"
    heading = Heading(title, [f"{record.cpu} · commit {record.commit} · data: {record.data}"], record.warnings, _WIDTH)
    reasons = record.skipped_lines or ("The run holds no ladders.",)
    lines = [part for reason in reasons for part in wrapped(reason, 9, _WIDTH - 2 * MARGIN)]
    page = Page(_WIDTH, heading.height + 0.22 * len(lines) + MARGIN)
    heading.draw(page)
    for index, line in enumerate(lines):
        page.text(MARGIN, heading.height + 0.1 + 0.22 * index, line, fontsize=9, color=MUTED)
    return page, title, " ".join(reasons)
