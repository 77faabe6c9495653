"""Titles that say what came out, built from what the record holds."""

from __future__ import annotations

from typing import Optional, Sequence, Union

from convladder_charts.known import Ratio
from convladder_charts.known_text import bound, number, over_100, share_bound, untold, why_no_headline
from convladder_charts.known_text import is_rough as wide
from convladder_charts.predicted import PredictedLadder
from convladder_charts.record import Group, Ladder, Record



def outcome(ladder: Ladder) -> str:
    """How far the best stage of a ladder surely is from the baseline and from the library; empty where nothing is known."""
    return outcome_of([ladder])


def short_outcome(ladder: Ladder) -> str:
    """The same with signs, for where space is short."""
    return outcome(ladder).replace("at least ", "≥ ").replace("roughly ", "~").replace("over the baseline", "over baseline")


def outcome_of(ladders: Sequence[Ladder]) -> str:
    """The same of several, as ranges of what each surely reaches. Empty unless every one of them has a headline."""
    summaries = [one.summary for one in ladders]
    name = baseline_words(ladders)
    if summaries and all(one.best and one.best == one.baseline for one in summaries):
        if all(sum(not row.stage.is_library for row in one.timed) < 2 for one in ladders):
            return ""  # there is nothing to compare
        told = not any(one.overlaps for one in summaries)
        return f"no stage is faster than {name}" if told else f"no stage can be told to be faster than {name}"
    if any(one.no_headline for one in summaries):
        return ""
    rough = any(map(is_rough, ladders))
    parts = []
    over = [one.best_x_baseline for one in summaries if one.best_x_baseline is not None]
    if len(over) == len(ladders):
        parts.append(_against(over, name, rough))
    shares = [over_100(one.best_percent_of_library) for one in summaries if one.best_percent_of_library]
    library = library_name(ladders)
    if len(shares) == len(ladders) and library:
        parts.append(_against(shares, library, rough))
    return ", ".join(filter(None, parts))


def baseline_words(ladders: Sequence[Union[Ladder, PredictedLadder]]) -> str:
    """The baseline, if that is stage 1; a run that was asked for others is compared with the lowest one that it has."""
    rungs = {row.stage.rung for one in ladders for row in one.rows if row.stage.name == one.summary.baseline}
    rung = rungs.pop() if len(rungs) == 1 else None
    return "the baseline" if rung is None or rung == 1 else f"stage {rung}"


def is_rough(ladder: Ladder) -> bool:
    """Whether the machine was not quiet while one of the stages that its summary compares was measured."""
    summary = ladder.summary
    compared = (summary.baseline, summary.sixth, summary.best, summary.library)
    return any(row.quality for row in ladder.rows if row.stage.name in compared)


def sixth_words(ladders: Sequence[Union[Ladder, PredictedLadder]]) -> str:
    """The stage that ends the introduction, by its rung: stage 6 of the built-in ladders."""
    rungs = {row.stage.rung for one in ladders for row in one.rows
             if row.stage.name == one.summary.sixth and row.stage.rung is not None}
    return f"stage {rungs.pop()}" if len(rungs) == 1 else "end of the introduction"


def title(record: Record, group: Group, ladders: Sequence[Ladder], what: str = "ladder") -> str:
    """A sentence: what came out, of what, on which device."""
    device = group.device.upper() if group.device in ("cpu", "cuda") else group.device
    kind = "" if group.kind == "measured" else f"{group.kind.upper()}: "
    said = outcome_of(ladders)
    where = place_of(ladders[0], record) if len(ladders) == 1 else (
        f"{record.work} on {len(ladders)} {'sizes' if record.of_sizes else 'layers'}")
    if not said:
        return f"{kind}{device} {what}: {where}"
    return f"{kind}{said[0].upper()}{said[1:]}: {where}, {device}"


def place_of(ladder: Union[Ladder, PredictedLadder], record: Optional[Record] = None) -> str:
    """Layer and batch; of a size of a problem, which has no batch, the size."""
    if record is not None and record.of_sizes and ladder.batch == 1:
        return ladder.layer_name
    return f"{ladder.layer_name}, batch {ladder.batch}"


def other_layers(names: Sequence[str], more: int) -> str:
    """Where the layers are that a picture does not show; empty where there are none."""
    listed = ", ".join(names) + (f" and {more} more" if more else "")
    return f"{listed}: table.md, or --layer" if names else ""


def library_name(ladders: Sequence[Ladder]) -> str:
    """The library's name without its layout: what all ladders are compared with, or "the library"."""
    names = {row.stage.title.split(",")[0] for ladder in ladders for row in ladder.rows
             if ladder.summary.library and row.stage.is_library and row.stage.name == ladder.summary.library}
    return names.pop() if len(names) == 1 else "the library" if names else ""


def _against(factors: Sequence[Ratio], name: str, rough: bool) -> str:
    """at least 1.4× over oneDNN; of several the range of what is surely reached. Empty where too little is known."""
    if any(map(why_no_headline, factors)):
        return ""
    if all(map(untold, factors)):
        return f"not told from {name}"
    if rough or any(map(wide, factors)):
        return _roughly(factors, name)
    lows = [one.low or 0.0 for one in factors]
    if all(map(bound, lows)):
        return f"at least {_range([bound(one) for one in lows])}× over {name}"
    return f"at least {_range([share_bound(100 * one).rstrip('%') for one in lows])}% of {_speed_of(name)}"


def _roughly(factors: Sequence[Ratio], name: str) -> str:
    texts = [number(one) for one in factors]
    how = f"over {name}" if min(factors) > 1 else f"the speed of {name}"
    return f"roughly {_range(texts)}× {how}"


def _speed_of(name: str) -> str:
    return f"the speed of {name}" if name.startswith(("the ", "stage ")) else f"{name}'s speed"


def _range(texts: Sequence[str]) -> str:
    low, high = min(texts, key=float), max(texts, key=float)
    return low if low == high else f"{low}–{high}"
