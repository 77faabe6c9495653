#!/usr/bin/python3 -B
"""Draws what `convladder history --format json` wrote: a figure for each layer, batch and device over the runs."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import Optional, Sequence

from convladder_charts import history_record
from convladder_charts.drawing_command import formats, status_of
from convladder_charts.history_record import History
from convladder_charts.json_text import Node
from convladder_charts.record_file import read_json

EXAMPLES = """\
examples:
  convladder history results --format json --output history.json && scripts/history.py history.json
  scripts/history.py history.json --changed --output trends      only where a change is marked, into trends/

A figure is called history-DEVICE-LAYER-BATCH.svg. The same history gives the same files, byte for byte.

exit status: 0 drawn, 2 usage, 3 no readable history, 4 cannot write."""


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs the command line; returns the exit status."""
    options = _parser().parse_args(arguments)
    return status_of("history.py", lambda: _draw(options))


def _draw(options: argparse.Namespace) -> list[Path]:
    history = history_record.read(Node(read_json(options.history), options.history))
    output = options.output or options.history.resolve().parent
    output.mkdir(parents=True, exist_ok=True)
    return _write_all(history, output, options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLES, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("history", type=Path, metavar="HISTORY.json", help="from `convladder history --format json`")
    parser.add_argument("--output", type=Path, metavar="DIR", help="where to write (default: next to the history)")
    parser.add_argument("--format", type=formats, default=("svg",), metavar="svg,png",
                        help="which pictures (default: svg)")
    parser.add_argument("--changed", action="store_true", help="only figures in which a change is marked")
    return parser


def _write_all(history: History, output: Path, options: argparse.Namespace) -> list[Path]:
    """Draws one figure after the other."""
    from convladder_charts import history as chart
    from convladder_charts import style
    from convladder_charts.page import save

    written: list[Path] = []
    with style.applied():
        for key, series in chart.groups(history).items():
            if options.changed and not any(one.changes for one in series):
                continue
            page, title, description = chart.draw(history, key, series)
            name = _file_name(key, {path.stem for path in written})
            for ending in options.format:
                path = output / f"{name}.{ending}"
                save(page, path, title, description)
                written.append(path)
    return written


def _file_name(key: tuple[str, str, int], taken: set[str]) -> str:
    """Of the key, without what a file's name should not hold; two that are then the same are numbered."""
    device, layer, batch = (re.sub(r"[^A-Za-z0-9._]+", "_", str(part))[:80] for part in key)
    name = f"history-{device}-{layer}-{batch}"
    number = 2
    while name in taken:
        name = f"history-{device}-{layer}-{batch}-{number}"
        number += 1
    return name


if __name__ == "__main__":
    sys.exit(main())
