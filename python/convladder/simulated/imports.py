"""Acts on packages when a program imports them: nothing is imported that the program does not import itself."""

from __future__ import annotations

import importlib
import importlib.machinery
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from convladder.simulated import native

# The function that gets a module of theirs when it has been executed: of a file beside this one.
_ACTIONS = {
    "_pytest.assertion": "imports.stay_in_front",
    "cuda.bindings._internal.runtime": "front_ends.use_our_runtime",
    "cuda.bindings._internal.runtime_ptds": "front_ends.use_our_runtime",
    "cupy": "front_ends.give_each_array_its_own_memory",
    "jax._src.hardware_utils": "front_ends.let_jax_see_a_gpu",
    "numba.cuda.decorators": "front_ends.give_kernels_lines",
    "torch": "torch_operators.prepare",
    "torch._inductor.runtime.benchmarking": "benchmarks.replace_those_of_inductor",
    "torch._inductor.runtime.static_triton_launcher": "triton_kernels.tell_configurations_of_inductor",
    "torch._inductor.runtime.triton_heuristics": "benchmarks.keep_arguments_on_the_gpu",
    "triton": "triton_kernels.let_triton_link_and_assemble",
    "triton.compiler.compiler": "triton_kernels.tell_configurations",
    "triton.runtime.autotuner": "triton_kernels.tell_trials",
    "triton.testing": "benchmarks.replace_those_of_triton",
}


class _AfterImport:
    """Finds a package as Python does, and calls a function when it has been executed."""

    def __init__(self) -> None:
        self.actions = dict(_ACTIONS)

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
                file, function = action.split(".")
                getattr(importlib.import_module(f"{__package__}.{file}"), function)(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def stay_in_front(assertion: ModuleType) -> None:
    """`assertion`: _pytest.assertion. Pytest puts a finder in front, which loads torch itself where `python_files` matches all files: ours
    goes in front of it."""
    install = assertion.install_importhook

    def install_importhook(config: Any) -> Any:
        hook = install(config)
        sys.meta_path.sort(key=lambda finder: not isinstance(finder, _AfterImport))
        return hook

    assertion.install_importhook = install_importhook  # type: ignore[attr-defined]


def prepare(folder: str) -> None:
    """From now on the packages that need it are prepared when they are imported. `folder`: that of sitecustomize."""
    native.folder = Path(folder)
    native.report_before_leaving()
    sys.meta_path.insert(0, _AfterImport())
