"""Runs the original of an imported problem in float64 by torch on the CPU. A copy lies in each imported folder, beside reference.py."""
from __future__ import annotations

import ast
import contextlib
import importlib.util
import inspect
import json
import sys
import types
from pathlib import Path

import numpy
import torch
from torch.overrides import TorchFunctionMode

SMALL_FLOATS = (torch.float16, torch.bfloat16, torch.float32)
CASTS = {torch.Tensor.float, torch.Tensor.half, torch.Tensor.bfloat16}
TO_DEVICES = {torch.Tensor.cuda, torch.Tensor.cpu}


class Redirected(TorchFunctionMode):
    """Code that names a GPU runs on `device`; code that names smaller floats computes in float64 if `wide`."""

    def __init__(self, device: str = "cpu", wide: bool = False) -> None:
        super().__init__()
        self.device = device
        self.wide = wide
        self.drawn: list[tuple[torch.Tensor, int, int]] = []  # by randint: the tensor, its least, its most + 1
        self.empty: list[torch.Tensor] = []

    def replaced(self, value):
        if isinstance(value, str) and value.split(":")[0] == "cuda":
            return self.device
        if isinstance(value, torch.device) and (value.type == "cuda" or self.device == "meta"):
            return torch.device(self.device)
        if self.wide and isinstance(value, torch.dtype) and value in SMALL_FLOATS:
            return torch.float64
        return value

    def __torch_function__(self, function, _types, args=(), kwargs=None):
        kwargs = {name: self.replaced(value) for name, value in (kwargs or {}).items()}
        if function in TO_DEVICES:
            return args[0]
        if self.wide and function in CASTS:
            return args[0].double()
        if self.device == "meta":
            kwargs.pop("generator", None)
        result = function(*(self.replaced(one) for one in args), **kwargs)
        if function is torch.randint:
            numbers = [one for one in args if isinstance(one, int)]
            low = kwargs.get("low", numbers[0] if len(numbers) > 1 else 0)
            self.drawn.append((result, low, kwargs.get("high", numbers[-1] if numbers else 0)))
        if function in (torch.empty, torch.empty_like):
            self.empty.append(result)
        name = getattr(function, "__name__", "")
        if args and (name == "__setitem__" or name.endswith("_") and not name.endswith("__")):  # it was written to
            self.empty = [one for one in self.empty if one is not args[0]]
        return result


@contextlib.contextmanager
def default_float(dtype: torch.dtype):
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


class HostGenerator(torch.Generator):
    """A generator of the CPU, whatever device it is asked for."""

    def __new__(cls, *_args, **_kwargs):
        return super().__new__(cls, "cpu")

    def __init__(self, *_args, **_kwargs) -> None:
        pass


@contextlib.contextmanager
def redirected(device: str, wide: bool):
    """All that the originals expect of a GPU, without one."""
    generator = torch.Generator
    synchronize = torch.cuda.synchronize
    torch.Generator = HostGenerator
    torch.cuda.synchronize = lambda *_, **__: None
    mode = Redirected(device, wide)
    where = torch.device("meta") if device == "meta" else contextlib.nullcontext()
    try:
        with default_float(torch.float64 if wide else torch.float32), torch.no_grad(), where, mode:
            yield mode
    finally:
        torch.Generator = generator
        torch.cuda.synchronize = synchronize


def widened(given: dict, wide: bool) -> dict:
    def copied(one):
        if not isinstance(one, torch.Tensor):
            return one
        return one.double().clone() if wide and one.is_floating_point() else one.clone()  # the original may write to it

    return {name: copied(one) for name, one in given.items()}


def as_list(result, names: list[str] | None = None) -> list[torch.Tensor]:
    if isinstance(result, dict):
        result = [result[name] for name in names] if names else list(result.values())
    found = list(result) if isinstance(result, (tuple, list)) else [result]
    return [one.detach() if isinstance(one, torch.Tensor) else torch.as_tensor(one) for one in found]


class Constants:
    """The whole numbers that a module's top level gives names to, and the module with others in their place."""

    def __init__(self, source: str, file: str) -> None:
        self.file = file
        self.tree = ast.parse(source, file)
        self.values: dict[str, int] = {}
        self.places: dict[str, tuple[ast.AST, str, int | None]] = {}
        for node in self.tree.body:
            if isinstance(node, ast.Assign):
                self._note(node.targets[0], node, "value")

    def _note(self, target: ast.expr, owner: ast.AST, field: str, index: int | None = None) -> None:
        value = getattr(owner, field)
        value = value if index is None else value[index]
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            for i, one in enumerate(target.elts):
                self._note(one, value, "elts", i)
        elif isinstance(target, ast.Name):
            self.places = {name: place for name, place in self.places.items() if name.split(".")[0] != target.id}
            if isinstance(value, (ast.Tuple, ast.List)):
                for i, one in enumerate(value.elts):
                    self._keep(f"{target.id}.{i}", one, (value, "elts", i))
            else:
                self._keep(target.id, value, (owner, field, index))
        self.values = {name: value for name, value in self.values.items() if name in self.places}

    def _keep(self, name: str, node: ast.expr, place: tuple[ast.AST, str, int | None]) -> None:
        plain = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Expression)
        if not all(isinstance(one, plain) for one in ast.walk(node)):
            return
        value = eval(compile(ast.Expression(node), self.file, "eval"), {"__builtins__": {}})  # numbers only, as checked above
        if type(value) is int and value > 0:
            self.places[name] = place
            self.values[name] = value

    def module(self, values: dict[str, int]) -> dict:
        for name, value in values.items():
            owner, field, index = self.places[name]
            node = ast.copy_location(ast.Constant(value), owner if index is None else getattr(owner, field)[index])
            if index is None:
                setattr(owner, field, node)
            else:
                getattr(owner, field)[index] = node
        name = "imported_original"
        module = types.ModuleType(name)
        module.__file__ = self.file
        sys.modules[name] = module
        exec(compile(ast.fix_missing_locations(self.tree), self.file, "exec"), module.__dict__)
        return module.__dict__


class KernelBench:
    """A module with `Model`, `get_inputs` and `get_init_inputs`."""

    def __init__(self, folder: Path, file: str, ties: dict[str, list[str]] | None = None) -> None:
        path = Path(folder) / file
        self.constants = Constants(path.read_text(encoding="utf-8"), str(path))
        self.own = dict(self.constants.values)
        self.ties = ties or {}

    def values(self, changed: dict[str, int]) -> dict[str, int]:
        """All constants; those that only work if they are equal get the value of the first of them."""
        found = self.own | changed
        return found | {other: found[name] for name, others in self.ties.items() for other in others}

    def arguments(self, module: dict) -> list[str]:
        kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        return [name for name, one in inspect.signature(module["Model"].forward).parameters.items() if one.kind in kinds][1:]

    def inputs(self, changed: dict[str, int], seed: int) -> dict:
        module = self.constants.module(self.values(changed))
        torch.manual_seed(seed)
        found = module["get_inputs"]()
        return dict(zip(self.arguments(module), found))

    def model(self, changed: dict[str, int], seed: int) -> torch.nn.Module:
        module = self.constants.module(self.values(changed))
        torch.manual_seed(seed)
        return module["Model"](*module["get_init_inputs"]())

    def answer(self, changed: dict[str, int], given: dict, wide: bool, seed: int = 0) -> list[torch.Tensor]:
        with redirected("cpu", wide):
            given = widened(given, wide)
            model = self.model(changed, seed)
            state = dict(model.named_parameters()) | dict(model.named_buffers())
            for name, value in given.items():
                if name in state:
                    state[name].copy_(value)
            names = list(inspect.signature(model.forward).parameters)
            return as_list(model(*(given[name] for name in names if name in given)))


class Definition:
    """A definition.json of FlashInfer-Trace or SOL-ExecBench: `run` in the text of its reference."""

    def __init__(self, folder: Path, file: str) -> None:
        path = Path(folder) / file
        self.json = json.loads(path.read_text(encoding="utf-8"))
        self.module: dict = {"__name__": "imported_original", "__file__": str(path)}
        source = self.json.get("reference")
        if not source:
            raise ValueError("the definition has no reference")
        exec(compile(source, str(path), "exec"), self.module)
        functions = {node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}
        named = [name for name in functions if name == "run"] or [name for name in functions if name.endswith("_reference")]
        if len(named) != 1:
            raise ValueError("its reference has no function run")
        self.run = self.module[named[0]]

    def answer(self, _changed: dict[str, int], given: dict, wide: bool, seed: int = 0) -> list[torch.Tensor]:
        with redirected("cpu", wide), torch.enable_grad():  # some ask autograd for the answer
            torch.manual_seed(seed)
            given = widened(given, wide)
            ordered = {name: given[name] for name in self.json["inputs"] if name in given}
            known = inspect.signature(self.run).parameters
            result = self.run(**ordered) if all(name in known for name in ordered) else self.run(*ordered.values())
            return as_list(result, list(self.json["outputs"]))


class GpuMode:
    """The reference.py of a task.yml: `generate_input` and `ref_kernel`."""

    def __init__(self, folder: Path, file: str) -> None:
        path = Path(folder) / file
        sys.path.insert(0, str(path.parent))
        with redirected("cpu", False):
            self.module = load_beside(path)

    def data(self, changed: dict[str, int], seed: int) -> list:
        takes_seed = "seed" in inspect.signature(self.module.generate_input).parameters
        found = self.module.generate_input(**changed, **({"seed": seed} if takes_seed else {}))
        return list(found) if isinstance(found, (tuple, list)) else [found]

    def answer(self, changed: dict[str, int], given: dict, wide: bool, seed: int = 0) -> list[torch.Tensor]:
        """`given` has inputs by their places; what is at the other places the original makes itself."""
        with redirected("cpu", wide):
            data = self.data(changed, seed)
            for place, value in widened(given, wide).items():
                data[int(place)] = value
            return as_list(self.module.ref_kernel(tuple(data) if len(data) > 1 else data[0]))


def load_beside(path: Path):
    """Loads a module that is called reference under another name: the folder's own reference.py has that one."""
    spec = importlib.util.spec_from_file_location("imported_original", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["imported_original"] = module
    spec.loader.exec_module(module)
    return module


KINDS = {"kernelbench": KernelBench, "definition": Definition, "gpu-mode": GpuMode}
KEPT = {"int8": torch.int8, "int16": torch.int16, "int32": torch.int32, "int64": torch.int64, "uint8": torch.uint8, "bool": torch.bool}


class Imported:
    """The function `reference` of a folder. `inputs` are pairs of an argument's name and of the original's, each with the
    type that the original takes if it is whole; `numbers` are what the original is given besides, `fixed` its constants that
    are no dimensions, `more` what else its kind needs."""

    def __init__(self, file: str, kind: str, original: str, dimensions: dict[str, str], inputs: list, outputs: list[str],
                 numbers: dict, fixed: dict, more: dict) -> None:
        self.original = KINDS[kind](Path(file).resolve().parent / "original", original, **more)
        self.dimensions = dimensions
        self.inputs = inputs
        self.outputs = outputs
        self.numbers = numbers
        self.fixed = fixed

    def reference(self, arguments: dict) -> dict:
        changed = self.fixed | {original: int(arguments[letter]) for letter, original in self.dimensions.items()}
        given = dict(self.numbers)
        for name, original, kept in self.inputs:
            if kept == "number":
                given[original] = arguments[name]
                continue
            tensor = torch.from_numpy(numpy.ascontiguousarray(arguments[name]))
            given[original] = tensor.to(KEPT[kept]) if kept in KEPT else tensor
        found = self.original.answer(changed, given, wide=True)
        return {name: one.to(torch.float64 if one.is_floating_point() else torch.int64).numpy()
                for name, one in zip(self.outputs, found, strict=True)}
