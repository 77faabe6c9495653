"""Labels beside points, where neither another label nor a point is in their way, and never outside the frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Sequence

from convladder_charts.page import Page
from convladder_charts.style import GUIDE, INK, fitted, text_inches

Box = tuple[float, float, float, float]
"""Left, top, right and bottom, in inches of the page."""
_DISTANCES = (0.09, 0.2, 0.34, 0.5, 0.68, 0.88, 1.1)
_DIRECTIONS = ((1, 0), (-1, 0), (1, -0.6), (1, 0.6), (-1, -0.6), (-1, 0.6), (0.15, -1), (0.15, 1), (-0.15, -1), (-0.15, 1))
_AIR = 0.025
_CLEAR = 0.14


@dataclass(frozen=True)
class Wanted:
    """A label for a point of the page; the important ones are placed first."""

    across: float
    down: float
    text: str
    size: float = 8.0
    weight: str = "normal"
    colour: str = INK
    furthest: float = 1.2
    """From its point, in inches."""


class Labels:
    """Those of one plot. What finds no place is not written: its point stays a dot, and the caller's table names it."""

    def __init__(self, frame: Box, taken: Sequence[Box] = ()) -> None:
        self.frame = frame
        self.taken = list(taken)

    def point(self, across: float, down: float, radius: float = 0.05) -> None:
        """Keeps labels off a point."""
        self.taken.append((across - radius, down - radius, across + radius, down + radius))

    def line(self, start: tuple[float, float], end: tuple[float, float], steps: int = 60) -> None:
        """Keeps labels off a line."""
        for index in range(steps + 1):
            part = index / steps
            self.point(start[0] + part * (end[0] - start[0]), start[1] + part * (end[1] - start[1]), 0.02)

    def along(self, page: Page, line: Sequence[tuple[float, float]], text: str, size: float = 7.5) -> None:
        """Writes above a level line, as far to the right as there is room; or before it, or below."""
        (start, down), (end, _) = line
        width, height = text_inches(text, size) + 0.04, size / 72 * 1.1
        spare = end - start - width - _CLEAR  # a roof's slope begins where the line does, and leans over it
        steps = range(int(spare / 0.1) + 1 if spare >= 0 else 0)
        spots = [(end - width - 0.1 * step, middle) for middle in (down - height / 2 - 0.03, down + height / 2 + 0.035)
                 for step in steps]
        spots.insert(len(steps), (start - width - 0.06, down))
        for left, middle in spots:
            box = (left, middle - height / 2, left + width, middle + height / 2)
            if self._is_free(box):
                self.taken.append(box)
                page.text(left + width / 2, middle, text, fontsize=size, ha="center", color=INK)
                return

    def write(self, page: Page, wanted: Sequence[Wanted]) -> list[Wanted]:
        """Places and writes them; returns those that found no place."""
        lost = []
        for one in wanted:
            box = self._place(one)
            if box is None:
                lost.append(one)
                continue
            self.taken.append(box)
            near = (min(max(one.across, box[0]), box[2]), min(max(one.down, box[1]), box[3]))
            if max(abs(near[0] - one.across), abs(near[1] - one.down)) > 0.13:
                page.line([(one.across, one.down), near], color=GUIDE, linewidth=0.7)
            page.text((box[0] + box[2]) / 2, (box[1] + box[3]) / 2, self._text(one), fontsize=one.size,
                      weight=one.weight, color=one.colour, ha="center")
        return lost

    def _text(self, one: Wanted) -> str:
        return fitted(one.text, one.size, 0.6 * (self.frame[2] - self.frame[0]), one.weight)

    def _place(self, one: Wanted) -> Optional[Box]:
        width, height = text_inches(self._text(one), one.size, one.weight) + 0.02, one.size / 72 * 1.15
        for distance in (each for each in _DISTANCES if each <= one.furthest):
            for right, down in _DIRECTIONS:
                middle = one.down + down * distance
                if abs(right) == 1:
                    left = one.across + right * distance - (width if right < 0 else 0)
                else:
                    left = one.across - width / 2 + right * distance
                    middle += height / 2 * (1 if down > 0 else -1)
                box = (left, middle - height / 2, left + width, middle + height / 2)
                if self._is_free(box):
                    return box
        return None

    def _is_free(self, box: Box) -> bool:
        left, top, right, bottom = self.frame
        if box[0] < left or box[1] < top or box[2] > right or box[3] > bottom:
            return False
        return not any(meet(box, other, _AIR) for other in self.taken)


def meet(one: Box, other: Box, air: float = 0.0) -> bool:
    """Whether two boxes overlap, or come nearer than this."""
    return (one[0] < other[2] + air and other[0] < one[2] + air and one[1] < other[3] + air and other[1] < one[3] + air)
