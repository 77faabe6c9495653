"""What the records of both kinds have: cases without a result, and the environment."""

from __future__ import annotations

from typing import Any, Iterable, Iterator, Optional, Sequence

from convladder_charts.about import About
from convladder_charts.json_text import Node
from convladder_charts.record_file import RecordFile
from convladder_charts.stage import optional, printable
from convladder_charts.table_text import Table
from convladder_report.document import Block, Items, Paragraph, Section, TableBlock
from convladder_report.words import counted

_LONGEST = 400
_MOST_IDS = 400
_MOST_NAMES = 100
_MOST_RUNS = 100
_DEEPEST = 6


def machine_line(record: About, with_data: bool = True, hardware: Iterable[str] = ()) -> str:
    """Where and when it was measured, on which hardware beside the CPU, and by which build."""
    where = ", ".join(dict.fromkeys([*(one for one in hardware if one not in record.cpu), record.cpu]))
    line = f"{where}, host {record.host}, {record.date[:10]}; {record.program}, commit {record.commit}"
    return f"{line}; data: {record.data}" if with_data else line


def failed_cases(root: Node) -> list[Node]:
    """The cases that are not ok."""
    return [case for case in root.field("cases").outlines() if case.field("status").text() != "ok"]


def failed_section(root: Node, source: str, name: str) -> Optional[Section]:
    """What has no result. Skipped cases are a sentence: nothing failed. The others are a table, each with its ids."""
    groups: dict[tuple[str, str, str], list[Node]] = {}
    for case in failed_cases(root):
        reason = printable(optional(case.field("reason"), Node.text) or "", _LONGEST)
        key = (printable(case.field("device").text()), printable(case.field("status").text()), reason)
        groups.setdefault(key, []).append(case)
    if not groups:
        return None
    skipped = {key: cases for key, cases in groups.items() if key[1] == "skipped"}
    others = {key: cases for key, cases in groups.items() if key[1] != "skipped"}
    blocks: list[Block] = []
    if skipped:
        blocks.append(Items(tuple(f"{device}: {counted(len(cases), 'case')} skipped, {reason or 'for no reason given'}."
                                  for (device, _, reason), cases in skipped.items()),
                            tuple(f"{source}: {places_of(case.place for case in cases)}" for cases in skipped.values())))
    if others:
        rows = tuple((device, status, str(len(cases)), reason, ids_text([case.field("id").text() for case in cases]))
                     for (device, status, reason), cases in others.items())
        blocks.append(TableBlock(Table("Cases without a result, with the reason", ("device", "status", "cases", "reason",
                                                                                 "which"),
                                       rows, 5, place="$.cases[…]: status, reason",
                                       row_places=tuple(places_of(case.place for case in cases)
                                                        for cases in others.values())), source))
    harmless = all(status in ("skipped", "unsupported") for _, status, _ in groups)
    return Section(name, "What was not run, and why" if harmless else "Cases that failed or were not run", tuple(blocks))


def ids_text(ids: Sequence[str]) -> str:
    """Variants, layers and batches, or variants and layers with their batches, where all of their combinations are
    meant; else one id after the other."""
    parts = [one.split("/") for one in ids]
    if len(ids) > 1 and len(set(ids)) == len(ids) and all(len(one) == 4 for one in parts):
        each = [list(dict.fromkeys(column)) for column in zip(*parts)]
        texts = [some([printable(one) for one in names]) for names in each]
        if len(each[1]) * len(each[2]) * len(each[3]) == len(ids):
            return f"{texts[1]}; on {texts[2]}; at batch {texts[3]}"
        sizes = list(dict.fromkeys(f"{layer}/{batch}" for _, _, layer, batch in parts))
        if len(each[1]) > 1 and len(each[1]) * len(sizes) == len(ids):
            return f"{texts[1]}; on {some([printable(size) for size in sizes])}"
    return some([printable(one, 120) for one in ids], _MOST_IDS)


def places_of(places: Iterable[str]) -> str:
    """Members of one array in one text: $.cases[0–4, 9]."""
    members = [place.rstrip("]").rpartition("[") for place in places]
    numbers = sorted({int(number) for _, _, number in members})
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return members[0][0] + "[" + some([str(a) if a == b else f"{a}–{b}" for a, b in runs], _MOST_RUNS) + "]"


def some(names: Sequence[str], most: int = _MOST_NAMES) -> str:
    """The first of many, and how many more there are."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def environment_section(root: Node, source: str, file: RecordFile, name: str) -> Section:
    """Every member of the record's context, and the file's own hash."""
    context = root.field("context")
    rows = list(_leaves(context.value, "$.context", 0))
    table = Table("Where and how the record was made", ("what", "value"), tuple(
        (place.removeprefix("$.context."), value) for place, value in rows), 2, place="$.context",
        row_places=tuple(place for place, _ in rows))
    return Section(name, "The machine, the build and the file", (
        Paragraph(f"{source}: {file.size} bytes, SHA-256 {file.sha256}."), TableBlock(table, source)))


def _leaves(value: Any, place: str, depth: int) -> Iterator[tuple[str, str]]:
    """Everything below a value, each with its place; lists of plain values in one line."""
    if isinstance(value, dict) and value and depth < _DEEPEST:
        for key, member in value.items():
            yield from _leaves(member, f"{place}.{printable(key)}", depth + 1)
    elif isinstance(value, list) and depth < _DEEPEST and any(isinstance(one, (dict, list)) for one in value):
        for index, member in enumerate(value):
            yield from _leaves(member, f"{place}[{index}]", depth + 1)
    else:
        yield place, _plain(value)


def _plain(value: Any) -> str:
    if value is None or value in ({}, []):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return printable(" ".join(map(str, value)), 2000)
    return printable(str(value), 2000)
