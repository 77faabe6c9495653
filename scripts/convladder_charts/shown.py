"""Which layers, batches and stages of a large record are drawn, and how many are not. A small record is drawn whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Union

from convladder_charts.counted import CountedLadder
from convladder_charts.predicted import PredictedLadder
from convladder_charts.record import Extent, Group, Ladder, Record
from convladder_charts.summary import path_to

MOST_SIZES = 100
"""Layers times their batches, up to which a record is drawn whole."""
MOST_LAYERS = 12
MOST_BATCHES = 6
MOST_DEVICES = 6
MOST_STAGES = 60
"""Rows of a ladder."""

AnyLadder = Union[Ladder, CountedLadder, PredictedLadder]


def abridged(record: Record) -> Record:
    """Of a record of many sizes the layers that take longest, each at a few batches; of a long ladder some stages. What is
    left out is said in the record's `not_shown`."""
    held = (*record.groups, *record.counted, *record.predicted)
    sizes = dict.fromkeys((one.layer_name, one.batch) for group in held for one in group.ladders)
    said = []
    kept = set(sizes)
    if len(sizes) > MOST_SIZES:
        kept, sentence = _few_sizes(record, list(sizes))
        said.append(sentence)
    devices = dict.fromkeys((group.device, group.family) for group in held)
    if len(devices) > MOST_DEVICES:
        said.append(f"Of {len(devices)} devices {MOST_DEVICES} are shown: the first ones.")
    longest = max((len(one.rows) for group in held for one in group.ladders), default=0)
    if longest > MOST_STAGES:
        said.append(f"Of {_thousands(longest)} stages of a ladder {MOST_STAGES} are shown: those that its summary names, and "
                    "the first ones.")
    if not said:
        return record
    shown = list(devices)[:MOST_DEVICES]
    groups = {name: tuple(_few_of(group, kept) for group in getattr(record, name) if (group.device, group.family) in shown)
              for name in ("groups", "counted", "predicted")}
    layers = Counter(layer for layer, _ in sizes)
    extent = Extent(tuple(layers), tuple(sorted({batch for _, batch in sizes})), max(layers.values(), default=0))
    return replace(record, **groups, extent=extent, not_shown=" ".join(said))


def _thousands(number: int) -> str:
    return f"{number:,}"


def _few_sizes(record: Record, sizes: Sequence[tuple[str, int]]) -> tuple[set[tuple[str, int]], str]:
    by_layer: dict[str, list[int]] = {}
    for layer, batch in sizes:
        by_layer.setdefault(layer, []).append(batch)
    works, what = _works(record)
    layers = sorted(by_layer, key=lambda layer: -works.get(layer, 0.0))[:MOST_LAYERS]
    told = _told(record)
    kept = {(layer, batch) for layer in layers
            for batch in _few_batches(sorted(by_layer[layer]), told.get(layer, {}))}
    noun = "size" if record.of_sizes else "layer"
    said = f"Of {_thousands(len(by_layer))} {noun}s the {len(layers)} that {what} are shown" if (
        len(by_layer) > len(layers)) else "All layers are shown"
    if any(len(by_layer[layer]) > MOST_BATCHES for layer in layers):
        said += f", each at {MOST_BATCHES} of its batches, from the smallest to the largest"
    return kept, f"{said}."


def _works(record: Record) -> tuple[Mapping[str, float], str]:
    """By layer what makes one longer than another, and how that is said."""
    found: dict[str, float] = {}
    for group in record.drawn[:1]:
        for ladder in group.ladders:
            time = max((row.median or 0.0 for row in ladder.timed), default=0.0)
            found[ladder.layer_name] = max(found.get(ladder.layer_name, 0.0), time)
        return found, f"take longest on {group.device}"
    for counted in record.counted:
        for one in counted.ladders:
            work = max((row.flop for row in one.rows), default=0.0)
            found[one.layer_name] = max(found.get(one.layer_name, 0.0), work)
    return found, "compute most" if found else "come first"


def _told(record: Record) -> Mapping[str, Mapping[int, int]]:
    """By layer and batch how much its ladders tell, as a picture chooses among them."""
    found: dict[str, dict[int, int]] = {}
    for group in (*record.drawn[:1], *record.counted[:1]):
        for ladder in group.ladders:
            summary = ladder.summary
            tells = sum(name is not None for name in (summary.baseline, summary.sixth, summary.best, summary.library))
            batches = found.setdefault(ladder.layer_name, {})
            batches[ladder.batch] = max(batches.get(ladder.batch, 0), tells)
    return found


def _few_batches(batches: Sequence[int], told: Mapping[int, int]) -> set[int]:
    """The one that a picture of the ladder chooses, and others at even steps, both ends among them."""
    if len(batches) <= MOST_BATCHES:
        return set(batches)
    best = max(batches, key=lambda batch: (told.get(batch, 0), batch))
    rest = [batch for batch in batches if batch != best]
    last = MOST_BATCHES - 2
    return {best, *(rest[round(index * (len(rest) - 1) / last)] for index in range(last + 1))}


def _few_of(group: Any, kept: set[tuple[str, int]]) -> Any:
    ladders = tuple(_few_stages(one) for one in group.ladders if (one.layer_name, one.batch) in kept)
    layers = {one.layer_name for one in group.ladders}
    more = {"more_layers": len(layers) - len({one.layer_name for one in ladders})}
    if isinstance(group, Group):
        more["more_cases"] = sum(len(one.rows) for one in group.ladders) - sum(len(one.rows) for one in ladders)
    return replace(group, ladders=ladders, **more)


def _few_stages(ladder: AnyLadder) -> AnyLadder:
    """Those that the summary names with what they build on, and then the first ones, in the ladder's order."""
    if len(ladder.rows) <= MOST_STAGES:
        return ladder
    summary = ladder.summary
    by_name = {row.stage.name: row.stage for row in ladder.rows}
    names = [summary.baseline, summary.sixth, summary.best, summary.library, *path_to(by_name, summary.best),
             *summary.overlaps[:1], *(one.variant for one in summary.loses[:MOST_STAGES // 4])]
    wanted = dict.fromkeys([*(name for name in names if name in by_name), *by_name])
    names_kept = set(list(wanted)[:MOST_STAGES])
    rows = tuple(row for row in ladder.rows if row.stage.name in names_kept)
    return replace(ladder, rows=rows, more_stages=len(ladder.rows) - len(rows))
