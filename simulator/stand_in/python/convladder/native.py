"""The libraries of the simulated GPU, which stand beside this folder."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path


def load(name: str) -> ctypes.CDLL:
    """The library of that name. Not by the real path: in a build tree this folder is a link."""
    return ctypes.CDLL(str(Path(os.path.abspath(__file__)).parents[2] / name))
