"""A simulated program (`convladder simulate --output FILE -- ./program`): read, as charts and tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

from convladder_charts.json_text import Node
from convladder_charts.kinds.findings import Finding, finding, without_notes
from convladder_charts.kinds.members import LONGEST_TEXT, amount, is_kind, member, several, text_of, thousands
from convladder_charts.kinds.row_chart import Mark, Panel, RowChart, ordered
from convladder_charts.stage import printable
from convladder_charts.table_text import Table
from convladder_charts.units import count, duration, round_duration

KIND = "simulated program"
INSTRUCTIONS = "smsp__inst_executed.sum"
_COLUMNS = (("instructions of warps", INSTRUCTIONS),
            ("loaded sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"),
            ("stored sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"),
            ("wavefronts of shared memory", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"))


@dataclass(frozen=True)
class Activity:
    """A kernel, a copy or a call of the API, with its predicted times summed up."""

    name: str
    calls: int
    total: float
    average: float
    counters: dict[str, float]
    place: str


@dataclass(frozen=True)
class Process:
    """One process that used CUDA."""

    program: str
    findings: tuple[Finding, ...]
    kernels: tuple[Activity, ...]
    copies: tuple[Activity, ...]
    calls: tuple[Activity, ...]
    failures: tuple[tuple[str, ...], ...]
    not_supported: tuple[tuple[str, float], ...]
    never_freed: tuple[tuple[str, ...], ...]
    place: str


@dataclass(frozen=True)
class Program:
    """The whole record."""

    command: str
    gpu: str
    checkers: tuple[str, ...]
    exit_code: Optional[int]
    signal: str
    remarks: tuple[str, ...]
    processes: tuple[Process, ...]
    lost: int
    """Processes that ended without a report."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader must know before believing a figure."""
        lost = (f"{several(self.lost, 'process', 'processes')} ended without a report",) if self.lost else ()
        return (*self.remarks, *lost)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Of all processes."""
        return tuple(found for process in self.processes for found in process.findings)


def is_of(document: Any) -> bool:
    """Whether it is one."""
    return is_kind(document, KIND)


def read(root: Node) -> Program:
    """Raises RecordError."""
    if root.field("schema_version").value != "1.0":
        raise root.field("schema_version").wrong("schema version \"1.0\"")
    exit_code = member(root, "exit_code")
    return Program(
        printable(" ".join(word.text() for word in root.field("command").items()), LONGEST_TEXT),
        printable(root.field("gpu").field("title").text()),
        tuple(printable(one.text()) for one in root.field("checkers").items()),
        None if exit_code is None else exit_code.integer(), text_of(root, "signal"),
        tuple(printable(one.text(), LONGEST_TEXT) for one in root.field("remarks").items()),
        tuple(_process(node) for node in root.field("processes").items()),
        len(root.field("ended_without_report").items()))


def _process(node: Node) -> Process:
    failures = tuple((printable(one.field("call").text()), printable(one.field("name").text(), 80),
                      f"{one.field('count').integer()}", _host(one)) for one in node.field("failures").items())
    freed = tuple((text_of(one, "label"), text_of(one, "call"), f"{one.field('bytes').integer():,}", _host(one))
                  for one in node.field("never_freed").items() if not one.is_null())
    return Process(printable(node.field("program").text(), LONGEST_TEXT),
                   tuple(finding(one) for one in node.field("findings").items()),
                   *(tuple(_activity(one) for one in node.field(name).items()) for name in ("kernels", "copies", "calls")),
                   failures, tuple((printable(name, 160), number)
                                   for name, number in node.field("not_supported").numbers().items()), freed, node.place)


def _host(node: Node) -> str:
    host = member(node, "host")
    return text_of(host, "text") if host else ""


def _activity(node: Node) -> Activity:
    times = node.field("predicted")
    counters = member(node, "counters")
    return Activity(printable(node.field("name").text(), 160), times.field("calls").integer(),
                    amount(times.field("total_ns")), amount(times.field("average_ns")),
                    counters.numbers() if counters else {}, node.place)


def sentences(one: Program) -> list[tuple[str, str]]:
    """What was found, what ended it, and what took most of the device, each with its place."""
    found = without_notes(one.findings)
    checked = " and ".join(one.checkers)
    texts = [(f"{several(len(found), 'finding')}: {found[0].checker}: {found[0].problem}"
              + (f", in {found[0].kernel}" if found[0].kernel else "") + "." if found else
              f"Nothing was found by {checked}." if one.checkers and one.processes else
              "Nothing was checked." if one.processes else "No process called CUDA.", "$.processes[…].findings")]
    ended = f"signal {one.signal} ended it" if one.signal else f"it ended with exit code {one.exit_code}"
    texts.append((f"{one.command} on a simulated {one.gpu}: {ended}.", "$.exit_code"))
    kernels = [kernel for process in one.processes for kernel in process.kernels]
    if kernels:
        most = max(kernels, key=lambda kernel: kernel.total)
        whole = sum(kernel.total for kernel in kernels)
        share = f", {100 * most.total / whole:.0f} % of the time of all kernels" if whole > 0 else ""
        texts.append((f"The kernel that takes longest is {most.name}: {duration(most.total)} in "
                      f"{several(most.calls, 'launch', 'launches')}, predicted{share}.", most.place))
    return texts


def chart(one: Program, process: Process) -> Optional[RowChart]:
    """Kernels and copies by predicted time, and kernels by work."""
    activities = [activity for activity in (*process.kernels, *process.copies) if activity.total > 0]
    panels = []
    if activities:
        panels.append(Panel("Time on the device", "", ordered([
            Mark(each.name, each.total, text=f"{duration(each.total)}, {several(each.calls, 'call')}",
                 look="plain" if each.counters else "base") for each in activities]),
            "time of all calls, predicted", lambda value: round_duration(value) if value else "0", bars=True))
    work = [each for each in process.kernels if each.counters.get(INSTRUCTIONS, 0) > 0]
    if work:
        panels.append(Panel("Work of the kernels", "", ordered([
            Mark(each.name, each.counters[INSTRUCTIONS], text=thousands(each.counters[INSTRUCTIONS])) for each in work]),
            "instructions of warps in all launches, counted", count, bars=True))
    if not panels:
        return None
    most = max(activities or process.kernels, key=lambda each: each.total)
    return RowChart(f"{most.name} takes most of the device's time" if activities else "Work of the kernels", (
        f"{one.command} on a simulated {one.gpu}; times are predicted, nothing here is measured",), one.warnings,
        tuple(panels))


def tables(process: Process) -> list[Table]:
    """Everything that has rows."""
    named = ((process.kernels, "Kernels, predicted times", "kernels"), (process.copies, "Copies, predicted times", "copies"),
             (process.calls, "Calls of the API, predicted times of the host", "calls"))
    made = [_times(activities, title, f"{process.place}.{name}") for activities, title, name in named if activities]
    if process.kernels:
        made.insert(1, Table("Kernels, counters summed over launches (counted)",
                             ("kernel", *(title for title, _ in _COLUMNS)), tuple(
                                 (each.name, *(f"{each.counters.get(name, 0):,.0f}" for _, name in _COLUMNS))
                                 for each in process.kernels), 1, place=f"{process.place}.kernels[…].counters",
                             row_places=tuple(f"{each.place}.counters" for each in process.kernels)))
    if process.failures:
        made.append(Table("Calls that failed", ("call", "answer", "times", "first"), process.failures, 2,
                          place=f"{process.place}.failures"))
    if process.not_supported:
        made.append(Table("What could not be simulated", ("what", "times"), tuple(
            (name, f"{number:,.0f}") for name, number in process.not_supported), 1,
            place=f"{process.place}.not_supported"))
    if process.never_freed:
        made.append(Table("Memory that is never freed", ("memory", "call", "bytes", "where"), process.never_freed, 2,
                          place=f"{process.place}.never_freed"))
    return made


def _times(activities: tuple[Activity, ...], title: str, place: str) -> Table:
    order = sorted(activities, key=lambda each: -each.total)
    return Table(title, ("name", "calls", "total", "average"), tuple(
        (each.name, str(each.calls), duration(each.total), duration(each.average)) for each in order), 1, place=place,
        row_places=tuple(each.place for each in order))
