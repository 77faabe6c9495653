"""The report in Triton's terms: each kernel with its constants, warps and stages, and each configuration of an autotuner by itself."""

from __future__ import annotations

import ctypes
import os
from types import ModuleType
from typing import Any, Iterable

from convladder.simulated import native
from convladder.simulated.findings import findings_so_far

_LONGEST_CONSTANT = 40  # characters


def let_triton_link_and_assemble(triton: ModuleType) -> None:
    """Tells our ptxas where Triton's is. A linker that leaves out what it sees no use of (--as-needed) links Triton's extensions without
    our libcuda.so.1, which only needs the library that has the functions: without torch nobody else would bring them in."""
    ctypes.CDLL("libcuda.so.1", mode=ctypes.RTLD_GLOBAL)
    own = os.path.join(os.path.dirname(triton.__file__ or ""), "backends", "nvidia", "bin")
    for name, variable in (("ptxas", "PTXAS"), ("ptxas-blackwell", "PTXAS_BLACKWELL")):
        if os.access(os.path.join(own, name), os.X_OK):
            os.environ.setdefault(f"CONVLADDER_{variable}", os.path.join(own, name))
        chosen = os.environ.get(f"TRITON_{variable}_PATH")
        if chosen is not None and os.path.realpath(chosen) != os.path.realpath(native.folder / name):
            native.remark(f"TRITON_{variable}_PATH={chosen} was set before: where it gives machine code, kernels of Triton cannot run here")


def _driver() -> Any:
    return native.load("libconvladder_cuda.so")


def _with_unit(count: int, unit: str) -> str:
    return f"{count} {unit}{'' if count == 1 else 's'}"


def _constant(value: Any) -> str:
    """In the words of the source: a function by its name."""
    text = getattr(value, "__name__", None) or str(getattr(value, "value", value))
    return text if len(text) <= _LONGEST_CONSTANT else text[:_LONGEST_CONSTANT] + "..."


def _configuration(constants: Iterable[tuple[str, Any]], warps: int | None, stages: int | None, blocks: int | None) -> str:
    """"BLOCK=128, 4 warps, 3 stages"."""
    parts = [f"{name}={_constant(value)}" for name, value in constants]
    parts += [_with_unit(count, unit) for count, unit in ((warps, "warp"), (stages, "stage")) if count is not None]
    if blocks is not None and blocks > 1:
        parts.append(f"clusters of {blocks}")
    return ", ".join(parts)


def configuration_of(kernel: Any) -> str:
    """`kernel`: a triton.compiler.CompiledKernel. Constants are those that the source declares."""
    source, metadata = kernel.src, kernel.metadata
    declared = {one.num: one.name for one in getattr(getattr(source, "fn", None), "params", ()) if one.is_constexpr}
    constants = [(declared[path[0]], value) for path, value in sorted(getattr(source, "constants", {}).items(), key=lambda one: one[0])
                 if len(path) == 1 and path[0] in declared]
    return _configuration(constants, metadata.num_warps, getattr(metadata, "num_stages", None), getattr(metadata, "num_ctas", None))


def _tell(function: int | None, configuration: str) -> None:
    if function:
        _driver().convladder_stand_in_configured(ctypes.c_void_p(function), configuration.encode())


def tell_configurations(compiler: ModuleType) -> None:
    """`compiler`: triton.compiler.compiler."""
    load = compiler.CompiledKernel._init_handles

    def _init_handles(self: Any) -> None:
        is_new = self.module is None
        load(self)
        if is_new:
            _tell(self.function, configuration_of(self))

    compiler.CompiledKernel._init_handles = _init_handles


def tell_configurations_of_inductor(launcher: ModuleType) -> None:
    """`launcher`: torch._inductor.runtime.static_triton_launcher, which loads kernels without Triton."""
    kernel_class = getattr(launcher, "StaticallyLaunchedTritonKernel", None)
    if kernel_class is None:
        return
    make, load = kernel_class.__init__, kernel_class.load_kernel

    def __init__(self: Any, kernel: Any) -> None:
        make(self, kernel)
        self.convladder_configuration = configuration_of(kernel)  # it is pickled with the rest, for another process

    def load_kernel(self: Any, device: int) -> None:
        load(self, device)
        for function in (self.function, *getattr(self, "functions", {}).values()):
            _tell(function, getattr(self, "convladder_configuration", ""))

    kernel_class.__init__, kernel_class.load_kernel = __init__, load_kernel


class _Trial:
    """One key of an autotuner: the arguments before the first configuration, and the results of that one."""

    def __init__(self, arguments: dict[str, Any]) -> None:
        from convladder.simulated.device_memory import on_host

        self.views = {}
        for name, value in arguments.items():
            tensor = getattr(value, "base", None) if hasattr(value, "block_shape") else value  # of a TensorDescriptor
            if getattr(getattr(tensor, "device", None), "type", None) != "cuda":
                continue
            try:
                self.views[name] = on_host(tensor)
            except (RuntimeError, NotImplementedError):  # its memory has no such view, as a sparse tensor's
                continue
        self.before = {name: view.clone() for name, view in self.views.items()}
        self.first: dict[str, Any] | None = None

    def begin(self) -> None:
        """Each configuration starts from the same memory, so that results can be compared."""
        for name, view in self.views.items():
            view.copy_(self.before[name])

    def result(self) -> str:
        """How the results differ from the first configuration's."""
        if not self.views:
            return "not compared"
        if self.first is None:
            self.first = {name: view.clone() for name, view in self.views.items() if not _are_equal(view, self.before[name])}
            return "the first's"
        worst, where = 0.0, ""
        for name, view in self.views.items():
            difference = _difference(view, self.first.get(name, self.before[name]))
            if not difference <= worst:  # a NaN is the worst
                worst, where = difference, name
        if worst == 0.0:
            return "the same"
        return f"{where} differs by {worst:.1e}" + ("" if worst <= _ROUNDING else ": wrong?")


_ROUNDING = 2e-2  # of the largest value, as of sums in half precision in another order


def _are_equal(one: Any, other: Any) -> bool:
    import torch

    def bytes_of(tensor: Any) -> Any:  # a dimension of one element may have any stride, and a tensor may have no dimension
        return tensor.contiguous().as_strided((tensor.numel(),), (1,)).view(torch.uint8)

    return bool(torch.equal(bytes_of(one), bytes_of(other))) if one.numel() else True


def _difference(one: Any, other: Any) -> float:
    """The largest difference in parts of the largest value; a NaN that only one has is infinite."""
    import torch

    if _are_equal(one, other):
        return 0.0
    left, right = (value.to(torch.float64) if not value.is_complex() else torch.view_as_real(value.to(torch.complex128)) for value in (one, other))
    if not bool(torch.equal(left.isfinite(), right.isfinite())):
        return float("inf")
    left, right = left.nan_to_num(0, 0, 0), right.nan_to_num(0, 0, 0)
    largest = float(torch.maximum(left.abs().max(), right.abs().max()))
    return float((left - right).abs().max()) / largest if largest > 0 else 0.0


def tell_trials(autotuner: ModuleType) -> None:
    """`autotuner`: triton.runtime.autotuner. Tells each configuration with its predicted time, its findings, and how its results
    differ from the first one's."""
    bench, run = autotuner.Autotuner._bench, autotuner.Autotuner.run

    def _bench(self: Any, *arguments: Any, config: Any, **named: Any) -> Any:
        given = {**dict(zip(self.arg_names, arguments)), **named}
        trial = getattr(self, "convladder_trial", None)
        if trial is None:
            trial = self.convladder_trial = _Trial(given)
        trial.begin()
        before = sum(findings_so_far().values())
        times = bench(self, *arguments, config=config, **named)
        found = sum(findings_so_far().values()) - before
        milliseconds = times[0] if isinstance(times, (list, tuple)) else times
        did_run = milliseconds != float("inf")
        key = ", ".join(f"{name}={_constant(given[name])}" for name in self.keys if name in given)
        text = _configuration(config.kwargs.items(), config.num_warps, config.num_stages, config.num_ctas)
        _driver().convladder_stand_in_tried(
            self.base_fn.__name__.encode(), key.encode(), text.encode(), (trial.result() if did_run else "did not run").encode(),
            ctypes.c_uint64(max(1, round(milliseconds * 1e6)) if did_run else 0), ctypes.c_uint64(found))
        return times

    def run_all(self: Any, *arguments: Any, **named: Any) -> Any:
        try:
            return run(self, *arguments, **named)
        finally:
            self.convladder_trial = None  # of one key

    autotuner.Autotuner._bench, autotuner.Autotuner.run = _bench, run_all
