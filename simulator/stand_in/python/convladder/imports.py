"""Acts on packages when a program imports them: nothing is imported that the program does not import itself."""

from __future__ import annotations

import functools
import importlib.machinery
import inspect
import os
import sys
from types import ModuleType
from typing import Any, Callable


class _AfterImport:
    """Finds a package as Python does, and calls a function when it has been executed."""

    def __init__(self, actions: dict[str, Callable[[ModuleType], None]]) -> None:
        self.actions = actions

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        """See importlib.abc.MetaPathFinder."""
        if name not in self.actions:
            return None
        action = self.actions.pop(name)
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            action(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def _torch_is_there(torch: ModuleType) -> None:
    if torch.version.cuda is None:
        print("convladder: this torch was built without CUDA, so nothing of it runs on the simulated GPU", file=sys.stderr)
        return
    from convladder import torch_operators

    torch_operators.install()


def _triton_is_there(triton: ModuleType) -> None:
    """Tells our ptxas where Triton's is."""
    ours = os.path.join(os.path.dirname(triton.__file__ or ""), "backends", "nvidia", "bin")
    for variable, name in (("CONVLADDER_PTXAS", "ptxas"), ("CONVLADDER_PTXAS_BLACKWELL", "ptxas-blackwell")):
        if os.access(os.path.join(ours, name), os.X_OK):
            os.environ.setdefault(variable, os.path.join(ours, name))


def _triton_testing_is_there(testing: ModuleType) -> None:
    from convladder import benchmarks

    benchmarks.replace_those_of_triton(testing)


def _inductor_benchmarking_is_there(benchmarking: ModuleType) -> None:
    from convladder import benchmarks

    benchmarks.replace_those_of_inductor(benchmarking)


def _inductor_heuristics_are_there(heuristics: ModuleType) -> None:
    from convladder import benchmarks

    benchmarks.keep_arguments_on_the_gpu(heuristics)


def _runtime_of_bindings_is_there(runtime: ModuleType) -> None:
    """The runtime that cuda.bindings has linked into itself has no names: its table of functions gets the stand-in's."""
    from convladder import native

    native.replace_capsules(runtime, native.load("libcudart.so.13"))


def _jax_looks_for_a_gpu(hardware: ModuleType) -> None:
    """It takes the files of a GPU's driver for a sign of one. XLA hands PTX on where it starts a ptxas for its machine code."""
    hardware.has_visible_nvidia_gpu = lambda: True  # type: ignore[attr-defined]
    folder = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "toolkit")
    ours = ["--xla_gpu_autotune_level=0", "--xla_gpu_enable_libnvptxcompiler=false", "--xla_gpu_enable_libnvjitlink=false",
            "--xla_gpu_cuda_data_dir=" + folder]
    os.environ["XLA_FLAGS"] = " ".join([*ours, os.environ.get("XLA_FLAGS", "")])  # of two, the last one counts
    os.environ.setdefault("XLA_PYTHON_CLIENT_ALLOCATOR", "cuda_async")  # each array has memory of its own


def _decorators_of_numba_are_there(decorators: ModuleType) -> None:
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


def _cupy_is_there(cupy: ModuleType) -> None:
    """Each array has memory of its own, so that memcheck sees where it ends."""
    cupy.cuda.set_allocator(None)


def prepare() -> None:
    """From now on the packages that need it are prepared when they are imported."""
    sys.meta_path.insert(0, _AfterImport({
        "cuda.bindings._internal.runtime": _runtime_of_bindings_is_there,
        "cuda.bindings._internal.runtime_ptds": _runtime_of_bindings_is_there,
        "numba.cuda.decorators": _decorators_of_numba_are_there,
        "cupy": _cupy_is_there,
        "jax._src.hardware_utils": _jax_looks_for_a_gpu,
        "torch": _torch_is_there,
        "torch._inductor.runtime.benchmarking": _inductor_benchmarking_is_there,
        "torch._inductor.runtime.triton_heuristics": _inductor_heuristics_are_there,
        "triton": _triton_is_there,
        "triton.testing": _triton_testing_is_there,
    }))
