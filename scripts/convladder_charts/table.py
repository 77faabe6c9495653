"""The same figures as text: plain for a terminal of 100 columns, Markdown for a page."""

from __future__ import annotations

from typing import Iterable, Iterator, Sequence, Union

from convladder_charts import predicted_tables
from convladder_charts.counted import CountedGroup, CountedLadder, CountedRow, Figure, drawn_figures, figures
from convladder_charts.counted_text import SCALED, Scale, images_line, label, scale_of
from convladder_charts.known_text import factor, plus_minus, share, share_plus_minus
from convladder_charts.page import sampling
from convladder_charts.predicted_text import NOTE
from convladder_charts.record import Group, Ladder, Record, Row
from convladder_charts.table_text import WIDTH, Table, cut, escaped, markdown_row, markdown_table, pad, wrapped
from convladder_charts.units import NONE, Unit, duration, significant, unit_for

_COLUMNS = ("median", "interval", "GFLOP/s", "× prev", "× base", "% lib", "% floor")
_WIDTHS = (7, 13, 8, 12, 12, 10, 10)
_STAGE_WIDTH = WIDTH - sum(_WIDTHS) - 2
_COUNTED_WIDTH = 14
_COUNTED_STAGE_WIDTH = WIDTH - _COUNTED_WIDTH * len(figures()) - 2


def plain(record: Record) -> Iterator[str]:
    """For the terminal; every line fits `WIDTH` columns."""
    return (line.rstrip() + "\n" for line in _plain(record))


def _plain(record: Record) -> Iterator[str]:
    for line in _about(record):
        yield from wrapped(line)
    for group in record.drawn:
        for ladder in group.ladders:
            unit = _unit(ladder)
            yield ""
            yield cut(f"{_heading(group, ladder)} · {group.kind} times in {unit.name}", WIDTH)
            yield "  " + pad("stage", _STAGE_WIDTH) + _aligned(_COLUMNS)
            for row in ladder.rows:
                yield from _plain_row(row, unit)
            yield from (f"  {line}" for line in _floor_lines(ladder))
    yield from ("", *wrapped(legend(record)))
    for counted in record.counted:
        for one in counted.ladders:
            yield from ("", *_plain_counters(counted, one))
        yield from ("", *wrapped(_counted_legend(counted)))


def markdown(record: Record) -> Iterator[str]:
    """GitHub-flavoured Markdown."""
    return (line + "\n" for line in _markdown(record))


def _markdown(record: Record) -> Iterator[str]:
    yield from (f"# {_ladder_name(record)} ladder", "", *(f"- {escaped(line)}" for line in _about(record)), "",
                escaped(legend(record)))
    for group in record.drawn:
        yield from ("", f"## {escaped(group.device)} ({escaped(group.hardware)}), {escaped(group.kind)}")
        for ladder in group.ladders:
            yield from ("", f"### {escaped(_heading(group, ladder))}", "", *_markdown_table(group, ladder))
            for line in _floor_lines(ladder):
                yield from ("", escaped(line[0].upper() + line[1:] + "."))
    for counted in record.counted:
        yield from ("", f"## {escaped(counted.device)} ({escaped(counted.hardware)}), counted", "",
                    escaped(_counted_legend(counted)))
        for one in counted.ladders:
            yield from ("", f"### {escaped(_heading(counted, one))}", "",
                        escaped(images_line(one).capitalize() + "."), "", *_markdown_counters(counted, one))
    for predicted in record.predicted:
        yield from ("", f"## {escaped(predicted.device)}, predicted", "", escaped(NOTE))
        for table in predicted_tables.tables(predicted):
            yield from ("", f"### {escaped(table.heading)}", "", *markdown_table(table))


def _ladder_name(record: Record) -> str:
    """Whose ladder it is."""
    return escaped(record.work if record.of_folder else record.work.removeprefix("forward ").capitalize())


def _about(record: Record) -> list[str]:
    """Where the figures come from; devices without a time take one line each."""
    devices = [f"{group.device}: {group.hardware}; {sampling(group, _timed(group), 'intervals:')}"
               for group in record.drawn]
    return [*(f"Attention: {warning}" for warning in record.warnings),
            f"host {record.host}, {record.date}",
            *dict.fromkeys(devices or [f"cpu: {record.cpu}"]),
            f"commit {record.commit}, {record.program}",
            f"data: {record.data}",
            *(one.line for one in record.ceilings),
            *record.skipped_lines]


def _floor_lines(ladder: Ladder) -> list[str]:
    """One line, or none."""
    if ladder.floor is None:
        return []
    return [f"floor {duration(ladder.floor.value)}, bound by {ladder.floor.bound} (predicted from the ceilings)"]


def legend(record: Record) -> str:
    """What the columns of ladders are."""
    if not record.drawn:
        return "No case of this run has a time."
    if record.of_sizes:
        return ("The ratios compare times of a call: × prev to the stage it builds on, × base to the lowest stage that was timed, % lib to "
                "the fastest library, % floor to the floor: operations at the FMA peak, or bytes at the memory's rate, as "
                "measured in this run. " + _INTERVALS + _quality_legend(record))
    return ("Times are layer times, NCHW in to NCHW out; op in own layout is the time of the convolution alone, which is "
            "compared with nothing. "
            "The ratios compare layer times: × prev to the stage it builds on, × base to the lowest stage that was timed, "
            "% lib to the fastest library, % floor to the layer's floor: operations at the FMA peak, or bytes "
            "at the memory's rate, as measured in this run. " + _INTERVALS + _quality_legend(record))


_INTERVALS = ("Intervals are confidence intervals: of a median, and of a ratio in brackets or behind ±. ~1× and ~100% "
              "cannot be told from 1; ? and a bound with < or > are known no better than to a factor of two.")


def _quality_legend(record: Record) -> str:
    """Empty where all times are good."""
    if not any(row.sign for group in record.drawn for row in _timed(group)):
        return ""
    return (" ~ noisy, ! disturbed: the machine was not quiet while that was measured; quality in run.json says what was "
            "seen.")


def _timed(group: Group) -> list[Row]:
    return [row for ladder in group.ladders for row in ladder.timed]


def _heading(group: Union[Group, CountedGroup], ladder: Union[Ladder, CountedLadder]) -> str:
    return f"{group.device} · {ladder.layer_name} · batch {ladder.batch} · {ladder.shape}"


def _unit(ladder: Ladder) -> Unit:
    return unit_for(row.median for row in ladder.timed if row.median)


def _name(row: Row) -> str:
    return row.stage.title if row.stage.is_library else f"{row.stage.rung} {row.stage.title}"


_OP = "op in own layout"
"""The name of the line of an op time, which stands in no comparison."""


def _figures(row: Row, unit: Unit, is_short: bool = False) -> list[list[str]]:
    """The cells after the stage. Of a variant with a layout of its own there is a second line, its op time."""
    interval = NONE
    if row.low is not None and row.high is not None:
        ends = unit.text(row.low), unit.text(row.high)
        interval = "–".join(ends) if is_short else f"[{', '.join(ends)}]"
    rate = NONE if row.gflop_per_s is None else significant(row.gflop_per_s)
    of_factor, of_share = (plus_minus, share_plus_minus) if is_short else (factor, share)
    ratios = [of_factor(row.x_previous), of_factor(row.x_baseline), of_share(row.percent_of_library),
              of_share(row.percent_of_floor)]
    own = [unit.text(row.median or 0), interval, rate]
    if row.op_median is not None:
        return [[*own, *ratios], [unit.text(row.op_median), NONE, NONE, *[NONE] * len(ratios)]]
    return [[*own, *ratios]]


def _plain_row(row: Row, unit: Unit) -> Iterable[str]:
    name = f"{row.sign:1} " + pad(cut(_name(row), _STAGE_WIDTH - 1), _STAGE_WIDTH)
    if not row.has_time:
        return [name + "  " + cut(row.why_no_time, WIDTH - _STAGE_WIDTH - 4)]
    first, *more = _figures(row, unit, True)
    return [name + _aligned(first), *("    " + pad(_OP, _STAGE_WIDTH - 2) + _aligned(cells) for cells in more)]


def ladder_table(group: Group, ladder: Ladder) -> Table:
    """A row for each stage, and one for its op time where it has a layout of its own."""
    unit = _unit(ladder)
    rows, places = [], []
    for index, row in enumerate(ladder.rows):
        lines = _figures(row, unit) if row.has_time else [[NONE] * len(_COLUMNS)]
        status = f"{row.status} {row.sign}".strip() if row.has_time else row.why_no_time
        rows += [(_name(row) if index == 0 else f"{_name(row)}: {_OP}", *cells, status) for index, cells in enumerate(lines)]
        places += [f"{ladder.place}.rows[{index}]"] * len(lines)
    return Table(_heading(group, ladder),
                 ("stage", f"median ({unit.name})", f"interval ({unit.name})", *_COLUMNS[2:], "status"), tuple(rows), 1,
                 place=ladder.place, row_places=tuple(places))


def _markdown_table(group: Group, ladder: Ladder) -> list[str]:
    table = ladder_table(group, ladder)
    lines = [markdown_row(table.columns), "|:--|" + "--:|" * len(_COLUMNS) + ":--|"]
    lines += [markdown_row([escaped(name), *map(escaped, cells), escaped(status)]) for name, *cells, status in table.rows]
    return lines


def _counted_legend(group: CountedGroup) -> str:
    return ("Counted in PTX, not timed. instr/madd: thread instructions per multiply-add; wavefr/32madd: shared memory "
            f"wavefronts per 32 multiply-adds; DRAM: from a model of the caches of {group.modelled_gpu}. "
            f"{SCALED.strip()} marks figures that are scaled from the executed images and not exact.")


def _counter_cells(shown: Sequence[Figure], row: CountedRow, scales: Sequence[Scale]) -> list[str]:
    return [f"{label(figure, row, scale)} {scale.symbol}".strip() for figure, scale in zip(shown, scales)]


def _plain_counters(group: CountedGroup, ladder: CountedLadder) -> list[str]:
    heading = f"{_heading(group, ladder)} · {images_line(ladder)}"
    columns = "".join(pad(figure.heading, _COUNTED_WIDTH, right=True) for figure in figures())
    lines = [*wrapped(heading), "  " + pad("stage", _COUNTED_STAGE_WIDTH) + columns]
    scales = [scale_of(figure, ladder) for figure in figures()]
    for row in ladder.rows:
        name = "  " + pad(cut(row.stage.label, _COUNTED_STAGE_WIDTH - 1), _COUNTED_STAGE_WIDTH)
        if row.counters is None:
            lines.append(name + "  " + cut(row.why_not_counted, WIDTH - _COUNTED_STAGE_WIDTH - 4))
        else:
            lines.append(name + "".join(pad(cell, _COUNTED_WIDTH, right=True) for cell in _counter_cells(figures(), row, scales)))
    return lines


def counter_table(group: CountedGroup, ladder: CountedLadder) -> Table:
    """A row for each stage; without counters it says why."""
    shown = drawn_figures(ladder)
    scales = [scale_of(figure, ladder) for figure in shown]
    rows = [(row.stage.label, *(_counter_cells(shown, row, scales) if row.counters else [NONE] * len(shown)),
             row.status if row.counters else row.why_not_counted) for row in ladder.rows]
    return Table(_heading(group, ladder),
                 ("stage", *(f"{figure.name} {figure.per}".strip() for figure in shown), "status"), tuple(rows), 1,
                 (images_line(ladder).capitalize() + ".",), "$.cases[…].counters",
                 tuple(row.place for row in ladder.rows))


def _markdown_counters(group: CountedGroup, ladder: CountedLadder) -> list[str]:
    table = counter_table(group, ladder)
    return [markdown_row(table.columns), "|:--|" + "--:|" * (len(table.columns) - 2) + ":--|",
            *(markdown_row([escaped(name), *cells, escaped(status)]) for name, *cells, status in table.rows)]


def _aligned(cells: Iterable[str]) -> str:
    """Figures are right-aligned so that digits line up."""
    return "".join(pad(cut(cell, width - 1), width, right=True) for width, cell in zip(_WIDTHS, cells))
