"""What the best stages are to reach, layer by layer: in percent of the best library and of the floor. By layer times, NCHW in to NCHW out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Mapping, Optional

from convladder_charts.known import Ratio
from convladder_charts.known_text import is_exact, share

LEAST_BATCH: Mapping[str, int] = {"cpu": 1, "cuda": 1000}
"""The batch that a family's goals ask for at least: at a smaller one a GPU is not full, and a call may take as long as
telling the GPU of it."""

FLOOR_INSTEAD = 90.0
"""Percent of the floor that will do where the physical limit is nearer than the goal."""


@dataclass(frozen=True)
class Standing:
    """How the best stage of one layer, batch and arithmetic stands. Percentages; None where nothing was measured."""

    layer: str
    arithmetic: str
    """fp32 or tf32: the class of accuracy that stage and library belong to."""
    of_library: Optional[float]
    of_floor: Optional[float]
    of_peak: Optional[float]
    batch: int = 1
    of_data_sheet: Optional[float] = None
    """Of the floor by the data sheet's rates, which is predicted; the other floor is from measured rates."""


@dataclass(frozen=True)
class Goal:
    """One sentence that a measurement makes true or not."""

    family: str
    layer: str
    arithmetic: str
    what: str
    """A field of Standing."""
    percent: float
    or_floor: bool = False
    """Whether FLOOR_INSTEAD of the floor will do instead."""

    def words(self) -> str:
        """What is wanted."""
        quantity = {"of_library": "the library's speed", "of_floor": "the floor", "of_peak": "the FMA peak"}[self.what]
        instead = f", or {FLOOR_INSTEAD:.0f}% of the floor" if self.or_floor else ""
        arithmetic = "" if self.arithmetic == "fp32" else f" in {self.arithmetic}"
        return f"{self.layer}{arithmetic}: at least {self.percent:.0f}% of {quantity}{instead}"

    def is_met(self, standing: Standing) -> Optional[bool]:
        """None where it cannot be told from what was measured."""
        if standing.batch < LEAST_BATCH[self.family]:
            return None
        met = _reaches(getattr(standing, self.what), self.percent)
        if met or not self.or_floor or standing.of_floor is None:
            return met
        instead = _reaches(standing.of_floor, FLOOR_INSTEAD)
        return True if instead else None if instead is None else met


def _reaches(found: Optional[float], percent: float) -> Optional[bool]:
    """None where there is no figure, or where its interval holds the percentage."""
    if found is None or isinstance(found, Ratio) and not is_exact(found) and found.low is not None and found.holds(percent):
        return None
    return found >= percent


def _against(family: str, layers: str, what: str, percent: float, arithmetic: str = "fp32",
             or_floor: bool = False) -> tuple[Goal, ...]:
    return tuple(Goal(family, layer, arithmetic, what, percent, or_floor) for layer in layers.split())


_ONE_CHANNEL = "lenet28.conv1 lenet72.conv1 lenet86.conv1"
_SECOND = "lenet72.conv2 lenet86.conv2"
_ALEXNET = "alexnet.conv1 alexnet.conv2 alexnet.conv3 alexnet.conv4 alexnet.conv5"
GOALS: tuple[Goal, ...] = (
    *_against("cpu", _ONE_CHANNEL, "of_library", 200, or_floor=True),
    *_against("cpu", _ONE_CHANNEL, "of_floor", 75),
    *_against("cpu", _SECOND, "of_library", 150, or_floor=True),
    *_against("cpu", _SECOND, "of_floor", 80),
    *_against("cpu", _ALEXNET, "of_library", 115),
    *_against("cuda", "lenet28.conv1 lenet72.conv1", "of_library", 150),
    *_against("cuda", "lenet72.conv2", "of_library", 100),
    *_against("cuda", "lenet72.conv2", "of_library", 100, "tf32"),
    *_against("cuda", "lenet28.conv1", "of_floor", 80),
)

LAYERS: Mapping[str, tuple[str, ...]] = {
    "cpu": tuple(f"{_ONE_CHANNEL} {_SECOND} {_ALEXNET}".split()),
    "cuda": tuple(f"{_ONE_CHANNEL} {_SECOND} {_ALEXNET}".split())}


def _percent(value: float) -> str:
    return share(value) if isinstance(value, Ratio) else f"{value:.0f}%"


def verdicts(family: str, standing_of: Callable[[str, str], Optional[Standing]]) -> list[str]:
    """A line for each goal of the family: met, not met, cannot be told, or not measured."""
    lines = []
    for goal in GOALS:
        if goal.family != family:
            continue
        standing = standing_of(goal.layer, goal.arithmetic)
        least = LEAST_BATCH[family]
        if standing and standing.batch < least:
            lines.append(f"not measured at batch {least} or more: {goal.words()}")
            continue
        met = goal.is_met(standing) if standing else None
        found = getattr(standing, goal.what) if standing else None
        word = "met" if met else "not met" if met is False else "not measured" if found is None else "cannot be told"
        # A decimal where rounding would hide by how little a goal was missed.
        places = 1 if met is False and found is not None and round(found) >= goal.percent else 0
        measured = "" if found is None else f": {share(found) if isinstance(found, Ratio) else f'{found:.{places}f}%'}"
        if goal.or_floor and standing and standing.of_floor is not None:
            measured += f" ({_percent(standing.of_floor)} of the floor)"
        if measured and goal.family == "cuda" and standing:
            beside = {"of_floor": ("the data sheet's floor, predicted", standing.of_data_sheet)}.get(goal.what)
            if beside and beside[1] is not None:
                measured += f" ({beside[1]:.0f}% of {beside[0]})"
        lines.append(f"{word}: {goal.words()}{measured}")
    return lines
