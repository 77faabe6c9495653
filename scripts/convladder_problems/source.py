"""How an import sees a problem, whatever its kind: its inputs and outputs, its own sizes, answers and check."""
from __future__ import annotations

import dataclasses
import keyword
import math
import re

import torch

TYPES = {torch.float32: "f32", torch.float64: "f64", torch.float16: "f16", torch.bfloat16: "bf16", torch.int8: "i8",
         torch.int16: "i16", torch.int32: "i32", torch.int64: "i64", torch.uint8: "u8", torch.bool: "u8"}
KEPT_WORDS = {"and", "auto", "bool", "char", "class", "const", "delete", "double", "else", "float", "for", "if", "in", "int", "is",
              "long", "new", "not", "or", "return", "short", "solve", "static", "struct", "this", "void", *keyword.kwlist,
              "register", "signed", "unsigned", "template", "typename", "union", "volatile", "while", "switch", "case", "default",
              "do", "enum", "extern", "goto", "inline", "operator", "private", "public", "protected", "restrict", "sizeof",
              "typedef", "using", "virtual", "try", "catch", "throw", "namespace", "mutable", "friend", "explicit", "export"}


class NotImportable(Exception):
    """The reason, in one line."""


def one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:160]


@dataclasses.dataclass
class Input:
    name: str
    original: str            # what the original calls it
    dtype: torch.dtype
    fill: dict
    shape: list[str]         # expressions
    shape_of: tuple          # the key of its extents among the numbers of the problem
    most: tuple | None = None  # the key of its largest value, where that depends on the size
    note: str = ""

    def kept(self) -> str:
        return str(self.dtype).removeprefix("torch.")


@dataclasses.dataclass
class Output:
    name: str
    dtype: torch.dtype
    shape: list[str]
    shape_of: tuple


def argument_name(original: str, taken: set[str]) -> str:
    """A name of small letters, so that no dimension has it."""
    name = re.sub(r"[^a-z0-9_]", "_", original.lower())[:50]
    if not name or not name[0].isalpha():
        name = "x" + name
    if name in KEPT_WORDS:
        name += "_"
    while name in taken or name == "reference":
        name += "x"
    taken.add(name)
    return name


def our_type(dtype: torch.dtype, what: str) -> str:
    if dtype not in TYPES:
        raise NotImportable(f"{what} is of {str(dtype).removeprefix('torch.')}, a type that problem.json does not have")
    return TYPES[dtype]


def close(answer: torch.Tensor, expected: torch.Tensor, absolute: float, relative: float) -> torch.Tensor:
    """Where |answer - expected| <= absolute + relative * |expected|; false for NaN."""
    answer, expected = answer.double(), expected.double()
    return ((answer - expected).abs() <= absolute + relative * expected.abs()) | (answer == expected)


class Shaped:
    """What is the same for problems of all kinds. They have `fit`, `dimensions`, `scalars` and `outputs`."""

    scalars: dict[str, float]
    more: dict = {}
    """What the reference of the folder needs to know besides."""

    def scalar_arguments(self) -> list[dict]:
        """Numbers that a stage gets by value."""
        taken = {one.name for one in (*self.inputs, *self.outputs)}
        return [{"name": argument_name(name, taken), "original": name, "type": "i32" if isinstance(value, int) else "f32", "value": value}
                for name, value in self.scalars.items()]

    def work_text(self, names: list[str], output: Output | Input | None) -> str | None:
        """The operations as a product of dimensions, and of the elements of a tensor if one is given; None if they are none."""
        key = ("work",) if output is None else ("work", *output.shape_of)
        base = self.fit.at()
        if not base.get(key):
            return None
        text = self.fit.as_product(key, names, self.fit.points(names))
        if text is None or output is None:
            return text
        return " * ".join([text, *(f"({one})" if " " in one else one for one in output.shape)])


def with_work(numbers: dict, flop: int, elements: dict[tuple, int]) -> dict:
    """The numbers of a problem with its operations, also for each element of its tensors."""
    numbers[("work",)] = flop
    for key, count in elements.items():
        numbers[("work", *key)] = flop // count if count and flop % count == 0 else 0
    return numbers


def extent(numbers: dict, key: tuple) -> int:
    """Elements of a tensor."""
    return math.prod(numbers[(*key, axis)] for axis in range(numbers[(*key, "rank")]))
