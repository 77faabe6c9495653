"""The folder of a site: which pages are in it, what each was made of, and one writer at a time."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Iterator, Optional

from convladder_charts.json_text import RecordError

LIST = "site.json"
_LOCK = ".site.lock"
_PAGE = re.compile(r"(?:(?:runs|compare)/[a-z0-9-]{1,90}|index|history|compare)\.html")
_SECONDS = 5.0
"""Between two writes of the list while pages are being made."""
_KIND = {"kind": "site", "schema_version": "1.0"}


class Store:
    """Writes only what changed, and removes only what it wrote. Use it under `locked`."""

    def __init__(self, folder: Path) -> None:
        """Raises RecordError for a folder with the index of somebody else."""
        self.folder = folder
        self.written: list[Path] = []
        self.removed = 0
        self._pages: dict[str, dict[str, str]] = {}
        self._new: dict[str, Any] = {}
        self._saved = time.monotonic()
        self._old, self._entries = self._read()

    def _read(self) -> tuple[dict[str, dict[str, str]], dict[str, Any]]:
        path = self.folder / LIST
        if self.folder.exists() and not self.folder.is_dir():
            raise RecordError(f"{self.folder}: not a folder; expected the folder of a site, or a name for a new one")
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            document = None
        except (OSError, ValueError):
            document = {}
        known = isinstance(document, dict) and all(document.get(name) == value for name, value in _KIND.items())
        if not known and (document is not None or (self.folder / "index.html").exists()):
            raise RecordError(f"{self.folder}: holds {'a site.json' if document is not None else 'an index.html'} that "
                              "convladder did not write; name another folder for the site")
        pages = document.get("pages", {}) if known else {}
        entries = document.get("entries", {}) if known else {}
        return ({name: one for name, one in pages.items() if _PAGE.fullmatch(name) and isinstance(one, dict)}
                if isinstance(pages, dict) else {}, entries if isinstance(entries, dict) else {})

    def entry(self, digest: str) -> Optional[dict[str, Any]]:
        """What is known of a record with these bytes."""
        found = self._entries.get(digest)
        return found if isinstance(found, dict) else None

    def keeps(self, name: str, made_of: str) -> bool:
        """Whether the page that is there is made of just this; then it stays."""
        old = self._old.get(name, {})
        if old.get("made_of") != made_of or old.get("sha256") != _digest_of(self.folder / name):
            return False
        self._pages[name] = old
        return True

    def put(self, name: str, made_of: str, text: str) -> None:
        """A page in the place of the one that may be there."""
        self._pages[name] = {"made_of": made_of, "sha256": self._put(self.folder / name, text.encode("utf-8"))}

    def _put(self, path: Path, content: bytes) -> str:
        from convladder_charts.page import write

        digest = hashlib.sha256(content).hexdigest()
        if digest != _digest_of(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                write(path, content)
            except OSError as error:
                raise OSError(error.errno, error.strerror, str(path)) from None
            self.written.append(path)
        return digest

    def remember(self, key: str, value: dict[str, Any]) -> None:
        """What `entry` is to say from now on. Written at once only now and then, so that little is made again after a
        kill."""
        self._new[key] = value
        if time.monotonic() - self._saved > _SECONDS:
            self.keep()
            self._saved = time.monotonic()

    def keep(self) -> None:
        """Writes the list of what is there so far."""
        self._write_list(self._old | self._pages, self._entries | self._new)

    def finish(self) -> None:
        """Writes the list, and removes pages of records that are gone; last, so that no link ever leads nowhere."""
        if self._write_list(self._pages, self._new):
            self.written.append(self.folder / LIST)
        for name in self._old.keys() - self._pages.keys():
            try:
                (self.folder / name).unlink()
                self.removed += 1
            except FileNotFoundError:
                pass

    def _write_list(self, pages: dict[str, dict[str, str]], entries: dict[str, Any]) -> bool:
        text = json.dumps(_KIND | {"pages": dict(sorted(pages.items())), "entries": dict(sorted(entries.items()))},
                          indent=1, ensure_ascii=False)
        before = len(self.written)
        self._put(self.folder / LIST, (text + "\n").encode("utf-8"))
        changed = len(self.written) > before
        del self.written[before:]
        return changed

    @property
    def pages(self) -> int:
        """How many there are now."""
        return len(self._pages)


def _digest_of(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """One writer at a time: a second one waits. On file systems without locks nobody waits; each file is still whole."""
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
        except OSError:
            pass
        yield
    finally:
        os.close(handle)
