"""A KernelBench module as an import sees it.

The check is written anew after src/kernelbench/eval.py (commit 423217d9): five inputs, torch.allclose with 1e-4 for float32.
"""
from __future__ import annotations

from pathlib import Path

import torch
from torch.utils.flop_counter import FlopCounterMode

from . import fills, shape_fit
from .imported_reference import KernelBench, as_list, redirected
from .source import Input, NotImportable, Output, Shaped, argument_name, extent, one_line, our_type, with_work

TOLERANCE = {torch.float32: 1e-4, torch.float16: 1e-2, torch.bfloat16: 1e-2}
LARGEST_SAMPLE = 1 << 24


class Source(Shaped):
    kind = "kernelbench"
    check = "torch.allclose with atol = rtol = 1e-4, five inputs"

    def __init__(self, folder: Path, file: str) -> None:
        self.original = KernelBench(folder, file)
        self.scalars: dict[str, float] = {}
        self.notes: list[str] = []
        try:
            first = self.numbers(self.original.own, raises=True)
        except MemoryError:
            raise
        except Exception as error:
            raise NotImportable(f"its shapes cannot be asked for: {type(error).__name__}: {one_line(error)}") from error
        assert first is not None
        self.original.ties = self.tied()
        self.more = {"ties": self.original.ties}
        followers = {other for others in self.original.ties.values() for other in others}
        self.fit = shape_fit.Fit(self.numbers, {name: value for name, value in self.original.own.items() if name not in followers})
        dimensions, self.texts = shape_fit.found_dimensions(self.fit, lambda key: key[0] in ("in", "weight"))
        if not dimensions:
            raise NotImportable("its sizes depend on no constant of the module")
        self.dimensions = {self.fit.letters[name]: name for name in dimensions}
        self.derived: dict[str, str] = {}
        self.own_sizes = [{name: self.original.own[name] for name in dimensions}]
        self.fixed: dict[str, int] = {}

    def tied(self) -> dict[str, list[str]]:
        """Constants with the same value of which none can be changed alone, but all together: the first, and the others."""
        alone = shape_fit.Fit(self.numbers, self.original.own)
        stuck = [name for name in self.original.own if not alone.changes(name)]
        found: dict[str, list[str]] = {}
        for name in stuck:
            equal = [one for one in stuck if self.original.own[one] == self.original.own[name]]
            if equal[0] == name and len(equal) > 1 and alone.at(**{one: 2 * self.original.own[name] for one in equal}) is not None:
                found[name] = equal[1:]
        return found

    def numbers(self, values: dict[str, int], raises: bool = False) -> shape_fit.Numbers | None:
        """Extents of all tensors, the ranges of whole inputs and the operations, without computing any."""
        try:
            with redirected("meta", False) as mode, FlopCounterMode(display=False) as counter:
                inputs = self.original.inputs(values, 0)
                model = self.original.model(values, 0)
                state = dict(model.named_parameters()) | dict(model.named_buffers())
                outputs = as_list(model(*inputs.values()))
        except Exception:
            if raises:
                raise
            return None
        found: shape_fit.Numbers = {}
        elements: dict[tuple, int] = {}
        for group, tensors in (("in", inputs), ("weight", state), ("out", {str(i): one for i, one in enumerate(outputs)})):
            for name, tensor in tensors.items():
                if isinstance(tensor, torch.Tensor):
                    elements[(group, name)] = tensor.numel()
                    found[(group, name, "rank")] = tensor.dim()
                    found |= {(group, name, axis): extent for axis, extent in enumerate(tensor.shape)}
        for tensor, low, high in mode.drawn:
            for name, one in inputs.items():
                if one is tensor:
                    found |= {("least", name): low, ("most", name): high - 1}
        return with_work(found, int(counter.get_total_flops()), elements)

    def real_inputs(self, values: dict[str, int], seed: int) -> dict[str, torch.Tensor]:
        with redirected("cpu", False):
            found = self.original.inputs(values, seed)
            model = self.original.model(values, seed)
        state = dict(model.named_parameters()) | dict(model.named_buffers())
        return {"in." + name: one for name, one in found.items()} | {"weight." + name: one.detach() for name, one in state.items()}

    def prepare(self, small: dict[str, int]) -> None:
        """Finds fills, and which weights count; `small` is a size that can be computed."""
        first, second = self.real_inputs(small, 1), self.real_inputs(small, 2)
        weights_at = self.weights_at_own_size(small)
        taken: set[str] = set()
        self.inputs: list[Input] = []
        numbers = self.fit.at(**small)
        assert numbers is not None
        for key, tensor in first.items():
            group, name = key.split(".", 1)
            if not isinstance(tensor, torch.Tensor):
                if group == "in" and isinstance(tensor, (int, float)):
                    self.scalars[name] = tensor
                    continue
                raise NotImportable(f"its input {name} is no tensor")
            our_type(tensor.dtype, name)
            most = None
            if ("most", name) in numbers and not tensor.is_floating_point():
                fill = {"kind": "whole", "low": numbers[("least", name)], "high": self.texts[("most", name)]}
                most = ("most", name)
            elif tensor.dtype is torch.bool:
                fill = {"kind": "whole", "low": 0, "high": 1}
            elif not tensor.is_floating_point():
                fill = {"kind": "constant", "value": int(tensor.flatten()[0])} if tensor.numel() == 1 else None
            else:
                samples = [first[key], second[key]] if group == "in" else [one[name] for one in weights_at]
                try:
                    fill = fills.float_fill([one.detach().double().numpy() for one in samples])
                except fills.NoFill as error:
                    raise NotImportable(f"no fill makes {name}: {error}") from error
            if fill is None:
                raise NotImportable(f"no fill makes {name}")
            rank = tensor.dim()
            self.inputs.append(Input(argument_name(name, taken), name, tensor.dtype, fill,
                                     [self.texts[(group, name, axis)] for axis in range(rank)], (group, name), most))
        self.keep_what_counts(small, first)
        outputs = self.answer(small, self.given(first), False)
        self.outputs = []
        for i, one in enumerate(outputs):
            name = argument_name("y" if len(outputs) == 1 else f"y{i}", taken)
            self.outputs.append(Output(name, one.dtype, [self.texts[("out", str(i), axis)] for axis in range(one.dim())], ("out", str(i))))

    def weights_at_own_size(self, small: dict[str, int]) -> list[dict[str, torch.Tensor]]:
        """Weights as they are initialised at the problem's own size, since their range depends on it, or else at a small one."""
        numbers = self.fit.at()
        assert numbers is not None
        elements = sum(extent(numbers, ("weight", name)) for name in {key[1] for key in numbers if key[0] == "weight"})
        found = []
        for seed in (1, 2):
            with redirected("cpu", False):
                model = self.original.model(self.original.own if elements <= LARGEST_SAMPLE else small, seed)
            found.append(dict(model.named_parameters()) | dict(model.named_buffers()))
        return found

    def given(self, tensors: dict) -> dict:
        return self.scalars | {one.original: tensors[f"{one.shape_of[0]}.{one.original}"] for one in self.inputs}

    def keep_what_counts(self, small: dict[str, int], tensors: dict) -> None:
        """Leaves out weights and buffers that change no answer, such as the running means of a batch norm that trains."""
        given = self.given(tensors)
        right = self.answer(small, given, True)
        kept = []
        for one in self.inputs:
            if one.shape_of[0] == "weight":
                value = given[one.original]
                changed = self.answer(small, given | {one.original: value * 2 + 1}, True)
                if all(torch.equal(a, b) for a, b in zip(changed, right)):
                    self.notes.append(f"{one.original} is left out: no answer depends on it")
                    continue
            kept.append(one)
        self.inputs = kept

    def answer(self, values: dict[str, int], given: dict, wide: bool, seed: int = 0) -> list[torch.Tensor]:
        return self.original.answer(values, given, wide, seed)

    def checks(self, answers: list[torch.Tensor], expected: list[torch.Tensor], _given: dict) -> dict[str, bool]:
        """Whether its check accepts answers: today's, and that of its versions 0 and 0.1, by which much was published."""
        return {name: bool(torch.allclose(expected[0].double(), answers[0].double(), atol=bound, rtol=bound))
                for name, bound in (("KernelBench", TOLERANCE.get(expected[0].dtype, 1e-4)), ("KernelBench 0.1", 1e-2))}

