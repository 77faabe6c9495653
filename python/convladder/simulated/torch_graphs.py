"""CUDA graphs of torch with its own operators: the graph calls back, and the operator is computed on the host each time."""

from __future__ import annotations

import ctypes
import itertools
import weakref
from types import ModuleType
from typing import Any, Callable

import torch

from convladder.simulated import native
from convladder.simulated.device_memory import Uses, callback

_COMPUTES: dict[int, Callable[[], None]] = {}  # by the number with which a graph calls it
_NUMBERS = itertools.count(1)
_CAPTURED: list[int] = []  # of the current capture
_ERRORS: list[BaseException] = []  # of the current replay


def _compute(number: int) -> None:
    """Called by the graph, in whatever thread replays it."""
    if _ERRORS:
        return  # as on a GPU, nothing follows an error
    try:
        with torch.no_grad():
            _COMPUTES[number]()
    except BaseException as error:  # pylint: disable=broad-exception-caught  # nothing passes through the caller, which is C
        _ERRORS.append(error)


_CALLBACK = callback(_compute)


def is_capturing() -> bool:
    """Whether the current stream is being captured."""
    return torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing()


def add(operator: str, uses: Uses, products: tuple[float, float], compute: Callable[[], None]) -> None:
    """Makes an operator a part of the graph that is being captured. For the other parameters see Uses.note."""
    number = next(_NUMBERS)
    _COMPUTES[number] = compute
    _CAPTURED.append(number)
    uses.note(operator, products, _CALLBACK, number)


def _end(machine: Any, graph: int, numbers: list[int]) -> None:
    """What the graph alone has needed ends with it."""
    for number in numbers:
        _COMPUTES.pop(number, None)
    machine.convladder_stand_in_graph_ends(ctypes.c_uint64(graph))


def prepare(graphs: ModuleType) -> None:
    """`graphs`: torch.cuda.graphs."""
    machine: Any = native.load("libconvladder_cuda.so")
    graph_class = graphs.CUDAGraph
    begin, end, replay, reset = graph_class.capture_begin, graph_class.capture_end, graph_class.replay, graph_class.reset

    def capture_begin(self: Any, *arguments: Any, **named: Any) -> None:
        number = next(_NUMBERS)
        _CAPTURED.clear()
        machine.convladder_stand_in_capture_begins(ctypes.c_uint64(number))
        self.convladder_end = weakref.finalize(self, _end, machine, number, [])
        try:
            begin(self, *arguments, **named)
        except BaseException:
            machine.convladder_stand_in_capture_ends()
            raise

    def capture_end(self: Any) -> None:
        try:
            end(self)
        finally:
            machine.convladder_stand_in_capture_ends()
            self.convladder_end.peek()[2][2].extend(_CAPTURED)

    def replay_all(self: Any) -> None:
        _ERRORS.clear()
        replay(self)
        if _ERRORS:
            raise _ERRORS[0]

    def reset_all(self: Any) -> None:
        reset(self)
        if hasattr(self, "convladder_end"):
            self.convladder_end()

    graph_class.capture_begin, graph_class.capture_end = capture_begin, capture_end
    graph_class.replay, graph_class.reset = replay_all, reset_all
