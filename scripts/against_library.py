#!/usr/bin/python3 -B
"""The best stage of each layer against the libraries and the layer's floor, from runs of the same machine."""

from __future__ import annotations

import argparse
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Optional, Sequence

from convladder_charts import goals, record
from convladder_charts.goals import Standing
from convladder_charts.json_text import RecordError
from convladder_charts.known import Ratio
from convladder_charts.known_text import share, share_plus_minus
from convladder_charts.record import FP32_TOLERANCE, Group, Ladder, Record, Row
from convladder_charts.stage import Stage
from convladder_charts.table_text import cut, escaped, markdown_row, pad, wrapped
from convladder_charts.units import NONE, percent, significant, span

BAD_INPUT = 3
_TF32_TOLERANCE = 1e-3
_FP32_MOST = 5e-6  # 3xTF32 is as good as fp32 to most, and has a class of its own; it is compared with fp32
_HALF = "half"  # in a stage's name: as accurate as tf32, but not tf32
_COLUMNS = ("layer (batch)", "best stage", "GFLOP/s", "% lib", "% floor", "% peak")
_WIDTHS = (23, 27, 9, 11, 13, 8)

EXAMPLES = """\
examples:
  scripts/against_library.py run1.json run2.json run3.json             a table for the README: medians of three runs
  scripts/against_library.py results/*/run.json --goals                also each goal: met, not met or not measured
  scripts/against_library.py run.json --device cuda --format text      a GPU's, for a terminal

The layers of the goals, each at the batch that most runs have (the largest of these); on a GPU at one of 1000 or more
where there is one, since the goals ask for that. Layer times, NCHW in to NCHW out.
% lib: of the layer time of the fastest library that is at least as accurate, in each run; % floor and % peak: of the
layer's floor and of the FMA peak, as measured in the same run; % sheet: of the floor by the rates in the GPU's data sheet,
which is predicted. The best stage is the one with the least median over the runs; each figure is the median over the runs
of what it reached in it, with the median over the runs of both ends of its interval. ~100%: cannot be told from 100 %.
A goal is met if the interval lies above it, and not met if it lies below; else it cannot be told.

exit status: 0 printed, 2 usage, 3 a file is no readable run, holds nothing of the device, or is of another machine."""


@dataclass(frozen=True)
class Best:
    """The best stage of a layer and batch in one class of arithmetic."""

    ladder: Ladder
    stage: Stage
    arithmetic: str
    gflop_per_s: float
    standing: Standing
    bound: str
    """By what the floor is bound; empty without one."""
    library: str
    """The fastest variant of the library; empty without one."""
    runs: int


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs the command line; returns the exit status."""
    options = _parser().parse_args(arguments)
    sys.stdout.reconfigure(errors="replace")
    try:
        runs, groups = _usable(options)
        _same_machine(groups, [path for _, path in runs])
        best = _all_best([run for run, _ in runs], groups, options.batch)
    except RecordError as error:
        print(f"against_library.py: {error}", file=sys.stderr)
        return BAD_INPUT
    lines = _markdown(best) if options.format == "markdown" else _plain(best)
    family = groups[0].family
    about = _about([run for run, _ in runs], groups, best)
    print("\n".join([*lines, "", *(about if options.format == "markdown" else sum(map(wrapped, about), []))]))
    if options.goals:
        found = {(one.ladder.layer_name, one.arithmetic): one.standing for one in best}
        prefix = "- " if options.format == "markdown" else ""
        print("\n".join(["", *(prefix + line for line in goals.verdicts(
            family, lambda layer, arithmetic: found.get((layer, arithmetic))))]))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLES, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN.json", help="runs of the same machine")
    parser.add_argument("--device", default="cpu", metavar="NAME", help="cpu or cuda (default: cpu)")
    parser.add_argument("--batch", type=int, metavar="N", help="only this batch")
    parser.add_argument("--format", choices=("markdown", "text"), default="markdown", help="default: markdown")
    parser.add_argument("--goals", action="store_true", help="also print the goals and whether they are met")
    parser.add_argument("--leave-out-unusable", action="store_true",
                        help="go on without files that are no readable run or hold nothing of the device, if one is left")
    return parser


def _usable(options: argparse.Namespace) -> tuple[list[tuple[Record, Path]], list[Group]]:
    """The runs and their ladders of the asked device. Raises RecordError for the first file that has none, or, if those
    are to be left out, if all are such."""
    runs, groups, errors = [], [], []
    for path in options.runs:
        try:
            run = record.load(path)
            groups.append(_group(run, path, options))
            runs.append((run, path))
        except RecordError as error:
            if not options.leave_out_unusable:
                raise
            errors.append(error)
    if not runs:
        raise errors[0]
    for error in errors:
        print(f"against_library.py: left out: {error}", file=sys.stderr)
    return runs, groups


def _group(run: Record, path: Path, options: argparse.Namespace) -> Group:
    """The ladders of the asked device."""
    for group in run.groups:
        if group.device == options.device and group.has_times:
            return group
    held = ", ".join(group.device for group in run.drawn) or "none"
    raise RecordError(f"{path}: no times of the device {options.device}; devices with times: {held}")


def _same_machine(groups: Sequence[Group], paths: Sequence[Path]) -> None:
    for group, path in zip(groups, paths):
        if group.hardware != groups[0].hardware:
            raise RecordError(f"{path}: on {group.hardware}, but {paths[0]} is on {groups[0].hardware}; "
                              "expected runs of the same machine")


def _all_best(runs: Sequence[Record], groups: Sequence[Group], batch: Optional[int]) -> list[Best]:
    """By layer, fp32 first."""
    best = []
    for layer in goals.LAYERS.get(groups[0].family, ()):
        timed = _timed(layer, runs, groups, batch)
        best += [found for arithmetic, belongs in (("fp32", _is_fp32), ("tf32", _is_tf32))
                 if timed and (found := _best(timed, arithmetic, belongs)) is not None]
    if not best:
        raise RecordError("none of the layers in the goals has a time; expected one of "
                          + ", ".join(goals.LAYERS.get(groups[0].family, ())))
    return best


def _timed(layer: str, runs: Sequence[Record], groups: Sequence[Group],
           batch: Optional[int]) -> list[tuple[Record, Ladder]]:
    """The layer's ladders in the runs that timed a stage of it, at the batch that most of them have, if it is as large as
    the goals ask for."""
    by_batch: dict[int, list[tuple[Record, Ladder]]] = {}
    for run, group in zip(runs, groups):
        for ladder in group.of_layer(layer):
            if batch in (None, ladder.batch) and any(not row.stage.is_library for row in ladder.timed):
                by_batch.setdefault(ladder.batch, []).append((run, ladder))
    least = goals.LEAST_BATCH[groups[0].family]
    return max(by_batch.items(), key=lambda one: (one[0] >= least, len(one[1]), one[0]))[1] if by_batch else []


def _is_fp32(row: Row) -> bool:
    return row.tolerance <= _FP32_MOST


def _is_tf32(row: Row) -> bool:
    return _FP32_MOST < row.tolerance <= _TF32_TOLERANCE and _HALF not in row.stage.name


def _best(timed: Sequence[tuple[Record, Ladder]], arithmetic: str, belongs: Callable[[Row], bool]) -> Optional[Best]:
    """Of the stages that every one of these runs timed; None if there is none in this arithmetic."""
    ladders = [ladder for _, ladder in timed]
    rows = [{row.stage: row for row in ladder.timed if row.median and belongs(row)} for ladder in ladders]
    stages = [stage for stage in rows[0] if not stage.is_library and all(stage in one for one in rows)]
    if not stages:
        return None
    stage = min(stages, key=lambda one: statistics.median(of[one].median or 0.0 for of in rows))
    own = [of[stage] for of in rows]
    rates = [row.gflop_per_s or 0.0 for row in own]
    peaks = [_peak(run, stage.family) for run, _ in timed]  # the device of a family that has a clock is called like it
    shares = [100 * rate / peak for rate, peak in zip(rates, peaks) if peak]
    standing = Standing(ladders[0].layer_name, arithmetic, _middle([row.percent_of_library for row in own]),
                        _middle([row.percent_of_floor for row in own]),
                        statistics.median(shares) if len(shares) == len(own) else None, ladders[0].batch,
                        _middle([_of_data_sheet(run, ladder, row) for (run, ladder), row in zip(timed, own)]))
    floor = ladders[0].floor
    return Best(ladders[0], stage, arithmetic, statistics.median(rates), standing, floor.bound if floor else "",
                _fastest_library(ladders, own[0].tolerance), len(timed))


def _peak(run: Record, device: str) -> Optional[float]:
    return next((one.limit("FMA peak") for one in run.ceilings if one.device == device), None)


def _of_data_sheet(run: Record, ladder: Ladder, row: Row) -> Optional[float]:
    """Percent of the layer's floor by the data sheet's rates; None where no data sheet or no floor is known."""
    if run.data_sheet is None or row.stage.family != "cuda" or ladder.floor is None or not ladder.floor.flop or not row.median:
        return None
    return 100 * run.data_sheet.floor(ladder.floor) / row.median


def _middle(values: Sequence[Optional[float]]) -> Optional[float]:
    """The median; None unless every run has a value. Of ratios with the medians of both ends."""
    known = [value for value in values if value is not None]
    if not known or len(known) != len(values):
        return None
    ratios = [value for value in known if isinstance(value, Ratio)]
    if len(ratios) != len(known):
        return statistics.median(known)
    lows, highs = ([one.low if low else one.high for one in ratios] for low in (True, False))
    if None in lows or None in highs:
        return Ratio(statistics.median(known))
    middle = statistics.median(known)
    return Ratio(middle, min(middle, statistics.median(low for low in lows if low is not None)),
                 max(middle, statistics.median(high for high in highs if high is not None)), ratios[0].level, ratios[0].by)


def _fastest_library(ladders: Sequence[Ladder], tolerance: float) -> str:
    times: dict[Stage, list[float]] = {}
    for ladder in ladders:
        for row in ladder.timed:
            if row.stage.is_library and row.median and row.tolerance <= max(tolerance, FP32_TOLERANCE):
                times.setdefault(row.stage, []).append(row.median)
    return min(times, key=lambda stage: statistics.median(times[stage])).title if times else ""


def _has_data_sheet(best: Sequence[Best]) -> bool:
    return any(one.standing.of_data_sheet is not None for one in best)


def _share(percents: Optional[float], write: Callable[[Ratio], str]) -> str:
    return write(percents) if isinstance(percents, Ratio) else percent(percents)


def _cells(one: Best, of_data_sheet: bool, is_short: bool = False) -> list[str]:
    standing = one.standing
    write = share_plus_minus if is_short else share
    floor = _share(standing.of_floor, write) + (f" ({one.bound})" if standing.of_floor is not None else "")
    sheet = [percent(standing.of_data_sheet)] if of_data_sheet else []
    return [f"{one.ladder.layer_name} ({one.ladder.batch})" + (" tf32" if one.arithmetic == "tf32" else ""),
            one.stage.label, significant(one.gflop_per_s), _share(standing.of_library, write),
            floor, *sheet, percent(standing.of_peak)]


def _markdown(best: Sequence[Best]) -> list[str]:
    sheet = _has_data_sheet(best)
    heading = ("layer (batch)", "best stage", "GFLOP/s", "% of library", "% of floor (bound)",
               *(("% of the data sheet's floor (predicted)",) if sheet else ()), "% of FMA peak")
    several = len({one.library for one in best}) > 1
    lines = []
    for one in best:
        cells = _cells(one, sheet)
        if several and one.library:
            cells[3] += f" ({one.library})"
        lines.append(markdown_row(escaped(cell) for cell in cells))
    return [markdown_row(heading), "|:--|:--|" + "--:|" * (len(heading) - 2), *lines]


def _plain(best: Sequence[Best]) -> list[str]:
    """Within the terminal's columns: what binds the floor is its first letter."""
    lines = []
    sheet = _has_data_sheet(best)
    at = len(_COLUMNS) - 1
    columns, widths = list(_COLUMNS), list(_WIDTHS)
    if sheet:
        columns.insert(at, "% sheet")
        widths.insert(at, 8)
        widths[1] -= 8
    for cells in [columns, *(_cells(one, sheet, True) for one in best)]:
        cells[4] = cells[4].replace(" (operations)", " o").replace(" (bytes)", " b")
        texts = [pad(cut(cell, width - 1), width) for cell, width in zip(cells[:2], widths)]
        texts += [pad(cut(cell, width - 1), width, right=True) for cell, width in zip(cells[2:], widths[2:])]
        lines.append("".join(texts).rstrip())
    return lines


def _about(runs: Sequence[Record], groups: Sequence[Group], best: Sequence[Best]) -> list[str]:
    """Where the figures come from."""
    commits = ", ".join(dict.fromkeys(run.commit for run in runs))
    ceilings = []
    for name in ("FMA peak", "streaming store", "copy"):
        found = [(median, unit) for run in runs for one in run.ceilings if one.device == groups[0].device
                 for limit, median, unit in one.limits if limit == name]
        if found:
            ceilings.append(f"{name} {significant(statistics.median(median for median, _ in found))} {found[0][1]}")
    sheet = next((run.data_sheet for run in runs if run.data_sheet and groups[0].device == "cuda"), None)
    if sheet:
        ceilings.append(f"by the data sheet of {sheet.title}, predicted: {significant(sheet.gflop_per_s)} GFLOP/s, "
                        f"{significant(sheet.gb_per_s)} GB/s")
    libraries = ", ".join(dict.fromkeys(one.library for one in best if one.library))
    counts = span([float(one.runs) for one in best])
    lines = [f"{groups[0].kind.capitalize()}, median of {counts} run{'' if counts == '1' else 's'} on {groups[0].hardware}; "
             f"commit {commits}. Ceilings: {', '.join(ceilings) or NONE}. Fastest library: {libraries or NONE}."]
    warnings = dict.fromkeys(warning for run in runs for warning in run.warnings)
    return [*lines, *(f"Attention: {warning}" for warning in warnings)]


if __name__ == "__main__":
    sys.exit(main())
