"""A task.yml of GPU MODE as an import sees it. `generate_input`, `ref_kernel` and `check_implementation` of its reference.py are run
as they are."""
from __future__ import annotations

from pathlib import Path

import torch
from torch.utils.flop_counter import FlopCounterMode

from . import fills, shape_fit
from .imported_reference import GpuMode, as_list, redirected
from .source import Input, NotImportable, Output, Shaped, argument_name, one_line, our_type, with_work


class Source(Shaped):
    kind = "gpu-mode"
    check = "check_implementation of its reference.py"

    def __init__(self, folder: Path, file: str, sizes: list[dict] | None = None) -> None:
        self.notes: list[str] = []
        self.scalars: dict[str, float] = {}
        self.derived: dict[str, str] = {}
        self.original = GpuMode(folder, file)
        missing = [name for name in ("generate_input", "ref_kernel", "check_implementation") if not hasattr(self.original.module, name)]
        if missing:
            raise NotImportable(f"its reference.py has no {' and no '.join(missing)}")
        sizes = [{name: value for name, value in one.items() if name != "seed"} for one in sizes or []]
        if not sizes:
            raise NotImportable("its task.yml has no tests")
        whole = {name: value for name, value in sizes[0].items() if type(value) is int and value > 0}
        self.fixed = {name: value for name, value in sizes[0].items() if name not in whole}
        self.own: dict = whole
        self.meta = True
        try:
            first = self.numbers(whole, raises=True)
        except Exception:  # some generators look at values, which are not there without computing
            self.meta = False
            try:
                first = self.numbers(whole, raises=True)
            except Exception as error:
                raise NotImportable(f"its generate_input fails: {type(error).__name__}: {one_line(error)}") from error
        assert first is not None
        self.fit = shape_fit.Fit(self.numbers, whole)
        dimensions, self.texts = shape_fit.found_dimensions(self.fit, lambda key: key[0] == "in")
        if not dimensions:
            raise NotImportable("the shapes of its inputs depend on none of its arguments")
        for name in set(whole) - set(dimensions):
            self.fixed[name] = whole[name]
            self.notes.append(f"{name} keeps its first value, {whole[name]}: no shape depends on it")
        self.dimensions = {self.fit.letters[name]: name for name in dimensions}
        found = [{name: one[name] for name in dimensions} for one in sizes if all(type(one.get(name)) is int for name in dimensions)]
        self.own_sizes = list({tuple(one.items()): one for one in found}.values())
        self.fit = shape_fit.Fit(lambda values: self.numbers(whole | values), self.own_sizes[0])
        self.fit.letters = {name: letter for letter, name in self.dimensions.items()}

    def keywords(self, values: dict[str, int]) -> dict:
        return self.fixed | self.own | values

    def numbers(self, values: dict[str, int], raises: bool = False) -> shape_fit.Numbers | None:
        try:
            with redirected("meta" if self.meta else "cpu", False) as mode, FlopCounterMode(display=False) as counter:
                data = self.original.data(self.keywords(values), 1)
                outputs = as_list(self.original.module.ref_kernel(tuple(data) if len(data) > 1 else data[0]))
        except Exception:
            if raises:
                raise
            return None
        found: shape_fit.Numbers = {}
        elements: dict[tuple, int] = {}
        for group, tensors in (("in", data), ("out", outputs)):
            for place, tensor in enumerate(tensors):
                if isinstance(tensor, torch.Tensor):
                    name = str(place)
                    elements[(group, name)] = tensor.numel()
                    found[(group, name, "rank")] = tensor.dim()
                    found |= {(group, name, axis): extent for axis, extent in enumerate(tensor.shape)}
        for tensor, low, high in mode.drawn:
            for place, one in enumerate(data):
                if one is tensor:
                    found |= {("least", str(place)): low, ("most", str(place)): high - 1}
        return with_work(found, int(counter.get_total_flops()), elements)

    def generated(self, values: dict[str, int], seed: int) -> tuple[list, list[int]]:
        """An input, and the places of what is only room for the result."""
        with redirected("cpu", False) as mode:
            data = self.original.data(self.keywords(values), seed)
            room = {one.data_ptr() for one in mode.empty}
        return data, [i for i, one in enumerate(data) if isinstance(one, torch.Tensor) and one.data_ptr() in room]

    def prepare(self, small: dict[str, int]) -> None:
        (first, empty), (second, _) = self.generated(small, 1), self.generated(small, 2)
        numbers = self.fit.at(**small)
        assert numbers is not None
        taken: set[str] = set()
        self.inputs = []
        for place, tensor in enumerate(first):
            name = str(place)
            if place in empty:
                continue
            if not isinstance(tensor, torch.Tensor):
                if type(tensor) in (int, float) and tensor == second[place]:
                    self.notes.append(f"what it is given at {place} stays {tensor}")
                    continue
                raise NotImportable(f"what it is given at {place} is a {type(tensor).__name__}, no tensor")
            our_type(tensor.dtype, f"what it is given at {place}")
            most = None
            if tensor.dtype.is_floating_point:
                try:
                    fill = fills.float_fill([tensor.double().numpy(), second[place].double().numpy()])
                except fills.NoFill as error:
                    raise NotImportable(f"no fill makes what it is given at {place}: {error}") from error
            elif ("most", name) in numbers:
                fill = {"kind": "whole", "low": numbers[("least", name)], "high": self.texts[("most", name)]}
                most = ("most", name)
            elif tensor.dtype is torch.bool:
                fill = {"kind": "whole", "low": 0, "high": 1}
            else:
                raise NotImportable(f"no fill makes what it is given at {place}")
            self.inputs.append(Input(argument_name("data" if len(first) - len(empty) == 1 else f"data{place}", taken), name, tensor.dtype,
                                     fill, [self.texts[("in", name, axis)] for axis in range(tensor.dim())], ("in", name), most))
        if not self.inputs:
            raise NotImportable("it has no input that is a tensor")
        outputs = self.answer(small, {one.original: first[int(one.original)] for one in self.inputs}, False)
        self.outputs = []
        for i, one in enumerate(outputs):
            our_type(one.dtype, "its result")
            self.outputs.append(Output(argument_name("y" if len(outputs) == 1 else f"y{i}", taken), one.dtype,
                                       [self.texts[("out", str(i), axis)] for axis in range(one.dim())], ("out", str(i))))

    def answer(self, values: dict[str, int], given: dict, wide: bool, seed: int = 0) -> list[torch.Tensor]:
        return self.original.answer(self.keywords(values), given, wide, seed)

    def checks(self, answers: list[torch.Tensor], expected: list[torch.Tensor], given: dict) -> dict[str, bool]:
        with redirected("cpu", False):
            data = self.original.data(self.keywords(self.small), 0)
            for place, value in given.items():
                data[int(place)] = value.clone()
            output = [one.clone() for one in answers]
            found = self.original.module.check_implementation(tuple(data) if len(data) > 1 else data[0],
                                                              output[0] if len(output) == 1 else tuple(output))
        return {"GPU MODE": bool(found[0] if isinstance(found, tuple) else not found if isinstance(found, (str, list)) else found)}
