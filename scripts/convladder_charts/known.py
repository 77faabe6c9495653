"""A ratio as the record holds it: a number that knows how well it is known."""

from __future__ import annotations

from typing import Optional

from convladder_charts.json_text import Node
from convladder_charts.stage import optional, printable


class Ratio(float):
    """A factor, or a share in percent, with the interval in which it lies; None where the record has none."""

    low: Optional[float]
    high: Optional[float]
    level: Optional[float]
    by: str
    """rounds, medians, ranges or counts: from what the interval was computed."""

    def __new__(cls, value: float, low: Optional[float] = None, high: Optional[float] = None,
                level: Optional[float] = None, by: str = "medians") -> Ratio:
        made = super().__new__(cls, value)
        made.low, made.high, made.level, made.by = low, high, level, by
        return made

    def holds(self, other: float) -> bool:
        """Whether it cannot be told from `other`; so without an interval."""
        return self.low is None or self.high is None or self.low <= other <= self.high


def ratio_of(node: Node) -> Ratio:
    """Reads one. Raises RecordError."""
    low, high, level = (optional(node.field(name), Node.number) for name in ("low", "high", "level"))
    return Ratio(node.field("value").number(), low, high, level, printable(node.field("by").text()))
