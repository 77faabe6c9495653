"""The libraries of the simulated GPU, which stand beside this folder."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any

# Of sitecustomize and ptxas. Not by the real path: in a build tree this folder is a link.
FOLDER = Path(os.path.abspath(__file__)).parents[1]


def load(name: str) -> ctypes.CDLL:
    """The library of that name."""
    return ctypes.CDLL(str(FOLDER.parent / name))


def remark(text: str) -> None:
    """Adds a line to the report's remarks."""
    add: Any = load("libconvladder_cuda.so").convladder_stand_in_remark
    add(text.encode())
