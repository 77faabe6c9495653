"""What the index says of a record: read once from the record, kept in the site's own list."""

from __future__ import annotations

import hashlib
import re
import zlib
from dataclasses import asdict, dataclass
from typing import Any

from convladder_charts.json_text import Node
from convladder_charts.kinds.members import origin, several
from convladder_report.document import Front
from convladder_report.kind import Input
from convladder_report.trust import QUESTION

_NOT_IN_NAMES = re.compile(r"[^a-z0-9]+")
_END_OF_SENTENCE = re.compile(r"(?<=[.!?]) (?=[A-Z])")
_LONGEST_ANSWER = 240
_MARKS = ("disturbed", "noisy")


@dataclass(frozen=True)
class Entry:
    """A record of the site. All of it is text that was made fit to be shown."""

    label: str
    """Where the record is, below the folder that was named."""
    kind: str
    date: str
    host: str
    cpu: str
    commit: str
    what: str
    asked: str
    """What was measured, in a sentence; empty where the record's page asks a question instead."""
    answer: str
    quality: str
    cases: tuple[int, ...]
    """A checksum of each case's id, of a run: whether two runs have anything in common."""

    @property
    def page(self) -> str:
        """Its page's name."""
        return page_of(self.label)

    @property
    def name(self) -> str:
        """In a list of runs: when, where, and of which commit."""
        return ", ".join(filter(None, (self.when, self.host, self.commit, self.label)))

    @property
    def when(self) -> str:
        """The date in a form for people."""
        return self.date[:16].replace("T", " ")

    def as_json(self) -> dict[str, Any]:
        """For the site's own list."""
        return asdict(self) | {"cases": list(self.cases)}


def page_of(label: str) -> str:
    """The name of a record's page: the same as long as the record is where it is."""
    name = _NOT_IN_NAMES.sub("-", label.lower().removesuffix(".json"))[-60:].strip("-") or "record"
    return f"runs/{name}-{hashlib.sha256(label.encode('utf-8')).hexdigest()[:8]}.html"


def from_json(value: dict[str, Any]) -> Entry:
    """What `as_json` made. Raises TypeError or ValueError for what it did not."""
    entry = Entry(**value | {"cases": tuple(map(int, value["cases"]))})
    if not all(isinstance(part, str) for name, part in value.items() if name != "cases"):
        raise ValueError("expected texts")
    return entry


def entry_of(one: Input, front: Front, label: str) -> Entry:
    """From a record and what is seen first of it. Raises RecordError."""
    made = origin(one.root)
    answers = [_first_sentence(answer.text) for answer in front.answers if answer.text]
    return Entry(label, one.kind.name, made.date, made.host, made.cpu, made.commit, front.title,
                 "" if front.asked.endswith("?") else front.asked,
                 answers[0] if answers else "",
                 "; ".join([*getattr(one.record, "warnings", ()), *_trusted(front), *_quality(one.root)]) or "–", _cases(one))


def _trusted(front: Front) -> list[str]:
    """Yes, Roughly or No, as the record's page says."""
    return [f"to be trusted: {answer.text.partition(':')[0].lower()}" for answer in front.answers if answer.question == QUESTION]


def _first_sentence(text: str) -> str:
    """What fits into a line or two of the index; the page has all of it."""
    first = _END_OF_SENTENCE.split(text, maxsplit=1)[0]
    return first if len(first) <= _LONGEST_ANSWER else first[: _LONGEST_ANSWER - 1].rstrip() + "…"


def _cases(one: Input) -> tuple[int, ...]:
    if one.kind.name != "run":
        return ()
    ids = (case.field("id").text() for case in one.root.field("cases").outlines())
    return tuple(sorted({zlib.crc32(text.encode("utf-8", "replace")) for text in ids}))


def _quality(root: Node) -> list[str]:
    """How quiet the machine was, and how many cases failed, as the cases say."""
    cases = root.value.get("cases") if isinstance(root.value, dict) else None
    cases = getattr(cases, "outlines", cases)
    if not isinstance(cases, list):
        return []
    cases = [case for case in cases if isinstance(case, dict)]
    marks = [case["quality"].get("mark") for case in cases if isinstance(case.get("quality"), dict)]
    said = [f"{marks.count(mark)} of {len(marks)} times {mark}" for mark in _MARKS if mark in marks]
    if marks and not said:
        said = [f"all {several(len(marks), 'time')} good"]
    bad = ("incorrect", "crashed", "timeout", "launch failed", "does not compile", "refused", "unsafe")
    failed = sum(case.get("status") in bad for case in cases)
    return [*([f"{several(failed, 'case')} failed"] if failed else []), *said]
