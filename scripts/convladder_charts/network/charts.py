"""Which figures a record of whole networks gets, and what their files are called."""

from __future__ import annotations

import dataclasses
import re
from typing import Any, Callable, Optional

from convladder_charts.drawable import Drawing, Drawn, Kind, Options
from convladder_charts.json_text import Node, is_of_networks
from convladder_charts.network import record as networks
from convladder_charts.network import table
from convladder_charts.network.record import NetworkGroup, NetworkRecord

Draw = Callable[[NetworkRecord, NetworkGroup, Optional[int]], tuple[Any, str, str]]


def _draw(root: Node, options: Options) -> Drawn:
    record = networks.read(root)
    groups = options.of_devices(record.groups)
    options.check_layers([])
    options.check_batch([batch for group in groups for batch in group.batches])
    record = dataclasses.replace(record, groups=groups)
    drawn = drawings(record)
    remark = "" if drawn else "no picture: no case of this run has a time or a counter; table.md says why"
    return Drawn([Drawing(name, draw, record, group) for name, draw, group in drawn], (table.markdown(record),),
                 (table.plain(record),), remark)


def drawings(record: NetworkRecord) -> list[tuple[str, Draw, NetworkGroup]]:
    """File name without ending, what draws it, and of what. Times and counts never share a figure."""
    from convladder_charts.network import instructions, op_times, whole_pass

    found: list[tuple[str, Draw, NetworkGroup]] = []
    for group in record.groups:
        if group.timed:
            found += [("op_times", op_times.draw, group), ("pass_time", whole_pass.draw, group)]
        if group.counted:
            found.append(("instructions", instructions.draw, group))
    return [(f"{kind}-{suffix}", draw, group) for (kind, draw, group), suffix in zip(found, _suffixes(found))]


def _suffixes(found: list[tuple[str, Draw, NetworkGroup]]) -> list[str]:
    """The network; for a further device, or a network whose name reads the same in a file name, what tells it apart."""
    taken: set[tuple[str, str]] = set()
    suffixes = []
    for kind, _, group in found:
        plain = _plain(group.network)
        numbered = (f"{plain}-{number}" for number in range(2, len(found) + 2))
        choices = [plain, f"{plain}-{_plain(group.device)}", *numbered]
        suffix = next(choice for choice in choices if (kind, choice) not in taken)
        taken.add((kind, suffix))
        suffixes.append(suffix)
    return suffixes


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "network"


KIND = Kind("network", is_of_networks, _draw)
