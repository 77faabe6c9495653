"""What a case is called: its stage, its shape, and names of the record made fit for a page."""

from __future__ import annotations

import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import Callable, Optional, TypeVar

from convladder_charts.json_text import Node

LONGEST_NAME = 60
_UNDRAWABLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}

T = TypeVar("T")


@dataclass(frozen=True)
class Stage:
    """A variant: a rung of its family's ladder, or a library beside it."""

    family: str
    rung: Optional[int]
    name: str
    title: str
    twin: int = 0
    """How many stages of the family with the same rung come before it."""
    is_choice: bool = False
    """Several variants, one for each layer of a network: its rung is not on a ladder and only gives it a marker."""
    leaves_out: str = ""
    """The idea that it is another stage without; empty for all others."""
    builds_on: str = ""
    """The variant that it adds its idea to; empty for the first one, for libraries, and in records that do not say."""

    @property
    def is_library(self) -> bool:
        """Libraries have no rung: they are the ladder's ceiling."""
        return self.rung is None and not self.leaves_out

    @property
    def label(self) -> str:
        """The title, behind its rung if it stands on one."""
        return self.title if self.rung is None or self.is_choice else f"{self.rung}  {self.title}"


@lru_cache(maxsize=4096)  # a record says the same few names again and again
def printable(text: str, longest: int = LONGEST_NAME) -> str:
    """A text of the record on one line, without characters that steer a terminal or break XML."""
    kept = "".join(" " if unicodedata.category(c) in _UNDRAWABLE else c for c in text)
    kept = " ".join(kept.split())
    return kept if len(kept) <= longest else kept[: longest - 1] + "…"


def optional(node: Node, read: Callable[[Node], T]) -> Optional[T]:
    """What `read` makes of a member that may be null."""
    return None if node.is_null() else read(node)


def stages_of(variants: Node) -> dict[tuple[str, str], Stage]:
    """Every variant of the record, by family and name, in ladder order."""
    stages: dict[tuple[str, str], Stage] = {}
    on_rung: Counter[tuple[str, Optional[int]]] = Counter()
    for node in variants.items():
        family, name = node.field("family").text(), node.field("name").text()
        rung = optional(node.field("rung"), Node.integer)
        title = printable(node.field("title").text()) or printable(name) or "(no name)"
        left_out = printable(node.field("leaves_out").text()) if "leaves_out" in node.value else ""
        below = optional(node.field("builds_on"), Node.text) if "builds_on" in node.value else None
        old = stages.get((family, name))
        stages[family, name] = Stage(family, rung, name, title, on_rung[family, rung], leaves_out=left_out,
                                     builds_on=below or "")
        on_rung[family, rung] += 1
        if old is not None:  # of two with one name the last counts
            on_rung[family, old.rung] -= 1
    return stages


def is_size(case: Node) -> bool:
    """Whether a case is of a size of a problem, and of no layer of a network."""
    return "problem" in case.value and case.field("network").value == case.field("problem").value


def shape_text(case: Node) -> str:
    """Input, filters and what is not ordinary: 12×33×33 → 24 maps, 7×7, stride 2. Of another problem than the convolution
    its dimensions by name, without those that are as usual."""
    shape = case.field("shape")
    usual = {"stride": 1, "padding": 0, "groups": 1, "bias": 0, "tanh": 0}
    if "problem" in case.value:
        values = {name: shape.field(name).integer() for name in shape.value}
        return ", ".join(f"{printable(name)} {value}" for name, value in values.items() if usual.get(name) != value)
    value = {name: shape.field(name).integer() for name in
             ("in_channels", "height", "width", "out_channels", "kernel", "stride", "padding", "groups")}
    text = (f"{value['in_channels']}×{value['height']}×{value['width']} in, "
            f"{value['out_channels']} maps, {value['kernel']}×{value['kernel']} kernel")
    return text + "".join(f", {name} {value[name]}" for name in ("stride", "padding", "groups") if value[name] != usual[name])
