"""Counter baselines and their check (`convladder baseline check --format json`): read, as charts and tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping, Optional

from convladder_charts.json_text import Node
from convladder_charts.kinds.members import LONGEST_TEXT, amount, case_name, is_kind, number_of, several, text_of
from convladder_charts.kinds.row_chart import Mark, Panel, RowChart, ordered
from convladder_charts.stage import printable
from convladder_charts.table_text import Table
from convladder_charts.units import NONE, count

KIND = "counter baseline"
CHECK = "counter baseline comparison"
VERDICTS = ("moved", "failed", "compiler changed", "shape changed", "new", "missing", "same")
INSTRUCTIONS = "smsp__inst_executed.sum"
_HELD = (("instructions of warps", INSTRUCTIONS),
         ("sectors loaded", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"),
         ("sectors stored", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"),
         ("wavefronts of shared memory", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"))
"""What a baseline's table shows of its counters."""


@dataclass(frozen=True)
class Held:
    """The recorded counters of a variant on a layer, by one compiler."""

    compiler: str
    layer: str
    batch: int
    variant: str
    reason: str
    sums: Mapping[str, float]
    launches: int
    place: str


@dataclass(frozen=True)
class Baseline:
    """One network's."""

    network: str
    cases: tuple[Held, ...]
    warnings: tuple[str, ...] = ()

    @property
    def compilers(self) -> tuple[str, ...]:
        """All whose PTX is recorded."""
        return tuple(dict.fromkeys(one.compiler for one in self.cases))


@dataclass(frozen=True)
class Move:
    """A counter that is not what was recorded."""

    kernel: str
    title: str
    kind: str
    recorded: float
    now: float
    change: Optional[float]
    """As a part of what was recorded; None where that is nothing."""
    place: str


@dataclass(frozen=True)
class Checked:
    """A case of the check."""

    id: str
    compiler: str
    verdict: str
    reason: str
    moves: tuple[Move, ...]
    place: str

    @property
    def greatest(self) -> Optional[Move]:
        """The counted one that moved most, else the modelled one."""
        moves = [one for one in self.moves if one.change is not None]
        return max(moves, key=lambda one: (one.kind == "counted", abs(one.change or 0.0)), default=None)


@dataclass(frozen=True)
class Check:
    """What is counted now, beside what was recorded."""

    exit_code: int
    cases: tuple[Checked, ...]
    notes: tuple[str, ...]
    warnings: tuple[str, ...] = ()

    def with_verdict(self, *verdicts: str) -> tuple[Checked, ...]:
        """The cases with one of these."""
        return tuple(one for one in self.cases if one.verdict in verdicts)


def is_baseline(document: Any) -> bool:
    """Whether it is one."""
    return is_kind(document, KIND)


def is_check(document: Any) -> bool:
    """Whether it is one."""
    return is_kind(document, CHECK)


def read_baseline(root: Node) -> Baseline:
    """Raises RecordError."""
    return Baseline(printable(root.field("network").text()),
                    tuple(_held(node) for node in root.field("cases").items()))


def _held(node: Node) -> Held:
    sums: dict[str, float] = {}
    kernels = node.field("kernels").items() if "kernels" in node.value else []
    for kernel in kernels:
        for name, value in kernel.field("values").numbers().items():
            if name.endswith(".sum"):
                sums[name] = sums.get(name, 0.0) + value
    shape = node.field("shape").items()
    if not shape:
        raise node.field("shape").wrong("the sizes of a layer")
    compiler = f"{printable(node.field('compiler').text())} {printable(node.field('compiler_version').text())}"
    return Held(compiler, printable(node.field("layer").text()), shape[0].positive(),
                printable(node.field("variant").text()), text_of(node, "unsupported", LONGEST_TEXT), sums, len(kernels),
                node.place)


def baseline_sentence(one: Baseline) -> str:
    """What it holds."""
    layers, variants = ({getattr(case, name) for case in one.cases} for name in ("layer", "variant"))
    return (f"The baseline of {one.network} holds the counters of {several(len(variants), 'CUDA variant')} on "
            f"{several(len(layers), 'layer')}, by {' and '.join(one.compilers) or 'no compiler'}. Nothing is judged "
            "here: convladder baseline check compares what is counted now.")


def baseline_chart(one: Baseline) -> Optional[RowChart]:
    """Instructions of each variant, a panel for each layer of the first compiler."""
    panels = []
    first = one.compilers[0] if one.compilers else ""
    for layer in dict.fromkeys(case.layer for case in one.cases):
        cases = [case for case in one.cases if (case.layer, case.compiler) == (layer, first) and INSTRUCTIONS in case.sums]
        rows = ordered([Mark(case.variant, case.sums[INSTRUCTIONS], text=count(case.sums[INSTRUCTIONS]))
                        for case in cases])
        if rows:
            panels.append(Panel(f"{one.network}.{layer}", f"batch {cases[0].batch}, PTX of {first}", rows,
                                "instructions of warps, counted", count, bars=True))
    if not panels:
        return None
    return RowChart(f"{one.network}: what each variant executes, as the baseline holds it",
                    ("counted on the simulated device; fewer instructions are not always less time",), (), tuple(panels))


def baseline_table(one: Baseline) -> Table:
    """Some counters of every case."""
    return Table(f"Recorded counters of {one.network}, summed over launches",
                 ("compiler", "layer", "variant", "batch", "launches", *(title for title, _ in _HELD)), tuple(
                     (case.compiler, case.layer, case.variant + (f" ({case.reason})" if case.reason else ""),
                      str(case.batch), str(case.launches),
                      *(f"{case.sums[name]:,.0f}" if name in case.sums else NONE for _, name in _HELD))
                     for case in one.cases), 3, place="$.cases[…].kernels",
                 row_places=tuple(case.place for case in one.cases))


def read_check(root: Node) -> Check:
    """Raises RecordError."""
    return Check(root.field("exit_code").integer(), tuple(_checked(node) for node in root.field("cases").items()),
                 tuple(printable(note.text(), LONGEST_TEXT) for note in root.field("notes").items()))


def _checked(node: Node) -> Checked:
    verdict = node.field("verdict").text()
    if verdict not in VERDICTS:
        raise node.field("verdict").wrong("one of " + ", ".join(VERDICTS))
    compiler = f"{text_of(node, 'ptx_compiler')} {text_of(node, 'compiler_version')}".strip()
    return Checked(printable(node.field("id").text(), 160), compiler, verdict, text_of(node, "reason", LONGEST_TEXT),
                   tuple(_move(move) for move in node.field("moves").items()), node.place)


def _move(node: Node) -> Move:
    return Move(printable(node.field("kernel").text(), 160), printable(node.field("title").text(), 80),
                printable(node.field("kind").text()), amount(node.field("recorded")), amount(node.field("now")),
                number_of(node, "change"), node.place)


def change_text(change: Optional[float]) -> str:
    """+25.0 %."""
    return "from nothing" if change is None else f"{100 * change:+.1f} %"


def check_sentence(one: Check) -> str:
    """How many moved."""
    total = len(one.cases)
    moved, failed = one.with_verdict("moved"), one.with_verdict("failed")
    beside = one.with_verdict("compiler changed", "shape changed", "new", "missing")
    same = f"{len(one.with_verdict('same'))} of {several(total, 'case')} count exactly what was recorded"
    if not total:
        return "No case was compared with the baseline."
    if not moved and not failed and not beside:
        return f"Nothing moved: all {several(total, 'case')} count exactly what was recorded."
    parts = [f"{len(moved)} moved"] * bool(moved) + [f"{len(failed)} failed"] * bool(failed)
    parts += [f"{len(beside)} cannot be compared"] * bool(beside)
    return f"{', '.join(parts)}; {same}."


def move_sentence(one: Checked) -> str:
    """The greatest move of a case."""
    most = one.greatest
    if most is None:
        return f"{case_name(one.id)}: {one.verdict}" + (f": {one.reason}" if one.reason else "") + "."
    return (f"{case_name(one.id)}: {most.title} {change_text(most.change)}, from {most.recorded:,.0f} to "
            f"{most.now:,.0f} ({most.kind}).")


def check_chart(one: Check) -> Optional[RowChart]:
    """The greatest move of each case that moved."""
    rows = []
    for case in one.with_verdict("moved"):
        most = case.greatest
        if most is not None:
            rows.append(Mark(f"{case_name(case.id)} ({case.compiler.split(' ')[0]})", 100 * (most.change or 0.0),
                             text=f"{most.title} {change_text(most.change)}",
                             look="bad" if (most.change or 0) > 0 else "best"))
    if not rows:
        return None
    rows.sort(key=lambda row: -abs(row.value))
    return RowChart("Counters that are not what the baseline holds", (
        "each case by the counter that moved most; more is orange, less is blue; counted, so exact",), (),
        (Panel("moved", several(len(rows), "case"), tuple(rows), "change of the counter (%)",
               lambda value: f"{value:+g} %" if value else "0", bars=True),))


def moves_table(one: Check) -> Table:
    """Every counter that moved."""
    moves = [(case, move) for case in one.cases for move in case.moves]
    return Table("Counters that moved", ("case", "kernel", "counter", "kind", "recorded", "now", "change"), tuple(
        (case.id, move.kernel, move.title, move.kind, f"{move.recorded:,.15g}", f"{move.now:,.15g}",
         change_text(move.change)) for case, move in moves), 4, place="$.cases[…].moves",
        row_places=tuple(move.place for _, move in moves))


def verdicts_table(one: Check) -> Table:
    """Every case."""
    return Table("Cases", ("case", "compiler", "verdict", "why"), tuple(
        (case.id, case.compiler, case.verdict, case.reason or NONE) for case in one.cases), 4, place="$.cases[…]",
        row_places=tuple(case.place for case in one.cases))
