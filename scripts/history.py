#!/usr/bin/python3
"""Draws what `convladder history --format json` wrote: a figure for each layer, batch and device over the runs."""

from __future__ import annotations

import argparse
import logging
import re
import sys
import warnings
from pathlib import Path
from typing import Optional, Sequence

from convladder_charts import history_record
from convladder_charts.history_record import History
from convladder_charts.json_text import Node, RecordError, read_json

BAD_INPUT = 3
CANNOT_WRITE = 4

EXAMPLES = """\
examples:
  convladder history results --format json --output history.json && scripts/history.py history.json
  scripts/history.py history.json --changed --output trends      only where a change is marked, into trends/

A figure is called history-DEVICE-LAYER-BATCH.svg. The same history gives the same files, byte for byte.

exit status: 0 drawn, 2 usage, 3 no readable history, 4 cannot write."""


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs the command line; returns the exit status."""
    options = _parser().parse_args(arguments)
    sys.stdout.reconfigure(errors="replace")
    # A name in a script that the font lacks is drawn as boxes in PNG; that is no reason to fill the terminal.
    warnings.filterwarnings("ignore", message="Glyph .* missing from current font")
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    try:
        history = history_record.read(Node(read_json(options.history), options.history))
        output = options.output or options.history.resolve().parent
        output.mkdir(parents=True, exist_ok=True)
        for path in _write_all(history, output, options):
            print(path)
    except RecordError as error:
        return _complain(str(error), BAD_INPUT)
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except OSError as error:
        return _complain(f"cannot write {error.filename or ''}: {error.strerror}", CANNOT_WRITE)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLES, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("history", type=Path, metavar="HISTORY.json", help="from `convladder history --format json`")
    parser.add_argument("--output", type=Path, metavar="DIR", help="where to write (default: next to the history)")
    parser.add_argument("--format", type=_formats, default=("svg",), metavar="svg,png",
                        help="which pictures (default: svg)")
    parser.add_argument("--changed", action="store_true", help="only figures in which a change is marked")
    return parser


def _formats(text: str) -> tuple[str, ...]:
    formats = tuple(part.strip() for part in text.split(",") if part.strip())
    if not formats or not set(formats) <= {"svg", "png"}:
        raise argparse.ArgumentTypeError(f"expected svg, png or svg,png, not {text!r}")
    return formats


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


def _complain(message: str, status: int) -> int:
    print(f"history.py: {message}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
