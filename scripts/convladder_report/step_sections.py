"""Why each step is faster or slower, in the record's own sentences, and where a stage loses."""

from __future__ import annotations

from typing import Iterator, Mapping, Optional

from convladder_charts.record import Record
from convladder_charts.units import ratio
from convladder_report.document import Items, Section
from convladder_report.summary import Told
from convladder_report.words import against, named


def section(record: Record, ladders: Mapping[str, Told], source: str, name: str, layer: str) -> Optional[Section]:
    """A list for each layer at its largest batch, folded except for one layer of each device; nothing where the record has
    no sentences."""
    chosen: dict[tuple[str, str], Told] = {}
    for one in ladders.values():
        key = one.device, one.layer_name
        if one.steps and (key not in chosen or chosen[key].batch < one.batch):
            chosen[key] = one
    order = sorted(chosen.values(), key=lambda one: one.layer_name != layer)
    shown = {one.device: one.place for one in reversed(order)}
    blocks = tuple(Section(f"{name}-{number}", _where(one, record), (_steps(one, source),), one.place not in shown.values())
                   for number, one in enumerate(order, 1))
    return Section(name, "Why each step is faster, or is not", blocks) if blocks else None


def _where(one: Told, record: Record) -> str:
    kinds = dict.fromkeys(step.kind for step in one.steps)
    where = one.layer_name if record.of_sizes else f"{one.layer_name} at batch {one.batch}"
    return f"{where} on {one.device}, {' and '.join(kinds)}"


def _steps(one: Told, source: str) -> Items:
    """A sentence or two for each stage, beside the one that it builds on."""
    heads, texts = [], []
    for step in one.steps:
        over = f", {ratio(step.x)} over {step.builds_on.title}" if step.builds_on and step.x is not None else (
            f", over {step.builds_on.title}" if step.builds_on else "")
        heads.append(f"{named(step.stage)}{over}.")
        texts.append(" ".join(part for part in (step.relieved, step.binds) if part))
    return Items(tuple(texts), tuple(f"{source}: {step.place}" for step in one.steps), tuple(heads))


def losses(ladders: Mapping[str, Told], places: list[str]) -> Iterator[Items]:
    """The stages of these ladders that are surely slower than the one they build on."""
    texts, where = [], []
    for place in places:
        one = ladders[place]
        for loss in one.summary.loses if one.summary else ():
            texts.append(f"{loss.stage} {against(loss.x, loss.builds_on)}, which it builds on: {one.layer_name}, "
                         f"batch {one.batch}.")
            where.append(f"{one.summary.place}.loses" if one.summary else "")
    if texts:
        yield Items(tuple(texts), tuple(where))
