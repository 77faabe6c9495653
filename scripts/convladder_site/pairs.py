"""Two runs against each other, as `convladder compare` judges them: which pairs have a page, and the pages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Iterator, Sequence

from convladder_charts.json_text import Node
from convladder_charts.kinds.members import several
from convladder_charts.record_file import NO_FILE
from convladder_report import build, changes
from convladder_report.document import Report
from convladder_report.kind import Input
from convladder_report.kinds import comparison
from convladder_site.entry import Entry
from convladder_site.records import Record

MOST = 200
"""Pages of pairs, those of the newest runs first."""


@dataclass(frozen=True)
class Pair:
    """An older run and a newer one."""

    base: tuple[Entry, Record]
    new: tuple[Entry, Record]

    @property
    def page(self) -> str:
        """Its name, from those of the runs' pages."""
        ends = (one.page.removesuffix(".html")[-8:] for one, _ in (self.base, self.new))
        return f"compare/{'-'.join(ends)}.html"

    @property
    def digest(self) -> str:
        """Of both records."""
        return f"{self.base[1].digest} {self.new[1].digest}"


def of(runs: Sequence[tuple[Entry, Record]]) -> tuple[list[Pair], int]:
    """The pairs of runs, the newest first, that have a case in common; and how many more there would be."""
    cases = [set(entry.cases) for entry, _ in runs]
    pairs = [(new, base) for base in range(len(runs)) for new in range(base) if cases[new] & cases[base]]
    pairs.sort()
    return [Pair(runs[base], runs[new]) for new, base in pairs[:MOST]], max(len(pairs) - MOST, 0)


def judged(pair: Pair, program: Path) -> Input:
    """What the program says of the two. Raises RecordError."""
    (base, old), (new, now) = pair.base, pair.new
    found = changes.document(program, old.path, now.path)
    for side, entry in (("base", base), ("new", new)):
        if isinstance(found, dict) and isinstance(found.get(side), dict):
            found[side]["file"] = entry.label  # not where it is on this machine
    root = Node(found, Path(changes.SOURCE))
    return Input(changes.SOURCE, root, NO_FILE, comparison.KIND, changes.read(found, now.read().root))


def report(pair: Pair, judgement: Input) -> Report:
    """The page."""
    links = (("All records", "../index.html"), ("All comparisons", "../compare.html"),
             ("The base", f"../{pair.base[0].page}"), ("The new run", f"../{pair.new[0].page}"))
    return replace(build.report([judgement], ()), title=f"{pair.new[0].label} against {pair.base[0].label}", links=links)


def rows(pairs: Sequence[Pair], outcomes: dict[str, str]) -> Iterator[dict[str, Any]]:
    """What the list of comparisons and its script are made of."""
    for pair in pairs:
        yield {"base": pair.base[0], "new": pair.new[0], "page": pair.page, "outcome": outcomes[pair.page]}


def sentence(judgement: Input) -> str:
    """The outcome, or why there is none."""
    return comparison.outcome(judgement.record)


def left_out(more: int) -> str:
    """What there is no page of."""
    return "" if not more else (f"{several(more, 'more pair')} of older runs: "
                                "convladder compare BASE.json NEW.json compares any two.")


