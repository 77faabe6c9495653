#!/usr/bin/env python3
"""Compares torch's operators on the simulated GPU with the host's, on the samples that torch's own tests are made of (`op_db`).

    convladder simulate --checkers none -- v/bin/python tests/suites/torch_operators.py
    convladder simulate -- v/bin/python tests/suites/torch_operators.py --part 3 --parts 8 --operators 'fft*'

Needs torch for CUDA, numpy, expecttest and hypothesis. One line for each operator and type that does not agree, and at the end the counts:
`same` to torch's tolerances (half precision: 1 %), `random` and `not written`, where only sizes and types are compared, `no sample`, `error on
both` devices, `error` on the GPU alone, `different`.

Exit status: 0 all agree, 1 some do not, 2 a wrong argument.
"""

from __future__ import annotations

import argparse
import fnmatch
import itertools
import sys
import time
import warnings
from collections import Counter
from typing import Any

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_map

TYPES = (torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.complex64, torch.bool)
RANDOM = ("rand*", "normal*", "geometric", "bernoulli*", "multinomial", "cauchy", "exponential", "log_normal", "uniform", "*dropout*", "*rrelu*",
          "*fractional_max_pool*", "svd_lowrank", "pca_lowrank")
NOT_WRITTEN = ("empty*", "new_empty*")
WITH_A_BASE = ("as_strided*",)
"""Samples that read what lies beside a view, which a copy for the host does not have."""
LONGEST_S = 20  # of an operator and a type


def is_one_of(name: str, patterns: tuple[str, ...]) -> bool:
    """Whether a pattern of the shell's fits."""
    return any(fnmatch.fnmatch(name.removeprefix("nn.functional."), one) or fnmatch.fnmatch(name, one) for one in patterns)


def on_host(value: Any) -> Any:
    """A copy of the arguments for the host."""
    def one(leaf: Any) -> Any:
        if isinstance(leaf, torch.Tensor):
            return leaf.detach().cpu().clone()
        return "cpu" if isinstance(leaf, (str, torch.device)) and str(leaf).startswith("cuda") else leaf

    return tree_map(one, value)


def called(operator: Any, arguments: tuple[Any, ...]) -> Any:
    """The result, or the error."""
    try:
        return operator(arguments[0], *arguments[1], **arguments[2])
    except Exception as error:  # pylint: disable=broad-exception-caught  # whatever it is, it is compared
        return error


def compared(operator: Any, sample: Any, outcome_if_any: str, tolerance: dict[str, float]) -> tuple[str, str]:
    """The outcome, and why."""
    on_gpu = (sample.input, sample.args, sample.kwargs)
    expected = called(operator, on_host(on_gpu))
    result = called(operator, on_gpu)
    if isinstance(expected, Exception):
        return ("error on both", "") if isinstance(result, Exception) else ("only on the GPU", "")
    if isinstance(result, Exception):
        return "error", f"{type(result).__name__}: {result}"
    result = tree_map(lambda one: one.detach().cpu() if isinstance(one, torch.Tensor) else one, result)
    try:
        if outcome_if_any == "same":
            torch.testing.assert_close(result, expected, equal_nan=True, check_stride=False, check_dtype=False, **tolerance)
        else:
            shapes = [tree_map(lambda one: one.shape if isinstance(one, torch.Tensor) else None, value) for value in (result, expected)]
            assert shapes[0] == shapes[1], f"sizes {shapes[0]}, not {shapes[1]}"
    except (AssertionError, ValueError, TypeError) as error:
        return "different", str(error)
    return outcome_if_any, ""


def outcome_of_kind(name: str) -> str:
    """The outcome of an operator that agrees."""
    return "random" if is_one_of(name, RANDOM) else "not written" if is_one_of(name, NOT_WRITTEN) else "same"


def main() -> int:
    """Compares them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--operators", default="*", metavar="PATTERN", help="names, as in op_db (default: all)")
    parser.add_argument("--samples", type=int, default=6, metavar="N", help="of an operator and a type, at most (default: 6)")
    parser.add_argument("--part", type=int, default=0, metavar="I", help="this part of --parts, counted from 0")
    parser.add_argument("--parts", type=int, default=1, metavar="N", help="in which the operators are divided")
    given = parser.parse_args()
    if given.samples < 1 or not 0 <= given.part < given.parts:
        parser.error("--samples begins at 1, and --part is less than --parts")
    warnings.simplefilter("ignore")
    outcomes: Counter[str] = Counter()
    for operator in op_db[given.part::given.parts]:
        name = ".".join(filter(None, (operator.name, operator.variant_test_name)))
        if not fnmatch.fnmatch(name, given.operators) or is_one_of(name, WITH_A_BASE):
            continue
        for kind in TYPES:
            if kind not in operator.dtypesIfCUDA:
                continue
            tolerance = {"rtol": 1e-2, "atol": 5e-2} if kind in (torch.float16, torch.bfloat16) else {}
            end = time.monotonic() + LONGEST_S
            try:
                samples = list(itertools.islice(operator.sample_inputs("cuda", kind, requires_grad=False), 200))
            except Exception as error:  # pylint: disable=broad-exception-caught
                outcomes["no sample"] += 1
                print(f"{name} {kind}: no sample: {type(error).__name__}: {error}".replace("\n", " ")[:200])
                continue
            for sample in samples[::max(1, len(samples) // given.samples)][:given.samples]:
                outcome, why = compared(operator, sample, outcome_of_kind(name), tolerance)
                outcomes[outcome] += 1
                if why:
                    print(f"{name} {kind}: {outcome}: {why}".replace("\n", " ")[:300], flush=True)
                if why or time.monotonic() > end:
                    break
    print(", ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common()))
    return 1 if outcomes["different"] + outcomes["error"] > 0 else 0


if __name__ == "__main__":
    sys.exit(main())
