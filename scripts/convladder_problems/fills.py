"""Which fill of problem.json makes values like those that a problem's own code makes."""
from __future__ import annotations

import math

import numpy

FEW = 8
STRICTNESS = 1.95
"""Kolmogorov's distance times the root of the count; values of the distribution itself are above it once in a thousand times."""


class NoFill(Exception):
    """The values follow a rule that no fill has; the text says so in one line."""


def normal_share(values: numpy.ndarray) -> numpy.ndarray:
    return 0.5 * (1 + numpy.vectorize(math.erf)(values / math.sqrt(2)))


def distance(values: numpy.ndarray, share) -> float:
    ordered = numpy.sort(values)
    expected = share(ordered)
    count = len(ordered)
    above = numpy.max(numpy.arange(1, count + 1) / count - expected)
    below = numpy.max(expected - numpy.arange(count) / count)
    return max(above, below) * math.sqrt(count)


def nice(value: float, up: bool) -> float:
    """The number from which values were drawn whose extreme is `value`: a round one nearby, if there is one."""
    for digits in (0, 1, 2, 3):
        near = round(value, digits)
        if abs(near - value) <= 0.02 * max(abs(value), 1e-12) or (near == 0 and abs(value) < 5e-3):
            return float(near)
    scale = 10.0 ** (math.floor(math.log10(abs(value))) - 2)
    rounded = (math.ceil if (value > 0) == up else math.floor)(abs(value) / scale) * scale
    return math.copysign(float(f"{rounded:.3g}"), value)


def thinned(values: numpy.ndarray) -> numpy.ndarray:
    step = max(1, values.size // 20000)
    return values.ravel()[::step].astype(numpy.float64)


def is_shares(values: numpy.ndarray) -> bool:
    return values.ndim > 0 and values.shape[-1] > 1 and values.min() >= 0 and numpy.allclose(values.sum(-1), 1, atol=1e-3)


def is_even(values: numpy.ndarray) -> bool:
    """Whether the corners of a matrix are alike: a triangle is no random matrix."""
    if values.ndim < 2 or min(values.shape[-2:]) < 4:
        return True
    half = values[..., values.shape[-2] // 2:, :values.shape[-1] // 2], values[..., :values.shape[-2] // 2, values.shape[-1] // 2:]
    if values.shape[-1] == values.shape[-2] and numpy.array_equal(values, numpy.swapaxes(values, -1, -2)) and numpy.ptp(values):
        return False
    return bool(numpy.any(half[0])) == bool(numpy.any(half[1]))


def float_fill(samples: list[numpy.ndarray]) -> dict:
    """Of samples with different seeds."""
    first = samples[0]
    everything = numpy.concatenate([thinned(one) for one in samples])
    if not numpy.isfinite(everything).all():
        raise NoFill("it holds values that are not finite")
    if numpy.ptp(everything) == 0:
        return {"kind": "constant", "value": float(everything[0])}
    if not all(is_even(one) for one in samples):
        raise NoFill("it is a triangle or symmetric, which no fill is")
    distinct = numpy.unique(everything)
    if len(distinct) <= FEW and everything.size > 4 * len(distinct):
        return {"kind": "choice", "values": [float(one) for one in distinct]}
    if is_shares(first):
        return {"kind": "shares"}
    parts = [thinned(one) for one in samples]
    if all(distance(one, lambda x, a=one: (x - a.min()) / numpy.ptp(a)) < STRICTNESS + 1 for one in parts if one.size > 1):
        low, high = nice(everything.min(), False), nice(everything.max(), True)
        return {"kind": "uniform", "low": low, "high": high if high > low else low + 1}
    if all(distance(one, lambda x, a=one: normal_share((x - a.mean()) / a.std())) < STRICTNESS for one in parts):
        deviation = float(everything.std())
        mean = float(everything.mean())
        return {"kind": "normal", "mean": 0.0 if abs(mean) < 0.05 * deviation else round(mean, 3),
                "deviation": nice(deviation, True)}
    raise NoFill("its values are neither uniform nor normal nor any other that a fill makes")


def drawn(fill: dict, shape: tuple[int, ...], random: numpy.random.Generator, most: int | None) -> numpy.ndarray:
    """Values as the program makes them for a fill; `most` is the value of its expression, if it has one."""
    kind = fill["kind"]
    if kind == "uniform":
        return random.uniform(fill["low"], fill["high"], shape)
    if kind == "normal":
        return random.normal(fill["mean"], fill["deviation"], shape)
    if kind == "constant":
        return numpy.full(shape, fill["value"])
    if kind == "choice":
        return random.choice(numpy.array(fill["values"]), shape)
    if kind == "whole":
        return random.integers(fill["low"], (fill["high"] if most is None else most) + 1, shape)
    if kind == "shares":
        parts = numpy.exp(random.normal(size=shape))
        return parts / parts.sum(-1, keepdims=True)
    assert kind == "offsets" and most is not None
    parts = shape[-1] - 1
    least = 1 if most >= parts else 0
    found = numpy.zeros(shape, dtype=numpy.int64)
    found[..., 1:] = numpy.sort(random.integers(0, most - least * parts + 1, (*shape[:-1], parts)), -1)
    if parts:
        found[..., -1] = most - least * parts
    return found + least * numpy.arange(shape[-1])
