"""Which records a site is of."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Sequence

from convladder_charts.json_text import RecordError
from convladder_charts.record_file import read_file
from convladder_charts.stage import printable
from convladder_report.build import read_one
from convladder_report.folders import Found, date_of, found_in
from convladder_report.kind import Input


@dataclass(frozen=True)
class Record:
    """A file with what it holds now."""

    path: Path
    label: str
    digest: str
    """Of its content and its place: both are on its page."""

    def read(self) -> Input:
        """The record itself. Raises RecordError."""
        return read_one(self.path, self.label)


@dataclass
class Bad:
    """What could not be read, for the terminal and for the index."""

    lines: list[str]
    shown: list[str]

    def add(self, error: str, path: Path, label: str) -> None:
        """The index does not name the machine's folders."""
        self.lines.append(error)
        self.shown.append(printable(error.replace(str(path), label), 300))


def found(named: Sequence[Path]) -> tuple[list[Record], Bad]:
    """All of them, the newest first. Raises RecordError where nothing is named."""
    bad = Bad([], [])
    places: dict[Path, Found] = {}
    for path in named:
        if path.is_dir():
            inside, broken = found_in(path, depth=True)
            for line in broken:
                bad.add(line, path.resolve() if line.startswith(str(path.resolve())) else path, path.resolve().name)
        else:
            inside = [Found(path, printable(path.name if len(named) == 1 else "/".join(path.absolute().parts[-2:]), 200), "")]
        for one in inside:
            places.setdefault(one.path.resolve(), one)
    records: list[tuple[str, Record]] = []
    for one in places.values():
        try:
            digest, date = _read(one.path)
        except RecordError as error:
            bad.add(str(error), one.path, one.label)
            continue
        digest = hashlib.sha256(f"{one.label}\n{digest}".encode("utf-8")).hexdigest()
        records.append((one.date or date, Record(one.path, one.label, digest)))
    records.sort(key=lambda each: (each[0], each[1].label), reverse=True)
    return _told_apart([record for _, record in records]), bad


def _read(path: Path) -> tuple[str, str]:
    """The checksum of a file, and its date."""
    file = read_file(path)
    return file.sha256, date_of(file.document)


def _told_apart(records: list[Record]) -> list[Record]:
    """Two with the same name are numbered."""
    counts: dict[str, int] = {}
    numbered = []
    for one in records:
        counts[one.label] = counts.get(one.label, 0) + 1
        number = counts[one.label]
        label = one.label if number == 1 else f"{one.label} ({number})"
        numbered.append(Record(one.path, label, hashlib.sha256(f"{one.digest}{label}".encode()).hexdigest()))
    return numbered
