"""The cases of a record, by their ids and by their sizes, without reading more of a large one than is asked for."""

from __future__ import annotations

from typing import Callable, Iterator, Mapping, Optional

from convladder_charts.json_text import Node

Size = tuple[str, str, int]
"""Network, layer and batch."""


class Cases:
    """What is in `cases` of a document. Raises RecordError for a case that lacks what tells it from others."""

    def __init__(self, array: Node) -> None:
        self._array = array
        self.outlines = array.outlines()
        self._index = {case.field("id").text(): index for index, case in enumerate(self.outlines)}

    def get(self, identifier: str) -> Optional[Node]:
        """The case, or None."""
        index = self._index.get(identifier)
        return None if index is None else self.at(index)

    def at(self, index: int) -> Node:
        """The case there."""
        return self._array.item(index)

    def on_ladders(self, wanted: Callable[[Node], bool] = lambda case: True
                   ) -> Mapping[tuple[str, str], Mapping[Size, list[int]]]:
        """By device and family, and by size, the indices of those that stand on a ladder."""
        members: dict[tuple[str, str], dict[Size, list[int]]] = {}
        for index, case in self._each():
            if "leaves_out" in case.value or not wanted(case):
                continue
            device, family, network, layer = (case.field(name).text() for name in ("device", "family", "network", "layer"))
            ladders = members.setdefault((device, family), {})
            ladders.setdefault((network, layer, case.field("batch").positive()), []).append(index)
        return members

    def _each(self) -> Iterator[tuple[int, Node]]:
        """Of two with one id the last, in the place of the first."""
        for index in self._index.values():
            yield index, self.outlines[index]
