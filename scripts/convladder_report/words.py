"""Numbers in sentences."""

from __future__ import annotations

from typing import Optional, Sequence

from convladder_charts.stage import Stage
from convladder_charts.units import percent, significant

_ALIKE = 0.005
"""Nearer to 1 than this, a factor is called as fast."""


def listed(names: Sequence[str], most: int = 6) -> str:
    """a, b and c; of many the first ones and how many more."""
    shown = list(names[:most]) + ([f"{len(names) - most} more"] if len(names) > most else [])
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]])) if shown else ""


def counted(number: int, name: str, several: str = "") -> str:
    """1 layer, 3 layers."""
    return f"{number} {name if number == 1 else several or name + 's'}"


def ladder_of(family: str) -> str:
    """the CPU ladder; of a family of another name that name."""
    return f"{family.upper() if family in ('cpu', 'cuda') else family} ladder"


def named(stage: Stage) -> str:
    """A stage in a sentence: its title, with its rung if it stands on one. A comma would end the sentence's part."""
    if stage.is_choice and "=" in stage.title:
        pairs = [part.partition("=") for part in stage.title.split(",")]
        return listed([f"{variant} in {layer}" for layer, _, variant in pairs])
    if stage.is_library and ", " in stage.title:
        return stage.title.replace(", ", " (", 1) + ")"
    return stage.title if stage.is_library or stage.is_choice or stage.rung is None else f"{stage.title} (stage {stage.rung})"


def against(factor: Optional[float], other: str) -> str:
    """is 47.7 times as fast as the baseline. What is slower takes longer: nobody reads 0.8 times as fast with ease."""
    if factor is None or factor <= 0:
        return ""
    if abs(factor - 1) < _ALIKE:
        return f"is as fast as {other}"
    if factor > 1:
        return f"is {significant(factor)} times as fast as {other}"
    return f"takes {significant(1 / factor)} times as long as {other}"


def share(of_hundred: Optional[float], other: str) -> str:
    """reaches 97% of the speed of oneDNN; from 100% on it is 1.3 times as fast as oneDNN."""
    if of_hundred is None or of_hundred <= 0:
        return ""
    if of_hundred > 100 * (1 - _ALIKE):
        return against(of_hundred / 100, other)
    return f"reaches {percent(of_hundred)} of the speed of {other}"
