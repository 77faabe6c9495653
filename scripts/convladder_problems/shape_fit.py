"""Finds the expressions of problem.json by which numbers of a problem (extents, ranges, operations) follow from its constants.

The problem is asked for its numbers with other constants; an expression counts only if it holds for further values as well.
"""
from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction

Numbers = dict[tuple, int]
Probe = Callable[[dict[str, int]], Numbers | None]
STEPS = (5040, 60, 12, 6, 4, 3, 2, 1)
"""By how much a constant grows where its share is asked for: multiples of every usual stride first."""
POINTS = 24
LETTERS_OF_DIGITS = dict(zip("0123456789", "JABCDEFGHI"))


class Fit:
    """`probe` gives the problem's numbers for some constants, or None where it does not work with them."""

    def __init__(self, probe: Probe, own: dict[str, int]) -> None:
        self.asked: dict[tuple, Numbers | None] = {}
        self.probe = probe
        self.own = own
        self.letters: dict[str, str] = {}

    def at(self, **changed: int) -> Numbers | None:
        values = self.own | changed
        key = tuple(values.items())
        if key not in self.asked:
            self.asked[key] = self.probe(values)
        return self.asked[key]

    def changes(self, name: str) -> list[int]:
        """Other values of a constant with which the problem works."""
        value = self.own[name]
        tried = [2 * value, 3 * value, value + 1, value + 2, value // 2, value - 1, value + 5040]
        return [one for one in dict.fromkeys(tried) if one > 0 and one != value and self.at(**{name: one}) is not None]

    def depending(self, name: str) -> set[tuple]:
        """The numbers that change with a constant."""
        base = self.at()
        assert base is not None
        found: set[tuple] = set()
        for value in self.changes(name):
            numbers = self.at(**{name: value})
            assert numbers is not None
            found |= {key for key in base if numbers.get(key) != base[key]}
        return found

    def points(self, names: list[str]) -> list[tuple[dict[str, int], Numbers]]:
        """The problem's numbers where several constants have other values at once."""
        draw = random.Random(1)
        found: list[tuple[dict[str, int], Numbers]] = []
        for _ in range(4 * POINTS):
            if len(found) == POINTS:
                break
            changed = {name: draw.choice([self.own[name], *self.changes(name)]) + draw.choice([0, 0, 1, 2, 3, 7]) for name in names}
            for attempt in (changed, {name: draw.choice([self.own[name], *self.changes(name)]) for name in names}):
                numbers = self.at(**attempt)
                if numbers is not None:
                    found.append((self.own | attempt, numbers))
                    break
        return found

    def expression(self, key: tuple, names: list[str]) -> str | None:
        """The text for a number that depends on `names`, None if none is found."""
        base = self.at()
        assert base is not None
        if not names:
            return str(base[key])
        points = self.points(names)
        if len(points) < 2:
            return None
        return self.as_sum(key, names, points) or self.as_product(key, names, points)

    def share(self, key: tuple, name: str) -> Fraction | None:
        """By how much a number grows with a constant."""
        for base in ({}, {name: 2 * self.own[name]}):
            first = self.at(**base)
            for step in (*STEPS, 7 * self.own[name], self.own[name]):
                further = self.at(**{name: base.get(name, self.own[name]) + step})
                if first is not None and further is not None:
                    return Fraction(further[key] - first[key], step)
        return None

    def as_sum(self, key: tuple, names: list[str], points: list) -> str | None:
        shares = {name: self.share(key, name) for name in names}
        if any(one is None for one in shares.values()):
            return None
        below = math.lcm(*(one.denominator for one in shares.values()))
        factors = {name: int(one * below) for name, one in shares.items()}
        least, most = -math.inf, math.inf
        for values, numbers in points:
            rest = numbers[key] * below - sum(factor * values[name] for name, factor in factors.items())
            least, most = max(least, rest), min(most, rest + below - 1)
        if least > most:
            return None
        added = int(least)
        ordered = sorted(factors.items(), key=lambda one: one[1] < 0)
        terms = [self.letters[name] if factor == 1 else f"{factor} * {self.letters[name]}" for name, factor in ordered if factor]
        text = " + ".join(terms) + (f" {'+' if added > 0 else '-'} {abs(added)}" if added else "")
        text = text.replace("+ -1 * ", "- ").replace("+ -", "- ")
        return text if below == 1 else f"div({text}, {below})"

    def as_product(self, key: tuple, names: list[str], points: list) -> str | None:
        base = self.at()
        assert base is not None
        powers = {}
        for name in names:
            value = next(iter(self.changes(name)), None)
            numbers = value and self.at(**{name: value})
            if not numbers or numbers[key] <= 0 or base[key] <= 0:
                return None
            powers[name] = round(math.log(numbers[key] / base[key]) / math.log(value / self.own[name]))
            if powers[name] < 0:
                return None
        product = math.prod(self.own[name] ** power for name, power in powers.items())
        factor = Fraction(base[key], product)
        for values, numbers in points:
            if factor * math.prod(values[name] ** power for name, power in powers.items()) != numbers[key]:
                return None
        parts = [] if factor.numerator == 1 else [str(factor.numerator)]
        for name, power in powers.items():
            parts += [self.letters[name]] * power
        return (" * ".join(parts) or "1") + ("" if factor.denominator == 1 else f" / {factor.denominator}")


def letters_of(names: list[str]) -> dict[str, str]:
    """Dimensions are called by capitals alone: dim1 becomes DIMA."""
    found: dict[str, str] = {}
    for name in names:
        letters = "".join(LETTERS_OF_DIGITS.get(one, one) for one in name.upper())
        letters = "".join(one for one in letters if "A" <= one <= "Z")[:50] or "D"
        while letters in found.values():
            letters += "X"
        found[name] = letters
    return found


def found_dimensions(fit: Fit, shaping: Callable[[tuple], bool]) -> tuple[list[str], dict[tuple, str]]:
    """The constants on which numbers for which `shaping` holds depend, and each number's expression in them. A constant with
    which no expression is found keeps its value."""
    base = fit.at()
    assert base is not None
    depending = {name: fit.depending(name) for name in fit.own}
    dimensions = [name for name in fit.own if any(shaping(key) for key in depending[name])]
    fit.letters = letters_of(list(fit.own))
    while True:
        texts: dict[tuple, str] = {}
        worst = None
        for key in base:
            if key[0] == "work":
                continue
            names = [name for name in dimensions if key in depending[name]]
            text = fit.expression(key, names)
            if text is None:
                worst = names[-1]
                break
            texts[key] = text
        if worst is None:
            return dimensions, texts
        dimensions.remove(worst)
        if not dimensions:
            return [], {key: str(value) for key, value in base.items() if key[0] != "work"}
