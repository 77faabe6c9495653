"""What each idea of a stage is worth: horizontal bars, the stage itself above those that lack an idea."""

from __future__ import annotations

from typing import Optional, Sequence

from convladder_charts.bars import BAR, bar_axes
from convladder_charts.known import Ratio
from convladder_charts.known_text import bound, either, ends, is_rough, number, untold, why_no_headline
from convladder_charts.left_out import LeftOutFigure, LeftOutGroup, LeftOutRow, LeftOutView
from convladder_charts.page import MARGIN, WIDTH, Foot, Heading, Page, page_below, panel_title, rule
from convladder_charts.record import Record
from convladder_charts.style import INK, MUTED, PAPER, UNTOLD, fitted, text_inches
from convladder_charts.table_text import Table
from convladder_charts.units import NONE, linear_ticks

_ROW = 0.25
_PANEL_TOP = 0.46
_PANEL_BOTTOM = 0.5
_GAP = 0.2
_SIZE = 8.0
_NAMES = 1.95
_COLUMNS = 3
_PANEL = 0.26
_WHOLE, _LACKING = "#3c4a57", "#c98a3a"
_PAPER = {"facecolor": PAPER, "edgecolor": "none", "pad": 0.6}
NOTES = {
    "counted": "Each row is the stage with exactly one idea removed, counted in PTX; times are PREDICTED from "
               "these counts, never measured. Dashed: the stage with all of its ideas; grey: cannot be told from it; lines: intervals.",
    "measured": "Each row is the stage with exactly one idea removed, MEASURED side by side in one run. "
                "Dashed: the stage with all of its ideas; grey: cannot be told from it; lines: intervals.",
}


def draw(record: Record, group: LeftOutGroup, batch: Optional[int]) -> tuple[Page, str, str]:
    """The figure, its title and its description in words."""
    views = group.chosen(batch)
    title = _title(group, views)
    heading = Heading(title, [f"{group.kind.upper()}: a stage, and what lacks exactly one of its ideas"], record.warnings,
                      WIDTH)
    foot = Foot([NOTES.get(group.kind, ""), *_failed(views), group.hardware, f"commit {record.commit}",
                 f"data: {record.data}"], WIDTH)
    page, tops = page_below(heading, WIDTH, [_height(view) for view in views], foot)
    for top, view in zip(tops, views):
        _panel(page, top, view)
    return page, title, " ".join(map(_in_words, views))


def _title(group: LeftOutGroup, views: Sequence[LeftOutView]) -> str:
    """The dearest idea of the first view."""
    view = views[0]
    ideas = [row for row in view.by_price if not row.is_whole and view.figures[0].value(row)]
    if not ideas:
        return f"{group.device}: what each idea of {view.best} is worth"
    predicted = "PREDICTED: " if view.figures[0].kind == "predicted" else ""
    where = f"{view.layer_name}, batch {view.batch}"
    dearest = view.dearest
    if not dearest:
        return f"{predicted}no idea of {view.best} can be told to be worth anything: {where}"
    names = either([row.idea for row in dearest])
    said = price_words(view.price(view.cheapest_of_dearest))
    return f"{predicted}{'without' if predicted else 'Without'} {names} {view.best} takes {said}: {where}"


def price_words(price: Optional[Ratio]) -> str:
    """at least 1.4 times the time, from the bound; roughly where it is known less well; longer where it is hardly known."""
    if price is None or price.low is None or why_no_headline(price):
        return "longer"
    if is_rough(price):
        return f"roughly {number(price)} times the time ({ends(price)})"
    least = bound(price.low)
    return f"at least {least} times the time" if least else "slightly longer"


def _failed(views: Sequence[LeftOutView]) -> list[str]:
    """Each reason once, with the ideas that have no figure for it."""
    reasons: dict[str, list[str]] = {}
    for view in views:
        for row in view.rows:
            if row.why_no_figure:
                reasons.setdefault(row.why_no_figure, []).append(row.idea or view.best)
    return [f"no figure without {', '.join(dict.fromkeys(ideas))}: {reason}" for reason, ideas in reasons.items()]


def table(group: LeftOutGroup, view: LeftOutView) -> Table:
    """The same as a table."""
    columns = ("left out", *(f"{figure.name} ({figure.kind})" for figure in view.figures))
    rows = tuple((_name(row, view), *(row.why_no_figure or figure.text(row) for figure in view.figures))
                 for row in view.by_price)
    return Table(f"{group.device} · {view.layer_name} · batch {view.batch}: {view.best} without one of its ideas",
                 columns, rows, 1, place=f"{view.place}.rows", row_places=tuple(row.place for row in view.by_price))


def has_figures(group: LeftOutGroup, batch: Optional[int]) -> bool:
    """Whether anything is known of it."""
    return any(figure.value(row) is not None for view in group.chosen(batch) for figure in view.figures for row in view.rows)


def _lines(view: LeftOutView) -> list[tuple[LeftOutFigure, ...]]:
    """The price alone, then what differs of what was counted, as many as fit beside each other."""
    price, *counted = view.figures
    rest = [one for one in counted if len({one.text(row) for row in view.rows if one.value(row) is not None}) > 1]
    return [(price,), *(tuple(rest[start:start + _COLUMNS]) for start in range(0, len(rest), _COLUMNS))]


def _height(view: LeftOutView) -> float:
    return _PANEL + len(_lines(view)) * (_PANEL_TOP + len(view.rows) * _ROW + _PANEL_BOTTOM)


def _name(row: LeftOutRow, view: LeftOutView) -> str:
    return f"nothing ({view.best})" if row.is_whole else row.idea


def _panel(page: Page, top: float, view: LeftOutView) -> None:
    rows = view.by_price
    panel_title(page, MARGIN, top + 0.14, f"{view.layer_name}, batch {view.batch}", view.best)
    top += _PANEL
    for line, figures in enumerate(_lines(view)):
        top += _PANEL_TOP
        rule(page, MARGIN, WIDTH - MARGIN, top - 0.03)
        page.text(MARGIN, top - 0.14, "left out", fontsize=8, color=MUTED)
        for index, row in enumerate(rows):
            weight = "bold" if row.is_whole else "normal"
            page.text(MARGIN, top + (index + 0.5) * _ROW, fitted(_name(row, view), _SIZE, _NAMES - 0.1, weight),
                      fontsize=_SIZE, color=INK if row.status == "ok" else MUTED, weight=weight)
        room = WIDTH - 2 * MARGIN - _NAMES
        width = room if line == 0 else (room + _GAP) / _COLUMNS - _GAP
        for index, figure in enumerate(figures):
            _bars(page, (MARGIN + _NAMES + index * (width + _GAP), top, width), figure, rows, line == 0)
        top += len(rows) * _ROW + _PANEL_BOTTOM


def _bars(page: Page, frame: tuple[float, float, float], figure: LeftOutFigure, rows: tuple[LeftOutRow, ...],
          is_price: bool) -> None:
    left, top, width = frame
    page.text(left, top - 0.31, fitted(figure.name, 8, width + _GAP - 0.06), fontsize=8)
    page.text(left, top - 0.14, fitted(figure.kind, 7, width + _GAP - 0.06), fontsize=7, color=MUTED)
    values = [figure.value(row) for row in rows]
    labels = [figure.text(row) if row.status == "ok" else row.status * is_price for row in rows]
    reach = [value.high or value if isinstance(value, Ratio) else value for value in values]
    room = [value * width / max(width - text_inches(label, _SIZE, "bold") - 0.12, 0.3)
            for value, label in zip(reach, labels) if value is not None]
    end = max(room, default=1.0) or 1.0
    axes = bar_axes(page, (left, top, width, len(rows) * _ROW), len(rows), end, linear_ticks(end, 5 if is_price else 3))
    whole = next((value for row, value in zip(rows, values) if row.is_whole), None)
    if whole is not None:
        axes.axvline(whole, color=_WHOLE, linewidth=1.0, linestyle=(0, (3, 2)), zorder=1.5)
    for index, (row, value, label) in enumerate(zip(rows, values, labels)):
        if value is not None:
            alike = isinstance(value, Ratio) and untold(value) and not row.is_whole
            axes.barh(index + 0.5, value, BAR, facecolor=_WHOLE if row.is_whole else UNTOLD if alike else _LACKING)
            if isinstance(value, Ratio) and value.low is not None and value.high is not None and value.low < value.high:
                axes.plot([value.low, value.high], [index + 0.5] * 2, color=INK, linewidth=1.2, marker="|",
                          markersize=5, zorder=3)
        page.text(left + width * (reach[index] or 0.0) / end + 0.06, top + (index + 0.5) * _ROW,
                  fitted(label, _SIZE, width), fontsize=_SIZE, weight="bold" if value is not None else "normal",
                  bbox=_PAPER)


def _in_words(view: LeftOutView) -> str:
    """The chart for those who cannot see it."""
    rows = "; ".join(f"without {_name(row, view)}, " + (row.why_no_figure or ", ".join(
        f"{figure.name} {figure.text(row)} ({figure.kind})" for figure in view.figures if figure.text(row) != NONE))
        for row in view.by_price)
    return f"{view.layer_name} at batch {view.batch}: {rows}."
