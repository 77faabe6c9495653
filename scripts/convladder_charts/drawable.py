"""What charts.py knows of a kind of record: how it is told from others, and what is drawn of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Iterable, Optional, Sequence

from convladder_charts.json_text import Node, RecordError
from convladder_charts.stage import printable

_MOST_NAMED = 60


@dataclass(frozen=True)
class Options:
    """What was asked for."""

    record: Path
    devices: tuple[str, ...] = ()
    layers: tuple[str, ...] = ()
    batch: Optional[int] = None
    gpu: Optional[str] = None

    def of_devices(self, groups: tuple[Any, ...]) -> tuple[Any, ...]:
        """The groups of the asked devices; asking for one that the record does not hold is bad input."""
        if not self.devices:
            return groups
        self._check("device", self.devices, {group.device for group in groups})
        return tuple(group for group in groups if group.device in self.devices)

    def check_layers(self, held: Sequence[str]) -> None:
        """Likewise of layers."""
        self._check("layer", self.layers, set(held))

    def check_batch(self, held: Sequence[int]) -> None:
        """Likewise of the batch."""
        if self.batch is not None and self.batch not in held:
            known = _listed(list(map(str, sorted(set(held)))))
            raise RecordError(f"{self.record}: no batch {self.batch}; it holds {known}")

    def _check(self, what: str, asked: Sequence[str], held: set[str]) -> None:
        unknown = [name for name in asked if name not in held]
        if unknown:
            known = _listed(sorted(held))
            raise RecordError(f"{self.record}: no {what} {printable(', '.join(unknown))}; it holds {known}")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_MOST_NAMED]) + (f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else "")


@dataclass(frozen=True)
class Drawing:
    """A figure: its file's name without ending, what draws it, and of what."""

    name: str
    draw: Callable[[Any, Any, Optional[int]], tuple[Any, str, str]]
    """Page, title, and description in words."""
    record: Any
    of: Any


@dataclass(frozen=True)
class Drawn:
    """What a record gives."""

    drawings: Sequence[Drawing]
    markdown: Iterable[str]
    """Of table.md: its text in parts, that of a large record in many."""
    plain: Iterable[str]
    """The same for a terminal."""
    remark: str = ""
    """One line, if there is something that whoever looks for the pictures must know."""


@dataclass(frozen=True)
class Kind:
    """A kind of record. The table of them is in charts.py; the first whose `is_of` says yes draws the document."""

    name: str
    is_of: Callable[[Any], bool]
    """Whether a document says of itself that it is one."""
    draw: Callable[[Node, Options], Drawn]
    """Raises RecordError."""
