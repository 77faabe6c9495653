"""The figures of a run of whole networks as text: for a terminal of 100 columns, and as Markdown."""

from __future__ import annotations

from itertools import accumulate
from typing import Iterable, Iterator, Optional, Sequence

from convladder_charts.network.instructions import chosen, images
from convladder_charts.network.parts import SWEEP, UNKNOWN_DEVICE, PublishedSweep, published_sweeps
from convladder_charts.network.record import INSTRUCTIONS, Case, NetworkGroup, NetworkRecord, ProfileRow, Time
from convladder_charts.stage import Stage
from convladder_charts.table_text import WIDTH, Table, columns, cut, escaped, markdown_table, pad, wrapped
from convladder_charts.units import NONE, count, duration

_MOST_FIGURES = 5
"""Columns of layers or stages beside each other in the terminal; more go into a further table."""
_SHOWN_PERCENT = 90.0


def plain(record: NetworkRecord) -> str:
    """For the terminal; every line fits 100 columns."""
    lines = [part for line in _about(record) for part in wrapped(line)]
    for group in record.groups:
        lines += ["", *wrapped(_group_heading(group))]
        for table in tables(group, _MOST_FIGURES):
            lines += ["", *wrapped(table.heading), *_plain(table)]
            lines += [part for note in table.notes for part in wrapped(note)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def markdown(record: NetworkRecord) -> str:
    """GitHub-flavoured Markdown."""
    lines = ["# Whole networks", "", *(f"- {escaped(line)}" for line in _about(record))]
    for group in record.groups:
        lines += ["", f"## {escaped(_group_heading(group))}"]
        for table in tables(group, 1000):
            lines += ["", f"### {escaped(table.heading)}", "", *markdown_table(table)]
            lines += [part for note in table.notes for part in ("", escaped(note))]
    return "\n".join(lines) + "\n"


def _about(record: NetworkRecord) -> list[str]:
    return [*(f"Attention: {warning}" for warning in record.warnings), f"host {record.host}, {record.date}",
            f"cpu: {record.cpu}", f"commit {record.commit}, {record.program}", f"data: {record.data}"]


def _group_heading(group: NetworkGroup) -> str:
    return f"{group.network} on {group.device} ({group.hardware}) · {group.title} · weights: {group.weights}"


def tables(group: NetworkGroup, most: int) -> Iterator[Table]:
    """All that the record says of a network on a device, with at most so many layers or stages in a table."""
    if group.timed:
        yield from _op_times(group, most)
        if any(case.accuracy for case in group.cases):
            yield _accuracies(group)
        yield from _sweeps(group)
        yield from _profiles(group)
    if group.counted:
        yield from _instructions(group, most)
    if group.failed:
        yield Table("Without a result", ("batch", "convolutions", "why"), tuple(
            (str(case.batch), case.stage.title, case.why_no_time) for case in group.failed), 3,
            place="$.cases[…]: status, reason", row_places=tuple(case.place for case in group.failed), kind="failed")
    yield from _published(group)


def _op_times(group: NetworkGroup, most: int) -> Iterator[Table]:
    names = [*group.convolutions]
    for start in range(0, len(names), most):
        shown = names[start:start + most]
        rows = []
        for case in sorted(group.timed, key=lambda case: case.batch):
            times = [step.time if (step := case.step(name)) else None for name in shown]
            rows.append((str(case.batch), case.stage.title, *map(_time, times), _time(case.total)))
        yield Table(f"Op times, {group.kind}: medians, NCHW in to NCHW out; and of a whole pass",
                     ("batch", "convolutions", *shown, "pass"), tuple(rows), 2,
                     place="$.cases[…]: steps[…].time.median, total.median", row_places=tuple(
                         case.place for case in sorted(group.timed, key=lambda case: case.batch)), kind="op times")


def _accuracies(group: NetworkGroup) -> Table:
    """A row for all stages that agree, as they should."""
    rows: dict[tuple[int, str, str, str], list[Stage]] = {}
    level = next(case.accuracy.level for case in group.cases if case.accuracy)
    for case in sorted(group.cases, key=lambda case: case.batch):
        if case.accuracy:
            one = case.accuracy
            key = (case.batch, f"{one.value:.4f}", f"[{one.low:.4f}, {one.high:.4f}]", f"{one.correct} of {one.of}")
            rows.setdefault(key, []).append(case.stage)
    return Table(f"Accuracy, with its {100 * level:.0f}% binomial interval",
                  ("batch", "stages", "accuracy", "interval", "right"), tuple(
                      (str(batch), stages[0].title if len(stages) == 1 else f"{len(stages)} stages", *cells)
                      for (batch, *cells), stages in rows.items()), 2, place="$.cases[…].accuracy", kind="op times")


def _sweeps(group: NetworkGroup) -> Iterator[Table]:
    """The very columns of the published sweep: ours for each stage, then the published rows."""
    names = ("batch", *(column.name for column in SWEEP))
    # A virtual clock's times are no shares of a pass, which the host takes.
    for stage in group.stages if group.kind == "measured" else ():
        cases = [case for case in group.of_stage(stage) if case.total is not None]
        if cases:
            yield Table(f"Where the time of a pass goes: {stage.title} on {group.device} ({group.hardware}), "
                         "measured, milliseconds, medians", names, tuple(
                             (str(case.batch), *(_milliseconds(column.of(case) * 1e-6) for column in SWEEP))
                             for case in cases), 0, (_note(group),),
                         "$.cases[…]: steps[…].time.median, phases[…].time.median", tuple(
                             case.place for case in cases), "sweep")
    for sweep in published_sweeps(group.published):
        yield _published_sweep(sweep, names)


def _note(group: NetworkGroup) -> str:
    """What our host phases are where the published columns are API calls."""
    waiting = ("On a CPU the host computes, so it waits for nothing." if group.device == "cpu" else
               "synchronise waits for the layers, so it includes their time again.")
    return f"copies: memcpy_htod and memcpy_dtoh together. {waiting}"


def _published_sweep(sweep: PublishedSweep, names: tuple[str, ...]) -> Table:
    calls = ", ".join(f"{column.name}: {column.published}" for column in SWEEP if column.name != column.published)
    return Table(f"Published: {sweep.source}, {sweep.device}, milliseconds", names, tuple(
        (str(batch), *(_milliseconds(row[column.name]) for column in SWEEP)) for batch, row in sweep.rows.items()), 0,
        (f"{calls}. These API calls wait for the device: they include the kernels' time again.",), "$.published",
        kind="sweep")


def _kind(group: NetworkGroup, of_profile: str) -> str:
    return "measured" if of_profile == "host phases" else group.kind


def _profiles(group: NetworkGroup) -> Iterator[Table]:
    """nvprof's columns, of the fastest stage at the largest batch, down to 90% of each group's time."""
    largest = max(case.batch for case in group.timed)
    case = min((case for case in group.timed if case.batch == largest), key=lambda case: case.total.median)
    for name, rows in case.profile.items():
        shown = _until(rows, _SHOWN_PERCENT)
        left = len(rows) - len(shown)
        sums = accumulate(row.percent for row in shown)
        yield Table(f"Profile of {case.stage.title} at batch {largest}, the last pass, {_kind(group, name)}: {name}",
                     ("Time(%)", "Sum(%)", "Time", "Calls", "Avg", "Min", "Max", "Name"), tuple(
                         (f"{row.percent:.2f}%", f"{sum_:.2f}%", duration(row.total), str(row.calls),
                          duration(row.average), duration(row.smallest), duration(row.largest), row.name)
                         for row, sum_ in zip(shown, sums)), 0,
                     (f"{left} more below {_SHOWN_PERCENT:.0f}%",) if left else (),
                     f"{case.place}.profile.groups", kind="profile")


def _until(rows: Sequence[ProfileRow], percent: float) -> list[ProfileRow]:
    shown, sum_ = [], 0.0
    for row in rows:
        shown.append(row)
        sum_ += row.percent
        if sum_ >= percent:
            break
    return shown


def _instructions(group: NetworkGroup, most: int) -> Iterator[Table]:
    cases = chosen(group, None)
    for start in range(0, len(cases), most):
        shown = cases[start:start + most]
        rows = [(name, *(_count(case, name) for case in shown)) for name in group.step_names]
        total = [count(sum(step.instructions or 0 for step in case.steps)) for case in shown]
        yield Table(f"Warp instructions, counted, batch {cases[0].batch}. "
                     f"{images(cases)}.", ("step", *(case.stage.label for case in shown)),
                     (*rows, ("all steps", *total)), 1,
                     place=", ".join(case.place for case in shown) + f": steps[…].counters.totals[\"{INSTRUCTIONS}\"]",
                     kind="launches")


def _count(case: Case, name: str) -> str:
    step = case.step(name)
    return NONE if step is None or step.instructions is None else count(step.instructions)


def _published(group: NetworkGroup) -> Iterator[Table]:
    """Others' op times and accuracies at these batches, by device."""
    devices: dict[tuple[str, str], dict[tuple[int, str], dict[str, str]]] = {}
    for one in group.published:
        if one.batch is None or one.what not in ("op time", "accuracy"):
            continue
        rows = devices.setdefault((one.source, one.device or UNKNOWN_DEVICE), {})
        about = "~" if one.approximate else ""
        value = f"{one.value:.4g}" if one.what == "accuracy" else f"{one.value:.6g} {one.unit}"
        rows.setdefault((one.batch, one.stage), {})[one.layer or one.what] = about + value
    for (source, device), rows in devices.items():
        names = list(dict.fromkeys(name for cells in rows.values() for name in cells if name != "accuracy"))
        names += ["accuracy"] * any("accuracy" in cells for cells in rows.values())
        yield Table(f"Published op times: {source}, {device}", ("batch", "stage", *names), tuple(
            (str(batch), stage, *(cells.get(name, NONE) for name in names)) for (batch, stage), cells in rows.items()),
            2, place="$.published", kind="op times")


def _time(time: Optional[Time]) -> str:
    return NONE if time is None else duration(time.median)


def _milliseconds(value: float) -> str:
    """Four significant digits, at most three of them behind the point: from under a microsecond to minutes."""
    return "0" if value == 0 else f"{value:.3f}" if value < 10 else f"{value:.2f}" if value < 1000 else f"{value:.1f}"


def _plain(table: Table) -> Iterable[str]:
    """Aligned. Too wide for the terminal: headings go into two lines, columns together, and long texts are cut."""
    headings = [table.columns]
    widths = _widths([*headings, *table.rows])
    if sum(widths) + 2 * (len(widths) - 1) > WIDTH:
        broken = [name.rpartition("_") for name in table.columns]
        headings = [tuple(first + line for first, line, _ in broken), tuple(last for _, _, last in broken)]
        widths = _widths([*headings, *table.rows])
    gap = 2 if sum(widths) + 2 * (len(widths) - 1) <= WIDTH else 1
    while sum(widths) + gap * (len(widths) - 1) > WIDTH:
        widths[widths.index(max(widths))] -= 1
    for row in [*headings, *table.rows]:
        cells = [pad(cut(cell, width), width, right=not table.is_text(index))
                 for index, (cell, width) in enumerate(zip(row, widths))]
        yield (" " * gap).join(cells)


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(columns, column)) for column in zip(*rows)]
