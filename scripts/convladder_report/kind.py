"""What the report knows of a kind of record: how it is told from others, how it is read, and what is said of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Iterable

from convladder_charts.json_text import Node
from convladder_charts.record_file import RecordFile
from convladder_report.document import Front, Section
from convladder_report.published import Publication


@dataclass(frozen=True)
class Input:
    """A record as it was read."""

    source: str
    """What the report calls its file."""
    root: Node
    file: RecordFile
    kind: "Kind"
    record: Any
    """What the kind's `read` made of it."""
    publications: tuple[Publication, ...] = ()
    """What others published and no record before this one has beside it."""


@dataclass(frozen=True)
class Kind:
    """A kind of record. The table of them is in build.py; the first whose `is_of` says yes reads the document."""

    name: str
    is_of: Callable[[Any], bool]
    """Whether a document says of itself that it is one."""
    read: Callable[[Node], Any]
    """Raises RecordError."""
    front: Callable[[Input, str], Front]
    """What is seen first; the text begins the names of its parts."""
    chapters: Callable[[Input, str], Iterable[Section]]
    """What folds below it, the most important one first; the text begins the names of its sections."""
    networks: Callable[[Any], set[str]] = lambda record: set()
    """The networks of a record, of which published figures stand beside ours."""
