"""Acts on packages when a program imports them: nothing is imported that the program does not import itself."""

from __future__ import annotations

import importlib.machinery
import os
import sys
from types import ModuleType
from typing import Any, Callable

from convladder import native


class _AfterImport:
    """Finds a package as Python does, and calls a function when it has been executed."""

    def __init__(self, actions: dict[str, Callable[[ModuleType], None]]) -> None:
        self.actions = actions

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        """See importlib.abc.MetaPathFinder."""
        if name not in self.actions:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            if action := self.actions.pop(name, None):
                action(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def _remark(text: str) -> None:
    """A line for the report."""
    remark: Any = native.load("libconvladder_cuda.so").convladder_stand_in_remark
    remark(text.encode())


def _torch_is_there(torch: ModuleType) -> None:
    if torch.version.cuda is None:
        print("convladder: this torch was built without CUDA, so nothing of it runs on the simulated GPU", file=sys.stderr)
        return
    from convladder import torch_graphs, torch_operators

    torch_operators.install()
    caching = os.environ.get("PYTORCH_NO_CUDA_MEMORY_CACHING")
    if caching != "1":
        _remark(f"PYTORCH_NO_CUDA_MEMORY_CACHING={caching} was set before: with torch's own allocator, accesses that leave a tensor and stay "
                f"in one of its large blocks are not found")
    torch_graphs.prepare(torch.cuda.graphs)


def _triton_is_there(triton: ModuleType) -> None:
    """Tells our ptxas where Triton's is."""
    own = os.path.join(os.path.dirname(triton.__file__ or ""), "backends", "nvidia", "bin")
    for name, variable in (("ptxas", "PTXAS"), ("ptxas-blackwell", "PTXAS_BLACKWELL")):
        if os.access(os.path.join(own, name), os.X_OK):
            os.environ.setdefault(f"CONVLADDER_{variable}", os.path.join(own, name))
        chosen = os.environ.get(f"TRITON_{variable}_PATH")
        if chosen is not None and os.path.realpath(chosen) != os.path.realpath(os.path.join(native.FOLDER, name)):
            _remark(f"TRITON_{variable}_PATH={chosen} was set before: where it gives machine code, kernels of Triton cannot run here")


def _triton_testing_is_there(testing: ModuleType) -> None:
    from convladder import benchmarks

    benchmarks.replace_those_of_triton(testing)


def _inductor_benchmarking_is_there(benchmarking: ModuleType) -> None:
    from convladder import benchmarks

    benchmarks.replace_those_of_inductor(benchmarking)


def _inductor_heuristics_are_there(heuristics: ModuleType) -> None:
    from convladder import benchmarks

    benchmarks.keep_arguments_on_the_gpu(heuristics)


def _triton_compiler_is_there(compiler: ModuleType) -> None:
    from convladder import triton_kernels

    triton_kernels.tell_configurations(compiler)


def _triton_autotuner_is_there(autotuner: ModuleType) -> None:
    from convladder import triton_kernels

    triton_kernels.tell_trials(autotuner)


def _inductor_launcher_is_there(launcher: ModuleType) -> None:
    from convladder import triton_kernels

    triton_kernels.tell_configurations_of_inductor(launcher)


def prepare() -> None:
    """From now on the packages that need it are prepared when they are imported."""
    sys.meta_path.insert(0, _AfterImport({
        "torch": _torch_is_there,
        "torch._inductor.runtime.benchmarking": _inductor_benchmarking_is_there,
        "torch._inductor.runtime.static_triton_launcher": _inductor_launcher_is_there,
        "torch._inductor.runtime.triton_heuristics": _inductor_heuristics_are_there,
        "triton": _triton_is_there,
        "triton.compiler.compiler": _triton_compiler_is_there,
        "triton.runtime.autotuner": _triton_autotuner_is_there,
        "triton.testing": _triton_testing_is_there,
    }))
