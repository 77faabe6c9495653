"""Makes the problem.json of an imported problem: sizes, tolerance, work; and asks which wrong answers two checks accept."""
from __future__ import annotations

import math

import numpy
import torch

from . import fills
from .source import TYPES, NotImportable, extent

SMALL = {"elements": 1 << 18, "flop": 2e8}      # what a reference answers in a fraction of a second
COUNTED = {"elements": 1 << 13, "flop": 4e6}    # the simulated device is some thousand times slower than a GPU
MOST_FLOP = 2e10                                # of an own size that is run by default
MOST_ELEMENTS = 2**31
LONGEST_SUM = 1 << 16
"""Nobody adds up more numbers one after the other, but in a product of matrices."""
LEAST_TOLERANCE = 1e-6
MOST_TOLERANCE = {"f32": 1e-4, "f64": 1e-10, "f16": 2e-2, "bf16": 4e-2}
SEEDS = 6
"""One sample from few rows is often the same as the next."""
MARGIN = 4
WIDER = (1, 4)
"""Ranges to try where a copy of an input is right: to both sides of 0, and times this."""
PLACES = {"f16": 11, "bf16": 8}
"""Of a significand."""
PART = 100
"""Of so many elements an answer that is right in a part has one wrong."""


class Imported:
    def __init__(self, source, small_bytes: float) -> None:
        self.source = source
        self.small_bytes = small_bytes
        own = source.own_sizes[0]
        self.small = self.shrunk(own, SMALL)
        source.small = self.small
        source.prepare(self.small)
        self.widen_or_refuse()
        self.counted = self.shrunk(self.small, COUNTED)

    # Sizes.

    def keys(self, numbers: dict) -> set[tuple]:
        return {key[:2] for key in numbers if key[0] in ("in", "weight", "out")}

    def elements(self, values: dict[str, int]) -> int | None:
        numbers = self.source.fit.at(**values)
        return None if numbers is None else sum(extent(numbers, key) for key in self.keys(numbers))

    def fits(self, values: dict[str, int], limit: dict) -> bool:
        numbers = self.source.fit.at(**values)
        assert numbers is not None
        return sum(extent(numbers, key) for key in self.keys(numbers)) <= limit["elements"] and numbers[("work",)] <= limit["flop"]

    def shrunk(self, values: dict[str, int], limit: dict) -> dict[str, int]:
        """The constants, halved one after the other, the largest first, until the problem is within a limit."""
        values = dict(values)
        stuck: set[str] = set()
        while not self.fits(values, limit):
            free = [name for name in values if name not in stuck and values[name] > 1]
            if not free:
                break
            name = max(free, key=lambda one: values[one])
            for smaller in (values[name] // 2, values[name] // 2 + 1, values[name] // 2 - 1):
                if 0 < smaller < values[name] and self.source.fit.at(**values | {name: smaller}) is not None:
                    values[name] = smaller
                    break
            else:
                stuck.add(name)
        return values

    def size_text(self, values: dict[str, int]) -> str:
        return "".join(f"{letter}{values[name]}" for letter, name in self.source.dimensions.items())

    # Answers.

    def drawn(self, values: dict[str, int], seed: int) -> dict:
        """An input made by the fills, as the original takes it."""
        random = numpy.random.default_rng(seed)
        numbers = self.source.fit.at(**values)
        assert numbers is not None
        given = dict(self.source.scalars)
        for one in self.source.inputs:
            shape = tuple(numbers[(*one.shape_of, axis)] for axis in range(len(one.shape)))
            array = fills.drawn(one.fill, shape, random, numbers[one.most] if one.most else None)
            given[one.original] = torch.from_numpy(numpy.asarray(array)).to(one.dtype)
        return given

    def right(self, values: dict[str, int], given: dict) -> list[numpy.ndarray]:
        return [one.double().numpy() for one in self.source.answer(values, given, True)]

    def error(self, answers: list, right: list[numpy.ndarray]) -> list[float]:
        """Of each output the largest error beyond the rounding of its type, relative to its scale as the program takes it."""
        found = []
        for output, answer, expected in zip(self.source.outputs, answers, right):
            answer = answer.double().numpy() if isinstance(answer, torch.Tensor) else answer
            scale = numpy.maximum(numpy.abs(expected), math.sqrt(float(numpy.mean(expected**2)) if expected.size else 0))
            error = numpy.abs(answer - expected) - half_a_place(expected, TYPES[output.dtype])
            with numpy.errstate(divide="ignore", invalid="ignore"):
                quotient = numpy.where(error <= 0, 0, error / scale)
            found.append(math.inf if not numpy.isfinite(quotient).all() else float(quotient.max(initial=0)))
        return found

    def accepts(self, answers: list, right: list[numpy.ndarray]) -> bool:
        errors = self.error(answers, right)
        for output, tolerance, answer, expected, error in zip(self.source.outputs, self.tolerances, answers, right, errors):
            if output.dtype.is_floating_point:
                if not error <= tolerance:
                    return False
            elif not numpy.array_equal(answer.double().numpy(), expected):
                return False
        return True

    def reduction(self, values: dict[str, int]) -> float:
        """About how many terms an element of the output is made of."""
        numbers = self.source.fit.at(**values)
        assert numbers is not None
        outputs = min(extent(numbers, key) for key in self.keys(numbers) if key[0] == "out")
        inputs = max(extent(numbers, key) for key in self.keys(numbers) if key[0] != "out")
        return max(1.0, min(LONGEST_SUM, inputs / max(outputs, 1)), numbers[("work",)] / (2 * max(outputs, 1)))

    def find_tolerances(self) -> None:
        """A few times as much as the original's own answer in its own types needs, grown with the length of its sums."""
        measured = [0.0] * len(self.source.outputs)
        for seed in (11, 12):
            given = self.drawn(self.small, seed)
            right = self.right(self.small, given)
            if any(not numpy.isfinite(one).all() for one in right):
                raise NotImportable("its answer is not finite")
            own = self.source.answer(self.small, given, False)
            measured = [max(a, b) for a, b in zip(measured, self.error(own, right))]
            for output, answer, expected in zip(self.source.outputs, own, right):
                if not output.dtype.is_floating_point and not numpy.array_equal(answer.double().numpy(), expected):
                    raise NotImportable(f"its whole output {output.name} depends on rounding: in float64 it is another")
        growth = math.sqrt(self.reduction(self.source.own_sizes[0]) / self.reduction(self.small))
        self.tolerances = []
        for output, error in zip(self.source.outputs, measured):
            name = TYPES[output.dtype]
            if not output.dtype.is_floating_point:
                self.tolerances.append(0.0)
                continue
            most = MOST_TOLERANCE[name]
            if not error <= most:
                raise NotImportable(f"its own answer in {name} is off by {error:.1e} of the scale of {output.name}, more than {most:g}")
            # A small type may hold one result in between as well: the probabilities of an attention, for its products of matrices.
            least = 1e-13 if name == "f64" else 2.0 ** -(PLACES[name] + 1) if name in PLACES else LEAST_TOLERANCE
            honest = max(least, MARGIN * error * growth, MARGIN * math.sqrt(self.reduction(self.source.own_sizes[0])) * 2.0**-24)
            self.tolerances.append(float(f"{min(most, max(honest, 2 * error)):.1e}"))

    def wrong_answers(self, values: dict[str, int], seed: int) -> tuple[dict[str, list[torch.Tensor]], list, list, dict]:
        """Answers that nobody should accept, by names; the right one, the original's own one and the input."""
        given = self.drawn(values, seed)
        own = self.source.answer(values, given, False)
        last = self.source.answer(values, self.drawn(values, seed + 1), False)
        found: dict[str, list[torch.Tensor] | None] = {
            "zeros": [torch.zeros_like(one) for one in own],
            "a constant": [torch.full_like(one, one.double().mean().item() if one.is_floating_point() else int(one.flatten()[0]))
                           for one in own],
            "the last answer": last,
            "half precision": rounded(own, torch.float16), "truncated to bf16": rounded(own, torch.bfloat16),
            "right in 99 %": [partly(one) for one in own],
            "one NaN": [with_nan(one) for one in own] if own[0].is_floating_point() else None,
            "NaN everywhere": [torch.full_like(one, math.nan) for one in own] if all(one.is_floating_point() for one in own) else None}
        for one in self.source.inputs:
            tensor = given[one.original]
            if all(tensor.shape == answer.shape for answer in own) and tensor.is_floating_point() == own[0].is_floating_point():
                found[f"a copy of {one.name}"] = [tensor.to(answer.dtype) for answer in own]
        # What happens to be right is no wrong answer: of one number the mean, or a number that half precision holds.
        wrong = {name: one for name, one in found.items()
                 if one is not None and (name.startswith("a copy") or name in ("zeros", "the last answer") or not same(one, own))}
        return wrong, self.right(values, given), own, given

    def widen_or_refuse(self) -> None:
        """The program refuses a problem for which an empty answer is right, so an import does not make one."""
        first, *others = [self.source.answer(self.small, self.drawn(self.small, 3), True, seed) for seed in range(SEEDS)]
        for other in others:
            if not all(numpy.array_equal(a.numpy(), b.numpy(), equal_nan=a.is_floating_point()) for a, b in zip(first, other)):
                raise NotImportable("its answer is random")
        own = {one.name: one.fill for one in self.source.inputs}
        for wider in (*WIDER, None):
            self.find_tolerances()
            answers, right, _own, _given = self.wrong_answers(self.small, 21)
            copies = [name for name in answers if name.startswith("a copy") and self.accepts(answers[name], right)]
            for name in ("zeros", "the last answer"):
                if self.accepts(answers[name], right):
                    raise NotImportable(f"{'an answer of zeros' if name == 'zeros' else 'the answer to another input'} is right for it")
            if not copies:
                return
            narrow = [one for one in self.source.inputs if own[one.name]["kind"] == "uniform" and own[one.name]["low"] >= 0]
            if wider is None or not narrow:
                raise NotImportable(f"{copies[0]} is right for it")
            for one in narrow:
                most = wider * own[one.name]["high"]
                one.fill = {"kind": "uniform", "low": -most, "high": most}
                one.note = "its own values are never below 0; with them a copy of an input is right, so these are"

    def audit(self) -> dict[str, dict[str, bool]]:
        """For each wrong answer whether the problem's own check accepts it, by the check's name, and whether ours does."""
        answers, right, own, given = self.wrong_answers(self.small, 31)
        found: dict[str, dict[str, bool]] = {}
        for name, answer in {"its own answer": own, **answers}.items():
            verdicts = self.source.checks(answer, own, given) | {"convladder": self.accepts(answer, right)}
            plain = "a copy of an input" if name.startswith("a copy") else name
            before = found.get(plain, {})
            found[plain] = {check: accepted or before.get(check, False) for check, accepted in verdicts.items()}
        return found

    # The file.

    def work(self) -> tuple[str, str]:
        """Operations as an expression, and how they are counted."""
        source = self.source
        names = list(source.dimensions.values())
        for output in [None, *source.outputs, *source.inputs]:
            text = source.work_text(names, output)
            if text:
                return text, "as torch counts them: products of matrices, convolutions and attention"
        shapes = [one.shape for one in (*source.inputs, *source.outputs)]
        return " + ".join(" * ".join(f"({one})" if " " in one else one for one in shape) or "1" for shape in shapes), \
            "one for each element that is read or written"

    def problem(self, name: str, title: str) -> dict:
        source = self.source
        flop, counted_how = self.work()
        own = [one for one in source.own_sizes if self.elements(one) is not None]
        numbers = {id(one): source.fit.at(**one) for one in own}
        fit = [one for one in own if self.elements(one) * 8 * 3 <= self.small_bytes and numbers[id(one)][("work",)] <= MOST_FLOP]
        sizes = list(dict.fromkeys(self.size_text(one) for one in (self.small, *fit)))
        largest = {letter: max([1 << 20, *(one[original] for one in own)]) for letter, original in source.dimensions.items()}
        tensors = []
        for one in source.inputs:
            tensor = {"name": one.name, "role": "in", "type": TYPES[one.dtype], "shape": one.shape, "fill": one.fill}
            if one.note or one.name != one.original:
                renamed = f"{one.original} of the original" if one.name != one.original else ""
                tensor["comment"] = "; ".join(filter(None, [renamed, one.note]))
            tensors.append(tensor)
        for one, tolerance in zip(source.outputs, self.tolerances):
            tensor = {"name": one.name, "role": "out", "type": "i32" if TYPES[one.dtype] == "i64" else TYPES[one.dtype],
                      "shape": one.shape, "compare": {"tolerance": tolerance} if one.dtype.is_floating_point else "exact"}
            if tensor["type"] != TYPES[one.dtype]:
                tensor["comment"] = f"{one.dtype} of the original".replace("torch.", "")
            tensors.append(tensor)
        return {"name": name, "title": title,
                "comment": {"its own check": source.check, "operations": counted_how, "notes": source.notes,
                            "its own sizes": [self.size_text(one) for one in own]},
                "dimensions": {letter: {"name": original, "to": largest[letter]} for letter, original in source.dimensions.items()},
                **({"derived": source.derived} if source.derived else {}),
                "tensors": tensors,
                **({"scalars": [{"name": one["name"], "type": one["type"], "value": one["value"]} for one in source.scalar_arguments()]}
                   if source.scalar_arguments() else {}),
                "sizes": sizes, "counted_sizes": [self.size_text(self.counted)], "work": {"flop": flop}}


def half_a_place(values: numpy.ndarray, name: str) -> numpy.ndarray | float:
    """Half a unit in the last place of a small type, which the program always grants."""
    if name not in PLACES:
        return 0.0
    _significand, exponent = numpy.frexp(values)
    return numpy.ldexp(0.5, numpy.maximum(exponent, -13 if name == "f16" else -125) - PLACES[name])


def rounded(own: list[torch.Tensor], to: torch.dtype) -> list[torch.Tensor] | None:
    """Float32 answers that a smaller type has held. bf16 is cut off, not rounded, as a shift does it."""
    if not any(one.dtype is torch.float32 for one in own):
        return None
    if to is torch.float16:
        return [one.to(to).to(one.dtype) if one.dtype is torch.float32 else one for one in own]
    return [(one.contiguous().view(torch.int32) & -65536).view(torch.float32) if one.dtype is torch.float32 else one for one in own]


def same(one: list[torch.Tensor], other: list[torch.Tensor]) -> bool:
    return all(torch.equal(a, b) for a, b in zip(one, other))


def partly(one: torch.Tensor) -> torch.Tensor:
    """The last hundredth, and at least one element, is missing."""
    wrong = one.clone().flatten()
    wrong[-max(1, wrong.numel() // PART):] = 0
    return wrong.reshape(one.shape)


def with_nan(one: torch.Tensor) -> torch.Tensor:
    wrong = one.clone().flatten()
    if one.is_floating_point():
        wrong[-1] = math.nan
    return wrong.reshape(one.shape)
