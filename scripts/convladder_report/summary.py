"""The report in a few sentences, each built from the record: which stage is fastest, by how much, by which counter."""

from __future__ import annotations

from typing import Iterator

from convladder_charts.counted import CountedGroup, CountedLadder, CountedRow, Figure, figures
from convladder_charts.counted_text import SCALED
from convladder_charts.ladder import chosen_ladders
from convladder_charts.network.instructions import chosen, images
from convladder_charts.network.record import NetworkGroup, NetworkRecord
from convladder_charts.page import device_name
from convladder_charts.record import Group, Ladder, Record, Row
from convladder_charts.stage import Stage
from convladder_charts.units import NONE, count, duration, percent, ratio, significant
from convladder_report.document import Sentence

_MOVED = 0.05
"""Smaller changes of a counter are not mentioned."""


def of_run(record: Record) -> Iterator[Sentence]:
    """Per layer what is fastest, and what its counters say."""
    for group in record.drawn:
        for one in chosen_ladders(group, None):
            yield from _fastest(group, one, record.counted)
    for counted in record.counted:
        for ladder in counted.chosen(None):
            yield from _counted(counted, ladder)
    if not record.drawn and not record.counted:
        yield Sentence("No case of this run has a time or a counter. " + " ".join(record.skipped_lines))


def _fastest(group: Group, one: Ladder, counted: tuple[CountedGroup, ...]) -> Iterator[Sentence]:
    stages = [row for row in one.timed if not row.stage.is_library and row.layer_median]
    if not stages:
        return
    best = min(stages, key=lambda row: row.layer_median or 0)
    gains = [words for value, words in (
        (best.x_previous, f"{ratio(best.x_previous)} as fast as the stage it builds on"),
        (best.x_baseline, f"{ratio(best.x_baseline)} as fast as the baseline"),
        (best.percent_of_library, f"{percent(best.percent_of_library)} of the library's speed")) if value is not None]
    where = f"{one.layer_name} at batch {one.batch} on {device_name(group)}"
    text = (f"{where}: the fastest stage is {_named(best.stage)} with a {'call' if best.of == 'call' else 'layer'} time of "
            f"{duration(best.layer_median or 0)} ({group.kind}, median)")
    text += f": {', '.join(gains)}." if gains else "."
    yield Sentence(text + _beside(stages, best) + _largest_step(stages, best) + _why(group, one, best, counted),
                   one.place)


def _beside(stages: list[Row], best: Row) -> str:
    """Whether the fastest can be told from the others at all."""
    if best.high is None or best.of not in ("layer", "call"):
        return ""
    near = [_named(row.stage) for row in stages
            if row is not best and row.of == best.of and row.low is not None and row.low <= best.high]
    return f" Its interval overlaps that of {', '.join(near)}." if near else ""


def _largest_step(stages: list[Row], best: Row) -> str:
    steps = [row for row in stages if row.x_previous is not None]
    largest = max(steps, key=lambda row: row.x_previous or 0, default=None)
    if largest is None or largest is best:
        return ""
    gain = ratio(largest.x_previous)
    return f" The largest single step is {_named(largest.stage)}, {gain} over the stage it builds on."


def _why(group: Group, one: Ladder, best: Row, counted: tuple[CountedGroup, ...]) -> str:
    """By which counter, where the simulated device counted the same family and layer."""
    for other in counted:
        for ladder in other.chosen(None):
            if (other.family, ladder.layer_name) == (group.family, one.layer_name):
                stages = [row for row in ladder.counted if not row.stage.is_library]
                index = next((i for i, row in enumerate(stages) if row.stage == best.stage), 0)
                moved = _moved(stages[index - 1], stages[index]) if index else ""
                return f" Over the stage below, counted on {other.device}: {moved}." if moved else ""
    return ""


def _counted(group: CountedGroup, ladder: CountedLadder) -> Iterator[Sentence]:
    stages = [row for row in ladder.counted if not row.stage.is_library]
    if len(stages) < 2:
        return
    first, last = stages[0], stages[-1]
    moved = _moved(first, last)
    yield Sentence(
        f"{ladder.layer_name} at batch {ladder.batch} on {group.device}, counted and not timed: from "
        f"{_named(first.stage)} to {_named(last.stage)}: {moved or 'no counter moved by 5 % or more'}.",
        f"{first.place}.counters, {last.place}.counters")


def _moved(below: CountedRow, row: CountedRow) -> str:
    """Every quantity that changed, what fell first."""
    falls, rises = [], []
    for each in figures():
        old, new = each.of(below), each.of(row)
        if old is None or new is None or not _is_moved(old, new):
            continue
        (falls if new < old else rises).append(
            f"{each.name} {each.per}".strip() + f" {'fell' if new < old else 'rose'} {_from_to(each, below, row)}")
    return ", ".join([*falls, *rises])


def figure_text(each: Figure, below: CountedRow, row: CountedRow) -> str:
    """What a stage changed in one quantity, for a table."""
    old, new = each.of(below), each.of(row)
    if old is None or new is None:
        return NONE
    return "unchanged" if old == new else _from_to(each, below, row)


def _is_moved(old: float, new: float) -> bool:
    return abs(new - old) > _MOVED * max(abs(old), abs(new))


def _by_how_much(old: float, new: float) -> str:
    """ "to 95 %", or "9.9x" from twice as much on."""
    return ratio(new / old) if new >= 2 * old else f"to {100 * new / old:.3g} %"


def _from_to(each: Figure, below: CountedRow, row: CountedRow) -> str:
    """From a value to a value, and by which factor where there is one."""
    old, new = each.of(below) or 0.0, each.of(row) or 0.0
    about = SCALED if each.is_scaled(below) or each.is_scaled(row) else ""
    text = significant if each.per else count
    unit = "B" if each.unit == "B" else ""
    factor = f" ({_by_how_much(old, new)})" if min(old, new) > 0 else ""
    return f"from {about}{text(old)}{unit} to {about}{text(new)}{unit}{factor}"


def of_networks(record: NetworkRecord) -> Iterator[Sentence]:
    """Per network and device: the fastest choice at the largest batch, its accuracy, and what was counted."""
    for group in record.groups:
        if group.timed:
            yield _pass(group)
        if group.counted:
            yield _instructions(group)
        if not group.timed and not group.counted:
            yield Sentence(f"{group.network} on {group.device}: no case has a result.")


def _pass(group: NetworkGroup) -> Sentence:
    batch = max(case.batch for case in group.timed)
    cases = [case for case in group.timed if case.batch == batch]
    times = {case.stage: case.total.median for case in cases if case.total}
    best = min(cases, key=lambda case: times[case.stage])
    base = min((case for case in cases if not case.stage.is_library and not case.stage.is_choice),
               key=lambda case: case.stage.rung or 0, default=None)
    text = (f"{group.network} at batch {batch} on {group.device}: the fastest whole pass, with {_named(best.stage)} in "
            f"its convolutions, takes {duration(times[best.stage])} (measured, median)")
    if base is not None and base is not best and times[best.stage] > 0:
        text += f", {ratio(times[base.stage] / times[best.stage])} as fast as with {_named(base.stage)}"
    if best.accuracy:
        one = best.accuracy
        text += (f". Accuracy {one.value:.4f}: {one.correct} of {one.of} images, {100 * one.level:.0f} % binomial "
                 f"interval {one.low:.4f} to {one.high:.4f}")
    places = [best.place] + [base.place] * (base is not best) if base else [best.place]
    return Sentence(text + ".", ", ".join(places))


def _instructions(group: NetworkGroup) -> Sentence:
    cases = chosen(group, None)
    totals = [(sum(step.instructions or 0.0 for step in case.steps), case) for case in cases]
    least, most = min(totals, key=lambda one: one[0]), max(totals, key=lambda one: one[0])
    text = (f"{group.network} at batch {cases[0].batch} on {group.device}, counted and not timed: a pass executes the "
            f"fewest warp instructions with {_named(least[1].stage)}, {count(least[0])}")
    if least[0] > 0 and len(cases) > 1:
        text += (f"; the most, {count(most[0])} ({ratio(most[0] / least[0])} as many), "
                 f"with {_named(most[1].stage)}")
    return Sentence(f"{text}. {images(cases)}.", f"{least[1].place}.steps, {most[1].place}.steps")


def _named(stage: Stage) -> str:
    return stage.title if stage.is_library or stage.is_choice else f"stage {stage.rung} ({stage.title})"
