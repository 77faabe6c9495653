"""Opening a record's file: a small one is read at once, a large one case by case."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from convladder_charts.case_by_case import Reader
from convladder_charts.json_text import RecordError, parse_json, text_of

LARGE = 16 * 2**20
"""Bytes from which on a record is read case by case."""
_LARGEST = 256 * 2**20
"""Bytes of what can only be read at once, since it is no object."""


@dataclass(frozen=True)
class RecordFile:
    """What a file holds, and what tells it from every other."""

    document: Any
    size: int
    sha256: str


NO_FILE = RecordFile(None, 0, hashlib.sha256().hexdigest())
"""Of what a program said."""


def read_json(path: Path) -> Any:
    """The parsed document. Of a large record the cases and the ladders stay in the file. Raises RecordError."""
    return read_file(path).document


def read_file(path: Path) -> RecordFile:
    """What the file, or a pipe such as a shell's <(command), holds. Raises RecordError."""
    try:
        if path.exists() and not (path.is_file() or path.is_fifo() or path.is_dir()):
            raise RecordError(f"{path}: neither a file nor a pipe; expected the run.json of a convladder run")
        file = open(path, "rb", opener=_open_at_once)
        start = file.read(LARGE + 1)
        if len(start) > LARGE and start.lstrip()[:1] == b"{":
            return _case_by_case(start, file, path)
        with file:
            content = start + file.read(_LARGEST + 1 - len(start))
    except OSError as error:
        raise RecordError(f"{path}: {error.strerror}; expected the run.json of a convladder run") from None
    if len(content) > _LARGEST:
        raise RecordError(f"{path}: more than {_LARGEST} bytes; a run.json is never that large")
    return RecordFile(parse_json(text_of(content, path), path), len(content), hashlib.sha256(content).hexdigest())


def _case_by_case(start: bytes, file: IO[bytes], path: Path) -> RecordFile:
    """The file stays open as long as somebody has its cases."""
    if file.seekable():
        file.seek(0)
    else:  # what comes through a pipe comes once
        pipe, file = file, tempfile.TemporaryFile()
        file.write(start)
        shutil.copyfileobj(pipe, file)
        file.seek(0)
    reader = Reader(file, path)
    return RecordFile(reader.read(), reader.size, reader.sha256.hexdigest())


def _open_at_once(name: str, flags: int) -> int:
    """Does not wait for the other end of a pipe to be opened, only for what is written into it."""
    descriptor = os.open(name, flags | os.O_NONBLOCK)
    os.set_blocking(descriptor, True)
    return descriptor
