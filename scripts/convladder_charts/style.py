"""How everything looks: fonts, colours, and the mark by which a stage is known in every chart."""

from __future__ import annotations

import functools
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Iterator

import matplotlib
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from convladder_charts.record import Stage

INK = "#1b1f24"
MUTED = "#5b636d"
FAINT = "#e3e6ea"
GUIDE = "#a9b0b8"
PAPER = "#ffffff"
GAIN, GAIN_EDGE = "#b9d8f0", "#0b66a8"
LOSS, LOSS_EDGE = "#f6cfb4", "#b4490f"
UNTOLD, UNTOLD_EDGE = "#dfe3e7", "#7a828c"
"""Of what cannot be told apart."""
WARNING = "#a3370b"
ROLES = {"baseline": "#6b737d", "sixth": "#b4490f", "best": "#0b66a8", "library": "#1b1f24", "": "#8f979f"}
"""The colour of what a stage is on its ladder, the same in every chart that tells of few stages."""

DARK = {PAPER: "#14181d", INK: "#e8ebee", MUTED: "#aab3bd", FAINT: "#2b323a", GUIDE: "#66707b", "#eef0f2": "#262c33",
        GAIN: "#1c4566", GAIN_EDGE: "#6bb7f0", LOSS: "#62341b", LOSS_EDGE: "#f29a66", WARNING: "#ff9d73",
        "#dfe3e7": "#333a42", "#6b737d": "#98a2ad", "#8f979f": "#79838e", "#7a828c": "#98a2ad", "#4a5058": "#b4bcc5",
        "#0072b2": "#4aa3dc",
        "#8c8300": "#cfc433", "#d55e00": "#ee7a1f", "#b3261e": "#ff7b70", "#3c4a57": "#9fb0c0", "#c98a3a": "#d9a055"}
"""What takes a colour's place on a dark ground. All others are seen on both."""

# Okabe and Ito's colours without black, which is the libraries'. Yellow comes last: it needs its dark edge on white.
_COLOURS = ("#D55E00", "#E69F00", "#009E73", "#56B4E9", "#0072B2", "#CC79A7", "#F0E442")
_EDGES = {"#F0E442": "#8C8300"}
_DASHES: tuple[Any, ...] = ("solid", (0, (5, 1.6)), (0, (1.2, 1.4)))
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p", "<", ">", "h", "*")

_LIBRARY_COLOURS = ("#1b1f24", "#7a828c", "#4a5058")
_LIBRARY_DASHES: tuple[Any, ...] = ((0, (6, 2.5)), (0, (2.5, 1.5)), (0, (6, 1.5, 1.2, 1.5)))
_LIBRARY_MARKERS = ("x", "+", "1", "2")

# Metrics are those of DejaVu Sans, which matplotlib brings along; Verdana is about as wide.
_FONTS = ["DejaVu Sans", "Verdana", "Helvetica", "Arial", "sans-serif"]

_SETTINGS: dict[str, Any] = {
    "font.family": ["sans-serif"],
    "font.sans-serif": _FONTS,
    "font.size": 8.5,
    "text.color": INK,
    "text.parse_math": False,
    "text.usetex": False,
    "axes.edgecolor": GUIDE,
    "axes.linewidth": 0.8,
    "axes.labelcolor": MUTED,
    "axes.labelsize": 8.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.unicode_minus": True,
    "axes.formatter.use_locale": False,
    "grid.color": FAINT,
    "grid.linewidth": 0.8,
    "xtick.color": GUIDE,
    "ytick.color": GUIDE,
    "xtick.labelcolor": MUTED,
    "ytick.labelcolor": MUTED,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "hatch.linewidth": 0.7,
    "figure.facecolor": PAPER,
    "savefig.facecolor": PAPER,
    "savefig.dpi": 240,
    "svg.fonttype": "none",
    "svg.hashsalt": "convladder",
}


@dataclass(frozen=True)
class Mark:
    """Colour, outline, dash and marker of one stage: the same in every chart of every run."""

    colour: str
    edge: str
    dash: Any
    marker: str


def mark_of(stage: Stage) -> Mark:
    """A stage's mark follows from its rung alone, so leaving a stage out recolours no other.

    Colour, dash and marker turn at different speeds: 84 rungs pass before two share colour and marker.
    """
    if stage.is_library:
        colour = _turn(_LIBRARY_COLOURS, stage.twin)
        return Mark(colour, colour, _turn(_LIBRARY_DASHES, stage.twin), _turn(_LIBRARY_MARKERS, stage.twin))
    slot = (stage.rung or 0) - 1 + 3 * len(_COLOURS) * stage.twin
    colour = _turn(_COLOURS, slot)
    return Mark(colour, _EDGES.get(colour, colour), _turn(_DASHES, slot // len(_COLOURS)), _turn(_MARKERS, slot))


def _turn(choices: tuple[Any, ...], index: int) -> Any:
    return choices[index % len(choices)]


@contextmanager
def applied() -> Iterator[None]:
    """matplotlib with these settings and its own defaults, whatever a user's matplotlibrc says."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_SETTINGS)
        yield


@functools.lru_cache(maxsize=10000)
def text_inches(text: str, size: float, weight: str = "normal") -> float:
    """The width a text takes when drawn. The same texts are asked for again and again: a tenth of a report's time."""
    font = FontProperties(family=["sans-serif"], size=size, weight=weight)
    return text_to_path.get_text_width_height_descent(text, font, ismath=False)[0] / 72


def fitted(text: str, size: float, inches: float, weight: str = "normal") -> str:
    """The text, cut with an ellipsis if it is too wide."""
    if text_inches(text, size, weight) <= inches:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if text_inches(text[:middle] + "…", size, weight) <= inches else (low, middle - 1)
    return text[:low].rstrip() + "…"
