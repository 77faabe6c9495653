"""The libraries of the simulated GPU, which stand beside this folder."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from types import ModuleType


def load(name: str) -> ctypes.CDLL:
    """The library of that name. Not by the real path: in a build tree this folder is a link."""
    return ctypes.CDLL(str(Path(os.path.abspath(__file__)).parents[2] / name))


def replace_capsules(module: ModuleType, library: ctypes.CDLL) -> None:
    """Lets the C functions that a Cython module hands to others be those of a library: "_cudaMalloc" is its cudaMalloc."""
    api = ctypes.pythonapi
    api.PyCapsule_SetPointer.restype = ctypes.c_int
    api.PyCapsule_SetPointer.argtypes = [ctypes.py_object, ctypes.c_void_p]
    for name, capsule in getattr(module, "__pyx_capi__", {}).items():
        function = getattr(library, name.lstrip("_"), None) if name.startswith("_cuda") else None
        if function is not None:
            api.PyCapsule_SetPointer(capsule, ctypes.cast(function, ctypes.c_void_p))
