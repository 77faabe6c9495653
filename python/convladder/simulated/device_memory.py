"""Memory of the simulated GPU as tensors of the host: its views, and what a call reads and writes of it."""

from __future__ import annotations

import ctypes
import os
from typing import Any, Callable, Iterator

import torch

from convladder.simulated import native

_MOST_BYTES_OF_WHY = 1000


class _Use(ctypes.Structure):
    """`convladder_torch_use` of simulator/stand_in/libraries/torch/torch.cpp."""

    _fields_ = [("name", ctypes.c_char_p), ("address", ctypes.c_void_p), ("run_bytes", ctypes.c_uint64), ("runs", ctypes.c_uint64),
                ("distance", ctypes.c_uint64), ("reads", ctypes.c_int), ("writes", ctypes.c_int)]


_COMPUTE = ctypes.CFUNCTYPE(None, ctypes.c_uint64)


def _library() -> ctypes.CDLL:
    library = native.load("libconvladder_torch.so")
    library.convladder_torch_view.restype = ctypes.c_void_p
    library.convladder_torch_view.argtypes = [ctypes.c_void_p, ctypes.c_uint64]
    library.convladder_torch_computed.argtypes = [ctypes.c_char_p, ctypes.POINTER(_Use), ctypes.c_int, ctypes.c_double, ctypes.c_double,
                                                  ctypes.c_void_p, _COMPUTE, ctypes.c_uint64, ctypes.c_char_p, ctypes.c_int]
    library.convladder_torch_copy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p]
    library.convladder_torch_missing.argtypes = [ctypes.c_char_p]
    return library


_LIBRARY = _library()
_NAMES: dict[str, bytes] = {}  # the machine keeps the addresses of names


def _name(text: str) -> bytes:
    return _NAMES.setdefault(text, text.encode())


def extent(tensor: torch.Tensor) -> int:
    """Elements of its memory from its first to behind its last."""
    if tensor.numel() == 0:
        return 0
    return 1 + sum((size - 1) * stride for size, stride in zip(tensor.size(), tensor.stride()))


def on_host(tensor: torch.Tensor) -> torch.Tensor:
    """The same memory as a tensor of the host. Raises RuntimeError where it is not there."""
    count = extent(tensor) * tensor.element_size()
    if count == 0:
        view = torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype)
    else:
        view = torch.empty(0, dtype=tensor.dtype)
        address = _LIBRARY.convladder_torch_view(tensor.data_ptr(), count)
        if not address:
            raise RuntimeError(f"a tensor of {count} bytes at 0x{tensor.data_ptr():x} is not memory of the simulated GPU")
        memory = torch.frombuffer((ctypes.c_uint8 * count).from_address(address), dtype=torch.uint8)
        view.set_(memory.untyped_storage(), 0, tensor.size(), tensor.stride())
    if tensor.is_conj():
        view = view.conj()
    return torch._neg_view(view) if tensor.is_neg() else view


def _runs(tensor: torch.Tensor) -> Iterator[tuple[int, int, int, int]]:
    """(offset, bytes, count, distance): the runs of bytes that the tensor has, without what lies between them."""
    size = tensor.element_size()
    steps = sorted((stride, count) for count, stride in zip(tensor.size(), tensor.stride()) if count > 1 and stride > 0)
    width = 1
    while steps and steps[0][0] <= width:  # equal: dense; less: windows that overlap
        stride, count = steps.pop(0)
        width = max(width, (count - 1) * stride + width)
    distance, runs = steps.pop(0) if steps else (width, 1)
    while steps and steps[0][0] == distance * runs:
        runs *= steps.pop(0)[1]
    offsets = [0]
    for stride, count in steps:
        offsets = [offset + stride * number for number in range(count) for offset in offsets]
    for offset in offsets:
        yield offset * size, width * size, runs, distance * size


class Uses:
    """The memory of a call, noted piece by piece."""

    def __init__(self) -> None:
        self._uses: list[_Use] = []

    def add(self, name: str, tensor: torch.Tensor, reads: bool, writes: bool) -> None:
        """`name`: of the argument."""
        if tensor.numel() == 0:
            return
        for offset, width, runs, distance in _runs(tensor):
            self._uses.append(_Use(_name(name), tensor.data_ptr() + offset, width, runs, distance, reads, writes))

    def note(self, operator: str, products: tuple[float, float], compute: Any = None, number: int = 0) -> None:
        """Notes the call in the current stream. `products`: operations on float and on half factors. For a stream that is captured,
        a function made by `callback`, and the number with which the graph calls it. Raises RuntimeError if the machine refuses it."""
        why = ctypes.create_string_buffer(_MOST_BYTES_OF_WHY)
        uses = (_Use * len(self._uses))(*self._uses)
        stream = torch.cuda.current_stream().cuda_stream
        if _LIBRARY.convladder_torch_computed(_name(operator), uses, len(self._uses), *products, stream, compute or _COMPUTE(), number,
                                              why, len(why)) != 0:
            raise RuntimeError(f"{operator} on the simulated GPU: {os.fsdecode(why.value) or 'its memory is not there'}")


def callback(function: Callable[[int], None]) -> Any:
    """A function for `Uses.note`, which must live as long as a graph that calls it."""
    return _COMPUTE(function)


def copy(to: torch.Tensor, source: torch.Tensor) -> None:
    """Copies a dense tensor of the GPU to another of the same layout, with the bytes of it that nothing has written."""
    stream = torch.cuda.current_stream().cuda_stream
    if _LIBRARY.convladder_torch_copy(to.data_ptr(), source.data_ptr(), to.numel() * to.element_size(), stream) != 0:
        raise RuntimeError("aten::copy_ on the simulated GPU: its memory is not there")


def missing(operator: str) -> None:
    """Notes for the report that an operator cannot be computed."""
    _LIBRARY.convladder_torch_missing(_name(operator))
