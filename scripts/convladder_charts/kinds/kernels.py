"""Simulated kernels (`convladder simulate FILE --output`): read, as a chart and tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping, Optional

from convladder_charts.json_text import Node
from convladder_charts.kinds.findings import Finding, finding, without_notes
from convladder_charts.kinds.members import LONGEST_TEXT, member, several, text_of, thousands
from convladder_charts.kinds.row_chart import Mark, Panel, RowChart
from convladder_charts.stage import printable
from convladder_charts.table_text import Table
from convladder_charts.units import count, significant

KIND = "simulated kernel"
_SHOWN = (("instructions of warps", "smsp__inst_executed.sum"),
          ("sectors loaded from global memory", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"),
          ("sectors stored to global memory", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"),
          ("wavefronts of shared memory, loads", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"),
          ("barriers", "smsp__inst_executed_op_barrier.sum"))
_VALUES = 8


@dataclass(frozen=True)
class Kernel:
    """One launch."""

    name: str
    file: str
    grid: str
    block: str
    counters: Mapping[str, float]
    findings: tuple[Finding, ...]
    outputs: tuple[tuple[str, str, str, str], ...]
    expectations: tuple[tuple[str, str], ...]
    stopped: str
    place: str


@dataclass(frozen=True)
class Kernels:
    """One kernel, or several side by side."""

    kernels: tuple[Kernel, ...]
    warnings: tuple[str, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Of all kernels."""
        return tuple(found for kernel in self.kernels for found in kernel.findings)


def is_of(document: Any) -> bool:
    """Whether it is one: they do not say so of themselves."""
    return isinstance(document, dict) and "kind" not in document and (
        "simulations" in document or {"kernel", "grid", "block", "counters", "findings"} <= set(document))


def read(root: Node) -> Kernels:
    """Raises RecordError."""
    nodes = root.field("simulations").items() if "simulations" in root.value else [root]
    return Kernels(tuple(_kernel(node) for node in nodes))


def _kernel(node: Node) -> Kernel:
    stopped = [text for name in ("fault", "stopped") if (text := text_of(node, name, LONGEST_TEXT))]
    counters = member(node, "counters")
    expectations = member(node, "expectations")
    return Kernel(text_of(node, "display_name") or printable(node.field("kernel").text(), 160), text_of(node, "file"),
                  *(" × ".join(str(one.integer()) for one in node.field(name).items()) for name in ("grid", "block")),
                  counters.numbers() if counters else {}, tuple(finding(one) for one in node.field("findings").items()),
                  tuple(_output(one) for one in node.field("outputs").items()),
                  tuple(_expectation(one) for one in expectations.items()) if expectations else (),
                  "; ".join(stopped), node.place)


def _output(node: Node) -> tuple[str, str, str, str]:
    values = node.field("values").items()
    first = " ".join(_value(one) for one in values[:_VALUES]) + (" …" if len(values) > _VALUES else "")
    shape = "×".join(str(one.integer()) for one in node.field("shape").items())
    return printable(node.field("name").text()), printable(node.field("type").text()), shape, first


def _value(node: Node) -> str:
    return "not finite" if node.is_null() else f"{node.number():.7g}"


def _expectation(node: Node) -> tuple[str, str]:
    wrong, elements = (node.field(name).integer() for name in ("wrong", "elements"))
    said = "as expected" if node.field("met").boolean() else f"{wrong:,} of {several(elements, 'value')} wrong"
    return printable(node.field("expectation").text(), 160), said


def sentences(one: Kernels) -> list[tuple[str, str]]:
    """What each did and what was found, with its place."""
    texts = []
    for kernel in one.kernels:
        work = kernel.counters.get("smsp__inst_executed.sum")
        did = f"executed {thousands(work)} instructions of warps, counted" if work is not None else "was launched"
        found = without_notes(kernel.findings)
        said = (f"{several(len(found), 'finding')}, the first by {found[0].checker}: {found[0].problem}" if found
                else "no finding")
        stopped = f"; it did not come to its end: {kernel.stopped}" if kernel.stopped else ""
        texts.append((f"{kernel.name} {did}, in {kernel.grid} blocks of {kernel.block} threads; {said}{stopped}.",
                      kernel.place))
    return texts


def chart(one: Kernels) -> Optional[RowChart]:
    """What the kernels did, each counter a panel where there are several kernels."""
    if len(one.kernels) == 1:
        kernel = one.kernels[0]
        rows = tuple(Mark(title, kernel.counters[name], text=thousands(kernel.counters[name]))
                     for title, name in _SHOWN if kernel.counters.get(name))
        panels = (Panel(kernel.name, f"{kernel.grid} blocks of {kernel.block} threads", rows, "counted", count,
                        bars=True),) if rows else ()
    else:
        panels = tuple(_beside(one, title, name) for title, name in _SHOWN
                       if any(kernel.counters.get(name) for kernel in one.kernels))
    if not panels:
        return None
    title = f"What {one.kernels[0].name} did" if len(one.kernels) == 1 else "What the kernels did, beside each other"
    return RowChart(title, ("counted on the simulated device; nothing here is a time",), one.warnings, panels)


def _beside(one: Kernels, title: str, name: str) -> Panel:
    first = one.kernels[0].counters.get(name, 0.0)

    def text(value: float) -> str:
        over = f", {significant(value / first)}×" if first and value != first else ""
        return thousands(value) + over

    return Panel(title, "", tuple(Mark(f"{chr(ord('A') + at % 26)}  {kernel.name}", kernel.counters.get(name, 0.0),
                                       text=text(kernel.counters.get(name, 0.0)))
                                  for at, kernel in enumerate(one.kernels)), f"{title}, counted", count, bars=True)


def tables(kernel: Kernel) -> list[Table]:
    """Counters, outputs and what was expected."""
    made = [Table("Counters", ("counter", "value"), tuple(
        (printable(name, 160), f"{value:,.15g}") for name, value in kernel.counters.items()), 1,
        place=f"{kernel.place}.counters")]
    if kernel.outputs:
        made.append(Table("Outputs, the first values", ("name", "type", "shape", "values"), kernel.outputs, 4,
                          place=f"{kernel.place}.outputs"))
    if kernel.expectations:
        made.append(Table("What was expected", ("what", "outcome"), kernel.expectations, 2,
                          place=f"{kernel.place}.expectations"))
    return made
