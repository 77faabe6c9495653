"""A definition.json of FlashInfer-Trace or SOL-ExecBench as an import sees it.

The checks are written anew after flashinfer_bench/bench/utils.py (commit 8d2237d2: an element is wrong if its absolute
and its relative error are above 1e-2) and core/bench/correctness.py of SOL-ExecBench (commit 40e6ca78: 99 % of the elements have to be
within max_atol + max_rtol * |expected|; zeros are refused).
"""
from __future__ import annotations

import ast
import inspect
import math
import re
from fractions import Fraction
from pathlib import Path

import numpy
import torch
from torch.utils.flop_counter import FlopCounterMode

from . import fills, shape_fit
from .imported_reference import Definition, redirected
from .source import Input, NotImportable, Output, Shaped, argument_name, close, one_line, our_type, with_work

DTYPES = {"float32": torch.float32, "float64": torch.float64, "float16": torch.float16, "bfloat16": torch.bfloat16, "int8": torch.int8,
          "int16": torch.int16, "int32": torch.int32, "int64": torch.int64, "uint8": torch.uint8, "bool": torch.bool}
INDEX_WORDS = ("indptr", "indices", "index", "seqlens", "ids", "slots", "table", "positions")
OFFSET_WORDS = ("indptr", "cu_seqlens", "offsets")
UNSAID = 16
"""An axis without a workload."""
FAR = 10**7
BOUNDLESS_MOST = 1023


def names_in(text: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(text.strip())) if isinstance(node, ast.Name)}


def as_ours(text: str, letters: dict[str, str]) -> str:
    """Python's arithmetic on axes as an expression of problem.json. Throws KeyError and ValueError for anything else."""

    def write(node: ast.AST) -> str:
        if isinstance(node, ast.Expression):
            return write(node.body)
        if isinstance(node, ast.Name):
            return letters[node.id]
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return str(node.value)
        if isinstance(node, ast.BinOp):
            left, right = write(node.left), write(node.right)
            functions = {ast.FloorDiv: "div", ast.Mod: "mod"}
            if type(node.op) in functions:
                return f"{functions[type(node.op)]}({left}, {right})"
            signs = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Pow: "^"}
            return f"({left} {signs[type(node.op)]} {right})"
        raise ValueError(text)

    found = write(ast.parse(text.strip(), mode="eval"))
    return found[1:-1] if found.startswith("(") and found.count("(") == 1 else found


class Source(Shaped):
    kind = "definition"
    check = "FlashInfer-Bench: absolute or relative error at most 1e-2; SOL-ExecBench: the workload's tolerance in 99 % of the elements"

    def __init__(self, folder: Path, file: str, workloads: list[dict] | None = None) -> None:
        self.original = Definition(folder, file)
        self.json = self.original.json
        self.workloads = workloads or []
        self.fixed: dict[str, int] = {}
        self.notes: list[str] = []
        self.scalars: dict[str, float] = {}
        self.outputs: list[Output] = []
        self.failure = ""  # of the reference, when it last did not take an input
        self.read_axes()
        self.own_sizes = self.sizes()
        self.choose_arguments()
        self.fit = shape_fit.Fit(self.numbers, self.own_sizes[0])
        self.fit.letters = self.letters
        if self.numbers(self.own_sizes[0]) is None:
            raise NotImportable("its axes have no values that fit together")

    def read_axes(self) -> None:
        axes = self.json["axes"]
        self.letters = shape_fit.letters_of(list(axes))
        self.formulas: dict[str, str] = {}
        variables = []
        equal = {}
        for one in self.json.get("constraints") or []:
            found = re.fullmatch(r"\s*(\w+)\s*==\s*([\w\s+*/%()-]+)", one)
            if found and found[1] in axes and not re.search(r"\bitem\b|\[", found[2]):
                equal[found[1]] = found[2]
        for name in axes:
            base, plus, one = name.partition("_plus_1")
            if plus and not one and base in axes:
                equal.setdefault(name, f"{base} + 1")
        for name, text in [*equal.items()]:  # hidden_size == 2 * half with a constant hidden_size says what half is
            found = re.fullmatch(r"\s*(\d+)\s*\*\s*(\w+)\s*", text)
            if axes[name]["type"] == "const" and found and axes.get(found[2], {}).get("type") == "var":
                equal[found[2]] = f"{name} // {found[1]}"
        for name, one in axes.items():
            if one["type"] == "const":
                if not isinstance(one.get("value"), int):
                    raise NotImportable(f"its constant axis {name} has no value")
                self.formulas[name] = str(one["value"])
            elif one["type"] == "expr" or "expression" in one:
                self.formulas[name] = one["expression"]
            elif name in equal and names_in(equal[name]) <= set(axes):
                self.formulas[name] = equal[name]
            else:
                variables.append(name)
        if not variables:
            raise NotImportable("none of its axes is a variable, so it has but one size")
        self.dimensions = {self.letters[name]: name for name in variables}
        self.derived = {}
        known = set(variables)
        left = dict(self.formulas)
        while left:
            ready = [name for name, text in left.items() if names_in(text) <= known]
            if not ready:
                raise NotImportable(f"its axis {next(iter(left))} depends on what is no axis")
            for name in ready:
                self.derived[self.letters[name]] = as_ours(left.pop(name), self.letters)
                known.add(name)
        self.order = [name for letter in self.derived for name in self.formulas if self.letters[name] == letter]

    def sizes(self) -> list[dict[str, int]]:
        names = list(self.dimensions.values())
        found = [{name: one["axes"][name] for name in names} for one in self.workloads if set(names) <= set(one["axes"])]
        if found:
            return list({tuple(one.items()): one for one in found}.values())
        self.notes.append("no workload came with it: its sizes are the import's")
        return [{name: UNSAID for name in names}]

    def axis_values(self, values: dict[str, int]) -> dict[str, int]:
        """All axes; throws where an expression has no value."""
        known = dict(values)
        for name in self.order:
            known[name] = int(eval(self.formulas[name].strip(), {"__builtins__": {}}, known))
        return known

    def choose_arguments(self) -> None:
        """Which inputs the reference gets. Numbers are scalars with the first workload's value."""
        parameters = dict(inspect.signature(self.original.run).parameters)
        required = [name for name, one in self.json["inputs"].items() if not one.get("optional")]
        if any(name not in parameters for name in required) and len(self.json["inputs"]) <= len(parameters):
            parameters = dict(zip(self.json["inputs"], parameters.values()))  # called by places instead of names
        said = self.workloads[0]["inputs"] if self.workloads else {}
        self.tensors: dict[str, torch.dtype] = {}
        outputs = self.json["outputs"]
        for name, one in self.json["inputs"].items():
            has_default = name in parameters and parameters[name].default is not inspect.Parameter.empty
            if name not in parameters:
                if not one.get("optional") and one["shape"] is not None:
                    raise NotImportable(f"its reference has no parameter {name}")
                continue
            value = said.get(name, {})
            if one["shape"] is None or value.get("type") == "scalar":
                if value.get("type") == "scalar":
                    self.scalars[name] = value["value"]
                elif not has_default:
                    self.scalars[name] = self.usual_number(name)
                continue
            if has_default and one.get("optional") and not self.workloads:
                continue
            kind = one["dtype"]
            if kind == "unknown":
                kind = "int32" if any(word in name for word in INDEX_WORDS) else outputs.get(name, {}).get("dtype", "unknown")
            if kind not in DTYPES:
                raise NotImportable(f"{name} is of {kind}, a type that problem.json does not have" if kind != "unknown"
                                    else f"the type of {name} is not said")
            self.tensors[name] = DTYPES[kind]
        for name, one in outputs.items():
            if one["dtype"] not in DTYPES:
                raise NotImportable(f"{name} is of {one['dtype']}, a type that problem.json does not have")
        if any(isinstance(one, bool) for one in self.scalars.values()):
            self.scalars = {name: int(one) if isinstance(one, bool) else one for name, one in self.scalars.items()}

    def usual_number(self, name: str) -> float:
        constants = {key: int(text) for key, text in self.formulas.items() if text.isdigit()}
        if name in constants:
            return constants[name]
        heads = [constants[one] for one in constants if one.startswith(("head_dim", "head_size"))]
        if "scale" in name and heads:
            return 1 / math.sqrt(heads[0])
        if "eps" in name:
            return 1e-6
        raise NotImportable(f"no workload says the value of {name}")

    def shape(self, group: str, name: str) -> list[str]:
        return self.json["inputs" if group == "in" else "outputs"][name]["shape"] or []

    def extents(self, group: str, name: str) -> list[str]:
        return [self.letters[str(one)] if str(one) in self.letters else as_ours(str(one), self.letters) for one in self.shape(group, name)]

    def numbers(self, values: dict[str, int]) -> shape_fit.Numbers | None:
        found: shape_fit.Numbers = {}
        elements: dict[tuple, int] = {}
        try:
            axes = self.axis_values(values)
            outputs = [one.shape_of[1] for one in self.outputs] if self.outputs else self.json["outputs"]
            for group, names in (("in", self.tensors), ("out", outputs)):
                for name in names:
                    shape = [int(eval(str(one), {"__builtins__": {}}, axes)) for one in self.shape(group, name)]
                    if any(one < 1 for one in shape):
                        return None
                    found[(group, name, "rank")] = len(shape)
                    found |= {(group, name, axis): extent for axis, extent in enumerate(shape)}
                    elements[(group, name)] = math.prod(shape)
            for name, most in getattr(self, "mosts", {}).items():
                found[("most", name)] = int(eval(most, {"__builtins__": {}}, axes))
        except (ArithmeticError, NameError, ValueError, KeyError) as error:
            raise NotImportable(f"its shapes cannot be computed: {error}") from error
        return with_work(found, 0, elements)

    def prepare(self, small: dict[str, int]) -> None:
        self.mosts: dict[str, str] = {}
        self.fills: dict[str, dict] = {}
        self.customs = self.custom_samples(small)
        for name, dtype in self.tensors.items():
            our_type(dtype, name)
            if dtype.is_floating_point:
                self.fills[name] = self.float_fill(name)
            elif dtype is torch.bool or "mask" in name:
                self.fills[name] = {"kind": "whole", "low": 0, "high": 1}
        self.fit.asked.clear()
        self.find_whole_fills(small)
        self.fit.asked.clear()
        taken: set[str] = set()
        self.inputs = []
        for name, dtype in self.tensors.items():
            fill = dict(self.fills[name])
            most = None
            if name in self.mosts:
                fill["last" if fill["kind"] == "offsets" else "high"] = as_ours(self.mosts[name], self.letters)
                most = ("most", name)
            self.inputs.append(Input(argument_name(name, taken), name, dtype, fill, self.extents("in", name), ("in", name), most))
        answers = self.answer(small, self.values(small), False)
        names = list(self.json["outputs"])
        if len(answers) > len(names):
            raise NotImportable(f"its reference returns {len(answers)} tensors, and it has {len(names)} outputs")
        if len(answers) < len(names):
            self.notes.append(f"its reference does not return {', '.join(names[len(answers):])}, so no stage does")
        numbers = self.fit.at(**small)
        assert numbers is not None
        outputs = []
        for name, one in zip(names, answers):
            expected = [numbers[("out", name, axis)] for axis in range(numbers[("out", name, "rank")])]
            if list(one.shape) != expected:
                raise NotImportable(f"its reference returns {name} with the shape {list(one.shape)}, and its definition says {expected}")
            dtype = DTYPES[self.json["outputs"][name]["dtype"]]
            outputs.append(Output(argument_name(name + ("_out" if name in self.tensors else ""), taken), dtype,
                                  self.extents("out", name), ("out", name)))
        self.outputs = outputs
        self.fit.asked.clear()

    def custom_samples(self, small: dict[str, int]) -> list[dict]:
        entry = self.json.get("custom_inputs_entrypoint")
        if not entry:
            return []
        found = []
        for seed in (1, 2):
            with redirected("cpu", False):
                torch.manual_seed(seed)
                found.append(self.original.module[entry](self.axis_values(small) | self.scalars, torch.device("cpu")))
        return found

    def float_fill(self, name: str) -> dict:
        """Normal numbers, as both sets make them; a weight's are smaller by the root of its rows' length."""
        if self.customs and name in self.customs[0]:
            try:
                return fills.float_fill([one[name].double().numpy() for one in self.customs])
            except fills.NoFill as error:
                raise NotImportable(f"no fill makes {name}: {error}") from error
        shape = self.shape("in", name)
        if "probs" in name:
            return {"kind": "shares"}
        if re.search(r"(^|_)(rstd|std|variance|var)\d*$", name):
            return {"kind": "uniform", "low": 0.1, "high": 2}
        if re.search(r"(^|_)(cos|sin)(_|$)", name):
            return {"kind": "uniform", "low": -1, "high": 1}
        if re.search(r"(^|_)(top|min)_p(_|$)", name):
            return {"kind": "uniform", "low": 0.3, "high": 0.9}
        if name == "A_log":
            return {"kind": "uniform", "low": -5, "high": -1}
        if "norm" in name and name.endswith("weight"):
            return {"kind": "normal", "mean": 1, "deviation": 0.1}
        if name.endswith(("weight", "weights", "proj")) and len(shape) >= 2:
            axes = self.axis_values(self.own_sizes[0])
            length = int(eval(str(shape[-1]), {"__builtins__": {}}, axes))
            return {"kind": "normal", "mean": 0, "deviation": float(f"{1 / math.sqrt(length):.2g}")}
        return {"kind": "normal", "mean": 0, "deviation": 1}

    def values(self, at: dict[str, int], replaced: dict[str, torch.Tensor] | None = None) -> dict:
        """An input by the fills that are known; tensors without one are 0."""
        random = numpy.random.default_rng(5)
        numbers = self.numbers(at)
        assert numbers is not None
        found: dict = {}
        for name in self.json["inputs"]:
            if name in self.scalars:
                found[name] = self.scalars[name]
            if name not in self.tensors:
                continue
            shape = tuple(numbers[("in", name, axis)] for axis in range(numbers[("in", name, "rank")]))
            fill = self.fills.get(name, {"kind": "constant", "value": 0})
            array = fills.drawn(fill, shape, random, numbers.get(("most", name)))
            found[name] = torch.from_numpy(numpy.asarray(array)).to(self.tensors[name])
        return found | (replaced or {})

    def works(self, at: dict[str, int], name: str, value: int) -> bool:
        """Whether the reference takes an input that holds `value` everywhere."""
        given = self.values(at)
        given[name] = torch.full_like(given[name], value)
        try:
            self.answer(at, given, False)
        except Exception as error:
            self.failure = f"{type(error).__name__}: {one_line(error)}"
            return False
        return True

    def find_whole_fills(self, small: dict[str, int]) -> None:
        """Offsets by the definition's constraints and names; the range of indices by trying which values the reference takes."""
        whole = [name for name in self.tensors if name not in self.fills]
        for name in whole:
            if self.customs and name in self.customs[0]:
                self.fills[name] = self.custom_whole_fill(name, small)
                continue
            for one in self.json.get("constraints") or []:
                found = re.fullmatch(rf"\s*(\w+)\s*==\s*{re.escape(name)}\[-1\](\.item\(\))?\s*", one)
                if found and found[1] in self.json["axes"]:
                    self.offsets(name, found[1])
        for name in whole:
            if name not in self.fills and any(word in name for word in OFFSET_WORDS):
                raise NotImportable(f"nothing says where the offsets {name} end")
        apart = {name: value + 2 * i for i, (name, value) in enumerate(small.items())}
        for name in whole:
            if name not in self.fills:
                self.find_range(name, next((at for at in (apart, small) if self.works(at, name, 0)), small))

    def offsets(self, name: str, last: str) -> None:
        self.fills[name] = {"kind": "offsets"}
        self.mosts[name] = last

    def find_range(self, name: str, at: dict[str, int]) -> None:
        if self.works(at, name, FAR):
            self.fills[name] = {"kind": "whole", "low": 0, "high": BOUNDLESS_MOST}
            self.notes.append(f"{name} may hold any number: 0 to {BOUNDLESS_MOST} is the import's choice")
            return
        if not self.works(at, name, 0):
            raise NotImportable(f"its reference does not take {name} = 0: {self.failure}")
        axes = self.axis_values(at)
        ranked = sorted(axes, key=lambda one: -sum(part in one for part in re.split("_", name)))
        tried = [*ranked, *(f"{a} * {b}" for a in axes for b in axes if a < b)]
        for bound in tried:
            value = int(eval(bound, {"__builtins__": {}}, axes))
            if self.works(at, name, value - 1) and not self.works(at, name, value):
                self.fills[name] = {"kind": "whole", "low": 0}
                self.mosts[name] = f"{bound} - 1"
                return
        raise NotImportable(f"no axis is the range of {name}")

    def custom_whole_fill(self, name: str, small: dict[str, int]) -> dict:
        arrays = [one[name].numpy() for one in self.customs]
        axes = self.axis_values(small)
        first = arrays[0]
        if first.ndim == 1 and first[0] == 0 and len(first) > 1 and (numpy.diff(first) >= 0).all():
            for axis, value in axes.items():
                if value == first[-1] and axis not in self.shape("in", name):
                    self.mosts[name] = axis
                    return {"kind": "offsets"}
        raise NotImportable(f"its own code makes {name}, by a rule that no fill has")

    def answer(self, values: dict[str, int], given: dict, wide: bool, seed: int = 0) -> list[torch.Tensor]:
        found = self.original.answer(values, given, wide, seed)
        if wide:
            return found
        kinds = [DTYPES[one["dtype"]] for one in self.json["outputs"].values()]
        return [one.to(kind) for one, kind in zip(found, kinds)] if len(found) <= len(kinds) else found

    def work_text(self, names: list[str], output: Output | Input | None) -> str | None:
        """Counted on the host at small sizes, if the reference's loops do not depend on the input."""
        if output is not None:
            return None

        def counted(values: dict[str, int]) -> int:
            with FlopCounterMode(display=False) as counter:
                self.answer(values, self.values(values), False)
            return int(counter.get_total_flops())

        try:
            base = counted(self.small)
            powers = {name: math.log2(counted(self.small | {name: 2 * self.small[name]}) / base) if base else 0 for name in names}
            doubled = counted({name: 2 * value for name, value in self.small.items()}) if base else 0
        except Exception:  # the axes depend on each other
            return None
        if not base or any(power not in (0, 1, 2, 3) for power in powers.values()) or doubled != base * 2 ** sum(powers.values()):
            return None
        factor = Fraction(base, math.prod(self.small[name] ** int(power) for name, power in powers.items()))
        parts = [self.letters[name] for name, power in powers.items() for _ in range(int(power))]
        return " * ".join(([str(factor.numerator)] if factor.numerator > 1 else []) + parts) + (
            f" / {factor.denominator}" if factor.denominator > 1 else "")

    def checks(self, answers: list[torch.Tensor], expected: list[torch.Tensor], _given: dict) -> dict[str, bool]:
        return {"FlashInfer-Bench": all(by_flashinfer(*pair) for pair in zip(answers, expected)),
                "SOL-ExecBench": all(by_sol(answer, right, self.allowed(name)) for answer, right, name in
                                     zip(answers, expected, self.json["outputs"], strict=False))}

    def allowed(self, output: str) -> dict:
        if not self.workloads:
            return {}
        first = self.workloads[0]
        checks = [one for one in first.get("checks") or [] if one.get("output") == output and one.get("type", "numeric") == "numeric"]
        return checks[0] if checks else first.get("tolerance") or {}


def by_flashinfer(answer: torch.Tensor, expected: torch.Tensor) -> bool:
    answer, expected = answer.double(), expected.double()
    if not (torch.isfinite(answer).all() and torch.isfinite(expected).all()):
        return False
    error = (answer - expected).abs()
    return not bool(((error > 1e-2) & (error / (expected.abs() + 1e-8) > 1e-2)).any())


def by_sol(answer: torch.Tensor, expected: torch.Tensor, allowed: dict) -> bool:
    if not (torch.isfinite(answer.double()).all() and torch.isfinite(expected.double()).all()):
        return False
    if expected.double().norm() > 0 and answer.double().norm() == 0:
        return False
    absolute, relative = allowed.get("max_atol") or 1e-2, allowed.get("max_rtol") or 1e-2
    share = allowed.get("required_matched_ratio")
    if close(answer, expected, absolute, relative).double().mean() < (0.99 if share is None else share):
        return False
    cap = allowed.get("max_error_cap")
    return cap is None or bool((answer.double() - expected.double()).abs().max() <= cap)
