"""What `convladder check --format json` printed: read, as a chart and tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

from convladder_charts.json_text import Node
from convladder_charts.kinds.findings import Finding, finding, without_notes
from convladder_charts.kinds.members import LONGEST_TEXT, case_name, number_of, several, text_of
from convladder_charts.kinds.row_chart import Mark, Panel, RowChart, ordered
from convladder_charts.stage import printable
from convladder_charts.table_text import Table
from convladder_charts.units import NONE

KIND = "check"


@dataclass(frozen=True)
class Case:
    """A variant under all checkers."""

    id: str
    compiler: str
    status: str
    reason: str
    error: Optional[float]
    tolerance: Optional[float]
    findings: tuple[Finding, ...]
    place: str

    @property
    def bad(self) -> bool:
        """Something was found, or it is wrong."""
        return bool(without_notes(self.findings)) or self.status not in ("ok", "unsupported", "skipped")


@dataclass(frozen=True)
class Check:
    """All of them."""

    cases: tuple[Case, ...]
    warnings: tuple[str, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Of all cases."""
        return tuple(found for case in self.cases for found in case.findings)


def is_of(document: Any) -> bool:
    """Whether it is one: a list that has no name of its own."""
    return isinstance(document, list) and bool(document) and all(
        isinstance(one, dict) and {"id", "status", "findings"} <= set(one) for one in document)


def read(root: Node) -> Check:
    """Raises RecordError."""
    return Check(tuple(Case(printable(node.field("id").text(), 160), text_of(node, "ptx_compiler"),
                            printable(node.field("status").text()), text_of(node, "reason", LONGEST_TEXT),
                            number_of(node, "largest_error"), number_of(node, "tolerance"),
                            tuple(finding(one) for one in node.field("findings").items()), node.place)
                       for node in root.items()))


def sentence(one: Check) -> str:
    """Whether anything is wrong."""
    bad = [case for case in one.cases if case.bad]
    ran = [case for case in one.cases if case.status not in ("unsupported", "skipped")]
    beside = len(one.cases) - len(ran)
    more = f" {several(beside, 'case')} could not be run; the reasons are below." if beside else ""
    if not bad:
        return f"Nothing was found in {several(len(ran), 'case')}: every result is right, and no checker complains.{more}"
    names = ", ".join(case_name(case.id) for case in bad[:3]) + (" and others" if len(bad) > 3 else "")
    return f"{len(bad)} of {several(len(ran), 'case')} have findings or are wrong: {names}.{more}"


def chart(one: Check) -> Optional[RowChart]:
    """How much of its tolerance each case uses."""
    rows = ordered([Mark(f"{case_name(case.id)} ({case.compiler})" if case.compiler else case_name(case.id),
                         100 * (case.error or 0) / case.tolerance, text=f"{100 * (case.error or 0) / case.tolerance:.3g} %",
                         look="bad" if case.bad else "plain")
                    for case in one.cases if case.error is not None and case.tolerance])
    if not rows:
        return None
    return RowChart("How much of its tolerance each variant's error uses", ("against the float64 reference",), (), (
        Panel("largest error", several(len(rows), "case"), rows, "largest error over the tolerance (%), on the simulated "
              "device", lambda value: f"{value:g} %", bars=True),))


def table(one: Check) -> Table:
    """Every case."""
    return Table("Cases", ("case", "compiler", "status", "why", "findings", "largest error"), tuple(
        (case.id, case.compiler or NONE, case.status, case.reason or NONE, str(len(without_notes(case.findings))),
         NONE if case.error is None else f"{case.error:.3g}") for case in one.cases), 4, place="$[…]",
        row_places=tuple(case.place for case in one.cases))
