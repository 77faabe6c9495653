"""Acts on packages when a program imports them: nothing is imported that the program does not import itself."""

from __future__ import annotations

import ctypes
import importlib.machinery
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
    """Tells our ptxas where Triton's is. A linker that leaves out what it sees no use of (--as-needed) links Triton's extensions without
    our libcuda.so.1, which only needs the library that has the functions: without torch nobody else would bring them in."""
    ctypes.CDLL("libcuda.so.1", mode=ctypes.RTLD_GLOBAL)
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


def _pytest_assertion_is_there(assertion: ModuleType) -> None:
    """Pytest puts a finder in front, which loads torch itself where `python_files` matches all files: ours goes in front of it."""
    install = assertion.install_importhook

    def install_importhook(config: Any) -> Any:
        hook = install(config)
        sys.meta_path.sort(key=lambda finder: not isinstance(finder, _AfterImport))
        return hook

    assertion.install_importhook = install_importhook  # type: ignore[attr-defined]


def prepare() -> None:
    """From now on the packages that need it are prepared when they are imported."""
    sys.meta_path.insert(0, _AfterImport({
        "_pytest.assertion": _pytest_assertion_is_there,
        "torch": _torch_is_there,
        "torch._inductor.runtime.benchmarking": _inductor_benchmarking_is_there,
        "torch._inductor.runtime.triton_heuristics": _inductor_heuristics_are_there,
        "triton": _triton_is_there,
        "triton.testing": _triton_testing_is_there,
    }))
