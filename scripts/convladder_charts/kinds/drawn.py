"""These kinds for charts.py: a figure and tables of each document."""

from __future__ import annotations

from typing import Any, Callable, Optional, Sequence

from convladder_charts import comparison, forest, history, history_record
from convladder_charts.drawable import Drawing, Drawn, Kind, Options
from convladder_charts.json_text import Node, RecordError
from convladder_charts.kinds import (baseline, checked, comparing, duel, explanation, imported, kernels, profile, program,
                                     rank, row_chart, sweep)
from convladder_charts.kinds.findings import findings_table
from convladder_charts.kinds.members import is_kind
from convladder_charts.kinds.row_chart import RowChart
from convladder_charts.table_text import WIDTH, Table, cut, escaped, markdown_table, pad

Named = tuple[str, Optional[RowChart]]
Parts = tuple[str, Sequence[Named], Sequence[Table]]
"""A heading, charts of rows by their files' names, and tables."""


def _kind(name: str, is_of: Callable[[Any], bool], parts: Callable[[Node], Parts]) -> Kind:
    def draw(root: Node, options: Options) -> Drawn:
        _refuse_choices(options, name)
        heading, charts, tables = parts(root)
        drawings = [Drawing(file, row_chart.draw, None, chart) for file, chart in charts if chart]
        return _drawn(heading, drawings, tables)
    return Kind(name, is_of, draw)


def _drawn(heading: str, drawings: Sequence[Drawing], tables: Sequence[Table]) -> Drawn:
    tables = [one for one in tables if one.rows]
    lines = [f"# {escaped(heading)}", ""]
    for one in tables:
        lines += [f"**{escaped(one.heading)}**", "", *markdown_table(one), ""]
    text = "\n".join([heading, *(line for one in tables for line in ("", *_plain(one)))]) + "\n"
    return Drawn(tuple(drawings), ("\n".join(lines).rstrip() + "\n",), (text,),
                 "" if drawings else "no picture: nothing in this record can be drawn; table.md has what it holds")


def _refuse_choices(options: Options, name: str) -> None:
    """What only runs have is not ignored."""
    asked = [word for word, value in (("--device", options.devices), ("--layer", options.layers),
                                      ("--batch", options.batch), ("--gpu", options.gpu)) if value]
    if asked:
        raise RecordError(f"{options.record}: {asked[0]} chooses cases of runs; this is a {name}")


def _plain(table: Table) -> list[str]:
    """A table for a terminal; long lines are cut."""
    widths = [max(len(row[at]) for row in (table.columns, *table.rows)) for at in range(len(table.columns))]
    return [cut(table.heading, WIDTH), *(cut("  ".join(
        pad(cell, width, right=not table.is_text(at)) for at, (cell, width) in enumerate(zip(row, widths))).rstrip(), WIDTH)
        for row in (table.columns, *table.rows))]


def _numbered(name: str, charts: Sequence[Optional[RowChart]]) -> list[Named]:
    """The first has the plain name."""
    return [(name if not at else f"{name}-{at + 1}", chart) for at, chart in enumerate(charts)]


def _sweep(root: Node) -> Parts:
    record = sweep.read(root)
    return ("A parameter sweep", _numbered("sweep", [sweep.chart(record, one) for one in record.sweeps]),
            [sweep.table(one) for one in record.sweeps])


def _rank(root: Node) -> Parts:
    record = rank.read(root)
    return (record.title, _numbered("rank", [rank.chart(record, one) for one in record.rankings]),
            [table for one in record.rankings for table in rank.tables(one)])


def _selftest(root: Node) -> Parts:
    record = duel.read_selftest(root)
    return "Duels whose answer is known", [("selftest", duel.selftest_chart(record))], [duel.selftest_table(record)]


def _baseline(root: Node) -> Parts:
    record = baseline.read_baseline(root)
    return (f"The baseline of {record.network}", [("baseline", baseline.baseline_chart(record))],
            [baseline.baseline_table(record)])


def _baseline_check(root: Node) -> Parts:
    record = baseline.read_check(root)
    return ("Counters against a baseline", [("moved", baseline.check_chart(record))],
            [baseline.moves_table(record), baseline.verdicts_table(record)])


def _program(root: Node) -> Parts:
    record = program.read(root)
    return (record.command, _numbered("program", [program.chart(record, one) for one in record.processes]),
            [findings_table(record.findings, ""), *(table for one in record.processes for table in program.tables(one))])


def _kernels(root: Node) -> Parts:
    record = kernels.read(root)
    return ("Simulated kernels", [("kernels", kernels.chart(record))],
            [findings_table(record.findings, ""), *(table for one in record.kernels for table in kernels.tables(one))])


def _checked(root: Node) -> Parts:
    record = checked.read(root)
    return ("The CUDA variants under all checkers", [("check", checked.chart(record))],
            [findings_table(record.findings, ""), checked.table(record)])


def _explanation(root: Node) -> Parts:
    record = explanation.read(root)
    return ("Why a stage is faster", _numbered("explanation", [explanation.chart(one) for one in record.groups]),
            [*(explanation.table(one) for one in record.groups),
             *(explanation.steps_table(one) for one in record.ladders)])


def _profile(root: Node) -> Parts:
    record = profile.read(root)
    return ("Where the time of a pass goes", _numbered("profile", [profile.chart(one) for one in record.cases]),
            [table for one in record.cases for table in profile.tables(one)])


def _imported(root: Node) -> Parts:
    record = imported.read(root)
    return (imported.sentence(record), _numbered("times", [imported.chart(record, one) for one in record.groups]),
            [imported.table(record, one) for one in record.groups])


def _duel(root: Node, options: Options) -> Drawn:
    _refuse_choices(options, duel.KIND)
    record = duel.read(root)
    drawings = [Drawing("duel", forest.draw, None, record.comparison)] if record.comparison.bounded else []
    return _drawn("A duel", drawings, [duel.rounds_table(record)])


def _comparison(root: Node, options: Options) -> Drawn:
    _refuse_choices(options, "comparison")
    record = comparison.read(root, {})
    drawings = [Drawing("comparison", forest.draw, None, record)] if record.bounded else []
    return _drawn("Two recorded runs, compared", drawings, [comparing.table(record)])


def _history(root: Node, options: Options) -> Drawn:
    _refuse_choices(options, "history")
    record = history_record.read(root)
    drawings = [Drawing(f"history-{number}", lambda of, group, _: history.draw(of, *group), record, group)
                for number, group in enumerate(history.groups(record).items(), 1)]
    return _drawn("Many runs, over time", drawings, [comparing.history_table(record)])


KINDS: tuple[Kind, ...] = (
    _kind(rank.KIND, rank.is_of, _rank),
    _kind(sweep.KIND, sweep.is_of, _sweep),
    Kind(duel.KIND, duel.is_of, _duel),
    _kind(duel.SELFTEST, duel.is_selftest, _selftest),
    Kind("comparison", lambda document: is_kind(document, "comparison"), _comparison),
    Kind("history", lambda document: is_kind(document, "history"), _history),
    _kind(baseline.KIND, baseline.is_baseline, _baseline),
    _kind(baseline.CHECK, baseline.is_check, _baseline_check),
    _kind(program.KIND, program.is_of, _program),
    _kind(kernels.KIND, kernels.is_of, _kernels),
    _kind(checked.KIND, checked.is_of, _checked),
    _kind(explanation.KIND, explanation.is_of, _explanation),
    _kind(profile.KIND, profile.is_of, _profile),
    _kind(imported.KIND, imported.is_of, _imported))
"""In the order in which they are asked whether a document is theirs."""
