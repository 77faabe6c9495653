"""A figure measured in inches from its upper left corner, its heading, and its file."""

from __future__ import annotations

import io
import os
import re
import secrets
import stat
from itertools import accumulate
from pathlib import Path
from typing import Any, Iterable, Optional, Sequence
from xml.sax.saxutils import escape

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from convladder_charts import dark
from convladder_charts.record import Group, Record, Row
from convladder_charts.style import FAINT, INK, MUTED, PAPER, fitted, text_inches
from convladder_charts.units import span

MARGIN = 0.3
WIDTH = 6.4
"""Of pictures that can be read at 400 pixels."""
_TITLE_SIZE = 12.5
_SUBTITLE_SIZE = 8.5
_LINE = 0.185
_FOOT_SIZE = 7.0
_FOOT_LINE = 0.145
_HINT = "hint-"
_NOT_IN_XML = {code: " " for code in {*range(0x20), 0xFFFE, 0xFFFF} - {*map(ord, "\t\n\r")}}
"""A record's names may hold them."""


class Page:
    """Places things where they are meant to be; no layout engine moves them afterwards."""

    def __init__(self, width: float, height: float) -> None:
        self.width = width
        self.height = height
        self.figure = Figure(figsize=(width, height))
        self.hints: list[str] = []

    def axes(self, left: float, top: float, width: float, height: float) -> Axes:
        """A plot whose frame is exactly this rectangle."""
        return self.figure.add_axes(
            (left / self.width, 1 - (top + height) / self.height, width / self.width, height / self.height))

    def text(self, left: float, top: float, text: str, **options: Any) -> None:
        """A text whose anchor is at this point; baseline alignment unless said."""
        options = {"fontsize": 8.5, "va": "center_baseline", "ha": "left"} | options
        self.figure.text(left / self.width, 1 - top / self.height, text, **options)

    def hint(self, axes: Axes, frame: tuple[float, float, float, float], text: str) -> None:
        """A part of a plot, at left, bottom, width and height in its values, that says this to a pointer in an SVG."""
        axes.add_patch(Rectangle(frame[:2], frame[2], frame[3], facecolor=PAPER, alpha=0, linewidth=0, zorder=9,
                                 gid=f"{_HINT}{len(self.hints)}"))
        self.hints.append(text)

    def line(self, points: Sequence[tuple[float, float]], **options: Any) -> None:
        """A line or marker through points of the page."""
        xs, ys = zip(*points)
        self.figure.add_artist(Line2D(
            [x / self.width for x in xs], [1 - y / self.height for y in ys],
            transform=self.figure.transFigure, **options))


class Heading:
    """What every figure says at its top: what is shown, how it was sampled, on what and from which commit."""

    def __init__(self, title: str, lines: Iterable[str], warnings: Iterable[str], width: float) -> None:
        inner = width - 2 * MARGIN
        self.title = title
        self._titles = wrapped(title, _TITLE_SIZE, inner, "bold")
        self._lines = [part for line in lines for part in wrapped(line, _SUBTITLE_SIZE, inner)]
        self._warnings = [part for line in warnings for part in wrapped("! " + line, _SUBTITLE_SIZE, inner, "bold")]

    @property
    def height(self) -> float:
        """The space it takes, its margin above and below included."""
        rows = len(self._lines) + len(self._warnings)
        return MARGIN + 0.25 * len(self._titles) + _LINE * rows + 0.2

    def draw(self, page: Page) -> None:
        """Writes it at the top of the page."""
        top = MARGIN + 0.06
        for line in self._titles:
            page.text(MARGIN, top, line, fontsize=_TITLE_SIZE, weight="bold", color=INK)
            top += 0.25
        for line, weight in [(w, "bold") for w in self._warnings] + [(x, "normal") for x in self._lines]:
            page.text(MARGIN, top, line, fontsize=_SUBTITLE_SIZE, color=INK if weight == "bold" else MUTED,
                      weight=weight)
            top += _LINE


class Foot:
    """What every figure says once and small, at its end: how it was sampled, on what, and what is not in it."""

    def __init__(self, notices: Iterable[str], width: float) -> None:
        text = " · ".join(notice for notice in notices if notice)
        self._lines = wrapped(text, _FOOT_SIZE, width - 2 * MARGIN) if text else []

    @property
    def height(self) -> float:
        """The space it takes, its margin below included."""
        return 0.12 + _FOOT_LINE * len(self._lines) + 0.14

    def draw(self, page: Page) -> None:
        """Writes it at the bottom of the page."""
        top = page.height - self.height + 0.12
        for index, line in enumerate(self._lines):
            page.text(MARGIN, top + (index + 0.5) * _FOOT_LINE, line, fontsize=_FOOT_SIZE, color=MUTED)


def page_below(heading: Heading, width: float, heights: Sequence[float],
               foot: Optional[Foot] = None) -> tuple[Page, list[float]]:
    """A page with the heading and room for parts of these heights below it, one below the other; where each begins."""
    page = Page(width, heading.height + sum(heights) + (foot.height if foot else 0.1))
    heading.draw(page)
    if foot:
        foot.draw(page)
    return page, list(accumulate(heights, initial=heading.height))[:-1]


def notices(record: Record, group: Group, rows: Sequence[Row], mark: str) -> list[str]:
    """What a figure of times says at its foot."""
    return [sampling(group, rows, mark), provenance(record, group), *record.notices, quality_notice(rows)]


def quality_notice(rows: Iterable[Row]) -> str:
    """What the signs beside times are; empty where there are none."""
    signs = {row.sign: row.quality for row in rows if row.has_time and row.sign}
    named = ", ".join(f"{sign} {quality}" for sign, quality in sorted(signs.items(), reverse=True))
    return f"{named}: the machine was not quiet while that was measured" if named else ""


def sampling(group: Group, rows: Sequence[Row], mark: str) -> str:
    """How many samples each figure is based on, and what its interval is."""
    samples = [float(row.samples) for row in rows if row.samples]
    levels = [100 * row.level for row in rows if row.level is not None]
    parts = [f"{group.kind}, median of n = {span(samples)} samples" if samples else f"{group.kind}, without samples"]
    if levels:
        parts.append(f"{mark} {span(levels, 1)} % confidence interval of the median")
    caches = sorted({row.cache for row in rows if row.cache in ("hot", "cold")})
    return "; ".join(parts + [f"caches {' and '.join(caches)}"] if caches else parts)


def device_name(group: Group) -> str:
    """The device as a title writes it, with the word that keeps a model's figures from passing for a clock's."""
    name = group.device.upper() if group.device in ("cpu", "cuda") else group.device
    if getattr(group, "machine", None) is not None:  # of networks there is none
        name = f"{name} of {group.hardware}"
    return name if group.kind == "measured" else f"{name}, {group.kind.upper()}"


def provenance(record: Record, group: Group) -> str:
    """Where the figures come from."""
    return f"{group.hardware} · commit {record.commit} · data: {record.data}"


def times_named(rows: Iterable[Row]) -> str:
    """How the rows' times are called: of sizes of a problem, which are no layers, they are of the call."""
    return "call time" if {row.of for row in rows if row.has_time} == {"call"} else "layer time"


def panel_title(page: Page, left: float, top: float, name: str, detail: str) -> None:
    """A panel's layer in bold, its shape and batch beside it, as far as the page has room."""
    room = page.width - MARGIN - left
    name = fitted(name, 10, room, "bold")
    page.text(left, top, name, fontsize=10, weight="bold")
    used = text_inches(name, 10, "bold") + 0.14
    if detail and room - used > 0.5:
        page.text(left + used, top, fitted(detail, 8.5, room - used), color=MUTED)


def rule(page: Page, left: float, right: float, top: float) -> None:
    """A faint horizontal line."""
    page.line([(left, top), (right, top)], color=FAINT, linewidth=0.8)


def wrapped(text: str, size: float, inches: float, weight: str = "normal") -> list[str]:
    """The text in lines of at most this width, broken between words; a word that is longer is broken itself."""
    lines = [""]
    for word in text.split():
        for index, piece in enumerate(_pieces(word, size, inches, weight)):
            longer = f"{lines[-1]} {piece}".strip()
            if not lines[-1] or index == 0 and text_inches(longer, size, weight) <= inches:
                lines[-1] = longer
            else:
                lines.append(piece)
    return lines


def _pieces(word: str, size: float, inches: float, weight: str) -> list[str]:
    pieces = [""]
    for letter in word:
        if pieces[-1] and text_inches(pieces[-1] + letter, size, weight) > inches:
            pieces.append("")
        pieces[-1] += letter
    return pieces


def svg(page: Page, title: str, description: str) -> str:
    """The figure as SVG that says what it shows: the same text for the same record."""
    buffer = io.BytesIO()
    page.figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue().decode("utf-8").translate(_NOT_IN_XML)
    for index, hint in enumerate(page.hints):
        words = escape(hint.translate(_NOT_IN_XML))
        text = re.sub(rf'(<g id="{_HINT}{index}">\s*<path [^>]*?)/>', lambda found, words=words: (
            f'{found[1]} pointer-events="all"><title>{words}</title></path>'), text, count=1)
    return _accessible(text, title.translate(_NOT_IN_XML), description.translate(_NOT_IN_XML))


def save(page: Page, path: Path, title: str, description: str) -> None:
    """Writes the figure as .svg or .png by the path's ending: the same bytes for the same record."""
    if path.suffix == ".svg":
        write(path, svg(page, title, description).encode("utf-8"))
    else:
        buffer = io.BytesIO()
        page.figure.savefig(buffer, format="png", metadata={"Software": None, "Title": title,
                                                            "Description": description})
        write(path, buffer.getvalue())


def _accessible(svg: str, title: str, description: str) -> str:
    """Gives the drawing a name and a description for those who cannot see it."""
    start = svg.index("<svg ")
    end = svg.index(">", start)
    opening = svg[start:end] + ' role="img" aria-labelledby="figure-title figure-description">'
    texts = (f'\n <title id="figure-title">{escape(title)}</title>'
             f'\n <desc id="figure-description">{escape(description)}</desc>')
    return svg[:start] + opening + texts + "\n " + dark.rules() + svg[end + 1:]


def write(path: Path, content: bytes) -> None:
    """Puts a whole file in place or none, as support/file_bytes.hpp says: a reader never sees half of one."""
    write_parts(path, (content,))


def write_parts(path: Path, parts: Iterable[bytes]) -> None:
    """The same of a file that is made part by part."""
    target = Path(os.path.realpath(path))  # a link stays, and what it names is replaced
    old = target.stat().st_mode if target.exists() else None
    if old is not None and not stat.S_ISREG(old):
        with open(target, "wb") as file:  # a device or a pipe
            file.writelines(parts)
        return
    temporary = target.parent / f".{target.name[:200]}.{secrets.token_hex(8)}.partial"
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666 if old is None else 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            if old is not None:
                os.fchmod(handle, stat.S_IMODE(old))
            file.writelines(parts)
            file.flush()
            os.fsync(handle)
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise
