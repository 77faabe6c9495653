"""Why each step is faster or slower, in the record's own sentences, and where a stage loses."""

from __future__ import annotations

from typing import Iterator, Mapping, Optional

from convladder_charts.known_text import ends, factor, inverse, speed, untold
from convladder_charts.record import Record
from convladder_report.document import Items, Section
from convladder_report.summary import Told
from convladder_report.words import named


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
        over = f", {factor(step.x)} over {step.builds_on.title}" if step.builds_on and step.x is not None else (
            f", over {step.builds_on.title}" if step.builds_on else "")
        heads.append(f"{named(step.stage)}{over}.")
        rough = f"The factor is not to be relied on: {step.no_headline}." if step.no_headline and step.x is not None else ""
        alike = "It cannot be told from the stage that it builds on." if untold(step.x) and not rough else ""
        where = f"Lines of source: {'; '.join(step.lines)}." if step.lines else ""
        texts.append(" ".join(part for part in (rough, alike, step.relieved, step.binds, where) if part))
    return Items(tuple(texts), tuple(f"{source}: {step.place}" for step in one.steps), tuple(heads))


def losses(ladders: Mapping[str, Told], places: list[str]) -> Iterator[Items]:
    """The stages of these ladders that are surely slower than the one they build on, and those of which that cannot be
    told."""
    texts, where = [], []
    for place in places:
        one = ladders[place]
        on = f"{one.layer_name}, batch {one.batch}"
        for loss in one.summary.loses if one.summary else ():
            why = next((step.no_headline for step in one.steps if step.stage.title == loss.stage), "")
            said = "" if why else speed(loss.x, loss.builds_on)
            said = said or f"takes longer than {loss.builds_on}, by how much is not told{f': {why}' if why else ''}"
            between = "" if why else ends(inverse(loss.x))
            between = f" ({between})" if between and between not in said else ""
            texts.append(f"{loss.stage} {said}{between}, which it builds on: {on}.")
            where.append(f"{one.summary.place}.loses" if one.summary else "")
        alike = [step for step in one.steps if step.builds_on and step.kind == "measured" and untold(step.x)]
        for step in alike:
            texts.append(f"{step.stage.title} cannot be told from {step.builds_on.title if step.builds_on else ''}, which "
                         f"it builds on ({ends(step.x) if step.x is not None else ''}): {on}.")
            where.append(f"{step.place}.x")
    if texts:
        yield Items(tuple(texts), tuple(where))
