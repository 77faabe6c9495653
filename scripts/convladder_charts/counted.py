"""What the simulated device counted, case by case: the figures of its chart and of its table.

A figure per multiply-add is a counter over the record's own work; sectors per load are two counters' quotient.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Callable, Mapping, Optional

from convladder_charts.cases import Cases
from convladder_charts.json_text import Node
from convladder_charts.predicted import OnGpu, on_default_gpu
from convladder_charts.stage import Stage, is_size, optional, printable, shape_text
from convladder_charts.summary import Place, Summary

_FLOP_PER_MULTIPLY_ADD = 2
_THREADS_PER_WARP = 32
_INSTRUCTIONS = "smsp__thread_inst_executed_pred_on.sum"
_LOAD_REQUESTS = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"
_LOAD_SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
_SECTORS_PER_LOAD = "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"
_SHARED_WAVEFRONTS = ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
                      "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum")
_TOTALS = (_INSTRUCTIONS, _LOAD_REQUESTS, _LOAD_SECTORS, _SECTORS_PER_LOAD, *_SHARED_WAVEFRONTS)
_DRAM_BYTES = ("dram__bytes_read.sum", "dram__bytes_write.sum")


@dataclass(frozen=True)
class CountedRow:
    """One case; without counters it says why."""

    stage: Stage
    status: str
    reason: str
    flop: float
    minimum_bytes: float
    counters: Optional["Counters"]
    place: str = ""
    """Where the case stands in the document."""
    on_gpu: Optional[OnGpu] = None
    """Registers and occupancy as the record predicts them for one GPU."""

    @property
    def why_not_counted(self) -> str:
        """Status and reason in one line."""
        status = "not counted" if self.status == "ok" else self.status
        return f"{status}: {self.reason}" if self.reason else status


@dataclass(frozen=True)
class Counters:
    """The sums of a case for its whole batch, of which some images were executed."""

    totals: Mapping[str, float]
    modelled: Mapping[str, float]
    images_executed: int
    batch: int
    exact: bool

    def total(self, *names: str) -> Optional[float]:
        """The sum of several counters; None unless all of them are there."""
        return sum(self.totals[name] for name in names) if all(name in self.totals for name in names) else None


@dataclass(frozen=True)
class CountedLadder:
    """The stages of one layer and batch."""

    network: str
    layer: str
    shape: str
    batch: int
    rows: tuple[CountedRow, ...]
    is_size: bool = False
    """Of a problem, and no layer of a network."""
    summary: Summary = Summary()
    """Empty in a run that was cut off."""
    more_stages: int = 0
    """That it has in the record and not here (shown.py)."""

    @property
    def layer_name(self) -> str:
        """As the command line spells it."""
        return f"{self.network}.{self.layer}"

    @property
    def counted(self) -> tuple[CountedRow, ...]:
        """The rows that have counters."""
        return tuple(row for row in self.rows if row.counters is not None)


@dataclass(frozen=True)
class CountedGroup:
    """All that one device counted of one family."""

    device: str
    family: str
    hardware: str
    modelled_gpu: str
    ladders: tuple[CountedLadder, ...]
    kind: str = "counted"
    more_layers: int = 0
    """That it has in the record and not here (shown.py)."""

    @property
    def line(self) -> str:
        """That there are counters, for the figures of times, which have nothing to show of them."""
        cases = sum(len(ladder.counted) for ladder in self.ladders)
        return f"{self.device}: {cases} cases counted, not timed; the chart of counters shows them"

    def chosen(self, batch: Optional[int]) -> list[CountedLadder]:
        """Per layer the asked batch, or the largest of those at which the most stages were counted."""
        offered: dict[str, list[CountedLadder]] = {}
        for one in self.ladders:
            if batch in (None, one.batch):
                offered.setdefault(one.layer_name, []).append(one)
        return [max(several, key=lambda one: (len(one.counted), one.batch)) for several in offered.values()]


@dataclass(frozen=True)
class Figure:
    """One quantity of a case, with what may stand beside it."""

    name: str
    heading: str
    """Of a column of the terminal."""
    per: str
    """What it is divided by; empty for a total, which is written in thousands, millions or billions."""
    unit: str
    modelled: bool
    of: Callable[[CountedRow], Optional[float]]
    is_resource: bool = False
    """Of the compiled kernel: no counter."""

    def is_scaled(self, row: CountedRow) -> bool:
        """Whether it was inferred for the batch from the images that were executed."""
        counters = row.counters
        if counters is None or self.is_resource:
            return False
        return counters.images_executed < counters.batch if self.modelled else not counters.exact


def figures() -> tuple[Figure, ...]:
    """From what the threads do to what reaches the memory."""
    return (Figure("thread instructions", "instr/madd", "per multiply-add", "", False,
                   lambda row: _per_multiply_add(row, _INSTRUCTIONS)),
            Figure("sectors", "sectors/load", "per global load", "", False, _sectors_per_load),
            Figure("shared wavefronts", "wavefr/32madd", "per 32 multiply-adds", "", False,
                   lambda row: _per_multiply_add(row, *_SHARED_WAVEFRONTS, scale=_THREADS_PER_WARP)),
            Figure("global load sectors", "load sectors", "", "sectors", False,
                   lambda row: row.counters and row.counters.total(_LOAD_SECTORS)),
            Figure("DRAM, modelled", "DRAM", "", "B", True, _dram_bytes))


def drawn_figures(ladder: CountedLadder) -> tuple[Figure, ...]:
    """The counters, and beside them registers and occupancy where the record has them."""
    gpu = next((row.on_gpu.title for row in ladder.rows if row.on_gpu), None)
    if gpu is None:
        return figures()
    return (*figures(),
            Figure("registers", "registers", "per thread", "", False,
                   lambda row: row.on_gpu and row.on_gpu.registers, is_resource=True),
            Figure("occupancy", "occupancy", "% of the warps", "", False,
                   lambda row: row.on_gpu and 100 * row.on_gpu.occupancy, is_resource=True))


def _per_multiply_add(row: CountedRow, *names: str, scale: float = 1.0) -> Optional[float]:
    total = row.counters.total(*names) if row.counters else None
    multiply_adds = row.flop / _FLOP_PER_MULTIPLY_ADD
    return None if total is None or not multiply_adds > 0 else scale * total / multiply_adds


def _sectors_per_load(row: CountedRow) -> Optional[float]:
    if row.counters is None:
        return None
    if _SECTORS_PER_LOAD in row.counters.totals:
        return row.counters.totals[_SECTORS_PER_LOAD]
    sectors, requests = row.counters.total(_LOAD_SECTORS), row.counters.total(_LOAD_REQUESTS)  # of several kernels
    return sectors / requests if sectors is not None and requests else None


def _dram_bytes(row: CountedRow) -> Optional[float]:
    modelled = row.counters.modelled if row.counters else {}
    return sum(modelled[name] for name in _DRAM_BYTES) if all(name in modelled for name in _DRAM_BYTES) else None


def groups_of(cases: Cases, stages: Mapping[tuple[str, str], Stage],
              fact: Callable[[str, str], Optional[str]], hardware: Callable[[str], str],
              told: Mapping[Place, Summary] = MappingProxyType({})) -> tuple[CountedGroup, ...]:
    """The devices that counted; `fact` is what the record says of a device under a key."""
    groups = []
    for (device, family), ladders in cases.on_ladders().items():
        read = tuple(_ladder(key, [cases.at(index) for index in members], stages, told.get((device, family, *key), Summary()))
                     for key, members in ladders.items()
                     if any(_has_counters(cases.outlines[index]) for index in members))
        if read:
            gpu = fact(device, "modelled GPU")
            groups.append(CountedGroup(printable(device), printable(family), hardware(device),
                                       printable(gpu) if gpu else "an unnamed GPU", read))
    return tuple(groups)


def _has_counters(case: Node) -> bool:
    return not case.field("counters").is_null()


def _ladder(key: tuple[str, str, int], cases: list[Node],
            stages: Mapping[tuple[str, str], Stage], told: Summary) -> CountedLadder:
    """In ladder order: a record holds its cases in the order in which they ended."""
    network, layer, batch = key
    order = {stage: index for index, stage in enumerate(stages.values())}
    rows = sorted((_row(case, stages) for case in cases),
                  key=lambda row: (row.stage.is_library, order.get(row.stage, len(order))))
    return CountedLadder(printable(network), printable(layer), shape_text(cases[0]), batch, tuple(rows),
                         all(map(is_size, cases)), told)


def _row(case: Node, stages: Mapping[tuple[str, str], Stage]) -> CountedRow:
    family, name = case.field("family").text(), case.field("variant").text()
    stage = stages.get((family, name))
    if stage is None:
        stage = Stage(family, optional(case.field("rung"), Node.integer), name, printable(name) or "(no name)")
    work = case.field("work")
    return CountedRow(stage, printable(case.field("status").text()),
                      printable(optional(case.field("reason"), Node.text) or "", 120), work.field("flop").number(),
                      work.field("minimum_bytes").number(),
                      _counters(case.field("counters")) if _has_counters(case) else None, case.place,
                      on_default_gpu(case))


def _counters(node: Node) -> Counters:
    """With the sums that a figure is made of; all have to be numbers."""
    totals, modelled = node.field("totals").numbers(), node.field("modelled").numbers()
    return Counters({name: totals[name] for name in _TOTALS if name in totals},
                    {name: modelled[name] for name in _DRAM_BYTES if name in modelled},
                    node.field("images_executed").integer(), node.field("batch").integer(),
                    node.field("exact").boolean())
