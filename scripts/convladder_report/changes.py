"""What changed against a base: judged by `convladder compare`, drawn and listed here."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any, Iterator, Sequence

from convladder_charts import comparison as comparisons
from convladder_charts import forest, verdict_map
from convladder_charts.comparison import LOOKS, Change, Comparison, percent
from convladder_charts.json_text import Node, RecordError, parse_json
from convladder_charts.stage import Stage, printable, stages_of
from convladder_charts.table_text import Table
from convladder_charts.units import NONE, count
from convladder_report.common_sections import ids_text
from convladder_report.document import Block, Items, Paragraph, Section, Sentence, TableBlock
from convladder_report.figures import figure

_EXIT = {0: "pass", 1: "regressed, or a case failed", 2: "inconclusive", 4: "incomplete"}
_MOST_NAMED = 5
_MOST_COUNTERS = 8
_SAID_BY = Path("convladder compare")
SOURCE = "convladder compare --format json"
"""What the report calls the document that its places are in."""


def compared(program: Path, base: Path, now: Path, root: Node) -> Comparison:
    """What the program says of the two; `root` is the document of `now`. Raises RecordError, with the program's own
    line where it refuses them."""
    return read(document(program, base, now), root)


def document(program: Path, base: Path, now: Path) -> Any:
    """What the program prints of the two. Raises RecordError."""
    command = [str(program), "compare", "--format", "json", "--", str(base), str(now)]
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except OSError as error:
        raise RecordError(f"--base needs the program, and {program} cannot be started: {error.strerror}") from None
    text = done.stdout.decode("utf-8", "replace")
    if not text.strip():
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines() or [f"exit code {done.returncode}"]
        raise RecordError(f"convladder compare: {printable(lines[-1].removeprefix('convladder: '), 400)}")
    return parse_json(text, _SAID_BY)


def read(found: Any, root: Node) -> Comparison:
    """What the program printed, with the stages' titles from the document of the new run. Raises RecordError."""
    return comparisons.read(Node(found, _SAID_BY), stages(root))


def stages(root: Node) -> dict[tuple[str, str], Stage]:
    """The stages by device and variant; of a device the record's cases say which family it runs."""
    named = stages_of(root.field("variants"))
    families = {(case.field("device").text(), case.field("family").text()) for case in root.field("cases").outlines()}
    return {(device, name): stage for (family, name), stage in named.items()
            for device, of in sorted(families) if of == family}


def sentence(comparison: Comparison) -> Sentence:
    """The outcome for the summary: how many of each, and which regressed by how much and why."""
    text = f"Against the base: {_counts(comparison)} (exit code {comparison.exit_code})."
    for verdict in ("regressed", "improved"):
        groups: dict[tuple[str, Stage], list[Change]] = {}
        for one in comparison.with_verdict(verdict):
            groups.setdefault((one.device, one.stage), []).append(one)
        if groups:
            each = "; ".join(_told(group) for group in list(groups.values())[:_MOST_NAMED])
            more = f"; and {len(groups) - _MOST_NAMED} more stages" if len(groups) > _MOST_NAMED else ""
            text += f" {verdict.capitalize()}: {each}{more}."
    return Sentence(text, "$.counts, $.cases[…]")


def _told(changes: Sequence[Change]) -> str:
    """A stage on a device: where, by how much, and why as far as the counters say."""
    first = changes[0]
    where = first.id if len(changes) == 1 else f"{first.device}, {first.stage.label}, in {len(changes)} cases"
    parts = [where]
    bounds = [one.bounds for one in changes if one.bounds]
    if len(bounds) == 1:
        parts.append(f"{percent(bounds[0].estimate)} ({percent(bounds[0].low)} to {percent(bounds[0].high)})")
    elif bounds:
        parts.append(f"{percent(min(one.low for one in bounds))} to {percent(max(one.high for one in bounds))}")
    parts += sorted({one.cause for one in changes if one.cause})
    moved = [max(one.counters, key=_factor) for one in changes if one.counters and not one.cause]
    names = dict.fromkeys(one.name for one in moved)
    parts += [f"{name} {'from' if len(changes) == 1 else 'such as from'} {count(one.base)} to {count(one.now)}"
              for name in names for one in [next(one for one in moved if one.name == name)]]
    return ", ".join(parts)


def _counts(comparison: Comparison) -> str:
    return ", ".join(f"{number} {verdict}" for verdict, number in comparison.counts.items() if number) or "no cases"


def section(comparison: Comparison, source: str, name: str) -> Section:
    """Everything that moved."""
    return Section(name, "Changes against the base", tuple(_blocks(comparison, source, name)))


def _blocks(comparison: Comparison, source: str, name: str) -> Iterator[Block]:
    limits = comparison.limits
    yield Paragraph(f"{_EXIT.get(comparison.exit_code, 'unknown').capitalize()} (exit code {comparison.exit_code} of "
                    f"convladder compare): {_counts(comparison)}. Base {comparison.base}. New {comparison.now}. "
                    f"tau {100 * limits.tau:g} %, Delta {100 * limits.delta:g} %, alpha {100 * limits.alpha:g} %.")
    yield Items(comparison.notes)
    if comparison.changes:
        yield Section(f"{name}-verdicts", "Verdicts, stage by size", (
            figure(verdict_map.draw, None, comparison, f"{name}-verdicts-figure", source, "$.cases[…].verdict",
                   [_verdicts([one for one in comparison.changes if one.verdict != "skipped"])]),))
    if comparison.bounded:
        yield Section(f"{name}-forest", "Changes of time", (
            figure(forest.draw, None, comparison, f"{name}-forest-figure", source, "$.cases[…].change",
                   [_bounds(comparison.bounded)]),))
    yield Section(f"{name}-causes", "Causes, by counters", tuple(_causes(comparison, source)))
    yield Section(f"{name}-unmatched", "Missing, new and incomparable cases", tuple(_unmatched(comparison, source)))


def _verdicts(changes: Sequence[Change]) -> Table:
    return Table("Verdicts by case", ("case", "verdict", "why"),
                 tuple((one.id, one.verdict, one.reason or NONE) for one in changes), 3, place="$.cases[…]",
                 row_places=tuple(one.place for one in changes))


def _bounds(changes: Sequence[Change]) -> Table:
    rows = []
    for one in changes:
        times = (NONE if time is None else one.figure(time) for time in (one.base_median, one.new_median))
        sides = (NONE if side is None else f"{percent(side.estimate)} ({percent(side.low)} to {percent(side.high)})"
                 for side in (one.bounds, one.beside))
        rows.append((one.id, one.verdict + (" (control)" if one.control else ""), one.witness or NONE, *times, *sides))
    return Table("Changes of measured times, with their bounds", ("case", "verdict", "witness", "base", "new", "change",
                 "beside the witness"), tuple(rows), 3, place="$.cases[…]: change, beside_witness",
                 row_places=tuple(one.place for one in changes))


def _causes(comparison: Comparison, source: str) -> Iterator[Block]:
    told = [one for one in comparison.changes if one.cause or one.counters]
    if not told:
        yield Paragraph("None: no counter moved, and no time that has counters moved.")
        return
    rows = []
    for one in told:
        moved = sorted(one.counters, key=lambda each: -_factor(each))
        shown = "; ".join(f"{each.name} from {each.base:.15g} to {each.now:.15g}" for each in moved[:_MOST_COUNTERS])
        more = f"; and {len(moved) - _MOST_COUNTERS} more" if len(moved) > _MOST_COUNTERS else ""
        change = percent(one.bounds.estimate) if one.bounds else NONE
        rows.append((one.id, one.verdict, change, one.cause or NONE, shown + more or NONE))
    yield TableBlock(Table("Counters, exact; the largest changes come first",
                           ("case", "verdict", "time", "cause", "counters"), tuple(rows), 5,
                           place="$.cases[…]: cause, counters", row_places=tuple(one.place for one in told)), source)


def _factor(moved: comparisons.Moved) -> float:
    low, high = sorted((abs(moved.base), abs(moved.now)))
    return high / low if low > 0 else float("inf")


def _unmatched(comparison: Comparison, source: str) -> Iterator[Block]:
    groups: dict[tuple[str, str, str], list[Change]] = {}
    for verdict in LOOKS:
        if verdict in ("missing", "new", "failed", "incomparable", "skipped"):
            for one in comparison.with_verdict(verdict):
                groups.setdefault((one.verdict, one.device, one.reason), []).append(one)
    if not groups:
        yield Paragraph("None: both records have the same cases, and all of them have a result.")
        return
    rows = tuple((verdict, device, str(len(cases)), reason or NONE, ids_text([one.id for one in cases]))
                 for (verdict, device, reason), cases in groups.items())
    yield TableBlock(Table("Cases that could not be compared", ("verdict", "device", "cases", "why", "which"), rows, 5,
                           place="$.cases[…]: verdict, reason"), source)
