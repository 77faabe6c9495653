"""A ratio as the record holds it: a number that knows how well it is known."""

from __future__ import annotations

from typing import Optional

from convladder_charts.json_text import Node
from convladder_charts.stage import optional, printable

FROM_RUN_TO_RUN = 0.015
"""How far a ratio differs from run to run beyond what its samples show (kFromRunToRun)."""
Known = tuple[Optional[float], Optional[float], Optional[float]]
"""A figure, and the ends of its interval."""


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


def quotient(over: Known, under: Known) -> Optional[Ratio]:
    """Of two times of which nothing pairs the samples: from one's low over the other's high to the other two ends, and
    wider by what differs from run to run (docs/how/measuring.md). None where a side is missing or not above 0."""
    (value, low, high), (below, below_low, below_high) = over, under
    if not value or not below or value <= 0 or below <= 0:
        return None
    if not low or not high or not below_low or not below_high or low <= 0 or below_low <= 0:
        return Ratio(value / below)
    return Ratio(value / below, low / below_high * (1 - FROM_RUN_TO_RUN), high / below_low * (1 + FROM_RUN_TO_RUN))
