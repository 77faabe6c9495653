"""Packages that compile kernels in Python and are neither PyTorch nor Triton: what each needs to run on the simulated GPU."""

from __future__ import annotations

import ctypes
import functools
import inspect
import os
from types import ModuleType
from typing import Any

from convladder.simulated import native


def replace_capsules(module: ModuleType, library: ctypes.CDLL) -> None:
    """Lets the C functions that a Cython module hands to others be those of a library: "_cudaMalloc" is its cudaMalloc."""
    api = ctypes.pythonapi
    api.PyCapsule_SetPointer.restype = ctypes.c_int
    api.PyCapsule_SetPointer.argtypes = [ctypes.py_object, ctypes.c_void_p]
    for name, capsule in getattr(module, "__pyx_capi__", {}).items():
        function = getattr(library, name.lstrip("_"), None) if name.startswith("_cuda") else None
        if function is not None:
            api.PyCapsule_SetPointer(capsule, ctypes.cast(function, ctypes.c_void_p))


def use_our_runtime(runtime: ModuleType) -> None:
    """The runtime that cuda.bindings has linked into itself has no names: its table of functions gets the stand-in's."""
    replace_capsules(runtime, native.load("libcudart.so.13"))


def let_jax_see_a_gpu(hardware: ModuleType) -> None:
    """It takes the files of a GPU's driver for a sign of one. XLA hands PTX on where it starts a ptxas for its machine code."""
    hardware.has_visible_nvidia_gpu = lambda: True  # type: ignore[attr-defined]
    ours = ["--xla_gpu_autotune_level=0", "--xla_gpu_enable_libnvptxcompiler=false", "--xla_gpu_enable_libnvjitlink=false",
            f"--xla_gpu_cuda_data_dir={native.folder / 'toolkit'}"]
    os.environ["XLA_FLAGS"] = " ".join([*ours, os.environ.get("XLA_FLAGS", "")])  # of two, the last one counts
    os.environ.setdefault("XLA_PYTHON_CLIENT_ALLOCATOR", "cuda_async")  # each array has memory of its own


def give_kernels_lines(decorators: ModuleType) -> None:
    """Findings name the line of Python, unless the program says that its kernels have none."""
    jit = decorators.jit
    before_lines = list(inspect.signature(jit).parameters).index("lineinfo")

    @functools.wraps(jit)
    def jit_with_lines(*arguments: Any, **options: Any) -> Any:
        debug = options.get("debug")
        is_debug = decorators.config.CUDA_DEBUGINFO_DEFAULT if debug is None else debug
        if not is_debug and len(arguments) <= before_lines:
            options.setdefault("lineinfo", True)
        return jit(*arguments, **options)

    decorators.jit = jit_with_lines


def give_each_array_its_own_memory(cupy: ModuleType) -> None:
    """Each array has memory of its own, so that memcheck sees where it ends."""
    cupy.cuda.set_allocator(None)
