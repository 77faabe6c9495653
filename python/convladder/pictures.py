"""The pictures of the report for a notebook, drawn by the program's own scripts."""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterator

from convladder.program import ConvladderError, scripts

if TYPE_CHECKING:
    from convladder.records import Record


class Picture:
    """A drawing. A notebook shows it; `svg` is its text, `save` writes an .svg, .png or .pdf, `description` says in words what is on it."""

    def __init__(self, name: str, drawing: Any) -> None:
        self.name = name
        self._drawing = drawing

    @functools.cached_property
    def svg(self) -> str:
        """The picture as SVG."""
        with tempfile.TemporaryDirectory(prefix="convladder-") as folder:
            path = Path(folder) / "picture.svg"
            self.save(path)
            return path.read_text(encoding="utf-8")

    @property
    def description(self) -> str:
        """What is on it, in words."""
        return str(self._drawn()[2])

    def save(self, path: Path | str) -> None:
        """In the format of the path's ending."""
        page, title, description = self._drawn()
        with _module("style").applied():
            _module("page").save(page, Path(path), title, description)

    def _drawn(self) -> Any:
        with _module("style").applied():
            return self._drawing.draw(self._drawing.record, self._drawing.of, None)

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Picture {self.name}>"


class _Pictures(Mapping[str, Picture]):
    """By name, in the order of the report."""

    def __init__(self, found: dict[str, Picture]) -> None:
        self._found = found

    def __getitem__(self, name: str) -> Picture:
        if name not in self._found:
            raise ConvladderError(f"no picture {name!r}; this record has {', '.join(self._found) or 'none'}")
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __repr__(self) -> str:
        return f"<pictures: {', '.join(self._found) or 'none'}>"


def pictures_of(record: Record) -> Mapping[str, Picture]:
    """All that the report draws of it."""
    return _Pictures({one.name: Picture(one.name, one) for one in _drawn(record).drawings})


def text_of(record: Record) -> str:
    """The table that charts.py prints."""
    return "".join(_drawn(record).plain)


def _drawn(record: Record) -> Any:
    path = record.path or Path("record.json")
    json_text = _module("json_text")
    charts = _charts()
    root = json_text.Node(record.document, path)
    kind = next((one for one in charts.KINDS if one.is_of(record.document)), charts.run_kind.KIND)
    try:
        return kind.draw(root, _module("drawable").Options(path))
    except json_text.RecordError as error:
        raise ConvladderError(str(error)) from None


def _module(name: str) -> Any:
    """Of the package that draws."""
    folder = str(scripts())
    if folder not in sys.path:
        sys.path.append(folder)
    with _missing_packages_in_words():
        return importlib.import_module(f"convladder_charts.{name}")


@functools.cache
def _charts() -> Any:
    """charts.py, under a name that no module of the user's has."""
    _module("drawable")
    spec = importlib.util.spec_from_file_location("convladder_charts_command", scripts() / "charts.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with _missing_packages_in_words():
        spec.loader.exec_module(module)
    return module


@contextlib.contextmanager
def _missing_packages_in_words() -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("convladder"):
            raise
        raise ConvladderError(f"{error.name} is not installed: pip install {error.name}") from None
