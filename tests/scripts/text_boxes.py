"""Where the texts of a figure lie, and which of them are in each other's way or out of the frame."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from convladder_charts.drawable import Drawn
from convladder_charts import style

_TOUCH = 0.6
"""Points by which boxes may overlap: they have some air around the letters."""


@dataclass(frozen=True)
class Box:
    """In points from the lower left corner."""

    text: str
    left: float
    bottom: float
    right: float
    top: float

    def meets(self, other: "Box") -> bool:
        """Whether both cover more than their air."""
        return (min(self.right, other.right) - max(self.left, other.left) > _TOUCH
                and min(self.top, other.top) - max(self.bottom, other.bottom) > _TOUCH)


def boxes(figure: Any) -> list[Box]:
    """Of every text that is seen."""
    FigureCanvasAgg(figure)
    figure.set_dpi(72)
    figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()
    hidden = {text for axes in figure.axes for axis in (axes.xaxis, axes.yaxis) for tick in
              (*axis.get_major_ticks(), *axis.get_minor_ticks()) if tick not in axis._update_ticks()
              for text in (tick.label1, tick.label2)}
    hidden |= {text for axes in figure.axes if not axes.axison for text in axes.xaxis.findobj(Text)}
    hidden |= {text for axes in figure.axes if not axes.axison for text in axes.yaxis.findobj(Text)}
    found = []
    for text in figure.findobj(Text):
        if text in hidden or not text.get_visible() or not text.get_text().strip():
            continue
        extent = text.get_window_extent(renderer)
        found.append(Box(text.get_text(), extent.x0, extent.y0, extent.x1, extent.y1))
    return found


def faults(figure: Any) -> list[str]:
    """Every pair of texts that overlap, and every text that leaves the figure."""
    width, height = (72 * inches for inches in figure.get_size_inches())
    found = boxes(figure)
    said = [f"{one.text!r} over {other.text!r}" for one, other in itertools.combinations(found, 2) if one.meets(other)]
    said += [f"{one.text!r} leaves the frame" for one in found
             if one.left < -_TOUCH or one.bottom < -_TOUCH or one.right > width + _TOUCH or one.top > height + _TOUCH]
    return said


def faults_of(drawn: Drawn) -> dict[str, list[str]]:
    """Of every figure of a record that has any."""
    found = {}
    with style.applied():
        for drawing in drawn.drawings:
            page, _, _ = drawing.draw(drawing.record, drawing.of, None)
            if said := faults(page.figure):
                found[drawing.name] = said
    return found
