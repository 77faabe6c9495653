"""The libraries of the simulated GPU, which `convladder simulate` finds."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any, NoReturn

folder = Path()
"""Of sitecustomize, which says so before anything else, and of ptxas. The libraries stand beside it."""


def load(name: str) -> ctypes.CDLL:
    """The library of that name."""
    return ctypes.CDLL(str(folder.parent / name))


def report_before_leaving() -> None:
    """os._exit(), by which processes of multiprocessing end, runs no code of libraries: it lets ours write its report first."""
    leave = os._exit

    def _exit(status: int) -> NoReturn:
        try:
            loaded: Any = ctypes.CDLL(str(folder.parent / "libconvladder_cuda.so"), mode=os.RTLD_NOW | os.RTLD_NOLOAD)
        except OSError:  # this process has had nothing to do with CUDA
            leave(status)
        loaded.convladder_stand_in_process_ends(status)
        leave(status)

    os._exit = _exit  # type: ignore[assignment]


def remark(text: str) -> None:
    """Adds a line to the report's remarks."""
    add: Any = load("libconvladder_cuda.so").convladder_stand_in_remark
    add(text.encode())
