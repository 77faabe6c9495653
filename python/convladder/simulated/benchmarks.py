"""Autotuners and benchmarks on the simulated GPU. A predicted time is the same in every run, so one launch says as much as thousands."""

from __future__ import annotations

from types import ModuleType
from typing import Any, Callable, Iterable


def _milliseconds(function: Callable[[], Any]) -> float:
    """The predicted time of what the function launches."""
    import torch

    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    function()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end)


def _do_bench(fn: Callable[[], Any], warmup: float = 25, rep: float = 100, grad_to_none: Iterable[Any] | None = None,
              quantiles: list[float] | None = None, return_mode: str = "mean") -> Any:
    """As triton.testing.do_bench, with one launch."""
    del warmup, rep
    assert return_mode in ("min", "max", "mean", "median", "all")
    for one in grad_to_none or ():
        one.grad = None
    time = _milliseconds(fn)
    if quantiles is not None:
        return [time for _ in quantiles] if len(quantiles) != 1 else time
    return [time] if return_mode == "all" else time


def replace_those_of_triton(testing: ModuleType) -> None:
    """`testing`: triton.testing."""
    testing.do_bench = _do_bench
    if hasattr(testing, "do_bench_cudagraph"):
        testing.do_bench_cudagraph = lambda fn, rep=20, **named: _do_bench(fn, rep=rep, **named)


def replace_those_of_inductor(benchmarking: ModuleType) -> None:
    """`benchmarking`: torch._inductor.runtime.benchmarking."""
    def benchmark_gpu(self: Any, _callable: Callable[[], Any], **named: Any) -> float:
        del self, named
        return _milliseconds(_callable)

    for name in ("TritonBenchmarker", "InductorBenchmarker"):
        if hasattr(benchmarking, name):
            getattr(benchmarking, name).benchmark_gpu = benchmark_gpu
            getattr(benchmarking, name).benchmark_gpu_with_cuda_graph = benchmark_gpu


def keep_arguments_on_the_gpu(heuristics: ModuleType) -> None:
    """`heuristics`: torch._inductor.runtime.triton_heuristics. Its autotuner would copy results that nothing has written yet to the
    host to save memory, which is a finding."""
    if hasattr(heuristics, "CachingAutotuner"):
        heuristics.CachingAutotuner.copy_args_to_cpu_if_needed = lambda self, *arguments, **named: {}
