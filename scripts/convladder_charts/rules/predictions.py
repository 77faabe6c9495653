"""What a schema cannot say of the predictions in a run.json."""

from __future__ import annotations

import math
from typing import Any, Iterator

from convladder_charts.rules.problem import RELATIVE, Problem


def problems(case: Any, place: str) -> Iterator[Problem]:
    """Everything wrong with the prediction of a case."""
    prediction = case["prediction"]
    if prediction is None:
        return
    at = f"{place}.prediction"
    if case["counters"] is None:
        yield at, "expected null, because the case has no counters to predict from"
        return
    if case["status"] != "ok":
        yield at, f"expected null, because the status is \"{case['status']}\""
    names = [one["gpu"] for one in prediction["gpus"]]
    for index, gpu in enumerate(prediction["gpus"]):
        if names.index(gpu["gpu"]) != index:
            yield f"{at}.gpus[{index}].gpu", f"\"{gpu['gpu']}\" is there twice"
        yield from _gpu(gpu, f"{at}.gpus[{index}]", len(case["counters"]["kernels"]))


def _gpu(gpu: Any, place: str, kernels: int) -> Iterator[Problem]:
    if len(gpu["kernels"]) != kernels:
        yield f"{place}.kernels", f"expected {kernels}, as many as were counted, found {len(gpu['kernels'])}"
    for index, kernel in enumerate(gpu["kernels"]):
        yield from _kernel(kernel, f"{place}.kernels[{index}]")
    for end in ("low", "high"):
        times = [kernel[end] for kernel in gpu["kernels"]]
        total = None if None in times else math.fsum([*times, gpu.get("beside", 0)])
        found = gpu[end]
        if (total is None) != (found is None) or (total is not None and not math.isclose(
                found, total, rel_tol=RELATIVE)):
            yield f"{place}.{end}", f"expected {total}, the sum over its kernels and the work between them, found {found}"
    yield from _ends(gpu, place)


def _kernel(kernel: Any, place: str) -> Iterator[Problem]:
    if (kernel["occupancy"]["blocks"] == 0) != (kernel["low"] is None):
        yield f"{place}.low", "expected null exactly where no block fits on a multiprocessor"
    yield from _ends(kernel, place)
    for name, term in (kernel["terms"] or {}).items():
        if not term["low"] <= term["high"]:
            yield f"{place}.terms", f"\"{name}\": low {term['low']} is above high {term['high']}"
        if kernel["high"] is not None and term["high"] > kernel["high"] * (1 + RELATIVE):
            yield f"{place}.high", f"{kernel['high']} is less than its term \"{name}\", {term['high']}"


def _ends(one: Any, place: str) -> Iterator[Problem]:
    low, high = one["low"], one["high"]
    if (low is None) != (high is None):
        yield place, "expected both ends of the range, or none"
    elif low is not None and not 0 < low <= high:
        yield place, f"expected a range of positive times, found {low} to {high}"
    for end in ("low", "high"):
        if (one[end] is None) != (one[f"binding_{end}"] is None):
            yield f"{place}.binding_{end}", f"expected a term exactly where there is a \"{end}\""
