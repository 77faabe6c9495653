"""What is seen first of a run of whole networks: the fastest pass, where its time goes, how often it is right."""

from __future__ import annotations

import dataclasses
from typing import Optional, Sequence

from convladder_charts import known_text
from convladder_charts.known import Ratio, quotient
from convladder_charts.network import table as network_table
from convladder_charts.network import whole_pass
from convladder_charts.network.instructions import chosen, images
from convladder_charts.network.parts import distribution
from convladder_charts.network.record import Case, NetworkGroup, NetworkRecord
from convladder_charts.table_text import Table
from convladder_charts.units import NONE, count, duration, percent, ratio
from convladder_report import common_sections, network_explorers
from convladder_report.common_sections import places_of
from convladder_report.document import Answer, Explorer, Fact, Figure, Front, TableBlock
from convladder_report.figures import figure
from convladder_report.kind import Input
from convladder_report.trust import Trust
from convladder_report.words import counted, listed, named

_SHOWN_PARTS = 3


def front(one: Input, prefix: str) -> Front:
    """The first screen."""
    record: NetworkRecord = one.record
    timed = [group for group in record.groups if group.timed]
    trust = Trust(one.root).answer()
    names = list(dict.fromkeys(group.network for group in record.groups))
    title = f"{listed(names, 3)}, from images to scores" if names else "Whole networks"
    answers: tuple[Answer, ...]
    if timed:
        answers = (_pass(timed), _parts(timed[0]), _accuracy(timed))
    elif any(group.counted for group in record.groups):
        answers = tuple(_instructions(group) for group in record.groups if group.counted)
    else:
        answers = (Answer("How fast is a whole pass?", "No case has a result.", "$.cases[…].status"),)
    hero, explorer = _hero(record, timed[0], one.source, prefix) if timed else (None, None)
    machine = common_sections.machine_line(record, hardware=[group.hardware for group in timed])
    return Front(title, _asked(record), (*answers, trust), machine, hero, explorer,
                 tuple(_table(timed, one.source) for _ in timed[:1]))


def _asked(record: NetworkRecord) -> str:
    parts = []
    for device in dict.fromkeys(group.device for group in record.groups):
        groups = [group for group in record.groups if group.device == device]
        batches = sorted({batch for group in groups for batch in group.batches})
        choices = len({case.stage for group in groups for case in group.cases})
        how = "" if any(group.timed for group in groups) else ", counted and not timed"
        parts.append(f"{listed([group.network for group in groups], 7)} on {device} at batch "
                     f"{listed([str(batch) for batch in batches])}{how}, with {counted(choices, 'choice')} of stages for "
                     "their convolutions" if len(groups) > 1 else
                     f"{groups[0].network} on {device} at batch {listed([str(batch) for batch in batches])}{how}, with "
                     f"{counted(choices, 'choice')} of stages for its convolutions")
    return f"Whole passes through {'; '.join(parts)}." if parts else "Nothing was asked: the record holds no network."


def _largest(group: NetworkGroup) -> list[Case]:
    batch = max(case.batch for case in group.timed)
    return sorted((case for case in group.timed if case.batch == batch), key=_time)


def _time(case: Case) -> float:
    return case.total.median if case.total else 0.0


def _base(cases: Sequence[Case]) -> Optional[Case]:
    """With the ladder's lowest stage in all convolutions."""
    return min((case for case in cases if not case.stage.is_library and not case.stage.is_choice),
               key=lambda case: case.stage.rung or 0, default=None)


def _factor(case: Optional[Case], best: Case) -> Optional[Ratio]:
    """How many times as fast the best pass is; passes are timed one after the other."""
    if case is None or case.total is None or best.total is None:
        return None
    if case is best:
        return Ratio(1, 1, 1)
    return quotient(case.total.known, best.total.known)


def _between(case: Case) -> str:
    """The interval of its time in brackets."""
    total = case.total
    return f" ({duration(total.low)} to {duration(total.high)})" if total and total.low and total.high else ""


def _pass(groups: Sequence[NetworkGroup]) -> Answer:
    group = groups[0]
    cases = _largest(group)
    best, base = cases[0], _base(cases)
    level = [one for one in cases if one is not best and known_text.untold(_factor(one, best))]
    names = known_text.either([named(one.stage) for one in (best, *level)])
    text = f"{group.network} at batch {best.batch} on {group.device} takes {duration(_time(best))} with {names}"
    text += ", which cannot be told apart" if level else ""
    rough = any(one.quality for one in cases)
    factor = _factor(base, best)
    library = next((case for case in cases if case.stage.is_library), None)
    said = [known_text.speed(_factor(one, best), f"with {named(one.stage)}", rough) for one in (base, library)
            if one and one is not best and one not in level]
    text += f"; that {' and '.join(filter(None, said))}" if any(said) else ""
    facts = [Fact(duration(_time(best)), "a pass, measured" + _between(best))]
    shown = known_text.headline(factor, rough) if base is not best else ""
    facts += [Fact(shown, f"over the lowest stage ({known_text.ends(factor)})")] if shown and factor is not None else []
    return Answer("How fast is a whole pass?", f"{text}.", best.place, tuple(facts))


def _parts(group: NetworkGroup) -> Answer:
    best = _largest(group)[0]
    shares = distribution(best)
    total = sum(shares.values())
    largest = sorted(shares.items(), key=lambda one: -one[1])[:_SHOWN_PARTS]
    if total <= 0:
        return Answer("Where does the time go?", "The parts of a pass have no times of their own.", best.place)
    parts = [f"{percent(100 * time / total)} {name}" for name, time in largest if time > 0]
    return Answer("Where does the time go?", f"Of the fastest pass: {listed(parts)}.", best.place,
                  tuple(Fact(percent(100 * time / total), name) for name, time in largest[:2]))


def _accuracy(groups: Sequence[NetworkGroup]) -> Answer:
    best = next((case for group in groups for case in _largest(group) if case.accuracy), None)
    question = "How often is it right?"
    if best is None or best.accuracy is None:
        return Answer(question, f"Not known: weights {groups[0].weights}.", "$.networks[…].weights")
    one = best.accuracy
    return Answer(question, f"{one.correct} of {one.of} images got their own class; with this many images that means "
                  f"{percent(100 * one.low)} to {percent(100 * one.high)} ({100 * one.level:.0f}% interval). Weights: "
                  f"{groups[0].weights}.", f"{best.place}.accuracy", (Fact(f"{100 * one.value:.1f}%", "accuracy"),))


def _instructions(group: NetworkGroup) -> Answer:
    cases = chosen(group, None)
    totals = sorted(((sum(step.instructions or 0.0 for step in case.steps), case) for case in cases), key=lambda one: one[0])
    least, most = totals[0], totals[-1]
    text = (f"Counted and not timed, at batch {cases[0].batch}: the fewest warp instructions of a pass are "
            f"{count(least[0])}, with {named(least[1].stage)}")
    if least[0] > 0 and len(totals) > 1:
        text += f"; {named(most[1].stage)} executes {ratio(most[0] / least[0])} as many"
    return Answer(f"What does a pass of {group.network} execute?", f"{text}. {images(cases)}.",
                  f"{least[1].place}.steps, {most[1].place}.steps", (Fact(count(least[0]), "warp instructions"),))


def _hero(record: NetworkRecord, group: NetworkGroup, source: str, prefix: str) -> tuple[Figure, Optional[Explorer]]:
    """Of the fastest choice, the lowest stage and the library."""
    cases = _largest(group)
    library = next((case for case in cases if case.stage.is_library), None)
    shown = {case.stage for case in (cases[0], _base(cases), library) if case}
    few = dataclasses.replace(group, cases=tuple(case for case in group.timed if case.stage in shown), published=())
    drawn = figure(whole_pass.draw, record, few, f"{prefix}-hero", source, places_of(case.place for case in few.cases),
                   [table for table in network_table.tables(few, 1000) if table.kind == "sweep"])
    return drawn, next(network_explorers.of_passes(group, source, f"{prefix}-hero-explorer", f"{prefix}-hero",
                                                   cases[0].stage.label), None)


def _table(groups: Sequence[NetworkGroup], source: str) -> TableBlock:
    """A row for each network and device at its largest batch."""
    rows, places = [], []
    for group in groups:
        cases = _largest(group)
        best, base = cases[0], _base(cases)
        factor = _factor(base, best)
        accuracy = next((case.accuracy for case in cases if case.accuracy), None)
        rows.append((group.network, group.device, str(best.batch), named(best.stage), duration(_time(best)) + _between(best),
                     known_text.factor(factor),
                     f"{100 * accuracy.value:.1f}%" if accuracy else NONE))
        places.append(best.place)
    return TableBlock(Table("The fastest pass of each network at its largest batch, measured",
                            ("network", "device", "batch", "convolutions", "time of a pass", "× lowest stage", "accuracy"),
                            tuple(rows), 4, place=places_of(places), row_places=tuple(places)), source)
