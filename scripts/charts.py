#!/usr/bin/python3 -B
"""Draws a record of convladder, and only what it holds: a run, a run of whole networks, and what else has a kind."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Optional, Sequence

from convladder_charts import run_kind
from convladder_charts.drawable import Drawn, Kind, Options
from convladder_charts.drawing_command import formats, names, status_of
from convladder_charts.json_text import Node, RecordError
from convladder_charts.kinds import drawn as other_kinds
from convladder_charts.network import charts as network_kind
from convladder_charts.record_file import read_json

KINDS: tuple[Kind, ...] = (network_kind.KIND, *other_kinds.KINDS, run_kind.KIND)
"""In the order in which they are asked whether a document is theirs."""

_MOST_NAMED = 10
EXAMPLES = """\
examples:
  scripts/charts.py results/host-20250101/run.json             charts and table.md next to run.json
  scripts/charts.py results/host-20250101                      of every record in a folder
  scripts/charts.py run.json --table                           the table in the terminal as well
  scripts/charts.py run.json --output docs --format svg        SVG only, into docs/
  scripts/charts.py run.json --device cpu --batch 1000         one device; the ladder at batch 1000
  scripts/charts.py run.json --layer lenet72.conv1             counters and predictions of this layer
  scripts/charts.py network.json --table                       a run of whole networks

The first device that has times gets the plain file names (measured before predicted, cuda before cpu), every
other one has its name in the file's: ladder-cpu.svg. Which files there are depends on what the record holds:
ladder, time_over_batch and roofline-cpu of times; counters, prediction and roofline of counters, for the layer
with the most work; leave_one_out; of whole networks op_times-NETWORK, pass_time-NETWORK, instructions-NETWORK.
An SVG follows the reader's light or dark scheme. The same record gives the same files, byte for byte.

exit status: 0 drawn (also when no case has a time: one line says so), 2 usage, 3 no readable record,
4 cannot write."""


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs the command line; returns the exit status."""
    options = _parser().parse_args(arguments)
    return status_of("charts.py", lambda: _draw(options))


def _draw(options: argparse.Namespace) -> list[str]:
    """Draws every record that was named; the lines to print."""
    if not options.record.is_dir():
        return _draw_one(options.record, Node(read_json(options.record), options.record), options, "", set())
    found = _records(options.record)
    if not found:
        raise RecordError(f"{options.record}: no record in this folder that can be drawn")
    lines: list[str] = []
    taken: set[Path] = set()
    for path, root in found:
        alone = sum(other.parent == path.parent for other, _ in found) == 1
        lines += _draw_one(path, root, options, "" if alone or path.stem == "run" else f"-{path.stem}", taken)
    return lines


def _records(folder: Path) -> list[tuple[Path, Node]]:
    """Those in a folder itself, or else in the folders in it. Other files are nobody's business."""
    for pattern in ("*.json", "*/*.json"):
        found = []
        for path in sorted(folder.glob(pattern)):
            try:
                document = read_json(path)
            except RecordError:
                continue
            if any(kind.is_of(document) for kind in KINDS):
                found.append((path, Node(document, path)))
        if found:
            return found
    return []


def _draw_one(path: Path, root: Node, options: argparse.Namespace, suffix: str, taken: set[Path]) -> list[str]:
    kind = next((kind for kind in KINDS if kind.is_of(root.value)), run_kind.KIND)  # which says what is missing
    drawn = kind.draw(root, Options(path, options.device, options.layer, options.batch, options.gpu))
    output = options.output or path.resolve().parent
    output.mkdir(parents=True, exist_ok=True)
    if options.table:
        sys.stdout.writelines(drawn.plain)
        print()
    written = _write_all(drawn, output, options, suffix, taken)
    return ([f"charts.py: {drawn.remark}"] if drawn.remark else []) + _lines(written)


def _write_all(drawn: Drawn, output: Path, options: argparse.Namespace, suffix: str, taken: set[Path]) -> list[Path]:
    """Draws one figure after the other, and writes the table. A figure whose file another record of the folder has
    written has the record's name in its own."""
    from convladder_charts import style
    from convladder_charts.page import save, write_parts

    written = []
    with style.applied():
        for drawing in drawn.drawings:
            page, title, description = drawing.draw(drawing.record, drawing.of, options.batch)
            own = output / drawing.name in taken
            taken.add(output / drawing.name)
            for ending in options.format:
                path = output / f"{drawing.name}{suffix if own else ''}.{ending}"
                save(page, path, title, description)
                written.append(path)
    table = output / f"table{suffix}.md"
    write_parts(table, (part.encode("utf-8") for part in drawn.markdown))
    return [*written, table]


def _lines(written: Sequence[Path]) -> list[str]:
    """The pictures in a line, with all their endings in one pair of braces, and the table in another."""
    *pictures, table = written
    endings = ",".join(dict.fromkeys(path.suffix[1:] for path in pictures))
    names = list(dict.fromkeys(path.stem for path in pictures))
    stems = ", ".join(names[:_MOST_NAMED]) + (f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else "")
    many = "{" + endings + "}" if "," in endings else endings
    return [f"charts: {table.parent}/*.{many}: {stems}"] * bool(pictures) + [f"table:  {table}"]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLES, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("record", type=Path, metavar="RECORD", help="a run.json, a network.json, another record, or a "
                        "folder of records")
    parser.add_argument("--output", type=Path, metavar="DIR", help="where to write (default: next to the record)")
    parser.add_argument("--format", type=formats, default=("svg", "png"), metavar="svg,png",
                        help="image formats (default: svg,png)")
    parser.add_argument("--device", type=names, default=(), metavar="NAMES", help="only these devices, comma-separated")
    parser.add_argument("--layer", type=names, default=(), metavar="NAMES",
                        help="only these layers, comma-separated, as in lenet72.conv2")
    parser.add_argument("--batch", type=int, metavar="N",
                        help="the batch of ladders and counts "
                             "(default: the largest one at which the summary's stages have a figure)")
    parser.add_argument("--gpu", metavar="NAME", help="the GPU whose roofline is drawn (default: h100)")
    parser.add_argument("--table", action="store_true", help="print the table too")
    return parser


if __name__ == "__main__":
    sys.exit(main())
