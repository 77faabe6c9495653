#!/usr/bin/python3
"""Draws a run of single layers (run.json) or of whole networks (network.json), and only what the record holds."""

from __future__ import annotations

import argparse
import dataclasses
import re
import sys
from pathlib import Path
from typing import Any, Optional, Sequence, Union

from convladder_charts import table
from convladder_charts import record as run_record
from convladder_charts.drawing_command import formats, names, status_of
from convladder_charts.json_text import Node, RecordError, is_of_networks, read_json
from convladder_charts.network import record as network_record
from convladder_charts.network import table as network_table
from convladder_charts.network.record import NetworkRecord
from convladder_charts.predicted import PredictedGroup
from convladder_charts.record import Group, Record
from convladder_charts.stage import printable

EXAMPLES = """\
examples:
  scripts/charts.py results/host-20250101/run.json             charts and table.md next to run.json
  scripts/charts.py run.json --table                           the table in the terminal as well
  scripts/charts.py run.json --output docs --format svg        SVG only, into docs/
  scripts/charts.py run.json --device cpu --batch 1000         one device; the ladder at batch 1000
  scripts/charts.py network.json --table                       a run of whole networks

The first device that has times gets the plain file names (measured before predicted, cuda before cpu), every
other one has its name in the file's: ladder-cpu.svg. A run in which a device counted instead of timing gets
counters.svg as well, and prediction.svg and roofline.svg where times are predicted from these counters; one of
'convladder run --leave-one-out' gets leave_one_out.svg. Of whole
networks every network gets op_times-NETWORK.svg and pass_time-NETWORK.svg, or
instructions-NETWORK.svg where a device counted. The same record gives the same files, byte for byte.

exit status: 0 drawn (also when no case has a time: the charts say so), 2 usage, 3 no readable run,
4 cannot write."""


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs the command line; returns the exit status."""
    options = _parser().parse_args(arguments)
    return status_of("charts.py", lambda: _draw(options))


def _draw(options: argparse.Namespace) -> list[Path]:
    record, text = _load(options)
    output = options.output or options.run.resolve().parent
    output.mkdir(parents=True, exist_ok=True)
    if options.table:
        print(text.plain(record))
    if isinstance(record, Record) and not record.drawn:
        print("charts.py: no case of this run has a time; the charts say so")
    return _write_all(_drawings(record, options.batch), text.markdown(record), record, output, options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, epilog=EXAMPLES, allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, metavar="RECORD.json", help="a run.json or a network.json")
    parser.add_argument("--output", type=Path, metavar="DIR", help="where to write (default: next to the record)")
    parser.add_argument("--format", type=formats, default=("svg", "png"), metavar="svg,png",
                        help="image formats (default: svg,png)")
    parser.add_argument("--device", type=names, metavar="NAMES", help="only these devices, comma-separated")
    parser.add_argument("--batch", type=int, metavar="N",
                        help="the batch of ladders and counts "
                             "(default: the largest batch for which the most stages have a figure)")
    parser.add_argument("--gpu", metavar="NAME", help="the GPU whose roofline is drawn (default: h100)")
    parser.add_argument("--table", action="store_true", help="print the table too")
    return parser


def _load(options: argparse.Namespace) -> tuple[Union[Record, NetworkRecord], Any]:
    """The record with the asked devices only, and the module that writes it as text."""
    root = Node(read_json(options.run), options.run)
    if is_of_networks(root.value):
        networks = network_record.read(root)
        groups = _of_devices(networks.groups, options)
        _check_batch([batch for group in groups for batch in group.batches], options)
        return dataclasses.replace(networks, groups=groups), network_table
    record = run_record.read(root)
    groups = _of_devices((*record.groups, *record.counted, *record.predicted, *record.left_out), options)
    _check_batch([ladder.batch for group in groups for ladder in group.ladders], options)
    return dataclasses.replace(record, groups=tuple(group for group in record.groups if group in groups),
                               counted=tuple(group for group in record.counted if group in groups),
                               predicted=tuple(_of_gpu(group, options) for group in record.predicted
                                               if group in groups),
                               left_out=tuple(group for group in record.left_out if group in groups)), table


def _of_gpu(group: PredictedGroup, options: argparse.Namespace) -> PredictedGroup:
    """With the asked GPU as the one whose roofline is drawn."""
    held = [name for name, _ in group.gpus]
    if options.gpu is None:
        return group
    if options.gpu not in held:
        raise RecordError(f"{options.run}: no prediction for GPU {printable(options.gpu)}; "
                          f"the record predicts for {', '.join(held)}")
    return dataclasses.replace(group, gpu=options.gpu)


def _of_devices(groups: tuple[Any, ...], options: argparse.Namespace) -> tuple[Any, ...]:
    """The groups of the asked devices; asking for one that the record does not hold is bad input."""
    if not options.device:
        return groups
    held = sorted({group.device for group in groups})
    unknown = [name for name in options.device if name not in held]
    if unknown:
        raise RecordError(f"{options.run}: no device {printable(', '.join(unknown))}; it holds {', '.join(held)}")
    return tuple(group for group in groups if group.device in options.device)


def _check_batch(held: Sequence[int], options: argparse.Namespace) -> None:
    if options.batch is not None and options.batch not in held:
        known = ", ".join(map(str, sorted(set(held))))
        raise RecordError(f"{options.run}: no batch {options.batch}; it holds {known}")


def _drawings(record: Union[Record, NetworkRecord], batch: Optional[int]) -> list[tuple[str, Any, Any]]:
    """File name, what draws it, and of what. No two devices, and nothing measured and predicted, share an axis."""
    from convladder_charts import (counters, ladder, leave_one_out, nothing, prediction, roofline,
                                   throughput_over_batch, time_over_batch)
    from convladder_charts.network import charts as network_charts

    if isinstance(record, NetworkRecord):
        return network_charts.drawings(record)
    charts = {"ladder": ladder.draw, "time_over_batch": time_over_batch.draw,
              "throughput_over_batch": throughput_over_batch.draw}
    if record.of_sizes and all(one.batch == 1 for group in record.groups for one in group.ladders):
        charts = {"ladder": ladder.draw}  # nothing is over a batch
    drawings = [(f"{name}{_suffix(index, group)}", (draw if group else nothing.draw), group)
                for index, group in enumerate(record.drawn or (None,)) for name, draw in charts.items()]
    drawings += [(f"counters{_suffix(index, group)}", counters.draw, group)
                 for index, group in enumerate(record.counted) if group.chosen(batch)]
    drawings += [(f"leave_one_out{_suffix(index, group)}", leave_one_out.draw, group)
                 for index, group in enumerate(record.left_out) if group.chosen(batch)]
    return drawings + [(f"{name}{_suffix(index, group)}", draw, group) for index, group in enumerate(record.predicted)
                       if group.chosen(batch) for name, draw in (("prediction", prediction.draw),
                                                                 ("roofline", roofline.draw))]


def _write_all(drawings: Sequence[tuple[str, Any, Any]], text: str, record: Union[Record, NetworkRecord],
               output: Path, options: argparse.Namespace) -> list[Path]:
    """Draws one figure after the other, and writes the table."""
    from convladder_charts import style
    from convladder_charts.page import save, write

    written = []
    with style.applied():
        for name, draw, group in drawings:
            page, title, description = draw(record, group, options.batch)
            for ending in options.format:
                path = output / f"{name}.{ending}"
                save(page, path, title, description)
                written.append(path)
    write(output / "table.md", text.encode("utf-8"))
    return [*written, output / "table.md"]


def _suffix(index: int, group: Any) -> str:
    """What tells a further group's file from the first one's."""
    if index == 0 or group is None:
        return ""
    parts = [group.device] + [group.family] * (group.family != group.device)
    parts += [group.kind] * (group.kind not in ("measured", "counted") and isinstance(group, Group))
    return "".join("-" + re.sub(r"[^a-z0-9]+", "_", part.lower()) for part in parts)


if __name__ == "__main__":
    sys.exit(main())
