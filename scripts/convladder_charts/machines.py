"""The machines that a merged run's cases come from; a run that was not merged has one, which its context is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from convladder_charts.json_text import Node
from convladder_charts.stage import optional, printable

_MOST_NAMES = 3


@dataclass(frozen=True)
class Machine:
    """A machine of `context.machines`, with what its sentinel said."""

    node: str
    kind: int
    cpu: Node
    gpu: str
    governor: str
    sentinel_x: Optional[float]
    off: bool


def machines(context: Node) -> list[Machine]:
    """All of a merged run; none of any other."""
    if "machines" not in context.value:
        return []
    return [_machine(node) for node in context.field("machines").items() if "kind" in node.value]


def kind_of_machine(node: Node) -> Optional[int]:
    """On which kind a ladder was measured, or ceilings were; None where the run has one."""
    return node.field("kind_of_machine").integer() if "kind_of_machine" in node.value else None


def machine_of_kind(context: Node, kind: Optional[int]) -> Node:
    """What says cpu and devices of that kind: one of its machines, or the context itself."""
    if kind is None or "machines" not in context.value:
        return context
    return next((node for node in context.field("machines").items() if node.value.get("kind") == kind), context)


def nodes_text(found: list[Machine]) -> str:
    """Their names, the first few."""
    names = list(dict.fromkeys(one.node for one in found))
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def warnings(found: list[Machine]) -> list[str]:
    """What must be known of them before figures are compared."""
    kinds = sorted({one.kind for one in found})
    lines = []
    if len(kinds) > 1:
        each = "; ".join(nodes_text([one for one in found if one.kind == kind]) for kind in kinds)
        lines.append(f"measured on {len(kinds)} kinds of machines ({each}): times of different kinds are not comparable")
    off = [one for one in found if one.off]
    if off:
        lines.append(f"off by the sentinel, and left out where it was measured there: {nodes_text(off)}")
    return lines


def _machine(node: Node) -> Machine:
    cpu = node.field("cpu")
    governor = optional(cpu.field("governor"), Node.text) if "governor" in cpu.value else None
    return Machine(printable(node.field("node").text()), node.field("kind").integer(), cpu, _gpu(node),
                   printable(governor or ""), optional(node.field("sentinel_x"), Node.number),
                   node.field("off").boolean())


def _gpu(machine: Node) -> str:
    """With what tells one of a kind from another; empty where there is none."""
    for device in machine.field("devices").items():
        facts = device.field("facts")
        if device.field("kind").text() != "cuda" or not isinstance(facts.value, dict) or "name" not in facts.value:
            continue
        parts = [facts.field(name).text() for name in ("name", "UUID", "driver", "power limit W", "ECC", "MIG mode")
                 if name in facts.value]
        return printable(", ".join(parts))
    return ""
