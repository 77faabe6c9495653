#!/usr/bin/python3 -B
"""Counters of the simulated device beside Nsight Compute's of the same kernels on a GPU."""

from __future__ import annotations

import argparse
import csv
import sys
from pathlib import Path
from typing import Optional, Sequence

from convladder_charts.json_text import Node, RecordError
from convladder_charts.record_file import read_json
from convladder_charts.stage import printable
from convladder_charts.table_text import Table, markdown_table
from convladder_charts.units import NONE, significant

BAD_INPUT = 3
_DEVICE = "simulated"

EXAMPLES = """\
examples:
  scripts/ncu.sh --variant register-tile --layer lenet72.conv2 --batch 8 --output ncu -- --metrics METRIC,METRIC
  ncu --import ncu/register-tile.lenet72.conv2.8.ncu-rep --csv --page raw --print-units base \\
      >register-tile.lenet72.conv2.8.csv
  convladder run --device simulated --layer lenet72.conv2 --batch 8 --output counted
  scripts/against_ncu.py counted/run.json *.csv

A file is called VARIANT.NETWORK.LAYER.BATCH.csv, as ncu.sh calls its reports. Sums of all launches are compared, for
every metric that both have. Counted in PTX beside counted in machine code: ptxas merges, removes and adds instructions.

exit status: 0 printed, 2 usage, 3 a file cannot be read, or is of a case that the run does not hold."""


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs the command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLES, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, metavar="RUN.json", help="of the simulated device")
    parser.add_argument("reports", type=Path, nargs="+", metavar="NCU.csv", help="of ncu's page raw")
    options = parser.parse_args(arguments)
    sys.stdout.reconfigure(errors="replace")
    try:
        counted = _counted(Node(read_json(options.run), options.run))
        tables = [_compared(path, counted, options.run) for path in options.reports]
    except RecordError as error:
        print(f"against_ncu.py: {error}", file=sys.stderr)
        return BAD_INPUT
    for table in tables:
        print("\n".join([f"## {table.heading}", "", *markdown_table(table), ""]))
    return 0


def _counted(root: Node) -> dict[str, dict[str, float]]:
    """The totals of every case that was counted on all of its batch, by id."""
    counted = {}
    for case in root.field("cases").items():
        if case.field("counters").is_null():
            continue
        counters = case.field("counters")
        if counters.field("exact").boolean():
            counted[case.field("id").text()] = dict(counters.field("totals").numbers())
    return counted


def _compared(path: Path, counted: dict[str, dict[str, float]], run: Path) -> Table:
    variant, _, rest = path.stem.partition(".")
    layer, _, batch = rest.rpartition(".")
    case = f"{_DEVICE}/{variant}/{layer}/{batch}"
    if case not in counted:
        raise RecordError(f"{path}: expected VARIANT.NETWORK.LAYER.BATCH.csv of a case that {run} counted exactly; "
                          f"it has no \"{printable(case, 120)}\"")
    ours, theirs = counted[case], _sums(path)
    rows = tuple((name, significant(ours[name]), significant(theirs[name]),
                  significant(theirs[name] / ours[name]) if ours[name] else NONE)
                 for name in ours if name in theirs and name.endswith(".sum"))
    if not rows:
        raise RecordError(f"{path}: none of the metrics that {run} counted")
    return Table(case, ("metric", "counted, PTX", "ncu, machine code", "ncu / counted"), rows, 1)


def _sums(path: Path) -> dict[str, float]:
    """Each metric over all launches. ncu writes its own messages, a header, a row of units, and a row for each launch."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise RecordError(f"{path}: cannot read it: {error.strerror}") from error
    start = next((index for index, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        raise RecordError(f"{path}: no line that begins with \"ID\"; expected ncu's --csv --page raw")
    sums: dict[str, float] = {}
    for number, row in enumerate(csv.DictReader(lines[start:]), start + 2):
        if not row["ID"]:
            continue  # units
        for name, text in row.items():
            if name and "__" in name and text:
                try:
                    sums[name] = sums.get(name, 0.0) + float(text.replace(",", ""))
                except ValueError as error:
                    raise RecordError(f"{path}:{number}: {name}: expected a number, found {printable(text)}") from error
    return sums


if __name__ == "__main__":
    sys.exit(main())
