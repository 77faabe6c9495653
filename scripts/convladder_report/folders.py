"""The records in folders: what a folder stands for where a record is expected."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator, Sequence

from convladder_charts.json_text import RecordError
from convladder_charts.kinds.members import is_kind
from convladder_charts.record_file import read_json
from convladder_charts.stage import printable
from convladder_report.build import KINDS

LEFT_OUT = "left out: "
"""Begins a note of a file that could not be read."""
BASELINE = "counter baseline"
MOST = 12
"""Records of folders on one page; of more, the newest."""


@dataclass(frozen=True)
class Found:
    """A record that was found in a folder, or named."""

    path: Path
    label: str
    """Its place in the folder that was named, with that folder's name; nothing of the machine."""
    date: str


def is_record(document: Any) -> bool:
    """Whether it is one of the kinds, a run, or a part of one."""
    return is_kind(document, "run") or is_kind(document, "shard") or any(kind.is_of(document) for kind in KINDS[:-1])


def found_in(folder: Path, depth: bool) -> tuple[list[Found], list[str]]:
    """The records in a folder, at any depth if asked, by their places; and a line for each file that is broken. Of
    JSON that is something else nothing is said. A baseline of counters counts only where nothing else is there."""
    found, baselines, broken = [], [], []
    real = folder.resolve()
    for path in sorted(_files(folder, depth)):
        if path.is_symlink() and (why := _why_not_followed(path, real)):
            broken.append(f"{path}: {why}")
            continue
        if not path.is_file():
            continue
        try:
            document = read_json(path)
        except RecordError as error:
            broken.append(str(error))
            continue
        if is_record(document):
            is_baseline = isinstance(document, dict) and document.get("kind") == BASELINE
            (baselines if is_baseline else found).append(Found(path, label_of(path, folder), date_of(document)))
    return found or baselines, broken


def _why_not_followed(link: Path, folder: Path) -> str:
    """Why a link in a folder is no record of it; empty where it leads to a place in the folder."""
    try:
        target = link.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        return "a link that leads " + ("nowhere" if isinstance(error, FileNotFoundError) else "in a circle")
    if target.is_relative_to(folder):
        return ""
    return f"a link to a {'folder' if target.is_dir() else 'file'} outside of the folder"


def _files(folder: Path, depth: bool) -> Iterator[Path]:
    """Files called .json, and links to folders, which are not followed. What begins with a dot is not looked at."""
    def raised(error: OSError) -> None:
        raise RecordError(f"{folder}: {error.strerror}; expected a folder of records")

    for place, folders, names in os.walk(folder, onerror=raised):
        yield from (Path(place) / name for name in names if name.endswith(".json") and not name.startswith("."))
        if depth:
            links = (Path(place) / name for name in folders if not name.startswith("."))
            yield from (link for link in links if link.is_symlink())
        folders[:] = sorted(name for name in folders if not name.startswith(".")) if depth else []


def label_of(path: Path, folder: Path) -> str:
    """night/run.json, below the name of the folder."""
    return printable(f"{folder.resolve().name}/{path.relative_to(folder).as_posix()}", 200)


def date_of(document: Any) -> str:
    """When it was made, as far as it says so."""
    context = document.get("context") if isinstance(document, dict) else None
    date = context.get("date") if isinstance(context, dict) else None
    return printable(date) if isinstance(date, str) else ""


def expanded(paths: Sequence[Path]) -> tuple[list[Path], list[str]]:
    """Files as they are; of a folder the records in it, or else below it, the newest of many. And what a reader is
    to know of it. Raises RecordError for a folder without a record."""
    records: list[Path] = []
    notes: list[str] = []
    for path in paths:
        if not path.is_dir():
            records.append(path)
            continue
        found, broken = found_in(path, depth=False)
        if not found:
            found, more = found_in(path, depth=True)
            broken = list(dict.fromkeys([*broken, *more]))
        if not found:
            raise RecordError(broken[0] if broken else f"{path}: no record in this folder or below it; "
                              "expected a run.json, a network.json, or another record of convladder")
        notes += [f"{LEFT_OUT}{one}" for one in broken]
        newest = sorted(found, key=lambda one: (one.date, one.label))[-MOST:]
        if len(newest) < len(found):
            notes.append(f"{path.resolve().name}: the newest {MOST} of {len(found)} records are on this page; "
                         "convladder report --site makes a page for each")
        records += [one.path for one in newest]
    return records, notes
