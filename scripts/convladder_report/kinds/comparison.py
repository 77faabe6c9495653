"""Two runs (`convladder compare --format json`) or two builds (a duel) in a report, and a duel's selftest."""

from __future__ import annotations

from typing import Iterator

from convladder_charts import comparison
from convladder_charts.comparison import LOOKS, Change, Comparison, percent
from convladder_charts.kinds import comparing, duel
from convladder_charts.kinds.duel import Duel, Selftest
from convladder_charts.kinds.members import is_kind, several
from convladder_charts.table_text import Table
from convladder_charts.units import NONE
from convladder_report import changes
from convladder_report.document import Answer, Front, Items, Paragraph, Section, TableBlock
from convladder_report.kind import Input, Kind
from convladder_report.kinds import shared

_ORDER = ("regressed", "failed", "improved", "missing", "incomparable", "inconclusive", "new", "pass")


def outcome(one: Comparison) -> str:
    """The verdicts in one sentence, the worst first."""
    said = {"regressed": "got slower", "improved": "got faster", "inconclusive": "cannot be told",
            "pass": "did not get slower", "failed": "failed", "missing": "missing", "new": "new",
            "incomparable": "cannot be compared", "skipped": "skipped"}
    parts = [f"{number} {said[verdict]}" for verdict in (*_ORDER, "skipped") if (number := one.counts.get(verdict, 0))]
    total = sum(one.counts.values())
    return f"Of {several(total, 'case')}: {', '.join(parts)}." if parts else "No case is in both."


def told(change: Change) -> str:
    """A case: what became of it, and by how much."""
    batch = "" if change.batch == "1" else f", batch {change.batch}"
    where = f" on {change.layer}{batch} ({change.device})" if change.device else f", {change.layer}" if change.layer else ""
    text = f"{change.stage.title}{where}: {change.verdict}"
    if change.bounds:
        text += (f", {percent(change.bounds.estimate)} {_measured_in(change)} (between {percent(change.bounds.low)} and "
                 f"{percent(change.bounds.high)})")
    return text + (f"; {change.reason}" if change.reason else "") + "."


def _measured_in(change: Change) -> str:
    return "time" if change.unit == "ns" else "of a value where more is better" if change.higher_is_better else "of it"


def _answers(one: Comparison) -> list[Answer]:
    cases = [change for verdict in _ORDER for change in one.with_verdict(verdict)]
    return [Answer("", outcome(one), "$.counts"), *(Answer("", told(change), change.place) for change in cases)]


def _front(one: Input, prefix: str) -> Front:
    record: Comparison = one.record
    chart = comparing.chart(record, "Changes of time against the base", ())
    hero = shared.rows_figure(chart, f"{prefix}-hero", one.source, "$.cases[…].change", ())
    return shared.front("Two recorded runs, compared", "Did it get slower?", _answers(record),
                        f"base {record.base}; new {record.now}", hero)


def _chapters(one: Input, prefix: str) -> Iterator[Section]:
    yield changes.section(one.record, one.source, f"{prefix}-changes")


def _duel_front(one: Input, prefix: str) -> Front:
    record: Duel = one.record
    chart = comparing.chart(record.comparison, "Changes of time, measured in turns", (record.origin.line,))
    hero = shared.rows_figure(chart, f"{prefix}-hero", one.source, "$.cases[…].change", ())
    what = "Two commands" if record.of_commands else "Two variants" if record.of_variants else "Two builds"
    return shared.front(f"{what}, measured in turns", "Is the new one slower?", _answers(record.comparison),
                        record.origin.line, hero)


def _duel_chapters(one: Input, prefix: str) -> Iterator[Section]:
    record: Duel = one.record
    limits, control = record.comparison.limits, record.control
    moved = "was not measured" if control.bounds is None else (
        f"moved by {percent(control.bounds.estimate)} (between {percent(control.bounds.low)} and "
        f"{percent(control.bounds.high)})")
    yield Section(f"{prefix}-cases", "Changes of time", (
        Paragraph(f"Measured in turns. Regressed: shown to be above {100 * limits.tau:g} %, wrong in at most "
                  f"{100 * limits.alpha:g} % of duels for all cases together; pass: shown to be below {100 * limits.delta:g} %."),
        Paragraph(f"The control, which is the base against itself, {moved}, in {several(control.rounds, 'round')}."),
        *([Items(record.comparison.notes)] if record.comparison.notes else []),
        TableBlock(duel.rounds_table(record), one.source)))
    builds = _commands(record) if record.of_commands else Table(
        "The two sides", ("side", "program", "commit", "compiler"), tuple(
            (name, node.field("path").text()[:200], node.field("program").field("commit").text()[:12] or NONE,
             node.field("program").field("compiler").text()[:80]) for name, node in record.builds), 4,
        place="$.base, $.new", row_places=tuple(node.place for _, node in record.builds))
    yield Section(f"{prefix}-builds", "What was compared", (TableBlock(_printable(builds), one.source),))
    yield from shared.environment(one, prefix)


def _commands(record: Duel) -> Table:
    return Table("The two sides", ("side", "command", "folder", "environment", "SHA-256 of the program"), tuple(
        (name, node.field("command").text()[:200], node.field("folder").value or NONE,
         " ".join(one.text()[:80] for one in node.field("variables").items()) or NONE,
         (node.field("sha256").value or NONE)[:16]) for name, node in record.builds), 5,
        place="$.base, $.new", row_places=tuple(node.place for _, node in record.builds))


def _printable(table: Table) -> Table:
    """Names come from outside."""
    from dataclasses import replace

    from convladder_charts.stage import printable

    return replace(table, rows=tuple(tuple(printable(cell, 200) for cell in row) for row in table.rows))


def _selftest_front(one: Input, prefix: str) -> Front:
    record: Selftest = one.record
    hero = shared.rows_figure(duel.selftest_chart(record), f"{prefix}-hero", one.source, "$.levels", ())
    return shared.front("Duels whose answer is known", "How often is a duel wrong on this machine?",
                        [Answer("", duel.selftest_sentence(record), "$.levels")], record.origin.line, hero)


def _selftest_chapters(one: Input, prefix: str) -> Iterator[Section]:
    yield Section(f"{prefix}-levels", "Duels by extra work",
                  (TableBlock(duel.selftest_table(one.record), one.source),))
    yield from shared.environment(one, prefix)


KIND = Kind("comparison", lambda document: is_kind(document, "comparison"),
            lambda root: comparison.read(root, {}), _front, _chapters)
DUEL = Kind(duel.KIND, duel.is_of, duel.read, _duel_front, _duel_chapters)
SELFTEST = Kind(duel.SELFTEST, duel.is_selftest, duel.read_selftest, _selftest_front, _selftest_chapters)
assert set(_ORDER) | {"skipped"} == set(LOOKS)
