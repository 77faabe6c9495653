"""The charts of convladder_charts as SVG that stands in a page beside others."""

from __future__ import annotations

import hashlib
import re
import xml.etree.ElementTree as ElementTree
from typing import Any, Callable, Iterator, Optional, Sequence

from convladder_charts import style
from convladder_charts.dark import KEPT
from convladder_charts.page import Page, svg
from convladder_charts.stage import printable
from convladder_charts.style import DARK, PAPER
from convladder_charts.table_text import Table
from convladder_report.document import Figure

Draw = Callable[[Any, Any, Optional[int]], tuple[Page, str, str]]

_SVG = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_LONG_NUMBER = re.compile(r"-?\d+\.\d{2,}")
_NOT_TURNED = re.compile(r"rotate\(-?0 [^)]*\)")
_POINT = re.compile(r"([ML])(-?[\d.]+) (-?[\d.]+)")
_STYLE = re.compile(r'style="([^"]*)"')
_STYLED = re.compile(r'<[^<>]* style="[^<>]*>')
_COLOUR = re.compile(r"#[0-9a-f]{6}")
_LONGEST_DESCRIPTION = 500
_AROUND_COMMAND = re.compile(r"\s*([A-Za-z])\s*")
_FONT = re.compile(r"font:(italic )?(\d+ )?([\d.]+px) [^;]*")
_FONTS = "'DejaVu Sans',Verdana,Helvetica,Arial,sans-serif"
_COORDINATES = ("d", "x", "y", "transform")
_TEXTS = {f"{_SVG}{name}" for name in ("text", "tspan", "title", "desc")}
_REFERRING = ("aria-labelledby",)


def figure(draw: Draw, record: Any, group: Any, name: str, source: str, place: str,
           tables: Sequence[Table], legend: str = "") -> Figure:
    """What `draw` makes of a group. Of numbers that no axis can hold it leaves the tables, and says so."""
    try:
        with style.applied():
            page, title, description = draw(record, group, None)
            text = svg(page, title, description)
    except (ArithmeticError, ValueError, MemoryError) as error:
        why = f"not drawn: no axis can hold these numbers ({printable(str(error), 120)})"
        return Figure(name, "Not drawn", why, "", 0.0, source, place, tuple(tables))
    return Figure(name, title, description, inlined(text, name), page.width, source, place, tuple(tables), legend)


def inlined(text: str, prefix: str) -> str:
    """An SVG document as an element of a page: no rule or id of it can meet another's, and nothing of it is fetched."""
    ElementTree.register_namespace("", _SVG[1:-1])
    root = ElementTree.fromstring(text.encode("utf-8"))
    _drop(root)
    names = _referred_to(root)
    prefix = "d" + hashlib.sha256(prefix.encode("utf-8")).hexdigest()[:6]  # it stands at every mark: a short one
    for element in root.iter():
        _rename(element, names, prefix)
        _shorten(element)
        if element.tag not in _TEXTS:
            element.text = None
        element.tail = None
        if element.tag == f"{_SVG}desc" and len(element.text or "") > _LONGEST_DESCRIPTION:
            element.text = (element.text or "")[:_LONGEST_DESCRIPTION].rpartition(" ")[0] + " … The tables hold all figures."
    _unwrap(root)
    root.set("style", f"stroke-linejoin:round;stroke-linecap:butt;font-family:{_FONTS}")
    for attribute in ("width", "height", "version"):
        root.attrib.pop(attribute, None)
    return ElementTree.tostring(root, encoding="unicode", short_empty_elements=True)


def _drop(root: ElementTree.Element) -> None:
    """What says nothing about the drawing, and rules that would hold for the whole page."""
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{_SVG}metadata", f"{_SVG}style"):
                parent.remove(child)


def _referred_to(root: ElementTree.Element) -> dict[str, int]:
    """A number for each id that something refers to."""
    names: dict[str, int] = {}
    for element in root.iter():
        for key, value in element.attrib.items():
            found = _REFERENCE.findall(value)
            found += [value[1:]] * (key == _HREF)
            found += value.split() * (key in _REFERRING)
            for name in found:
                names.setdefault(name, len(names))
    return names


def _rename(element: ElementTree.Element, names: dict[str, int], prefix: str) -> None:
    def new(name: str) -> str:
        return f"{prefix}-{names[name]}"
    for key, value in list(element.attrib.items()):
        if key == "id":
            if value in names:
                element.set(key, new(value))
            else:
                del element.attrib[key]
            if value == KEPT:
                element.set("class", KEPT)
        elif key == _HREF:
            del element.attrib[key]
            element.set("href", "#" + new(value[1:]))
        elif key in _REFERRING:
            element.set(key, " ".join(map(new, value.split())))
        elif "url(#" in value:
            element.set(key, _REFERENCE.sub(lambda match: f"url(#{new(match.group(1))})", value))


def _shorten(element: ElementTree.Element) -> None:
    """The same drawing in fewer bytes: most of a page are its drawings' coordinates."""
    attributes = element.attrib
    for name in _COORDINATES:
        if name in attributes and "scale" not in attributes[name]:
            attributes[name] = _LONG_NUMBER.sub(_rounded, attributes[name])
    if "d" in attributes:
        attributes["d"] = _straight(_AROUND_COMMAND.sub(r"\1", attributes["d"]).strip())
    if _NOT_TURNED.fullmatch(attributes.get("transform", "")):
        del attributes["transform"]
    if "style" in attributes:
        attributes["style"] = _FONT.sub(_font, attributes["style"].replace("; ", ";").replace(": ", ":"))


def _font(match: "re.Match[str]") -> str:
    """Without the family, which all texts of a drawing have from its root."""
    italic, weight, size = match.groups()
    return ";".join(["font-style:italic"] * bool(italic) + [f"font-weight:{weight}".strip()] * bool(weight)
                    + [f"font-size:{size}"])


def _unwrap(parent: ElementTree.Element) -> None:
    """Groups that say nothing of what is in them, and definitions of nothing, are left out."""
    children = []
    for child in parent:
        _unwrap(child)
        if child.tag == f"{_SVG}g" and not child.attrib:
            children += list(child)
        elif child.tag != f"{_SVG}defs" or len(child):
            children.append(child)
    parent[:] = children


def _rounded(match: "re.Match[str]") -> str:
    """No screen shows less than a twentieth of a point."""
    return f"{float(match.group()):.1f}".removesuffix(".0")


def _straight(path: str) -> str:
    """The same path, with one coordinate for each line along an axis: bars and frames are made of them."""
    at = ["", ""]

    def shorter(match: "re.Match[str]") -> str:
        command, *to = match.groups()
        same = [command == "L" and old == new for old, new in zip(at, to)]
        at[:] = to
        return f"V{to[1]}" if same[0] else f"H{to[0]}" if same[1] else match.group()

    return path if re.search("[^MLz0-9. -]", path) else _POINT.sub(shorter, path)


class Styles:
    """The styles of all drawings of a page, each once: written out at every mark, they are a third of it."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def shared(self, drawing: str) -> str:
        """A drawing that refers to them."""
        return _STYLED.sub(lambda match: self._styled(match.group()), drawing)

    @property
    def rules(self) -> str:
        """For the page's style sheet, in the light and in the dark."""
        dark = "".join(rule for style, name in self._names.items() for rule in _in_the_dark(style, name))
        light = "".join(f".{name}{{{style}}}\n" for style, name in self._names.items())
        return f"{light}@media screen and (prefers-color-scheme: dark) {{\n{dark}}}\n"

    def _styled(self, tag: str) -> str:
        name = self._name(_STYLE.search(tag).group(1))  # type: ignore[union-attr]
        kept = f' class="{KEPT}"'
        if kept in tag:
            tag, name = tag.replace(kept, ""), f"{KEPT} {name}"
        return _STYLE.sub(f'class="{name}"', tag)

    def _name(self, style: str) -> str:
        return self._names.setdefault(style, f"s{len(self._names)}")


def _in_the_dark(style: str, name: str) -> Iterator[str]:
    """What takes the place of its colours. White letters, and what is named so, stand on a colour of their own."""
    dark = _COLOUR.sub(lambda match: DARK.get(match.group(), match.group()), style)
    if dark != style:
        on_paper = PAPER in style
        yield f"{':is(path,rect,use)' if on_paper else ''}.{name}:not(.{KEPT},.{KEPT} *){{{dark}}}\n"
