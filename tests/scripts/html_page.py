"""A page as a strict reader sees it: every element closed, every table with its cells."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Optional

_VOID = {"meta", "link", "br", "hr", "img", "input"}


@dataclass
class Element:
    """An element with its attributes, its own text and what is in it."""

    name: str
    attributes: dict[str, Optional[str]]
    children: list["Element"] = field(default_factory=list)
    own_text: list[str] = field(default_factory=list)

    def all(self, name: str = "") -> list["Element"]:
        """Everything of that name below, in the page's order."""
        found: list[Element] = []
        for child in self.children:
            found += [child] * (not name or child.name == name)
            found += child.all(name)
        return found

    @property
    def text(self) -> str:
        """Its own text and that of everything in it, with single spaces."""
        return " ".join(" ".join([*self.own_text, *(child.text for child in self.children)]).split())


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = Element("", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, Optional[str]]]) -> None:
        element = Element(tag, dict(attrs))
        assert len(element.attributes) == len(attrs), f"an attribute twice in <{tag}>"
        self.open[-1].children.append(element)
        if tag not in _VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, Optional[str]]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].name == tag, f"</{tag}> closes <{self.open[-1].name}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].own_text.append(data)


def parsed(text: str) -> Element:
    """The page; asserts that every element is closed where it should be."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == [reader.root], f"<{reader.open[-1].name}> is never closed"
    return reader.root


def cells(table: Element) -> list[list[str]]:
    """The rows of a table's body, the column of paths left out."""
    return [[cell.text for cell in row.children if cell.attributes.get("class") != "place"]
            for row in table.all("tr")[1:]]
