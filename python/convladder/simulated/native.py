"""The libraries of the simulated GPU, which `convladder simulate` finds."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

folder = Path()
"""Of sitecustomize, which says so before anything else, and of ptxas. The libraries stand beside it."""


def load(name: str) -> ctypes.CDLL:
    """The library of that name."""
    return ctypes.CDLL(str(folder.parent / name))


def remark(text: str) -> None:
    """Adds a line to the report's remarks."""
    add: Any = load("libconvladder_cuda.so").convladder_stand_in_remark
    add(text.encode())
