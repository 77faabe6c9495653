"""Members of a document that may be missing, and where a record was made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

from convladder_charts.json_text import Node
from convladder_charts.stage import printable

LONGEST_NAME = 160
LONGEST_TEXT = 400


def is_kind(document: Any, kind: str) -> bool:
    """Whether a document says of itself that it is of a kind."""
    return isinstance(document, dict) and document.get("kind") == kind


def member(node: Node, name: str) -> Optional[Node]:
    """A member that may be missing or null."""
    if not isinstance(node.value, dict) or name not in node.value:
        return None
    found = node.field(name)
    return None if found.is_null() else found


def text_of(node: Node, name: str, longest: int = LONGEST_NAME) -> str:
    """A text fit to be shown; empty where it is missing or null."""
    found = member(node, name)
    return "" if found is None else printable(found.text(), longest)


def number_of(node: Node, name: str) -> Optional[float]:
    """A number that may be missing or null."""
    found = member(node, name)
    return None if found is None else found.number()


def amount(node: Node) -> float:
    """A number of things: 0 or more."""
    if node.number() < 0:
        raise node.wrong("a number from 0")
    return node.number()


def time_of(node: Node) -> float:
    """A time: more than 0."""
    if node.number() <= 0:
        raise node.wrong("a number above 0")
    return node.number()


@dataclass(frozen=True)
class Origin:
    """Where and when something was made; each empty where the document does not say."""

    date: str = ""
    host: str = ""
    cpu: str = ""
    commit: str = ""
    program: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """All of it."""
        host = f"host {self.host}" if self.host else ""
        build = ", ".join(filter(None, (self.program, f"commit {self.commit}" if self.commit else "")))
        where = ", ".join(filter(None, (self.cpu, host, self.date[:10])))
        return "; ".join(filter(None, (where, build)))


def origin(root: Node) -> Origin:
    """From a document's context, if it has one. Raises RecordError for one that is wrong."""
    context = member(root, "context")
    if context is None:
        return Origin()
    host, cpu, program = (member(context, name) for name in ("host", "cpu", "program"))
    warnings = []
    complete = member(root, "complete")
    if complete is not None and not complete.boolean():
        warnings.append("incomplete: it was interrupted, or is still being made")
    sanitized = member(program, "sanitized") if program else None
    if sanitized is not None and sanitized.boolean():
        warnings.append("sanitized build: its times say nothing about speed")
    dirty = member(program, "dirty") if program else None
    return Origin(
        text_of(context, "date"), text_of(host, "name") if host else "", text_of(cpu, "model") if cpu else "",
        (text_of(program, "commit")[:9] + (" (dirty)" if dirty is not None and dirty.boolean() else ""))
        if program else "",
        " ".join(filter(None, (text_of(program, "name"), text_of(program, "version")))) if program else "",
        tuple(warnings))


def thousands(value: float) -> str:
    """A whole number with separators: 7,062."""
    return f"{value:,.0f}"


def several(number: int, one: str, many: str = "") -> str:
    """1 case, 2 cases."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def case_name(identifier: str) -> str:
    """What a case is, without the device that stands in front: variant on layer at batch."""
    parts = identifier.split("/")
    if len(parts) < 4:
        return identifier
    variant, layer, batch = parts[1], "/".join(parts[2:-1]), parts[-1]
    return f"{variant}, {layer}" + ("" if batch == "1" else f", batch {batch}")
