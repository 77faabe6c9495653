"""Numbers in sentences."""

from __future__ import annotations

from typing import Sequence

from convladder_charts.stage import Stage


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
